//! The cost of an operation on each curve over the block size, as far as its points show it.

use serde::Serialize;

use crate::analysis::groups::group_by_key;
use crate::analysis::{Axis, CellNames, CellResult};
use crate::catalog::moves_data;
use crate::plan::Job;
use crate::stats::Cost;
use crate::units::{join_range, show_bytes, show_nanos, show_rate, show_share, three_digits};

/// A line that misses a point by more than its interval and more than this does not describe the
/// curve.
const MAX_FIT_ERROR: f64 = 0.25;

/// The normal distribution's 97.5 % point: half an interval has this many standard errors.
const SIGMAS: f64 = 1.96;

/// The model that the points of a curve support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// A fixed part and a bandwidth; neither interval includes 0.
    Both,
    /// All operations take the same time, within their intervals.
    Fixed,
    /// All bytes take the same time, within the intervals.
    Bandwidth,
    /// The two parts cannot be separated.
    Unknown,
    /// No fixed part with a bandwidth fits these points.
    Misfit,
}

/// One curve: everything of its jobs except the block size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurveCost {
    /// Its job with a block of 1.
    pub cell: Job,
    /// Claimed if `model` is `both`, `fixed` or `bandwidth`; else only the nearest line.
    pub cost: Cost,
    pub model: Model,
    /// Bytes per second in the limit of endless blocks; `None` if none is claimed.
    pub bandwidth: Option<f64>,
    /// The block size, in bytes, at which the fixed part and the bytes cost the same.
    pub half: Option<f64>,
    /// `304 ns per operation + 16.1 GiB/s, equal at 5.13 KiB`.
    pub text: String,
    /// `read warm`, with what distinguishes it from the other curves.
    #[serde(skip)]
    pub name: String,
}

impl CurveCost {
    /// Returns the cost, if other sentences may build on it.
    pub fn claimed(&self) -> Option<&Cost> {
        matches!(self.model, Model::Both | Model::Fixed | Model::Bandwidth).then_some(&self.cost)
    }
}

/// One block size: nanoseconds of an operation, with the interval from its trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub bytes: f64,
    pub nanos: f64,
    pub low: f64,
    pub high: f64,
}

impl Point {
    fn from_result(result: &CellResult) -> Option<Point> {
        let summary = result.operations?.summary;
        // Time of one operation while several threads run at the same time.
        let each = |rate: f64| 1e9 * f64::from(result.cell.all_threads()) / rate;
        let point = Point {
            bytes: result.cell.block as f64,
            nanos: each(summary.median),
            // Under five trials only their range is known, which is narrower than an interval, so
            // less is claimed.
            low: each(summary.high.unwrap_or(summary.max)),
            high: each(summary.low.unwrap_or(summary.min).max(f64::MIN_POSITIVE)).min(f64::MAX),
        };
        (summary.median > 0.0 && point.nanos.is_finite()).then_some(point)
    }

    fn holds(&self, nanos: f64) -> bool {
        // A perfect curve is matched except for rounding.
        self.low * (1.0 - 1e-9) <= nanos && nanos <= self.high * (1.0 + 1e-9)
    }

    /// Returns the standard error, as a share.
    fn error(&self) -> f64 {
        (self.high - self.nanos).max(self.nanos - self.low) / self.nanos / SIGMAS
    }
}

/// Returns the curves that have at least three block sizes, in the order of the plan.
pub fn costs(results: &[CellResult]) -> Vec<CurveCost> {
    let drawn = results.iter().filter(|of| of.wrong().is_none() && moves_data(&of.cell));
    let points = drawn.filter_map(|result| Some((result, Point::from_result(result)?)));
    let curves = group_by_key(points, |(result, _)| Axis::Block.without(&result.cell));
    let names = CellNames::from_jobs(curves.iter().map(|(cell, _)| cell));
    let of_curve = |(cell, points): &(Job, Vec<(&CellResult, Point)>)| {
        let typical = typical_times(points);
        let points: Vec<Point> = points.iter().map(|(_, point)| *point).collect();
        curve(&points, &typical, cell, &names)
    };
    curves.iter().filter_map(of_curve).collect()
}

