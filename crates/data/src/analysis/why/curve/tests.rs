use std::collections::HashMap;

use super::*;
use crate::plan::Cache;
use crate::session::testing::job;
use crate::stats::Summary;
use crate::stats::testing::Rng;

/// The parameters of a simulated curve.
struct Drawn {
    points: Vec<Point>,
    what: String,
}

/// Trials of a curve with two parts, as measured on busy machines: noise, a slow stretch, a cache
/// that ends, one size that is off.
fn draw(rng: &mut Rng) -> Drawn {
    let pick =
        |rng: &mut Rng, low: f64, high: f64| (low.ln() + rng.uniform() * (high / low).ln()).exp();
    let fixed = if rng.uniform() < 0.2 { 0.0 } else { pick(rng, 10.0, 1e6) };
    let per_byte = if rng.uniform() < 0.1 { 0.0 } else { pick(rng, 0.01, 10.0) };
    let noise = pick(rng, 0.02, 0.6);
    let sizes = 2 + (rng.uniform() * 7.0) as i32;
    let (first, step) = ((rng.uniform() * 16.0) as i32, 1 + (rng.uniform() * 4.0) as i32);
    let trials = 2 + (rng.uniform() * 9.0) as usize;
    let cliff = if rng.uniform() < 0.3 {
        (first + (rng.uniform() * f64::from(sizes * step)) as i32, pick(rng, 0.2, 5.0))
    } else {
        (99, 1.0)
    };
    let outlier = if rng.uniform() < 0.3 {
        ((rng.uniform() * f64::from(sizes)) as i32, pick(rng, 0.1, 10.0))
    } else {
        (99, 1.0)
    };
    let mut points = Vec::new();
    for at in 0..sizes {
        let power = first + at * step;
        let bytes = 2f64.powi(power);
        let slope = if power >= cliff.0 { per_byte * cliff.1 } else { per_byte };
        let nanos =
            (fixed + slope * bytes).max(1.0) * if at == outlier.0 { outlier.1 } else { 1.0 };
        let rates: Vec<f64> =
            (0..trials).map(|_| 1e9 / (nanos * (noise * rng.normal()).exp())).collect();
        let of = Summary::from_values(&rates).unwrap();
        let (low, high) = (1e9 / of.high.unwrap_or(of.max), 1e9 / of.low.unwrap_or(of.min));
        points.push(Point { bytes, nanos: 1e9 / of.median, low, high });
    }
    Drawn {
        points,
        what: format!(
            "{fixed} ns + {per_byte} ns/B, noise {noise}, cliff {cliff:?}, outlier {outlier:?}"
        ),
    }
}

/// Every claim holds for every point: within its interval, or as far off as the sentence says.
#[test]
fn no_sentence_disagrees_with_its_points() {
    let mut rng = Rng::new(20_26);
    let mut models = HashMap::new();
    for _ in 0..20_000 {
        let Drawn { points, what } = draw(&mut rng);
        let Some((model, cost)) = explain_curve(&points) else {
            assert!(points.len() < 3, "{what}");
            continue;
        };
        *models.entry(format!("{model:?}")).or_insert(0) += 1;
        let said = text(model, &cost, &points, 1);
        let off = |point: &Point| off(&cost, point).abs();
        let missed: Vec<&Point> =
            points.iter().filter(|point| !point.holds(cost.nanos(point.bytes))).collect();
        match model {
            Model::Both => {
                assert!(cost.fixed_low > 0.0 && cost.per_byte_low > 0.0, "{what}: {cost:?}");
                assert!(
                    missed.is_empty() || points.iter().all(|point| off(point) <= MAX_FIT_ERROR),
                    "{what}: {said}: {points:?}"
                );
                assert_eq!(missed.is_empty(), !said.contains("is off by"), "{what}: {said}");
                // No operation takes less than what is reported for all, beyond the stated error.
                let allowed =
                    |point: &&Point| cost.fixed > point.high && off(point) > MAX_FIT_ERROR;
                assert_eq!(points.iter().find(allowed), None, "{what}: {said}");
            }
            Model::Fixed => assert!(
                missed.is_empty() && cost.per_byte == 0.0 && cost.fixed_low > 0.0,
                "{what}: {said}: {points:?}"
            ),
            Model::Bandwidth => assert!(
                missed.is_empty() && cost.fixed == 0.0 && cost.per_byte_low > 0.0,
                "{what}: {said}: {points:?}"
            ),
            Model::Unknown => assert!(said.starts_with("cannot be separated"), "{said}"),
            Model::Misfit => assert!(
                said.starts_with("no fixed cost") && !missed.is_empty(),
                "{what}: {said}: {points:?}"
            ),
        }
    }
    // If one of the models never occurs, the test shows nothing about it.
    assert!(models.len() == 5 && models.values().all(|count| *count > 100), "{models:?}");
}

