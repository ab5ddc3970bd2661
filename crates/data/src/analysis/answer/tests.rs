use super::testing::{GIB, at, cell};
use std::time::Duration;

use super::*;
use crate::analysis::result;
use crate::plan::{Cache, Job, TargetSpec, TrialTime};
use crate::record::{Severity, Trial, Warning};
use crate::session::testing::job;

fn warned(mut result: CellResult, severity: Severity) -> CellResult {
    let [message, evidence, remedy] =
        ["40 % of the file are holes.", "fiemap", "fill it"].map(String::from);
    result.warnings.push(Warning {
        id: "holes".into(),
        severity,
        message,
        evidence,
        remedy: remedy.into(),
    });
    result
}

fn text(results: &[CellResult]) -> String {
    answer(results).text
}

/// read and mmap, cold and warm, at 4 KiB to 1 MiB.
fn sweep() -> Vec<CellResult> {
    let curve = |backend, cache, speeds: [f64; 5]| {
        let blocks = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
        blocks.into_iter().zip(speeds).map(move |(block, speed)| at(backend, block, cache, speed))
    };
    let warm = curve("read", Cache::Warm, [6.0, 12.0, 20.0, 25.0, 25.3]).chain(curve(
        "mmap",
        Cache::Warm,
        [15.0, 19.0, 22.0, 24.0, 30.1],
    ));
    let cold = curve("read", Cache::Cold, [1.0, 2.0, 2.65, 2.7, 2.7]).chain(curve(
        "mmap",
        Cache::Cold,
        [0.5, 0.5, 0.6, 0.6, 0.6],
    ));
    warm.chain(cold).collect()
}

#[test]
fn a_sweep_gets_plain_sentences() {
    let expected = "Fastest: mmap at 1 MiB, warm, 30.1 GiB/s. Warm: no more than 5 % to gain with read from 256 KiB on; mmap was still getting faster at 1 MiB, \
                    the largest tried. Warm is 11x as fast as cold: the disk delivers 2.70 GiB/s from 64 KiB on.";
    assert_eq!(text(&sweep()), expected);
    let answer = answer(&sweep());
    assert_eq!((answer.knees.len(), answer.best.unwrap().cell.block), (4, 1 << 20));
    let cost = answer.cold_cost.unwrap();
    assert!(cost.low.unwrap() < cost.ratio && cost.ratio < cost.high.unwrap() && cost.device);
}

#[test]
fn overlapping_intervals_count_as_equal() {
    let results = [
        at("read", 4096, Cache::Warm, 10.0),
        at("mmap", 4096, Cache::Warm, 10.02),
        at("pread", 4096, Cache::Warm, 5.0),
    ];
    assert_eq!(
        text(&results),
        "Fastest: 10.0 GiB/s with mmap and read, 4 KiB, warm; equally fast."
    );
    let many: Vec<CellResult> =
        ["a", "b", "c", "d", "e"].map(|name| at(name, 4096, Cache::Warm, 1.0)).into();
    assert!(
        text(&many)
            .contains("Fastest: 1.00 GiB/s with 4 KiB, warm, whatever the backend; equally fast.")
    );
    assert_eq!(answer(&many).best.unwrap().no_difference.len(), 4);
}

#[test]
fn a_wrong_best_result_is_mentioned() {
    let wrong = || warned(at("mmap", 4096, Cache::Warm, 60.0), Severity::Wrong);
    let results = [
        at("read", 4096, Cache::Warm, 10.0),
        wrong(),
        warned(at("pread", 4096, Cache::Warm, 5.0), Severity::Misleading),
    ];
    let expected = "Fastest: read at 4 KiB, warm, 10.0 GiB/s. Excluded: mmap at 4 KiB, warm, 60.0 GiB/s, which is wrong: 40 % of the file are holes.";
    assert_eq!(text(&results), expected);
    let all = [wrong(), warned(at("read", 4096, Cache::Warm, 10.0), Severity::Wrong)];
    let expected = "Fastest: mmap at 4 KiB, warm, 60.0 GiB/s, but this figure is wrong, as are all others: 40 % of the file are holes.";
    assert_eq!(text(&all), expected);
    assert!(
        text(&[wrong()]).ends_with("trials, but this figure is wrong: 40 % of the file are holes.")
    );
}

