//! Whether a run that ends when its answer is settled got there.

use std::time::Duration;

use crate::analysis::CellResult;
use crate::experiment::{Measurements, Settling};
use crate::record::End;
use crate::session::Session;
use crate::units::{counted, show_wait};

/// Returns whether the answer is settled, with `settled after 24 s of at most 50 s`; `None`
/// for a run that ends otherwise, that was stopped, or that has no valid result.
pub fn settled(session: &Session, results: &[CellResult]) -> Option<(bool, String)> {
    let settling = Settling::new(&session.plan)?;
    let budget = show_wait(session.plan.budget);
    if session.end == Some(End::Goal) && results.iter().any(CellResult::is_sound) {
        let seconds = Duration::try_from_secs_f64(session.seconds?).ok()?;
        return Some((true, format!("settled after {} of at most {budget}", show_wait(seconds))));
    }
    if session.end != Some(End::Budget) {
        return None;
    }
    let mut rest = results.iter().peekable();
    let measured = session.plan.cells.iter().enumerate().map(|(at, job)| {
        let result = rest.next_if(|result| result.cell == *job).filter(|of| of.is_sound())?;
        let verdict = session.verdicts.get(at).and_then(Option::as_deref);
        let verdict = verdict.filter(|_| settling.needs_latencies());
        let commits = verdict.and_then(|verdict| Some(&verdict.commits.as_ref()?.total));
        let latency = commits.or_else(|| verdict?.latency.as_ref());
        Some(Measurements { rates: result.series(), latency: latency.cloned() })
    });
    let cells: Vec<Option<Measurements>> = measured.collect();
    let open = settling.open(&cells).into_iter().filter(|open| *open).count();
    let why = match open {
        0 => "use a longer --budget".into(),
        open => format!("{} can still change an answer", counted(open, "cell")),
    };
    Some((false, format!("not settled within {budget}: {why}")))
}
