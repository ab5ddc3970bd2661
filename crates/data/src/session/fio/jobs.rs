//! The jobs of fio's reports: which reports are of one run, and which jobs are parts of one cell.

use std::collections::BTreeMap;

use super::options::{JobOptions, Remark};
use super::output::{Direction, Job as FioJob, Options, Output, sum};
use crate::plan::{Job, Op};

/// The job in client mode that sums up all others.
const SUM: &str = "All clients";

/// A job that fio reports, or several that it reports together.
pub struct Part<'a> {
    pub job: &'a FioJob,
    pub asked: JobOptions<'a>,
    pub threads: u32,
    /// The reads and the writes, each as a job without a file.
    kind: [(Job, Vec<Remark>); 2],
}

impl Part<'_> {
    /// Returns whether two parts that ran at the same time do the same.
    pub fn is_alike(&self, other: &Part) -> bool {
        let (own, others) = (&self.asked, &other.asked);
        self.kind == other.kind
            && (own.direction(), own.only_trims()) == (others.direction(), others.only_trims())
            && own.starts_with_its_group()
            && others.starts_with_its_group()
    }

    /// Returns the name of its file.
    pub fn file(&self) -> String {
        let name = &self.job.jobname;
        match (self.asked.get("filename"), self.asked.get("directory")) {
            (Some(file), _) => file.into(),
            (None, Some(dir)) => format!("{dir}/{name}"),
            (None, None) => name.clone(),
        }
    }

    /// Milliseconds of all its threads.
    pub fn runtime(&self) -> u64 {
        match self.job.job_runtime {
            0 => self.job.longest().saturating_mul(self.threads.into()),
            sum => sum,
        }
    }
}

/// Returns the last report of each run: reports of `--status-interval` repeat it and add to it.
pub fn last_reports(documents: Vec<Output>) -> Vec<Output> {
    let mut runs: Vec<Output> = Vec::new();
    for mut report in documents {
        report.take_clients();
        match runs.last_mut().filter(|last| continues(last, &report)) {
            Some(last) => *last = report,
            None => runs.push(report),
        }
    }
    runs
}

/// Returns whether a report is a later one of the same run.
fn continues(last: &Output, next: &Output) -> bool {
    let pairs = || last.jobs.iter().zip(&next.jobs);
    let same = last.jobs.len() == next.jobs.len()
        && last.version == next.version
        && last.global == next.global
        && pairs().all(|(a, b)| is_one_job(a, b));
    let grows = pairs().all(|(a, b)| a.ops() <= b.ops() && a.longest() <= b.longest());
    let waits = next.jobs.iter().any(|job| {
        let asked = next.asked(job);
        asked.get("ramp_time").is_some() || !asked.starts_with_its_group()
    });
    let gap = next.millis().saturating_sub(last.millis());
    // A new run would have begun after the last report.
    let in_run = if next.timestamp_ms > 0 {
        gap < next.runtime()
    } else {
        gap / 2 <= next.runtime().saturating_sub(last.runtime())
    };
    same && (grows && in_run || waits && last.start().abs_diff(next.start()) < 1000)
}

fn is_one_job(a: &FioJob, b: &FioJob) -> bool {
    (&a.jobname, a.groupid, &a.options) == (&b.jobname, b.groupid, &b.options)
        && (&a.hostname, a.port) == (&b.hostname, b.port)
}

/// Converts the figures of an older version; returns whether it counts bytes in KiB.
///
/// # Errors
/// The figures of a job contradict each other.
pub fn modernize(run: &mut Output) -> Result<bool, String> {
    let blocks = |job| [Op::Read, Op::Write].map(|op| run.asked(job).block(op).ok());
    let blocks: Vec<[Option<u64>; 2]> = run.jobs.iter().map(blocks).collect();
    let mut old = false;
    for (job, blocks) in run.jobs.iter_mut().zip(blocks) {
        let name = crate::text::clean::brief(&job.jobname, 80);
        old |= job.modernize(blocks).map_err(|why| format!("job {name}: {why}"))?;
    }
    if run.sum.as_mut().is_some_and(|sum| sum.modernize([None; 2]).is_err()) {
        run.sum = None;
    }
    Ok(old)
}

/// Returns the jobs of a run with their options.
pub fn parts(run: &Output) -> Vec<Part<'_>> {
    let id = |job: &FioJob| (job.hostname.clone(), job.port, job.groupid, job.jobname.clone());
    let mut named = BTreeMap::new();
    run.jobs.iter().for_each(|job| *named.entry(id(job)).or_insert(0u32) += 1);
    let part = |job| {
        let asked = run.asked(job);
        let kind = [Op::Read, Op::Write].map(|op| {
            let read = asked.job(op, 1, None);
            (Job { span: 0, ..read.job }, read.said)
        });
        // Jobs are reported one by one, or all of a name or group together.
        let asked_for = asked.threads();
        let threads = match named[&id(job)] {
            1 => asked_for.max(job.parallel()),
            some if some == asked_for => 1,
            _ => job.parallel(),
        };
        Part { job, asked, threads, kind }
    };
    run.jobs.iter().map(part).collect()
}

impl Output {
    /// Moves the jobs of client mode to the others, and their sum to its place.
    fn take_clients(&mut self) {
        let all = self.client_stats.drain(..);
        let (mut sums, jobs): (Vec<FioJob>, _) = all.partition(|job| job.jobname == SUM);
        self.jobs.extend(jobs);
        self.sum = sums.pop();
    }

    /// Returns the options of a job and of its server.
    fn asked<'a>(&'a self, job: &'a FioJob) -> JobOptions<'a> {
        static NONE: Options = Options::new();
        let own = |all: &&Options| {
            let at = |name: &str| all.get(name).and_then(|value| value.as_deref());
            at("hostname") == Some(&job.hostname) && at("port") == Some(&job.port.to_string())
        };
        let global = match &self.global[..] {
            [all] => all,
            each => each.iter().find(own).unwrap_or(&NONE),
        };
        JobOptions { own: &job.options, global }
    }

    /// When it was printed, milliseconds since 1970.
    fn millis(&self) -> u64 {
        if self.timestamp_ms > 0 { self.timestamp_ms } else { self.timestamp.saturating_mul(1000) }
    }

    /// When fio started, to a second.
    fn start(&self) -> u64 {
        let elapsed = self.jobs.iter().map(|job| job.elapsed).max().unwrap_or(0);
        self.millis().saturating_sub(elapsed.saturating_mul(1000))
    }

    /// Milliseconds of all its groups, one after the other.
    fn runtime(&self) -> u64 {
        let mut groups = BTreeMap::<u64, u64>::new();
        for job in &self.jobs {
            let longest = groups.entry(job.groupid).or_default();
            *longest = job.longest().max(*longest);
        }
        sum(groups.into_values())
    }
}

impl FioJob {
    fn directions(&self) -> [&Direction; 4] {
        [&self.read, &self.write, &self.trim, &self.mixed]
    }

    fn ops(&self) -> u64 {
        sum(self.directions().iter().map(|of| of.total_ios))
    }

    /// Milliseconds of the longest direction.
    fn longest(&self) -> u64 {
        self.directions().iter().map(|of| of.runtime).max().unwrap_or(0)
    }

    /// Returns how many jobs it sums up: the sum of their times over the longest.
    fn parallel(&self) -> u32 {
        match self.longest() {
            // Too coarse to tell.
            0..100 => 1,
            longest => (self.job_runtime as f64 / longest as f64).round().max(1.0) as u32,
        }
    }
}
