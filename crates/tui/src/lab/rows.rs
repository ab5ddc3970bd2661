//! The list at the left and the bars beside it, rebuilt when data, selection or filter change.

use std::collections::{HashMap, HashSet};

use super::choice::Choice;
use super::data::{Data, LocalProbes};
use crate::plan::{Group, Param, ProbeCell, ProbeInfo};
use crate::record::Unit;
use crate::units;

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// `None`: probes that this version of iotui does not know.
    Group(Option<Group>),
    Probe(String),
}

/// A cell with its bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
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
pub enum Row {
    /// The name of a probe with several cells.
    Head(String),
    /// Index into the slots.
    Slot(usize),
}

#[derive(Debug, Default)]
pub struct Sheet {
    pub items: Vec<Item>,
    pub slots: Vec<Slot>,
    pub rows: Vec<Row>,
}

/// Everything that the list and the bars are built from.
pub struct Sources<'a> {
    pub infos: &'a [&'static ProbeInfo],
    pub local: &'a LocalProbes,
    pub data: &'a Data,
    pub choice: &'a Choice,
    pub filter: &'a str,
}

impl Sources<'_> {
    pub fn info(&self, id: &str) -> Option<&'static ProbeInfo> {
        self.infos.iter().find(|info| info.id == id).copied()
    }

    /// Returns the probes in the order of the registry, unknown ones last.
    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.infos.iter().map(|info| info.id.to_string()).collect();
        let mut seen: HashSet<String> = ids.iter().cloned().collect();
        let others =
            self.data.planned.iter().chain(self.data.results.iter().map(|result| &result.cell));
        ids.extend(
            others.filter(|cell| seen.insert(cell.probe.clone())).map(|cell| cell.probe.clone()),
        );
        ids
    }

    fn matches(&self, id: &str) -> bool {
        let text = match self.info(id) {
            Some(info) => format!("{id} {} {} {}", info.title, info.about, info.group),
            None => id.to_string(),
        };
        let text = text.to_lowercase();
        self.filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

impl Sheet {
    pub fn build(sources: &Sources) -> Sheet {
        let ids: Vec<String> = sources.ids().into_iter().filter(|id| sources.matches(id)).collect();
        let mut sheet = Sheet::default();
        for group in Group::ALL.iter().copied().map(Some).chain([None]) {
            let members: Vec<&String> =
                ids.iter().filter(|id| sources.info(id).map(|info| info.group) == group).collect();
            if !members.is_empty() {
                sheet.items.push(Item::Group(group));
                sheet.items.extend(members.into_iter().cloned().map(Item::Probe));
            }
        }
        let index = CellIndex::new(sources);
        let on = sheet
            .items
            .iter()
            .filter_map(|item| if let Item::Probe(id) = item { Some(id) } else { None });
        for id in on.filter(|id| sources.choice.is_on(id)) {
            index.add(sources, id, &mut sheet.slots, &mut sheet.rows);
        }
        sheet
    }

    /// Returns the probes of an item.
    pub fn probes_of(&self, item: usize, infos: &[&'static ProbeInfo]) -> Vec<&str> {
        let group_of = |id: &str| infos.iter().find(|info| info.id == id).map(|info| info.group);
        match self.items.get(item) {
            Some(Item::Probe(id)) => vec![id],
            Some(Item::Group(group)) => {
                let ids = self.items.iter().filter_map(|item| {
                    if let Item::Probe(id) = item { Some(id.as_str()) } else { None }
                });
                ids.filter(|id| group_of(id) == *group).collect()
            }
            None => Vec::new(),
        }
    }

    pub fn item_of(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|item| matches!(item, Item::Probe(probe) if probe == id))
    }

    pub fn slot_of(&self, cell: &ProbeCell) -> Option<usize> {
        self.slots.iter().position(|slot| slot.cell == *cell)
    }

    pub fn row_of(&self, slot: usize) -> usize {
        self.rows.iter().position(|row| *row == Row::Slot(slot)).unwrap_or(0)
    }
}

/// Where each cell is found.
struct CellIndex<'a> {
    offered: HashMap<&'a ProbeCell, usize>,
    results: HashMap<&'a ProbeCell, usize>,
    by_probe: HashMap<&'a str, Vec<&'a ProbeCell>>,
}

impl<'a> CellIndex<'a> {
    fn new(sources: &Sources<'a>) -> CellIndex<'a> {
        let offered: HashMap<_, _> = sources
            .local
            .cells
            .iter()
            .enumerate()
            .map(|(at, offered)| (&offered.cell, at))
            .collect();
        let results: HashMap<_, _> = sources
            .data
            .results
            .iter()
            .enumerate()
            .map(|(at, result)| (&result.cell, at))
            .collect();
        let mut by_probe: HashMap<&str, Vec<&ProbeCell>> = HashMap::new();
        let skipped = sources.data.skipped.iter().map(|skipped| &skipped.cell);
        // The cells are those of the session that is shown, else of this machine.
        let offers = sources.local.cells.iter().map(|offered| &offered.cell);
        let of_session = sources
            .data
            .planned
            .iter()
            .chain(sources.data.results.iter().map(|result| &result.cell))
            .chain(skipped);
        let mut seen = HashSet::new();
        let planned: HashSet<&str> =
            sources.data.planned.iter().map(|cell| cell.probe.as_str()).collect();
        let offers = offers.filter(|cell| !planned.contains(cell.probe.as_str()));
        for cell in of_session.chain(offers).filter(|cell| seen.insert(*cell)) {
            by_probe.entry(&cell.probe).or_default().push(cell);
        }
        CellIndex { offered, results, by_probe }
    }

    fn add(&self, sources: &Sources, id: &str, slots: &mut Vec<Slot>, rows: &mut Vec<Row>) {
        let Some(cells) = self.by_probe.get(id) else { return };
        if cells.len() > 1 {
            rows.push(Row::Head(id.into()));
        }
        for cell in cells {
            let offered = self.offered.get(cell).copied();
            let result = self.results.get(cell).copied();
            let measured =
                result.and_then(|at| sources.data.results.get(at)).and_then(|result| result.unit);
            let expected =
                offered.and_then(|at| sources.local.cells.get(at)).map(|offered| offered.unit);
            let unit = measured.or(expected).unwrap_or(Unit::Nanos);
            let label = if cells.len() > 1 { short_label(cell) } else { id.to_string() };
            rows.push(Row::Slot(slots.len()));
            slots.push(Slot { cell: (*cell).clone(), label, unit, offered, result });
        }
    }
}

/// Returns the parameters for a row below the name of its probe; texts and sizes need no name.
pub fn short_label(cell: &ProbeCell) -> String {
    let describe = |(name, value): (&String, &Param)| match value {
        Param::Text(text) => text.clone(),
        Param::Number(size) if name == "bytes" => units::show_bytes(*size),
        Param::Number(number) => format!("{name} {number}"),
        Param::Flag(on) => {
            if *on {
                name.clone()
            } else {
                format!("not {name}")
            }
        }
    };
    let all: Vec<String> = cell.params.iter().map(describe).collect();
    if all.is_empty() { cell.probe.clone() } else { all.join(", ") }
}
