//! Where a value stands between the ends of an axis.

use super::curves::Span;
use crate::session::{Axis, Estimated};

/// The ends of both axes.
pub struct Scale {
    pub first: f64,
    pub last: f64,
    /// Places across double: the scale is logarithmic.
    pub doubles: bool,
    pub low: f64,
    pub high: f64,
    /// The values are on a logarithmic scale too.
    pub log: bool,
}

/// Values above this ratio are drawn on a logarithmic scale, the others from 0.
const WIDE: f64 = 20.0;
/// Estimates above what was measured by more than this would press it flat.
const FAR: f64 = 2.0;

impl Scale {
    /// Of points with their place across; `None` where nothing was measured.
    pub fn of(axis: Axis, points: &[(f64, Option<Span>)]) -> Option<Scale> {
        let values: Vec<Span> = points.iter().filter_map(|(_, value)| *value).collect();
        let most = |items: &mut dyn Iterator<Item = f64>| items.fold(0.0, f64::max);
        let least = |items: &mut dyn Iterator<Item = f64>| items.fold(f64::MAX, f64::min);
        if values.is_empty() {
            return None;
        }
        let high = most(&mut values.iter().map(|v| v.2.max(v.1)));
        let low = least(&mut values.iter().map(|v| v.1));
        let log = high / low > WIDE;
        let (first, last) = (least(&mut points.iter().map(|p| p.0)), most(&mut points.iter().map(|p| p.0)));
        Some(Scale {
            first,
            last,
            doubles: axis.is_log() && first > 0.0,
            low: if log { low / 1.2 } else { 0.0 },
            high: high * if log { 1.2 } else { 1.05 },
            log,
        })
    }

    /// The same with room for the estimates that are near what was measured.
    pub fn with(axis: Axis, points: &[(f64, Option<Span>)], lines: &[Estimated]) -> Option<Scale> {
        let most = Scale::of(axis, points)?.high * FAR;
        let expected = lines.iter().flat_map(|line| &line.points).filter(|(_, rate)| *rate <= most);
        let all: Vec<_> = points.iter().copied().chain(expected.map(|(at, rate)| (*at, Some((*rate, *rate, *rate))))).collect();
        Scale::of(axis, &all)
    }

    /// Whether a value has a place between the ends.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// From 0 at the first to 1 at the last; a single place is in the middle.
    pub fn across(&self, at: f64) -> f64 {
        let from = |at: f64| if self.doubles { (at / self.first).log2() } else { at - self.first };
        let share = if self.first < self.last { from(at) / from(self.last) } else { 0.5 };
        share.clamp(0.0, 1.0)
    }

    /// From 0 at the bottom to 1 at the top.
    pub fn up(&self, value: f64) -> f64 {
        let share = if self.log { (value / self.low).ln() / (self.high / self.low).ln() } else { value / self.high };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}
