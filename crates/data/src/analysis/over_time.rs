//! The levels of long trials over time: how much was moved before the rate changed.

use crate::analysis::{CellNames, CellResult};
use crate::plan::Op;
use crate::record::{EncodedLog, LatencyLog, Trial};
use crate::session::Session;
use crate::stats::{Stretch, segments};
use crate::units::{counted, show_bytes, show_count, show_nanos, show_rate, show_wait};

/// Shorter trials are single figures, nanoseconds.
const MIN_NANOS: u64 = 10_000_000_000;
/// Trials that are described.
const MAX_NAMED: usize = 3;

/// Describes the first long trial of each cell whose rate changed while it ran: `uring 1 MiB
/// write, trial 1: 2.90 GiB/s for 12.3 s (34.0 GiB), then 310 MiB/s`.
pub fn describe_courses(session: &Session, results: &[CellResult]) -> Vec<String> {
    let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
    let of = |result: &CellResult| {
        let long = result.trials.iter().filter(|trial| trial.nanos >= MIN_NANOS);
        // The rate that was asked for does not change.
        let mut long = long.filter(|_| !result.cell.is_paced());
        let said = long.find_map(|trial| Some((trial, describe(&course(session, trial)?, result))));
        said.map(|(trial, said)| {
            format!("{}, trial {}: {said}", names.full(&result.cell), trial.round)
        })
    };
    results.iter().filter_map(of).take(MAX_NAMED).collect()
}

/// The levels of a trial, and what it did per interval.
struct Course {
    width: u64,
    /// Bytes, or operations where none move.
    moved: Vec<f64>,
    moves_bytes: bool,
    levels: Vec<Stretch>,
}

/// Returns the course of a trial whose rate changed.
fn course(session: &Session, trial: &Trial) -> Option<Course> {
    let own = |of: &&EncodedLog| (of.cell, of.round) == (trial.cell, trial.round);
    let log = LatencyLog::decode(session.latencies.iter().map(|of| &**of).filter(own))?;
    let whole = usize::try_from(trial.nanos / log.width.max(1)).ok()?;
    let moves_bytes = trial.bytes > 0;
    // In an interval without an entry nothing ended.
    let mut moved = vec![0.0; whole.min(LatencyLog::MAX_ENTRIES)];
    for entry in log.entries() {
        if let Some(own) = moved.get_mut(entry.index as usize) {
            *own += if moves_bytes { entry.bytes } else { entry.ops } as f64;
        }
    }
    let levels = segments(&moved);
    (levels.len() > 1).then_some(Course { width: log.width, moved, moves_bytes, levels })
}

impl Course {
    /// Returns the rate of a level over its whole time.
    fn rate(&self, level: &Stretch) -> String {
        let values = &self.moved[level.first..=level.last];
        let seconds = self.seconds(level);
        let rate = values.iter().sum::<f64>() / seconds;
        if self.moves_bytes { show_rate(rate) } else { format!("{}/s", show_count(rate)) }
    }

    fn seconds(&self, level: &Stretch) -> f64 {
        (level.last + 1 - level.first) as f64 * self.width as f64 / 1e9
    }

    /// Returns the bytes or operations before the first change.
    fn before(&self) -> f64 {
        self.moved[..=self.levels[0].last].iter().sum()
    }
}

fn describe(course: &Course, result: &CellResult) -> String {
    let [first, second, rest @ ..] = &course.levels[..] else { return String::new() };
    let before = course.before();
    let amount = match course.moves_bytes {
        true => show_bytes(before as u64),
        false => counted(before as usize, "operation"),
    };
    let time = show_nanos(course.seconds(first) * 1e9);
    let (high, low) = (course.rate(first), course.rate(second));
    let mut said = format!("{high} for {time} ({amount}), then {low}");
    if !rest.is_empty() {
        let all = std::time::Duration::from_nanos(course.width * course.moved.len() as u64);
        said += &format!(", {} in {}", counted(course.levels.len() - 1, "change"), show_wait(all));
    }
    let fell = second.median < first.median;
    match result.cell.op == Op::Write && fell && rest.is_empty() {
        true => said + "; cause unknown: a full cache or used-up credits look alike",
        false => said + "; cause unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::answer::testing::cell;
    use crate::plan::{Cache, Job};
    use crate::record::LogEntry;
    use crate::session::testing::{self, job};

    /// Returns a session whose only trial moved these MiB in each tenth of a second.
    fn session(mib: &[u64], op: Op) -> (Session, Vec<CellResult>) {
        let mut log = LatencyLog::new(1);
        for (index, mib) in (0..).zip(mib) {
            log.add(LogEntry { index, ops: *mib, bytes: mib << 20, ..LogEntry::default() });
        }
        let job = Job { op, ..job("pread", 1 << 20, Cache::AsIs) };
        let mut result = cell(job.clone(), 1.0, 0.0, 1);
        let trial = std::sync::Arc::make_mut(&mut result.trials[0]);
        trial.nanos = mib.len() as u64 * LatencyLog::WIDTH;
        trial.bytes = mib.iter().sum::<u64>() << 20;
        let mut session = testing::session(1);
        session.latencies =
            log.encode(trial.cell, trial.round).into_iter().map(Into::into).collect();
        (session, vec![result])
    }

    #[test]
    fn a_drop_names_what_went_before() {
        let mib: Vec<u64> = (0..300).map(|at| if at < 123 { 290 } else { 31 }).collect();
        let (session, results) = session(&mib, Op::Write);
        let said = describe_courses(&session, &results);
        let [said] = &said[..] else { panic!("{said:?}") };
        assert!(said.contains("2.83 GiB/s for 12.3 s (34.8 GiB), then 310 MiB/s"), "{said}");
        assert!(said.ends_with("a full cache or used-up credits look alike"), "{said}");
    }

    #[test]
    fn steady_and_short_trials_are_silent() {
        let (steady, results) = session(&[100; 300], Op::Read);
        assert_eq!(describe_courses(&steady, &results), [""; 0]);
        let short: Vec<u64> = (0..60).map(|at| if at < 30 { 290 } else { 31 }).collect();
        let (short, results) = session(&short, Op::Read);
        assert_eq!(describe_courses(&short, &results), [""; 0]);
    }

    #[test]
    fn several_changes_are_counted() {
        let mib: Vec<u64> = (0..600).map(|at| if at / 150 % 2 == 0 { 100 } else { 30 }).collect();
        let (session, results) = session(&mib, Op::Read);
        let said = describe_courses(&session, &results).join("");
        assert!(
            said.contains("1000 MiB/s for 15.0 s") || said.contains("0.98 GiB/s for 15.0 s"),
            "{said}"
        );
        assert!(said.contains("3 changes in 60 s; cause unknown"), "{said}");
    }
}
