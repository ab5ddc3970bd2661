//! What the bars are made from: what can be measured here, what a session measured, what others
//! reach.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis;
use crate::analysis::{ProbeResult, Step};
use crate::engine::Offer;
use crate::plan::{ProbeCell, Skipped};
use crate::record::Unit;
use crate::session::{Reference, Session};
use crate::tui::session_name;

/// What the shell found out for this screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LocalProbes {
    /// Probe by probe, in the order of the registry.
    pub cells: Vec<Offer>,
    /// References that know probes.
    pub others: Vec<MarkedSession>,
}

/// A session or a reference that is marked on the bars.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkedSession {
    pub id: String,
    pub name: String,
    /// What is said of it in lists.
    pub about: String,
    pub values: HashMap<ProbeCell, (Unit, f64)>,
}

impl MarkedSession {
    /// The medians of a session's probes.
    pub fn from_session(session: &Session, about: String) -> MarkedSession {
        let value =
            |probe: ProbeResult| Some((probe.cell, (probe.unit?, probe.value?.summary.median)));
        let values = analysis::probes(session).into_iter().filter_map(value).collect();
        MarkedSession {
            id: session.id.clone(),
            name: session_name::of_session(session).into(),
            about,
            values,
        }
    }

    /// The references that measured probes.
    pub fn from_references(all: &[Reference]) -> Vec<MarkedSession> {
        let known = all.iter().map(|reference| {
            MarkedSession::from_session(reference.session(), reference.machine.clone())
        });
        known.filter(|other| !other.values.is_empty()).collect()
    }

    /// Its value for a cell, where that has the unit of the bar.
    pub fn value(&self, cell: &ProbeCell, unit: Unit) -> Option<f64> {
        self.values.get(cell).filter(|(own, _)| *own == unit).map(|(_, value)| *value)
    }
}

/// A session that is shown, or that grows.
#[derive(Debug, Default)]
pub struct Data {
    pub results: Vec<ProbeResult>,
    pub skipped: Vec<Skipped<ProbeCell>>,
    /// Every cell of the plan, so that they have their places before they are measured.
    pub planned: Vec<ProbeCell>,
    /// The whole of it; `None` while it grows.
    pub session: Option<Arc<Session>>,
    pub path: Option<PathBuf>,
    /// Its name and when it was.
    pub title: String,
    /// Nanoseconds of a cycle of that machine.
    pub cycle: Option<f64>,
    /// The steps of its staircases.
    pub steps: Vec<Step>,
}

impl Data {
    /// A session that is over.
    pub fn from_session(
        session: Session,
        results: Vec<ProbeResult>,
        path: Option<PathBuf>,
    ) -> Data {
        let skipped = analysis::skipped_probes(&session);
        let title = match session.reference {
            Some(_) => session.id.clone(),
            None => format!(
                "{}, {} UTC",
                session_name::of_session(&session),
                session_name::format_time(&session.created)
            ),
        };
        Data { skipped, title, path, ..Data::from_run(&session, results) }.with_session(session)
    }

    /// A session as far as it is; what it did not reach is not skipped yet.
    pub fn from_run(session: &Session, results: Vec<ProbeResult>) -> Data {
        let steps = analysis::steps(&results, &session.host);
        Data {
            results,
            steps,
            skipped: session.plan.skipped_probes.clone(),
            planned: session.plan.probes.clone(),
            cycle: session.host.cpu.cycle_nanos,
            ..Data::default()
        }
    }

    fn with_session(self, session: Session) -> Data {
        Data { session: Some(Arc::new(session)), ..self }
    }

    pub fn id(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.id.as_str())
    }
}
