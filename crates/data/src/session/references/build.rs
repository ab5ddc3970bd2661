//! A reference: a session from the tables of a report.

use std::sync::Arc;
use std::time::Duration;

use super::file::{Column, File, Jobs, Machine, Probes, Unit};
use crate::catalog::info;
use crate::facts::Host;
use crate::plan::{Choice, Job, Param, Plan, ProbeCell, TargetSpec, TrialTime};
use crate::record::{
    self, End, Estimate, ProbeFindings, ProbeTrial, Severity, Source, Trial, Verdict, Warning,
};
use crate::session::{Listed, Session, State, end_line};
use crate::units;

/// A rounding of at most this share of the figure is not worth a warning.
const ROUNDED: f64 = 0.05;
const SECOND: f64 = 1e9;
/// Marks figures of a report that the probe of the same name does not measure.
pub const OTHER_EXPERIMENT: &str = "other-experiment";

/// One reference: its id, and the facts that lists show.
#[derive(Debug)]
pub struct Reference {
    pub id: &'static str,
    pub about: String,
    /// The machine in a sentence: `the 2017 MacBook Pro`.
    pub machine: String,
    /// Course and year, if the report names them.
    pub source: String,
    session: Session,
}

impl Reference {
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns its entry in a list of sessions.
    pub fn to_listed(&self) -> Listed {
        let probes = self.session.plan.probes.len() as u64;
        let cells = self.session.plan.cells.len() as u64 + probes;
        Listed {
            id: self.id.into(),
            target: self.about.clone(),
            created: self.session.created.clone(),
            cells,
            probes,
            measured: Some(cells),
            verdict: self.session.worst().map(|worst| Some(worst).into()),
            worst_cells: self.session.worst_cells(),
            best: end_line::best(&self.session),
            lost_lines: Some(0),
            state: State::Reference,
            ..Listed::default()
        }
    }
}

/// Returns the reference in `text`.
///
/// # Errors
/// The text is invalid, which tests exclude for the files that ship with iotui.
pub fn reference(id: &'static str, text: &str) -> Result<Reference, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let target = match &file.file {
        Some(target) => TargetSpec::File { path: target.path.clone().into(), size: target.size },
        None if file.jobs.is_empty() => TargetSpec::None,
        None => TargetSpec::File { path: "file from the report".into(), size: 0 },
    };
    let mut plan = Plan {
        trial_time: TrialTime::from_duration(Duration::ZERO),
        budget: Duration::ZERO,
        ..Plan::plain("reported", target)
    };
    let (mut verdicts, mut trials, mut findings, mut figures) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for table in &file.jobs {
        for row in &table.rows {
            let (job, some) = cell(table, row, plan.cells.len() as u32)?;
            verdicts.push(Some(Arc::new(verdict(table, row, &file.source))));
            trials.extend(some.into_iter().map(Into::into));
            plan.cells.push(job);
        }
    }
    for table in &file.probes {
        for row in &table.rows {
            let (cell, some) =
                probe(table, row, plan.probes.len() as u32, file.host.nanos_per_cycle)?;
            findings.push(read_findings(table, &file)?);
            figures.extend(some);
            plan.probes.push(cell);
        }
    }
    let mut session = Session::new(id.into(), String::new(), file.created, host(&file.host)?, plan);
    (session.verdicts, session.trials) = (verdicts, trials);
    (session.probe_findings, session.probe_trials) = (findings, figures);
    session.notes =
        [format!("as reported in: {}", file.source)].into_iter().chain(file.notes).collect();
    session.end = Some(End::Finished);
    let (about, machine, source) = (file.about, file.machine, file.source);
    session.reference = Some(Box::leak(machine.clone().into_boxed_str()));
    Ok(Reference { id, about, machine, source, session })
}

