//! Why a run ended although a system call does not return.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Condvar, Mutex};

use super::*;
use crate::backend::testing;
use crate::engine::tests::faulty::{Act, Faulty, OPENING};
use crate::engine::{Executor, OpenTarget};
use crate::plan::{Arrival, Cache, Choice, CpuCache, Job, Rate, TargetSpec, TrialTime};
use crate::record::{LatencyLog, LogEntry, MachineEvidence, Trial};

static GO: AtomicBool = AtomicBool::new(false);

/// Plans one trial of each cell.
fn plan_of(cells: Vec<Job>, budget: Duration) -> Plan {
    let target = TargetSpec::File { path: "/".into(), size: 0 };
    Plan { cells, trials: Some(1), goal: 0.0, budget, seed: 1, ..Plan::plain("sweep", target) }
}

/// Runs one cell whose operations never return, the first of them after requesting a stop; returns
/// how the run ended, and its notes.
fn run_until_end(budget: Duration, stop: Option<&'static AtomicBool>) -> (End, Vec<String>) {
    let hold = Arc::new((Mutex::new(true), Condvar::new()));
    let held = Arc::clone(&hold);
    let script = move |_, request| {
        if request != OPENING {
            stop.iter().for_each(|stop| stop.store(true, Relaxed));
            drop(held.1.wait_while(held.0.lock().unwrap(), |held| *held).unwrap());
        }
        Act::Whole
    };
    let backend = Faulty::over(&[7; 65536], Box::new(script));
    let (file, _, _) = testing::file(65536, 1);
    let target = TargetSpec::File { path: file.path().into(), size: 65536 };
    let open_target =
        OpenTarget::open(&Plan::plain("sweep", target.clone()), &target, &|| false, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    let job = Job { cache: Cache::AsIs, ..testing::job() };
    let plan = Plan { target, ..plan_of(vec![job], budget) };
    let (plan, control, begin) =
        (Arc::new(plan), Control::new(stop.unwrap_or(&GO)), Instant::now());
    let mut notes = Vec::new();
    let mut sink = |event| {
        if let Event::Note { text } = event {
            notes.push(text);
        }
    };
    let mut cell = Cell::from_plan(&plan).remove(0).unwrap();
    cell.executor = Executor::Backend(backend);
    let deadline = begin + budget;
    let mut run = Run {
        plan: &plan,
        control: &control,
        sink: &mut sink,
        targets: open_target.into(),
        variants: Variants::new(&plan),
        grounds: Arc::default(),
        cells: vec![Some(cell)],
        pace: &mut Pace::new(begin, deadline, 1, Some(1)),
        origin: 0,
        earlier: &Earlier::default(),
        ranks: None,
        fitting: Fitting::new(&plan, Some(1), Duration::ZERO),
        precision: None,
        ratios: Ratios::new(&plan),
        search: None,
        settling: None,
        open: Vec::new(),
        reserve: Reserve::default(),
        log_space: LogSpace::default(),
        unread: None,
    };
    let end = run.run_rounds().unwrap_or_else(|end| end);
    *hold.0.lock().unwrap() = false;
    hold.1.notify_all();
    (end, notes)
}

#[test]
fn late_call_is_no_interruption() {
    let (end, notes) = run_until_end(Duration::from_millis(50), None);
    assert_eq!(end, End::Budget);
    assert!(notes.len() == 1 && notes[0].contains("was abandoned"), "{notes:?}");
}

#[test]
fn call_beyond_stop_is_an_interruption() {
    static STOP: AtomicBool = AtomicBool::new(false);
    assert_eq!(run_until_end(Duration::from_secs(3600), Some(&STOP)).0, End::Interrupted);
}

#[test]
fn short_budget_reaches_every_cache_state() {
    let (file, _, _) = testing::file(65536, 1);
    // Each cell's cache is dropped or filled, then it is calibrated and fills its trial time:
    // thousands of cells take longer than three seconds.
    let of = |cache: Cache| {
        (1000..5000).map(move |block| Job { cache, block, span: 65536, ..testing::job() })
    };
    let cells: Vec<Job> = of(Cache::Cold).chain(of(Cache::Warm)).collect();
    let target = TargetSpec::File { path: file.path().into(), size: 65536 };
    let plan =
        Arc::new(Plan { cells: cells.clone(), target, ..plan_of(vec![], Duration::from_secs(3)) });
    let mut reached = [0, 0];
    let mut sink = |event| {
        if let Event::Trial { trial, .. } = event {
            reached[usize::from(cells[trial.cell as usize].cache == Cache::Warm)] += 1;
        }
    };
    let end =
        crate::engine::run(&plan, MachineEvidence::default, &Control::new(&GO), &mut sink).unwrap();
    assert_eq!(end, End::Budget);
    assert!(reached.iter().all(|count| *count > 0), "{reached:?}");
}

/// Returns the number of 40 cells that have a trial after a second, and the notes.
fn reached_in_a_second(trial_time: Duration, fitted: bool) -> (usize, Vec<String>) {
    let (file, _, _) = testing::file(65536, 1);
    let target = TargetSpec::File { path: file.path().into(), size: 65536 };
    let cells: Vec<Job> = (1..=40)
        .map(|block| Job { cache: Cache::AsIs, count: None, block, span: 65536, ..testing::job() })
        .collect();
    let plan = plan_of(cells, Duration::from_secs(1));
    let plan =
        Arc::new(Plan { target, trial_time: TrialTime::from_duration(trial_time), fitted, ..plan });
    let (mut reached, mut notes) = (0, Vec::new());
    let mut sink = |event| match event {
        Event::Trial { .. } => reached += 1,
        Event::Note { text } => notes.push(text),
        _ => {}
    };
    crate::engine::run(&plan, MachineEvidence::default, &Control::new(&GO), &mut sink).unwrap();
    (reached, notes)
}

#[test]
fn costly_cells_shorten_fitted_trials() {
    // No calibration reaches such a trial time within a second.
    let hour = Duration::from_secs(3600);
    assert_eq!(reached_in_a_second(hour, false), (0, vec![]));
    let (reached, notes) = reached_in_a_second(hour, true);
    assert!(
        reached > 0 && notes.iter().any(|text| text.contains("some trials were shortened to ")),
        "{reached} {notes:?}"
    );
}

#[test]
fn latencies_over_time_cover_the_trial() {
    let (file, _, _) = testing::file(65536, 1);
    let target = TargetSpec::File { path: file.path().into(), size: 65536 };
    let job = Job { cache: Cache::AsIs, count: None, span: 65536, ..testing::job() };
    // Parts, each mapped again, and one part of several intervals.
    let parts = Job { backend: Choice::plain("mmap"), cache: Cache::Warm, ..job.clone() };
    let trial_time = TrialTime::from_duration(Duration::from_millis(250));
    let plan = plan_of(vec![job, parts], Duration::from_secs(3600));
    let plan = Arc::new(Plan { target, trials: Some(2), trial_time, ..plan });
    let (mut trials, mut logs) = (Vec::new(), Vec::new());
    let mut sink = |event| match event {
        Event::Trial { trial, .. } => trials.push(trial),
        Event::Latencies { log } => {
            assert_eq!(trials.last().map(|of| (of.cell, of.round)), Some((log.cell, log.round)));
            logs.push(log);
        }
        _ => {}
    };
    crate::engine::run(&plan, MachineEvidence::default, &Control::new(&GO), &mut sink).unwrap();
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        let own = logs.iter().filter(|log| (log.cell, log.round) == (trial.cell, trial.round));
        let log = LatencyLog::decode(own.map(Arc::as_ref)).unwrap();
        let sum = |of: fn(&LogEntry) -> u64| log.entries().iter().map(of).sum::<u64>();
        assert_eq!((sum(|of| of.ops), sum(|of| of.bytes)), (trial.ops, trial.bytes));
        assert_eq!(Some(sum(|of| of.syscalls)), trial.syscalls.get());
        assert_eq!(sum(LogEntry::timed), trial.evidence.timed_ops);
        // The last interval began before the trial ended; of each part the first one may begin
        // with the opening of the gate.
        let last = log.start_of(log.entries().last().unwrap());
        assert!(last <= trial.nanos + trial.evidence.skew_nanos + log.width, "{last}: {trial:?}");
    }
}

