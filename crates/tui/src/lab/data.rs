//! The data of the bars: probes available on this machine, results of a session, values of marked
//! sessions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::{self, Board, ProbeResult, Step};
use crate::experiment::Offer;
use crate::plan::{ProbeCell, Skipped};
use crate::record::Unit;
use crate::session::{Reference, Session};
use crate::session_view;
use crate::text::time::to_minute;

/// Probes of this machine, and the references, as the shell found them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LocalProbes {
    /// Cells by probe, in the order of the registry.
    pub cells: Vec<Offer>,
    /// References with probe results.
    pub others: Vec<MarkedSession>,
}

/// A session or reference that is marked on the bars.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkedSession {
    pub id: String,
    pub name: String,
    /// Its description in lists.
    pub about: String,
    pub values: HashMap<ProbeCell, (Unit, f64)>,
}

impl MarkedSession {
    /// Takes the medians of a session's probes.
    pub fn from_session(session: &Session, about: String) -> MarkedSession {
        let value =
            |probe: ProbeResult| Some((probe.cell, (probe.unit?, probe.value?.summary.median)));
        let values = analysis::probes(session).into_iter().filter_map(value).collect();
        MarkedSession {
            id: session.id.clone(),
            name: session_view::session_name(session),
            about,
            values,
        }
    }

    /// Returns the references with probe results.
    pub fn from_references(all: &[Reference]) -> Vec<MarkedSession> {
        let sessions = all.iter().map(|reference| {
            MarkedSession::from_session(reference.session(), reference.machine.clone())
        });
        sessions.filter(|other| !other.values.is_empty()).collect()
    }

    /// Returns its value for a cell, if it has the unit of the bar.
    pub fn value(&self, cell: &ProbeCell, unit: Unit) -> Option<f64> {
        self.values.get(cell).filter(|(other, _)| *other == unit).map(|(_, value)| *value)
    }
}

/// The session that is shown, finished or running.
#[derive(Debug, Default)]
pub struct ProbeData {
    pub results: Vec<ProbeResult>,
    /// Cells that cannot be measured.
    pub skipped: Vec<Skipped<ProbeCell>>,
    /// Cells that a finished run did not reach.
    pub missed: Vec<Skipped<ProbeCell>>,
    /// Every cell of the plan, so that they have their places before they are measured.
    pub planned: Vec<ProbeCell>,
    /// The finished session; `None` while it runs.
    pub session: Option<Arc<Session>>,
    pub path: Option<PathBuf>,
    /// Its name and time.
    pub title: String,
    /// Nanoseconds per CPU cycle of its machine.
    pub cycle: Option<f64>,
    /// The plateaus of its curves.
    pub steps: Vec<Step>,
    /// The figure of its question.
    pub board: Option<Board>,
    /// The cell that it is of.
    pub asked: Option<ProbeCell>,
}

impl ProbeData {
    /// Shows a finished session.
    pub fn from_session(
        session: Session,
        results: Vec<ProbeResult>,
        path: Option<PathBuf>,
    ) -> ProbeData {
        let missed = analysis::missed_probes(&session);
        let title = match session.reference {
            Some(_) => session.id.clone(),
            None => format!(
                "{}, {} UTC",
                session_view::session_name(&session),
                to_minute(&session.created)
            ),
        };
        let data = ProbeData::from_run(&session, results);
        ProbeData { missed, title, path, session: Some(Arc::new(session)), ..data }
    }

    /// Shows a running session; cells it has not reached are not missed yet.
    pub fn from_run(session: &Session, results: Vec<ProbeResult>) -> ProbeData {
        let steps = analysis::steps(&results, &session.host);
        let asked = analysis::lab_board(session, &results);
        let asked = asked.map(|(cell, board)| (cell.clone(), board));
        let (asked, board) = asked.unzip();
        ProbeData {
            board,
            asked,
            results,
            steps,
            skipped: session.plan.skipped_probes.clone(),
            planned: session.plan.probes.clone(),
            cycle: session.host.cpu.cycle_nanos,
            ..ProbeData::default()
        }
    }

    pub fn id(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.id.as_str())
    }
}
