//! The parts of tries, and a complete run of a plan that picks a method.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::backend::testing;
use crate::engine::run as run_plan;
use crate::plan::{Op, Plan, TargetSpec};
use crate::record::{End, MachineEvidence, Trial};

fn job(text: &str, span: u64) -> Job {
    Job {
        backend: Choice::parse(text).unwrap(),
        block: (1 << 20).min(span),
        span,
        cache: Cache::AsIs,
        ..testing::job()
    }
}

#[test]
fn parts_of_cold_files_never_overlap() {
    for (span, block, ways) in [
        (1 << 30, 1 << 20, 8),
        (40 << 20, 2 << 20, 9),
        ((36 << 20) + 4321, 4 << 20, 3),
        (90 << 20, 8 << 20, 5),
    ] {
        // The methods have different block sizes.
        let jobs = [block, 3 << 19, 64 << 10].map(|block| Job { block, ..job("pread", span) });
        let cold = PickConditions { span, resident: Some(0), cpus: 2 };
        let unit = unit(jobs.iter().map(|job| job.block));
        let turns = turns(&cold, ways, unit);
        assert!((1..=TRIES_OF_UNCACHED).contains(&turns), "{span} {ways}");
        let mut end = 0;
        for nth in 0..turns * ways {
            let job = &jobs[nth as usize % jobs.len()];
            let part = part(job, &cold, TryPlace { place: nth, of: turns * ways, unit });
            assert!(
                part.start * job.block >= end && part.end > part.start && part.end <= job.blocks(),
                "{span} {nth}: {part:?}"
            );
            assert!((part.end - part.start) * job.block <= MAX_PART);
            end = part.end * job.block;
        }
        let warm = PickConditions { resident: Some(span), ..cold };
        assert_eq!(
            (
                super::turns(&warm, ways, unit),
                part(&jobs[0], &warm, TryPlace { place: 1, of: 3, unit })
            ),
            (TRIES_OF_CACHED, 0..jobs[0].blocks())
        );
    }
    // Less than a part for each method: nothing is tried.
    assert_eq!(
        turns(&PickConditions { span: 31 << 20, resident: Some(0), cpus: 1 }, 8, 1 << 20),
        0
    );
}

/// The events of a run.
struct RunOutcome {
    picks: Vec<Pick>,
    trials: Vec<Trial>,
    failed: Vec<(u32, String)>,
    end: End,
    data: Vec<u8>,
}

/// Runs these methods over a cached file.
fn ran(ways: &[&str], data_len: usize, stop: &'static AtomicBool) -> RunOutcome {
    ran_by(&Plan { trials: Some(2), ..plan() }, Cache::AsIs, ways, data_len, stop)
}