#[test]
fn replaced_file_is_not_measured() {
    let (dir, size) = (tempfile::tempdir().unwrap(), 65536);
    let path = |name| dir.path().join(name);
    std::fs::write(path("measured"), vec![1; size as usize]).unwrap();
    let target = TargetSpec::File { path: path("measured"), size };
    let cells = vec![Job { cache: Cache::AsIs, span: size, count: Some(0), ..testing::job() }];
    let plan =
        Arc::new(Plan { target, trials: Some(9), ..plan_of(cells, Duration::from_secs(3600)) });
    let (mut trials, mut failed) = (0, Vec::new());
    let mut sink = |event| match event {
        Event::Trial { .. } => {
            trials += 1;
            std::fs::write(path("other"), vec![2; size as usize]).unwrap();
            std::fs::rename(path("other"), path("measured")).unwrap();
        }
        Event::Failed { error, .. } => failed.push(error),
        _ => {}
    };
    crate::engine::run(&plan, MachineEvidence::default, &Control::new(&GO), &mut sink).unwrap();
    assert_eq!(trials, 1);
    assert!(
        failed.len() == 1 && failed[0].contains("the file was replaced by another"),
        "{failed:?}"
    );
}

#[test]
fn compared_cells_map_per_pass() {
    let size = 1 << 20;
    let (file, _, _) = testing::file(size, 1);
    let warm = Job { cache: Cache::Warm, span: size as u64, ..job_of("mmap-copy") };
    let flush = Job { cpu_cache: CpuCache::Flush, ..warm.clone() };
    let cold = Job { cache: Cache::Cold, ..warm.clone() };
    let faults = |cells: Vec<Job>| {
        let target = TargetSpec::File { path: file.path().into(), size: size as u64 };
        let plan = Arc::new(Plan { target, ..plan_of(cells, Duration::from_secs(3600)) });
        let mut per_pass = Vec::new();
        let mut sink = |event| {
            if let Event::Trial { trial, .. } = event {
                per_pass.push((
                    trial.cell,
                    trial.passes,
                    trial.minor_faults as f64 / trial.passes as f64,
                ));
            }
        };
        crate::engine::run(&plan, MachineEvidence::default, &Control::new(&GO), &mut sink).unwrap();
        per_pass.sort_by_key(|(cell, ..)| *cell);
        per_pass
    };
    // One mapping for all passes: a fault per 16 pages or per folio.
    let alone = faults(vec![warm.clone()]);
    let mapping = alone[0].1 as f64 * alone[0].2;
    assert!(alone[0].1 > 1 && mapping < 30.0, "{alone:?}");
    for other in [flush, cold] {
        let both = faults(vec![warm.clone(), other]);
        assert!(both.iter().all(|(_, _, faults)| *faults > 0.5 * mapping), "{both:?}");
    }
}

