//! The levels of long trials over time: how much was moved before the rate changed, and what lasts.

#[cfg(test)]
pub(super) mod testing;

use std::time::Duration;

use crate::analysis::cause::Slowness;
use crate::analysis::{CellNames, CellResult};
use crate::plan::Op;
use crate::record::{LatencyLog, Rounds, Surroundings, Trial, histogram_of};
use crate::session::Session;
use crate::stats::{STEADY_ROUNDS, Stretch, Summary, segments};
use crate::units::{counted, show_bytes, show_count, show_nanos, show_rate, show_share, show_wait};

/// Shorter trials are single figures, nanoseconds.
const MIN_NANOS: u64 = 10_000_000_000;
/// A rate that a limiter keeps: of this many whole seconds or more, the fastest is faster than the
/// slowest by this share and an operation, or by less.
const MIN_SECONDS: usize = 5;
const MAX_LIMITED: f64 = 0.02;
/// Trials that are described.
const MAX_NAMED: usize = 3;

/// Describes the first long trial of each cell whose rate changed while it ran: `uring 1 MiB
/// write, trial 1: 2.90 GiB/s for 12.3 s (34.0 GiB), then 310 MiB/s`.
pub fn describe_courses(session: &Session, results: &[CellResult]) -> Vec<String> {
    let is_long = |trial: &Trial| trial.nanos >= MIN_NANOS;
    // The rate that was asked for does not change; one that lasts has a sentence of its own.
    let may_change = |result: &&CellResult| {
        let is_free = !result.cell.is_paced() && !session.plan.steady;
        is_free && result.trials.iter().any(|trial| is_long(trial))
    };
    if !results.iter().any(|result| may_change(&result)) {
        return Vec::new();
    }
    let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
    let logs = session.logs_by_cell();
    let of = |result: &CellResult| {
        let mut long = logs.decode(result.trials.first()?.cell).filter(|(trial, _)| is_long(trial));
        long.find_map(|(trial, log)| {
            let said = Course::new(trial, log).filter(Course::changes)?.describe(result);
            Some(format!("{}, trial {}: {said}", names.full(&result.cell), trial.round))
        })
    };
    results.iter().filter(may_change).filter_map(of).take(MAX_NAMED).collect()
}

/// The result of a cell whose trial looked for a steady state.
pub struct Lasting<'a> {
    pub result: &'a CellResult,
    pub course: Option<Course>,
    rounds: &'a Rounds,
    nanos: u64,
}

impl<'a> Lasting<'a> {
    /// Returns what lasts of each cell that was measured.
    pub fn all(session: &Session, results: &'a [CellResult]) -> Vec<Lasting<'a>> {
        let logs = session.logs_by_cell();
        let of = |result: &'a CellResult| {
            let trial = result.trials.first()?;
            let rounds = trial.evidence.rounds.as_deref()?;
            let own = logs.decode(trial.cell).next();
            let course = own.and_then(|(trial, log)| Course::new(trial, log));
            Some(Lasting { result, course, rounds, nanos: trial.nanos })
        };
        results.iter().filter_map(of).collect()
    }

    pub fn is_steady(&self) -> bool {
        self.rounds.are_steady()
    }

    /// Returns `keeps` if it is steady, else `ends at`.
    pub fn verb(&self) -> &'static str {
        if self.is_steady() { "keeps" } else { "ends at" }
    }

    /// Describes the rounds that show it.
    pub fn describe_rounds(&self) -> String {
        let [round, time] = [self.rounds.planned, self.nanos].map(|time| show_nanos(time as f64));
        match self.is_steady() {
            true => format!("steady over {STEADY_ROUNDS} rounds of {round}"),
            false => format!("not steady after {time}"),
        }
    }

    /// Describes the rate that lasts, and the levels before; `None` without a rate.
    pub fn say(&self, names: &CellNames) -> Option<String> {
        let rate = match (self.result.throughput, self.result.operations) {
            (Some(rate), _) => show_rate(rate.summary.median),
            (None, of) => format!("{}/s", show_count(of?.summary.median)),
        };
        let (name, verb) = (names.full(&self.result.cell), self.verb());
        let changes = self.describe_changes().map_or(String::new(), |said| format!(": {said}"));
        Some(format!("{name} {verb} {rate}, {}{changes}", self.describe_rounds()))
    }

    /// Describes the levels before; `None` without a change.
    pub fn describe_changes(&self) -> Option<String> {
        self.course.as_ref().filter(|of| of.changes()).map(|of| of.describe(self.result))
    }
}

