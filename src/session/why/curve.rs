//! What an operation costs on each curve over the block size.

use std::collections::HashMap;

use serde::Serialize;

use crate::plan::Job;
use crate::session::answer::{Axis, Labels};
use crate::session::{CellResult, moves_data};
use crate::stats::Cost;
use crate::units::{show_bytes, show_nanos, show_rate};

/// From this distance of a point on, one fixed cost and one bandwidth are not what happens here.
const BAD: f64 = 0.5;

/// One curve: everything of its jobs but the block size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurveCost {
    /// Its job with a block of 1.
    pub cell: Job,
    pub cost: Cost,
    /// Bytes per second of blocks without end; `None` where a byte costs nothing.
    pub bandwidth: Option<f64>,
    /// The block, in bytes, at which fixed part and bytes cost the same.
    pub half: Option<f64>,
    /// `304 ns per operation + 16.1 GiB/s, equal at 5.13 KiB`.
    pub text: String,
    /// `read warm`, with what tells it from the other curves.
    #[serde(skip)]
    pub name: String,
}

/// The curves that have at least three block sizes, in the order of the plan.
pub fn costs(results: &[CellResult]) -> Vec<CurveCost> {
    let mut order: Vec<Job> = Vec::new();
    let mut points: HashMap<Job, Vec<(f64, f64)>> = HashMap::new();
    for result in results.iter().filter(|result| result.wrong().is_none() && moves_data(&result.cell)) {
        let Some(operations) = result.operations.map(|of| of.summary.median).filter(|rate| *rate > 0.0) else { continue };
        let curve = Axis::Block.without(&result.cell);
        if !points.contains_key(&curve) {
            order.push(curve.clone());
        }
        // What one of the operations that go on at once takes of the time of all.
        let each = 1e9 * f64::from(result.cell.threads.max(1)) / operations;
        points.entry(curve).or_default().push((result.cell.block as f64, each));
    }
    let labels = Labels::of(order.iter());
    order.iter().filter_map(|cell| curve(&points[cell], cell, &labels)).collect()
}

fn curve(points: &[(f64, f64)], cell: &Job, labels: &Labels) -> Option<CurveCost> {
    let cost = Cost::fit(points)?;
    // Where the points allow that a byte costs nothing, they tell no bandwidth: blocks of 1 to 8 bytes all take the same.
    let cost = if cost.per_byte_low > 0.0 { cost } else { Cost { per_byte: 0.0, ..cost } };
    let (bandwidth, half) = (cost.bandwidth(), cost.half());
    let text = text(&cost, cell.threads);
    Some(CurveCost { cell: cell.clone(), cost, bandwidth, half, text, name: labels.curve_of_blocks(cell) })
}

fn text(cost: &Cost, threads: u32) -> String {
    let each = if threads > 1 { " and thread" } else { "" };
    let mut text = match (cost.fixed > 0.0, cost.bandwidth()) {
        (true, Some(bandwidth)) => format!("{} per operation + {}{each}", show_nanos(cost.fixed), show_rate(bandwidth)),
        (true, None) => format!("{} per operation, whatever its size", show_nanos(cost.fixed)),
        (false, Some(bandwidth)) => format!("{}{each} at every size", show_rate(bandwidth)),
        (false, None) => return "nothing".into(),
    };
    if let Some(half) = cost.half().filter(|half| *half >= 1.0 && *half < 1e15) {
        text += &format!(", equal at {}", show_bytes(half as u64));
    }
    if cost.misfit > BAD {
        text += &format!(" (a block size is off by {:.0} %: more than these two play a part)", cost.misfit.min(99.0) * 100.0);
    }
    text
}