#[test]
fn wrong_points_leave_curves_and_costs() {
    let mut results = sweep();
    for result in results.iter_mut().filter(|result| result.cell.cache == Cache::Cold) {
        *result = warned(result.clone(), Severity::Wrong);
    }
    let answer = answer(&results);
    assert_eq!((answer.knees.len(), answer.cold_cost), (2, None));
    assert!(
        answer.text.contains("is wrong: 40 % of the file are holes. 9 more results are wrong."),
        "{}",
        answer.text
    );
}

#[test]
fn narrow_intervals_lead_at_equal_speed() {
    let results = [
        cell(job("uring", 4096, Cache::Cold), 3.17, 0.45, 7),
        cell(job("read", 4096, Cache::Cold), 3.11, 0.02, 7),
        cell(job("mmap", 4096, Cache::Cold), 2.47, 0.03, 7),
    ];
    let best = answer(&results).best.unwrap();
    assert_eq!(best.cell.backend.id, "read");
    let tied: Vec<&str> = best.no_difference.iter().map(|cell| cell.backend.id.as_str()).collect();
    assert_eq!(tied, ["uring"], "mmap is slower than read, whatever uring is");

    let cost = answer(
        &[at("mmap", 4096, Cache::Warm, 20.0)]
            .into_iter()
            .chain(results)
            .chain(["uring", "read"].map(|name| at(name, 4096, Cache::Warm, 10.0)))
            .collect::<Vec<_>>(),
    )
    .cold_cost
    .unwrap();
    assert_eq!(cost.cold.backend.id, "read", "the same peak as that of the answer");
    assert!((cost.ratio - 20.0 / 3.11).abs() < 0.01 && cost.fastest);

    let apart = [
        cell(job("uring", 4096, Cache::Cold), 3.5, 0.45, 7),
        cell(job("read", 4096, Cache::Cold), 3.11, 0.02, 7),
    ];
    assert_eq!(answer(&apart).best.unwrap().cell.backend.id, "uring", "more than 5 % higher");
}

#[test]
fn few_but_always_faster_trials_lead() {
    let few = |gib| {
        let mut few = cell(job("mmap", 4096, Cache::Warm), gib, 0.01, 4);
        few.warnings = warned(few.clone(), Severity::Misleading).warnings;
        few.warnings[0].id = "few".into();
        few
    };
    let uring = cell(job("uring", 4096, Cache::Warm), 6.1, 0.1, 5);
    let said = text(&[few(15.0), uring.clone()]);
    assert!(
        said.starts_with("First look (4 trials): mmap at 4 KiB, warm, about 15 GiB/s"),
        "{said}"
    );
    let said = text(&[few(6.2), uring]);
    assert!(said.starts_with("Fastest: uring at 4 KiB, warm, 6.1 GiB/s"), "{said}");
}

#[test]
fn failed_cells_lead_only_failed_cells() {
    let failed = |mut result: CellResult| {
        result.error = Some("the file was renamed".into());
        result
    };
    let mmap = failed(cell(job("mmap", 4096, Cache::Warm), 15.0, 0.01, 7));
    let said = text(&[mmap.clone(), at("read", 4096, Cache::Warm, 6.1)]);
    assert!(said.starts_with("Fastest: read at 4 KiB, warm, 6.10 GiB/s. mmap"), "{said}");
    assert!(said.contains("mmap at 4 KiB, warm failed: the file was renamed."), "{said}");
    let said = text(&[mmap, failed(at("read", 4096, Cache::Warm, 6.1))]);
    assert!(said.starts_with("Fastest: mmap at 4 KiB, warm, 15.0 GiB/s. 2 cells failed"), "{said}");
}

