//! The results as metrics, for the textfile collector of node_exporter.
//!
//! OpenMetrics 1.0, without what the older Prometheus text format 0.0.4 reads otherwise: gauges
//! alone, and no timestamps, which node_exporter refuses. `# UNIT` and `# EOF` are comments there.
//! Families are called like the columns of the csv format, in seconds instead of nanoseconds.
//! Unknown figures have no sample.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use super::csv::option_column;
use super::table::origin::SOURCES;
use super::{Format, Interval, Look, text};
use crate::analysis::{self, CellResult, LatencyOf, ProbeResult};
use crate::plan::{Axis, Job, JobOption, Plan, ProbeCell, TargetSpec};
use crate::record::{Severity, Unit, Warning};
use crate::session::Session;
use crate::stats::Summary;
use crate::text::parse_utc;

pub const FORMAT: Format = Format {
    id: "openmetrics",
    about: "metrics for Prometheus: a textfile for node_exporter",
    extension: "prom",
    binary: false,
    write,
};

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    write_now(session, None, out)
}

/// Writes a session, with the last interval of a trial that runs.
///
/// # Errors
/// Writing fails.
pub fn write_now(session: &Session, now: Option<&Interval>, out: &mut dyn Write) -> io::Result<()> {
    let mut metrics = Metrics::default();
    metrics.add_session(session);
    for result in &analysis::results(session) {
        let labels = metrics.name_cell(job_labels(&session.plan, &result.cell));
        metrics.add_result(&labels, result);
    }
    if let Some((now, job)) =
        now.and_then(|now| Some((now, session.plan.cells.get(now.cell as usize)?)))
    {
        metrics.add_interval(&job_labels(&session.plan, job), now);
    }
    for probe in &analysis::probes(session) {
        let labels = metrics.name_cell(probe_labels(&probe.cell));
        metrics.add_probe(&labels, probe);
    }
    metrics.write(out)
}

/// A name and its value.
type Label = (String, String);

/// One family of metrics.
struct Family {
    name: String,
    unit: &'static str,
    help: String,
    /// Whole lines.
    samples: String,
}

/// The families in the order of their first sample.
#[derive(Default)]
struct Metrics {
    families: Vec<Family>,
    cells: HashSet<Vec<Label>>,
}

impl Metrics {
    /// Returns labels that no cell before has: a file that others wrote may name a cell twice.
    fn name_cell(&mut self, mut labels: Vec<Label>) -> Vec<Label> {
        if self.cells.contains(&labels) {
            labels.push(("cell".into(), self.cells.len().to_string()));
        }
        self.cells.insert(labels.clone());
        labels
    }

