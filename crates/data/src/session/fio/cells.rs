//! Adds the jobs of fio to the cells of a session.

use std::collections::BTreeSet;

use nix::errno::Errno;

use super::jobs::{self, Part};
use super::latencies::Parts;
use super::options::{Read, Remark};
use super::output::{Direction, Job as FioJob, Output, sum};
use super::text;
use crate::plan::{FilePer, Job, Op};
use crate::record::{CALLS_UNKNOWN, Severity, Source, Trial, Verdict, Warning};
use crate::text::clean;
use crate::units::show_nanos;

/// fio counts whole milliseconds: times below this number are coarse.
const COARSE: u64 = 25;
/// The most warnings on the options of a cell.
const MAX_REMARKS: usize = 16;

/// The state of an import while the jobs are read.
#[derive(Default)]
pub struct Import {
    pub cells: Vec<Cell>,
    pub trials: Vec<Trial>,
    pub notes: Vec<String>,
    /// Total time of the groups, which ran one after the other.
    pub nanos: u64,
}

/// A cell under construction.
pub struct Cell {
    pub job: Job,
    pub error: Option<String>,
    verdict: Verdict,
    latencies: Parts,
}

/// Parts that ran at the same time and do the same.
struct Set<'a> {
    parts: Vec<&'a Part<'a>>,
    /// The names of jobs that did something else at the same time.
    others: String,
    /// Text before fio's first report.
    before: &'a str,
}

impl Set<'_> {
    fn name(&self) -> String {
        clean::brief(&self.parts[0].job.jobname, 80)
    }

    /// Returns the job of one direction, and what it cannot express.
    fn read(&self, op: Op, moved: Option<(u64, u64)>) -> Read {
        let threads = self.parts.iter().fold(0u32, |sum, part| sum.saturating_add(part.threads));
        let mut read = self.parts[0].asked.job(op, threads, moved);
        let place = |part: &&Part| (part.job.hostname.clone(), part.job.port, part.file());
        let places: BTreeSet<_> = self.parts.iter().map(place).collect();
        if places.len() > 1 {
            let span = |at: &_| {
                let mut here = self.parts.iter().filter(|part| place(part) == *at);
                let threads = here.clone().map(|part| part.threads).sum();
                here.next().map_or(0, |part| part.asked.span(threads))
            };
            read.job.span = places.iter().map(span).fold(0, u64::saturating_add);
            if op == Op::Write && places.len() as u64 == u64::from(read.job.threads) {
                read.job.file_per = FilePer::Thread;
            }
        }
        read
    }
}

/// Returns one direction of all parts; `None` if nothing was done in it.
fn directions<'a>(
    parts: &[&Part<'a>],
    of: fn(&FioJob) -> &Direction,
) -> Option<Vec<&'a Direction>> {
    let all: Vec<&Direction> = parts.iter().map(|part| of(part.job)).collect();
    all.iter().any(|of| of.total_ios > 0).then_some(all)
}

/// Returns the time of a direction; if it is under a millisecond, computed from its rate.
fn nanos(of: &Direction) -> u64 {
    match (of.runtime, of.bw_bytes) {
        (0, 0) => 0,
        (0, rate) => (of.io_bytes as f64 / rate as f64 * 1e9) as u64,
        (millis, _) => millis.saturating_mul(1_000_000),
    }
}

/// Returns one direction of parts that ran as one. `alone`: those parts, if they have no other
/// direction, so that all CPU time belongs to this one.
fn make_trial(all: &[&Direction], alone: &[&Part]) -> Trial {
    let cpu = |percent: fn(&FioJob) -> f64| {
        let of = |part: &&Part| percent(part.job) / 100.0 * part.runtime() as f64 * 1e6;
        let nanos: f64 = alone.iter().map(of).sum();
        if nanos.is_finite() { nanos.max(0.0) as u64 } else { 0 }
    };
    Trial {
        bytes: sum(all.iter().map(|of| of.io_bytes)),
        ops: sum(all.iter().map(|of| of.total_ios)),
        nanos: all.iter().map(|of| nanos(of)).max().unwrap_or(0),
        user_nanos: cpu(|job| job.usr_cpu),
        system_nanos: cpu(|job| job.sys_cpu),
        minor_faults: sum(alone.iter().map(|part| part.job.minf)),
        major_faults: sum(alone.iter().map(|part| part.job.majf)),
        ..Trial::default()
    }
}

