//! What Lab knows: what is chosen, what is known of it, and where the cursor is.

use std::collections::HashSet;

use tui_input::Input;

use super::choice::Choice;
use super::curve::Curves;
use super::data::{Data, LocalProbes, MarkedSession};
use super::rows::{Item, Sheet, Slot, Sources};
use crate::analysis::ProbeResult;
use crate::engine::Offer;
use crate::plan::{Preset, ProbeCell, ProbeInfo, Settings};
use crate::probe;
use crate::record::Estimate;
use crate::session::Listed;

/// The panes, in the order of Tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pane {
    #[default]
    Probes,
    Bars,
    About,
}

impl Pane {
    pub const ALL: [Pane; 3] = [Pane::Probes, Pane::Bars, Pane::About];

    /// The pane so many further; they come round.
    pub fn cycle(self, by: usize) -> Pane {
        let at = Pane::ALL.iter().position(|pane| *pane == self).unwrap_or(0);
        Pane::ALL[(at + by) % Pane::ALL.len()]
    }
}

#[derive(Debug)]
pub struct Lab {
    pub infos: Vec<&'static ProbeInfo>,
    pub choice: Choice,
    pub local: LocalProbes,
    pub data: Data,
    /// Sessions of the user's whose marks were asked for.
    pub marked: Vec<MarkedSession>,
    /// Ids of others whose marks are not shown.
    pub hidden: HashSet<String>,
    /// Kept sessions that measured probes.
    pub saved: Vec<Listed>,
    pub sheet: Sheet,
    pub pane: Pane,
    /// Index into the items and the slots of the sheet.
    pub item: usize,
    pub slot: usize,
    /// The first line of the explanation.
    pub scroll: usize,
    /// The curves of the probe are shown in place of the bars.
    pub open: bool,
    pub filter: Input,
    pub typing: bool,
    /// The number of the newest question for a plan; `awaited`: its answer starts a run.
    pub number: u64,
    pub starts_when_planned: bool,
}

impl Lab {
    /// Every probe, as the preset of that name chooses them.
    pub fn new(preset: Preset) -> Lab {
        let infos = probe::infos();
        let choice = Choice::new(preset, Settings::default(), &infos);
        Lab::with_choice(infos, choice)
    }

