//! `fio`: the flexible I/O tester, run with as little accounting as possible.

use serde::Deserialize;

use super::kind::{Output, Peer, PeerError, Task, ThreadResult, first_line};
use crate::catalog::{self, FIO_ENGINES};
use crate::plan::{Info, Job, Pattern};
use crate::sys::usage::Usage;

pub struct Fio;

/// An I/O engine of fio.
struct Engine {
    /// Its name, which is the peer's option.
    name: &'static str,
    max_depth: u32,
    /// Whether each read is a single system call.
    call_per_read: bool,
}

const fn engine(option: usize, max_depth: u32, call_per_read: bool) -> Engine {
    Engine { name: FIO_ENGINES[option].name, max_depth, call_per_read }
}

/// The first engine is the default.
static ENGINES: [Engine; FIO_ENGINES.len()] = [
    engine(0, 1, true),
    engine(1, Job::MAX_DEPTH, false),
    engine(2, Job::MAX_DEPTH, false),
    engine(3, 1, false),
];

impl Peer for Fio {
    fn info(&self) -> &'static Info {
        &catalog::FIO
    }

    fn package(&self) -> &'static str {
        "fio"
    }

    fn version_start(&self) -> Option<&'static str> {
        Some("fio-")
    }

    fn refusal(&self, job: &Job) -> Option<String> {
        if job.backend.options.len() > 1 {
            return Some(format!("{}: fio uses one engine at a time", job.backend));
        }
        let engine = engine_of(job);
        if !matches!(job.pattern, Pattern::Seq | Pattern::Random) {
            return Some(format!(
                "fio does not support the pattern {}: use seq or random",
                job.pattern
            ));
        }
        if job.depth > engine.max_depth {
            return Some(format!(
                "fio+{} reads one block at a time: use --depth 1 or fio+io_uring",
                engine.name
            ));
        }
        (job.direct && engine.name == "mmap").then(|| "fio+mmap does not support direct I/O".into())
    }

    fn command(&self, task: &Task) -> Vec<String> {
        let job = task.job;
        let rw = if job.pattern == Pattern::Random { "randread" } else { "read" };
        let engine = engine_of(job).name;
        let file = task.file.display();
        let block = job.block;
        let depth = job.depth;
        let direct = u8::from(job.direct);
        // All versions of fio accept 31 bits.
        let seed = task.seed >> 33;
        let mut args: Vec<String> = [
            "--output-format=json",
            "--readonly",
            "--thread",
            "--allow_file_create=0",
            "--disk_util=0",
        ]
        .map(String::from)
        .to_vec();
        // Like iotui's own reads: no cache drop, no advice, page-aligned buffers, and no expensive
        // accounting.
        args.extend(
            ["--invalidate=0", "--fadvise_hint=0", "--iomem_align=4096", "--gtod_reduce=1"]
                .map(String::from),
        );
        args.extend([
            format!("--filename={file}"),
            format!("--ioengine={engine}"),
            format!("--rw={rw}"),
            format!("--bs={block}"),
        ]);
        args.extend([
            format!("--direct={direct}"),
            format!("--iodepth={depth}"),
            format!("--randseed={seed}"),
        ]);
        if let Some(limit) = task.limit {
            args.push(format!("--runtime={}ms", limit.as_millis().max(1)));
        }
        // Options before the first name apply to all jobs.
        for (lane, part) in task.parts.iter().enumerate() {
            let total = part.ops.saturating_mul(block).saturating_mul(task.passes);
            args.extend([
                format!("--name={lane}"),
                format!("--offset={}", part.offset),
                format!("--size={}", part.len),
                format!("--io_size={total}"),
            ]);
        }
        args
    }

    fn parse(&self, task: &Task, output: &Output) -> Result<Vec<ThreadResult>, PeerError> {
        fn unexpected(why: String) -> PeerError {
            PeerError::Output { program: "fio", why }
        }
        fn line_error(line: String) -> PeerError {
            PeerError::Failed { program: "fio", line }
        }
        // Warnings may precede the JSON.
        let json = output.stdout.find('{').map_or("", |start| &output.stdout[start..]);
        let mut documents = serde_json::Deserializer::from_str(json).into_iter::<JsonOutput>();
        let report = match documents.next() {
            Some(Ok(report)) => report,
            Some(Err(error)) => {
                return Err(first_line(output.stderr)
                    .map_or_else(|| unexpected(error.to_string()), line_error));
            }
            None => {
                return Err(first_line(output.stderr)
                    .or_else(|| first_line(output.stdout))
                    .map_or_else(|| unexpected("no output".into()), line_error));
            }
        };
        if let Some(job) = report.jobs.iter().find(|job| job.error != 0) {
            let errno = || std::io::Error::from_raw_os_error(job.error).to_string();
            return Err(line_error(first_line(output.stderr).unwrap_or_else(errno)));
        }
        if report.jobs.len() != task.parts.len() {
            return Err(unexpected(format!(
                "{} jobs instead of {}",
                report.jobs.len(),
                task.parts.len()
            )));
        }
        let call_per_read = engine_of(task.job).call_per_read;
        report
            .jobs
            .iter()
            .map(|job| {
                job.result(call_per_read).ok_or_else(|| unexpected("impossible figures".into()))
            })
            .collect()
    }

    fn can_repeat(&self) -> bool {
        true
    }

    fn obeys_limit(&self) -> bool {
        true
    }
}