fn warning(id: &'static str, severity: Severity, message: &str, evidence: String) -> Warning {
    Warning { id: id.into(), severity, message: message.into(), evidence, remedy: "".into() }
}

impl Import {
    /// Adds the jobs of a run, group by group. `before` is the text before fio's reports.
    pub fn run(&mut self, run: &Output, before: &str) {
        let all = jobs::parts(run);
        let mut groups: Vec<Vec<Vec<&Part>>> = Vec::new();
        for part in &all {
            let is_own = |sets: &Vec<Vec<&Part>>| sets[0][0].job.groupid == part.job.groupid;
            let at = groups.iter().position(is_own).unwrap_or(groups.len());
            if at == groups.len() {
                groups.push(Vec::new());
            }
            match groups[at].iter_mut().find(|set| set[0].is_alike(part)) {
                Some(set) => set.push(part),
                None => groups[at].push(vec![part]),
            }
        }
        for sets in groups {
            let names: Vec<&str> = sets.iter().map(|set| set[0].job.jobname.as_str()).collect();
            let mut longest = 0;
            for (at, parts) in sets.into_iter().enumerate() {
                let others = names.iter().enumerate().filter(|(other, _)| *other != at);
                let others: Vec<&str> = others.map(|(_, name)| *name).take(8).collect();
                let set = Set { parts, others: others.join(", "), before };
                longest = self.add(&set, run).max(longest);
            }
            self.nanos = self.nanos.saturating_add(longest);
        }
    }

    /// Adds the directions of a set; returns its time.
    fn add(&mut self, set: &Set, run: &Output) -> u64 {
        let Set { parts, before, .. } = set;
        let (name, asked) = (set.name(), &parts[0].asked);
        let errno = parts.iter().map(|part| part.job.error).find(|error| *error != 0);
        let error = errno.map(|error| Errno::from_raw(error.saturating_abs()).desc());
        if parts.iter().any(|part| part.job.trim.total_ios > 0) || asked.only_trims() {
            self.notes.push(format!("{name}: its trims are skipped"));
        }
        let of_reads = directions(parts, |job| &job.read).map(|all| (Op::Read, all));
        let of_writes = directions(parts, |job| &job.write).map(|all| (Op::Write, all));
        let mut moved: Vec<(Op, Vec<&Direction>)> = of_reads.into_iter().chain(of_writes).collect();
        let unified = directions(parts, |job| &job.mixed).filter(|_| moved.is_empty());
        let is_unified = unified.is_some();
        moved.extend(unified.map(|all| (asked.direction(), all)));
        if moved.is_empty() && !asked.only_trims() {
            let cell = self.cell(set.read(asked.direction(), None), &name);
            let why = error.map(|error| text::complaint(before).unwrap_or(error));
            self.cells[cell].error =
                Some(why.map_or("fio completed no operation".into(), text::describe_nothing));
        }
        let alone = moved.len() == 1;
        // Both directions of a mix run at the same time.
        let took = moved.iter().flat_map(|(_, all)| all).map(|of| nanos(of)).max().unwrap_or(0);
        for (op, all) in moved {
            let trial = make_trial(&all, if alone { parts } else { &[] });
            let mut read = set.read(op, Some((trial.bytes, trial.ops)));
            if is_unified {
                read.said.push(Remark::meaning("unified_rw_reporting: reads and writes together"));
            }
            let calls = asked.calls_per_op();
            let cell = self.cell(read, &name);
            if let Some(error) = &error {
                self.cells[cell].error = Some(format!("fio: {error}"));
            }
            let round = self.trials.iter().filter(|trial| trial.cell as usize == cell).count();
            // For a mapping, fio makes no calls for its blocks; other calls are unknown.
            let calls_each = calls.filter(|calls| *calls > 0);
            let syscalls = calls_each.map(|calls| trial.ops.saturating_mul(calls.into())).into();
            self.cells[cell].add_latencies(op, &all, set, run);
            self.cells[cell].judge(&all, calls.is_some(), set);
            self.trials.push(Trial {
                cell: cell as u32,
                round: round as u32 + 1,
                syscalls,
                ..trial
            });
        }
        took
    }

