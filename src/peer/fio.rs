//! `fio`: the flexible I/O tester, with its cheapest accounting.

use serde::Deserialize;

use super::{Done, Output, Peer, PeerError, Task, first_line};
use crate::plan::{
    DataPath, Depth, Fio as InFio, FioEngine, FioOption, Info, Job, Op, Opt, Pattern,
};
use crate::sys::usage::Usage;

pub struct Fio;

/// An engine of fio: as an option of ours, and whether one read is one system call.
struct Engine {
    option: Opt,
    most_depth: u32,
    call_each: bool,
}

const fn engine(
    name: &'static str,
    most_depth: u32,
    call_each: bool,
    about: &'static str,
) -> Engine {
    Engine { option: Opt { name, value: None, about }, most_depth, call_each }
}

/// The first is taken where none is named.
const ENGINES: [Engine; 4] = [
    engine("psync", 1, true, "its engine of pread(2), as without an option"),
    engine("libaio", Job::MAX_DEPTH, false, "its engine of io_submit(2), to a depth"),
    engine("io_uring", Job::MAX_DEPTH, false, "its engine of io_uring, to a depth"),
    engine("mmap", 1, false, "its engine of a mapping, which it copies from"),
];

impl Engine {
    /// Its option in a job file.
    const fn in_job_file(&self) -> FioOption {
        FioOption::new(self.option.name, "ioengine", self.option.name)
    }
}

/// Its own engines in a job file.
const JOB_FILE: InFio = InFio::Engine(FioEngine::new(
    ENGINES[0].option.name,
    None,
    &[
        ENGINES[0].in_job_file(),
        ENGINES[1].in_job_file(),
        ENGINES[2].in_job_file(),
        ENGINES[3].in_job_file(),
    ],
));

impl Peer for Fio {
    fn info(&self) -> &'static Info {
        &Info {
            id: "fio",
            title: "fio(1)",
            about: "another program: the flexible I/O tester, with its cheapest accounting",
            doc: "fio --output-format=json --readonly --thread --allow_file_create=0 --disk_util=0 --invalidate=0 --fadvise_hint=0 \
                  --iomem_align=4096 --gtod_reduce=1 --filename --ioengine --rw --bs --direct --iodepth --randseed, for each thread --name \
                  --offset --size --io_size, and --runtime to calibrate: the same blocks of the same file, in the same number of threads, by \
                  the engine that an option names. With --gtod_reduce it counts no latencies and reads its clock as seldom as it can. The time is the one that fio gives, in whole milliseconds, without its start of a quarter of a second; CPU time, \
                  faults and switches are those that it tells of its threads. The last block of the file is left out where it is no \
                  whole one.",
            data_path: DataPath::InPeer,
            ops: &[Op::Read],
            depth: Depth::UpTo(Job::MAX_DEPTH),
            appends: false,
            options: &[ENGINES[0].option, ENGINES[1].option, ENGINES[2].option, ENGINES[3].option],
            fio: JOB_FILE,
            ..Info::COPIES_BY_CALL
        }
    }

    fn package(&self) -> &'static str {
        "fio"
    }

    fn refusal(&self, job: &Job) -> Option<String> {
        let named = job.backend.options.len();
        if named > 1 {
            return Some(format!("{}: fio has one engine at a time", job.backend));
        }
        let engine = chosen(job);
        if !matches!(job.pattern, Pattern::Seq | Pattern::Random) {
            return Some(format!(
                "fio does not visit all blocks in the order {}: use seq or random",
                job.pattern
            ));
        }
        if job.depth > engine.most_depth {
            return Some(format!(
                "fio+{} reads one block at a time: use --depth 1 or fio+io_uring",
                engine.option.name
            ));
        }
        (job.direct && engine.option.name == "mmap").then(|| "fio+mmap cannot do direct I/O".into())
    }

    fn command(&self, task: &Task) -> Vec<String> {
        let job = task.job;
        let rw = if job.pattern == Pattern::Random { "randread" } else { "read" };
        let (engine, file, block, depth) =
            (chosen(job).option.name, task.file.display(), job.block, job.depth);
        let direct = u8::from(job.direct);
        // 31 bits are a number for every version of it.
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
        // As iotui reads: nothing dropped, no advice, page-aligned buffers. And nothing counted
        // that costs.
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
        // What stands before the first name holds for all.
        for (lane, part) in task.parts.iter().enumerate() {
            let (offset, len, all) =
                (part.offset, part.len, part.ops.saturating_mul(block).saturating_mul(task.passes));
            args.extend([
                format!("--name={lane}"),
                format!("--offset={offset}"),
                format!("--size={len}"),
                format!("--io_size={all}"),
            ]);
        }
        args
    }

    fn parse(&self, task: &Task, output: &Output) -> Result<Vec<Done>, PeerError> {
        let strange = |why: String| PeerError::Output { program: "fio", why };
        let said = |line: String| PeerError::Said { program: "fio", line };
        // Warnings may stand before it.
        let text =
            output.stdout.find('{').and_then(|at| output.stdout.get(at..)).unwrap_or_default();
        let mut all = serde_json::Deserializer::from_str(text).into_iter::<Whole>();
        let whole = match all.next() {
            Some(Ok(whole)) => whole,
            Some(Err(error)) => {
                return Err(
                    first_line(output.stderr).map_or_else(|| strange(error.to_string()), said)
                );
            }
            None => {
                return Err(first_line(output.stderr)
                    .or_else(|| first_line(output.stdout))
                    .map_or_else(|| strange("nothing".into()), said));
            }
        };
        if let Some(bad) = whole.jobs.iter().find(|job| job.error != 0) {
            let errno = || std::io::Error::from_raw_os_error(bad.error).to_string();
            return Err(said(first_line(output.stderr).unwrap_or_else(errno)));
        }
        if whole.jobs.len() != task.parts.len() {
            return Err(strange(format!(
                "{} jobs instead of {}",
                whole.jobs.len(),
                task.parts.len()
            )));
        }
        let call_each = chosen(task.job).call_each;
        whole
            .jobs
            .iter()
            .map(|job| job.done(call_each).ok_or_else(|| strange("figures that cannot be".into())))
            .collect()
    }

    fn repeats(&self) -> bool {
        true
    }

    fn keeps_limit(&self) -> bool {
        true
    }
}

