//! One cell as a section of a job file.

use std::time::Duration;

use super::dd;
use super::line::comment;
use super::target::FioTarget;
use crate::catalog::info;
use crate::plan::{
    Cache, Fio, FioEngine, FioOption, FioValue, Job, Layout, Op, Pattern, Rate, Sync, Writes,
    foreign_engine,
};
use crate::units;

/// A section: its options, and comments on what they cannot express.
#[derive(Default)]
struct FioSection {
    options: Vec<String>,
    comments: Vec<String>,
}

impl FioSection {
    fn set(&mut self, name: &str, value: impl ToString) {
        self.options.push(format!("{name}={}", value.to_string()));
    }

    fn add_comment(&mut self, comment: impl Into<String>) {
        self.comments.push(comment.into());
    }
}

/// Builds the lines of a cell; only comments if fio has no equivalent.
pub fn build_lines(
    number: usize,
    job: &Job,
    target: &FioTarget,
    trial_time: Duration,
) -> Vec<String> {
    let label = job.label();
    let skip = |why: &str| vec![comment(&format!("{label}: {why}"))];
    if !target.allows(job.op) {
        return skip("skipped, it would write to an existing file");
    }
    let mut section = FioSection::default();
    if let Err(why) = set_engine(&mut section, job) {
        return skip(why);
    }
    add_layout(&mut section, job);
    let job = job.of_all_ranks();
    let job = &Job { span: target.most.unwrap_or(u64::MAX).min(job.span), ..job };
    set_pattern(&mut section, job);
    set_amount(&mut section, job, trial_time);
    set_pace(&mut section, job);
    set_caches(&mut section, job);
    let name: String = label
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '+' | '=' | '.' | '-' | '_'))
        .collect();
    let comments = section
        .comments
        .into_iter()
        .chain(dd::command(job, target).map(|line| format!("dd: {line}")));
    let mut lines: Vec<String> = comments.map(|text| comment(&text)).collect();
    lines.push(format!("[{number} {name}]"));
    lines.extend(section.options);
    lines.push("stonewall".into());
    lines
}

/// Describes how the ranks of a cell differ from jobs of fio, which share one file in pieces.
fn add_layout(section: &mut FioSection, job: &Job) {
    if job.processes() == 1 {
        return;
    }
    section.add_comment(match job.layout {
        Layout::PerRank => "iotui gave each rank a file of its own, fio's jobs have pieces of one",
        Layout::Segmented => "the ranks of iotui are jobs of fio, on one machine",
        Layout::Strided => "the ranks of iotui had every n-th block, fio's jobs have pieces",
    });
}

/// Sets the engine, its options, block size and depth.
///
/// # Errors
/// Returns the reason if fio has no equivalent engine.
fn set_engine(section: &mut FioSection, job: &Job) -> Result<(), &'static str> {
    if job.op == Op::Seek {
        return Err("fio has no job for calls that move no data");
    }
    match info(&job.backend).map(|info| info.fio) {
        Some(Fio::Engine(engine)) => set_backend(section, &engine, job),
        Some(Fio::Unavailable(why)) => return Err(why),
        None => {
            let engine = foreign_engine(&job.backend.id);
            section.set("ioengine", engine.ok_or("this version of iotui has no such backend")?);
        }
    }
    section.set("bs", job.block);
    section.set("direct", u8::from(job.direct));
    section.set("iodepth", job.depth);
    if job.xor {
        section.add_comment("fio does not compute the XOR of the data");
    }
    Ok(())
}

fn set_backend(section: &mut FioSection, engine: &FioEngine, job: &Job) {
    let mut name = engine.name;
    let mut options = Vec::new();
    for (option, given) in &job.backend.options {
        match engine.options.iter().find(|known| known.option == option) {
            Some(FioOption { assignment: Some(("ioengine", FioValue::Word(other))), .. }) => {
                name = other
            }
            Some(FioOption { assignment: Some((name, FioValue::Word(word))), .. }) => {
                options.push((*name, word.to_string()))
            }
            Some(FioOption { assignment: Some((name, FioValue::Number)), .. }) => {
                let number = job.backend.size(option).map(|number| number.to_string());
                options.extend(number.or(given.clone()).map(|number| (*name, number)))
            }
            Some(FioOption { assignment: None, .. }) => {}
            None => section.add_comment(format!("fio has no equivalent of +{option}")),
        }
    }
    section.set("ioengine", name);
    if !engine.note.is_empty() {
        section.add_comment(engine.note);
    }
    for (option, value) in options {
        section.set(option, value);
    }
}

