//! The choice of tick values of an axis.

use super::axis::{Axis, Scale};
use super::range::Range;
use crate::units;

/// Returns the densest round values within `range` that fit, at most `most`; its two ends if there
/// are none.
pub(super) fn ticks(
    range: &Range,
    axis: &Axis,
    most: usize,
    fits: &mut dyn FnMut(&[f64]) -> bool,
) -> Vec<f64> {
    let mut is_good = |values: &[f64]| (2..=most.max(2)).contains(&values.len()) && fits(values);
    if range.scale == Scale::Log10 {
        let values = within_decades(range, axis.unit);
        if is_good(&values) {
            return values;
        }
    }
    if range.scale != Scale::Linear {
        let strides: &[i64] = if range.scale == Scale::Log2 {
            &[1, 2, 5, 10, 20, 50, 100, 200, 500]
        } else {
            &[1, 3, 6, 12, 30, 60, 150]
        };
        for stride in strides {
            let values = powers(range, axis.unit, *stride);
            if is_good(&values) {
                return values;
            }
        }
    }
    let (lo, hi) = range.ends();
    let step = |least: f64| axis.step(least);
    units::ticks::densest(lo, hi, most, &step, &mut is_good).unwrap_or_else(|| vec![lo, hi])
}

/// Returns the rows of the ticks of a vertical axis with their texts; the highest has the unit, if
/// there is one. `row_of`: where on the screen a value is, in this height.
pub(super) fn row_labels(
    range: &Range,
    axis: &Axis,
    unit: &str,
    height: u16,
    row_of: &dyn Fn(f64) -> u16,
) -> Vec<(u16, String)> {
    let labels = |values: &[f64]| -> Vec<(u16, String)> {
        values.iter().map(|value| (row_of(*value), (axis.show)(*value))).collect()
    };
    let most = usize::from(height).div_ceil(2).clamp(2, 6);
    let values = ticks(range, axis, most, &mut |values| {
        labels(values).windows(2).all(|pair| pair[0].0 != pair[1].0 && pair[0].1 != pair[1].1)
    });
    let mut rows = labels(&values);
    rows.dedup_by(|a, b| a.0 == b.0);
    if let Some((_, text)) = rows.last_mut().filter(|_| !unit.is_empty()) {
        *text = match unit.strip_prefix("per ") {
            Some(unit) => format!("{text}/{unit}"),
            None => format!("{text} {unit}"),
        };
    }
    rows
}

/// Returns the ticks below a logarithmic axis: every k-th power from the first to the last, both
/// ends included.
pub(super) fn ticks_between_ends(
    range: &Range,
    axis: &Axis,
    most: usize,
    fits: &mut dyn FnMut(&[f64]) -> bool,
) -> Vec<f64> {
    if range.scale == Scale::Linear {
        return ticks(range, axis, most, fits);
    }
    let (first, last) = (near_ceil(range.lo), near_floor(range.hi));
    let span = last - first;
    if span < 2 {
        return ticks(range, axis, most, fits);
    }
    let mut spread = |stride: i64| -> Option<Vec<f64>> {
        let mut exponents: Vec<i64> = (first..=last).step_by(stride as usize).collect();
        if span % stride != 0 {
            if exponents.len() > 1 {
                exponents.pop();
            }
            exponents.push(last);
        }
        let values: Vec<f64> = exponents.into_iter().map(|e| range.scale.back(e as f64)).collect();
        fits(&values).then_some(values)
    };
    let least = (span / most.max(1) as i64).max(1);
    let Some((stride, values)) = (least..=span).find_map(|stride| Some((stride, spread(stride)?)))
    else {
        return ticks(range, axis, most, fits);
    };
    // An even spread is worth a few labels.
    let even = (stride..=stride * 2).find(|s| span % s == 0);
    even.filter(|s| *s != stride).and_then(spread).unwrap_or(values)
}

