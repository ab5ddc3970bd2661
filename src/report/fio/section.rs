//! One cell as a section of a job file.

use std::time::Duration;

use super::target::Target;
use super::{Line, dd};
use crate::engine::info;
use crate::plan::{Cache, Fio, FioEngine, FioOption, Job, Op, Pattern, Sync, foreign_engine};
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
    let left_out = |why: &str| vec![Line::Comment(format!("{label}: {why}"))];
    if !target.may(job.op) {
        return left_out("skipped, it would write to an existing file");
    }
    let mut section = Section::default();
    if let Err(why) = engine(&mut section, job) {
        return left_out(why);
    }
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

/// Writes the engine, its options and what it is given.
///
/// # Errors
/// fio has no engine that does what the backend does: why.
fn engine(section: &mut Section, job: &Job) -> Result<(), &'static str> {
    if job.op == Op::Seek {
        return Err("fio has no job for calls that move no data");
    }
    match info(&job.backend).map(|info| info.fio) {
        Some(Fio::Engine(engine)) => backend(section, &engine, job),
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
        section.say("fio does not compute the XOR of the data");
    }
    Ok(())
}

fn backend(section: &mut Section, engine: &FioEngine, job: &Job) {
    let mut name = engine.name;
    let mut options = Vec::new();
    for (option, _) in &job.backend.options {
        match engine.options.iter().find(|known| known.option == option) {
            Some(FioOption { assignment: Some(("ioengine", other)), .. }) => name = other,
            Some(FioOption { assignment, .. }) => options.extend(*assignment),
            None => section.say(format!("fio has no equivalent of +{option}")),
        }
    }
    section.set("ioengine", name);
    if !engine.note.is_empty() {
        section.say(engine.note);
    }
    for (option, value) in options {
        section.set(option, value);
    }
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
                "fio strides over the file and then revisits the same blocks; iotui visits all blocks",
            );
            format!("{kind}:{}", block.saturating_mul(n.saturating_sub(1)))
        }
    };
    section.set("rw", rw);
    if job.appends() {
        section.say("iotui appends to an empty file; fio may set the size of its file first");
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
        Cache::Cold => section.say("fio drops the page cache but does not verify that it is empty"),
        Cache::Warm if job.op == Op::Read => section.set("pre_read", 1),
        Cache::Warm | Cache::AsIs => {}
    }
}
