//! The ends of an axis, the place of a value between them, and its ticks.

use std::rc::Rc;
use std::time::Duration;

use crate::report::Spread;
use crate::units::column::{self, Unit};
use crate::units::{show_wait, ticks};

/// An interval that reaches further than this beyond the values is cut: it would flatten them.
const MAX_INTERVAL_REACH: f64 = 1.5;
/// Smallest value whose label is too long to read: 100,000 ns.
const MIN_LONG_LABEL: f64 = 1e5;
/// Labels on a vertical axis.
const MAX_TICKS: usize = 7;

/// The axis of the values.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueScale {
    pub low: f64,
    pub high: f64,
    pub log: bool,
    pub unit: &'static str,
    /// Round values in that unit, each with its label.
    pub ticks: Vec<(f64, String)>,
    /// Lines between them without a label.
    pub minor: Vec<f64>,
}

impl ValueScale {
    /// Returns an axis that holds these values, in a single unit; `None` without values.
    pub fn for_values(
        values: impl IntoIterator<Item = ValueSpan>,
        spread: Spread,
        units: &[Unit],
    ) -> Option<ValueScale> {
        let (mut low, mut high, mut top) = (f64::INFINITY, 0.0f64, 0.0f64);
        for (_, middle, end) in values.into_iter().filter(is_drawable) {
            (low, high, top) = (low.min(middle), high.max(middle), top.max(end));
        }
        if !(low.is_finite() && high > 0.0) {
            return None;
        }
        top = top.min(high * MAX_INTERVAL_REACH).max(high);
        Some(match spread {
            Spread::Log => ValueScale::log(low, top, units),
            Spread::Auto if ticks::is_logarithmic(low, high) => ValueScale::log(low, top, units),
            _ => ValueScale::linear(top, units),
        })
    }

    /// From 0.
    fn linear(high: f64, units: &[Unit]) -> ValueScale {
        let (factor, unit) = column::unit_for(high, units);
        let end = ticks::round_end(high / factor, MAX_TICKS - 1);
        let ticks = ticks::linear(0.0, end, MAX_TICKS)
            .into_iter()
            .map(|tick| (tick * factor, ticks::label(tick)))
            .collect();
        ValueScale { low: 0.0, high: end * factor, log: false, unit, ticks, minor: Vec::new() }
    }

    fn log(low: f64, high: f64, units: &[Unit]) -> ValueScale {
        let (factor, unit) = column::unit([low, high], units);
        let (low, high) = (low / factor / 1.15, high / factor * 1.15);
        // The ends are 1, 2 or 5 themselves, so the lowest and the highest line have a label.
        fn fine(at: f64) -> Vec<f64> {
            ticks::within_decades(at / 20.0, at * 20.0, &[1.0, 2.0, 5.0])
        }
        let low = fine(low).into_iter().rfind(|tick| *tick <= low).unwrap_or(low);
        let high = fine(high).into_iter().find(|tick| *tick >= high).unwrap_or(high);
        let shown = ticks::logarithmic(low, high, MAX_TICKS + 1);
        let between = ticks::within_decades(low, high, &[1.0, 2.0, 5.0]);
        let minor =
            between.into_iter().filter(|tick| !shown.contains(tick)).map(|tick| tick * factor);
        let minor = if shown.len() < 2 * MAX_TICKS { minor.collect() } else { Vec::new() };
        // Nanoseconds up to a second: if decades remain decades in the next unit, each tick has its
        // own unit.
        let per_tick = units.len() > 1
            && units.windows(2).all(|two| two[1].0 == two[0].0 * 1000.0)
            && shown.iter().any(|tick| *tick >= MIN_LONG_LABEL);
        let label = |tick: f64| {
            let value = tick * factor;
            match units.iter().rfind(|unit| value >= unit.0 * (1.0 - 1e-9)).filter(|_| per_tick) {
                Some((factor, unit)) => format!("{} {unit}", ticks::label(value / factor)),
                None => ticks::label(tick),
            }
        };
        let ticks = shown.into_iter().map(|tick| (tick * factor, label(tick))).collect();
        ValueScale {
            low: low * factor,
            high: high * factor,
            log: true,
            unit: if per_tick { "" } else { unit },
            ticks,
            minor,
        }
    }

