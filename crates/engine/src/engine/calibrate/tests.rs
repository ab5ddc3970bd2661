use super::*;
use crate::backend::testing;
use crate::plan::{Cache, Choice, Op, Plan, Sync, TargetSpec};

#[test]
fn short_steps_grow_in_powers() {
    let bounds = TrialBounds { blocks: u64::MAX, ..FILE };
    for nanos in [0, 1, 19_999, 20_000, 1_000_000, 299_999_999] {
        let mut count = 1;
        while count < 1 << 60 {
            let more = bounds.next_count(count, nanos);
            // A step that does not tell how long a trial is stays a power of two.
            if nanos < MIN_TELLING_NANOS || nanos < bounds.low / 16 {
                assert!(more.is_power_of_two() && more >= 2 * count, "{count} -> {more}");
            } else {
                assert!(more > count, "{count} -> {more} at {nanos}");
            }
            count = more;
        }
    }
}

const FILE: TrialBounds =
    TrialBounds { blocks: 16, low: 300_000_000, high: 600_000_000, single_pass: false, group: 1 };

/// Returns the last step of a calibration and the number of steps, where a step of `count`
/// operations and `passes` takes `nanos`.
fn run_steps(bounds: &TrialBounds, nanos: impl Fn(u64, u64) -> u64) -> (NextStep, u32) {
    let (mut count, mut passes, mut tries) = (1, 1, 0);
    loop {
        tries += 1;
        match bounds.next_step(count, passes, nanos(count, passes)) {
            NextStep::Try { count: more, passes: again } => (count, passes) = (more, again),
            enough @ NextStep::Enough { .. } => return (enough, tries),
        }
    }
}

#[test]
fn small_files_repeat_despite_slow_start() {
    // 600 ns a pass, and 20 us for what every step does first; then 5 ms, an interruption of
    // the first whole pass.
    for slow in [0, 20_000, 5_000_000] {
        let (NextStep::Enough { count: 16, passes, nanos, whole: true }, tries) =
            run_steps(&FILE, |count, passes| {
                if (count, passes) == (16, 1) {
                    slow + 600
                } else {
                    20_000 + count * 600 / 16 * passes
                }
            })
        else {
            panic!("not whole")
        };
        assert!(
            passes * 600 >= FILE.low * 99 / 100
                && (FILE.low / 100 * 99..FILE.low / 20 * 23).contains(&nanos),
            "{slow}: {passes} passes, {nanos} ns"
        );
        assert!(tries < 30, "{tries}");
    }
}

#[test]
fn long_passes_extrapolate_single_ones_stay() {
    fn slow(count: u64, passes: u64) -> u64 {
        count * passes * 5_000_000
    }
    assert_eq!(
        run_steps(&FILE, slow).0,
        NextStep::Enough { count: 16, passes: 4, nanos: 320_000_000, whole: true }
    );
    let once = TrialBounds { single_pass: true, ..FILE };
    assert_eq!(
        run_steps(&once, |_, _| 600).0,
        NextStep::Enough { count: 16, passes: 1, nanos: 600, whole: true }
    );
    let large = TrialBounds { blocks: 1 << 40, ..FILE };
    assert_eq!(
        run_steps(&large, |count, _| count * 300).0,
        NextStep::Enough { count: 1_125_000, passes: 1, nanos: 337_500_000, whole: false }
    );
}

#[test]
fn overlong_steps_are_shortened() {
    // The first steps were answered from a burst allowance of the disk.
    for high in [FILE.low, FILE.high] {
        let bounds = TrialBounds { blocks: 256, high, single_pass: true, ..FILE };
        let step = bounds.next_step(256, 1, 1_500_000_000);
        let NextStep::Enough { count, passes: 1, nanos, whole: false } = step else {
            panic!("{step:?}")
        };
        assert!((51..=77).contains(&count), "{count}");
        assert_eq!(nanos, 450_000_000);
    }
}

#[test]
fn parts_fill_trial_within_preparation_bound() {
    assert_eq!(part_count(1_000_000, 1_500_000, 100_000_000), 100);
    assert_eq!(part_count(1_000_000, 40_000_000, 100_000_000), 10);
    assert_eq!(part_count(1_000_000, 4_000_000_000, 100_000_000), 1);
    assert_eq!(part_count(0, 0, 300_000_000), MAX_PARTS);
    assert_eq!(part_count(200_000_000, 210_000_000, 100_000_000), 1);
    // 1.2 and 1.8 passes.
    assert_eq!(part_count(250_000_000, 260_000_000, 300_000_000), 1);
    assert_eq!(part_count(170_000_000, 180_000_000, 300_000_000), 2);
}

#[test]
fn calibration_ends_despite_stopped_clock() {
    let (NextStep::Enough { passes, .. }, _) = run_steps(&FILE, |_, _| 0) else { panic!("no end") };
    assert_eq!(passes, MAX_PASSES);
}

#[test]
fn short_steps_jump_below_half() {
    // 1024 operations took 1 ms; 300 ms need 307200: a quarter is 76800, the power of two below
    // it 65536.
    assert_eq!(FILE.next_count(1024, 1_000_000), 65_536);
    // An eighth more than 300 ms.
    for high in [FILE.low, FILE.high] {
        assert_eq!(TrialBounds { high, ..FILE }.next_count(1000, 30_000_000), 11_250);
    }
    assert_eq!(FILE.next_count(1000, 299_000_000), 1128);
}

