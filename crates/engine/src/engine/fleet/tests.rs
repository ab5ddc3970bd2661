use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::clock;
use super::order::{Order, Part, pack, unpack};
use super::threads;
use crate::engine::{Control, Link, Proposal, dismiss, follow, propose, run_together};
use crate::plan::{Choice, Op, Pattern, Plan, Settings, TargetSpec, preset};
use crate::record::{End, Event, MachineEvidence, Trial};
use crate::sys::clock::monotonic_nanos;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A plan of pread at 4 KiB, on a scratch file of each rank in `dir`.
fn plan(dir: &Path) -> Arc<Plan> {
    let mut settings = Settings::default();
    let all = "backend=pread block-size=4k cache=warm trials=3 trial-time=1ms size=64k budget=1m \
               ceilings=never";
    for (name, text) in all.split_whitespace().filter_map(|word| word.split_once('=')) {
        settings.set(name, text).unwrap();
    }
    let presets = [preset("quick").unwrap()];
    let asked = Proposal {
        file: None,
        others: &[],
        dir: Some(dir),
        variants: &[],
        keep: false,
        presets: &presets,
        settings: &settings,
        survey: false,
    };
    Arc::new(propose(&asked).unwrap().plan)
}

/// A rank that hears other orders than rank 0 gave.
struct Misled<'a> {
    link: &'a dyn Link,
    mislead: &'a dyn Fn(Order) -> Order,
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

/// What rank 0 was told, and how each rank ended.
type Told = (Vec<Event>, Vec<Result<(), String>>);

/// Runs the plan on these machines.
fn measure(nodes: &[&str], plan: &Arc<Plan>) -> Told {
    measure_misled(nodes, plan, &|_, order| order)
}

/// Runs the plan on these machines, where each rank but the first hears what `mislead` makes of its
/// orders.
fn measure_misled(
    nodes: &[&str],
    plan: &Arc<Plan>,
    mislead: &(dyn Fn(u32, Order) -> Order + Sync),
) -> Told {
    let run = |link: &dyn Link| {
        let mut events = Vec::new();
        let rank = link.rank();
        if rank > 0 {
            let mislead = |order| mislead(rank, order);
            return (events, follow(&Misled { link, mislead: &mislead }, &NEVER));
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
fn the_sum_of_the_ranks_is_the_trial() {
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
        let last = trial.ranks.iter().map(|rank| rank.start + rank.nanos).max();
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
fn the_failure_of_a_rank_is_that_of_the_cell() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(dir.path());
    type Break = fn(&mut Part);
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
                Order::Part(mut part) if hearing == rank => {
                    break_part(&mut part);
                    Order::Part(part)
                }
                order => order,
            };
            let (events, ends) = measure_misled(&["a", "a", "b"], &plan, &mislead);
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
fn a_rank_without_its_target_ends_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let mislead = |hearing, order| match order {
        Order::Open(mut plan) if hearing == 2 => {
            plan.target =
                TargetSpec::Scratch { dir: "/no/such/folder".into(), size: 1, keep: false };
            Order::Open(plan)
        }
        order => order,
    };
    let (_, ends) = measure_misled(&["a", "b", "c"], &plan(dir.path()), &mislead);
    let error = ends[0].as_ref().unwrap_err();
    assert!(error.starts_with("rank 2 on c: cannot create a file in /no/such/folder"), "{error}");
    assert_eq!(ends[1..], [Ok(()), Ok(())]);
}

#[test]
fn one_rank_measures_as_a_process_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (events, ends) = measure(&["a"], &plan(dir.path()));
    assert_eq!(ends, [Ok(())]);
    assert!(trials(&events).iter().all(|trial| trial.ranks.len() == 1 && trial.bytes > 0));
}

#[test]
fn clocks_are_compared_by_messages_with_the_machines_elsewhere_only() {
    const AHEAD: u64 = 3_600_000_000_000;
    let found = threads::run(&["a", "a", "b"], |link| {
        let ahead = if link.rank() == 2 { AHEAD } else { 0 };
        clock::measure(link, &|| monotonic_nanos() + ahead, &[false, false, true])
    });
    let [here, beside, there] = found[0][..] else { panic!("{found:?}") };
    assert_eq!((here, beside), (0, 0));
    // A message between threads takes far less than a second.
    assert!(there.abs_diff(AHEAD as i64) < 1_000_000_000, "{there}");
    assert!(found[1].is_empty() && found[2].is_empty());
}
