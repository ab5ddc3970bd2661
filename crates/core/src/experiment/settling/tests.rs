use super::*;
use crate::plan::{Cache, Choice, Op, Pattern, TargetSpec, Until};
use crate::stats::testing::Rng;
use crate::stats::{Summary, median};

fn plan(cells: Vec<Job>) -> Plan {
    let settle = Some(Until::TOLERANCE);
    Plan { cells, settle, ..Plan::plain("sweep", TargetSpec::None) }
}

fn job(backend: &str, block: u64, cache: Cache) -> Job {
    Job { block, cache, ..Job::plain(Choice::plain(backend), Op::Read) }
}

/// Three methods, four block sizes, cold and warm.
fn quick() -> Plan {
    let mut cells = Vec::new();
    for cache in [Cache::Cold, Cache::Warm] {
        for backend in ["read", "mmap", "uring"] {
            cells.extend([12, 15, 18, 21].map(|power| job(backend, 1 << power, cache)));
        }
    }
    plan(cells)
}

/// Four rows of reads and of writes, which have nothing in common.
fn peak() -> Plan {
    let rows = [
        (1 << 20, 8, 1, Pattern::Seq),
        (128 << 10, 32, 1, Pattern::Seq),
        (4096, 32, 16, Pattern::Random),
        (4096, 1, 1, Pattern::Random),
    ];
    let row = |op| {
        rows.map(|(block, depth, threads, pattern)| Job {
            block,
            depth,
            threads,
            pattern,
            direct: true,
            cache: Cache::AsIs,
            ..Job::plain(Choice::plain("uring"), op)
        })
    };
    plan([Op::Read, Op::Write].map(row).concat())
}

/// A shared machine: each trial scatters by 15 %, one in twenty is half as fast, and all of a round
/// drift together by 6 %.
struct Machine {
    rng: Rng,
    truth: Vec<f64>,
}

impl Machine {
    /// Measures the cells until the answer is settled, or for `most` trials; returns the trials
    /// and their number.
    fn run(&mut self, settling: &Settling, most: usize) -> (Vec<Option<Measurements>>, usize) {
        let none = || Some(Measurements { rates: Vec::new(), latency: None });
        let mut cells: Vec<_> = self.truth.iter().map(|_| none()).collect();
        let (mut open, mut spent) = (vec![true; cells.len()], 0);
        for round in 1.. {
            let drift = 0.06 * self.rng.normal();
            for at in (0..cells.len()).filter(|at| open[*at]) {
                let outlier = if self.rng.uniform() < 0.05 { 0.5 } else { 1.0 };
                let rate = self.truth[at] * outlier * (0.15 * self.rng.normal() + drift).exp();
                cells[at].as_mut().unwrap().rates.push((round, rate));
                spent += 1;
                if spent == most {
                    return (cells, spent);
                }
            }
            if round >= Plan::ROUNDS {
                open = settling.open(&cells);
            }
            if !open.contains(&true) {
                break;
            }
        }
        (cells, spent)
    }
}

/// Returns for every group whether the truth is in the answer: the fastest cell is named, and the
/// range reaches it within the tolerance.
fn agrees(settling: &Settling, cells: &[Option<Measurements>], truth: &[f64]) -> Vec<bool> {
    let agrees = |group: &Vec<usize>| {
        let series: Vec<&Series> =
            group.iter().map(|at| &cells[*at].as_ref().unwrap().rates).collect();
        let found = standing(&series, Until::TOLERANCE).unwrap();
        let named: Vec<f64> = match found.contenders[..] {
            // A figure by itself has its interval.
            [one] => {
                let summary = Summary::from_values(&rates(series[one])).unwrap();
                vec![summary.low.unwrap(), summary.high.unwrap()]
            }
            ref all => all.iter().map(|at| median(&rates(series[*at])).unwrap()).collect(),
        };
        let (low, high) = named
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
        let best = group.iter().map(|at| truth[*at]).fold(0.0, f64::max);
        let is_named = found.contenders.iter().any(|at| truth[group[*at]] * 1.1 >= best);
        is_named && (low / 1.1..=high * 1.1).contains(&best)
    };
    settling.contests.iter().map(agrees).collect()
}

