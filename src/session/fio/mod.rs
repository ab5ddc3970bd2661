//! Converts the output of fio's `--output-format=json` or `json+` to a session: one cell for each
//! job and direction.
//!
//! fio reports the amount, the time and the latencies, but not where the bytes came from, which
//! remains unknown. Jobs with equal options that ran one after the other are trials of one cell;
//! those that ran at the same time and are reported separately (`numjobs` without
//! `group_reporting`) are the threads of one trial.

mod options;
mod output;
#[cfg(test)]
mod tests;

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;

use self::options::JobOptions;
use self::output::{Direction, Job as FioJob, Options, Output, Times};
use super::{Session, SessionError, reader};
use crate::host::Host;
use crate::plan::{Job, Op, Plan, TargetSpec, TrialTime};
use crate::record::CALLS_UNKNOWN;
use crate::record::{End, Latency, Severity, Source, Trial, Verdict, Warning};
use crate::text::{clean, utc};
use crate::units::show_nanos;

/// The largest file that is read, bytes: json+ of a job with every bin has about 0.2 MiB.
const MAX_FILE_LEN: u64 = 64 << 20;
/// The most jobs of a file; one with more is rejected.
const MAX_JOBS: usize = 4096;
/// fio counts whole milliseconds: times below this number are coarse.
const COARSE: u64 = 25;

/// Returns the session in fio's output, which may have lines of text around its JSON; `None` where
/// the file holds none.
///
/// # Errors
/// The file cannot be read, is too large, or is not fio's JSON output although it looks like it.
pub fn session(path: &Path) -> Result<Option<Session>, SessionError> {
    let (file, bytes) = reader::open(path)?;
    let mut text = Vec::new();
    file.take(MAX_FILE_LEN + 1)
        .read_to_end(&mut text)
        .map_err(|error| SessionError::io("read", path, error))?;
    let Some(json) = json(&text) else { return Ok(None) };
    if text.len() as u64 > MAX_FILE_LEN {
        return Err(SessionError::TooLarge { path: path.into(), bytes, most: MAX_FILE_LEN });
    }
    let valid = json.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let output = serde_json::Deserializer::from_str(valid).into_iter::<Output>().next();
    let no = |why: String| SessionError::NotASession { path: path.into(), why };
    match output {
        Some(Ok(output)) => build_session(output).map(Some).map_err(no),
        Some(Err(error)) => {
            Err(no(format!("not fio's JSON output: {}", clean::brief(&error.to_string(), 160))))
        }
        None => Ok(None),
    }
}

/// Returns where fio's object begins: at the start of a line, after fio's messages.
fn json(text: &[u8]) -> Option<&[u8]> {
    let at =
        if text.starts_with(b"{") { 0 } else { text.windows(2).position(|two| two == b"\n{")? + 1 };
    let head = &text[at..text.len().min(at + 4096)];
    head.windows(13).any(|word| word == b"\"fio version\"").then(|| &text[at..])
}

/// The state of an import while the jobs are read.
#[derive(Default)]
struct Import {
    cells: Vec<Job>,
    errors: Vec<Option<String>>,
    verdicts: Vec<Verdict>,
    trials: Vec<Trial>,
    notes: Vec<String>,
    /// Total time of the jobs, which ran one after the other.
    nanos: u64,
    bins: Vec<std::collections::BTreeMap<u64, u64>>,
}