fn job_of(backend: &str) -> Job {
    Job { backend: crate::plan::Choice::plain(backend), block: 4096, count: None, ..testing::job() }
}

#[test]
fn further_trials_go_to_one_cell() {
    let (file, _, _) = testing::file(65536, 1);
    let target = TargetSpec::File { path: file.path().into(), size: 65536 };
    let of = |block| Job { cache: Cache::AsIs, block, span: 65536, ..testing::job() };
    let plan = Plan { target, ..plan_of(vec![of(4096), of(8192)], Duration::from_secs(60)) };
    let plan = Arc::new(Plan { trials: Some(4), ..plan });
    let trial = |cell| Arc::new(Trial { cell, round: 1, bytes: 1, nanos: 1, ..Trial::default() });
    let trials = vec![trial(0), trial(1)];
    let earlier = Earlier { trials, only: Some(1), ..Earlier::default() };
    let mut counts = [0, 0];
    let mut sink = |event| {
        if let Event::Trial { trial, .. } = event {
            counts[trial.cell as usize] += 1;
        }
    };
    let machine = MachineEvidence::default;
    let end = continue_run(&plan, &earlier, machine, &Control::new(&GO), &mut sink).unwrap();
    assert_eq!((end, counts), (End::Finished, [1, 4]), "those there were, and three more of one");
}

