//! The axis of values under curves: its ticks are short, and what they share stands once above them.

use super::curves::Metric;
use super::plot::{Axis, Scale};
use crate::units::column;

/// How the values of a metric are written along an axis.
#[derive(Debug, Clone, Copy)]
pub struct Values {
    metric: Metric,
    log: bool,
    factor: f64,
    unit: &'static str,
}

impl Values {
    /// For values up to `largest`; `log`: on a logarithmic axis, where each tick keeps its own unit.
    pub fn of(metric: Metric, log: bool, largest: f64) -> Values {
        let (factor, unit) = column::unit([largest], metric.units());
        Values { metric, log, factor, unit }
    }

    pub fn tick(&self, y: f64) -> String {
        if self.log { brief(&self.metric.show(y)) } else { trimmed(&column::figure(y / self.factor)) }
    }

    /// The axis; `tick` is [`Values::tick`] of this.
    pub fn axis<'a>(&self, tick: &'a dyn Fn(f64) -> String) -> Axis<'a> {
        match (self.log, self.metric) {
            (true, Metric::Throughput) => Axis::new(Scale::Log2, tick),
            (true, _) => Axis::new(Scale::Log10, tick),
            (false, Metric::Throughput) => Axis::new(Scale::Linear, tick).binary().title(self.unit),
            (false, _) => Axis::new(Scale::Linear, tick).title(self.unit),
        }
    }
}

/// Without decimals that are 0.
fn trimmed(number: &str) -> String {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').into() } else { number.into() }
}

/// `512 MiB/s`, `1 GiB/s`: the number without decimals that are 0.
fn brief(shown: &str) -> String {
    match shown.split_once(' ') {
        Some((number, unit)) => format!("{} {unit}", trimmed(number)),
        None => trimmed(shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_says_its_unit_once_and_a_logarithmic_one_at_each_tick() {
        let gib = f64::from(1 << 30);
        assert_eq!([0.0, 2.5 * gib, 8.0 * gib].map(|y| Values::of(Metric::Throughput, false, 9.0 * gib).tick(y)), ["0", "2.5", "8"]);
        assert_eq!(Values::of(Metric::Throughput, true, 9.0 * gib).tick(0.5 * gib), "512 MiB/s");
    }
}