#[test]
fn one_wrong_result_is_singular() {
    let wrong = |backend| warned(at(backend, 4096, Cache::Warm, 60.0), Severity::Wrong);
    let results = [at("read", 4096, Cache::Warm, 90.0), wrong("mmap"), wrong("pread")];
    let text = text(&results);
    assert!(text.ends_with("1 more result is wrong."), "{text}");
}

#[test]
fn one_cell_is_one_sentence() {
    assert_eq!(
        text(&[at("read", 4096, Cache::Cold, 2.7)]),
        "read at 4 KiB, cold: 2.70 GiB/s, 95 % interval 2.69 GiB/s to 2.71 GiB/s from 7 trials."
    );
    assert_eq!(
        text(&[cell(job("read", 4096, Cache::Cold), 2.7, 0.0, 1)]),
        "read at 4 KiB, cold: 2.70 GiB/s in 1 trial, too few for an interval."
    );
}

#[test]
fn nothing_measured_says_that_and_why() {
    assert_eq!(text(&[]), "Nothing was measured.");
    let mut failed = cell(job("uring", 4096, Cache::Cold), 1.0, 0.0, 0);
    failed.error = Some("io_uring: EPERM.\n".into());
    assert_eq!(
        text(&[failed.clone()]),
        "Nothing was measured. uring at 4 KiB, cold failed: io_uring: EPERM."
    );
    let text = text(&[at("read", 4096, Cache::Cold, 1.0), failed.clone(), failed]);
    assert!(
        text.ends_with("2 cells failed; the first was uring at 4 KiB, cold: io_uring: EPERM."),
        "{text}"
    );
}

#[test]
fn calls_are_compared_by_operations() {
    let seek = |gib| cell(Job { op: Op::Seek, ..job("seek", 1, Cache::AsIs) }, gib, 0.005, 7);
    let results =
        [at("read", 4096, Cache::Warm, 10.0), seek(0.0126), at("null", 4096, Cache::AsIs, 900.0)];
    assert_eq!(
        text(&results),
        "Fastest read: read at 4 KiB, warm, 10.0 GiB/s. Fastest call: seek at 1 B, 3.30 k operations/s (303 µs each)."
    );
    let only = answer(&[
        seek(0.0126),
        cell(Job { op: Op::Seek, ..job("getpid", 1, Cache::AsIs) }, 0.01265, 0.005, 7),
    ]);
    assert!(
        only.text.starts_with(
            "Fastest call: 3.30 to 3.32 k operations/s, whatever the backend; equally fast."
        ),
        "{}",
        only.text
    );
    assert!(only.best.unwrap().throughput.is_none());
}

#[test]
fn writes_are_not_compared_with_reads() {
    let write = |backend, gib| {
        cell(Job { op: Op::Write, ..job(backend, 4096, Cache::AsIs) }, gib, 0.005, 7)
    };
    let results = [
        at("read", 4096, Cache::Warm, 10.0),
        at("mmap", 4096, Cache::Warm, 9.0),
        write("pread", 20.0),
        write("uring", 1.0),
    ];
    assert_eq!(
        text(&results),
        "Fastest read: read at 4 KiB, warm, 10.0 GiB/s. Fastest write to the page cache: pwrite at 4 KiB, 20.0 GiB/s."
    );
}