#[test]
fn correct_predictions_are_trials_at_once() {
    let file = TrialBounds { blocks: 1 << 20, ..FILE };
    for (bounds, each) in [
        (&file, 300.0),
        (&file, 2_000.0),
        (&file, 90.0),
        (&TrialBounds { single_pass: true, ..file }, 400.0),
        (&TrialBounds { high: file.low, ..file }, 5_000.0),
    ] {
        let (count, passes) = bounds.first_step(each).unwrap();
        let nanos = (count * passes) as f64 * each;
        assert!(nanos >= 0.99 * bounds.low as f64, "{each}: {nanos}");
        let NextStep::Enough { count: again, passes: as_often, .. } =
            bounds.next_step(count, passes, nanos as u64)
        else {
            panic!("{each}: {count} x {passes} is not enough")
        };
        assert_eq!((again, as_often), (count, passes), "{each}");
    }
    for nonsense in [f64::NAN, f64::INFINITY, -1.0] {
        assert_eq!(file.first_step(nonsense), None, "{nonsense}");
    }
    assert_eq!(file.first_step(1e30), Some((1, 1)));
    assert_eq!(file.first_step(0.0), None);
    assert_eq!(file.first_step(1e-200), Some((1 << 20, MAX_PASSES)));
}

#[test]
fn first_step_is_small_in_bytes() {
    let job = Job::plain(Choice::plain("pread"), Op::Read);
    let count = |block, span| unpredicted_count(&Job { block, span, ..job.clone() });
    assert_eq!([512, 4096, 32 << 10, 1 << 20].map(|block| count(block, 1 << 30)), [16, 16, 2, 1]);
    assert_eq!((count(4096, 8192), count(4096, 0), count(4096, 1)), (2, 1, 1));
}

#[test]
fn slow_trials_still_commit_per_lane() {
    let plain = Job::plain(Choice::plain("pread"), Op::Write);
    let job = Job { sync: Sync::Fsync, sync_every: 8, threads: 2, span: 1 << 20, ..plain };
    assert_eq!((group_of(&job), unpredicted_count(&job)), (16, 16));
    assert_eq!(group_of(&Job { sync: Sync::None, ..job.clone() }), 1);
    assert_eq!(group_of(&Job { span: 8192, ..job.clone() }), 2);
    let bounds = TrialBounds { blocks: 256, group: group_of(&job), ..FILE };
    let NextStep::Enough { count, .. } = bounds.next_step(32, 1, 60_000_000_000) else { panic!() };
    assert_eq!(count, 16);
}

#[test]
fn trials_end_with_complete_commits() {
    let file =
        TrialBounds { blocks: 4096, low: 1 << 20, high: 2 << 20, single_pass: false, group: 24 };
    for nanos in [300.0, 700.0, 5_000.0, 90_000.0] {
        let (count, _) = file.first_step(nanos).unwrap();
        assert!(count % 24 == 0 || count == 4096, "{nanos}: {count}");
    }
    for (count, nanos) in [(24, 1000), (48, 300_000), (240, 900_000), (2400, 9 << 20)] {
        let (NextStep::Try { count, .. } | NextStep::Enough { count, .. }) =
            file.next_step(count, 1, nanos);
        assert!(count % 24 == 0 || count == 4096, "{count}");
    }
}

/// Cells of these block sizes, each with its nanoseconds per operation.
fn calibrated(known: &[(u64, f64)]) -> Vec<Cell> {
    let jobs: Vec<Job> =
        known.iter().map(|(block, _)| Job { block: *block, ..testing::job() }).collect();
    let target = TargetSpec::File { path: "/".into(), size: 0 };
    let plan = Plan { cells: jobs, ..Plan::plain("sweep", target) };
    let mut cells: Vec<Cell> =
        Cell::from_plan(&plan).into_iter().map(|cell| cell.unwrap()).collect();
    for (cell, (_, nanos)) in cells.iter_mut().zip(known) {
        let nanos = (nanos * 100.0 * 3.0 * 2.0) as u64;
        let amount = Amount { passes: 3, parts: 2, nanos, ..Amount::once(100) };
        cell.amount = Some(amount);
    }
    cells
}

fn expect(block: u64, known: &[(u64, f64)]) -> Option<f64> {
    nanos_per_operation(&Job { block, ..testing::job() }, calibrated(known).iter())
}

#[test]
fn nearest_block_sizes_predict() {
    assert_eq!(expect(4096, &[]), None);
    assert_eq!(expect(4096, &[(512, 100.0)]), Some(800.0));
    assert_eq!(expect(4096, &[(65_536, 900.0)]), Some(900.0));
    let known = [(512, 50.0), (1024, 100.0), (16_384, 400.0), (65_536, 9000.0)];
    let between = expect(4096, &known).unwrap();
    assert!((between - 200.0).abs() < 1e-6, "{between}");
}

#[test]
fn other_jobs_do_not_predict() {
    let known = calibrated(&[(4096, 100.0), (512, 100.0)]);
    let cold = Job { cache: Cache::Cold, ..testing::job() };
    assert_eq!(nanos_per_operation(&Job { block: 4096, ..cold }, known.iter()), None);
    let itself = calibrated(&[(4096, 100.0)]);
    let job = Job { block: 4096, ..testing::job() };
    assert_eq!(nanos_per_operation(&job, itself.iter()), None);
    let mut unknown = calibrated(&[(512, 100.0)]);
    unknown[0].amount = None;
    assert_eq!(nanos_per_operation(&job, unknown.iter()), None);
}