/// Simulates 100 runs; returns for each which groups agree with the truth, and the trials of the
/// median one.
fn simulate_each(
    plan: &Plan,
    most: usize,
    truth: impl Fn(&mut Rng) -> Vec<f64>,
) -> (Vec<Vec<bool>>, usize) {
    let settling = Settling::new(plan).unwrap();
    let mut machine = Machine { rng: Rng::new(40), truth: Vec::new() };
    let (mut right, mut spent) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        machine.truth = truth(&mut machine.rng);
        let (cells, trials) = machine.run(&settling, most);
        right.push(agrees(&settling, &cells, &machine.truth));
        spent.push(trials);
    }
    spent.sort_unstable();
    println!("after {:?} trials", [spent[5], spent[50], spent[95]]);
    (right, spent[50])
}

/// Returns how many runs agree with the truth in every group, and the trials of the median one.
fn simulate(plan: &Plan, most: usize, truth: impl Fn(&mut Rng) -> Vec<f64>) -> (usize, usize) {
    let (right, spent) = simulate_each(plan, most, truth);
    (right.iter().filter(|groups| !groups.contains(&false)).count(), spent)
}

/// Cold cells hardly differ, warm ones do. The budget has room for 500 trials.
#[test]
fn settled_quick_agrees_with_truth() {
    let truth = |rng: &mut Rng| -> Vec<f64> {
        let cold = [1.8; 12].map(|rate| rate * (0.03 * rng.normal()).exp());
        let blocks = [0.5, 0.8, 1.0, 0.9];
        let warm = [8.0, 7.0, 6.0].map(|method| blocks.map(|block| method * block)).concat();
        let warm = warm.into_iter().map(|rate| rate * (0.05 * rng.normal()).exp());
        cold.into_iter().chain(warm).collect()
    };
    let (right, trials) = simulate(&quick(), 500, truth);
    assert!(right >= 95 && trials <= 260, "{right} after {trials}");
}

/// The budget has room for 150 trials, 19 of each row.
#[test]
fn settled_peak_agrees_with_truth() {
    let truth = |rng: &mut Rng| [1.0; 8].map(|rate| rate * (1.5 * rng.normal()).exp()).to_vec();
    let (right, trials) = simulate(&peak(), 150, truth);
    assert!(right >= 95 && trials <= 150, "{right} after {trials}");
}

/// Three methods, five block sizes, cold and warm, one random read at a time.
fn random() -> Plan {
    let mut cells = Vec::new();
    for cache in [Cache::Cold, Cache::Warm] {
        for block in [9, 12, 14, 16, 20].map(|power| 1 << power) {
            let pattern = Pattern::Random;
            cells.extend(
                ["pread", "mmap", "uring"]
                    .map(|backend| Job { pattern, ..job(backend, block, cache) }),
            );
        }
    }
    plan(cells)
}

/// The backends of a row take about as long, but a mapping is far slower cold. The budget has room
/// for 600 trials.
#[test]
fn settled_random_agrees_with_truth() {
    let truth = |rng: &mut Rng| -> Vec<f64> {
        let row = |cold: bool, block: usize| {
            let size = [1.0, 1.05, 1.2, 2.5, 12.0][block];
            let methods = if cold { [1.0, 0.01, 0.95] } else { [100.0, 150.0, 60.0] };
            methods.map(|speed| speed * size)
        };
        let rows = [true, false].into_iter().flat_map(|cold| (0..5).map(move |at| row(cold, at)));
        rows.flatten().map(|rate| rate * (0.04 * rng.normal()).exp()).collect()
    };
    let (right, trials) = simulate_each(&random(), 600, truth);
    // The sentences are about the second row, 4 KiB cold; the others are figures of a table.
    let said = right.iter().filter(|rows| rows[1]).count();
    let rows = right.iter().flatten().filter(|agrees| **agrees).count();
    assert!(said >= 95 && rows >= 950 && trials <= 500, "{said}, {rows} after {trials}");
}

