//! Axes: their scale, the range that fits the data, and the choice of ticks.

use crate::analysis;
use crate::units::ticks;

/// How values spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    #[default]
    Linear,
    /// Ticks at powers of two: block sizes, threads, depth.
    Log2,
    /// Ticks at powers of ten: times.
    Log10,
}

impl Scale {
    /// Returns the scale on which jobs are drawn over this axis.
    pub fn along(axis: analysis::Axis) -> Scale {
        if axis.is_log() { Scale::Log2 } else { Scale::Linear }
    }

    /// The largest value that is drawn; the difference of two such values is still finite.
    const HUGE: f64 = 1e300;

    /// Returns a value where the scale is even. NaN for a negative value on a logarithmic scale,
    /// -inf for 0.
    pub(super) fn forward(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value.clamp(-Self::HUGE, Self::HUGE),
            Scale::Log2 => value.log2(),
            Scale::Log10 => value.log10(),
        }
    }

    pub(super) fn back(self, even: f64) -> f64 {
        match self {
            Scale::Linear => even,
            Scale::Log2 => even.exp2(),
            Scale::Log10 => 10f64.powf(even),
        }
    }
}

/// Which numbers count as round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Step {
    /// 1, 2, 5, 10 ..
    #[default]
    Decimal,
    /// Seconds: 1, 2, 5, 10, 15, 30, 60 ..
    Time,
}

/// One axis of a chart.
#[derive(Clone, Copy)]
pub struct Axis<'a> {
    pub scale: Scale,
    /// None: fitted to the data.
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// Formats a tick.
    pub show: &'a dyn Fn(f64) -> String,
    /// "" for none.
    pub title: &'a str,
    pub step: Step,
    /// The unit in which steps are round: 1048576 for bytes in MiB.
    pub unit: f64,
    /// A fitted linear axis does not need to begin at 0.
    pub loose: bool,
}

impl<'a> Axis<'a> {
    /// Returns an axis fitted to the data.
    pub fn new(scale: Scale, show: &'a dyn Fn(f64) -> String) -> Axis<'a> {
        Axis {
            scale,
            min: None,
            max: None,
            show,
            title: "",
            step: Step::Decimal,
            unit: 1.0,
            loose: false,
        }
    }

    pub fn title(self, title: &'a str) -> Axis<'a> {
        Axis { title, ..self }
    }

    /// Sets fixed ends.
    pub fn between(self, min: f64, max: f64) -> Axis<'a> {
        Axis { min: Some(min), max: Some(max), ..self }
    }

    /// Sets the unit in which ticks are round.
    pub fn round_in(self, unit: f64) -> Axis<'a> {
        Axis { unit, ..self }
    }

    /// Ticks that are round in seconds, minutes and hours; values in seconds.
    pub fn time(self) -> Axis<'a> {
        Axis { step: Step::Time, ..self }
    }

    /// Lets the axis begin elsewhere than at 0.
    pub fn loose(self) -> Axis<'a> {
        Axis { loose: true, ..self }
    }

    /// Returns the smallest step of at least `least` that is round on this axis, if any.
    pub(super) fn step(&self, least: f64) -> Option<f64> {
        let step = match self.step {
            Step::Decimal => ticks::step(least / self.unit),
            Step::Time => ticks::time_step(least / self.unit),
        };
        step.map(|step| step * self.unit).filter(|step| step.is_finite())
    }
}

/// Returns a round end, in multiples of `unit`, for an axis up to `value` (> 0); it is at most a
/// third above `value`.
pub fn round_end(value: f64, unit: f64) -> f64 {
    const STEPS: [f64; 11] = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let power = 10f64.powf((value / unit).log10().floor()) * unit;
    let enough = value * (1.0 - 1e-9);
    // Where the power underflows or is infinite no step fits: the value itself is as round as it
    // gets.
    STEPS
        .iter()
        .map(|step| step * power)
        .find(|end| *end >= enough && end.is_finite())
        .unwrap_or(value)
}

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
            let beyond = |end: f64| if end > 0.0 { round_end(end * 1.02, axis.unit) } else { 0.0 };
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

/// Returns the densest round values within `range` that fit, at most `most`; its two ends if no
/// round value fits.
pub(super) fn choose_ticks(
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
    ticks::densest(lo, hi, most, &step, &mut is_good).unwrap_or_else(|| vec![lo, hi])
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
    let values = choose_ticks(range, axis, most, &mut |values| {
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
        return choose_ticks(range, axis, most, fits);
    }
    let (first, last) = (near_ceil(range.lo), near_floor(range.hi));
    let span = last - first;
    if span < 2 {
        return choose_ticks(range, axis, most, fits);
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
        return choose_ticks(range, axis, most, fits);
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
    ticks::within_decades(lo / unit, hi / unit, &[1.0, 2.0, 5.0])
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
    use proptest::prelude::*;

    #[test]
    fn steps_are_round() {
        let axis = Axis::new(Scale::Linear, &|_| String::new());
        assert_eq!([1.0, 3.0, 70.0].map(|least| axis.step(least).unwrap()), [1.0, 5.0, 100.0]);
        assert_eq!(
            [1.0, 3000.0, 3e6].map(|least| axis.round_in(1024.0).step(least).unwrap() / 1024.0),
            [0.001, 5.0, 5000.0]
        );
        assert_eq!(
            [11.0, 40.0, 100_000.0].map(|least| axis.time().step(least).unwrap()),
            [15.0, 60.0, 172_800.0]
        );
    }

    #[test]
    fn ends_are_close_above() {
        for value in [1e-300, 1e-9, 0.7, 1.0, 1.01, 9.99, 1e9, 1e299] {
            for unit in [1.0, 1e3, 1_048_576.0] {
                let end = round_end(value, unit);
                assert!(end >= value * 0.999 && end <= value * 1.34, "{unit} {value} {end}");
            }
        }
        assert_eq!(round_end(5e-324, 1.0), 5e-324);
    }

    fn text(value: f64) -> String {
        value.to_string()
    }

    #[test]
    fn linear_axes_begin_at_0() {
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
    fn requested_ends_are_kept() {
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
        fn any_data_has_a_range(
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

    fn range(scale: Scale, lo: f64, hi: f64) -> Range {
        Range { scale, lo: scale.forward(lo), hi: scale.forward(hi) }
    }

    fn axis() -> Axis<'static> {
        Axis::new(Scale::Linear, &|_| String::new())
    }

    fn all(scale: Scale, lo: f64, hi: f64, axis: Axis, most: usize) -> Vec<f64> {
        choose_ticks(&range(scale, lo, hi), &axis, most, &mut |_| true)
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
    fn logarithmic_axes_label_both_ends() {
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
