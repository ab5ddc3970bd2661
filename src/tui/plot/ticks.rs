//! Which values of an axis are written beside it.

use super::axis::{Scale, Step};
use super::range::Range;
use crate::units;

/// The densest round values within `range`, at most `most`, that `fits`; its two ends if there are no such.
pub(super) fn ticks(range: &Range, step: Step, most: usize, fits: &mut dyn FnMut(&[f64]) -> bool) -> Vec<f64> {
    let mut good = |values: &[f64]| (2..=most.max(2)).contains(&values.len()) && fits(values);
    if range.scale == Scale::Log10 {
        let values = within_decades(range);
        if good(&values) {
            return values;
        }
    }
    if range.scale != Scale::Linear {
        let strides: &[i64] = if range.scale == Scale::Log2 { &[1, 2, 5, 10, 20, 50, 100, 200, 500] } else { &[1, 3, 6, 12, 30, 60, 150] };
        for stride in strides {
            let values = powers(range, *stride);
            if good(&values) {
                return values;
            }
        }
    }
    let (lo, hi) = range.ends();
    linear(lo, hi, step, most, &mut good).unwrap_or_else(|| vec![lo, hi])
}

/// Ticks below a logarithmic axis: every k-th power from the first to the last, so that both ends are written.
pub(super) fn ticks_between_ends(range: &Range, step: Step, most: usize, fits: &mut dyn FnMut(&[f64]) -> bool) -> Vec<f64> {
    if range.scale == Scale::Linear {
        return ticks(range, step, most, fits);
    }
    let (first, last) = (near_ceil(range.lo), near_floor(range.hi));
    let whole = last - first;
    if whole < 2 {
        return ticks(range, step, most, fits);
    }
    let mut spread = |stride: i64| -> Option<Vec<f64>> {
        let mut exponents: Vec<i64> = (first..=last).step_by(stride as usize).collect();
        if whole % stride != 0 {
            if exponents.len() > 1 {
                exponents.pop();
            }
            exponents.push(last);
        }
        let values: Vec<f64> = exponents.into_iter().map(|e| range.scale.back(e as f64)).collect();
        fits(&values).then_some(values)
    };
    let least = (whole / most.max(1) as i64).max(1);
    let Some((stride, values)) = (least..=whole).find_map(|stride| Some((stride, spread(stride)?))) else {
        return ticks(range, step, most, fits);
    };
    // An even spread is worth a few labels.
    let even = (stride..=stride * 2).find(|s| whole % s == 0);
    even.filter(|s| *s != stride).and_then(spread).unwrap_or(values)
}

/// Multiples of the densest round step.
fn linear(lo: f64, hi: f64, step: Step, most: usize, good: &mut dyn FnMut(&[f64]) -> bool) -> Option<Vec<f64>> {
    let mut stride = step.at_least((hi - lo) / most.max(2) as f64);
    for _ in 0..24 {
        if !(stride.is_finite() && stride > 0.0) {
            return None;
        }
        let first = (lo / stride - 1e-6).ceil();
        // + 0.0 makes 0 of -0.
        let values: Vec<f64> =
            (0..=most + 1).map(|i| (first + i as f64) * stride + 0.0).take_while(|value| *value <= hi + stride * 1e-6).collect();
        if values.len() < 2 {
            return None;
        }
        if good(&values) {
            return Some(values);
        }
        stride = step.at_least(stride * 1.01);
    }
    None
}

/// 1, 2, 5 times the powers of ten; nothing where that would be many.
fn within_decades(range: &Range) -> Vec<f64> {
    if range.hi - range.lo > 4.0 {
        return Vec::new();
    }
    units::ticks::within_decades(range.scale.back(range.lo), range.scale.back(range.hi), &[1.0, 2.0, 5.0])
}

/// Every power whose exponent is a multiple of `stride`.
fn powers(range: &Range, stride: i64) -> Vec<f64> {
    let first = near_ceil(range.lo).div_euclid(stride) * stride;
    let exponents = (first..=near_floor(range.hi)).step_by(stride as usize).filter(|e| *e >= near_ceil(range.lo));
    exponents.map(|e| range.scale.back(e as f64)).collect()
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

    fn all(scale: Scale, lo: f64, hi: f64, step: Step, most: usize) -> Vec<f64> {
        ticks(&range(scale, lo, hi), step, most, &mut |_| true)
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(all(Scale::Linear, 0.0, 10.0, Step::Decimal, 6), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(all(Scale::Linear, 0.0, 12.0, Step::Decimal, 5), [0.0, 5.0, 10.0]);
        assert_eq!(all(Scale::Linear, 0.0, 12.0, Step::Binary, 5), [0.0, 4.0, 8.0, 12.0]);
        assert_eq!(all(Scale::Linear, -60.0, 0.0, Step::Time, 5), [-60.0, -45.0, -30.0, -15.0, 0.0]);
        assert_eq!(all(Scale::Linear, 0.6, 0.9, Step::Binary, 2), [0.6, 0.9]);
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        assert_eq!(all(Scale::Log2, 4096.0, 65536.0, Step::Decimal, 6), [4096.0, 8192.0, 16384.0, 32768.0, 65536.0]);
        assert_eq!(all(Scale::Log2, 1.0, 1048576.0, Step::Decimal, 4), [1.0, 1024.0, 1048576.0]);
        assert_eq!(all(Scale::Log10, 1.0, 20.0, Step::Decimal, 6), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(all(Scale::Log10, 1e-9, 1.0, Step::Decimal, 4).len(), 4);
        assert_eq!(all(Scale::Log2, 10.0, 14.0, Step::Decimal, 6), [10.0, 11.0, 12.0, 13.0, 14.0]);
    }

    #[test]
    fn both_ends_of_a_logarithmic_axis_are_written() {
        let least = |stride: f64| move |values: &[f64]| values.windows(2).all(|pair| (pair[1] / pair[0]).log2() >= stride);
        let range = range(Scale::Log2, 4096.0, 1048576.0);
        let values = ticks_between_ends(&range, Step::Decimal, 50, &mut least(1.5));
        assert_eq!(values.iter().map(|v| v.log2()).collect::<Vec<_>>(), [12.0, 14.0, 16.0, 18.0, 20.0]);
        let values = ticks_between_ends(&range, Step::Decimal, 50, &mut least(3.0));
        assert_eq!(values.iter().map(|v| v.log2()).collect::<Vec<_>>(), [12.0, 16.0, 20.0]);
    }
}