/// Returns 1, 2 and 5 times the powers of ten of a unit; nothing where these would be many.
fn within_decades(range: &Range, unit: f64) -> Vec<f64> {
    if range.hi - range.lo > 4.0 {
        return Vec::new();
    }
    let (lo, hi) = range.ends();
    units::ticks::within_decades(lo / unit, hi / unit, &[1.0, 2.0, 5.0])
        .into_iter()
        .map(|value| value * unit)
        .collect()
}

/// Returns every power of a unit whose exponent is a multiple of `stride`.
fn powers(range: &Range, unit: f64, stride: i64) -> Vec<f64> {
    let one = range.scale.forward(unit);
    let (lo, hi) = (near_ceil(range.lo - one), near_floor(range.hi - one));
    let first = lo.div_euclid(stride) * stride;
    let exponents = (first..=hi).step_by(stride as usize).filter(|exponent| *exponent >= lo);
    exponents.map(|exponent| range.scale.back(exponent as f64) * unit).collect()
}

fn near_ceil(value: f64) -> i64 {
    (value - 1e-9).ceil() as i64
}

fn near_floor(value: f64) -> i64 {
    (value + 1e-9).floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(scale: Scale, lo: f64, hi: f64) -> Range {
        Range { scale, lo: scale.forward(lo), hi: scale.forward(hi) }
    }

    fn axis() -> Axis<'static> {
        Axis::new(Scale::Linear, &|_| String::new())
    }

    fn all(scale: Scale, lo: f64, hi: f64, axis: Axis, most: usize) -> Vec<f64> {
        ticks(&range(scale, lo, hi), &axis, most, &mut |_| true)
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(all(Scale::Linear, 0.0, 10.0, axis(), 6), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(all(Scale::Linear, 0.0, 12.0, axis(), 5), [0.0, 5.0, 10.0]);
        assert_eq!(
            all(Scale::Linear, 0.0, 12_288.0, axis().round_in(1024.0), 5),
            [0.0, 5120.0, 10_240.0]
        );
        assert_eq!(
            all(Scale::Linear, -60.0, 0.0, axis().time(), 5),
            [-60.0, -45.0, -30.0, -15.0, 0.0]
        );
        assert_eq!(all(Scale::Linear, 0.61, 0.79, axis(), 2), [0.61, 0.79]);
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        assert_eq!(
            all(Scale::Log2, 4096.0, 65536.0, axis(), 6),
            [4096.0, 8192.0, 16384.0, 32768.0, 65536.0]
        );
        assert_eq!(all(Scale::Log2, 1.0, 1048576.0, axis(), 4), [1.0, 1024.0, 1048576.0]);
        assert_eq!(all(Scale::Log10, 1.0, 20.0, axis(), 6), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(
            all(Scale::Log10, 1024.0, 20_480.0, axis().round_in(1024.0), 6),
            [1024.0, 2048.0, 5120.0, 10_240.0, 20_480.0]
        );
        assert_eq!(all(Scale::Log10, 1e-9, 1.0, axis(), 4).len(), 4);
        assert_eq!(all(Scale::Log2, 10.0, 14.0, axis(), 6), [10.0, 11.0, 12.0, 13.0, 14.0]);
    }

    #[test]
    fn both_ends_of_a_logarithmic_axis_are_written() {
        fn least(stride: f64) -> impl Fn(&[f64]) -> bool {
            move |values: &[f64]| values.windows(2).all(|pair| (pair[1] / pair[0]).log2() >= stride)
        }
        let range = range(Scale::Log2, 4096.0, 1048576.0);
        let values = ticks_between_ends(&range, &axis(), 50, &mut least(1.5));
        assert_eq!(
            values.iter().map(|v| v.log2()).collect::<Vec<_>>(),
            [12.0, 14.0, 16.0, 18.0, 20.0]
        );
        let values = ticks_between_ends(&range, &axis(), 50, &mut least(3.0));
        assert_eq!(values.iter().map(|v| v.log2()).collect::<Vec<_>>(), [12.0, 16.0, 20.0]);
    }
}
