//! The events of a watch: when, for how long, and what was unusual.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::analysis::CellResult;
use crate::plan::{Axis, Job};
use crate::record::unusual::{self, Course, Unusual};
use crate::record::{AroundStep, Note, Slept, Surroundings, Trial};
use crate::session::Session;
use crate::text::utc;
use crate::units::{counted, show_nanos, show_wait};

/// Events that an answer names.
const MAX_NAMED: usize = 10;
/// Others move much on the disk if it is this many bytes between two readings, and this many times
/// what the watch moves.
const MUCH: u64 = 16 << 20;
const MUCH_MORE: f64 = 10.0;
/// Shorter times without an operation are waits between two.
const LEAST_EMPTY: u64 = 500_000_000;

/// The watch of a session.
pub struct Watched<'a> {
    pub result: &'a CellResult,
    trial: &'a Arc<Trial>,
    planned: Duration,
    pub course: Course,
    slept: Vec<Slept>,
}

impl<'a> Watched<'a> {
    /// Returns the watch of a session; `None` unless one was measured.
    pub fn of(session: &Session, results: &'a [CellResult]) -> Option<Watched<'a>> {
        let result = results.first().filter(|_| session.plan.watch)?;
        // The last one, if there are several.
        let trial = result.trials.last()?;
        let logs = session.logs_by_cell();
        let own = logs.decode(trial.cell).filter(|(of, _)| of.round == trial.round).last();
        let slept = trial.evidence.notes.iter().filter_map(|note| match note {
            Note::Slept(slept) => Some(*slept),
            _ => None,
        });
        let slept: Vec<Slept> = slept.collect();
        let job = &result.cell;
        let pace = (job.operations_per_second().unwrap_or(0.0), job.arrival.is_steady());
        let busy = find_busy(trial);
        let find = |log| unusual::find(&log, trial.nanos, pace, &busy, &slept);
        let course = own.map_or_else(Course::default, |(_, log)| find(log));
        Some(Watched { result, trial, planned: session.plan.trial_time.low, course, slept })
    }

    /// Returns `watched for 12 min of 1 h at 120/s`.
    pub fn title(&self) -> String {
        let [took, planned] = [Duration::from_nanos(self.trial.nanos), self.planned].map(show_time);
        let of = if took == planned { String::new() } else { format!(" of {planned}") };
        let at = match self.result.cell.rate {
            Some(_) => format!(" at {}", Axis::Rate.value(&self.result.cell)),
            None => String::new(),
        };
        format!("watched for {took}{of}{at}")
    }

    /// Returns what ended it, how many events there are, and what is usual.
    pub fn summary(&self) -> Vec<String> {
        let stopped = self.trial.evidence.stopped.as_ref();
        let stopped = stopped.map(|of| format!("stopped by {}", of.describe()));
        let count = match self.course.events.len() {
            0 => "nothing unusual".into(),
            count => counted(count, "event"),
        };
        stopped.into_iter().chain([count]).collect()
    }

    /// Describes the first events, or `all`, how many more there are, and suspends.
    pub fn describe_events(&self, all: bool) -> Vec<String> {
        let shown = if all { usize::MAX } else { MAX_NAMED };
        let events = self.course.events.iter();
        let mut said: Vec<String> = events
            .take(shown)
            .map(|event| format!("{}: {}", self.when(event), self.what(event)))
            .collect();
        let more = self.course.events.len().saturating_sub(shown);
        said.extend((more > 0).then(|| counted(more, "more event")));
        said.extend(self.slept.iter().take(shown).map(|slept| {
            let time = show_time(Duration::from_nanos(slept.nanos));
            format!("the machine slept for {time}, {} after the start", show_nanos(slept.at as f64))
        }));
        said
    }

    /// Returns when an event began: `12:03:05 UTC, after 3 min 05 s, for 4.00 s`.
    pub fn when(&self, event: &Unusual) -> String {
        let clock = self.trial.evidence.clock.map(|began| {
            // By the clock of the trial, which may have stood still.
            let slept = self.slept.iter().filter(|of| of.at <= event.start).map(|of| of.nanos);
            let since = Duration::from_nanos(slept.fold(event.start, u64::saturating_add));
            let since = Duration::from_secs(began).checked_add(since)?;
            let time = SystemTime::UNIX_EPOCH.checked_add(since)?;
            Some(utc(time))
        });
        // 2026-11-28T12:03:05Z
        let clock = clock.flatten().and_then(|text| {
            let (day, time) = text.trim_end_matches('Z').split_once('T')?;
            let day = if self.trial.nanos < DAY { String::new() } else { format!("{day} ") };
            Some(format!("{day}{time} UTC, "))
        });
        let after = show_wait(Duration::from_nanos(event.start));
        format!(
            "{}after {after}, for {}",
            clock.unwrap_or_default(),
            show_nanos(event.nanos as f64)
        )
    }

    /// Returns what was unusual.
    fn what(&self, event: &Unusual) -> String {
        let time = |value: Option<f64>| value.map(show_nanos);
        let empty = (event.empty >= LEAST_EMPTY)
            .then(|| format!("nothing ended for {}", show_nanos(event.empty as f64)));
        let slow = time(event.p50).map(|p50| {
            let usual = time(self.course.p50).unwrap_or_default();
            format!("p50 {p50}, usually {usual}")
        });
        let max = time(event.max).map(|max| format!("up to {max}"));
        let what = [empty, slow, max].into_iter().flatten().collect::<Vec<_>>().join(", ");
        format!("{what}; {}", self.who(event))
    }

    /// Returns who was active.
    fn who(&self, event: &Unusual) -> String {
        let around = self.trial.evidence.surroundings.as_ref();
        let around =
            around.map(|all| all.between(event.start, event.start.saturating_add(event.nanos)));
        around.and_then(|of| of.describe()).unwrap_or_else(|| "cause unknown".into())
    }
}

/// Returns when others moved much on the disk, from and to, nanoseconds after the start.
fn find_busy(trial: &Trial) -> Vec<(u64, u64)> {
    let steps = trial.evidence.surroundings.iter().flat_map(|of| &of.steps);
    let own = trial.bytes as f64 / trial.nanos.max(1) as f64;
    let is_much = |step: &&AroundStep| {
        let moved = step.moved() as f64;
        // A merged step is of several seconds.
        let seconds = (step.nanos as f64 / Surroundings::WIDTH as f64).max(1.0);
        moved >= MUCH as f64 * seconds && moved > MUCH_MORE * own * step.nanos as f64
    };
    steps.filter(is_much).map(|step| (step.from, step.end())).collect()
}

const DAY: u64 = 86_400_000_000_000;

/// Formats a time that a user gave: `1 h`, `90 min`, `12 s`.
fn show_time(time: Duration) -> String {
    let seconds = (time.as_secs_f64().round() as u64).max(1);
    match seconds {
        of if of.is_multiple_of(3600) => format!("{} h", of / 3600),
        _ => show_wait(Duration::from_secs(seconds)),
    }
}

/// Describes a watch; `None` unless the session is one.
pub fn describe_watched(session: &Session, results: &[CellResult]) -> Option<String> {
    let watched = Watched::of(session, results)?;
    let time = |name: &str, value: Option<f64>| Some(format!("{name} {}", show_nanos(value?)));
    let latency = watched.result.latency;
    let figures = [
        latency.and_then(|of| time("p50", of.p50)),
        latency.and_then(|of| time("p99", of.p99)),
        latency.and_then(|of| time("max", Some(of.max))),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    let figures = Some(figures.join(", ")).filter(|said| !said.is_empty());
    let name = Job::label(&Axis::Rate.without(&watched.result.cell));
    let figures: Vec<String> = figures.into_iter().chain(watched.summary()).collect();
    let figures = figures.join("; ");
    let events = watched.describe_events(false);
    let events: Vec<String> =
        events.into_iter().map(|said| format!(" {}.", super::capitalize(&said))).collect();
    Some(format!("{name}, {}: {figures}.{}", watched.title(), events.concat()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::analysis::over_time::testing;
    use crate::plan::{Op, Rate, TrialTime};
    use crate::record::{LatencyLog, LogBuckets, LogEntry, Stopped, Surroundings};

    const MS: u64 = 1_000_000;

    /// Returns the session of a watch of two minutes at 100/s, with three slow seconds of each.
    pub fn session() -> (Session, Vec<CellResult>) {
        let (mut session, mut results) = testing::session(&[10; 1200], Op::Read);
        let mut log = LatencyLog::new(1);
        for index in 0..1200u32 {
            let nanos = if index / 10 % 60 < 57 { MS } else { 9 * MS };
            let latency = vec![(LogBuckets::of(nanos) as u16, 10)];
            log.add(LogEntry { index, ops: 10, latency, ..LogEntry::default() });
        }
        results[0].cell.rate = Some(Rate::Operations(100));
        session.plan.cells = vec![results[0].cell.clone()];
        session.plan.watch = true;
        session.plan.trial_time = TrialTime::from_duration(Duration::from_secs(120));
        let trial = Arc::make_mut(&mut results[0].trials[0]);
        trial.bytes = 48 << 20;
        // 2026-11-28 12:00:00
        trial.evidence.clock = Some(1_795_867_200);
        session.latencies =
            log.encode(trial.cell, trial.round).into_iter().map(Into::into).collect();
        session.trials = results[0].trials.clone();
        (session, results)
    }

    #[test]
    fn events_are_named_with_their_time() {
        let (mut session, mut results) = session();
        let said = describe_watched(&session, &results).unwrap();
        assert!(said.contains(", watched for 2 min at 100/s: "), "{said}");
        assert!(
            said.contains("2 events. 12:00:57 UTC, after 57 s, for 3.00 s: p50 9.0")
                && said.contains("; cause unknown."),
            "{said}"
        );
        assert!(
            said.contains("usually 1.00 ms, up to 9.0") || said.contains("usually 1.0"),
            "{said}"
        );
        let trial = Arc::make_mut(&mut results[0].trials[0]);
        let mut around = Surroundings::default();
        let (nanos, written) = (1_000 * MS, 200 << 20);
        for from in [30_000 * MS, 57_000 * MS] {
            around.push(AroundStep { from, nanos, written, ..AroundStep::default() });
        }
        trial.evidence.surroundings = Some(Box::new(around));
        let said = describe_watched(&session, &results).unwrap();
        assert!(said.contains("moved 200 MiB on the disk, and who is unknown"), "{said}");
        assert!(said.contains("3 events") && said.contains("after 30 s, for 1.00 s"), "{said}");
        let trial = Arc::make_mut(&mut results[0].trials[0]);
        let condition = "p99>50ms for 10s".parse().unwrap();
        let stopped = Stopped { condition, at: 60_000 * MS, ops: 1000, timed: 1000, beyond: 34 };
        trial.evidence.stopped = Some(Box::new(stopped));
        trial.evidence.notes = vec![Note::Slept(Slept { at: 10_000 * MS, nanos: 7_200_000 * MS })];
        let said = describe_watched(&session, &results).unwrap();
        assert!(said.contains("stopped by p99>50ms for 10s after 60.0 s: 34 of 1000"), "{said}");
        assert!(
            said.contains("14:00:57 UTC, after 57 s") && said.contains("slept for 2 h"),
            "{said}"
        );
        session.plan.watch = false;
        assert_eq!(describe_watched(&session, &results), None);
    }

    #[test]
    fn many_events_are_counted() {
        let (session, results) = session();
        let mut watched = Watched::of(&session, &results).unwrap();
        let event = watched.course.events[0].clone();
        watched.course.events = vec![event; 25];
        let said = watched.describe_events(false);
        assert_eq!((said.len(), said[10].as_str()), (11, "15 more events"));
        assert_eq!(watched.describe_events(true).len(), 25);
        watched.course.events.clear();
        assert_eq!(watched.summary(), ["nothing unusual"]);
    }
}
