//! A pause costs nothing and breaks nothing: whatever it cuts is discarded and repeated in full.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use super::faulty::{Act, Faulty, OPENING};
use super::*;
use crate::engine::Control;
use crate::plan::{Cache, Plan, TargetSpec, TrialTime};
use crate::record::{End, Event, MachineEvidence, Phase, Progress, Trial};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Plans this many cells of `pread` on a cached file, three trials each, long enough to be cut.
fn plan(file: &tempfile::NamedTempFile, cells: u64) -> Plan {
    let job = Job {
        count: None,
        xor: false,
        cache: Cache::Warm,
        backend: Choice::parse("pread").unwrap(),
        ..testing::job()
    };
    Plan {
        cells: (0..cells).map(|n| Job { block: 4096 << n, ..job.clone() }).collect(),
        trials: Some(3),
        budget: Duration::from_secs(600),
        seed: 1,
        ..Plan::plain("sweep", TargetSpec::File { path: file.path().into(), size: 65536 })
    }
}

#[derive(Default)]
struct Seen {
    progress: Vec<Progress>,
    trials: Vec<Arc<Trial>>,
    skipped: Vec<u32>,
    calibrated: u32,
    end: Option<End>,
}

impl Seen {
    fn count(&self, phase: Phase) -> usize {
        self.progress.iter().filter(|p| p.phase == phase).count()
    }
}

/// Runs the plan; `act` sees each event first.
fn watched(
    plan: Plan,
    stop: &'static AtomicBool,
    mut act: impl FnMut(&Control, &Event, &Seen),
) -> Seen {
    let (control, mut seen) = (Control::new(stop), Seen::default());
    let mut sink = |event: Event| {
        act(&control, &event, &seen);
        match event {
            Event::Progress(progress) => seen.progress.push(progress),
            Event::Trial { trial, latency, .. } => {
                assert_eq!(latency.is_some_and(|l| l.count > 0), trial.evidence.timed_ops > 0);
                seen.trials.push(trial);
            }
            Event::Skipped { cell } => seen.skipped.push(cell),
            Event::Calibrated { .. } => seen.calibrated += 1,
            Event::Failed { error, .. } => panic!("{error}"),
            Event::End { reason, .. } => seen.end = Some(reason),
            _ => {}
        }
    };
    crate::engine::run(&Arc::new(plan), MachineEvidence::default, &control, &mut sink).unwrap();
    seen
}

fn phase(event: &Event) -> Option<Phase> {
    if let Event::Progress(progress) = event { Some(progress.phase) } else { None }
}

fn cell(event: &Event) -> u32 {
    let Event::Progress(progress) = event else { panic!("{event:?}") };
    progress.cell.unwrap()
}

