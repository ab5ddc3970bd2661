use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier};

use super::clock;
use super::merge::Merger;
use super::messages::{Command, PartCommand, PartReply, pack, unpack};
use super::threads;
use crate::engine::trial_parts::TrialOutcome;
use crate::engine::trial_parts::testing::outcome;
use crate::engine::{Control, Link, Proposal, Started, dismiss, follow, propose, run_together};
use crate::plan::{Choice, Op, Pattern, Plan, Settings, TargetSpec, preset};
use crate::record::{
    BadBlock, End, Event, Found, LatencyLog, LogEntry, MachineEvidence, Trial, Verified,
};
use crate::stats::Histogram;
use crate::stats::random::mix;
use crate::sys::clock::monotonic_nanos;

static NEVER: AtomicBool = AtomicBool::new(false);

fn no_signal() -> Option<i32> {
    None
}

/// A plan of pread at 4 KiB for three ranks, on scratch files in `dir`, and with these settings.
fn plan_with(dir: &Path, more: &str, ranks: u32) -> Arc<Plan> {
    let mut settings = Settings::default();
    let all = "backend=pread block-size=4k cache=warm trials=3 trial-time=1ms size=64k budget=1m \
               ceilings=never";
    let words = all.split_whitespace().chain(more.split_whitespace());
    for (name, text) in words.filter_map(|word| word.split_once('=')) {
        settings.set(name, text).unwrap();
    }
    let presets = [preset("quick").unwrap()];
    let ranks = Some(Started { ranks, here: ranks });
    let asked = Proposal { dir: Some(dir), ranks, ..Proposal::new(&presets, &settings) };
    Arc::new(propose(&asked).unwrap().plan)
}

fn plan(dir: &Path) -> Arc<Plan> {
    plan_with(dir, "", 3)
}

/// A folder on a disk.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

/// A rank that hears other orders than rank 0 gave.
struct Misled<'a> {
    link: &'a dyn Link,
    mislead: &'a dyn Fn(Command) -> Command,
}

impl Link for Misled<'_> {
    fn rank(&self) -> u32 {
        self.link.rank()
    }

    fn size(&self) -> u32 {
        self.link.size()
    }

    fn node(&self) -> String {
        self.link.node()
    }

    fn machine(&self) -> String {
        self.link.machine()
    }

    fn broadcast(&self, message: Vec<u8>) -> Vec<u8> {
        let heard = self.link.broadcast(message);
        match unpack(&heard) {
            Ok(order) => pack(&(self.mislead)(order)),
            Err(_) => heard,
        }
    }

    fn gather(&self, message: Vec<u8>) -> Vec<Vec<u8>> {
        self.link.gather(message)
    }

    fn send(&self, to: u32, value: u64) {
        self.link.send(to, value);
    }

    fn receive(&self, from: u32) -> u64 {
        self.link.receive(from)
    }
}

/// The events of rank 0, and how each rank ended.
type RankRun = (Vec<Event>, Vec<Result<(), String>>);

/// Runs the plan on these machines.
fn measure(nodes: &[&str], plan: &Arc<Plan>) -> RankRun {
    measure_misled(nodes, plan, &|_, order| order)
}

/// Runs the plan on these machines, where each rank but the first hears what `mislead` makes of its
/// orders.
fn measure_misled(
    nodes: &[&str],
    plan: &Arc<Plan>,
    mislead: &(dyn Fn(u32, Command) -> Command + Sync),
) -> RankRun {
    let run = |link: &dyn Link| {
        let mut events = Vec::new();
        let rank = link.rank();
        if rank > 0 {
            let mislead = |order| mislead(rank, order);
            return (events, follow(&Misled { link, mislead: &mislead }, &NEVER, no_signal));
        }
        let control = Control::new(&NEVER);
        let mut sink = |event: Event| events.push(event);
        let end = run_together(plan, link, MachineEvidence::default, &control, &mut sink);
        dismiss(link);
        (events, end.map(|_| ()).map_err(|error| error.to_string()))
    };
    let (mut events, ends): (Vec<_>, Vec<_>) = threads::run(nodes, run).into_iter().unzip();
    (events.remove(0), ends)
}

