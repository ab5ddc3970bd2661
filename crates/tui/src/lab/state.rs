//! State of Lab: the selected probes, their results, and the cursors.

use std::collections::HashSet;

use tui_input::Input;

use super::choice::ProbeSelection;
use super::curve::ParamCurves;
use super::data::{LocalProbes, MarkedSession, ProbeData};
use super::rows::{ProbeBar, ProbeItem, ProbeSheet};
use crate::analysis::ProbeResult;
use crate::catalog;
use crate::experiment::Offer;
use crate::plan::{Preset, ProbeCell, ProbeInfo, Settings};
use crate::record::Estimate;
use crate::session::Listed;

/// The panes, in Tab order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabPane {
    #[default]
    Probes,
    Bars,
    About,
}

impl LabPane {
    pub const ALL: [LabPane; 3] = [LabPane::Probes, LabPane::Bars, LabPane::About];
}

#[derive(Debug)]
pub struct Lab {
    pub infos: Vec<&'static ProbeInfo>,
    pub choice: ProbeSelection,
    pub local: LocalProbes,
    pub data: ProbeData,
    /// The user's sessions that are marked on the bars.
    pub marked: Vec<MarkedSession>,
    /// Ids of marked sessions that are hidden.
    pub hidden: HashSet<String>,
    /// Saved sessions with probe results.
    pub saved: Vec<Listed>,
    pub sheet: ProbeSheet,
    pub pane: LabPane,
    /// Indexes into the items and the slots of the sheet.
    pub item: usize,
    pub slot: usize,
    /// The first visible line of the explanation.
    pub scroll: usize,
    /// Whether the curves of the probe replace the bars.
    pub open: bool,
    pub filter: Input,
    pub typing: bool,
    /// Number of the newest plan request; `starts_when_planned`: its answer starts a run.
    pub number: u64,
    pub starts_when_planned: bool,
}

impl Lab {
    /// Creates the screen with every probe, selected as the preset selects them.
    pub fn new(preset: Preset) -> Lab {
        let infos = catalog::PROBES.to_vec();
        let choice = ProbeSelection::new(preset, Settings::default(), &infos);
        Lab::with_choice(infos, choice)
    }

    pub fn with_choice(infos: Vec<&'static ProbeInfo>, choice: ProbeSelection) -> Lab {
        let mut lab = Lab {
            infos,
            choice,
            local: LocalProbes::default(),
            data: ProbeData::default(),
            marked: Vec::new(),
            hidden: HashSet::new(),
            saved: Vec::new(),
            sheet: ProbeSheet::default(),
            pane: LabPane::default(),
            item: 0,
            slot: 0,
            scroll: 0,
            open: false,
            filter: Input::default(),
            typing: false,
            number: 0,
            starts_when_planned: false,
        };
        lab.arrange();
        lab
    }

    /// Selects a preset with overrides. The cursor moves to the first of its probes, or stays on
    /// the first group if that starts with it.
    pub fn choose(&mut self, preset: Preset, overrides: Settings) {
        self.choice = ProbeSelection::new(preset, overrides, &self.infos);
        self.arrange();
        let chosen =
            |item: &ProbeItem| matches!(item, ProbeItem::Probe(id) if self.choice.is_on(id));
        let first = self.sheet.items.iter().position(chosen).unwrap_or(0);
        self.item = if first > 1 { first } else { 0 };
        self.slot = 0;
    }

    /// Rebuilds the list and the bars; the cursors stay on their rows.
    pub fn arrange(&mut self) {
        let cell = self.current_slot().map(|slot| slot.cell.clone());
        let item = self.sheet.items.get(self.item).cloned();
        self.sheet = ProbeSheet::new(self);
        let at = item.and_then(|item| self.sheet.items.iter().position(|other| *other == item));
        self.item = at.unwrap_or(self.item).min(self.sheet.items.len().saturating_sub(1));
        let at = cell.and_then(|cell| self.sheet.slot_of(&cell));
        self.slot = at.unwrap_or(self.slot).min(self.sheet.slots.len().saturating_sub(1));
        if self.curves().is_none() {
            self.open = false;
        }
    }

    /// Returns the cell under the cursor.
    pub fn current_slot(&self) -> Option<&ProbeBar> {
        self.sheet.slots.get(self.slot)
    }

    pub fn result(&self, slot: &ProbeBar) -> Option<&ProbeResult> {
        self.data.results.get(slot.result?)
    }