#[test]
fn wide_intervals_give_knees_a_range() {
    let point = |block, gib, spread| cell(job("read", block, Cache::Warm), gib, spread, 7);
    let knee = |spread: f64| {
        let points = [
            point(1 << 10, 5.0, spread),
            point(2 << 10, 9.4, spread),
            point(4 << 10, 9.8, spread),
            point(8 << 10, 10.0, spread),
        ];
        let answer = answer(&points);
        (answer.text, answer.knees[0].clone())
    };
    let (sure, knee_of) = knee(0.001);
    assert!(sure.contains("No more than 5 % to gain with read from 4 KiB on."), "{sure}");
    assert_eq!(
        (knee_of.at, knee_of.least, knee_of.most, knee_of.holds, knee_of.rising),
        (4096, Some(4096), Some(4096), true, false)
    );
    assert!(knee(0.014).0.contains("with read from 2 to 4 KiB on"), "{}", knee(0.014).0);
    let (unsure, knee_of) = knee(0.2);
    assert!(unsure.contains("with read from at least 2 KiB on"), "{unsure}");
    assert_eq!(knee_of.most, None);
    let few = [point(1 << 10, 5.0, 0.0), point(2 << 10, 9.8, 0.0)]
        .map(|result| cell(result.cell, 5.0, 0.0, 2));
    let few = text(&few);
    assert!(
        !few.contains("to gain")
            && few.ends_with("Fewer than 5 trials each: differences may be due to chance."),
        "{few}"
    );
    let flat = |spread| answer(&[point(1 << 10, 10.0, spread), point(2 << 10, 9.8, spread)]).text;
    let tried = "with read from 1 KiB (the smallest tried) on";
    assert!(flat(0.01).contains(tried), "{}", flat(0.01));
    assert!(!flat(0.3).contains("to gain"), "nothing is surely below: {}", flat(0.3));
}

fn drifting(rounds: u32, cells: &[(&str, u64, f64)]) -> Vec<CellResult> {
    let mut rng = crate::stats::testing::Rng::new(3);
    let drift: Vec<f64> = (0..rounds).map(|_| (0.3 * rng.normal()).exp()).collect();
    let mut cell = |(backend, block, gib): &(&str, u64, f64)| {
        let trial = |(round, drift): (u32, &f64)| {
            let bytes = (gib * GIB * drift * (1.0 + 0.005 * rng.normal())) as u64;
            Trial { round, bytes, ops: 9, nanos: 1_000_000_000, ..Trial::default() }.into()
        };
        let trials = (1..).zip(&drift).map(trial).collect();
        result(&job(backend, *block, Cache::Warm), trials, None, None)
    };
    cells.iter().map(&mut cell).collect()
}

#[test]
fn shared_drift_hides_no_difference() {
    let results = drifting(8, &[("read", 4096, 8.0), ("mmap", 4096, 10.0), ("pread", 4096, 9.9)]);
    let intervals: Vec<_> = results.iter().map(|of| of.throughput.unwrap().summary).collect();
    assert!(intervals[0].high > intervals[1].low, "they overlap: {intervals:?}");
    let best = answer(&results).best.unwrap();
    assert_eq!(best.cell.backend.id, "mmap");
    let names = |jobs: &[Job]| jobs.iter().map(|job| job.backend.id.clone()).collect::<Vec<_>>();
    assert_eq!(
        (names(&best.no_difference), names(&best.alike)),
        (vec!["pread".into()], vec!["pread".into()])
    );
    let curve =
        drifting(8, &[("read", 1 << 10, 5.0), ("read", 2 << 10, 9.9), ("read", 4 << 10, 10.0)]);
    let said = text(&curve);
    assert!(said.contains("No more than 5 % to gain with read from 2 KiB on."), "{said}");
}

#[test]
fn faster_in_every_round_beats_median() {
    let mut results = drifting(14, &[("read", 4096, 10.0), ("mmap", 4096, 10.8)]);
    let mut trials = results[1].trials.clone();
    trials.sort_by(|a, b| a.throughput().total_cmp(&b.throughput()));
    trials.truncate(7);
    results[1] = result(&results[1].cell, trials, None, None);
    let medians = [0, 1].map(|at: usize| results[at].throughput.unwrap().summary.median);
    assert!(medians[0] > medians[1], "{medians:?}");
    let said = text(&results);
    assert!(said.starts_with("Fastest: mmap at 4 KiB, warm, "), "{said}");
    assert!(!said.contains("distinguish"), "{said}");
}