fn set_pattern(section: &mut FioSection, job: &Job) {
    let kind = match (job.op, job.mix) {
        (_, Some(_)) => "rw",
        (Op::Write, None) => "write",
        _ => "read",
    };
    let block = job.block;
    let rw = match job.pattern {
        Pattern::Seq => kind.to_string(),
        Pattern::Random | Pattern::Zipf(_) | Pattern::Hot { .. } => format!("rand{kind}"),
        // Added to the end of the previous block.
        Pattern::Reverse => format!("{kind}:-{}", block.saturating_mul(2)),
        Pattern::Stride(n) => {
            section.add_comment(
                "fio strides over the file and then revisits the same blocks; iotui visits all blocks",
            );
            format!("{kind}:{}", block.saturating_mul(n.saturating_sub(1)))
        }
    };
    section.set("rw", rw);
    set_distribution(section, job.pattern);
    match job.writes {
        _ if job.op != Op::Write => {}
        Writes::Overwrite => {}
        Writes::Append => section
            .add_comment("iotui appends to an empty file; fio may set the size of its file first"),
        Writes::Preallocated => {
            section.set("fallocate", "native");
            section
                .add_comment("fio allocates its file when it makes it: remove it before each run");
        }
    }
    if job.has_own_files() {
        section.add_comment("iotui wrote a file per thread; here each writes its part of one file");
    }
    if let Some(mix) = job.mix {
        section.set("rwmixread", mix.min(100));
    }
    match job.sync {
        Sync::None => {}
        Sync::End => {
            section.set("end_fsync", 1);
            section.add_comment("iotui ends with fdatasync, fio with fsync");
        }
        Sync::Fdatasync => section.set("fdatasync", job.writes_per_commit()),
        Sync::Fsync => section.set("fsync", job.writes_per_commit()),
        Sync::Dsync => section.set("sync", "dsync"),
        Sync::Osync => section.set("sync", "sync"),
        Sync::RwfDsync => {
            section.set("sync", "dsync");
            section.add_comment("iotui asks for RWF_DSYNC with each write, fio opens with O_DSYNC");
        }
        // fio's mmap engine answers fdatasync with msync(MS_SYNC).
        Sync::Msync => section.set("fdatasync", job.writes_per_commit()),
    }
}

/// Sets how often blocks come that are drawn with replacement.
fn set_distribution(section: &mut FioSection, pattern: Pattern) {
    let distribution = match pattern {
        // fio has no exponent of exactly 1.
        Pattern::Zipf(1000) => "zipf:1.001".into(),
        Pattern::Hot { share, accesses } => {
            section.add_comment(
                "fio's popular blocks are the first of its file, iotui's lie anywhere",
            );
            format!("zoned:{accesses}/{share}:{}/{}", 100 - accesses, 100 - share)
        }
        pattern if pattern.is_drawn() => pattern.to_string(),
        _ => return,
    };
    section.set("random_distribution", distribution);
    section.set("norandommap", 1);
}

/// Sets size, threads and number of operations.
fn set_amount(section: &mut FioSection, job: &Job, trial_time: Duration) {
    let threads = u64::from(job.threads.max(1));
    section.set("numjobs", threads);
    let part = (job.blocks() / threads).max(1).saturating_mul(job.block);
    if threads > 1 {
        section.set("offset_increment", part);
        section.set("size", part);
    } else if job.span > 0 {
        section.set("size", job.span);
    }
    match job.count {
        Some(0) => {}
        Some(count) => section.set("number_ios", (count / threads).max(1)),
        None => {
            section.set("runtime", units::short_time(trial_time));
            if job.cache != Cache::Cold {
                section.set("time_based", 1);
            }
        }
    }
}

/// Sets rate and pause, each of one job of `numjobs`.
fn set_pace(section: &mut FioSection, job: &Job) {
    let threads = u64::from(job.threads.max(1));
    if let Some(rate) = job.rate {
        let (name, all) = match rate {
            Rate::Operations(operations) => ("rate_iops", operations),
            Rate::Bytes(bytes) => ("rate", bytes),
        };
        section.set(name, (all / threads).max(1));
        if all % threads != 0 {
            section.add_comment("fio's rate is of each job: the sum is lower than iotui's");
        }
        if !job.arrival.is_steady() {
            section.set("rate_process", job.arrival);
        }
        section
            .add_comment("fio counts latencies from the real start, iotui from the intended one");
    }
    if job.think > 0 {
        section.set("thinktime", job.think.div_ceil(1000));
    }
}

fn set_caches(section: &mut FioSection, job: &Job) {
    section.set("invalidate", u8::from(job.cache == Cache::Cold));
    match job.cache {
        Cache::Cold => {
            section.add_comment("fio drops the page cache but does not verify that it is empty")
        }
        Cache::Warm if job.op == Op::Read => section.set("pre_read", 1),
        Cache::Warm | Cache::AsIs => {}
    }
}
