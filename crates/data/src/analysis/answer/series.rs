//! Curves over one axis, and where each comes close to its peak.

use serde::Serialize;

use super::ratio::Point;
use crate::analysis::Axis;
use crate::analysis::groups::group_by_key;
use crate::plan::Job;
use crate::stats::{Knees, Summary};

/// Minimum share of the peak that counts as close to it.
pub const PEAK_SHARE: f64 = 0.95;

/// Where a curve comes within 5 % of its peak.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knee {
    /// The cell at `at`.
    pub cell: Job,
    pub axis: Axis,
    /// The smallest value whose median is within 5 % of the highest median.
    pub at: u64,
    /// The smallest value that the trials do not show to be further off; `None` without intervals.
    pub least: Option<u64>,
    /// The smallest value that is surely within 5 % of all others; `None` where none is.
    pub most: Option<u64>,
    /// Confidence in `at`: the share of draws that yield it when each median is redrawn within its
    /// interval; `None` without intervals.
    pub confidence: Option<f64>,
    /// Every value from `at` on is within 5 %.
    pub holds: bool,
    /// The curve still gains more than 5 % at its last value.
    pub rising: bool,
    pub smallest: u64,
    pub largest: u64,
    /// The smallest and largest values of the curve that were planned and not measured, where
    /// they lie outside of the measured ones.
    #[serde(skip)]
    pub smaller_skipped: Option<u64>,
    #[serde(skip)]
    pub larger_skipped: Option<u64>,
    pub peak_at: u64,
    /// The highest median, bytes per second.
    pub peak: f64,
}

impl Knee {
    /// Returns whether the trials show that `at` is enough.
    pub fn is_sure(&self) -> bool {
        self.holds && !self.rising && self.most == Some(self.at)
    }
}

/// Returns the axis along which these cells form curves.
pub fn axis(points: &[Point]) -> Option<Axis> {
    Axis::best(points.iter().map(|point| &point.result.cell))
}

/// Finds the knee of every curve of two points or more, in the order of the plan.
pub fn knees(points: &[Point], axis: Axis, missing: &[&Job]) -> Vec<Knee> {
    let mut sure = None;
    let of_curve = |(_, mut curve): (Job, Vec<Point>)| {
        knee(&mut curve, axis, sure.get_or_insert_with(Knees::default))
    };
    let curves = group_by_key(points.iter().copied(), |point| axis.without(&point.result.cell));
    let knees = curves.into_iter().filter_map(of_curve);
    knees.map(|knee| add_missing(knee, missing)).collect()
}

/// Adds the unmeasured ends of the curve.
fn add_missing(knee: Knee, missing: &[&Job]) -> Knee {
    let curve = knee.axis.without(&knee.cell);
    let own = missing.iter().filter(|job| knee.axis.without(job) == curve);
    let values: Vec<u64> = own.filter_map(|job| knee.axis.place(job)).collect();
    Knee {
        smaller_skipped: values.iter().copied().min().filter(|value| *value < knee.smallest),
        larger_skipped: values.iter().copied().max().filter(|value| *value > knee.largest),
        ..knee
    }
}

fn knee(curve: &mut [Point], axis: Axis, sure: &Knees) -> Option<Knee> {
    let value = |point: &Point| axis.value_of(&point.result.cell);
    curve.sort_by_key(value);
    let [first, ..] = *curve else { return None };
    let [.., before, last] = *curve else { return None };
    let peak = curve.iter().max_by(|a, b| a.rate.median.total_cmp(&b.rate.median))?;
    let close = |point: &&Point| point.rate.median >= PEAK_SHARE * peak.rate.median;
    let summaries: Vec<&Summary> = curve.iter().map(|point| &point.rate).collect();
    let place = Knees::find_knee(&summaries, PEAK_SHARE)?;
    let at = &curve[place];
    let share = |point: &Point| point.ratio(peak).and_then(|ratio| ratio.interval());
    let is_below = |point: &Point| share(point).is_some_and(|(_, high)| high < PEAK_SHARE);
    let least = peak.interval().and_then(|_| curve.iter().find(|point| !is_below(point)));
    // The interval of the peak counts, too: it may be the highest by chance.
    let is_enough = |point: &Point| {
        let low = |other: &Point| Some(point.ratio(other)?.interval()?.0);
        let mut others = curve.iter().filter(|other| value(other) != value(point));
        others.all(|other| low(other).is_some_and(|low| low >= PEAK_SHARE))
    };
    let most = curve.iter().find(|point| is_enough(point));
    Some(Knee {
        cell: at.result.cell.clone(),
        axis,
        at: value(at),
        least: least.map(value),
        most: most.map(value),
        confidence: sure.confidence(&summaries, place, PEAK_SHARE),
        holds: curve.iter().filter(|point| value(point) >= value(at)).all(|point| close(&point)),
        rising: value(peak) == value(&last) && is_below(&before),
        smallest: value(&first),
        largest: value(&last),
        smaller_skipped: None,
        larger_skipped: None,
        peak_at: value(peak),
        peak: peak.rate.median,
    })
}