#[test]
fn a_span_is_not_needed() {
    let span = |span, gib| cell(Job { span, ..job("pread", 4096, Cache::Cold) }, gib, 0.001, 7);
    let answer = answer(&[span(1 << 20, 1.0), span(1 << 24, 3.0), span(1 << 28, 3.0)]);
    assert!(!answer.text.contains("to gain") && answer.knees.is_empty(), "{}", answer.text);
}

/// The one with the highest median is picked among them.
#[test]
fn equal_cells_are_seldom_called_slower() {
    let mut rng = crate::stats::testing::Rng::new(11);
    for (cells, trials) in [(4, 7), (24, 7), (12, 12)] {
        let (mut slower, mut all) = (0, 0);
        for _ in 0..60 {
            let drift: Vec<f64> = (0..trials).map(|_| 0.1 * rng.normal()).collect();
            let results: Vec<CellResult> = (0..cells)
                .map(|at| {
                    let trial = |(round, drift): (u32, &f64)| {
                        let bytes = (GIB * (drift + 0.05 * rng.normal()).exp()) as u64;
                        Trial { round, bytes, ops: 9, nanos: 1_000_000_000, ..Trial::default() }
                            .into()
                    };
                    let trials = (1..).zip(&drift).map(trial).collect();
                    result(&job("read", 1 << at, Cache::Warm), trials, None, None)
                })
                .collect();
            let best = answer(&results).best.unwrap();
            slower += cells - 1 - best.no_difference.len();
            all += cells - 1;
        }
        let share = slower as f64 / all as f64;
        assert!(share < 0.06, "{share} of {cells} cells with {trials} trials");
    }
}

#[test]
fn threads_form_a_curve() {
    let threads =
        |threads, gib| cell(Job { threads, ..job("pread", 2 << 20, Cache::Cold) }, gib, 0.001, 7);
    let text = text(&[threads(1, 1.0), threads(4, 2.9), threads(8, 3.0)]);
    assert_eq!(
        text,
        "Fastest: 2.90 to 3.00 GiB/s with pread, 2 MiB, cold, 4 and 8 threads; equally fast. No more than 5 % to gain with pread from 4 threads on."
    );
}

#[test]
fn cold_cost_needs_both_states() {
    // The warm 1 MiB has no cold twin: the peak over common jobs is that at 4 KiB.
    let results = [
        at("read", 4096, Cache::Warm, 4.0),
        at("read", 1 << 20, Cache::Warm, 40.0),
        at("read", 4096, Cache::Cold, 2.0),
    ];
    let cost = answer(&results).cold_cost.unwrap();
    assert!((cost.ratio - 2.0).abs() < 0.01 && cost.from.is_none(), "{cost:?}");
    assert!(
        text(&results).contains(
            "Warm is 2.0x as fast as cold: the disk delivers 2.00 GiB/s at 4 KiB with read."
        ),
        "{}",
        text(&results)
    );
    // A device that is faster at another size does not reach its peak here.
    let [small_warm, large_warm, small_cold] = results;
    let more = [small_warm, large_warm, small_cold, at("mmap", 1 << 16, Cache::Cold, 3.0)];
    let described = text(&more);
    assert!(described.contains("cold reaches 2.00 GiB/s at 4 KiB with read."), "{described}");
    assert!(!described.contains("the disk delivers 2.00 GiB/s"), "{described}");
    let same = [at("read", 4096, Cache::Warm, 2.0), at("read", 4096, Cache::Cold, 2.0)];
    // It does not wait for the device.
    let said =
        "Warm and cold are equally fast: cold reaches 2.00 GiB/s at 4 KiB with read, where the CPU";
    assert!(text(&same).contains(said));
}

/// Returns twelve trials of a second each, in rounds of three cells; the speed changes from one
/// round on.
fn stepping(backend: &str, at: u32, factor: f64, nth: u64) -> CellResult {
    let trial = |n: u32| {
        let gib = if n >= at { 2.0 * factor } else { 2.0 } * (1.0 + f64::from(n * 7 % 5) / 200.0);
        let mut trial = Trial {
            round: n + 1,
            bytes: (gib * GIB) as u64,
            ops: 9,
            nanos: 1_000_000_000,
            ..Trial::default()
        };
        trial.evidence.started = (u64::from(n) * 3 + nth) * 1_000_000_000;
        trial.into()
    };
    result(&job(backend, 4096, Cache::Warm), (0..12).map(trial).collect(), None, None)
}

