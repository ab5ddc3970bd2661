//! The record of how the lanes of a trial kept their pace.

use super::workers::LaneResult;
use crate::backend::pace::LanePaced;
use crate::record::Paced;
use crate::stats::Histogram;

/// Returns the record of the pace, and the response times if there are any; `None` without a pace.
pub(super) fn merge_paced(lanes: &mut [LaneResult]) -> Option<(Paced, Option<Histogram>)> {
    let mut of_lanes = lanes.iter_mut().filter_map(|lane| lane.tally.paced.as_deref_mut());
    let first = of_lanes.next()?;
    let (mut response, mut wakes) = (first.response.take(), std::mem::take(&mut first.wakes));
    let mut all = record_of(first);
    for lane in of_lanes {
        all.join(&record_of(lane));
        wakes.merge(&lane.wakes);
        if let (Some(all), Some(more)) = (&mut response, &lane.response) {
            all.merge(more);
        }
    }
    let sum = |times: &Histogram| (times.mean() * times.count() as f64) as u64;
    all.response_nanos = response.as_ref().map_or(0, sum);
    (all.wake_p50, all.wake_p99) = (wakes.quantile(0.5), wakes.quantile(0.99));
    Some((all, response))
}

fn record_of(lane: &LanePaced) -> Paced {
    Paced {
        intended: lane.started.saturating_add(lane.unstarted),
        unstarted: lane.unstarted,
        held: lane.held,
        held_nanos: lane.held_nanos,
        most_late: lane.most_late,
        start_lag: lane.start_lag,
        spin_nanos: lane.spin_nanos,
        waits: lane.waits,
        ..Paced::default()
    }
}

/// Returns whether the pace ended each lane that had work.
pub(super) fn is_complete(lanes: &[LaneResult]) -> bool {
    let complete = |lane: &LaneResult| lane.tally.paced.as_ref().is_some_and(|of| of.complete);
    lanes.iter().all(complete)
}
