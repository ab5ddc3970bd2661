//! The record of how the lanes of a trial kept their pace.

use super::workers::LaneResult;
use crate::backend::pace::LanePaced;
use crate::record::Paced;
use crate::stats::Histogram;

/// Returns the record of the pace, and the response times if there are any; `None` without a pace.
/// `planned`: the operations of the trial.
pub(super) fn merge_paced(
    lanes: &mut [LaneResult],
    planned: u64,
) -> Option<(Paced, Option<Histogram>)> {
    let left_work =
        lanes.iter().any(|lane| lane.tally.paced.as_ref().is_some_and(|of| of.left_work));
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
    if left_work {
        all.unstarted = planned.saturating_sub(all.intended);
        all.intended = all.intended.max(planned);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::access_pattern::Share;
    use crate::backend::work::Tally;
    use crate::plan::{Choice, Job, Op};
    use crate::sys::usage::Usage;

    /// A lane that began as many operations.
    fn lane(started: u64, left_work: bool) -> LaneResult {
        let mut paced = LanePaced::default();
        (paced.started, paced.left_work) = (started, left_work);
        let tally = Tally { paced: Some(Box::new(paced)), ..Tally::default() };
        let job = Job::plain(Choice::plain("pread"), Op::Read);
        let share = Share::for_lane(&job, 0, 100, 1);
        LaneResult {
            legs: Vec::new(),
            lane: 0,
            share,
            tally,
            start: 0,
            ran: 0,
            end: 0,
            usage: Usage::default(),
            queued: None,
        }
    }

    #[test]
    fn work_that_is_left_never_began() {
        let merge = |mut lanes: [LaneResult; 2]| {
            let (paced, _) = merge_paced(&mut lanes, 100).unwrap();
            (paced.intended, paced.unstarted)
        };
        assert_eq!(merge([lane(30, true), lane(20, false)]), (100, 50));
        assert_eq!(merge([lane(30, false), lane(20, false)]), (50, 0));
        assert_eq!(merge([lane(60, true), lane(40, true)]), (100, 0));
    }
}