fn build_session(output: Output) -> Result<Session, String> {
    let Output { version, timestamp, global, mut jobs, client_stats, disk_util } = output;
    jobs.extend(client_stats.into_iter().filter(|job| job.jobname != "All clients"));
    if jobs.is_empty() {
        return Err("fio ran no job".into());
    }
    if jobs.len() > MAX_JOBS {
        return Err(format!("it has {} jobs, the limit is {MAX_JOBS}", jobs.len()));
    }
    let mut import = Import::default();
    import
        .notes
        .push(format!("measured by {} and imported from its JSON", clean::brief(&version, 40)));
    import.notes.push("fio drops the file from the page cache before a job by default; what was cached was not checked".into());
    for together in jobs.chunk_by(is_one_job) {
        let asked = JobOptions { own: &together[0].options, global: &global };
        import_job(&mut import, together, &asked);
    }
    if import.cells.is_empty() {
        return Err("none of its jobs reads or writes".into());
    }
    fn describe_disk(disk: &output::Disk) -> String {
        format!(
            "disk {}: {} reads, {} writes, busy {:.1} %",
            disk.name, disk.read_ios, disk.write_ios, disk.util
        )
    }
    import
        .notes
        .extend(disk_util.iter().take(16).map(|disk| clean::brief(&describe_disk(disk), 160)));
    let name = jobs[0].hostname.clone();
    let host = Host {
        name: if jobs.iter().all(|job| job.hostname == name) {
            clean::brief(&name, 200)
        } else {
            String::new()
        },
        ..Host::default()
    };
    let (target, more) = target(&jobs, &global, &import.cells);
    import.notes.extend(more);
    Ok(finish(import, host, target, timestamp))
}

/// Jobs of one `numjobs` that are reported separately.
fn is_one_job(a: &FioJob, b: &FioJob) -> bool {
    a.jobname == b.jobname
        && a.groupid == b.groupid
        && a.options == b.options
        && a.hostname == b.hostname
}

fn target(jobs: &[FioJob], global: &Options, cells: &[Job]) -> (TargetSpec, Option<String>) {
    let of = |job: &FioJob| {
        let asked = JobOptions { own: &job.options, global };
        let named = asked.get("filename").map(String::from);
        named
            .or_else(|| asked.get("directory").map(|dir| format!("{dir}/{}", job.jobname)))
            .unwrap_or_else(|| job.jobname.clone())
    };
    let mut paths: Vec<String> = jobs.iter().map(|job| clean::brief(&of(job), 4096)).collect();
    paths.dedup();
    let more = (paths.len() > 1)
        .then(|| format!("fio used {} files; the first is named above", paths.len()));
    let size = cells.iter().map(|cell| cell.span).max().unwrap_or(0);
    (TargetSpec::File { path: paths.swap_remove(0).into(), size }, more)
}

fn finish(import: Import, host: Host, target: TargetSpec, timestamp: u64) -> Session {
    let longest = import.trials.iter().map(|trial| trial.nanos).max().unwrap_or(0);
    let (time, budget) = (
        TrialTime::from_duration(Duration::from_nanos(longest)),
        Duration::from_nanos(import.nanos),
    );
    let plan = Plan { cells: import.cells, trial_time: time, budget, ..Plan::plain("fio", target) };
    // Years beyond 9999 cannot be written in this format.
    let created = utc(std::time::UNIX_EPOCH + Duration::from_secs(timestamp.min(253_402_300_799)));
    let mut session = Session::new(String::new(), String::new(), created, host, plan);
    session.trials = import.trials.into_iter().map(Into::into).collect();
    session.verdicts = import.verdicts.into_iter().map(|verdict| Some(Arc::new(verdict))).collect();
    session.errors = import.errors;
    session.notes = import.notes;
    session.end = Some(End::Finished);
    session
}