#[test]
fn random_blocks_are_no_rivals() {
    let rows = Settling::new(&random()).unwrap().contests;
    assert_eq!(rows.len(), 10);
    assert!(rows.iter().all(|row| row.len() == 3), "the backends of one block size: {rows:?}");
}

#[test]
fn rows_of_peak_stand_for_themselves() {
    let rows = Settling::new(&peak()).unwrap().contests;
    assert_eq!(rows, (0..8).map(|at| vec![at]).collect::<Vec<_>>());
    let of_quick = Settling::new(&quick()).unwrap().contests;
    assert_eq!(of_quick, [(0..12).collect::<Vec<_>>(), (12..24).collect()]);
}

fn measured(rates: &[f64]) -> Option<Measurements> {
    let rates = (1..).zip(rates.iter().copied()).collect();
    Some(Measurements { rates, latency: None })
}

#[test]
fn clearly_slower_cells_rest() {
    let cells = ["read", "pread", "mmap"].map(|backend| job(backend, 4096, Cache::Warm));
    let settling = Settling::new(&plan(cells.to_vec())).unwrap();
    let near = [measured(&[0.8, 1.0, 1.2, 0.9, 1.1]), measured(&[0.9, 1.2, 1.0, 1.3, 0.8])];
    let [first, second] = near;
    let slow = || measured(&[0.10, 0.11, 0.09, 0.10, 0.10]);
    assert_eq!(settling.open(&[first, second, slow()]), [true, true, false]);
    let fast = || measured(&[3.0, 3.01, 3.0, 2.99, 3.0]);
    assert_eq!(settling.open(&[fast(), None, slow()]), [false; 3]);
    assert_eq!(settling.open(&[fast(), measured(&[1.0]), slow()]), [false, true, false], "few");
}

#[test]
fn figures_near_their_bound_stay_open() {
    let mut plan = plan(vec![job("read", 4096, Cache::Warm)]);
    let open = |plan: &Plan, latency| {
        let rates = measured(&[3.0e6, 3.01e6, 3.0e6, 2.99e6, 3.0e6]).unwrap().rates;
        Settling::new(plan).unwrap().open(&[Some(Measurements { rates, latency })])[0]
    };
    for (text, expected) in [
        (">=3MB/s", true),
        (">=2MB/s", false),
        ("iops>=732", true),
        ("iops>=500", false),
        ("p99<1us", true),
        ("p99<1ms", false),
        ("max<1ms", true),
        ("max<1us", false),
    ] {
        let conditions = vec![text.parse().unwrap()];
        plan.expect = vec![crate::plan::Expectation { conditions, by: None }];
        let latency =
            Latency { buckets: vec![(900, 990), (1100, 10)], max: 1e5, ..Latency::default() };
        assert_eq!(open(&plan, Some(latency)), expected, "{text}");
    }
}

#[test]
fn conditions_alone_are_the_question() {
    let mut plan = plan(vec![job("read", 4096, Cache::Warm)]);
    let scattered = || measured(&[3.0e6, 6.0e6, 4.5e6, 9.0e6, 5.0e6]);
    assert_eq!(Settling::new(&plan).unwrap().open(&[scattered()]), [true]);
    let conditions = vec![">=1MB/s".parse().unwrap()];
    plan.expect = vec![crate::plan::Expectation { conditions, by: None }];
    assert_eq!(Settling::new(&plan).unwrap().open(&[scattered()]), [false], "it surely holds");
}

#[test]
fn other_plans_are_not_settled() {
    let settled = quick();
    assert!(Settling::new(&Plan { trials: Some(5), ..settled.clone() }).is_none());
    assert!(Settling::new(&Plan { settle: None, ..settled }).is_none());
}
