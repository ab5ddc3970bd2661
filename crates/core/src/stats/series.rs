//! Time series reduced to what a screen or a file can hold, without losing a peak or a total.

/// Reduces points (time, value) to at most two per column: the smallest and the largest value in
/// each of `columns` equal slices of time, in time order. A plot of the result shows every extreme
/// of the full plot.
///
/// Points with a NaN or infinite part are skipped. Points need not be sorted; the result is. 0
/// columns return nothing.
pub fn reduce(points: &[(f64, f64)], columns: usize) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> =
        points.iter().copied().filter(|(at, value)| at.is_finite() && value.is_finite()).collect();
    // Usually already sorted, for which a stable sort takes one pass.
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
        return Vec::new();
    };
    if columns == 0 {
        return Vec::new();
    }
    let (start, span) = (first.0, last.0 - first.0);
    // A span that is 0 or overflows yields NaN or 0: everything falls into the first column.
    let column = |at: f64| (((at - start) / span * columns as f64) as usize).min(columns - 1);
    let mut reduced = Vec::with_capacity(sorted.len().min(columns.saturating_mul(2)));
    for group in sorted.chunk_by(|a, b| column(a.0) == column(b.0)) {
        push_extremes(group, &mut reduced);
    }
    reduced
}

/// Appends the smallest and the largest value of a column, the earlier one first; one point if they
/// are the same.
fn push_extremes(group: &[(f64, f64)], reduced: &mut Vec<(f64, f64)>) {
    let (mut low, mut high) = (0, 0);
    for (index, (_, value)) in group.iter().enumerate() {
        if *value < group[low].1 {
            low = index;
        }
        if *value > group[high].1 {
            high = index;
        }
    }
    reduced.push(group[low.min(high)]);
    if low != high {
        reduced.push(group[low.max(high)]);
    }
}