/// Returns the time of an operation at each block size, ascending: the median of operations from
/// memory where all sizes have it, which interruptions hardly move; else that of the rate. Where
/// the device works ahead, most operations find their bytes in memory.
fn typical_times(points: &[(&CellResult, Point)]) -> Vec<(f64, f64)> {
    let half = |(result, point): &(&CellResult, Point)| {
        let latency = result.latency.filter(|_| result.is_from_memory())?;
        Some((point.bytes, latency.p50?))
    };
    let all: Option<Vec<(f64, f64)>> = points.iter().map(half).collect();
    let mut all =
        all.unwrap_or_else(|| points.iter().map(|(_, point)| (point.bytes, point.nanos)).collect());
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// Up to this factor, times are called about the same.
const ABOUT: f64 = 1.25;

/// Explains the shape of a curve without a model: where the time of an operation stays, and where
/// it grows with the bytes. Where neither shows, it compares the smallest block with the largest.
fn describe_shape(times: &[(f64, f64)]) -> Option<String> {
    let ([(small, first), ..], [.., (large, last)]) = (times, times) else { return None };
    let about = |values: &[f64]| {
        let (low, high) = values
            .iter()
            .fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
        (high <= ABOUT * low).then_some((low, high))
    };
    let each: Vec<f64> = times.iter().map(|(_, nanos)| *nanos).collect();
    let rates: Vec<f64> = times.iter().map(|(bytes, nanos)| bytes / nanos * 1e9).collect();
    let end = times.len();
    let flat = (2..=end).rev().find_map(|to| Some((to - 1, about(&each[..to])?)));
    let steep = (0..end - 1).find_map(|from| Some((from, about(&rates[from..])?)));
    let flat = flat.map(|(last, (low, high))| {
        let range = join_range(&show_nanos(low), &show_nanos(high));
        let to = show_bytes(times[last].0 as u64);
        format!("up to {to} an operation takes {range} whatever its size")
    });
    let steep = steep.map(|(first, (low, high))| {
        let from = show_bytes(times[first].0 as u64);
        let rate = join_range(&show_rate(low), &show_rate(high));
        format!("from {from} on the time grows with the bytes, {rate}")
    });
    let said: Vec<String> = flat.into_iter().chain(steep).collect();
    Some(match said.is_empty() {
        false => said.join("; "),
        true => format!(
            "{} times the bytes, {} instead of {}, take {} times as long",
            three_digits(large / small),
            show_bytes(*large as u64),
            show_bytes(*small as u64),
            three_digits(last / first)
        ),
    })
}

fn curve(
    points: &[Point],
    typical: &[(f64, f64)],
    cell: &Job,
    names: &CellNames,
) -> Option<CurveCost> {
    let (model, cost) = explain_curve(points)?;
    let shape = describe_shape(typical).filter(|_| matches!(model, Model::Unknown | Model::Misfit));
    let shape = shape.map_or(String::new(), |shape| format!("; {shape}"));
    let known = matches!(model, Model::Both | Model::Bandwidth);
    Some(CurveCost {
        cell: cell.clone(),
        cost,
        model,
        bandwidth: cost.bandwidth().filter(|_| known),
        half: cost.half().filter(|_| model == Model::Both),
        text: text(model, &cost, points, cell.all_threads()) + &shape,
        name: names.curve_of_blocks(cell),
    })
}

/// Returns what these points show, with the corresponding cost; `None` under three sizes.
///
/// Each claim holds for every point: within its interval or, where the text states the error,
/// within [`MAX_FIT_ERROR`].
pub fn explain_curve(points: &[Point]) -> Option<(Model, Cost)> {
    let fitted: Vec<(f64, f64)> = points.iter().map(|point| (point.bytes, point.nanos)).collect();
    let mut errors: Vec<f64> = points.iter().map(Point::error).collect();
    errors.sort_unstable_by(f64::total_cmp);
    let line = Cost::fit(&fitted, errors.get(errors.len() / 2).copied().unwrap_or(0.0))?;
    let fits = line.misfit <= MAX_FIT_ERROR || lies_within(&line, points);
    if fits && line.fixed_low > 0.0 && line.per_byte_low > 0.0 {
        return Some((Model::Both, line));
    }
    let (fixed, byte) = (same(points, |_| 1.0), same(points, |point| point.bytes));
    // If either fits, the points do not show which is right.
    Some(match (fixed, byte) {
        (Some((fixed, low, high)), None) => {
            let cost = Cost {
                fixed,
                fixed_low: low,
                fixed_high: high,
                per_byte: 0.0,
                per_byte_low: 0.0,
                ..line
            };
            (Model::Fixed, Cost { misfit: misfit(&cost, points), ..cost })
        }
        (None, Some((per_byte, low, high))) => {
            let cost = Cost {
                fixed: 0.0,
                fixed_low: 0.0,
                per_byte,
                per_byte_low: low,
                per_byte_high: high,
                ..line
            };
            (Model::Bandwidth, Cost { misfit: misfit(&cost, points), ..cost })
        }
        _ if fits => (Model::Unknown, line),
        _ => (Model::Misfit, line),
    })
}

fn lies_within(line: &Cost, points: &[Point]) -> bool {
    points.iter().all(|point| point.holds(line.nanos(point.bytes)))
}

fn misfit(line: &Cost, points: &[Point]) -> f64 {
    points.iter().map(|point| off(line, point).abs()).fold(0.0, f64::max)
}

/// Returns how far a point lies from the line, as a share of the line.
fn off(line: &Cost, point: &Point) -> f64 {
    point.nanos / line.nanos(point.bytes).max(f64::MIN_POSITIVE) - 1.0
}

/// Returns the cost per `unit` that lies in the intervals of all points, with its minimum and
/// maximum; `None` without one.
fn same(points: &[Point], unit: fn(&Point) -> f64) -> Option<(f64, f64, f64)> {
    let low = points.iter().map(|point| point.low / unit(point)).fold(0.0, f64::max);
    let high = points.iter().map(|point| point.high / unit(point)).fold(f64::MAX, f64::min);
    let mean = points.iter().map(|point| (point.nanos / unit(point)).ln()).sum::<f64>()
        / points.len() as f64;
    (0.0 < low && low <= high).then(|| (mean.exp().clamp(low, high), low, high))
}

fn text(model: Model, cost: &Cost, points: &[Point], threads: u32) -> String {
    let each = if threads > 1 { " and thread" } else { "" };
    let smallest = points.iter().map(|point| point.bytes).fold(f64::MAX, f64::min) as u64;
    let largest = points.iter().map(|point| point.bytes).fold(0.0, f64::max) as u64;
    let sizes = format!("from {} to {}", show_bytes(smallest), show_bytes(largest));
    let worst = points.iter().max_by(|a, b| off(cost, a).abs().total_cmp(&off(cost, b).abs()));
    let missed = |point: &Point| {
        let by = show_share(off(cost, point).abs().min(9.99));
        format!("{} is off by {by}", show_bytes(point.bytes as u64))
    };
    let fixed = show_nanos(cost.fixed);
    match (model, cost.bandwidth()) {
        (Model::Both, Some(bandwidth)) => {
            let half = cost.half().filter(|half| *half >= 1.0 && *half < 1e15);
            let equal = half
                .map_or(String::new(), |half| format!(", equal at {}", show_bytes(half as u64)));
            let off = worst
                .filter(|_| !lies_within(cost, points))
                .map_or(String::new(), |point| format!(" ({})", missed(point)));
            format!("{fixed} per operation + {}{each}{equal}{off}", show_rate(bandwidth))
        }
        (Model::Fixed, _) => {
            format!(
                "{fixed} per operation at all sizes {sizes}; they do not show the cost per byte"
            )
        }
        (Model::Bandwidth, Some(bandwidth)) => {
            let rate = show_rate(bandwidth);
            format!(
                "{rate}{each} at all sizes {sizes}; they do not show the fixed cost per operation"
            )
        }
        (Model::Misfit, _) => {
            let off = worst.map_or(String::new(), |point| format!(": {}", missed(point)));
            format!("no fixed cost plus bandwidth fits the sizes {sizes}{off}")
        }
        _ => format!(
            "cannot be separated into a fixed cost and a bandwidth with these {} sizes",
            points.len()
        ),
    }
}

#[cfg(test)]
mod tests;