fn host(machine: &Machine) -> Result<Host, String> {
    let mut host = Host {
        os: machine.os.clone(),
        kernel: machine.kernel.clone(),
        container: machine.container.clone(),
        ..Host::default()
    };
    (host.cpu.model, host.cpu.cores, host.cpu.allowed) =
        (machine.cpu.clone(), machine.cores, machine.cpus);
    host.cpu.cycle_nanos = machine.nanos_per_cycle;
    host.memory.total = units::parse_bytes(&machine.memory).map_err(|error| error.to_string())?;
    Ok(host)
}

/// Returns a whole number from a table.
fn to_whole(value: f64) -> Result<u64, String> {
    if value >= 0.0 && value.fract() == 0.0 && value < 9e15 {
        Ok(value as u64)
    } else {
        Err(format!("{value} is not a whole number"))
    }
}

/// Returns the cell of a row and a trial for each of its figures. A figure without a size is
/// represented as one second at its rate.
fn cell(table: &Jobs, row: &[f64], cell: u32) -> Result<(Job, Vec<Trial>), String> {
    if row.len() != table.columns.len() {
        return Err(format!("a row of {} has {} values", table.backend, row.len()));
    }
    let of = |column: Column| {
        table.columns.iter().position(|own| *own == column).map(|at| to_whole(row[at])).transpose()
    };
    let block = of(Column::Block)?.or(table.block).ok_or("a table without a block")?;
    let count = of(Column::Count)?;
    let bytes = of(Column::Bytes)?.or(table.bytes).or(count.map(|count| count * block));
    let choice = Choice::parse(&table.backend).map_err(|error| error.to_string())?;
    let choice = match info(&choice) {
        Some(info) => choice.normalize(info),
        None => choice,
    };
    let threads = of(Column::Threads)?.unwrap_or(1) as u32;
    let span = bytes.unwrap_or(0);
    let (cache, xor, writes) = (table.cache, table.xor, table.writes);
    let plain = Job::plain(choice, table.op);
    let job = Job { block, count, span, threads, cache, xor, writes, ..plain };
    let figures = table.columns.iter().copied().zip(row.iter().copied());
    let figures = figures.filter(|(column, _)| is_figure(*column));
    let said = table.seconds.map(|seconds| (Column::Seconds, seconds));
    let trials = (1..).zip(figures.chain(said)).map(|(round, (column, value))| {
        let (bytes, nanos) = match (column, bytes) {
            (Column::Seconds, Some(bytes)) => (bytes as f64, value * SECOND),
            (Column::Seconds, None) => return Err(format!("{value} s of an unknown size")),
            (_, bytes) => {
                let rate = value * if column == Column::Calls { block as f64 } else { 1_048_576.0 };
                bytes.map_or((rate, SECOND), |bytes| (bytes as f64, bytes as f64 / rate * SECOND))
            }
        };
        let ops = (bytes / block as f64).ceil() as u64;
        let bytes = if crate::catalog::moves_data(&job) { bytes.round() as u64 } else { 0 };
        let (syscalls, nanos) = (ops.into(), nanos.round() as u64);
        Ok(Trial { cell, round, bytes, ops, syscalls, nanos, ..Trial::default() })
    });
    let trials = trials.collect::<Result<_, String>>()?;
    Ok((job, trials))
}

fn is_figure(column: Column) -> bool {
    matches!(column, Column::Rate | Column::Calls | Column::Seconds)
}

fn warning(id: &'static str, severity: Severity, message: &str, evidence: &str) -> Warning {
    let (id, message, evidence) = (id.into(), message.into(), evidence.into());
    Warning { id, severity, message, evidence, remedy: "".into() }
}

fn reported(source: &str, approximate: Option<&String>) -> Vec<Warning> {
    let approximate = approximate.map(|why| {
        warning("approximate", Severity::Misleading, "the report gives only a rough figure", why)
    });
    let all =
        warning("reported", Severity::Note, "a figure of a report, not measured by iotui", source);
    approximate.into_iter().chain([all]).collect()
}

