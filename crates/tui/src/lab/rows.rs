//! Rows of the list and of the bars, rebuilt when data, selection or filter change.

use std::collections::{HashMap, HashSet};

use super::state::Lab;
use crate::plan::{Group, ProbeCell};
use crate::record::Unit;

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeItem {
    /// `None`: probes that this version of iotui does not know.
    Group(Option<Group>),
    Probe(String),
}

impl ProbeItem {
    fn probe(&self) -> Option<&str> {
        match self {
            ProbeItem::Probe(id) => Some(id),
            ProbeItem::Group(_) => None,
        }
    }
}

/// A cell with its bar.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeBar {
    pub cell: ProbeCell,
    /// Its parameters in short, or the name of the probe if it has none.
    pub label: String,
    pub unit: Unit,
    /// Indexes into the cells of this machine, and into the results.
    pub offered: Option<usize>,
    pub result: Option<usize>,
}

/// A row of bars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BarRow {
    /// The name of a probe with several cells.
    Head(String),
    /// Index into the slots.
    Bar(usize),
}

#[derive(Debug, Default)]
pub struct ProbeSheet {
    pub items: Vec<ProbeItem>,
    pub slots: Vec<ProbeBar>,
    pub rows: Vec<BarRow>,
}

impl ProbeSheet {
    /// Builds the list of the probes that match the filter, and the bars of the selected ones.
    pub fn new(lab: &Lab) -> ProbeSheet {
        let ids: Vec<&str> = list_ids(lab).into_iter().filter(|id| matches(lab, id)).collect();
        let mut sheet = ProbeSheet::default();
        let mut cells = list_cells(lab);
        let offered = index(lab.local.cells.iter().map(|offer| &offer.cell));
        let results = index(lab.data.results.iter().map(|result| &result.cell));
        for group in Group::ALL.iter().copied().map(Some).chain([None]) {
            let is_member = |id: &&str| lab.info(id).map(|info| info.group) == group;
            let members: Vec<&str> = ids.iter().copied().filter(is_member).collect();
            if members.is_empty() {
                continue;
            }
            sheet.items.push(ProbeItem::Group(group));
            for id in members {
                sheet.items.push(ProbeItem::Probe(id.into()));
                let cells = cells.remove(id).filter(|_| lab.choice.is_on(id)).unwrap_or_default();
                let has_head = cells.len() > 1;
                if has_head {
                    sheet.rows.push(BarRow::Head(id.into()));
                }
                for cell in cells {
                    let (offered, result) = (offered.get(cell), results.get(cell));
                    let measured = result.and_then(|at| lab.data.results[*at].unit);
                    let expected = offered.map(|at| lab.local.cells[*at].unit);
                    sheet.rows.push(BarRow::Bar(sheet.slots.len()));
                    sheet.slots.push(ProbeBar {
                        cell: cell.clone(),
                        label: if has_head { short_label(cell) } else { id.to_string() },
                        unit: measured.or(expected).unwrap_or(Unit::Nanos),
                        offered: offered.copied(),
                        result: result.copied(),
                    });
                }
            }
        }
        sheet
    }

    /// Returns the probes of an item.
    pub fn probes_of(&self, item: usize) -> Vec<&str> {
        match self.items.get(item) {
            Some(ProbeItem::Probe(id)) => vec![id],
            // The probes of a group follow it.
            Some(ProbeItem::Group(_)) => {
                self.items[item + 1..].iter().map_while(ProbeItem::probe).collect()
            }
            None => Vec::new(),
        }
    }

    /// Returns all listed probes.
    pub fn probes(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(ProbeItem::probe)
    }

    pub fn item_of(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|item| matches!(item, ProbeItem::Probe(probe) if probe == id))
    }

    pub fn slot_of(&self, cell: &ProbeCell) -> Option<usize> {
        self.slots.iter().position(|slot| slot.cell == *cell)
    }

    pub fn row_of(&self, slot: usize) -> usize {
        self.rows.iter().position(|row| *row == BarRow::Bar(slot)).unwrap_or(0)
    }
}

/// Returns where each cell is; of equal cells the last.
fn index<'a>(cells: impl Iterator<Item = &'a ProbeCell>) -> HashMap<&'a ProbeCell, usize> {
    cells.enumerate().map(|(at, cell)| (cell, at)).collect()
}

/// Returns the probes in the order of the registry, unknown ones last.
fn list_ids(lab: &Lab) -> Vec<&str> {
    let mut ids: Vec<&str> = lab.infos.iter().map(|info| info.id).collect();
    let mut seen: HashSet<&str> = ids.iter().copied().collect();
    let measured = lab.data.results.iter().map(|result| &result.cell);
    for cell in lab.data.planned.iter().chain(measured) {
        if seen.insert(&cell.probe) {
            ids.push(&cell.probe);
        }
    }
    ids
}

fn matches(lab: &Lab, id: &str) -> bool {
    let text = match lab.info(id) {
        Some(info) => format!("{id} {} {} {}", info.title, info.about, info.group),
        None => id.to_string(),
    };
    let text = text.to_lowercase();
    lab.filter.value().to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// Returns the cells of each probe: of the session that is shown, else of this machine.
fn list_cells(lab: &Lab) -> HashMap<&str, Vec<&ProbeCell>> {
    let planned: HashSet<&str> = lab.data.planned.iter().map(|cell| cell.probe.as_str()).collect();
    let offers = lab.local.cells.iter().map(|offer| &offer.cell);
    let cells = (lab.data.planned.iter())
        .chain(lab.data.results.iter().map(|result| &result.cell))
        .chain(lab.data.skipped.iter().map(|skipped| &skipped.cell))
        .chain(offers.filter(|cell| !planned.contains(cell.probe.as_str())));
    let mut seen = HashSet::new();
    let mut by_probe: HashMap<&str, Vec<&ProbeCell>> = HashMap::new();
    for cell in cells {
        if seen.insert(cell) {
            by_probe.entry(&cell.probe).or_default().push(cell);
        }
    }
    by_probe
}

/// Returns the parameters for a row below the name of its probe.
pub fn short_label(cell: &ProbeCell) -> String {
    let all = cell.short_words();
    if all.is_empty() { cell.probe.clone() } else { all.join(", ") }
}
