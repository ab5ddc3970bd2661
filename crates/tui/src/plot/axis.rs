//! The settings of an axis: its scale, its ends, its tick labels.

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
    /// How a tick is written.
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

    /// Returns the smallest step of at least `least` that is round on this axis; `None` if there is
    /// none.
    pub(super) fn step(&self, least: f64) -> Option<f64> {
        let step = match self.step {
            Step::Decimal => ticks::step(least / self.unit),
            Step::Time => ticks::time_step(least / self.unit),
        };
        step.map(|step| step * self.unit).filter(|step| step.is_finite())
    }

    /// Returns a round end of the axis that holds `value` (> 0), at most a third above it.
    pub(super) fn end_above(&self, value: f64) -> f64 {
        round_end(value, self.unit)
    }
}

/// Returns the end of an axis that holds `value` (> 0): round in a unit of `unit`, at most a third
/// above it.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
