use super::*;
use crate::stats::testing::Rng;

/// Blocks of 1 B to 1 MiB, doubling.
fn sizes() -> impl Iterator<Item = f64> + Clone {
    (0..=20).map(|k| f64::from(1 << k))
}

/// Simulates a curve with relative normal noise.
fn curve(fixed: f64, per_byte: f64, noise: f64, rng: &mut Rng) -> Vec<(f64, f64)> {
    sizes()
        .map(|bytes| (bytes, (fixed + per_byte * bytes) * (1.0 + noise * rng.normal())))
        .collect()
}

fn near(value: f64, want: f64, within: f64) -> bool {
    (value / want - 1.0).abs() <= within
}

#[test]
fn exact_curves_give_their_parts() {
    for (fixed, per_byte) in [(300.0, 0.06), (5.0, 0.03), (90_000.0, 0.4), (1e-3, 1e-3)] {
        let cost = Cost::fit(&curve(fixed, per_byte, 0.0, &mut Rng::new(1)), 0.0).unwrap();
        assert!(near(cost.fixed, fixed, 1e-6) && near(cost.per_byte, per_byte, 1e-6), "{cost:?}");
        assert!(cost.misfit < 1e-6);
        assert!(near(cost.nanos(4096.0), fixed + per_byte * 4096.0, 1e-6));
        assert!(near(cost.bandwidth().unwrap(), 1e9 / per_byte, 1e-6));
        let half = cost.half().unwrap();
        assert!(near(half * 1e9 / cost.nanos(half), cost.bandwidth().unwrap() / 2.0, 1e-6));
        assert!(near(cost.fixed_share(half), 0.5, 1e-6));
    }
}

#[test]
fn noise_moves_the_parts_little() {
    let mut rng = Rng::new(2);
    for _ in 0..200 {
        let cost = Cost::fit(&curve(300.0, 0.06, 0.05, &mut rng), 0.0).unwrap();
        assert!(near(cost.fixed, 300.0, 0.1) && near(cost.per_byte, 0.06, 0.12), "{cost:?}");
    }
}

/// The scale of 3 to 20 points is itself uncertain, so the coverage is only near 95 %.
#[test]
fn the_intervals_hold_the_truth() {
    let mut rng = Rng::new(3);
    let (mut fixed, mut byte) = (0, 0);
    for _ in 0..2000 {
        let cost = Cost::fit(&curve(300.0, 0.06, 0.05, &mut rng), 0.0).unwrap();
        fixed += u32::from(cost.fixed_low <= 300.0 && 300.0 <= cost.fixed_high);
        byte += u32::from(cost.per_byte_low <= 0.06 && 0.06 <= cost.per_byte_high);
    }
    assert!((1820..=1990).contains(&fixed) && (1820..=1990).contains(&byte), "{fixed} {byte}");
}

#[test]
fn an_outlier_bends_no_line() {
    let mut rng = Rng::new(4);
    for at in 0..21 {
        let mut points = curve(300.0, 0.06, 0.02, &mut rng);
        points[at].1 *= 3.0;
        let cost = Cost::fit(&points, 0.0).unwrap();
        assert!(near(cost.fixed, 300.0, 0.1) && near(cost.per_byte, 0.06, 0.15), "{at}: {cost:?}");
        assert!(cost.misfit > 1.5, "{at}: {cost:?}");
    }
}

#[test]
fn a_part_is_never_below_nothing() {
    let only_fixed: Vec<(f64, f64)> = sizes().map(|bytes| (bytes, 100.0 - bytes / 1e5)).collect();
    let cost = Cost::fit(&only_fixed, 0.0).unwrap();
    assert_eq!((cost.per_byte, cost.bandwidth(), cost.half()), (0.0, None, None));
    let only_bytes: Vec<(f64, f64)> =
        sizes().map(|bytes| (bytes, bytes * (1.0 + bytes.log2() / 100.0) / 10.0)).collect();
    let cost = Cost::fit(&only_bytes, 0.0).unwrap();
    assert!(
        cost.fixed >= 0.0 && cost.fixed_low >= 0.0 && near(cost.per_byte, 0.11, 0.1),
        "{cost:?}"
    );
}

#[test]
fn too_few_points_give_none() {
    assert_eq!(Cost::fit(&[], 0.0), None);
    assert_eq!(Cost::fit(&[(1.0, 1.0), (1.0, 2.0), (2.0, 2.0)], 0.0), None);
    assert_eq!(
        Cost::fit(
            &[
                (1.0, f64::NAN),
                (2.0, 2.0),
                (3.0, f64::INFINITY),
                (4.0, 0.0),
                (-1.0, 2.0),
                (8.0, 3.0)
            ],
            0.0
        ),
        None
    );
    for points in
        [[(1.0, 1e300), (2.0, 1e-300), (3.0, 1.0)], [(1e300, 1.0), (1e-300, 1.0), (1.0, 1e300)]]
    {
        if let Some(cost) = Cost::fit(&points, 0.0) {
            assert!(
                [cost.fixed, cost.per_byte, cost.misfit].iter().all(|v| v.is_finite()),
                "{cost:?}"
            );
        }
    }
}

#[test]
fn student_is_the_one_of_tables() {
    for (freedom, want) in
        [(1, 12.706), (5, 2.571), (10, 2.228), (15, 2.131), (20, 2.086), (30, 2.042), (120, 1.980)]
    {
        assert!(near(student(freedom), want, 0.005), "{freedom}: {}", student(freedom));
    }
}