/// The calibration may end with the first trial, which then has no phase.
#[test]
fn paused_trials_repeat_without_time() {
    const TIMES: usize = 10;
    let (file, ..) = testing::file(65536, 1);
    // Several samples long, the first of which begins the pause.
    let trial_time = TrialTime::from_duration(Duration::from_secs(1));
    let long = Plan { trial_time, ..plan(&file, 1) };
    let seen = watched(long, &NEVER, |control, event, seen| match (event, phase(event)) {
        (Event::Sample { .. }, _) => {
            let in_trial = seen.progress.last().is_some_and(|p| p.phase == Phase::Trial);
            control.set_pause(in_trial && seen.count(Phase::Pause) < TIMES);
        }
        (_, Some(Phase::Pause)) => control.set_pause(false),
        _ => {}
    });
    assert_eq!(seen.end, Some(End::Finished));
    assert_eq!(seen.trials.iter().map(|t| t.round).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(seen.trials.iter().all(|t| !t.short && t.ops == seen.trials[0].ops));
    assert_eq!(seen.count(Phase::Pause), TIMES);
    assert!((TIMES + 2..=TIMES + 3).contains(&seen.count(Phase::Trial)), "{:?}", seen.progress);
    // The ten took at least 100 ms each: one sample.
    let left: Vec<u64> = (seen.progress.windows(2))
        .filter(|p| p[1].phase == Phase::Pause)
        .map(|p| p[0].left)
        .collect();
    let used = Duration::from_nanos(left[0] - left[TIMES - 1]);
    assert!(used < Duration::from_millis(450), "{used:?} were used up");
}

/// A pause before a step begins cuts it, however short it is. The last calibration may be the first
/// trial.
#[test]
fn a_paused_calibration_restarts() {
    let (file, ..) = testing::file(65536, 1);
    let seen = watched(plan(&file, 1), &NEVER, |control, event, seen| match phase(event) {
        Some(Phase::Calibrate) => control.set_pause(seen.count(Phase::Pause) < 2),
        Some(Phase::Pause) => control.set_pause(false),
        _ => {}
    });
    let phases: Vec<_> =
        seen.progress.iter().map(|p| p.phase).skip_while(|p| *p == Phase::Fill).collect();
    let (calibrate, pause, trial) = (Phase::Calibrate, Phase::Pause, Phase::Trial);
    let (before, trials) = phases.split_at(5);
    assert_eq!(before, [calibrate, pause, calibrate, pause, calibrate]);
    assert!(trials == [trial; 2] || trials == [trial; 3], "{trials:?}");
    assert_eq!((seen.calibrated, seen.trials.len()), (1, 3));
}

#[test]
fn skip_in_pause_excludes_one_cell() {
    let (file, ..) = testing::file(65536, 1);
    let seen = watched(plan(&file, 2), &NEVER, |control, event, seen| match phase(event) {
        Some(Phase::Trial) if seen.count(Phase::Pause) == 0 => control.set_pause(true),
        Some(Phase::Pause) if seen.count(Phase::Pause) == 0 => control.skip(cell(event)),
        Some(Phase::Pause) => control.set_pause(false),
        _ => {}
    });
    let waited: Vec<_> =
        seen.progress.iter().filter(|p| p.phase == Phase::Pause).map(|p| p.cell.unwrap()).collect();
    assert!(waited.len() == 2 && waited[0] != waited[1], "{waited:?}");
    assert!(seen.trials.len() == 3 && seen.trials.iter().all(|t| t.cell == waited[1] && !t.short));
    assert_eq!((seen.skipped, seen.end), (vec![waited[0]], Some(End::Finished)));
}

#[test]
fn skip_in_trial_names_its_cell() {
    let (file, ..) = testing::file(65536, 1);
    // In the first round a calibration may end with the trial, which then has no separate phase.
    let seen = watched(plan(&file, 2), &NEVER, |control, event, seen| {
        if phase(event) == Some(Phase::Trial) && seen.trials.len() == 2 && seen.skipped.is_empty() {
            control.skip(cell(event));
        }
    });
    let [cell] = seen.skipped[..] else { panic!("{:?}", seen.skipped) };
    let of = |cell| seen.trials.iter().filter(|trial| trial.cell == cell).count();
    assert!(of(cell) < 3, "{:?}", seen.trials);
    assert_eq!(of(1 - cell), 3);
}

/// The user saw the cell before, while the next one runs already.
#[test]
fn skip_excludes_the_named_cell() {
    let (file, ..) = testing::file(65536, 1);
    let mut named = None;
    let seen = watched(plan(&file, 2), &NEVER, |control, event, seen| {
        if phase(event) == Some(Phase::Trial) && seen.trials.len() == 2 && named.is_none() {
            named = Some(1 - cell(event));
            control.skip(1 - cell(event));
        }
    });
    let of = |cell| seen.trials.iter().filter(|trial| trial.cell == cell).count();
    assert_eq!(seen.skipped, [named.unwrap()]);
    assert!(of(named.unwrap()) < 3 && of(1 - named.unwrap()) == 3, "{:?}", seen.trials);
    assert!(seen.trials.iter().all(|trial| !trial.short), "the other cell was not cut");
}

#[test]
fn method_skipped_in_pause_loses() {
    let (file, ..) = testing::file(65536, 1);
    let plan = Plan { pick: true, ..plan(&file, 2) };
    let seen = watched(plan, &NEVER, |control, event, seen| match phase(event) {
        Some(Phase::Calibrate) if seen.count(Phase::Pause) == 0 => control.set_pause(true),
        Some(Phase::Pause) => {
            control.skip(cell(event));
            control.set_pause(false);
        }
        _ => {}
    });
    let [skipped] = seen.skipped[..] else { panic!("{:?}", seen.skipped) };
    let measured: Vec<u32> = seen.trials.iter().map(|trial| trial.cell).collect();
    assert_eq!(measured, [1 - skipped; 3]);
}

/// A file that another mapping keeps in the page cache is waited for, which a pause would cut.
#[test]
fn pause_before_picking_keeps_running() {
    let Some(dir) = crate::sys::testing::disk_dir() else { return };
    let file = tempfile::NamedTempFile::new_in(dir).unwrap();
    std::io::Write::write_all(&mut file.as_file(), &[1; 65536]).unwrap();
    file.as_file().sync_all().unwrap();
    let map = memmap2::MmapOptions::new().map_raw_read_only(file.as_file()).unwrap();
    map.advise(memmap2::Advice::PopulateRead).unwrap();
    let plan = plan(&file, 2);
    let cells = plan.cells.iter().map(|job| Job { cache: Cache::Cold, ..job.clone() }).collect();
    let seen = watched(Plan { pick: true, cells, ..plan }, &NEVER, |control, event, _| {
        match (event, phase(event)) {
            (Event::Grounds { .. }, _) => control.set_pause(true),
            (_, Some(Phase::Pause)) => control.set_pause(false),
            _ => {}
        }
    });
    assert_eq!(seen.end, Some(End::Finished));
    assert_eq!(seen.count(Phase::Pause), 1);
}

#[test]
fn stop_ends_a_paused_run() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let (file, ..) = testing::file(65536, 1);
    let seen = watched(plan(&file, 1), &STOP, |control, event, seen| match phase(event) {
        Some(Phase::Trial) => control.set_pause(seen.trials.len() == 1),
        Some(Phase::Pause) => STOP.store(true, Relaxed),
        _ => {}
    });
    assert_eq!(seen.end, Some(End::Interrupted));
    assert!(seen.trials.len() == 1 && !seen.trials[0].short);
}

#[test]
fn pause_waits_for_hanging_calls() {
    // Longer than a stop would wait, with a check every 25 ms.
    const LOOKS: u32 = 50;
    let asked = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&asked);
    // A lane that sees the cut before its first call makes none.
    let within = Arc::new(AtomicBool::new(false));
    let called = Arc::clone(&within);
    let script = move |_, request| {
        called.fetch_or(request != OPENING, Relaxed);
        while request != OPENING && seen.load(Relaxed) < LOOKS {
            std::thread::yield_now();
        }
        Act::Whole
    };
    let spec = Faulty::over(&[7; 65536], Box::new(script)).spec(1, 1);
    let cut = || {
        let within = within.load(Relaxed);
        asked.fetch_add(u32::from(within), Relaxed);
        within.then_some(Cut::Pause)
    };
    let ran = workers::run(&spec, own(&spec), &mut || true, &cut, &mut |_, _| {});
    assert!(matches!(ran, Ok(_) | Err(Failure::Stopped)));
    assert!(asked.load(Relaxed) >= LOOKS);
}
