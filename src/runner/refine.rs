//! Continues a session: the plan that adds rounds to its trials.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::replan::{ReplanError, replan};
use crate::analysis::is_same_machine;
use crate::facts::Host;
use crate::plan::{Plan, Settings, TargetSpec, Until};
use crate::record::Earlier;
use crate::session::Session;
use crate::text::{parse_utc, show_path};

/// Why a session cannot be continued; each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum RefineError {
    #[error("{0} is a reference with published figures, which cannot be continued")]
    Reference(&'static str),
    #[error("{0} ranks measured that session, so that this process cannot add to it: use --plan")]
    Ranks(u32),
    #[error("that session has one long trial of each cell, which cannot go on: use --plan")]
    Steady,
    #[error("the session {0} has no trials of a file to add to: use --plan")]
    Empty(String),
    #[error(
        "--refine adds rounds to that session: only --trials, --until and --budget can be combined with it"
    )]
    Other,
    #[error(
        "that session was measured on another machine or kernel ({0}): add rounds there, or use --plan here"
    )]
    Machine(String),
    #[error(
        "{} was modified after that session was measured: use --plan to measure it as it is now",
        show_path(.0)
    )]
    Changed(std::path::PathBuf),
    #[error("{} is not as long as it was in that session: use --plan to measure it as it is now", show_path(.0))]
    Resized(std::path::PathBuf),
    #[error(transparent)]
    Replan(#[from] ReplanError),
}

/// Builds the plan that continues `session` on this machine, and returns what it continues:
/// `--trials N` adds N rounds, without it as many as `--until` or the plan's own goal needs; `only`
/// to this cell.
///
/// # Errors
/// The session was measured elsewhere or on another state of the file, or has nothing to add to.
pub fn refine(
    session: &Session,
    settings: &Settings,
    only: Option<u32>,
    host: &Host,
) -> Result<(Plan, Earlier), RefineError> {
    if let Some(machine) = session.reference {
        return Err(RefineError::Reference(machine));
    }
    if session.plan.anonymous {
        return Err(ReplanError::Anonymous.into());
    }
    if session.plan.processes() > 1 {
        return Err(RefineError::Ranks(session.plan.processes()));
    }
    if session.trials.is_empty() || session.plan.pick || !session.plan.probes.is_empty() {
        return Err(RefineError::Empty(session.id.clone()));
    }
    if session.plan.has_long_trials() || settings.until == Some(Until::Steady) {
        return Err(RefineError::Steady);
    }
    let Settings { trials, until, budget, .. } = settings.clone();
    let free = Settings { trials, until, budget, ..Settings::default() };
    if free != *settings {
        return Err(RefineError::Other);
    }
    if !is_same_machine(&session.host, host) {
        // A damaged session may have lost it.
        let name = Some(session.host.name.as_str()).filter(|name| !name.is_empty());
        return Err(RefineError::Machine(name.unwrap_or("its name is lost").into()));
    }
    for target in session.plan.targets() {
        if let TargetSpec::File { path, size } = target {
            check_unchanged(path, *size, parse_utc(&session.created))?;
        }
    }
    let commits = session.verdicts.iter().map(|verdict| verdict.as_ref()?.commits.clone());
    let services = session.verdicts.iter().map(|verdict| verdict.as_ref()?.service.clone());
    let latencies = session.verdicts.iter().map(|verdict| verdict.as_ref()?.latency.clone());
    let earlier = Earlier {
        trials: session.trials.clone(),
        latencies: latencies.collect(),
        services: services.collect(),
        commits: commits.collect(),
        logs: session.latencies.clone(),
        seconds: session.seconds.unwrap_or(0.0),
        only,
    };
    let mut plan = replan(session, &[], &[], false, settings)?;
    // More trials were requested, whatever is in memory, and however certain the answer is.
    (plan.once_uncached, plan.span_may_shrink) = (false, false);
    plan.settle = plan.settle.filter(|_| until.is_some());
    plan.trials = match (trials, until, session.plan.trials) {
        (Some(more), ..) | (None, None, Some(more)) => Some(earlier.rounds().saturating_add(more)),
        _ => None,
    };
    Ok((plan, earlier))
}

/// Checks that a file has not changed since; a device has no such time.
fn check_unchanged(
    path: &Path,
    size: u64,
    measured: Option<SystemTime>,
) -> Result<(), RefineError> {
    let Ok(now) = std::fs::metadata(path) else { return Ok(()) };
    if !now.is_file() {
        return Ok(());
    }
    if now.len() != size {
        return Err(RefineError::Resized(path.into()));
    }
    match (now.modified(), measured) {
        // The session's time is in whole seconds.
        (Ok(modified), Some(measured)) if modified >= measured + Duration::from_secs(1) => {
            Err(RefineError::Changed(path.into()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing;

    #[test]
    fn rounds_are_added_to_those_done() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut session = testing::session(3);
        let need = session.plan.cells.iter().map(|c| c.span).max().unwrap();
        file.as_file().set_len(need).unwrap();
        session.plan.target = TargetSpec::File { path: file.path().into(), size: need };
        session.created = "2999-01-01T00:00:00Z".into();
        let done = 2;
        session.trials = (1..=done).map(|round| testing::trial(0, round, 4096).into()).collect();
        let refined = |session: &Session, settings: &Settings| {
            refine(session, settings, None, &session.host).map(|(plan, earlier)| {
                assert_eq!(earlier.trials.len(), session.trials.len());
                plan.trials
            })
        };
        let more = |n| Settings { trials: Some(n), ..Settings::default() };
        assert_eq!(refined(&session, &more(4)).unwrap(), Some(done + 4));
        let until =
            Settings { until: Some(crate::plan::Until::Within(300)), ..Settings::default() };
        assert_eq!(refined(&session, &until).unwrap(), None);
        let other = Settings { xor: Some(true), ..Settings::default() };
        assert!(matches!(refined(&session, &other), Err(RefineError::Other)));
        let mut elsewhere = session.host.clone();
        elsewhere.kernel += "x";
        let error = refine(&session, &more(1), None, &elsewhere).unwrap_err();
        assert!(matches!(error, RefineError::Machine(_)), "{error}");
        session.created = "2001-01-01T00:00:00Z".into();
        assert!(matches!(refined(&session, &more(1)), Err(RefineError::Changed(_))));
        file.as_file().set_len(need + 1).unwrap();
        assert!(matches!(refined(&session, &more(1)), Err(RefineError::Resized(_))));
        session.trials.clear();
        assert!(matches!(refined(&session, &more(1)), Err(RefineError::Empty(_))));
    }
}
