//! The value axis of curves: ticks are short, and their common unit is shown once above them.

use super::curves::Metric;
use super::plot::{Axis, Scale};
use crate::units::column::Unit;
use crate::units::{Rates, column, ticks};

/// The format of the values of a metric along an axis.
#[derive(Debug, Clone, Copy)]
pub struct Values {
    metric: Metric,
    log: bool,
    factor: f64,
    unit: &'static str,
    rates: Rates,
}

impl Values {
    /// Chooses one unit for `values`; `log`: the axis is logarithmic.
    pub fn new(
        metric: Metric,
        log: bool,
        rates: Rates,
        values: impl IntoIterator<Item = f64>,
    ) -> Values {
        let shown = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = shown
            .fold((f64::INFINITY, 0.0), |(low, high), value| (value.min(low), value.max(high)));
        let units = metric.units(rates);
        let (factor, unit) =
            if log { column::unit([low, high], units) } else { column::unit_for(high, units) };
        Values { metric, log, factor, unit, rates }
    }

    /// Returns whether each tick has its own unit: decades of times and call rates are round in
    /// every unit, and so are powers of two of bytes.
    pub fn has_unit_per_tick(&self) -> bool {
        self.log && (self.metric != Metric::Throughput || self.metric.units(self.rates).len() > 1)
    }

    /// Returns whether the unit is a power of two, so that steps along a logarithmic axis are too.
    fn is_binary(&self) -> bool {
        self.metric == Metric::Throughput
            && (self.metric.units(self.rates).len() > 1
                || (self.factor >= 1024.0 && self.factor.log2().fract() == 0.0))
    }

    /// Returns the unit of all ticks; `None` if each names its own.
    pub fn unit(&self) -> Option<Unit> {
        (!self.has_unit_per_tick()).then_some((self.factor, self.unit))
    }

    pub fn tick(&self, y: f64) -> String {
        if self.has_unit_per_tick() && self.metric == Metric::Throughput {
            brief(&self.metric.show(y, self.rates)).replace("/s", "")
        } else if self.has_unit_per_tick() {
            brief(&self.metric.show(y, self.rates))
        } else {
            ticks::label(y / self.factor)
        }
    }

    /// Returns the axis; `tick` is [`Values::tick`] of this.
    pub fn axis<'a>(&self, tick: &'a dyn Fn(f64) -> String) -> Axis<'a> {
        let scale = match (self.log, self.is_binary()) {
            (false, _) => Scale::Linear,
            (true, true) => Scale::Log2,
            (true, false) => Scale::Log10,
        };
        if self.has_unit_per_tick() {
            let title = if self.metric == Metric::Throughput { "per s" } else { "" };
            Axis::new(scale, tick).title(title)
        } else {
            Axis::new(scale, tick).round_in(self.factor).title(self.unit)
        }
    }
}

/// Returns `5 µs`, `100 k/s`: the number without decimals that are 0.
fn brief(shown: &str) -> String {
    let (number, unit) = shown.split_once(' ').map_or((shown, ""), |(number, unit)| (number, unit));
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    format!("{number} {unit}").trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = 1_073_741_824.0;

    fn ticks(metric: Metric, log: bool, unit: &str, values: &[f64], at: &[f64]) -> Vec<String> {
        let values = Values::new(metric, log, unit.parse().unwrap(), values.iter().copied());
        at.iter().map(|y| values.tick(*y)).collect()
    }

    #[test]
    fn axes_show_their_unit_once() {
        let ends = [0.5 * GIB, 9.0 * GIB];
        assert_eq!(
            ticks(Metric::Throughput, false, "auto", &ends, &[0.0, 2.5 * GIB, 8.0 * GIB]),
            ["0", "2.5", "8"]
        );
        assert_eq!(
            ticks(Metric::Throughput, true, "auto", &ends, &[0.5 * GIB, 2.0 * GIB]),
            ["512 MiB", "2 GiB"]
        );
        assert_eq!(ticks(Metric::Operations, false, "auto", &[112_000.0], &[50_000.0]), ["50"]);
        assert_eq!(ticks(Metric::Throughput, false, "MB/s", &ends, &[0.0, 5e9]), ["0", "5,000"]);
        // Down to what is read at all.
        assert_eq!(
            ticks(
                Metric::Throughput,
                true,
                "auto",
                &[GIB / 1024.0, 9.0 * GIB],
                &[GIB / 512.0, 2.0 * GIB]
            ),
            ["2 MiB", "2 GiB"]
        );
    }

    #[test]
    fn steps_are_round_in_the_unit() {
        let scale = |metric, log, unit: &str| {
            let values = Values::new(metric, log, unit.parse().unwrap(), [GIB, 9.0 * GIB]);
            values.axis(&|_| String::new()).scale
        };
        assert_eq!(scale(Metric::Throughput, true, "auto"), Scale::Log2);
        assert_eq!(scale(Metric::Throughput, true, "MiB/s"), Scale::Log2);
        assert_eq!(scale(Metric::Throughput, true, "MB/s"), Scale::Log10);
        assert_eq!(scale(Metric::Operations, true, "auto"), Scale::Log10);
        assert_eq!(scale(Metric::Throughput, false, "auto"), Scale::Linear);
        assert_eq!(
            ticks(Metric::Throughput, true, "MiB/s", &[GIB], &[GIB / 4.0, GIB]),
            ["256", "1,024"]
        );
    }

    #[test]
    fn decades_have_their_own_units() {
        assert_eq!(
            ticks(Metric::Latency, true, "auto", &[1e3, 5e6], &[5e3, 1e6]),
            ["5 µs", "1 ms"]
        );
        assert_eq!(ticks(Metric::Operations, true, "MB/s", &[1e3, 5e6], &[1e5]), ["100 k/s"]);
    }
}
