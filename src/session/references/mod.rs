//! Machines with published figures as sessions that come with iotui: shown, compared and exported
//! like any other, never changed.
//!
//! A reference is one file in `assets/references/`: the tables of a report, as they stand there.
//! Its figures are "as reported": one trial each, without samples, latencies or device bytes, and
//! where the bytes came from is unknown.

mod build;
mod file;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use super::{Listed, Session, State};

/// One reference: its id, and what lists say of it.
#[derive(Debug)]
pub struct Reference {
    pub id: &'static str,
    pub about: String,
    /// The machine in a sentence: `the 2017 MacBook Pro`.
    pub machine: String,
    /// Course and year, as far as the report says.
    pub source: String,
    session: Session,
}

macro_rules! files {
    ($($id:literal),+ $(,)?) => { &[$(($id, include_str!(concat!("../../../assets/references/", $id, ".toml")))),+] };
}

/// Id and text of each; the id is the name of its file.
const FILES: &[(&str, &str)] =
    files!["macbook-2017", "m1-container", "m5d-metal", "ryzen-5900hs", "i7-8750h", "xeon-os"];

/// All of them, in the order of lists.
pub fn references() -> &'static [Reference] {
    static ALL: LazyLock<Vec<Reference>> = LazyLock::new(|| {
        FILES.iter().filter_map(|(id, text)| build::reference(id, text).ok()).collect()
    });
    &ALL
}

/// The reference of that id.
pub fn reference(id: &str) -> Option<&'static Reference> {
    references().iter().find(|reference| reference.id == id)
}

/// Letters of an id that mean a reference: with fewer a slip of the hand would find one.
const LEAST: usize = 4;

/// The one reference that an id, or the start of one, means.
pub(super) fn meant(text: &str) -> Option<&'static Reference> {
    let mut meant = references()
        .iter()
        .filter(|reference| text.len() >= LEAST && reference.id.starts_with(text));
    reference(text).or_else(|| meant.next().filter(|_| meant.next().is_none()))
}

impl Reference {
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// As a list of sessions shows it.
    pub fn listed(&self) -> Listed {
        let probes = self.session.plan.probes.len() as u64;
        let cells = self.session.plan.cells.len() as u64 + probes;
        Listed {
            id: self.id.into(),
            name: String::new(),
            target: self.about.clone(),
            created: self.session.created.clone(),
            seconds: None,
            cells,
            probes,
            measured: Some(cells),
            failed: 0,
            verdict: self.session.worst().map(|worst| Some(worst).into()),
            state: State::Reference,
            best: best(&self.session),
            lost_lines: Some(0),
            nanos: 0,
        }
    }
}

/// The highest throughput of a session, bytes per second; a report gives one trial of each cell.
fn best(session: &Session) -> Option<f64> {
    session
        .trials
        .iter()
        .map(|trial| trial.throughput())
        .filter(|rate| *rate > 0.0)
        .reduce(f64::max)
}