fn verdict(table: &Jobs, row: &[f64], source: &str) -> Verdict {
    let rates = table.columns.iter().zip(row);
    let rates = rates.filter(|(column, of)| **column == Column::Rate && of.fract() == 0.0);
    let least = rates.map(|(_, value)| *value).fold(f64::MAX, f64::min);
    let mut warnings = reported(source, table.approximate.as_ref());
    warnings.splice(
        0..0,
        table.wrong.as_deref().map(|why| {
            warning("slip", Severity::Wrong, "the figure is probably a slip of the report", why)
        }),
    );
    if 0.5 / least > ROUNDED {
        let evidence = format!("{least} MiB/s may be {} to {}", least - 0.5, least + 0.5);
        let message = "the report rounds to whole MiB/s, which is coarse here";
        warnings.insert(0, warning("rounded", Severity::Misleading, message, &evidence));
    }
    let unknown = Source { unknown: 1.0, ..Source::default() };
    let moves = table.op != crate::plan::Op::Seek;
    Verdict {
        source: moves.then_some(unknown),
        source_reason: "a reported figure".into(),
        warnings,
        ..Verdict::default()
    }
}

/// Returns the cell of a row of a probe, and its figures.
fn probe(
    table: &Probes,
    row: &[f64],
    cell: u32,
    nanos_per_cycle: Option<f64>,
) -> Result<(ProbeCell, Vec<ProbeTrial>), String> {
    let mut params = table.params.clone();
    let figures = match (&table.axis, row) {
        (None, figures) => figures,
        (Some(axis), [first, figures @ ..]) => {
            params.insert(axis.clone(), Param::Number(to_whole(*first)?));
            figures
        }
        (Some(_), []) => return Err(format!("{} has an empty row", table.probe)),
    };
    let cells = ProbeCell { probe: table.probe.clone(), params };
    let trials = (1..).zip(figures).map(|(round, figure)| {
        let (value, unit) = table.unit.value(*figure, nanos_per_cycle)?;
        let cycles = (table.unit == Unit::Cycles).then_some(*figure);
        Ok(ProbeTrial { cell, round, value, unit, cycles, short: false })
    });
    let trials = trials.collect::<Result<_, String>>()?;
    Ok((cells, trials))
}

fn read_findings(table: &Probes, file: &File) -> Result<ProbeFindings, String> {
    let estimate = table.estimate.as_ref().map(|of| {
        let value =
            |figure| table.unit.value(figure, file.host.nanos_per_cycle).map(|(value, _)| value);
        let (one, two) = (value(of.low)?, value(of.high)?);
        let reason = of.reason.clone();
        Ok::<_, String>(Estimate { low: one.min(two), high: one.max(two), reason })
    });
    let other = table.other.as_ref().map(|what| {
        let message = format!("a figure of another experiment: {what}");
        warning(OTHER_EXPERIMENT, Severity::Misleading, &message, &file.source)
    });
    let reported = reported(&file.source, table.approximate.as_ref());
    Ok(ProbeFindings {
        estimate: estimate.transpose()?,
        warnings: other.into_iter().chain(reported).collect(),
        ..ProbeFindings::default()
    })
}

impl Unit {
    /// Returns a figure in iotui's units.
    fn value(
        self,
        figure: f64,
        nanos_per_cycle: Option<f64>,
    ) -> Result<(f64, record::Unit), String> {
        Ok(match self {
            Unit::Cycles => {
                (figure * nanos_per_cycle.ok_or("cycles of unknown length")?, record::Unit::Nanos)
            }
            Unit::Micros => (figure * 1e3, record::Unit::Nanos),
            Unit::Millis => (figure * 1e6, record::Unit::Nanos),
            Unit::Megabytes => (figure * 1e6, record::Unit::BytesPerSecond),
            Unit::MillisPerMegabyte => (1e6 / (figure / 1e3), record::Unit::BytesPerSecond),
            Unit::Gigabytes => (figure * 1e9, record::Unit::Bytes),
        })
    }
}
