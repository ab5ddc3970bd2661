use std::cmp::Ordering;

use super::*;
use crate::stats::Ratio;
use crate::stats::testing::Rng;

const CELLS: usize = 6;
const TRIALS: usize = 8;

/// Simulates runs of a plan: the whole machine drifts slowly from round to round, each cell varies
/// from run to run, and trials scatter on top.
fn runs(rng: &mut Rng, count: usize) -> Vec<Vec<Vec<f64>>> {
    let mut slow = 0.0;
    let mut run = || {
        let own: Vec<f64> = (0..CELLS).map(|_| 0.03 * rng.normal()).collect();
        let mut cells = vec![Vec::new(); CELLS];
        for _ in 0..TRIALS {
            slow = 0.97 * slow + 0.05 * rng.normal();
            cells
                .iter_mut()
                .zip(&own)
                .for_each(|(cell, own)| cell.push((slow + own + 0.05 * rng.normal()).exp()));
        }
        cells
    };
    (0..count).map(|_| run()).collect()
}

fn ratio(a: &[f64], b: &[f64], by: f64) -> Ratio {
    Ratio::from_summaries(&Summary::from_values(b).unwrap(), &Summary::from_values(a).unwrap())
        .unwrap()
        .widened(by)
}

/// Checks the share of equal cells called different: by the runs alone, by their halves, and by 3
/// and 12 saved runs.
#[test]
fn drift_seldom_looks_like_difference() {
    let mut rng = Rng::new(11);
    let (mut all, mut called) = (0.0, [0.0; 4]);
    for _ in 0..300 {
        let runs = runs(&mut rng, 14);
        let (a, b, kept) = (&runs[0], &runs[13], &runs[1..13]);
        let levels = |count: usize| -> Vec<Vec<f64>> {
            (0..CELLS)
                .map(|cell| {
                    kept[..count]
                        .iter()
                        .map(|run| level(&Summary::from_values(&run[cell]).unwrap()).unwrap())
                        .collect()
                })
                .collect()
        };
        let (few, many) = (levels(3), levels(12));
        let halves = within(a.iter().chain(b).map(Vec::as_slice)).unwrap();
        for cell in 0..CELLS {
            all += 1.0;
            let by = [
                0.0,
                halves,
                between(&few[cell], &few).unwrap(),
                between(&many[cell], &many).unwrap(),
            ];
            for (count, by) in called.iter_mut().zip(by) {
                *count +=
                    f64::from(ratio(&a[cell], &b[cell], by).verdict() != Some(Ordering::Equal));
            }
        }
    }
    let [alone, halves, few, many] = called.map(|count| count / all);
    assert!(alone > 0.3, "{alone}: the machine does not drift");
    // Three runs in a row are more alike than runs an hour apart.
    let said = format!("{alone}; halves {halves}, 3 runs {few}, 12 runs {many}");
    assert!(halves < 0.75 * alone && few < 0.5 * alone && many < 0.12, "{said}");
}

#[test]
fn true_differences_are_found() {
    let mut rng = Rng::new(12);
    let mut found = [0; 2];
    for _ in 0..100 {
        let runs = runs(&mut rng, 14);
        let (a, kept) = (&runs[0], &runs[1..13]);
        let faster: Vec<Vec<f64>> =
            runs[13].iter().map(|cell| cell.iter().map(|value| 4.0 * value).collect()).collect();
        let levels: Vec<Vec<f64>> = (0..CELLS)
            .map(|cell| {
                kept.iter()
                    .map(|run| level(&Summary::from_values(&run[cell]).unwrap()).unwrap())
                    .collect()
            })
            .collect();
        let halves = within(a.iter().chain(&faster).map(Vec::as_slice)).unwrap();
        for (count, by) in found.iter_mut().zip([halves, between(&levels[0], &levels).unwrap()]) {
            *count += u32::from(ratio(&a[0], &faster[0], by).verdict() == Some(Ordering::Greater));
        }
    }
    assert!(found.iter().all(|count| *count >= 90), "{found:?} of 100");
}

/// Runs saved before and after a lasting change must not hide it, or the gate would pass again
/// after some days.
#[test]
fn steps_in_saved_runs_show() {
    let mut rng = Rng::new(13);
    for runs in [5, 8, 20] {
        let (mut steady, mut stepped) = (0.0, 0.0);
        for _ in 0..100 {
            let mut levels = |step: f64| -> Vec<Vec<f64>> {
                let cell = |rng: &mut Rng, step| {
                    (0..runs)
                        .map(|run| 0.01 * rng.normal() - if run * 2 < runs { 0.0 } else { step })
                        .collect()
                };
                (0..CELLS).map(|at| cell(&mut rng, if at == 0 { step } else { 0.0 })).collect()
            };
            let (even, uneven) = (levels(0.0), levels(0.3));
            steady += between(&even[0], &even).unwrap();
            stepped += between(&uneven[0], &uneven).unwrap();
        }
        // The plain spread is 10 times as wide.
        assert!(stepped < 3.0 * steady, "{runs} runs: {stepped} after a step, {steady} without");
    }
}

#[test]
fn three_quarters_make_a_common_move() {
    assert_eq!(common_move(&[0.3, 0.2, 0.4, 0.25, 0.5, 0.3]), Some(0.25));
    assert_eq!(common_move(&[-0.3, -0.2, 0.4, -0.25, -0.5, -0.3]), Some(-0.2));
    assert_eq!(common_move(&[0.3, 0.2, 0.4, -0.25, -0.5, -0.3]), None, "apart");
    assert_eq!(common_move(&[0.3; 5]), None, "too few");
    assert_eq!(common_move(&[0.3, 0.3, 0.3, 0.3, 0.3, f64::NAN]), None, "five and none");
    assert_eq!(common_move(&[0.0; 8]), None);
    // Half of the cells changed, the others scatter: no more than their scatter.
    let half = [0.4, 0.4, 0.4, 0.4, 0.01, 0.02, -0.01, -0.02];
    assert_eq!(common_move(&half), Some(0.01));
}

#[test]
fn too_little_says_nothing() {
    assert_eq!(between(&[0.0, 1.0], &[]), None);
    assert_eq!(within([&[1.0, 2.0, 3.0][..]].into_iter()), None);
    assert_eq!(within([&[0.0, 0.0, 0.0, 0.0][..]].into_iter()), None);
    assert_eq!(between(&[1.0; 4], &[vec![1.0; 4]]), Some(0.0));
    assert_eq!(within([&[2.0; 6][..]].into_iter()), Some(0.0));
}