fn chosen(job: &Job) -> &'static Engine {
    const FIRST: &Engine = &ENGINES[0];
    const ALL: &[Engine] = &ENGINES;
    ALL.iter().find(|engine| job.backend.has(engine.option.name)).unwrap_or(FIRST)
}

/// Of its JSON, what is read here.
#[derive(Deserialize)]
struct Whole {
    jobs: Vec<Told>,
}

/// One job, which is one thread of the task.
#[derive(Deserialize)]
struct Told {
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
    /// Milliseconds, of a part a whole one.
    runtime: u64,
}

impl Told {
    /// `None` where a figure is none that a thread can reach; so the sums of 1024 of them are
    /// numbers too.
    fn done(&self, call_each: bool) -> Option<Done> {
        const MILLI: u64 = 1_000_000;
        const MOST: u64 = 1 << 53;
        if [self.read.io_bytes, self.read.total_ios, self.ctx, self.majf, self.minf]
            .iter()
            .any(|count| *count > MOST)
        {
            return None;
        }
        let cpu = |percent: f64| {
            let nanos = percent / 100.0 * self.job_runtime as f64 * MILLI as f64;
            (0.0..MOST as f64).contains(&nanos).then_some(nanos as u64)
        };
        Some(Done {
            bytes: self.read.io_bytes,
            ops: self.read.total_ios,
            syscalls: call_each.then_some(self.read.total_ios),
            nanos: self.read.runtime.checked_mul(MILLI)?,
            step: MILLI,
            usage: Some(Usage {
                user_nanos: cpu(self.usr_cpu)?,
                system_nanos: cpu(self.sys_cpu)?,
                minor_faults: self.minf,
                major_faults: self.majf,
                // It tells the sum of both kinds; of one that reads, most are waits.
                voluntary_switches: self.ctx,
                involuntary_switches: 0,
            }),
        })
    }
}

#[cfg(test)]
mod tests;