fn trials(events: &[Event]) -> Vec<&Trial> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Trial { trial, .. } => Some(&**trial),
            _ => None,
        })
        .collect()
}

#[test]
fn ranks_add_up_to_the_trial() {
    let dir = tempfile::tempdir().unwrap();
    let (events, ends) = measure(&["a", "a", "b"], &plan(dir.path()));
    assert!(ends.iter().all(Result::is_ok), "{ends:?}");
    assert!(matches!(events.last(), Some(Event::End { reason: End::Finished, .. })));
    let trials = trials(&events);
    assert!(!trials.is_empty());
    for trial in trials {
        assert_eq!(trial.ranks.len(), 3);
        assert_eq!(trial.ranks.iter().map(|rank| rank.bytes).sum::<u64>(), trial.bytes);
        assert_eq!(trial.ranks.iter().map(|rank| rank.ops).sum::<u64>(), trial.ops);
        let last = trial.ranks.iter().map(|rank| rank.end()).max();
        assert_eq!(last, Some(trial.nanos));
        assert_eq!(trial.evidence.lane_bytes, trial.bytes);
    }
}

fn failures(events: &[Event]) -> Vec<&str> {
    let failures = events.iter().filter_map(|event| match event {
        Event::Failed { error, .. } => Some(error.as_str()),
        _ => None,
    });
    failures.collect()
}

/// Wherever a rank fails, the others come to the same place, and the run says which one it was.
#[test]
fn failing_rank_fails_the_cell() {
    let dir = tempfile::tempdir().unwrap();
    for plan in ["", "layout=segmented", "layout=strided"].map(|of| plan_with(dir.path(), of, 3)) {
        assert_failures(&plan);
    }
}

fn assert_failures(plan: &Arc<Plan>) {
    type Break = fn(&mut PartCommand);
    let stages: [(&str, Break); 4] = [
        ("backend", |part| part.job.backend.id = "nothing".into()),
        ("cannot --sync", |part| {
            (part.job.op, part.job.sync) = (Op::Write, crate::plan::Sync::Msync)
        }),
        ("io_uring", |part| {
            (part.job.backend, part.job.depth) = (Choice::parse("uring").unwrap(), 1 << 16);
        }),
        ("ends", |part| (part.job.span, part.job.pattern) = (1 << 30, Pattern::Reverse)),
    ];
    for rank in [1, 2] {
        for (why, break_part) in stages {
            let mislead = |hearing, order| match order {
                Command::RunPart(mut part) if hearing == rank => {
                    break_part(&mut part);
                    Command::RunPart(part)
                }
                order => order,
            };
            let (events, ends) = measure_misled(&["a", "a", "b"], plan, &mislead);
            assert!(ends.iter().all(Result::is_ok), "{why}: {ends:?}");
            let failed = failures(&events);
            let blamed = format!("rank {rank} on {}: ", ["a", "a", "b"][rank as usize]);
            assert!(
                failed.iter().all(|error| error.starts_with(&blamed) && error.contains(why))
                    && failed.len() == plan.cells.len(),
                "{why}: {failed:?}"
            );
            assert!(trials(&events).is_empty(), "{why}");
        }
    }
}

#[test]
fn rank_without_target_ends_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let mislead = |hearing, order| match order {
        Command::Open { mut plan, left } if hearing == 2 => {
            plan.target =
                TargetSpec::Scratch { dir: "/no/such/folder".into(), size: 1, keep: false };
            Command::Open { plan, left }
        }
        order => order,
    };
    let (_, ends) = measure_misled(&["a", "b", "c"], &plan(dir.path()), &mislead);
    let error = ends[0].as_ref().unwrap_err();
    assert!(error.starts_with("rank 2 on c: cannot create a file in /no/such/folder"), "{error}");
    assert_eq!(ends[1..], [Ok(()), Ok(())]);
}