#[test]
fn rates_are_measured_without_calibration() {
    let (file, _, _) = testing::file(1 << 20, 1);
    let of = |id: &str| {
        let backend = Choice::parse(id).unwrap();
        Job { backend, span: 1 << 20, block: 4096, count: None, xor: false, ..testing::job() }
    };
    let rate = Some(Rate::Operations(4000));
    let cells = vec![
        Job { rate, ..of("null") },
        Job { rate, threads: 2, cache: Cache::Warm, ..of("pread") },
        Job { rate, arrival: Arrival::Poisson, ..of("pread") },
        Job { think: 500_000, ..of("pread") },
    ];
    let target = TargetSpec::File { path: file.path().into(), size: 1 << 20 };
    let low = Duration::from_millis(50);
    let trial_time = TrialTime { low, high: low };
    let plan = Plan { target, trial_time, ..plan_of(cells, Duration::from_secs(3600)) };
    let plan = Arc::new(Plan { trials: Some(2), ..plan });
    let (mut trials, mut verdicts) = (vec![Vec::new(); 4], vec![None; 4]);
    let mut sink = |event| match event {
        Event::Trial { trial, .. } => trials[trial.cell as usize].push(trial),
        Event::Verdict { cell, verdict } => verdicts[cell as usize] = Some(verdict),
        _ => {}
    };
    let end =
        crate::engine::run(&plan, MachineEvidence::default, &Control::new(&GO), &mut sink).unwrap();
    assert_eq!(end, End::Finished);
    for (cell, job) in plan.cells.iter().enumerate() {
        let (label, verdict) = (job.label(), verdicts[cell].as_ref().unwrap());
        let latency = verdict.latency.as_ref().unwrap();
        assert_eq!(trials[cell].len(), 2, "{label}");
        let ops: u64 = trials[cell].iter().map(|trial| trial.ops).sum();
        assert_eq!((latency.count, latency.every), (ops, 1), "{label}");
        assert_eq!(verdict.service.is_some(), job.rate.is_some(), "{label}");
        for trial in &trials[cell] {
            let paced = trial.evidence.paced.as_ref().unwrap();
            assert!(!trial.short && paced.intended == trial.ops + paced.unstarted, "{label}");
            if job.rate.is_none() {
                // Each operation but the first of the lane waits.
                assert!(trial.nanos >= (trial.ops - 1) * job.think, "{label}");
                continue;
            }
            // 200 in 50 ms; a step of a calibration would be the first visit.
            assert_eq!(paced.intended, 200, "{label}");
            assert!(trial.nanos + 100_000 >= 50_000_000, "{label}: {} ns", trial.nanos);
            assert_eq!(trial.evidence.first, None, "{label}");
            let lateness = paced.response_nanos.abs_diff(trial.evidence.timed_nanos);
            let late = paced.held_nanos + paced.start_lag;
            assert!(lateness.abs_diff(late) <= 4 * trial.ops, "{label}: {lateness} and {late} ns");
        }
        let service = verdict.service.as_ref().map_or(0.0, |service| service.mean);
        assert!(latency.mean >= service, "{label}");
    }
}
