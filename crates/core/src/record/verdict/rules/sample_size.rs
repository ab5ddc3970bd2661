//! Rules about samples that are too small for the figures shown.

use crate::plan::Plan;
use crate::record::verdict::CellEvidence;
use crate::record::{Finding, Latency, LevelChange, Severity, Trial, finding};
use crate::stats;
use crate::units::{counted, show_count, show_nanos, show_rate, show_share, show_trials, verb};

/// Shortest sound trial, nanoseconds: a preempted virtual CPU is away for 4 to 8 ms, a tenth of
/// this.
const MIN_TRIAL_NANOS: u64 = 50_000_000;
/// Number of values from which the mean of a skewed distribution is nearly normal, by the usual
/// rule of thumb.
const MIN_TIMED_OPS: u64 = 30;
/// Relative half-width above which "the smallest block within 5 % of the peak" cannot be decided.
const MAX_HALF_WIDTH: f64 = 0.05;
/// Relative half-width from which the ends of the interval differ by about a factor of two.
const USELESS_HALF_WIDTH: f64 = 1.0 / 3.0;
/// Number of operations that each percentile needs, so that ten lie beyond it.
const PERCENTILES: [(&str, u64); 4] =
    [("p50", 20), ("p90", 100), ("p99", 1_000), ("p99.9", 10_000)];

pub(super) fn few(evidence: &CellEvidence) -> Option<Finding> {
    let count = evidence.rated_trials().len();
    if count == 0 || count >= Plan::ROUNDS as usize {
        return None;
    }
    if count == 1 && evidence.once {
        return finding(
            Severity::Note,
            "the file was read once, as requested: one trial has no confidence interval",
            format!("{} are needed", Plan::ROUNDS),
            "use {trials} 5 to read it as often, and {cache} cold to read all of them from the \
             device",
        );
    }
    let complete = if count == evidence.trials.len() { "" } else { "complete " };
    finding(
        Severity::Misleading,
        format!(
            "{} {} too few for a confidence interval",
            counted(count, &format!("{complete}trial")),
            verb(count, "is", "are")
        ),
        format!("{} are needed", Plan::ROUNDS),
        "use {trials} 5 or more, or a longer {budget}",
    )
}

pub(super) fn cut(evidence: &CellEvidence) -> Option<Finding> {
    if let Some(slow) = evidence.trials_where(|t| t.short && t.counts()).last() {
        return warn_overrun(evidence, slow);
    }
    let count = evidence.trials_where(|t| t.short).len();
    if count == 0 {
        return None;
    }
    let remedy = "use a longer {budget} or a shorter {trial-time}";
    let complete = evidence.trials.len() - count;
    if complete == 0 {
        return finding(
            Severity::Misleading,
            "no trial was completed: the rates cover only the work until the cut",
            format!("the budget or a signal cut {}", evidence.trial_count()),
            remedy,
        );
    }
    finding(
        Severity::Note,
        format!(
            "the budget or a signal cut {count} of {} trials short: the rates exclude {}",
            evidence.trials.len(),
            verb(count, "it", "them")
        ),
        format!("rates of {}; latencies and byte sources cover all trials", show_trials(complete)),
        remedy,
    )
}

/// Warns of a trial that was cut far too late to be called unfinished.
fn warn_overrun(evidence: &CellEvidence, slow: &Trial) -> Option<Finding> {
    let rate = match slow.bytes {
        0 => format!("{} operations/s", show_count(slow.operations()).trim()),
        _ => show_rate(slow.throughput()),
    };
    finding(
        Severity::Misleading,
        format!(
            "a trial planned for {} was cut after {}: it ran at {rate}, which counts",
            show_nanos(slow.evidence.overran as f64),
            show_nanos(slow.nanos as f64)
        ),
        format!("trial {} of {}", slow.round, evidence.trials.len()),
        "find what became slow (a rate limit, credits or a cache used up); a longer {budget} shows \
         whether it lasts",
    )
}

pub(super) fn short_trial(evidence: &CellEvidence) -> Option<Finding> {
    let times: Vec<f64> = evidence.rated_trials().iter().map(|t| t.nanos as f64).collect();
    let median = stats::median(&times)?;
    if median >= MIN_TRIAL_NANOS as f64 {
        return None;
    }
    // Trials that agree were not interrupted.
    let agree = evidence.spread.half_width.is_some_and(|half| half <= MAX_HALF_WIDTH);
    finding(
        if agree { Severity::Note } else { Severity::Misleading },
        format!(
            "a trial took {}, so one interruption by the scheduler dominates it",
            show_nanos(median)
        ),
        format!("at least {} is recommended", show_nanos(MIN_TRIAL_NANOS as f64)),
        "use a longer {trial-time}, a larger {count} or a larger {size}",
    )
}

