//! One cell as a section of a job file.

use std::time::Duration;

use super::target::Target;
use super::{Line, dd};
use crate::peer::peer;
use crate::plan::{Cache, Job, Op, Pattern, Sync};
use crate::units;

/// What a section is made of: options, and comments on what they do not say.
#[derive(Default)]
struct Section {
    options: Vec<String>,
    comments: Vec<String>,
}

impl Section {
    fn set(&mut self, name: &str, value: impl ToString) {
        self.options.push(format!("{name}={}", value.to_string()));
    }

    fn say(&mut self, comment: impl Into<String>) {
        self.comments.push(comment.into());
    }
}

/// The lines of a cell; only comments where fio has nothing like it.
pub fn lines(number: usize, job: &Job, target: &Target, trial_time: Duration) -> Vec<Line> {
    let label = job.label();
    if !target.may(job.op) {
        return vec![Line::Comment(format!(
            "{label}: left out, it would write a file that was there before"
        ))];
    }
    if job.op == Op::Seek || (!crate::engine::moves_data(job) && job.backend.id != "null") {
        return vec![Line::Comment(format!("{label}: fio has no job of calls that move nothing"))];
    }
    let mut section = Section::default();
    engine(&mut section, job);
    order(&mut section, job);
    amount(&mut section, job, trial_time);
    caches(&mut section, job);
    let name: String = label
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '+' | '=' | '.' | '-' | '_'))
        .collect();
    let comments =
        section.comments.into_iter().chain(dd::line(job, target).map(|line| format!("dd: {line}")));
    let mut lines: Vec<Line> = comments.map(Line::Comment).collect();
    lines.push(Line::Option(format!("[{number} {name}]")));
    lines.extend(section.options.into_iter().map(Line::Option));
    lines.push(Line::Option("stonewall".into()));
    lines
}

fn engine(section: &mut Section, job: &Job) {
    let (engine, differs) = match job.backend.id.as_str() {
        "read" => ("sync", None),
        "pread" => ("psync", None),
        "mmap-copy" => ("mmap", None),
        "mmap" => ("mmap", Some("iotui touches mapped data (an XOR), fio copies it")),
        "uring" => ("io_uring", None),
        "readv" => ("pvsync", Some("fio reads into one vector for each block")),
        "preadv2" => ("pvsync2", None),
        "simd-copy" => ("mmap", Some("fio copies with the C library's memcpy")),
        "aio" => ("libaio", None),
        "splice" => {
            ("splice", Some("fio maps the pages of the pipe and looks at them, iotui drops them"))
        }
        "tokio" => {
            ("psync", Some("fio has no asynchronous runtime: pread(2) is what it calls in the end"))
        }
        "stdio" => {
            ("psync", Some("fio has no fread(3): pread(2) is the nearest, without its buffer"))
        }
        "dd" => ("sync", Some("dd writes each block to /dev/null as well")),
        "fio" => (named(job), None),
        "null" => ("null", Some("no bytes move: fio's own cost")),
        _ => ("psync", Some("fio is not known to have this way: pread(2) instead")),
    };
    section.set("ioengine", engine);
    if let Some(differs) = differs {
        section.say(differs);
    }
    for (option, _) in &job.backend.options {
        match (option.as_str(), engine) {
            // fio always calls through the C library.
            ("libc", _) => {}
            _ if job.backend.peer => {}
            ("sqpoll", "io_uring") => section.set("sqthread_poll", 1),
            ("nowait", "pvsync2") => section.set("nowait", 1),
            ("dontcache", "pvsync2") => section.set("uncached", 1),
            ("sequential", _) => section.set("fadvise_hint", "sequential"),
            ("random", _) => section.set("fadvise_hint", "random"),
            ("fixed", "io_uring") => section.set("fixedbufs", 1),
            (other, _) => section.say(format!("no option of fio: +{other}")),
        }
    }
    section.set("bs", job.block);
    section.set("direct", u8::from(job.direct));
    section.set("iodepth", job.depth);
    if job.xor {
        section.say("fio does not fold the data into an XOR");
    }
}

/// The engine of a cell that fio itself measured: its option.
fn named(job: &Job) -> &'static str {
    let known =
        |(name, _): &(String, Option<String>)| peer(&job.backend.id).ok()?.info().option(name);
    job.backend.options.first().and_then(known).map_or("psync", |option| option.name)
}

fn order(section: &mut Section, job: &Job) {
    let kind = match (job.op, job.mix) {
        (_, Some(_)) => "rw",
        (Op::Write, None) => "write",
        _ => "read",
    };
    let block = job.block;
    let rw = match job.pattern {
        Pattern::Seq => kind.to_string(),
        Pattern::Random => format!("rand{kind}"),
        // Added to the end of the block before.
        Pattern::Reverse => format!("{kind}:-{}", block.saturating_mul(2)),
        Pattern::Stride(n) => {
            section.say(
                "fio strides over the file once and again over the same blocks; iotui visits all",
            );
            format!("{kind}:{}", block.saturating_mul(n.saturating_sub(1)))
        }
    };
    section.set("rw", rw);
    if job.appends() {
        section.say(
            "iotui writes to an empty file that grows; fio may set the size of its file first",
        );
    }
    if let Some(mix) = job.mix {
        section.set("rwmixread", mix.min(100));
    }
    match job.sync {
        Sync::None => {}
        Sync::End => {
            section.set("end_fsync", 1);
            section.say("iotui ends with fdatasync, fio with fsync");
        }
        Sync::Each => section.set("sync", "dsync"),
    }
}

/// How much of the file, by how many threads, how often.
fn amount(section: &mut Section, job: &Job, trial_time: Duration) {
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

fn caches(section: &mut Section, job: &Job) {
    section.set("invalidate", u8::from(job.cache == Cache::Cold));
    match job.cache {
        Cache::Cold => {
            section.say("fio asks for an empty page cache and does not check that it is")
        }
        Cache::Warm if job.op == Op::Read => section.set("pre_read", 1),
        Cache::Warm | Cache::AsIs => {}
    }
}