    /// Returns the index of a cell, which is added if none is equal.
    fn cell(&mut self, read: Read, name: &str) -> usize {
        let Read { job, said } = read;
        let at = self.cells.iter().position(|own| own.job == job).unwrap_or(self.cells.len());
        if at == self.cells.len() {
            let verdict = Verdict {
                source: Some(Source { unknown: 1.0, ..Source::default() }),
                source_reason: "fio does not report this".into(),
                ..Verdict::default()
            };
            self.cells.push(Cell { job, error: None, verdict, latencies: Parts::default() });
        }
        for remark in said {
            let message = if remark.meaning {
                "a fio option changes what the figures mean"
            } else {
                "a fio option has no equivalent here"
            };
            let evidence = format!("{name}: {}", remark.text);
            let found = warning("fio-options", Severity::Misleading, message, evidence);
            let own = &mut self.cells[at].verdict.warnings;
            if own.len() < MAX_REMARKS && !own.contains(&found) {
                own.push(found);
            }
        }
        at
    }
}

impl Cell {
    /// Adds the latencies that fio reports; of several servers, their sum if fio printed it.
    fn add_latencies(&mut self, op: Op, all: &[&Direction], set: &Set, run: &Output) {
        let own = &mut self.latencies;
        let ops = sum(all.iter().map(|of| of.total_ios));
        let whole = run.sum.as_ref().map(|of| if op == Op::Write { &of.write } else { &of.read });
        match whole.filter(|of| of.total_ios == ops && !of.latencies().percentile.is_empty()) {
            Some(whole) => own.blocks.push(whole.latencies().clone()),
            None => own.blocks.extend(all.iter().map(|of| of.latencies().clone())),
        }
        if op == Op::Write {
            own.syncs.extend(set.parts.iter().map(|part| part.job.sync.lat_ns.clone()));
        }
    }

    /// Judges it; `calls`: the number of system calls per operation is known.
    fn judge(&mut self, all: &[&Direction], calls: bool, set: &Set) {
        let millis = all.iter().map(|of| of.runtime).max().unwrap_or(0);
        let Cell { job, verdict, .. } = self;
        let mut add = |found: Warning| {
            if !verdict.warnings.iter().any(|own| own.id == found.id) {
                verdict.warnings.push(found);
            }
        };
        if millis < COARSE {
            let message = "fio counts whole milliseconds, and the job ran for few";
            let evidence = format!("{millis} ms");
            add(warning("coarse-clock", Severity::Misleading, message, evidence));
        }
        if !calls {
            let message = "fio does not report how many system calls it made";
            add(warning(CALLS_UNKNOWN, Severity::Note, message, String::new()));
        }
        if !set.others.is_empty() {
            let message = "other jobs of fio, which did something else, ran at the same time";
            let others = clean::brief(&set.others, 160);
            add(warning("fio-together", Severity::Misleading, message, others));
        }
        if job.syncs_after_writes() {
            add(judge_syncs(set));
        }
        if let Some(of) = all.iter().find(|of| of.lacks_submission()) {
            let evidence = format!(
                "mean submission {}, mean completion {}",
                show_nanos(of.slat_ns.mean),
                show_nanos(of.clat_ns.mean)
            );
            let remedy = "run fio with --lat_percentiles=1 --clat_percentiles=0.".into();
            let message = "these fio latencies start when the submission has returned";
            // One percent of the latency is within the precision of fio's percentiles.
            let small = of.slat_ns.mean < 0.01 * of.clat_ns.mean;
            let severity = if small { Severity::Note } else { Severity::Misleading };
            add(Warning { remedy, ..warning("fio-completion", severity, message, evidence) });
        }
    }

    /// Returns its verdict.
    pub fn into_verdict(self) -> Verdict {
        let Cell { job, verdict, latencies, .. } = self;
        let commits = job.syncs_after_writes();
        let of_commits = commits.then(|| latencies.commits(job.writes_per_commit()));
        let latency = latencies.latency(commits);
        Verdict { latency, commits: of_commits.flatten(), ..verdict }
    }
}

/// A write is durable only after its sync, which fio reports apart.
fn judge_syncs(set: &Set) -> Warning {
    let syncs = &set.parts[0].job.sync.lat_ns;
    let write = set.parts[0].job.write.latencies();
    if syncs.count() == 0 {
        let message = "this fio does not report how long its syncs took, so the latency is unknown";
        let evidence = format!("mean of the write alone {}", show_nanos(write.mean));
        return warning("fio-commit", Severity::Misleading, message, evidence);
    }
    let message = "fio has no percentiles of a write with its sync";
    let evidence =
        format!("mean write {}, mean sync {}", show_nanos(write.mean), show_nanos(syncs.mean));
    warning("fio-commit", Severity::Note, message, evidence)
}