/// Returns the engine named by a job, or the default.
fn engine_of(job: &Job) -> &'static Engine {
    ENGINES.iter().find(|engine| job.backend.has(engine.name)).unwrap_or(&ENGINES[0])
}

/// The part of fio's JSON that is used.
#[derive(Deserialize)]
struct JsonOutput {
    jobs: Vec<JobOutput>,
}

/// A job of fio: one thread of the task.
#[derive(Deserialize)]
struct JobOutput {
    #[serde(default)]
    error: i32,
    /// Milliseconds.
    #[serde(default)]
    job_runtime: u64,
    /// Percent of `job_runtime`.
    #[serde(default)]
    usr_cpu: f64,
    #[serde(default)]
    sys_cpu: f64,
    #[serde(default)]
    ctx: u64,
    #[serde(default)]
    majf: u64,
    #[serde(default)]
    minf: u64,
    read: Direction,
}

#[derive(Deserialize)]
struct Direction {
    io_bytes: u64,
    total_ios: u64,
    /// Milliseconds, rounded up.
    runtime: u64,
}

impl JobOutput {
    /// Returns the figures of the job; `None` if one of them is impossible for a single thread. The
    /// bound also keeps sums over 1024 threads from overflowing.
    fn result(&self, call_per_read: bool) -> Option<ThreadResult> {
        const MILLI: u64 = 1_000_000;
        const MAX_FIGURE: u64 = 1 << 53;
        if [self.read.io_bytes, self.read.total_ios, self.ctx, self.majf, self.minf]
            .iter()
            .any(|count| *count > MAX_FIGURE)
        {
            return None;
        }
        let cpu = |percent: f64| {
            let nanos = percent / 100.0 * self.job_runtime as f64 * MILLI as f64;
            (0.0..MAX_FIGURE as f64).contains(&nanos).then_some(nanos as u64)
        };
        Some(ThreadResult {
            bytes: self.read.io_bytes,
            ops: self.read.total_ios,
            syscalls: call_per_read.then_some(self.read.total_ios),
            nanos: self.read.runtime.checked_mul(MILLI)?,
            step: MILLI,
            usage: Some(Usage {
                user_nanos: cpu(self.usr_cpu)?,
                system_nanos: cpu(self.sys_cpu)?,
                minor_faults: self.minf,
                major_faults: self.majf,
                // fio reports only the sum of both kinds; for reads most of them are voluntary.
                voluntary_switches: self.ctx,
                involuntary_switches: 0,
            }),
        })
    }
}

#[cfg(test)]
mod tests;
