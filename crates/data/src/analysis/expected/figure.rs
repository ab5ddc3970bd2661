//! The figure that a condition is about, with the interval that decides.

use crate::analysis::{CellResult, MIN_TRIALS};
use crate::plan::Metric;
use crate::record::{Latency, Severity, TargetEvidence, Warning};
use crate::units::{counted, show_trials};

/// A write with this warning did not reach the device, whatever its severity.
const NOT_ON_DEVICE: &str = "not-on-device";

/// A figure with its 95 % interval.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Why an end of the interval is missing.
    pub few: Option<String>,
}

/// Returns the figure of a cell; `latency` is that of its verdict, `target` describes where
/// it writes.
///
/// # Errors
/// Its figures are wrong or missing.
pub fn figure(
    result: &CellResult,
    latency: Option<&Latency>,
    target: Option<&TargetEvidence>,
    metric: Metric,
) -> Result<Figure, String> {
    if let Some(error) = &result.error {
        return Err(format!("it failed: {error}"));
    }
    if let Some(warning) = result.warnings.iter().find(|warning| is_untrusted(warning)) {
        let Warning { id, message, .. } = warning;
        return Err(format!("{message} ({id})"));
    }
    if let Some(why) = unproved_commits(result, target) {
        return Err(why);
    }
    if metric.is_latency() {
        let latency = latency.filter(|latency| latency.count > 0);
        let latency = latency.ok_or("it has no latencies")?;
        return Ok(match metric.quantile() {
            Some(q) => percentile(latency, metric, q),
            None => longest(latency),
        });
    }
    let summary = match metric {
        Metric::Throughput => result.throughput,
        _ => result.operations,
    };
    let summary = summary.ok_or("it has no such figure")?.summary;
    let trials = result.counted_trials().len();
    let few = (trials < MIN_TRIALS)
        .then(|| format!("{} of the {MIN_TRIALS} that an interval needs", show_trials(trials)));
    let scale = if metric == Metric::Commits { result.cell.commits_in(1.0) } else { 1.0 };
    let summary = summary.scaled(scale);
    Ok(Figure { value: Some(summary.median), low: summary.low, high: summary.high, few })
}

/// Returns whether a warning says that something else was measured than the condition is about.
fn is_untrusted(warning: &Warning) -> bool {
    warning.severity == Severity::Wrong
        || warning.id == NOT_ON_DEVICE && warning.severity > Severity::Note
}

/// Returns why no disk can have confirmed the commits, as far as this machine can see.
fn unproved_commits(result: &CellResult, target: Option<&TargetEvidence>) -> Option<String> {
    let durability = result.durability.as_ref()?;
    let has_disk = |target: &TargetEvidence| match (&target.ground, &target.commit_path) {
        (Some(ground), _) => ground.is_disk(),
        (None, Some(path)) => !target.remote && path.devices.iter().any(|device| device.lowest),
        // A session that does not record it.
        (None, None) => true,
    };
    let is_proved = durability.reach.is_durable().is_some() || target.is_none_or(has_disk);
    (!is_proved).then(|| durability.sentence())
}

/// Returns the longest latency: exact if every operation was timed, else only known to be at least
/// this.
fn longest(latency: &Latency) -> Figure {
    if let Some(few) = left_out(latency) {
        return Figure { low: Some(latency.max), few: Some(few), ..Figure::default() };
    }
    let is_sampled = latency.every > 1;
    Figure {
        value: Some(latency.max),
        low: Some(latency.max),
        high: (!is_sampled).then_some(latency.max),
        few: is_sampled.then(|| format!("only one in {} operations was timed", latency.every)),
    }
}

/// Returns how many operations have no latency, because they never began under their rate.
fn left_out(latency: &Latency) -> Option<String> {
    let count = usize::try_from(latency.unstarted).unwrap_or(usize::MAX);
    (count > 0).then(|| format!("{} never began: use a lower --rate", counted(count, "operation")))
}

/// Returns a percentile with its interval from the ranks of the latencies, as if they were
/// independent. A high percentile has no upper end where fewer operations were timed than the
/// percentile itself needs.
fn percentile(latency: &Latency, metric: Metric, q: f64) -> Figure {
    let value = latency.value_of(metric);
    let recorded: u64 = latency.buckets.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n));
    if recorded == 0 {
        let few = Some("the distribution of its latencies is unknown".into());
        return Figure { value, few, ..Figure::default() };
    }
    let (low, high) = latency.interval(q);
    let needs = (10.0 / (1.0 - q)).round() as usize;
    Figure {
        value,
        low,
        high: high.filter(|_| value.is_some()),
        few: left_out(latency).or_else(|| {
            let timed = counted(recorded.try_into().unwrap_or(usize::MAX), "operation");
            Some(format!("{timed} timed, and {} needs {needs}", metric.name()))
        }),
    }
}