pub(super) fn few_operations(evidence: &CellEvidence) -> Option<Finding> {
    let ops = match evidence.latency {
        Some(latency) => latency.count.into(),
        None => evidence.sum(|t| t.ops),
    };
    if evidence.trials.is_empty() || ops >= MIN_TIMED_OPS.into() {
        return None;
    }
    finding(
        Severity::Misleading,
        format!("the mean latency is unreliable: only {ops} timed operations"),
        format!("over {}; {MIN_TIMED_OPS} are needed", evidence.trial_count()),
        "use more {trials}, a smaller {block-size} or a larger {size}",
    )
}

pub(super) fn few_for_percentile(evidence: &CellEvidence) -> Option<Finding> {
    let latency: &Latency = evidence.latency?;
    let remedy = "use more {trials} or a longer {trial-time}";
    let shown = [latency.p50, latency.p90, latency.p99, latency.p999];
    let count = show_count(latency.count as f64);
    let bad = PERCENTILES
        .iter()
        .zip(shown)
        .find(|((_, needed), value)| value.is_some() && latency.count < *needed);
    if let Some(((name, needed), _)) = bad {
        let message = format!("{name} is unreliable: only {count} timed operations");
        return finding(Severity::Misleading, message, format!("{needed} are needed"), remedy);
    }
    let (name, needed) = PERCENTILES[2];
    if latency.count < MIN_TIMED_OPS || latency.count >= needed {
        return None;
    }
    finding(
        Severity::Note,
        format!("{name} is not shown: only {count} timed operations"),
        format!("{needed} are needed"),
        remedy,
    )
}

pub(super) fn wide(evidence: &CellEvidence) -> Option<Finding> {
    let half_width = evidence.spread.half_width.filter(|half| *half > MAX_HALF_WIDTH)?;
    let outliers = match evidence.spread.outliers {
        0 => String::new(),
        1 => ", 1 outlier".into(),
        count => format!(", {count} outliers"),
    };
    // Every table shows the interval next to the figure, so a moderate width does not mislead.
    finding(
        if half_width >= USELESS_HALF_WIDTH { Severity::Misleading } else { Severity::Note },
        format!("the median is known only to within ±{}", show_share(half_width)),
        format!(
            "95 % confidence interval of {}{outliers}",
            show_trials(evidence.rated_trials().len())
        ),
        "use more {trials} or a longer {trial-time} on an idle machine",
    )
}

pub(super) fn two_modes(evidence: &CellEvidence) -> Option<Finding> {
    let (a, b) = evidence.spread.two_modes?;
    // `level-change` reports a change over time.
    if LevelChange::from_trials(evidence.trials).is_some() {
        return None;
    }
    let slow = a.min(b);
    let fast = a.max(b);
    let moves = evidence.trials().any(|t| t.bytes > 0);
    let show = |rate: f64| {
        if moves { show_rate(rate) } else { format!("{} operations/s", show_count(rate).trim()) }
    };
    finding(
        Severity::Misleading,
        format!(
            "the trials form two groups, around {} and {}: no single number describes both",
            show(slow),
            show(fast)
        ),
        format!(
            "{}; slow trials: {}",
            show_trials(evidence.rated_trials().len()),
            slow_trials(evidence, slow, fast)
        ),
        "check what differs between the groups of trials; more {trials} show which one is typical",
    )
}

/// Lists the numbers of the trials nearer to the slow group: `1 to 3, 7`.
fn slow_trials(evidence: &CellEvidence, slow: f64, fast: f64) -> String {
    let moves = evidence.trials().any(|t| t.bytes > 0);
    let value = |t: &Trial| if moves { t.throughput() } else { t.operations() };
    let is_slow = |t: &Trial| t.counts() && (value(t) - slow).abs() < (value(t) - fast).abs();
    let numbers: Vec<usize> =
        evidence.trials().enumerate().filter(|(_, t)| is_slow(t)).map(|(i, _)| i + 1).collect();
    let runs: Vec<String> = numbers
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| {
            if run.len() == 1 {
                run[0].to_string()
            } else {
                format!("{} to {}", run[0], run[run.len() - 1])
            }
        })
        .collect();
    if runs.is_empty() { "unknown".into() } else { runs.join(", ") }
}