#[test]
fn one_rank_measures_like_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let (events, ends) = measure(&["a"], &plan_with(dir.path(), "layout=strided", 1));
    assert_eq!(ends, [Ok(())]);
    assert!(trials(&events).iter().all(|trial| trial.ranks.len() == 1 && trial.bytes > 0));
}

#[test]
fn clocks_are_compared_once_per_machine() {
    const AHEAD: u64 = 3_600_000_000_000;
    let found = threads::run(&["a", "a", "b", "b"], |link| {
        let ahead = if link.rank() >= 2 { AHEAD } else { 0 };
        // A question to the second rank of a machine would stay without an answer.
        clock::measure(link, &|| monotonic_nanos() + ahead, &[0, 2])
    });
    let [here, there] = found[0][..] else { panic!("{found:?}") };
    assert_eq!(here, Default::default());
    // A message between threads takes far less than a second.
    assert!(there.error < 1_000_000_000, "{there:?}");
    assert!(there.ahead.abs_diff(AHEAD as i64) <= there.error, "{there:?}");
    assert!(found[1..].iter().all(Vec::is_empty));
}

/// A rank that measures no more is named, and the run is over although nobody else can end it.
#[test]
fn silent_rank_is_named_at_budget() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan_with(dir.path(), "budget=500ms", 3);
    let (frozen, thawed) = (AtomicBool::new(false), Barrier::new(2));
    let freeze = |order| {
        if matches!(order, Command::RunPart(_)) && !frozen.swap(true, Relaxed) {
            thawed.wait();
        }
        order
    };
    let why = threads::run(&["a", "b", "b"], |link| {
        match link.rank() {
            1 => return follow(link, &NEVER, no_signal).map(|()| None),
            2 => {
                return follow(&Misled { link, mislead: &freeze }, &NEVER, no_signal)
                    .map(|()| None);
            }
            _ => {}
        }
        let control = Control::new(&NEVER);
        std::thread::scope(|scope| {
            let hung = scope.spawn(|| {
                let why = control.watchdog.wait(|| false);
                thawed.wait();
                why
            });
            let end = run_together(&plan, link, MachineEvidence::default, &control, &mut |_| {});
            dismiss(link);
            end.map(|_| hung.join().unwrap()).map_err(|error| error.to_string())
        })
    });
    let [Ok(Some(why)), Ok(None), Ok(None)] = &why[..] else { panic!("{why:?}") };
    let (doing, missing) = why.rsplit_once(": ").unwrap();
    assert_eq!(doing, "the budget ended while the file was being prepared or measured");
    assert!(missing.starts_with("rank 2 on b has not answered for "), "{why}");
}

/// Runs a plan on three ranks, of which the last has received SIGTERM as soon as `is_time` holds
/// for an order; returns how it ended, the events, and the signal that rank 0 ends with.
fn stop_one(
    stop: &'static [AtomicBool; 2],
    signal: fn() -> Option<i32>,
    is_time: fn(&Command) -> bool,
) -> (Result<End, String>, Vec<Event>, Option<i32>) {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan_with(dir.path(), "", 3);
    let mut all = threads::run(&["a", "b", "b"], |link| {
        let mislead = |order| {
            stop[1].fetch_or(is_time(&order), Relaxed);
            order
        };
        match link.rank() {
            0 => {}
            1 => return follow(link, &NEVER, no_signal).err().map(|_| panic!("rank 1")),
            _ => {
                let link = Misled { link, mislead: &mislead };
                return follow(&link, &stop[1], signal).err().map(|_| panic!("rank 2"));
            }
        }
        let (control, mut events) = (Control::new(&stop[0]), Vec::new());
        let mut sink = |event: Event| events.push(event);
        let end = run_together(&plan, link, MachineEvidence::default, &control, &mut sink);
        dismiss(link);
        Some((end.map_err(|error| error.to_string()), events, control.signal()))
    });
    all.swap_remove(0).unwrap()
}

