//! Guarantees of a latency histogram: bounds, exact extremes, no panic on any input.

use proptest::prelude::*;

use super::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|&nanos| histogram.record(nanos));
    histogram
}

fn bytes(histogram: &Histogram) -> usize {
    size_of::<Histogram>() + histogram.buckets.distinct_values() * size_of::<u64>()
}

#[test]
fn empty() {
    let h = Histogram::default();
    assert_eq!((h.count(), h.mean(), h.min(), h.max(), h.quantile(0.5)), (0, 0.0, 0, 0, None));
    assert_eq!(h.pairs(), []);
    assert_eq!(h, Histogram::from_pairs(&[(5, 0)]));
}

#[test]
fn memory_is_bounded() {
    let mut h = Histogram::new();
    let fresh = bytes(&h);
    (0..64).for_each(|shift| h.record(1 << shift));
    h.record(u64::MAX);
    h.merge(&Histogram::from_pairs(&[(u64::MAX, u64::MAX), (7, 3)]));
    assert_eq!(bytes(&h), fresh);
    assert!(fresh <= 64 * 1024, "{fresh} bytes");
    assert!(!h.buckets.is_auto_resize());
}

#[test]
fn values_outside_the_bounds() {
    let h = of(&[0, 3 * MAX_VALUE]);
    assert_eq!((h.count(), h.min(), h.max()), (2, 1, 3 * MAX_VALUE));
    assert_eq!(h.mean(), (1.0 + 3.0 * MAX_VALUE as f64) / 2.0);
    assert_eq!(h.pairs(), [(1, 1), (MAX_VALUE, 1)]);
    assert_eq!(of(&[u64::MAX, u64::MAX]).mean(), u64::MAX as f64);
}

#[test]
fn a_quantile_needs_values_beyond_it() {
    for (q, needed) in [(0.5, 1), (0.9, 100), (0.99, 1_000), (0.999, 10_000), (0.1, 100)] {
        assert_eq!(Histogram::from_pairs(&[(100, needed - 1)]).quantile(q), None, "{q}");
        assert_eq!(Histogram::from_pairs(&[(100, needed)]).quantile(q), Some(100), "{q}");
    }
    let many = Histogram::from_pairs(&[(100, 1_000_000)]);
    for q in [f64::NAN, -1.0, 0.0, 1.0, 2.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE] {
        assert_eq!(many.quantile(q), None, "{q}");
    }
}

/// Sums the counts of all buckets in a type that cannot overflow.
fn total(histogram: &Histogram) -> u128 {
    histogram.pairs().iter().map(|pair| u128::from(pair.1)).sum()
}

#[test]
fn huge_counts_saturate() {
    let max = u64::MAX;
    let mut h = Histogram::from_pairs(&[(10, max), (20, max), (max, max), (0, 1)]);
    assert_eq!((h.count(), h.quantile(0.999)), (max, Some(10)));
    h.merge(&h.clone());
    h.record(5);
    assert_eq!((h.count(), total(&h)), (max, u128::from(max)));
    let mut halves = Histogram::from_pairs(&[(10, max / 2), (20, max / 2)]);
    halves.merge(&Histogram::from_pairs(&[(30, max / 2), (40, max / 2)]));
    assert_eq!((halves.count(), halves.max()), (max, 40));
    assert_eq!(total(&halves), u128::from(max));
    assert!(halves.quantile(0.5).is_some() && halves.mean().is_finite());
}

#[test]
fn file_form() {
    let h = of(&[57, 57, 1_000_003]);
    let text = serde_json::to_string(&h).unwrap();
    assert_eq!(text, r#"{"pairs":[[57,2],[1000003,1]],"sum":1000117,"min":57,"max":1000003}"#);
    assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), h);
}

#[test]
fn contradictory_extremes_are_ignored() {
    let expected = Histogram::from_pairs(&[(1000, 2)]);
    for exact in [
        r#""sum":18446744073709551615,"min":1000,"max":1000"#,
        r#""sum":2000,"min":0,"max":18446744073709551615"#,
        r#""sum":2001,"min":1001,"max":1000"#,
        r#""sum":0,"min":0,"max":0"#,
    ] {
        let text = format!(r#"{{"pairs":[[1000,2]],{exact}}}"#);
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), expected, "{exact}");
    }
    let empty: Histogram = serde_json::from_str(r#"{"pairs":[],"sum":9,"min":3,"max":2}"#).unwrap();
    assert_eq!(empty, Histogram::new());
    // Saturated products must not let a reversed range through.
    let text = r#"{"pairs":[[1000,18446744073709551615]],"sum":18446744073709551615,"min":1001,"max":1000}"#;
    assert_eq!(serde_json::from_str::<Histogram>(text).unwrap().mean(), 1000.0);
}

/// Durations of every magnitude, each decade equally likely.
fn durations(most: usize) -> impl Strategy<Value = Vec<u64>> {
    let one = (0..37u32, any::<u64>())
        .prop_map(|(bits, raw)| (raw & ((1 << bits) - 1)).clamp(1, MAX_VALUE));
    prop::collection::vec(one, 1..most)
}

proptest! {
    #[test]
    fn quantiles_equal_an_exact_sort(mut values in durations(3_000), q in 0.001..0.999f64) {
        let h = of(&values);
        values.sort_unstable();
        for q in [q, 0.5, 0.9, 0.99] {
            let rank = (q * values.len() as f64).ceil() as usize;
            let exact = values[rank - 1] as f64;
            if let Some(found) = h.quantile(q) {
                prop_assert!((found as f64 - exact).abs() <= 0.01 * exact, "{q}: {found}, exactly {exact}");
            } else {
                prop_assert!(values.len() as f64 * q.min(1.0 - q) < MIN_VALUES_BEYOND && q != 0.5);
            }
        }
    }

    #[test]
    fn count_mean_and_ends_are_exact(values in durations(300)) {
        let h = of(&values);
        let sum: u64 = values.iter().sum();
        prop_assert_eq!(h.count(), values.len() as u64);
        prop_assert_eq!(h.mean(), sum as f64 / values.len() as f64);
        prop_assert_eq!(Some(h.min()), values.iter().copied().min());
        prop_assert_eq!(Some(h.max()), values.iter().copied().max());
    }

    #[test]
    fn merging_equals_recording_all(a in durations(60), b in durations(60), c in durations(60)) {
        let all = of(&[a.clone(), b.clone(), c.clone()].concat());
        let (a, b, c) = (of(&a), of(&b), of(&c));
        let mut left = a.clone();
        left.merge(&b);
        left.merge(&c);
        let mut tail = b;
        tail.merge(&c);
        let mut right = a;
        right.merge(&tail);
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(&left, &all);
        left.merge(&Histogram::new());
        prop_assert_eq!(&left, &all);
    }

    #[test]
    fn pairs_and_file_round_trip(values in durations(300), beyond in any::<u64>()) {
        let mut h = of(&values);
        h.record(beyond);
        prop_assert_eq!(Histogram::from_pairs(&h.pairs()).pairs(), h.pairs());
        let text = serde_json::to_string(&h).unwrap();
        prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), h);
    }

    #[test]
    fn any_pairs_are_safe(pairs in prop::collection::vec(any::<(u64, u64)>(), 0..40), q in any::<f64>()) {
        let mut h = Histogram::from_pairs(&pairs);
        h.merge(&Histogram::from_pairs(&pairs));
        prop_assert!(h.mean() >= h.min() as f64 && h.mean() <= h.max() as f64);
        if let Some(value) = h.quantile(q).or(h.quantile(0.5)) {
            prop_assert!(h.min() <= value && value <= h.max());
        }
    }
}