/// A median of two levels is not a figure: a token bucket that ran empty was reported as 596 MiB/s,
/// 29.4 MiB/s to 1.13 GiB/s.
#[test]
fn stepped_cells_have_no_single_figure() {
    let said = text(&[stepping("read", 6, 0.3, 0)]);
    assert!(
        said.ends_with(
            ": went from 2.01 GiB/s to 621 MiB/s during the run, so there is no single figure."
        ),
        "{said}"
    );
    assert!(!text(&[stepping("read", 12, 1.0, 0)]).contains("no single figure"));
}

#[test]
fn simultaneous_steps_are_reported_once() {
    let fell =
        [stepping("read", 6, 0.3, 0), stepping("mmap", 6, 0.5, 1), stepping("pread", 12, 1.0, 2)];
    assert!(fell[2].level_change.is_none());
    let change = fell[0].level_change.as_ref().unwrap();
    assert_eq!(
        (change.levels[0].last_trial, change.levels[1].first_trial, change.step_window()),
        (5, 6, Some((16_000_000_000, 18_000_000_000)))
    );
    let said = "2 of 3 cells fell at the same time, 17.0 s to 18.0 s after the start: the machine or the device changed";
    assert!(text(&fell).contains(said), "{}", text(&fell));
    let apart =
        [stepping("read", 4, 0.3, 0), stepping("mmap", 8, 0.3, 1), stepping("pread", 12, 1.0, 2)];
    assert!(!text(&apart).contains("at the same time"));
    let other_ways = [stepping("read", 6, 0.3, 0), stepping("mmap", 6, 3.0, 1)];
    assert!(!text(&other_ways).contains("at the same time"));
}

/// Returns a cell whose trials make that many calls of that many nanoseconds each, with a scatter
/// of 1 %.
fn calling(backend: &str, count: u64, cache: Cache, nanos: f64, trials: u32) -> CellResult {
    let op = if matches!(backend, "seek" | "getpid" | "map-unmap") { Op::Seek } else { Op::Read };
    let job = Job { op, count: Some(count), span: 1 << 30, ..job(backend, 1, cache) };
    let trial = |round: u32| crate::record::Trial {
        round,
        ops: count,
        bytes: if op == Op::Read { count } else { 0 },
        syscalls: count.into(),
        nanos: (count as f64 * nanos * (1.0 + 0.01 * f64::from(round % 3))) as u64,
        ..Default::default()
    };
    crate::analysis::result(
        &job,
        (1..=trials).map(|round| trial(round).into()).collect(),
        None,
        None,
    )
}

#[test]
fn short_trials_do_not_rank_calls() {
    let mut results = vec![
        calling("read", 1 << 20, Cache::Warm, 300.0, 7),
        // 1024 calls, by chance five times as fast.
        calling("read", 1 << 10, Cache::Warm, 60.0, 7),
        calling("seek", 1 << 20, Cache::AsIs, 150.0, 7),
        calling("map-unmap", 1 << 20, Cache::Warm, 3000.0, 7),
    ];
    let said = ways::compare_calls(&results).unwrap();
    assert!(said.starts_with("At 1 B, warm: read makes 3.30 M calls/s; lseek is 2.0x [2.0-2.0] as fast as read; read is 10"), "{said}");
    assert_eq!(answer(&results).best.unwrap().cell.count, Some(1 << 20));
    results[2] = calling("seek", 1 << 20, Cache::AsIs, 300.0, 7);
    assert!(ways::compare_calls(&results).unwrap().contains("lseek and read are equally fast"));
    results[2] = calling("seek", 1 << 20, Cache::AsIs, 150.0, 2);
    assert!(
        ways::compare_calls(&results)
            .unwrap()
            .contains("in these few trials lseek was 2.0x as fast as read")
    );
    assert_eq!(ways::compare_calls(&results[..2]), None);
    // A wrong row hides no other.
    results[0] = warned(results[0].clone(), Severity::Wrong);
    results[1] = warned(results[1].clone(), Severity::Wrong);
    let two = |mut of: CellResult| {
        of.cell.block = 2;
        of
    };
    results.push(two(calling("read", 1 << 20, Cache::Warm, 300.0, 7)));
    results.push(two(calling("seek", 1 << 20, Cache::AsIs, 150.0, 7)));
    assert!(ways::compare_calls(&results).unwrap().starts_with("At 2 B, warm: read makes"));
}