/// If the points are known well, the parameters behind them are found.
#[test]
fn clear_points_show_both_costs() {
    let mut rng = Rng::new(7);
    let mut found = 0;
    for _ in 0..500 {
        let points: Vec<Point> = (0..6)
            .map(|k| {
                let bytes = f64::from(1u32 << (4 * k));
                let nanos = (300.0 + 0.08 * bytes) * (1.0 + 0.02 * rng.normal());
                Point { bytes, nanos, low: nanos * 0.96, high: nanos * 1.04 }
            })
            .collect();
        let (model, cost) = explain_curve(&points).unwrap();
        found +=
            u32::from(model == Model::Both && cost.fixed_low <= 300.0 && 300.0 <= cost.fixed_high);
    }
    assert!(found >= 450, "{found}");
}

/// The four default sizes of a busy machine, whose nearest line was once reported as "742 ns per
/// operation, whatever its size".
#[test]
fn free_bytes_do_not_fix_costs() {
    let sizes =
        [(4096.0, 900.0), (65536.0, 5_200.0), (262_144.0, 61_000.0), (1_048_576.0, 105_000.0)];
    let points: Vec<Point> = sizes
        .map(|(bytes, nanos)| Point { bytes, nanos, low: nanos * 0.7, high: nanos * 1.5 })
        .into();
    let (model, cost) = explain_curve(&points).unwrap();
    let said = text(model, &cost, &points, 1);
    assert!(matches!(model, Model::Unknown | Model::Misfit), "{said}");
    let curve = CurveCost {
        cell: job("read", 1, Cache::Warm),
        cost,
        model,
        bandwidth: None,
        half: None,
        text: said,
        name: String::new(),
    };
    assert_eq!(curve.claimed(), None);
}

#[test]
fn ambiguous_sizes_are_not_separated() {
    let wide = |bytes: f64| Point { bytes, nanos: 100.0, low: 10.0, high: 1000.0 };
    let points = [wide(1.0), wide(2.0), wide(4.0)];
    let (model, cost) = explain_curve(&points).unwrap();
    assert_eq!(
        text(model, &cost, &points, 1),
        "cannot be separated into a fixed cost and a bandwidth with these 3 sizes"
    );
}

#[test]
fn shapes_explain_curves_without_fit() {
    let said = |times: &[(f64, f64)]| describe_shape(times).unwrap();
    // A call of 300 ns, then 10 GiB/s: one point was disturbed, but the shape shows.
    let both = [
        (1.0, 290.0),
        (64.0, 310.0),
        (1024.0, 360.0),
        (65536.0, 6900.0),
        (262144.0, 25000.0),
        (1048576.0, 101000.0),
    ];
    assert_eq!(
        said(&both),
        "up to 1 KiB an operation takes 290 to 360 ns whatever its size; from 64 KiB on the time grows with the bytes, 8.85 to 9.77 GiB/s"
    );
    assert_eq!(
        said(&[(1024.0, 380.0), (8192.0, 1000.0), (65536.0, 5000.0)]),
        "64.0 times the bytes, 64 KiB instead of 1 KiB, take 13.2 times as long"
    );
    assert_eq!(describe_shape(&[]), None);
}
