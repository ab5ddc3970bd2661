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
            target: self.about.clone(),
            created: self.session.created.clone(),
            cells,
            probes,
            measured: Some(cells),
            verdict: self.session.worst().map(|worst| Some(worst).into()),
            best: best(&self.session),
            lost_lines: Some(0),
            state: State::Reference,
            ..Listed::default()
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