fn ran_by(
    plan: &Plan,
    cache: Cache,
    ways: &[&str],
    data_len: usize,
    stop: &'static AtomicBool,
) -> RunOutcome {
    let (file, data, _) = testing::file(data_len, 3);
    let cell = |way: &&str| Job { cache, ..job(way, data_len as u64) };
    let mut plan = Plan { cells: ways.iter().map(cell).collect(), ..plan.clone() };
    plan.target = TargetSpec::File { path: file.path().into(), size: data_len as u64 };
    let (mut picks, mut trials, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let mut sink = |event| match event {
        Event::Picked { pick } => picks.push(Pick::clone(&pick)),
        Event::Trial { trial, .. } => trials.push(Trial::clone(&trial)),
        Event::Failed { cell, error } => failed.push((cell, error)),
        _ => {}
    };
    let end = run_plan(
        &Arc::new(plan),
        MachineEvidence::default,
        &crate::engine::Control::new(stop),
        &mut sink,
    )
    .unwrap();
    RunOutcome { picks, trials, failed, end, data }
}

fn plan() -> Plan {
    Plan {
        experiment: "fast".into(),
        presets: vec![],
        target: TargetSpec::None,
        others: vec![],
        variants: vec![],
        cells: vec![],
        trials: Some(1),
        goal: 0.0,
        until: false,
        steady: false,
        settle: None,
        trial_time: Default::default(),
        fitted: false,
        span_may_shrink: false,
        budget: Duration::from_secs(60),
        seed: 1,
        remote: None,
        pick: true,
        settings: None,
        once_uncached: false,
        anonymous: false,
        ceilings: false,
        rated: None,
        expect: Vec::new(),
        compressible: None,
        dedupe: None,
        precondition: None,
        verify: false,
        fresh: None,
        shift: false,
        cold: Default::default(),
        cpus: None,
        latency_target: None,
        watch: false,
        stop_if: Vec::new(),
        probes: vec![],
        skipped: vec![],
        skipped_probes: vec![],
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

#[test]
fn only_the_picked_method_reads_all() {
    let RunOutcome { picks, trials, failed, end, data } =
        ran(&["mmap+shared", "pread", "pread+shared"], (3 << 20) + 7, &NEVER);
    assert!(picks.len() == 1 && failed.is_empty() && end == End::Finished, "{picks:?} {failed:?}");
    let cell = picks[0].cell.unwrap();
    assert_eq!(picks[0].tries.len() as u64, 3 * TRIES_OF_CACHED);
    let fastest =
        (0..3).max_by(|a, b| picks[0].rate(*a).unwrap().total_cmp(&picks[0].rate(*b).unwrap()));
    assert_eq!(fastest, Some(cell));
    assert_eq!(
        trials.iter().map(|t| (t.cell, t.round, t.passes)).collect::<Vec<_>>(),
        [(cell, 1, 1), (cell, 2, 1)]
    );
    assert!(
        trials
            .iter()
            .all(|t| t.xor.unwrap().0 == testing::xor(&data) && t.bytes == data.len() as u64)
    );
}

#[test]
fn unset_trials_depend_on_the_cache() {
    let plan = Plan { trials: Some(5), once_uncached: true, ..plan() };
    let of = |cache, plan: &Plan| {
        let outcome = ran_by(plan, cache, &["mmap+shared", "pread+shared"], 3 << 20, &NEVER);
        assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
        (outcome.trials.len(), outcome.end, outcome.picks[0].conditions.is_warm())
    };
    assert_eq!(of(Cache::Warm, &plan), (5, End::Finished, true));
    // Where the file system keeps the pages, the file is still warm.
    let (trials, end, warm) = of(Cache::Cold, &plan);
    assert_eq!((trials, end), (if warm { 5 } else { 1 }, End::Finished));
    // A number that the user gives is the number.
    assert_eq!(of(Cache::Cold, &Plan { once_uncached: false, trials: Some(3), ..plan }).0, 3);
}

#[test]
fn failing_methods_are_skipped_with_reason() {
    let RunOutcome { picks, trials, failed, .. } =
        ran(&["mmap", "nothing-of-the-kind", "pread+shared"], 100_000, &NEVER);
    assert_eq!((failed.len(), failed[0].0, trials.len()), (1, 1, 2));
    assert!(picks[0].cell != Some(1) && picks[0].cells().all(|cell| cell != 1));
    // Contradictory advice is refused when the cells are created.
    let RunOutcome { picks, trials, failed, .. } =
        ran(&["mmap+shared+populate", "pread+shared+willneed"], 100_000, &NEVER);
    assert!(picks.is_empty() && trials.is_empty() && failed.len() == 2, "{picks:?} {failed:?}");
}

#[test]
fn a_stop_ends_the_tries() {
    static STOP: AtomicBool = AtomicBool::new(true);
    let RunOutcome { picks, trials, end, .. } = ran(&["mmap", "pread"], 100_000, &STOP);
    assert!(picks.is_empty() && trials.is_empty() && end == End::Interrupted);
}

#[test]
fn only_equivalent_cells_compete() {
    let cold = |text, span| Job { cache: Cache::Cold, ..job(text, span) };
    assert_eq!(
        without_method(&job("mmap", 1 << 20)),
        without_method(&Job { threads: 3, direct: true, depth: 4, ..job("uring", 1 << 20) })
    );
    assert_ne!(without_method(&job("mmap", 1 << 20)), without_method(&cold("mmap", 1 << 20)));
    assert_ne!(without_method(&job("mmap", 1 << 20)), without_method(&job("mmap", 2 << 20)));
    assert_ne!(
        without_method(&job("mmap", 1 << 20)),
        without_method(&Job { op: Op::Seek, ..job("mmap", 1 << 20) })
    );
}
