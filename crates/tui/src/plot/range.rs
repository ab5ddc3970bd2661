//! Maps values to positions along an axis.

use super::axis::{Axis, Scale};

/// The two ends of an axis in scaled (logarithmic or linear) values. Always finite, `lo < hi`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub scale: Scale,
    pub lo: f64,
    pub hi: f64,
}

impl Range {
    /// Returns the position of a value: 0 at the low end, 1 at the high end. NaN stays NaN.
    pub fn share(&self, value: f64) -> f64 {
        // A value far outside is treated as infinite, but remains computable.
        ((self.scale.forward(value) - self.lo) / (self.hi - self.lo)).clamp(-1e6, 1e6)
    }

    pub fn value(&self, share: f64) -> f64 {
        self.scale.back(self.lo + share * (self.hi - self.lo))
    }

    pub fn ends(&self) -> (f64, f64) {
        // + 0.0 makes 0 of -0.
        (self.scale.back(self.lo) + 0.0, self.scale.back(self.hi) + 0.0)
    }
}

/// Returns the smallest and the largest of the values that the scale can show, where it is even.
pub(super) fn extremes(scale: Scale, values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let shown =
        values.filter(|v| v.is_finite()).map(|v| scale.forward(v)).filter(|even| even.is_finite());
    shown.fold(None, |ends, even| match ends {
        None => Some((even, even)),
        Some((lo, hi)) => Some((f64::min(lo, even), f64::max(hi, even))),
    })
}

/// Fits a horizontal axis, which ends exactly where its data end.
pub(super) fn fit_x(axis: &Axis, data: Option<(f64, f64)>) -> Range {
    let (mut lo, mut hi) = data.unwrap_or((0.0, 1.0));
    if axis.scale == Scale::Linear && !axis.loose {
        (lo, hi) = (lo.min(0.0), hi.max(0.0));
    }
    apply_limits(axis, lo, hi)
}

/// Fits a vertical axis, which ends at a round number a little beyond its data.
pub(super) fn fit_y(axis: &Axis, data: Option<(f64, f64)>) -> Range {
    let Some((lo, hi)) = data else {
        return apply_limits(axis, 0.0, 1.0);
    };
    let (lo, hi) = match (axis.scale, axis.loose) {
        (Scale::Linear, false) => {
            let beyond = |end: f64| if end > 0.0 { axis.end_above(end * 1.02) } else { 0.0 };
            (-beyond(-lo), beyond(hi))
        }
        (Scale::Linear, true) if hi > lo => {
            let room = (hi - lo) * 0.04;
            let fine = axis.step((hi - lo) / 10.0).unwrap_or(hi - lo);
            let low = ((lo - room) / fine).floor() * fine;
            (if lo >= 0.0 { low.max(0.0) } else { low }, ((hi + room) / fine).ceil() * fine)
        }
        (Scale::Linear, true) => (lo, hi),
        // Quarters of an octave or a decade: whole ones would leave much of a low chart empty.
        _ => (((lo - 0.04) * 4.0).floor() / 4.0, ((hi + 0.04) * 4.0).ceil() / 4.0),
    };
    apply_limits(axis, lo, hi)
}

/// Applies the requested ends to the fitted ones; the result is always a valid range.
fn apply_limits(axis: &Axis, lo: f64, hi: f64) -> Range {
    let limit =
        |end: Option<f64>| end.map(|v| axis.scale.forward(v)).filter(|even| even.is_finite());
    let (min, max) = (limit(axis.min), limit(axis.max));
    let (mut lo, mut hi) =
        (axis.scale.clamp_end(min.unwrap_or(lo)), axis.scale.clamp_end(max.unwrap_or(hi)));
    if lo > hi && min.is_some() && max.is_some() {
        (lo, hi) = (hi, lo);
    }
    let room = match axis.scale {
        Scale::Linear if lo == 0.0 && hi == 0.0 => 1.0,
        Scale::Linear => lo.abs().max(hi.abs()) * 0.05,
        _ => 0.5,
    };
    // Also if the difference is lost in rounding: ticks would look the same.
    if hi.partial_cmp(&(lo + room * 1e-9)) != Some(std::cmp::Ordering::Greater) {
        let (low, high) = (lo.min(hi), lo.max(hi));
        (lo, hi) = match (min, max) {
            (Some(min), None) => (min, min + room),
            (None, Some(max)) => (max - room, max),
            _ if axis.scale == Scale::Linear && low == 0.0 => (0.0, high.max(0.0) + room),
            _ => (low - room, high + room),
        };
    }
    // Nothing is left of the room where the values are the smallest that exist.
    if hi <= lo {
        Range { scale: axis.scale, lo, hi: lo + 1.0 }
    } else {
        Range { scale: axis.scale, lo, hi }
    }
}

impl Scale {
    /// Clamps a scaled end of an axis so that sums of ends stay finite.
    fn clamp_end(self, even: f64) -> f64 {
        match self {
            Scale::Linear => self.forward(even),
            _ => even.clamp(-1e4, 1e4),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(value: f64) -> String {
        value.to_string()
    }

    #[test]
    fn a_linear_axis_begins_at_0_and_ends_round() {
        let axis = Axis::new(Scale::Linear, &text);
        assert_eq!(fit_y(&axis, Some((3.0, 9.0))).ends(), (0.0, 10.0));
        assert_eq!(fit_y(&axis, Some((-3.0, 9.0))).ends(), (-4.0, 10.0));
        assert_eq!(fit_y(&axis.round_in(1024.0), Some((3.0, 9000.0))).ends(), (0.0, 10_240.0));
        assert_eq!(fit_x(&axis, Some((-30.0, 0.0))).ends(), (-30.0, 0.0));
        assert_eq!(fit_y(&axis.loose(), Some((103.0, 109.0))).ends(), (102.0, 110.0));
        assert_eq!(fit_y(&axis, None).ends(), (0.0, 1.0));
        assert_eq!(fit_y(&axis, Some((0.0, 0.0))).ends(), (0.0, 1.0));
    }

    #[test]
    fn ends_that_were_asked_for_are_kept() {
        let axis = Axis::new(Scale::Log2, &text).between(4096.0, 1048576.0);
        assert_eq!(fit_x(&axis, Some((1.0, 2.0))).ends(), (4096.0, 1048576.0));
        assert_eq!(
            fit_x(&Axis::new(Scale::Linear, &text).between(5.0, 1.0), None).ends(),
            (1.0, 5.0)
        );
        let only_low = Axis { min: Some(10.0), ..Axis::new(Scale::Linear, &text) };
        assert_eq!(fit_y(&only_low, Some((1.0, 2.0))).ends(), (10.0, 10.5));
    }

    proptest! {
        #[test]
        fn any_data_make_a_range(
            data: Option<(f64, f64)>, min: Option<f64>, max: Option<f64>, loose: bool, scale in 0..3usize, time: bool,
            unit in prop::sample::select(vec![1.0, 1e3, 1_048_576.0]),
        ) {
            let scale = [Scale::Linear, Scale::Log2, Scale::Log10][scale];
            let step = if time { crate::plot::Step::Time } else { crate::plot::Step::Decimal };
            let axis = Axis { min, max, loose, step, unit, ..Axis::new(scale, &text) };
            let data = data.and_then(|(a, b)| extremes(scale, [a, b].into_iter()));
            for range in [fit_x(&axis, data), fit_y(&axis, data)] {
                prop_assert!(range.lo < range.hi && (range.hi - range.lo).is_finite(), "{:?}", range);
                prop_assert!(range.share(range.value(0.5)).is_finite());
            }
        }
    }
}