    /// Returns a logarithmic axis of ratios on both sides of 1, up to `far` powers of two.
    pub fn for_ratios(far: f64) -> ValueScale {
        let steps: &[f64] = match far {
            ..0.2 => &[1.05, 1.1],
            0.2..0.5 => &[1.1, 1.25],
            0.5..1.2 => &[1.25, 1.5, 2.0],
            1.2..3.0 => &[1.5, 2.0, 4.0],
            _ => &[2.0, 8.0, 32.0],
        };
        let mut ticks = vec![(1.0, "median".to_string())];
        for step in steps.iter().filter(|step| step.log2() < far) {
            ticks.push((*step, format!("{step} x")));
            ticks.push((1.0 / step, format!("1/{step} x")));
        }
        let (low, high) = ((-far).exp2(), far.exp2());
        ValueScale { low, high, log: true, unit: "", ticks, minor: Vec::new() }
    }

    /// From 0 at the low end to 1 at the high one.
    pub fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            value / self.high
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns `GiB/s`, and the kind of scale if it does not start at 0.
    pub fn about(&self) -> String {
        match self.unit {
            "" if self.log => "logarithmic".into(),
            unit if self.log => format!("{unit}, logarithmic"),
            unit => unit.into(),
        }
    }
}

/// The axis of the varying parameter.
#[derive(Clone)]
pub struct Across {
    /// `block size`.
    pub title: String,
    pub log: bool,
    /// The places that may have a label, ascending: every measured one.
    pub places: Vec<f64>,
    /// The lowest and the highest value.
    pub ends: (f64, f64),
    pub show: Rc<dyn Fn(f64) -> String>,
}

impl Across {
    /// Returns an axis over these places; logarithmic if requested and possible.
    pub fn new(
        title: String,
        log: bool,
        places: impl Iterator<Item = f64>,
        show: impl Fn(f64) -> String + 'static,
    ) -> Across {
        let mut places: Vec<f64> = places.filter(|at| at.is_finite()).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let log = log && places.first().is_some_and(|first| *first > 0.0);
        let ends = places.first().copied().zip(places.last().copied()).unwrap_or_default();
        Across { title, log, places, ends, show: Rc::new(show) }
    }

    /// Returns an axis of the time of a run up to its last trial, labelled at round times.
    pub fn seconds(last: f64) -> Across {
        let places = ticks::densest(0.0, last, 9, &ticks::time_step, &mut |_| true);
        let places = places.unwrap_or_else(|| vec![0.0]).into_iter();
        let across = Across::new(String::new(), false, places, |at| match at {
            ..100.0 => format!("{} s", (at * 100.0).round() / 100.0),
            _ => show_wait(Duration::from_secs_f64(at)),
        });
        Across { ends: (0.0, last), ..across }
    }

    /// From 0 at the first place to 1 at the last; a single place is in the middle.
    pub fn share(&self, at: f64) -> f64 {
        let (first, last) = self.ends;
        let from = |at: f64| if self.log { (at / first).ln() } else { at - first };
        let share = if first < last { from(at) / from(last) } else { 0.5 };
        if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) }
    }

    /// Returns places with labels that do not touch if each takes the share of the axis that `wide`
    /// returns: the first, the last, and every n-th of those between that has room.
    pub fn labels(&self, wide: impl Fn(&str) -> f64) -> Vec<(f64, String)> {
        let all: Vec<(f64, String, f64)> =
            self.places.iter().map(|at| (*at, (self.show)(*at), self.share(*at))).collect();
        let clear = |a: &(f64, String, f64), b: &(f64, String, f64)| {
            (b.2 - a.2).abs() >= (wide(&a.1) + wide(&b.1)) / 2.0
        };
        let last = all.len().saturating_sub(1);
        let spread = |every: usize| -> Vec<usize> {
            (0..=last).filter(|at| (last - at).is_multiple_of(every)).collect()
        };
        let fits = |kept: &[usize]| kept.windows(2).all(|two| clear(&all[two[0]], &all[two[1]]));
        // Even steps read best; uneven places, such as numbers of threads, have a label
        // wherever there is room.
        let even = (1..=last.max(1)).map(spread).find(|kept| fits(kept)).unwrap_or_default();
        let mut greedy: Vec<usize> = Vec::new();
        for at in 0..all.len() {
            let beside = |other: usize| at == other || clear(&all[at], &all[other]);
            if greedy.last().is_none_or(|before| beside(*before)) && beside(last) {
                greedy.push(at);
            }
        }
        let kept = if self.log && even.len() * 2 >= greedy.len() { even } else { greedy };
        kept.into_iter()
            .filter_map(|at| all.get(at))
            .map(|(at, label, _)| (*at, label.clone()))
            .collect()
    }
}