/// Merges adjacent pairs in place, repeatedly, until at most `most` items are left (0 counts as 1).
///
/// Returns the number of times the list was halved. `merge` gets the earlier item first; if it
/// adds, totals are preserved. A caller that pushes an item and then calls this makes O(1) merges
/// per item on average and never holds more than `most` + 1. Items pushed later are then narrower
/// than the merged ones. For equal widths use an odd `most`, so that no item is left without a
/// neighbour, and merge 2^k items before each push, where k is the sum of all returned values.
pub fn merge_neighbours<T>(items: &mut Vec<T>, most: usize, merge: impl Fn(&T, &T) -> T) -> u32 {
    let mut halvings = 0;
    while items.len() > most.max(1) {
        let pairs = items.len() / 2;
        for pair in 0..pairs {
            items[pair] = merge(&items[2 * pair], &items[2 * pair + 1]);
        }
        if items.len() % 2 == 1 {
            let last = items.len() - 1;
            items.swap(pairs, last);
        }
        items.truncate(items.len().div_ceil(2));
        halvings += 1;
    }
    halvings
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn extremes_keep_their_order_in_time() {
        let points =
            [(0.0, 5.0), (0.1, 9.0), (0.2, 1.0), (0.3, 4.0), (1.0, 2.0), (1.1, 2.0), (2.0, 7.0)];
        assert_eq!(reduce(&points, 2), [(0.1, 9.0), (0.2, 1.0), (1.0, 2.0), (2.0, 7.0)]);
        assert_eq!(reduce(&points, 1), [(0.1, 9.0), (0.2, 1.0)]);
    }

    #[test]
    fn edges_of_reduce() {
        assert_eq!(reduce(&[], 10), []);
        assert_eq!(reduce(&[(1.0, 2.0)], 0), []);
        assert_eq!(reduce(&[(1.0, 2.0)], usize::MAX), [(1.0, 2.0)]);
        assert_eq!(reduce(&[(1.0, 2.0), (1.0, 3.0), (1.0, 4.0)], 5), [(1.0, 2.0), (1.0, 4.0)]);
        assert_eq!(reduce(&[(f64::NAN, 1.0), (2.0, f64::INFINITY), (3.0, 4.0)], 5), [(3.0, 4.0)]);
        assert_eq!(reduce(&[(2.0, 1.0), (1.0, 3.0)], 2), [(1.0, 3.0), (2.0, 1.0)]);
        let wide = [(-f64::MAX, 1.0), (0.0, 2.0), (f64::MAX, 3.0)];
        assert_eq!(reduce(&wide, 3), [(-f64::MAX, 1.0), (f64::MAX, 3.0)]);
    }

    #[test]
    fn neighbours_merge_in_order() {
        let mut items: Vec<String> = "a b c d e".split(' ').map(String::from).collect();
        assert_eq!(merge_neighbours(&mut items, 3, |a, b| format!("{a}{b}")), 1);
        assert_eq!(items, ["ab", "cd", "e"]);
        assert_eq!(merge_neighbours(&mut items, 0, |a, b| format!("{a}{b}")), 2);
        assert_eq!(items, ["abcde"]);
        let mut none: Vec<u8> = Vec::new();
        assert_eq!(merge_neighbours(&mut none, 0, |a, b| a + b), 0);
    }

    #[test]
    fn growing_lists_stay_bounded() {
        let merges = Cell::new(0u64);
        let mut items = Vec::new();
        for _ in 0..100_000u64 {
            items.push(1u64);
            merge_neighbours(&mut items, 120, |a, b| {
                merges.set(merges.get() + 1);
                a + b
            });
            assert!(items.len() <= 120);
        }
        assert_eq!(items.iter().sum::<u64>(), 100_000);
        assert!(merges.get() <= 100_000, "{} merges", merges.get());
    }

    #[test]
    fn halvings_keep_widths_equal() {
        let (mut items, mut width) = (Vec::new(), 1u64);
        for _ in 0..200 {
            items.push(width);
            width <<= merge_neighbours(&mut items, 7, |a, b| a + b);
            assert!(items.iter().all(|&item| item == width), "{items:?}, width {width}");
        }
        assert!(width > 1 << 40 && items.len() >= 4);
    }

    proptest! {
        #[test]
        fn totals_and_extremes_survive_merging(values in prop::collection::vec(0..1_000u64, 0..500), most in 0..150usize) {
            let mut items: Vec<(u64, u64, u64)> = values.iter().map(|&v| (v, v, v)).collect();
            merge_neighbours(&mut items, most, |a, b| (a.0 + b.0, a.1.min(b.1), a.2.max(b.2)));
            prop_assert!(items.len() <= most.max(1));
            prop_assert!(2 * items.len() >= most.min(values.len()));
            prop_assert_eq!(items.iter().map(|i| i.0).sum::<u64>(), values.iter().sum::<u64>());
            prop_assert_eq!(items.iter().map(|i| i.1).min(), values.iter().copied().min());
            prop_assert_eq!(items.iter().map(|i| i.2).max(), values.iter().copied().max());
        }

        #[test]
        fn reduce_keeps_extremes_order_and_bounds(
            points in prop::collection::vec((-1e3..1e3f64, -1e6..1e6f64), 0..400),
            columns in 1..60usize,
        ) {
            let reduced = reduce(&points, columns);
            prop_assert!(reduced.len() <= 2 * columns);
            prop_assert!(reduced.iter().all(|point| points.contains(point)));
            prop_assert!(reduced.is_sorted_by(|a, b| a.0 <= b.0));
            fn extremes(list: &[(f64, f64)]) -> (Option<f64>, Option<f64>) {
                let mut values: Vec<f64> = list.iter().map(|point| point.1).collect();
                values.sort_by(f64::total_cmp);
                (values.first().copied(), values.last().copied())
            }
            prop_assert_eq!(extremes(&reduced), extremes(&points));
        }

        #[test]
        fn reduce_never_panics(points in prop::collection::vec(any::<(f64, f64)>(), 0..60), columns in any::<usize>()) {
            prop_assert!(reduce(&points, columns).len() <= points.len());
        }
    }
}