#[test]
fn measure_answers_with_its_counts() {
    let mut session = crate::session::testing::session(1);
    session.plan.experiment = MEASURE.into();
    let results = [calling("read", 1 << 24, Cache::Warm, 300.0, 1)];
    session.plan.trial_time =
        TrialTime { low: Duration::from_secs(5), high: Duration::from_secs(15) };
    let said = |session: &Session, results: &[CellResult]| {
        answer_experiment(session, results, &answer(results))
    };
    assert_eq!(said(&session, &results).unwrap(), "16777216 reads of 1 B take 5.08 s.");
    let mut short = calling("read", 1 << 20, Cache::Warm, 300.0, 1);
    short.cell.span = 1 << 20;
    session.plan.target = TargetSpec::File { path: "a".into(), size: 1 << 20 };
    let own = said(&session, &[short.clone()]).unwrap();
    assert_eq!(
        own,
        "The file's 1 MiB are read in less than 5s: a file of 15.7 MiB would last that long (--size 16m without a file makes one)."
    );
    let both = said(&session, &[results[0].clone(), short]).unwrap();
    assert!(both.starts_with("16777216 reads of 1 B take 5.08 s. The file's"), "{both}");
    assert!(both.contains("less than 5s at 1 of 2 block sizes"), "{both}");
    session.plan.experiment = "sweep".into();
    assert_eq!(said(&session, &results), None);
}

/// Returns a cell of a way that makes this number of system calls for a thousand operations.
fn way(backend: &str, block: u64, cache: Cache, gib: f64, calls: u64) -> CellResult {
    let mut result = at(backend, block, cache, gib);
    for trial in &mut result.trials {
        let trial = std::sync::Arc::make_mut(trial);
        (trial.ops, trial.syscalls) = (1000, calls.into());
    }
    result
}

#[test]
fn ways_have_ratio_and_reason() {
    let results = [
        way("read", 64, Cache::Warm, 0.18, 1000),
        way("stdio", 64, Cache::Warm, 1.72, 141),
        way("pread", 64, Cache::Warm, 0.18, 1000),
        way("mmap", 64, Cache::Warm, 3.6, 0),
        way("read", 4096, Cache::Warm, 5.0, 1000),
        way("stdio", 4096, Cache::Warm, 5.0, 1000),
        way("read", 64, Cache::Cold, 0.1, 1000),
    ];
    assert_eq!(
        ways::compare_ways(&results).unwrap(),
        "At 64 B, warm: stdio is 9.6x [9.5-9.6] as fast as read (7.1x fewer system calls); \
         mmap is 20x [20-20] as fast as read (hardly a system call); no difference shows between read and pread."
    );
    // mmap has no 4 KiB: the smallest size of all is compared.
    assert_eq!(ways::compare_ways(&results[..1]), None);
    assert!(
        ways::compare_ways(&results[4..]).unwrap().starts_with("At 4 KiB, warm: no difference")
    );
    let few: Vec<CellResult> =
        results.iter().map(|of| cell(of.cell.clone(), 1.0, 0.1, 3)).collect();
    assert_eq!(ways::compare_ways(&few), None, "no interval");
}
