//! The cost of an empty page cache.

use std::collections::HashSet;

use serde::Serialize;

use super::best::rank;
use super::ratio::{Point, times_as_fast};
use super::series::Knee;
use crate::analysis::Axis;
use crate::analysis::why::Devices;
use crate::plan::{Cache, Job, Op};
use crate::stats::Ratio;
use crate::units::Precision;

/// The warm peak compared with the cold peak, over the jobs measured in both states.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColdCost {
    /// Warm divided by cold: at 9.8, cold is 9.8 times slower.
    pub ratio: f64,
    /// The interval of the ratio; `None` under 5 trials.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub warm: Job,
    pub cold: Job,
    /// The cold peak, bytes per second.
    pub throughput: f64,
    /// The digits that its interval allows.
    #[serde(skip)]
    pub precision: Precision,
    /// At least 90 % of the bytes of the cold peak came from the device.
    pub device: bool,
    /// No other cell that reads from the device was faster, with direct I/O neither.
    #[serde(skip)]
    pub fastest: bool,
    /// The CPU, not the device, limits the cold peak.
    #[serde(skip)]
    pub cpu: bool,
    /// The block size from which the cold curve stays within 5 % of its peak.
    pub from: Option<u64>,
}

impl ColdCost {
    /// Returns `warm is 9.5x as fast as cold`.
    pub fn describe(&self) -> String {
        let ratio = Ratio { ratio: self.ratio, low: self.low, high: self.high };
        times_as_fast(("warm", "cold"), &ratio, ["is", "was"], false)
    }
}

/// Returns the peak, chosen as the fastest is.
fn first_ranked<'a, 'b: 'a>(points: impl Iterator<Item = &'a Point<'b>>) -> Option<Point<'b>> {
    let mut ranked: Vec<Point> = points.copied().collect();
    rank(&mut ranked);
    ranked.first().copied()
}

/// Computes the cost of a cold cache; `None` if no job was measured both cold and warm.
pub fn cost(trusted: &[Point], knees: &[Knee], devices: &Devices) -> Option<ColdCost> {
    fn either(job: &Job) -> Job {
        Job { cache: Cache::AsIs, ..job.clone() }
    }
    let jobs = |state: Cache| trusted.iter().filter(move |point| point.result.cell.cache == state);
    let peak = |state: Cache, other: Cache| {
        let both: HashSet<Job> = jobs(other).map(|point| either(&point.result.cell)).collect();
        let twins = jobs(state).filter(|point| both.contains(&either(&point.result.cell)));
        first_ranked(twins)
    };
    fn reads_device(job: &Job) -> bool {
        job.op == Op::Read && (job.direct || job.cache == Cache::Cold)
    }
    let (warm, cold) = (peak(Cache::Warm, Cache::Cold)?, peak(Cache::Cold, Cache::Warm)?);
    let ratio = warm.ratio(&cold)?;
    let curve = |knee: &&Knee| {
        knee.axis == Axis::Block
            && Job { block: cold.result.cell.block, ..knee.cell.clone() } == cold.result.cell
    };
    Some(ColdCost {
        ratio: ratio.ratio,
        low: ratio.low,
        high: ratio.high,
        warm: warm.result.cell.clone(),
        cold: cold.result.cell.clone(),
        throughput: cold.rate.median,
        precision: Precision::of(cold.rate.half_width()),
        fastest: first_ranked(trusted.iter().filter(|point| reads_device(&point.result.cell)))
            .is_some_and(|first| first.result.cell == cold.result.cell),
        device: cold.result.is_from_device(),
        cpu: devices.is_cpu_limited(cold.result),
        // Named only if the trials are sure of it.
        from: knees.iter().find(curve).filter(|knee| knee.is_sure()).map(|knee| knee.at),
    })
}