/// Low, middle, high.
pub type ValueSpan = (f64, f64, f64);

/// Returns whether a value can be drawn on any scale.
pub fn is_drawable(span: &ValueSpan) -> bool {
    span.1 > 0.0 && [span.0, span.1, span.2].iter().all(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rates;
    use crate::units::column::{PER_SECOND, RATE, TIME};
    use proptest::prelude::*;

    fn of(values: &[f64], spread: Spread, units: &[Unit]) -> ValueScale {
        ValueScale::for_values(values.iter().map(|v| (*v, *v, *v)), spread, units).unwrap()
    }

    fn labels(scale: &ValueScale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    const MIB: f64 = 1_048_576.0;

    #[test]
    fn an_axis_has_one_unit() {
        let wide = of(&[0.67 * MIB, 12.0 * 1024.0 * MIB], Spread::Auto, RATE);
        assert_eq!(
            (wide.unit, labels(&wide)),
            ("MiB/s", vec!["1", "10", "100", "1,000", "10,000"])
        );
        let narrow = of(&[300.0 * MIB, 619.0 * MIB], Spread::Auto, RATE);
        assert_eq!(
            (narrow.unit, labels(&narrow)),
            ("MiB/s", vec!["0", "200", "400", "600", "800"])
        );
        let log = of(&[0.4 * 1024.0 * MIB, 12.0 * 1024.0 * MIB], Spread::Log, RATE);
        assert_eq!(
            (log.unit, labels(&log)),
            ("GiB/s", vec!["0.2", "0.5", "1", "2", "5", "10", "20"])
        );
        assert_eq!(of(&[1e6, 2.8e6], Spread::Auto, PER_SECOND).unit, "M/s");
        assert_eq!(
            labels(&of(&[90.0, 2.1e6], Spread::Auto, TIME)),
            ["0.1", "1", "10", "100", "1,000"]
        );
        let long = of(&[1.2, 4e5], Spread::Auto, TIME);
        assert_eq!(
            (long.about().as_str(), labels(&long)),
            ("logarithmic", vec!["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs"])
        );
    }

    #[test]
    fn an_axis_uses_the_requested_unit() {
        let asked: Rates = "MB/s".parse().unwrap();
        let scale = of(&[3.5e9], Spread::Linear, asked.units());
        assert_eq!(
            (scale.unit, labels(&scale)),
            ("MB/s", vec!["0", "1,000", "2,000", "3,000", "4,000"])
        );
    }

    #[test]
    fn labels_across_never_touch() {
        let threads = [1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0];
        let across = Across::new("threads".into(), false, threads.into_iter(), |at| at.to_string());
        let shown =
            |wide: f64| across.labels(|_| wide).into_iter().map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(shown(0.03), threads);
        assert_eq!(shown(0.1), [1.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
        assert_eq!(shown(0.6), [1.0, 30.0]);
        let blocks = Across::new(String::new(), true, (0..28).map(|n| f64::from(1 << n)), |at| {
            at.to_string()
        });
        let kept = blocks.labels(|_| 0.1);
        assert!(
            kept.windows(2).all(|two| two[1].0 / two[0].0 == kept[1].0 / kept[0].0),
            "even steps: {kept:?}"
        );
    }

    proptest! {
        #[test]
        fn any_values_fit_between_the_ends(values in prop::collection::vec(1e-30f64..1e30, 1..9), spread in 0usize..3) {
            let spread = [Spread::Auto, Spread::Linear, Spread::Log][spread];
            for units in [RATE, PER_SECOND, TIME] {
                let scale = of(&values, spread, units);
                prop_assert!(values.iter().all(|v| scale.contains(*v) || !scale.log && *v < scale.high), "{scale:?}");
                prop_assert!(scale.ticks.iter().all(|(tick, _)| (0.0..=1.0).contains(&scale.share(*tick))), "{scale:?}");
                prop_assert!(!scale.ticks.is_empty(), "{scale:?}");
            }
        }
    }
}
