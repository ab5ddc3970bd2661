//! For each rule about a rate, a cell that triggers it and one that nearly does.

use super::cells::{Example, example};
use crate::plan::Rate;
use crate::record::Severity::{Misleading, Note};
use crate::record::verdict::testing::*;
use crate::record::{Paced, Trial};

/// Asks for a rate of which this percentage was reached.
fn paced(case: &mut Case, percent: f64, change: fn(&Trial, &mut Paced)) {
    let reached = case.trials[0].operations();
    case.job.rate = Some(Rate::Operations((reached * 100.0 / percent).round() as u64));
    case.each(|trial| {
        let response_nanos = trial.evidence.timed_nanos;
        let mut paced = Paced { intended: trial.ops, response_nanos, ..Paced::default() };
        change(trial, &mut paced);
        trial.evidence.paced = Some(Box::new(paced));
    });
    case.service = case.latency.clone();
}

/// Holds every tenth operation back, so that the slowest respond in this many times their service.
fn hold_back(case: &mut Case, times: f64) {
    paced(case, 100.0, |trial, paced| {
        (paced.held, paced.held_nanos, paced.most_late) = (trial.ops / 10, 1_000_000, 5_000);
    });
    let latency = case.latency.as_mut().unwrap();
    latency.p99 = latency.p99.map(|p99| p99 * times);
}

fn lag(case: &mut Case, percent: u64) {
    paced(case, 100.0, |trial, paced| paced.start_lag = trial.ops * 1000);
    let service = case.service.as_mut().unwrap();
    service.p50 = Some(100e3 / percent as f64);
}

pub static PACE: &[Example] = &[
    example(
        "rate-missed",
        Misleading,
        direct,
        |c| paced(c, 80.0, |_, paced| paced.unstarted = 7),
        |c| paced(c, 99.5, |_, paced| paced.unstarted = 7),
    ),
    example("held-back", Misleading, direct, |c| hold_back(c, 3.0), |c| hold_back(c, 1.5)),
    example("held-back", Note, direct, |c| hold_back(c, 1.5), |c| paced(c, 100.0, |_, _| {})),
    example("timer-late", Note, direct, |c| lag(c, 12), |c| lag(c, 8)),
    example(
        "spinning",
        Note,
        direct,
        |c| paced(c, 100.0, |trial, paced| paced.spin_nanos = trial.evidence.lane_nanos / 20),
        |c| paced(c, 100.0, |trial, paced| paced.spin_nanos = trial.evidence.lane_nanos / 90),
    ),
];