    pub fn with_choice(infos: Vec<&'static ProbeInfo>, choice: Choice) -> Lab {
        let mut lab = Lab {
            infos,
            choice,
            local: LocalProbes::default(),
            data: Data::default(),
            marked: Vec::new(),
            hidden: HashSet::new(),
            saved: Vec::new(),
            sheet: Sheet::default(),
            pane: Pane::default(),
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

    /// A preset, with what was said over it; the cursor goes to the first of its probes, or stays
    /// on the first group where it begins.
    pub fn choose(&mut self, preset: Preset, said: Settings) {
        self.choice = Choice::new(preset, said, &self.infos);
        self.arrange();
        let chosen = |item: &Item| matches!(item, Item::Probe(id) if self.choice.is_on(id));
        let first = self.sheet.items.iter().position(chosen).unwrap_or(0);
        (self.item, self.slot) = (if first > 1 { first } else { 0 }, 0);
    }

    /// Makes the list and the bars anew; the cursor stays on what it is on.
    pub fn arrange(&mut self) {
        let cell = self.current_slot().map(|slot| slot.cell.clone());
        let item = self.sheet.items.get(self.item).cloned();
        let sources = Sources {
            infos: &self.infos,
            local: &self.local,
            data: &self.data,
            choice: &self.choice,
            filter: self.filter.value(),
        };
        self.sheet = Sheet::build(&sources);
        let at = item.and_then(|item| self.sheet.items.iter().position(|own| *own == item));
        self.item = at.unwrap_or(self.item).min(self.sheet.items.len().saturating_sub(1));
        let at = cell.and_then(|cell| self.sheet.slot_of(&cell));
        self.slot = at.unwrap_or(self.slot).min(self.sheet.slots.len().saturating_sub(1));
        if self.curves().is_none() {
            self.open = false;
        }
    }

    /// The cell under the cursor.
    pub fn current_slot(&self) -> Option<&Slot> {
        self.sheet.slots.get(self.slot)
    }

    pub fn result(&self, slot: &Slot) -> Option<&ProbeResult> {
        self.data.results.get(slot.result?)
    }

    pub fn offer(&self, slot: &Slot) -> Option<&Offer> {
        self.local.cells.get(slot.offered?)
    }

    /// What is expected: of the session that is shown, else of this machine.
    pub fn estimate(&self, slot: &Slot) -> Option<&Estimate> {
        let own = self.result(slot).and_then(|result| result.estimate.as_ref());
        // What a session that is over expected, or did not, was of its own machine.
        let here = || {
            self.offer(slot)
                .filter(|_| self.data.session.is_none())
                .and_then(|offered| offered.estimate.as_ref())
        };
        own.or_else(here)
    }

    pub fn info(&self, id: &str) -> Option<&'static ProbeInfo> {
        self.infos.iter().find(|info| info.id == id).copied()
    }

    /// Why a cell is not to be had: in the session that is shown, else here.
    pub fn refusal(&self, slot: &Slot) -> Option<&str> {
        let skipped = self
            .data
            .skipped
            .iter()
            .find(|skipped| skipped.cell == slot.cell)
            .map(|skipped| skipped.reason.as_str());
        let here = || self.offer(slot).and_then(|offered| offered.refused.as_deref());
        if self.result(slot).is_some() { None } else { skipped.or_else(here) }
    }

    /// Why nothing of a probe is to be had here.
    pub fn unavailable_reason(&self, id: &str) -> Option<&str> {
        let mut own = self.local.cells.iter().filter(|offered| offered.cell.probe == id).peekable();
        own.peek()?;
        let reasons: Option<Vec<&str>> = own.map(|offered| offered.refused.as_deref()).collect();
        reasons.and_then(|reasons| reasons.first().copied())
    }

    /// The probe that the cursor is at: that of the bar, or of the list where it has no bar.
    pub fn probe(&self) -> Option<&str> {
        match (self.pane, self.sheet.items.get(self.item), self.current_slot()) {
            (Pane::Probes, Some(Item::Probe(id)), _) => Some(id),
            (Pane::Probes, Some(Item::Group(_)), _) => None,
            (_, _, slot) => slot.map(|slot| slot.cell.probe.as_str()),
        }
    }

    /// The curves of the probe under the cursor.
    pub fn curves(&self) -> Option<Curves> {
        Curves::from_results(
            self.current_slot().map(|slot| slot.cell.probe.as_str())?,
            &self.data.results,
        )
    }

    /// Everything that is marked on the bars beside the session itself, with its place among the
    /// others.
    pub fn others(&self) -> impl Iterator<Item = (usize, &MarkedSession)> {
        let own = self.data.id();
        let all = self.local.others.iter().chain(&self.marked).enumerate();
        all.filter(move |(_, other)| {
            Some(other.id.as_str()) != own && !self.hidden.contains(&other.id)
        })
    }

    /// The cursor of the bars goes to a slot, that of the list with it.
    pub fn go_to(&mut self, slot: usize) {
        if slot != self.slot {
            self.scroll = 0;
        }
        self.slot = slot;
        let item = self.current_slot().and_then(|slot| self.sheet.item_of(&slot.cell.probe));
        self.item = item.unwrap_or(self.item);
    }

    /// The cursor goes to a cell.
    pub fn go_to_cell(&mut self, cell: Option<ProbeCell>) {
        if let Some(slot) = cell.and_then(|cell| self.sheet.slot_of(&cell)) {
            self.go_to(slot);
        }
    }

    /// The cursor of the list goes to an item, that of the bars to its first cell.
    pub fn go_to_item(&mut self, item: usize) {
        if item != self.item {
            self.scroll = 0;
        }
        self.item = item;
        let probes = self.sheet.probes_of(item, &self.infos);
        let first =
            self.sheet.slots.iter().position(|slot| probes.contains(&slot.cell.probe.as_str()));
        self.slot = first.unwrap_or(self.slot);
    }
}