    /// Adds a sample to the family `iotui_NAME_UNIT`; nothing if the value is unknown.
    fn add(
        &mut self,
        (name, unit, help): (&str, &'static str, &str),
        labels: &[Label],
        more: Option<(&str, &str)>,
        value: Option<f64>,
    ) {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        let joint = if unit.is_empty() { "" } else { "_" };
        let name = format!("iotui_{name}{joint}{unit}");
        let known = self.families.iter().position(|family| family.name == name);
        let at = known.unwrap_or_else(|| {
            let (help, samples) = (help.to_string(), String::new());
            self.families.push(Family { name: name.clone(), unit, help, samples });
            self.families.len() - 1
        });
        let own = labels.iter().map(|(label, value)| (label.as_str(), value.as_str()));
        let shown: Vec<String> = own
            .chain(more)
            .filter(|(_, value)| !value.is_empty())
            .map(|(label, value)| format!("{label}=\"{}\"", escape(value)))
            .collect();
        let samples = &mut self.families[at].samples;
        // Writing into a string cannot fail.
        let _ = match shown.as_slice() {
            [] => writeln!(samples, "{name} {value}"),
            shown => writeln!(samples, "{name}{{{}}} {value}", shown.join(",")),
        };
    }

    /// Adds the median of a summary and the ends of its interval.
    fn add_summary(
        &mut self,
        (name, unit, what): (&str, &'static str, &str),
        labels: &[Label],
        of: Option<Summary>,
    ) {
        let Some(of) = of else { return };
        let parts = [
            ("median", "median of the trials", Some(of.median)),
            ("low", "lower end of the 95 % interval", of.low),
            ("high", "upper end of the 95 % interval", of.high),
        ];
        for (part, words, value) in parts {
            let help = format!("{what}: {words}.");
            self.add((&format!("{name}_{part}"), unit, &help), labels, None, value);
        }
    }

    /// Adds the percentiles of a latency and its mean.
    fn add_latency(&mut self, name: &str, labels: &[Label], of: Option<LatencyOf>) {
        let Some(of) = of else { return };
        let (what, seconds) = (name.replace('_', " "), |nanos: f64| nanos / 1e9);
        let quantiles = ["0.5", "0.9", "0.99", "0.999", "1"];
        let help = format!("Quantiles of the {what} over all trials; 1 is the maximum.");
        for (quantile, (_, nanos)) in quantiles.into_iter().zip(of.percentiles()) {
            let more = Some(("quantile", quantile));
            self.add((name, "seconds", &help), labels, more, nanos.map(seconds));
        }
        let help = format!("Mean of the {what} over all trials.");
        self.add((&format!("{name}_mean"), "seconds", &help), labels, None, Some(seconds(of.mean)));
    }

    fn add_session(&mut self, session: &Session) {
        let text = |name: &str, value: &str| (name.to_string(), value.to_string());
        let labels = [
            text("session", &session.id),
            text("name", &session.name),
            text("host", &session.host.name),
            text("kernel", &session.host.kernel),
            text("presets", &session.plan.presets.join(",")),
            text("programs", &session.programs().join(", ")),
        ];
        self.add(
            ("session_info", "", "The run that these metrics are of."),
            &labels,
            None,
            Some(1.0),
        );
        let created = parse_utc(&session.created);
        let since = created.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let started = since.map(|since| since.as_secs_f64());
        let help = "When the run began, since 1970.";
        self.add(("session_start_time", "seconds", help), &[], None, started);
        let help = "How long the run took.";
        self.add(("session_duration", "seconds", help), &[], None, session.seconds);
        let reason = session.end.and_then(|end| serde_json::to_value(end).ok());
        let reason = reason.as_ref().and_then(|reason| reason.as_str()).unwrap_or_default();
        let ended = if session.end.is_some() { 1.0 } else { 0.0 };
        let help = "Whether the run has ended, and why.";
        self.add(("session_ended", "", help), &[], Some(("reason", reason)), Some(ended));
    }

    fn add_result(&mut self, labels: &[Label], of: &CellResult) {
        self.add_trials(labels, of.trials.len(), &of.warnings, of.error.is_some());
        let of_summary = |of: Option<analysis::SummaryOf>| of.map(|of| of.summary);
        let names = ("throughput", "bytes_per_second", "Throughput");
        self.add_summary(names, labels, of_summary(of.throughput));
        let names = ("operations", "per_second", "Operations per second");
        self.add_summary(names, labels, of_summary(of.operations));
        let names = ("syscalls", "per_second", "System calls per second");
        self.add_summary(names, labels, of_summary(of.syscalls));
        let names = ("commits", "per_second", "Commits per second");
        self.add_summary(names, labels, of.commit_rate());
        self.add_latency("latency", labels, of.latency);
        self.add_latency("commit_latency", labels, of.commits.map(|of| of.total));
        let help = "Share of the bytes by where they came from.";
        for (name, share) in SOURCES {
            let share = of.source.as_ref().map(share);
            self.add(("source", "ratio", help), labels, Some(("source", name)), share);
        }
        let help = "Bytes that the device moved per requested byte.";
        self.add(("amplification", "ratio", help), labels, None, of.amplification);
    }

    fn add_interval(&mut self, labels: &[Label], of: &Interval) {
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let rate = of.ops as f64 / seconds(of.nanos.max(1));
        let help = "Operations per second in the last interval of the trial that runs.";
        self.add(("interval_operations", "per_second", help), labels, None, Some(rate));
        let help = "Quantiles of the latency in the last interval of the trial that runs.";
        for (quantile, nanos) in [("0.5", of.p50), ("0.99", of.p99), ("1", of.max)] {
            let more = Some(("quantile", quantile));
            self.add(("interval_latency", "seconds", help), labels, more, nanos.map(seconds));
        }
    }

    fn add_probe(&mut self, labels: &[Label], of: &ProbeResult) {
        self.add_trials(labels, of.trials.len(), &of.warnings, of.error.is_some());
        let (Some(value), Some(unit)) = (of.value, of.unit) else { return };
        let (unit, factor) = match unit {
            Unit::Nanos => ("seconds", 1e-9),
            Unit::BytesPerSecond => ("bytes_per_second", 1.0),
            Unit::PerSecond => ("per_second", 1.0),
            Unit::Bytes => ("bytes", 1.0),
        };
        let names = ("probe", unit, "Value of a probe");
        self.add_summary(names, labels, Some(value.summary.scaled(factor)));
    }

    /// Adds what a cell of a job and of a probe have.
    fn add_trials(&mut self, labels: &[Label], trials: usize, warnings: &[Warning], failed: bool) {
        let count = |count: usize| Some(count as f64);
        self.add(("trials", "", "Trials of the cell."), labels, None, count(trials));
        let failed = count(usize::from(failed));
        self.add(("failed", "", "Whether the cell failed."), labels, None, failed);
        for severity in Severity::ALL {
            let found = warnings.iter().filter(|warning| warning.severity == *severity).count();
            let more = Some(("severity", severity.name()));
            let help = "Warnings about the figures of the cell.";
            self.add(("warnings", "", help), labels, more, count(found));
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for Family { name, unit, help, samples } in &self.families {
            writeln!(out, "# HELP {name} {help}")?;
            writeln!(out, "# TYPE {name} gauge")?;
            if !unit.is_empty() {
                writeln!(out, "# UNIT {name} {unit}")?;
            }
            out.write_all(samples.as_bytes())?;
        }
        writeln!(out, "# EOF")
    }
}

/// Returns the labels of a job: the path of its target, and its axes, numbers as in the csv format.
fn job_labels(plan: &Plan, job: &Job) -> Vec<Label> {
    let path = plan.target_of(job).and_then(TargetSpec::path).unwrap_or(Path::new(""));
    let axes = Axis::columns().into_iter().filter(|axis| axis.is_worth_telling(job));
    let axes = axes.flat_map(|axis| axis_labels(axis, job));
    std::iter::once(("path".into(), path.to_string_lossy().into_owned())).chain(axes).collect()
}

/// Returns the labels of a job for an axis: one for each option that sets it.
fn axis_labels(axis: Axis, job: &Job) -> Vec<Label> {
    let options = axis.options();
    if options.is_empty() {
        return vec![(axis.id().replace('-', "_"), axis.value(job))];
    }
    let value = |option: &JobOption| match axis.is_number() {
        true => axis.place(job).map(|at| at.to_string()),
        false => option.text(job),
    };
    // Of a second option only what is unusual.
    let is_told = |(at, option): &(usize, &JobOption)| {
        *at == 0 || option.text(job).as_deref() != option.usual
    };
    let told = options.iter().enumerate().filter(is_told);
    told.filter_map(|(_, option)| Some((option_column(option.name), value(option)?))).collect()
}

fn probe_labels(cell: &ProbeCell) -> Vec<Label> {
    let params = cell.params.iter().map(|(name, value)| format!("{name}={value}"));
    vec![
        ("probe".into(), cell.probe.clone()),
        ("parameters".into(), params.collect::<Vec<_>>().join(" ")),
    ]
}

/// Escapes the value of a label; text of others is cleaned.
fn escape(value: &str) -> String {
    text::clean(value).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
