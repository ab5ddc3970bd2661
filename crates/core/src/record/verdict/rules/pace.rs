//! Rules about cells under a rate: whether it was kept, and what keeping it cost.

use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::share;
use crate::record::{Finding, Paced, Severity, Trial, finding};
use crate::stats;
use crate::units::{counted, show_count, show_nanos, show_share};

/// Sums a figure of the pace over all trials.
fn sum(evidence: &CellEvidence, of: fn(&Paced) -> u64) -> u64 {
    let figures = evidence.sum(|trial| trial.evidence.paced.as_deref().map_or(0, of));
    u64::try_from(figures).unwrap_or(u64::MAX)
}

pub(super) fn rate_missed(evidence: &CellEvidence) -> Option<Finding> {
    let asked = evidence.job.operations_per_second()?;
    let rates: Vec<f64> = evidence.rated_trials().into_iter().map(Trial::operations).collect();
    let reached = stats::median(&rates)?;
    if evidence.job.keeps_rate(reached) != Some(false) {
        return None;
    }
    let unstarted = match sum(evidence, |paced| paced.unstarted) {
        0 => String::new(),
        count => format!("; {} never began", counted(count as usize, "operation")),
    };
    finding(
        Severity::Misleading,
        format!(
            "{}/s of the {}/s that were asked for{unstarted}: waits grow with the time of a trial",
            show_count(reached).trim(),
            show_count(asked).trim()
        ),
        format!("the median of {}", evidence.trial_count()),
        "use a lower {rate}, a larger {depth} or more {threads}",
    )
}

/// Ratio of the slowest responses to the slowest services from which being held back decides.
const MIN_HELD_RATIO: f64 = 2.0;

pub(super) fn held_back(evidence: &CellEvidence) -> Option<Finding> {
    let (held, all) = (sum(evidence, |paced| paced.held), sum(evidence, |paced| paced.intended));
    // A rate that is missed holds back all that follow.
    if held == 0 || rate_missed(evidence).is_some() {
        return None;
    }
    let p99 = |latency: Option<&crate::record::Latency>| latency.and_then(|of| of.p99);
    let ratio = p99(evidence.latency).zip(p99(evidence.service)).map(|(all, own)| all / own);
    let decides = ratio.is_some_and(|ratio| ratio > MIN_HELD_RATIO);
    let latest = evidence.trials().filter_map(|trial| trial.evidence.paced.as_deref());
    let latest = latest.map(|paced| paced.most_late).max().unwrap_or(0);
    finding(
        if decides { Severity::Misleading } else { Severity::Note },
        format!(
            "{} of {} began late, by up to {}: earlier ones still ran",
            show_share(held as f64 / all.max(1) as f64),
            counted(all as usize, "operation"),
            show_nanos(latest as f64)
        ),
        format!("{} in all", show_nanos(sum(evidence, |paced| paced.held_nanos) as f64)),
        "use a larger {depth} or more {threads}, unless the program that you model has as few",
    )
}

/// Lateness of starts as a share of a service from which it is reported.
const MIN_LAG_SHARE: f64 = 0.1;

pub(super) fn timer_late(evidence: &CellEvidence) -> Option<Finding> {
    let held = u128::from(sum(evidence, |paced| paced.held));
    let on_time = evidence.sum(|trial| trial.ops).saturating_sub(held);
    let lag = share(sum(evidence, |paced| paced.start_lag), on_time);
    let service = evidence.service.and_then(|of| of.p50).filter(|p50| *p50 > 0.0)?;
    if !(lag.is_finite() && lag / service >= MIN_LAG_SHARE) {
        return None;
    }
    finding(
        Severity::Note,
        format!(
            "operations began {} late on average, as the thread was not awake: {} of their time",
            show_nanos(lag),
            show_share(lag / service)
        ),
        format!("half of the services take up to {}", show_nanos(service)),
        "use fewer {threads} than CPUs, or an idle machine",
    )
}

/// Share of the lanes' time from which spinning is reported.
const MIN_SPIN_SHARE: f64 = 0.02;

pub(super) fn spinning(evidence: &CellEvidence) -> Option<Finding> {
    let lanes = evidence.sum(|trial| trial.evidence.lane_nanos);
    let spun = share(sum(evidence, |paced| paced.spin_nanos), lanes);
    if !(spun.is_finite() && spun >= MIN_SPIN_SHARE) {
        return None;
    }
    finding(
        Severity::Note,
        format!("waiting for starts kept each thread's CPU busy {} of the time", show_share(spun)),
        format!(
            "{} of spinning in {}",
            show_nanos(sum(evidence, |paced| paced.spin_nanos) as f64),
            evidence.trial_count()
        ),
        "subtract it from the CPU time: the spin keeps starts exact",
    )
}
