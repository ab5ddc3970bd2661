//! Adds the jobs of fio to the cells of a session.

use std::collections::BTreeSet;

use nix::errno::Errno;

use super::jobs::{self, Part};
use super::latencies::Parts;
use super::options::{Read, Remark};
use super::output::{Direction, Job as FioJob, Output};
use super::text;
use crate::plan::{FilePer, Job, Op};
use crate::record::CALLS_UNKNOWN;
use crate::record::{Severity, Source, Trial, Verdict, Warning};
use crate::text::clean;
use crate::units::show_nanos;

/// fio counts whole milliseconds: times below this number are coarse.
const COARSE: u64 = 25;
/// The most warnings on the options of a cell.
const MAX_REMARKS: usize = 16;

/// The state of an import while the jobs are read.
#[derive(Default)]
pub struct Import {
    pub cells: Vec<Job>,
    pub errors: Vec<Option<String>>,
    pub trials: Vec<Trial>,
    pub notes: Vec<String>,
    /// Total time of the groups, which ran one after the other.
    pub nanos: u64,
    verdicts: Vec<Verdict>,
    latencies: Vec<Parts>,
}

/// Parts that ran at the same time and do the same.
struct Set<'a> {
    parts: Vec<&'a Part<'a>>,
    /// The names of those that did something else meanwhile.
    others: String,
    /// What fio printed before its first report.
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
    let sum = |of: fn(&Direction) -> u64| {
        all.iter().fold(0u64, |sum, direction| sum.saturating_add(of(direction)))
    };
    let cpu = |percent: fn(&Part) -> f64| {
        let nanos: f64 =
            alone.iter().map(|part| percent(part) / 100.0 * part.runtime() as f64 * 1e6).sum();
        if nanos.is_finite() { nanos.max(0.0) as u64 } else { 0 }
    };
    let faults =
        |of: fn(&Part) -> u64| alone.iter().fold(0u64, |sum, part| sum.saturating_add(of(part)));
    Trial {
        bytes: sum(|of| of.io_bytes),
        ops: sum(|of| of.total_ios),
        nanos: all.iter().map(|of| nanos(of)).max().unwrap_or(0),
        user_nanos: cpu(|part| part.job.usr_cpu),
        system_nanos: cpu(|part| part.job.sys_cpu),
        minor_faults: faults(|part| part.job.minf),
        major_faults: faults(|part| part.job.majf),
        ..Trial::default()
    }
}

fn warning(id: &'static str, severity: Severity, message: &str, evidence: String) -> Warning {
    Warning { id: id.into(), severity, message: message.into(), evidence, remedy: String::new() }
}

impl Import {
    /// Adds the jobs of a run, group by group. `before` is the text before fio's reports.
    pub fn run(&mut self, run: &Output, before: &str) {
        let all = jobs::parts(run);
        let mut groups: Vec<u64> = Vec::new();
        for part in &all {
            if !groups.contains(&part.job.groupid) {
                groups.push(part.job.groupid);
            }
        }
        for group in groups {
            let mut sets: Vec<Vec<&Part>> = Vec::new();
            for part in all.iter().filter(|part| part.job.groupid == group) {
                match sets.iter_mut().find(|set| set[0].is_alike(part)) {
                    Some(set) => set.push(part),
                    None => sets.push(vec![part]),
                }
            }
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
            self.errors[cell] =
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
                self.errors[cell] = Some(format!("fio: {error}"));
            }
            let round = self.trials.iter().filter(|trial| trial.cell as usize == cell).count();
            // For a mapping, fio makes no calls for its blocks; other calls are unknown.
            let calls_each = calls.filter(|calls| *calls > 0);
            let syscalls = calls_each.map(|calls| trial.ops.saturating_mul(calls.into())).into();
            self.add_latencies(cell, op, &all, set, run);
            self.judge(cell, &all, calls.is_some(), set);
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
        let at = self.cells.iter().position(|own| *own == job).unwrap_or_else(|| {
            let source = Source { unknown: 1.0, ..Source::default() };
            self.verdicts.push(Verdict {
                source: Some(source),
                source_reason: "fio does not report this".into(),
                ..Verdict::default()
            });
            self.cells.push(job);
            self.errors.push(None);
            self.latencies.push(Parts::default());
            self.cells.len() - 1
        });
        for remark in said {
            let message = if remark.meaning {
                "a fio option changes what the figures mean"
            } else {
                "a fio option has no equivalent here"
            };
            let evidence = format!("{name}: {}", remark.text);
            let found = warning("fio-options", Severity::Misleading, message, evidence);
            let own = &mut self.verdicts[at].warnings;
            if own.len() < MAX_REMARKS && !own.contains(&found) {
                own.push(found);
            }
        }
        at
    }

    /// Adds what fio reports of the times of a cell: of the sum of all servers, where that is it.
    fn add_latencies(&mut self, cell: usize, op: Op, all: &[&Direction], set: &Set, run: &Output) {
        let own = &mut self.latencies[cell];
        let ops = all.iter().fold(0u64, |sum, of| sum.saturating_add(of.total_ios));
        let sum = run.sum.as_ref().map(|sum| if op == Op::Write { &sum.write } else { &sum.read });
        match sum.filter(|of| of.total_ios == ops && !of.latencies().percentile.is_empty()) {
            Some(sum) => own.blocks.push(sum.latencies().clone()),
            None => own.blocks.extend(all.iter().map(|of| of.latencies().clone())),
        }
        if op == Op::Write {
            own.syncs.extend(set.parts.iter().map(|part| part.job.sync.lat_ns.clone()));
        }
    }

    /// Judges a cell; `calls`: the number of system calls per operation is known.
    fn judge(&mut self, cell: usize, all: &[&Direction], calls: bool, set: &Set) {
        let millis = all.iter().map(|of| of.runtime).max().unwrap_or(0);
        let job = &self.cells[cell];
        let verdict = &mut self.verdicts[cell];
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

    /// Returns the verdicts of all cells.
    pub fn verdicts(&mut self) -> Vec<Verdict> {
        let cells = self.cells.iter().zip(&self.latencies);
        let verdicts = std::mem::take(&mut self.verdicts);
        let whole = |(verdict, (job, times)): (Verdict, (&Job, &Parts))| {
            let commits = job.syncs_after_writes();
            let of_commits = commits.then(|| times.commits(job.writes_per_commit()));
            Verdict { latency: times.latency(commits), commits: of_commits.flatten(), ..verdict }
        };
        verdicts.into_iter().zip(cells).map(whole).collect()
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
