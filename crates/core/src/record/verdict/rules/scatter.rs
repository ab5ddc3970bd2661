//! Rules about samples that are too small for the figures shown.

use crate::plan::{Cache, Pattern, Plan};
use crate::record::verdict::CellEvidence;
use crate::record::{Finding, Latency, LevelChange, Rounds, Severity, Stretch, Trial, finding};
use crate::stats::course::Kind;
use crate::stats::{self, STEADY_ROUNDS};
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
    // A trial that looks for a steady state has rounds in place of others, a watch its intervals.
    let is_long = evidence
        .trials()
        .any(|trial| trial.evidence.rounds.is_some() || trial.evidence.clock.is_some());
    if count == 0 || count >= Plan::ROUNDS as usize || is_long {
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

pub(super) fn not_steady(evidence: &CellEvidence) -> Option<Finding> {
    let is_open = |rounds: &&Rounds| !rounds.are_steady();
    let rounds = evidence.trials().find_map(|of| of.evidence.rounds.as_deref().filter(is_open))?;
    let round = show_nanos(rounds.planned as f64);
    finding(
        Severity::Misleading,
        "the rate was not steady when the trial ended: it may change further",
        format!("the last {STEADY_ROUNDS} rounds of {round} differ by over 20 %, or have a trend"),
        "use a longer {budget}",
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
            "trials of only {}: one interruption by the scheduler changes the figure",
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
    let what = if evidence.job.rate.is_some() { "mean response time" } else { "median" };
    // Every table shows the interval next to the figure, so a moderate width does not mislead.
    finding(
        if half_width >= USELESS_HALF_WIDTH { Severity::Misleading } else { Severity::Note },
        format!("the {what} is known only to within ±{}", show_share(half_width)),
        format!(
            "95 % confidence interval of {}{outliers}",
            show_trials(evidence.rated_trials().len())
        ),
        "use more {trials} or a longer {trial-time} on an idle machine",
    )
}

pub(super) fn two_modes(evidence: &CellEvidence) -> Option<Finding> {
    // Under a rate, these are of response times.
    let (a, b) = evidence.spread.two_modes.filter(|_| evidence.job.rate.is_none())?;
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

pub(super) fn level_change(evidence: &CellEvidence) -> Option<Finding> {
    let change = LevelChange::from_trials(evidence.trials)?;
    let verb = if change.is_drop() { "fell" } else { "rose" };
    let (first, last) = change.first_and_last();
    let from = show_level(&change, first);
    let to = show_level(&change, last);
    let what = match (change.kind, change.levels.len()) {
        (Kind::Drift, _) => format!("{verb} steadily from {from} to {to}"),
        (Kind::Step, 2) => {
            format!("{verb} from {from} to {to} after trial {}", first.last_trial + 1)
        }
        (Kind::Step, count) => format!("changed between {count} levels, from {from} to {to}"),
    };
    let levels: Vec<String> = change
        .levels
        .iter()
        .take(MAX_LEVELS)
        .map(|level| describe_stretch(&change, level))
        .collect();
    finding(
        if change.is_large() { Severity::Misleading } else { Severity::Note },
        format!("the figure {what}: the median belongs to no single level"),
        levels.join("; "),
        "find what changed (cache or credits used up, heat, other machines); more {trials} show \
         which level lasts",
    )
}

/// Number of levels that fit in the evidence.
const MAX_LEVELS: usize = 3;

/// Formats the median of a level with its unit.
fn show_level(change: &LevelChange, level: &Stretch) -> String {
    match change.unit {
        "B/s" => show_rate(level.summary.median),
        _ => format!("{} operations/s", show_count(level.summary.median).trim()),
    }
}

/// Describes the trials of a level: `trials 1 to 6: 895 MB/s ±1 %, until 1.80 s`.
fn describe_stretch(change: &LevelChange, level: &Stretch) -> String {
    let interval = match level.summary.half_width() {
        Some(half_width) => format!(" ±{:.0} %", half_width * 100.0),
        None => String::new(),
    };
    format!(
        "{}: {}{interval}, until {}",
        level.name(),
        show_level(change, level),
        show_nanos(level.ended as f64)
    )
}

/// An operation that takes this many times the median is a stall.
const MIN_STALL: f64 = 10.0;
/// Share of the time that stalls must hold, and share of the operations up to which they are few.
const MIN_HELD_SHARE: f64 = 0.5;
const MAX_STALLED_SHARE: f64 = 0.1;

pub(super) fn stalls(evidence: &CellEvidence) -> Option<Finding> {
    let job = evidence.job;
    // Others read ahead, or end in the page cache: most operations wait for nothing. So do those
    // on popular blocks, where something below has a cache.
    let waits = job.direct && !job.pattern.is_drawn()
        || job.commits()
        || evidence.reads() && job.cache == Cache::Cold && job.pattern == Pattern::Random;
    let latency = evidence.service.or(evidence.latency).filter(|_| evidence.moves() && waits)?;
    let p50 = latency.p50?;
    let (mut stalls, mut held, mut all) = (0, 0.0, 0.0);
    for &(nanos, count) in &latency.buckets {
        let time = nanos as f64 * count as f64;
        all += time;
        if nanos as f64 >= MIN_STALL * p50 {
            stalls += count;
            held += time;
        }
    }
    if job.is_paced() {
        // Between its operations nothing waits.
        all = all.max(evidence.sum(|trial| trial.nanos) as f64);
    }
    let (share, few) = (held / all, stalls as f64 <= latency.count as f64 * MAX_STALLED_SHARE);
    if !few || share.is_nan() || share < MIN_HELD_SHARE {
        return None;
    }
    let verb = if stalls == 1 { "holds" } else { "hold" };
    finding(
        Severity::Misleading,
        format!("{} {verb} {} of the time", counted(stalls as usize, "stall"), show_share(share)),
        format!(
            "{} of {} took at least {}; half of all took up to {}, the mean is {}",
            stalls,
            counted(latency.count as usize, "timed operation"),
            show_nanos(MIN_STALL * p50),
            show_nanos(p50),
            show_nanos(latency.mean)
        ),
        "read the mean, p99 and maximum as well as the median; look for what holds the device up \
         at these times",
    )
}
