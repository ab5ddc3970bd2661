//! One reference, as a session and as an entry of lists.

use crate::session::{Listed, Session, State};

/// One reference: its id, and the facts that lists show.
#[derive(Debug)]
pub struct Reference {
    pub id: &'static str,
    pub about: String,
    /// The machine in a sentence: `the 2017 MacBook Pro`.
    pub machine: String,
    /// Course and year, if the report names them.
    pub source: String,
    pub(super) session: Session,
}

impl Reference {
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns its entry in a list of sessions.
    pub fn to_listed(&self) -> Listed {
        let probes = self.session.plan.probes.len() as u64;
        let cells = self.session.plan.cells.len() as u64 + probes;
        Listed {
            id: self.id.into(),
            name: String::new(),
            target: self.about.clone(),
            label: String::new(),
            created: self.session.created.clone(),
            seconds: None,
            cells,
            probes,
            measured: Some(cells),
            failed: 0,
            verdict: self.session.worst().map(|worst| Some(worst).into()),
            state: State::Reference,
            best: best(&self.session),
            curve: Vec::new(),
            lost_lines: Some(0),
            nanos: 0,
        }
    }
}

/// Returns the highest throughput of a session, bytes per second; a report has one trial per cell.
fn best(session: &Session) -> Option<f64> {
    session
        .trials
        .iter()
        .map(|trial| trial.throughput())
        .filter(|rate| *rate > 0.0)
        .reduce(f64::max)
}