#[test]
fn signalled_rank_stops_run_by_name() {
    static STOP: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
    let signal = || STOP[1].load(Relaxed).then_some(libc::SIGTERM);
    let (end, events, received) =
        stop_one(&STOP, signal, |order| matches!(order, Command::RunPart(_)));
    assert_eq!((end, received), (Ok(End::Interrupted), Some(libc::SIGTERM)));
    let notes = events.iter().filter_map(|event| match event {
        Event::Note { text } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(notes.collect::<Vec<&str>>(), ["rank 2 on b: stopped by SIGTERM"]);
}

#[test]
fn signalled_rank_is_named_while_opening() {
    static STOP: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
    let signal = || STOP[1].load(Relaxed).then_some(libc::SIGTERM);
    let is_time = |order: &Command| matches!(order, Command::Open { .. });
    let (end, _, received) = stop_one(&STOP, signal, is_time);
    let why = "rank 2 on b: stopped by SIGTERM".to_string();
    assert_eq!((end, received), (Err(why), Some(libc::SIGTERM)));
}

#[test]
fn bad_blocks_name_their_rank() {
    let mut merger = Merger::default();
    for bad in [0, 2] {
        let mut outcome = outcome();
        let mut verified = Verified::default();
        let block = |offset| BadBlock::new(offset, None, Found::Zeros);
        (0..bad).for_each(|offset| verified.add(block(offset)));
        outcome.trial.evidence.verified = Some(Box::new(verified));
        merger.add(0, 0, outcome);
    }
    let trial = merger.finish().unwrap().trial;
    let places: Vec<String> =
        trial.evidence.verified.unwrap().first.iter().map(BadBlock::place).collect();
    assert_eq!(places, ["offset 0, written by rank 1", "offset 1, written by rank 1"]);
}

#[test]
fn ranks_share_and_verify_one_file() {
    let dir = folder();
    for layout in ["segmented", "strided"] {
        for more in [
            "cache=cold",
            "cache=warm threads=2",
            "pattern=random cache=asis",
            "op=write verify=true cache=asis",
            "op=write verify=true cache=asis threads=3 pattern=reverse block-size=12k",
            "backend=mmap cache=warm count=0",
        ] {
            let label = format!("layout={layout} {more}");
            let plan = plan_with(dir.path(), &label, 3);
            let (events, ends) = measure(&["a", "a", "b"], &plan);
            assert!(ends.iter().all(Result::is_ok), "{label}: {ends:?}");
            assert_eq!(failures(&events), Vec::<&str>::new(), "{label}");
            let trials = trials(&events);
            assert!(trials.len() >= 3, "{label}");
            for trial in trials {
                let sum: u64 = trial.ranks.iter().map(|rank| rank.bytes).sum();
                assert_eq!((trial.ranks.len(), sum), (3, trial.bytes), "{label}");
                assert_eq!(trial.evidence.planned_bytes, trial.bytes, "{label}");
                assert_eq!(trial.evidence.overlap_bytes, 0, "{label}");
                assert_eq!(trial.evidence.verified.is_some(), more.contains("verify"), "{label}");
                if let Some(verified) = &trial.evidence.verified {
                    assert!(
                        verified.first.is_empty() && verified.written > 0,
                        "{label}: {verified:?}"
                    );
                    assert_eq!(verified.bytes, verified.written, "{label}");
                }
            }
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{label}: the file is gone");
        }
    }
}

#[test]
fn cell_sets_the_number_of_ranks() {
    let dir = folder();
    for layout in ["per-rank", "segmented"] {
        let plan = plan_with(dir.path(), &format!("ranks=1,2,4 layout={layout}"), 4);
        let (events, ends) = measure(&["a", "b", "a", "b"], &plan);
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let trials = trials(&events);
        assert!(trials.len() >= 9, "{layout}: {}", trials.len());
        for trial in trials {
            let asked = plan.cells[trial.cell as usize].ranks.unwrap();
            assert_eq!(trial.ranks.len(), asked as usize);
        }
    }
}

#[test]
fn uncounted_trials_end_together() {
    let dir = folder();
    for (count, by_time) in [("", true), ("count=0", false), ("count=5", false)] {
        let (events, _) = measure(&["a", "a"], &plan_with(dir.path(), count, 2));
        let trials = trials(&events);
        assert!(!trials.is_empty());
        for trial in trials {
            assert_eq!((trial.evidence.ended_by_time, trial.short), (by_time, false), "{count}");
        }
    }
}

/// Returns the warnings about the first cell.
fn warnings(events: &[Event]) -> Vec<(&str, &str)> {
    let verdicts = events.iter().rev().filter_map(|event| match event {
        Event::Verdict { cell: 0, verdict } => Some(&verdict.warnings),
        _ => None,
    });
    let warnings = verdicts.into_iter().next().unwrap();
    warnings.iter().map(|of| (of.id.as_ref(), of.evidence.as_str())).collect()
}

#[test]
fn own_cache_reads_are_always_reported() {
    let dir = folder();
    let called = |layout: &str, shift: &str| {
        let more = format!("cache=asis trials=100 trial-time=100us {layout} {shift}");
        let (events, ends) = measure(&["a", "a", "b", "b"], &plan_with(dir.path(), &more, 4));
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        let warnings = warnings(&events);
        let own = warnings.iter().find(|(id, _)| *id == "own-cache");
        // A trial in which no rank had a CPU does not count.
        let every = format!("in all {} trials", trials(&events).len());
        own.map(|(_, evidence)| ((*evidence).to_string(), every))
    };
    let (said, every) = called("", "shift=no").unwrap();
    assert!(said.contains("rank 0 on a") && said.ends_with(&every), "{said}");
}

#[test]
fn merged_percentiles_cover_all_operations() {
    let dir = folder();
    let (events, _) = measure(&["a", "b", "b"], &plan_with(dir.path(), "trial-time=20ms", 3));
    let latency = events.iter().rev().find_map(|event| match event {
        Event::Verdict { verdict, .. } => verdict.latency.clone(),
        _ => None,
    });
    assert!(latency.unwrap().count > 0);
    // Three ranks of which each has another distribution.
    let mut random = 7u64;
    let mut raw: Vec<u64> = Vec::new();
    let ranks = (1..=3).map(|rank| {
        let mut histogram = Histogram::new();
        for _ in 0..20_000 {
            random = mix(random);
            let nanos = (100 << (random % 5)) * rank + random % 977;
            raw.push(nanos);
            histogram.record(nanos);
        }
        let mut log = LatencyLog::new(1);
        for index in 0..3 {
            log.add(LogEntry {
                index,
                ops: rank,
                latency: vec![(rank as u16, 2)],
                ..LogEntry::default()
            });
        }
        let outcome = TrialOutcome { histogram, log: Some(log), ..outcome() };
        let sent = pack(&PartReply { result: Some(Ok(Box::new(outcome))), signal: None });
        match unpack(&sent) {
            Ok(PartReply { result: Some(Ok(outcome)), .. }) => outcome,
            other => panic!("{other:?}"),
        }
    });
    let mut merger = Merger::default();
    ranks.for_each(|outcome| merger.add(0, 0, *outcome));
    let TrialOutcome { histogram: merged, log, .. } = merger.finish().unwrap();
    let log = log.unwrap();
    assert_eq!(log.entries().iter().map(|of| of.ops).collect::<Vec<_>>(), [6; 3]);
    assert_eq!(log.entries()[1].latency, [(1, 2), (2, 2), (3, 2)]);
    raw.sort_unstable();
    assert_eq!(merged.count(), raw.len() as u64);
    for share in [0.5, 0.9, 0.99, 0.999] {
        let exact = raw[(share * raw.len() as f64).ceil() as usize - 1] as f64;
        let found = merged.quantile(share).unwrap() as f64;
        // A bucket is at most 1/128 of its value wide.
        assert!((found / exact - 1.0).abs() <= 1.0 / 128.0, "{share}: {found} for {exact}");
    }
}