/// Describes what lasts of each cell; `None` unless the run looked for it.
pub fn describe_lasting(session: &Session, results: &[CellResult]) -> Option<String> {
    let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
    let all = Lasting::all(session, results);
    let said: Vec<String> =
        all.iter().filter_map(|of| Some(of.say(&names)? + ".")).take(MAX_NAMED).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// The levels of a trial, and what it did per interval.
pub struct Course {
    log: LatencyLog,
    /// Bytes, or operations where none move.
    moved: Vec<f64>,
    pub moves_bytes: bool,
    pub levels: Vec<Stretch>,
    around: Option<Box<Surroundings>>,
}

impl Course {
    /// Returns the course of a trial from its log.
    fn new(trial: &Trial, log: LatencyLog) -> Option<Course> {
        let log = log.evened(trial.nanos);
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
        let around = trial.evidence.surroundings.clone();
        Some(Course { log, moved, moves_bytes, levels, around })
    }

    fn changes(&self) -> bool {
        self.levels.len() > 1
    }

    /// Returns the bytes or operations of a level.
    pub fn work(&self, level: &Stretch) -> f64 {
        self.moved[level.first..=level.last].iter().sum()
    }

    /// Returns the start of a level, seconds after that of the trial.
    pub fn start(&self, level: &Stretch) -> f64 {
        level.first as f64 * self.log.width as f64 / 1e9
    }

    pub fn seconds(&self, level: &Stretch) -> f64 {
        (level.last + 1 - level.first) as f64 * self.log.width as f64 / 1e9
    }

    /// Returns a quantile of the latencies of a level, nanoseconds; `None` with too few of them.
    pub fn latency(&self, level: &Stretch, quantile: f64) -> Option<f64> {
        let own = |index: u32| (level.first..=level.last).contains(&(index as usize));
        let entries = self.log.entries().iter().filter(|entry| own(entry.index));
        let all = histogram_of(entries.flat_map(|entry| &entry.latency));
        all.quantile(quantile).map(|nanos| nanos as f64)
    }

    /// Returns when it was slow and when fast: below and above the middle of its levels.
    fn slowness(&self) -> Slowness {
        let medians = || self.levels.iter().map(|level| level.median);
        let (most, least) = (medians().fold(0.0, f64::max), medians().fold(f64::MAX, f64::min));
        let (slow, fast): (Vec<&Stretch>, Vec<&Stretch>) =
            self.levels.iter().partition(|level| level.median < (most + least) / 2.0);
        let width = self.log.width;
        let range = |level: &Stretch| level.first as u64 * width..(level.last as u64 + 1) * width;
        let changes = self.levels.windows(2).map(|pair| {
            let [before, after] = [pair[0].median, pair[1].median];
            (range(&pair[1]).start, after < before)
        });
        Slowness {
            changes: changes.collect(),
            slow: slow.into_iter().map(range).collect(),
            fast: fast.into_iter().map(range).collect(),
            loss: if most > 0.0 { 1.0 - least / most } else { 0.0 },
        }
    }

    fn show_work(&self, work: f64) -> String {
        match self.moves_bytes {
            true => show_bytes(work as u64),
            false => counted(work as usize, "operation"),
        }
    }

    fn show_speed(&self, per_second: f64) -> String {
        match self.moves_bytes {
            true => show_rate(per_second),
            false => format!("{}/s", show_count(per_second)),
        }
    }

    /// Describes the first change, and how many there are: `2.90 GiB/s for 12.3 s (34.0 GiB), then
    /// 310 MiB/s`.
    fn describe(&self, result: &CellResult) -> String {
        let [first, second, rest @ ..] = &self.levels[..] else { return String::new() };
        let amount = self.show_work(self.work(first));
        let rate = |level: &Stretch| self.show_speed(self.work(level) / self.seconds(level));
        let time = show_nanos(self.seconds(first) * 1e9);
        let mut said = format!("{} for {time} ({amount}), then {}", rate(first), rate(second));
        if !rest.is_empty() {
            let all = Duration::from_nanos(self.log.width * self.moved.len() as u64);
            let changes = counted(self.levels.len() - 1, "change");
            said += &format!(", {changes} in {}", show_wait(all));
        }
        if let Some(cause) = self.slowness().cause(self.around.as_deref()) {
            return said + "; " + &cause;
        }
        let fell = second.median < first.median;
        match result.cell.op == Op::Write {
            _ if !fell || !rest.is_empty() => said + "; cause unknown",
            _ if let Some(bucket) = self.describe_bucket(first, second, result.cell.block) => {
                said + "; " + &bucket
            }
            true => said + &format!("; cause unknown: a cache of {amount} and credits look alike"),
            false => said + "; cause unknown",
        }
    }

    /// Describes the token bucket that fits a drop: a rate that is the same in each second is what
    /// a limiter keeps, and a disk hardly.
    fn describe_bucket(&self, burst: &Stretch, kept: &Stretch, block: u64) -> Option<String> {
        let per_second = usize::try_from(1_000_000_000 / self.log.width.max(1)).ok()?.max(1);
        // The change lies in its first second.
        let own = self.moved.get(kept.first..=kept.last)?;
        let seconds: Vec<f64> =
            own.chunks_exact(per_second).skip(1).map(|second| second.iter().sum()).collect();
        let summary = Summary::from_values(&seconds).filter(|_| seconds.len() >= MIN_SECONDS)?;
        let spread = summary.max - summary.min;
        // One operation more or less ends in a second.
        let step = if self.moves_bytes { block as f64 } else { 1.0 };
        let is_kept = spread - step <= MAX_LIMITED * summary.median;
        let spread = Some(spread / summary.median).filter(|_| is_kept)?;
        let refill = summary.median * 1e9 / (self.log.width as f64 * per_second as f64);
        let tokens = (self.work(burst) - refill * self.seconds(burst)).max(0.0);
        let (tokens, refill) = (self.show_work(tokens), self.show_speed(refill));
        let spread = show_share(spread);
        Some(format!(
            "a token bucket fits: {tokens}, refilled at {refill}, within {spread} in every second"
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::testing::{long_session, session};
    use super::*;
    use crate::record::StateChange;

    #[test]
    fn a_drop_names_what_went_before() {
        // The rate after it changes by a tenth from one second to the next.
        let after = |at: u64| if (at / 10).is_multiple_of(2) { 30 } else { 33 };
        let mib: Vec<u64> = (0..300).map(|at| if at < 123 { 290 } else { after(at) }).collect();
        let said = |op| {
            let (session, results) = session(&mib, op);
            describe_courses(&session, &results).join("")
        };
        let written = said(Op::Write);
        assert!(written.contains("2.83 GiB/s for 12.3 s (34.8 GiB), then 31"), "{written}");
        let unknown = "; cause unknown: a cache of 34.8 GiB and credits look alike";
        assert!(written.ends_with(unknown), "{written}");
        assert!(said(Op::Read).ends_with("; cause unknown"), "{}", said(Op::Read));
    }

    #[test]
    fn a_kept_rate_fits_a_bucket() {
        let mib: Vec<u64> = (0..300).map(|at| if at < 123 { 290 } else { 31 }).collect();
        let said = |mib: &[u64]| {
            let (session, results) = session(mib, Op::Read);
            describe_courses(&session, &results).join("")
        };
        let bucket =
            "; a token bucket fits: 31.1 GiB, refilled at 310 MiB/s, within 0 % in every second";
        assert!(said(&mib).ends_with(bucket), "{}", said(&mib));
        assert!(said(&mib[..170]).ends_with("; cause unknown"), "too few seconds");
        let rises: Vec<u64> = mib.iter().rev().copied().collect();
        assert!(said(&rises).ends_with("; cause unknown"), "{}", said(&rises));
    }

    #[test]
    fn what_happened_around_is_the_cause() {
        let mib: Vec<u64> = (0..300).map(|at| if at < 123 { 290 } else { 31 }).collect();
        let (mut session, mut results) = session(&mib, Op::Write);
        let mut around = Surroundings::default();
        let at = 12_500_000_000;
        let [of, from, to] = ["io.max of /a", "max", "wbps=325058560"].map(String::from);
        around.push_change(StateChange { at, of, from, to });
        let trial = Arc::make_mut(&mut results[0].trials[0]);
        trial.evidence.surroundings = Some(Box::new(around));
        session.trials = results[0].trials.clone();
        let said = describe_courses(&session, &results).join("");
        assert!(said.ends_with("MiB/s; io.max of /a changed from max to wbps=325058560"), "{said}");
    }

    #[test]
    fn lasting_rates_lead() {
        let mib: Vec<u64> = (0..300).map(|at| if at < 123 { 290 } else { 31 }).collect();
        let (session, results) = long_session(&mib);
        let said = describe_lasting(&session, &results).unwrap();
        assert!(
            said.contains("keeps 310 MiB/s, steady over 5 rounds of 3.00 s: 2.83 GiB/s"),
            "{said}"
        );
        assert_eq!(describe_courses(&session, &results), [""; 0], "said once");
        let falling: Vec<u64> = (0..300).map(|at| 400 - at).collect();
        let (session, results) = long_session(&falling);
        let said = describe_lasting(&session, &results).unwrap();
        assert!(said.contains(" ends at ") && said.contains("not steady after 30.0 s"), "{said}");
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