/// Adds the directions of jobs that ran as one.
fn import_job(import: &mut Import, together: &[FioJob], asked: &JobOptions) {
    let job = &together[0];
    let name = clean::brief(&job.jobname, 80);
    let error = together.iter().map(|job| job.error).find(|error| *error != 0);
    let error =
        error.map(|error| format!("fio: {}", Errno::from_raw(error.saturating_abs()).desc()));
    if together.iter().any(|job| job.trim.total_ios > 0) || asked.only_trims() {
        import.notes.push(format!("{name}: its trims are skipped"));
    }
    let moved: Vec<(Op, Vec<&Direction>)> = [
        (Op::Read, together.iter().map(|job| &job.read).collect::<Vec<_>>()),
        (Op::Write, together.iter().map(|job| &job.write).collect()),
    ]
    .into_iter()
    .filter(|(_, all)| all.iter().any(|of| of.total_ios > 0))
    .collect();
    let threads = if together.len() > 1 { together.len() as u32 } else { asked.threads() };
    if moved.is_empty() && !asked.only_trims() {
        let read = asked.job(asked.direction(), threads, None);
        let cell = import.cell(read.job, &name, &read.said);
        import.errors[cell] =
            Some(error.clone().unwrap_or_else(|| "fio completed no operation".into()));
    }
    let alone = moved.len() == 1;
    // Both directions of a mix run at the same time.
    let took = moved.iter().flat_map(|(_, all)| all).map(|of| nanos(of)).max().unwrap_or(0);
    import.nanos = import.nanos.saturating_add(took);
    for (op, all) in moved {
        let trial = make_trial(&all, if alone { together } else { &[] });
        let read = asked.job(op, threads, Some((trial.bytes, trial.ops)));
        let calls = asked.calls_per_op();
        let cell = import.cell(read.job, &name, &read.said);
        if let Some(error) = &error {
            import.errors[cell] = Some(error.clone());
        }
        let round =
            import.trials.iter().filter(|trial| trial.cell as usize == cell).count() as u32 + 1;
        // For a mapping, fio makes no calls for its blocks; other calls are unknown.
        let calls_each = calls.filter(|calls| *calls > 0);
        let syscalls = calls_each.map(|calls| trial.ops.saturating_mul(calls.into())).into();
        import.trials.push(Trial { cell: cell as u32, round, syscalls, ..trial });
        import.judge(cell, &all, calls.is_some(), round);
    }
}

/// Returns one direction of jobs that ran as one. `alone`: those jobs, if they have no other
/// direction, so that all CPU time belongs to this one.
fn make_trial(all: &[&Direction], alone: &[FioJob]) -> Trial {
    let sum = |of: fn(&Direction) -> u64| {
        all.iter().fold(0u64, |sum, direction| sum.saturating_add(of(direction)))
    };
    let cpu = |percent: fn(&FioJob) -> f64| {
        let nanos: f64 =
            alone.iter().map(|job| percent(job) / 100.0 * job.job_runtime as f64 * 1e6).sum();
        if nanos.is_finite() { nanos.max(0.0) as u64 } else { 0 }
    };
    let faults =
        |of: fn(&FioJob) -> u64| alone.iter().fold(0u64, |sum, job| sum.saturating_add(of(job)));
    Trial {
        bytes: sum(|of| of.io_bytes),
        ops: sum(|of| of.total_ios),
        nanos: all.iter().map(|of| nanos(of)).max().unwrap_or(0),
        user_nanos: cpu(|job| job.usr_cpu),
        system_nanos: cpu(|job| job.sys_cpu),
        minor_faults: faults(|job| job.minf),
        major_faults: faults(|job| job.majf),
        ..Trial::default()
    }
}

/// Returns the time of a direction; if it is under a millisecond, computed from its rate.
fn nanos(of: &Direction) -> u64 {
    match (of.runtime, of.bw_bytes) {
        (0, 0) => 0,
        (0, rate) => (of.io_bytes as f64 / rate as f64 * 1e9) as u64,
        (millis, _) => millis.saturating_mul(1_000_000),
    }
}

fn warning(id: &'static str, severity: Severity, message: &str, evidence: String) -> Warning {
    Warning { id: id.into(), severity, message: message.into(), evidence, remedy: String::new() }
}

impl Import {
    /// Returns the index of a cell, which is added if none is equal.
    fn cell(&mut self, job: Job, name: &str, said: &[String]) -> usize {
        if let Some(at) = self.cells.iter().position(|own| *own == job) {
            return at;
        }
        let unknown = Source { device: 0.0, page_cache: 0.0, hole: 0.0, unknown: 1.0 };
        let rough = said.iter().map(|said| {
            warning(
                "fio-options",
                Severity::Misleading,
                "a fio option has no equivalent here",
                format!("{name}: {said}"),
            )
        });
        let warnings = rough.collect();
        self.verdicts.push(Verdict {
            source: Some(unknown),
            source_reason: "fio does not report this".into(),
            warnings,
            ..Verdict::default()
        });
        self.cells.push(job);
        self.errors.push(None);
        self.bins.push(Default::default());
        self.cells.len() - 1
    }

