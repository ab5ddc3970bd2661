//! The measured share of a run's time; the rest went to the file, its preparation and calibration.

use serde::Serialize;

use crate::session::Session;

/// The time that the trials of a run took, compared with all of its time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeasuredTime {
    /// Sum of the durations of all trials, seconds.
    pub measured_seconds: f64,
    /// Duration of the run, from opening the file to the last verdict, seconds.
    pub run_seconds: f64,
    /// The trials' share of the run's duration, 0 to 1.
    pub share: f64,
}

/// Returns the measured time of a run on files; `None` if its end is unknown or it has
/// probes, as their trials have no duration.
pub fn measured_time(session: &Session) -> Option<MeasuredTime> {
    let run_seconds = session.seconds.filter(|seconds| *seconds > 0.0)?;
    if session.trials.is_empty() || !session.plan.probes.is_empty() {
        return None;
    }
    let measured_seconds = session.trials.iter().map(|trial| trial.nanos as f64).sum::<f64>() / 1e9;
    let share = (measured_seconds / run_seconds).min(1.0);
    Some(MeasuredTime { measured_seconds, run_seconds, share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ProbeCell;
    use crate::session::testing::{session, trial_event};

    #[test]
    fn the_share_counts_all_trials() {
        let mut session = session(2);
        // Trials of 1 s.
        (0..3).for_each(|cell| session.apply(&trial_event(cell % 2, 1 + cell / 2, 4096)));
        assert_eq!(measured_time(&session), None, "no end");
        session.seconds = Some(4.0);
        let expected = MeasuredTime { measured_seconds: 3.0, run_seconds: 4.0, share: 0.75 };
        assert_eq!(measured_time(&session), Some(expected));
        session.seconds = Some(1.0);
        assert_eq!(measured_time(&session).map(|time| time.share), Some(1.0));
        session.seconds = Some(0.0);
        assert_eq!(measured_time(&session), None);
        session.seconds = Some(4.0);
        session.plan.probes.push(ProbeCell::new("clock", []));
        assert_eq!(measured_time(&session), None, "probes have no durations");
    }
}