    pub fn offer(&self, slot: &ProbeBar) -> Option<&Offer> {
        self.local.cells.get(slot.offered?)
    }

    /// Returns the estimate of the session that is shown, else of this machine.
    pub fn estimate(&self, slot: &ProbeBar) -> Option<&Estimate> {
        let of_session = self.result(slot).and_then(|result| result.estimate.as_ref());
        // A finished session has its own machine's estimates, or none.
        if of_session.is_some() || self.data.session.is_some() {
            return of_session;
        }
        self.offer(slot)?.estimate.as_ref()
    }

    pub fn info(&self, id: &str) -> Option<&'static ProbeInfo> {
        self.infos.iter().find(|info| info.id == id).copied()
    }

    /// Returns why a cell is unavailable: in the session that is shown, else on this machine.
    pub fn refusal(&self, slot: &ProbeBar) -> Option<&str> {
        if self.result(slot).is_some() {
            return None;
        }
        match self.data.skipped.iter().find(|skipped| skipped.cell == slot.cell) {
            Some(skipped) => Some(&skipped.reason),
            None => self.offer(slot)?.refused.as_deref(),
        }
    }

    /// Returns why the run that is shown did not measure a cell that can be measured.
    pub fn reason_missed(&self, slot: &ProbeBar) -> Option<&str> {
        let missed = self.data.missed.iter().find(|missed| missed.cell == slot.cell)?;
        Some(&missed.reason)
    }

    /// Returns the number of measured cells, and of measurable ones.
    pub fn count_cells(&self) -> (usize, usize) {
        let has_value = |slot: &&ProbeBar| self.result(slot).is_some_and(|of| of.value.is_some());
        let measured = self.sheet.slots.iter().filter(has_value).count();
        let offered = self.sheet.slots.iter().filter(|slot| self.refusal(slot).is_none()).count();
        (measured, offered)
    }

    /// Returns why no cell of a probe is available on this machine.
    pub fn unavailable_reason(&self, id: &str) -> Option<&str> {
        let mut offers =
            self.local.cells.iter().filter(|offered| offered.cell.probe == id).peekable();
        offers.peek()?;
        let reasons: Option<Vec<&str>> = offers.map(|offered| offered.refused.as_deref()).collect();
        reasons.and_then(|reasons| reasons.first().copied())
    }

    /// Returns the probe at the cursor: of the bar, or of the list if it has no bar.
    pub fn probe(&self) -> Option<&str> {
        match (self.pane, self.sheet.items.get(self.item), self.current_slot()) {
            (LabPane::Probes, Some(ProbeItem::Probe(id)), _) => Some(id),
            (LabPane::Probes, Some(ProbeItem::Group(_)), _) => None,
            (_, _, slot) => slot.map(|slot| slot.cell.probe.as_str()),
        }
    }

    /// Returns the curves of the probe under the cursor.
    pub fn curves(&self) -> Option<ParamCurves> {
        ParamCurves::from_results(
            self.current_slot().map(|slot| slot.cell.probe.as_str())?,
            &self.data.results,
        )
    }

    /// Returns the marked sessions that are visible, with their indexes.
    pub fn marked_sessions(&self) -> impl Iterator<Item = (usize, &MarkedSession)> {
        let shown = self.data.id();
        let sessions = self.local.others.iter().chain(&self.marked).enumerate();
        sessions.filter(move |(_, other)| {
            Some(other.id.as_str()) != shown && !self.hidden.contains(&other.id)
        })
    }

    /// Moves the cursor of the bars to a slot; the cursor of the list follows.
    pub fn go_to(&mut self, slot: usize) {
        if slot != self.slot {
            self.scroll = 0;
        }
        self.slot = slot;
        let item = self.current_slot().and_then(|slot| self.sheet.item_of(&slot.cell.probe));
        self.item = item.unwrap_or(self.item);
    }

    /// Moves the cursor to a cell.
    pub fn go_to_cell(&mut self, cell: Option<ProbeCell>) {
        if let Some(slot) = cell.and_then(|cell| self.sheet.slot_of(&cell)) {
            self.go_to(slot);
        }
    }

    /// Moves the cursor of the list to an item, and that of the bars to its first cell.
    pub fn go_to_item(&mut self, item: usize) {
        if item != self.item {
            self.scroll = 0;
        }
        self.item = item;
        let probes = self.sheet.probes_of(item);
        let first =
            self.sheet.slots.iter().position(|slot| probes.contains(&slot.cell.probe.as_str()));
        self.slot = first.unwrap_or(self.slot);
    }
}