    /// Judges a cell; `calls`: the number of system calls per operation is known.
    fn judge(&mut self, cell: usize, all: &[&Direction], calls: bool, round: u32) {
        let millis = all.iter().map(|of| of.runtime).max().unwrap_or(0);
        let verdict = &mut self.verdicts[cell];
        let mut add = |found: Warning| {
            if !verdict.warnings.iter().any(|own| own.id == found.id) {
                verdict.warnings.push(found);
            }
        };
        if millis < COARSE {
            add(warning(
                "coarse-clock",
                Severity::Misleading,
                "fio counts whole milliseconds, and the job ran for few",
                format!("{millis} ms"),
            ));
        }
        if !calls {
            add(warning(
                CALLS_UNKNOWN,
                Severity::Note,
                "fio does not report how many system calls it made",
                String::new(),
            ));
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
        let bins = &mut self.bins[cell];
        for (at, count) in all
            .iter()
            .flat_map(|of| &of.latencies().bins)
            .filter_map(|(at, count)| Some((at.parse::<u64>().ok()?, *count)))
        {
            let sum = bins.entry(at).or_default();
            *sum = sum.saturating_add(count);
        }
        let known = verdict.latency.take();
        verdict.latency = match (known, all) {
            (None, [one]) if round == 1 => latency(one.latencies(), bins),
            // Percentiles cannot be added up, but bins can.
            _ => merged(bins),
        };
    }
}

/// Returns fio's own percentiles, as far as the number of operations supports them.
fn latency(of: &Times, bins: &std::collections::BTreeMap<u64, u64>) -> Option<Latency> {
    let sound = of.count > 0 && of.mean.is_finite() && of.max.is_finite() && of.mean >= 0.0;
    let at = |percent: f64| {
        let found = of
            .percentile
            .iter()
            .find(|(name, _)| name.parse::<f64>().is_ok_and(|own| (own - percent).abs() < 1e-6));
        found
            .map(|(_, value)| *value)
            .filter(|value| value.is_finite() && carries(of.count, percent))
    };
    let buckets = bins.iter().map(|(at, count)| (*at, *count)).collect();
    let [p50, p90, p99, p999] = [50.0, 90.0, 99.0, 99.9].map(at);
    sound.then_some(Latency {
        count: of.count,
        every: 1,
        mean: of.mean,
        p50,
        p90,
        p99,
        p999,
        max: of.max,
        buckets,
    })
}

/// Returns whether a percentile is supported: ten operations must lie above it; the median needs
/// one.
fn carries(count: u64, percent: f64) -> bool {
    percent == 50.0 && count > 0 || count as f64 * (100.0 - percent) / 100.0 >= 9.999
}

/// Returns the latency from the bins of several jobs.
fn merged(bins: &std::collections::BTreeMap<u64, u64>) -> Option<Latency> {
    let count: u64 = bins.values().fold(0, |sum, count| sum.saturating_add(*count));
    let at = |percent: f64| {
        let wanted = count as f64 * percent / 100.0;
        let mut below = 0.0;
        let found = bins.iter().find(|(_, some)| {
            below += **some as f64;
            below >= wanted
        });
        found.map(|(at, _)| *at as f64).filter(|_| carries(count, percent))
    };
    let max = *bins.keys().next_back()? as f64;
    let mean =
        bins.iter().map(|(at, some)| *at as f64 * *some as f64).sum::<f64>() / count.max(1) as f64;
    let [p50, p90, p99, p999] = [50.0, 90.0, 99.0, 99.9].map(at);
    let buckets = bins.iter().map(|(at, count)| (*at, *count)).collect();
    (count > 0).then_some(Latency { count, every: 1, mean, p50, p90, p99, p999, max, buckets })
}
