//! The table of axes: one row for each property in which the cells of a session can differ.
//!
//! Labels, tables, curves, comparisons and the answer read it; no other code describes a job.

use std::time::Duration;

use super::job_option::{self, JobOption, option};
use super::{Arrival, Cache, CpuCache, Job, Layout, Op, Opened, Pattern, Rate, Sync, VariantName};
use crate::units;

/// An axis with its names and formats.
pub(super) struct Row {
    /// The name in reports and files.
    pub id: &'static str,
    /// The title of a chart: `throughput by queue depth`.
    pub title: &'static str,
    /// The plural noun for several values, after their number: `4 block sizes`.
    pub many: &'static str,
    /// The head of its column.
    pub column: &'static str,
    /// Its position among the columns, from the left.
    pub place: u8,
    /// Rows are ordered by the axis with the lowest value first, so the highest one reads downwards
    /// as a curve.
    pub order: u8,
    /// Whether it has a column even if all values are equal, if there is room.
    pub always: bool,
    /// A job's value in the column.
    pub value: fn(&Job) -> String,
    /// A job's value in a label; `None` if it is implied.
    pub phrase: fn(&Job) -> Option<String>,
    /// The name of the default value, for a label next to other values.
    pub default: Option<&'static str>,
    /// It is named only where it differs.
    pub rare: bool,
    /// It is part of the label of a single cell; else only of sentences.
    pub brief: bool,
    /// Whether a value that all cells share is worth a note next to a table.
    pub tell: fn(&Job) -> bool,
    /// Removes the value from a job, so that all jobs of a curve are equal.
    pub clear: fn(&mut Job),
    pub number: Option<Number>,
    /// The options that give a job its value.
    pub options: &'static [JobOption],
}

/// The additional properties of a numeric axis.
pub(super) struct Number {
    /// A job's position; `None` if it has none, such as the count of a calibrated job.
    pub at: fn(&Job) -> Option<u64>,
    /// The value in a sentence: `4 threads`.
    pub show: fn(u64) -> String,
    /// The value below a chart: `4 KiB`.
    pub tick: fn(u64) -> String,
    /// The value for small spaces: `4k`.
    pub short: fn(u64) -> String,
    /// Whether values double rather than grow by equal amounts.
    pub doubles: bool,
}

/// Returns the defaults of most rows: the name in reports is also the title and the column.
const fn plain(id: &'static str) -> Row {
    Row {
        id,
        title: id,
        many: id,
        column: id,
        place: 0,
        order: 0,
        always: false,
        value: |_| String::new(),
        phrase: |_| None,
        default: None,
        rare: false,
        brief: true,
        tell: |_| true,
        clear: |_| {},
        number: None,
        options: &[],
    }
}

/// Returns a small number, which looks the same wherever there is little room.
const fn small_number(at: fn(&Job) -> Option<u64>, show: fn(u64) -> String) -> Option<Number> {
    Some(Number { at, show, tick: show_plain, short: show_plain, doubles: true })
}

/// In the order of [`super::Axis::ALL`].
pub(super) static ROWS: [Row; 24] = [
    Row {
        place: 0,
        order: 9,
        always: true,
        value: |job| job.way(),
        phrase: |job| Some(job.way()),
        clear: |job| job.backend = super::Choice::plain(""),
        options: &[JobOption {
            name: "backend",
            turn: Some(6),
            usual: None,
            values: job_option::backends,
            text: |job| Some(job.backend.to_string()),
        }],
        many: "backends",
        ..plain("backend")
    },
    Row {
        title: "block size",
        many: "block sizes",
        place: 3,
        order: 13,
        always: true,
        value: |job| units::show_bytes(job.block),
        phrase: |job| Some(units::show_bytes(job.block)),
        clear: |job| job.block = 1,
        number: Some(Number {
            at: |job| Some(job.block),
            show: units::show_bytes,
            tick: units::show_bytes,
            short: units::short_bytes,
            doubles: true,
        }),
        options: &[option!("block-size", 16, bytes block_size => block)],
        ..plain("block")
    },
    Row {
        title: "page cache",
        many: "cache states",
        place: 4,
        order: 1,
        always: true,
        value: |job| job.cache.to_string(),
        phrase: |job| (job.cache != Cache::AsIs).then(|| job.cache.to_string()),
        clear: |job| job.cache = Cache::AsIs,
        options: &[option!("cache", 4, None, list cache => cache)],
        ..plain("cache")
    },
    Row {
        title: "operation",
        many: "operations",
        place: 1,
        order: 0,
        // Calls that seek nothing, such as getpid(2), have this operation, too.
        value: |job| if job.op == Op::Seek { "call".into() } else { job.action().into() },
        // A mix is named by its share of reads; a report may list reads and writes separately. A
        // seek is named by its call.
        phrase: |job| match job.op {
            Op::Read if job.mix.is_some() => Some("reads alone".into()),
            // The way says it already.
            Op::Write if job.way().contains(job.action()) => None,
            Op::Write if job.mix.is_none() => Some(job.action().into()),
            _ => None,
        },
        clear: |job| (job.op, job.writes) = (Op::Read, super::Writes::Overwrite),
        options: &[
            option!("op", 0, None, one op => op),
            option!("writes", 8, Some("overwrite"), list writes => writes),
        ],
        ..plain("op")
    },
    Row {
        title: "share of reads",
        many: "shares of reads",
        place: 17,
        order: 3,
        value: |job| job.mix.map_or("-".into(), |percent| format!("{percent} %")),
        phrase: |job| job.mix.map(|percent| show_mix(percent.into())),
        tell: |job| job.mix.is_some(),
        clear: |job| job.mix = None,
        number: Some(Number {
            // Without a mix it is one of the two.
            at: |job| Some(job.mix.map_or(if job.op == Op::Write { 0 } else { 100 }, u64::from)),
            show: show_mix,
            tick: |percent| format!("{percent} %"),
            short: |percent| percent.to_string(),
            doubles: false,
        }),
        options: &[option!("mix", 7, some mix => mix as u8)],
        ..plain("mix")
    },
    Row {
        place: 2,
        order: 8,
        value: |job| job.pattern.to_string(),
        phrase: |job| (job.pattern != Pattern::Seq).then(|| job.pattern.to_string()),
        clear: |job| job.pattern = Pattern::Seq,
        options: &[option!("pattern", 1, Some("seq"), one pattern => pattern)],
        many: "patterns",
        ..plain("pattern")
    },
    Row {
        place: 8,
        order: 12,
        value: |job| job.threads.to_string(),
        phrase: |job| (job.threads > 1).then(|| show_threads(job.threads.into())),
        clear: |job| job.threads = 1,
        number: small_number(|job| Some(job.threads.into()), show_threads),
        options: &[option!("threads", 12, Some("1"), range threads => threads as u32)],
        many: "thread counts",
        ..plain("threads")
    },
    Row {
        title: "queue depth",
        many: "queue depths",
        place: 9,
        order: 11,
        value: |job| job.depth.to_string(),
        phrase: |job| (job.depth > 1).then(|| show_depth(job.depth.into())),
        clear: |job| job.depth = 1,
        number: small_number(|job| Some(job.depth.into()), show_depth),
        options: &[option!("depth", 13, Some("1"), range depth => depth as u32)],
        ..plain("depth")
    },
    Row {
        title: "direct I/O",
        many: "kinds of I/O",
        place: 13,
        order: 5,
        value: |job| yes(job.direct),
        phrase: |job| job.direct.then(|| "direct".into()),
        default: Some("buffered"),
        clear: |job| job.direct = false,
        options: &[option!("direct", 2, Some("false"), list direct => direct)],
        ..plain("direct")
    },
    Row {
        place: 14,
        order: 2,
        value: |job| job.sync.to_string(),
        phrase: |job| show_sync(job.sync).map(String::from),
        default: Some("no sync"),
        tell: |job| job.op == Op::Write,
        clear: |job| job.sync = Sync::None,
        options: &[option!("sync", 10, Some("none"), list sync => sync)],
        many: "sync methods",
        ..plain("sync")
    },
    Row {
        title: "writes per sync",
        many: "groups of writes",
        column: "per sync",
        place: 15,
        order: 7,
        value: |job| job.sync_every.to_string(),
        phrase: |job| {
            let writes = crate::units::counted(job.sync_every as usize, "write");
            (job.sync_every > 1).then(|| format!("after every {writes}"))
        },
        tell: |job| job.sync_every > 1,
        clear: |job| job.sync_every = 1,
        number: small_number(|job| Some(job.sync_every.into()), show_group),
        options: &[option!("sync-every", 11, Some("1"), range sync_every => sync_every as u32)],
        ..plain("sync-every")
    },
    Row {
        title: "files",
        many: "divisions into files",
        column: "file per",
        place: 16,
        order: 8,
        value: |job| job.file_per.to_string(),
        phrase: |job| match () {
            () if job.has_own_files() => Some("a file per thread".into()),
            () if job.reads_whole_files() => Some("whole files per thread".into()),
            () => None,
        },
        default: Some("one file"),
        tell: |job| !job.file_per.is_run(),
        clear: |job| job.file_per = super::FilePer::Run,
        options: &[option!("file-per", 9, Some("run"), list file_per => file_per)],
        ..plain("file-per")
    },
    Row {
        title: "time of opening",
        many: "times of opening",
        place: 23,
        order: 8,
        value: |job| job.opened.to_string(),
        phrase: |job| (!job.opened.is_before()).then(|| "with opening".into()),
        default: Some("opened before"),
        tell: |job| !job.opened.is_before(),
        clear: |job| job.opened = Opened::Before,
        options: &[option!("opened", 9, Some("before"), list opened => opened)],
        ..plain("opened")
    },
    Row {
        title: "XOR",
        many: "XOR states",
        column: "XOR",
        place: 18,
        order: 6,
        value: |job| yes(job.xor),
        phrase: |job| job.xor.then(|| "with XOR".into()),
        brief: false,
        tell: |job| job.xor,
        clear: |job| job.xor = false,
        options: &[option!("xor", 3, Some("false"), one xor => xor)],
        ..plain("xor")
    },
    Row {
        title: "CPU caches",
        many: "CPU cache states",
        column: "CPU cache",
        place: 19,
        order: 4,
        value: |job| job.cpu_cache.to_string(),
        phrase: |job| is_flushed(job).then(|| "CPU caches flushed".into()),
        tell: is_flushed,
        clear: |job| job.cpu_cache = CpuCache::Keep,
        options: &[option!("cpu-cache", 5, Some("keep"), list cpu_cache => cpu_cache)],
        ..plain("cpu-cache")
    },
    Row {
        title: "size of the file",
        many: "sizes",
        column: "span",
        place: 6,
        order: 7,
        value: |job| if job.span > 0 { units::show_bytes(job.span) } else { "-".into() },
        phrase: |job| (job.span > 0).then(|| show_size(job.span)),
        rare: true,
        tell: |job| job.span > 0,
        clear: |job| job.span = 0,
        number: Some(Number {
            at: |job| (job.span > 0).then_some(job.span),
            show: show_size,
            tick: units::show_bytes,
            short: short_size,
            doubles: true,
        }),
        options: &[option!("size", 14, bytes size => span)],
        ..plain("size")
    },
    Row {
        title: "number of operations",
        many: "counts",
        place: 7,
        order: 10,
        value: |job| match job.count {
            Some(count) if count > 0 => count.to_string(),
            count => kind_of_count(count).into(),
        },
        // An imported figure may have an unknown size and count: that is not calibrated.
        phrase: |job| match job.count {
            None if job.span == 0 => None,
            Some(count) if count > 0 => Some(show_count(count)),
            count => Some(kind_of_count(count).into()),
        },
        rare: true,
        tell: |job| job.count.is_some(),
        clear: |job| job.count = None,
        number: Some(Number {
            at: |job| job.count.map(|count| if count == 0 { job.blocks() } else { count }),
            show: show_count,
            tick: units::short_bytes,
            short: units::short_bytes,
            doubles: true,
        }),
        options: &[option!("count", 15, some count => count as u64)],
        ..plain("count")
    },
    Row {
        place: 5,
        order: 9,
        value: |job| job.target.map_or("-".into(), target_name),
        phrase: |job| job.target.map(|target| format!("on {}", target_name(target))),
        tell: |job| job.target.is_some(),
        clear: |job| job.target = None,
        many: "targets",
        ..plain("target")
    },
    Row {
        place: 20,
        order: 9,
        value: |job| job.variant.as_ref().map_or("-".into(), VariantName::to_string),
        phrase: |job| job.variant.as_ref().map(VariantName::phrase),
        tell: |job| job.variant.is_some(),
        clear: |job| job.variant = None,
        many: "variants",
        ..plain("variant")
    },
    Row {
        place: 21,
        order: 12,
        value: |job| job.ranks.map_or("-".into(), |ranks| ranks.to_string()),
        phrase: |job| job.ranks.map(|ranks| show_ranks(ranks.into())),
        tell: |job| job.ranks.is_some(),
        clear: |job| job.ranks = None,
        number: small_number(|job| job.ranks.map(u64::from), show_ranks),
        // One process has no ranks.
        options: &[JobOption {
            name: "ranks",
            turn: None,
            usual: None,
            values: |of, _| {
                job_option::range(&of.ranks, |job, ranks| {
                    job.ranks = job.ranks.map(|_| ranks as u32)
                })
            },
            text: |job| job.ranks.map(|ranks| ranks.to_string()),
        }],
        many: "rank counts",
        ..plain("ranks")
    },
    Row {
        place: 22,
        order: 8,
        value: |job| job.layout.to_string(),
        phrase: |job| job.shares_its_file().then(|| job.layout.to_string()),
        default: Some("a file per rank"),
        rare: true,
        tell: Job::shares_its_file,
        clear: |job| job.layout = Layout::PerRank,
        options: &[JobOption {
            name: "layout",
            turn: None,
            usual: None,
            values: |of, _| {
                job_option::one(&of.layout, |job, layout| {
                    if job.ranks.is_some() {
                        job.layout = layout;
                    }
                })
            },
            text: |job| job.ranks.map(|_| job.layout.to_string()),
        }],
        many: "layouts",
        ..plain("layout")
    },
    Row {
        many: "rates",
        place: 10,
        order: 14,
        value: |job| job.rate.map_or("-".into(), show_rate),
        phrase: |job| job.rate.map(|rate| format!("at {}", show_rate(rate))),
        default: Some("at full speed"),
        tell: |job| job.rate.is_some(),
        clear: |job| job.rate = None,
        number: Some(Number {
            at: |job| job.operations_per_second().map(|rate| rate.round().max(1.0) as u64),
            show: |rate| format!("{}/s", units::show_count(rate as f64)),
            tick: |rate| format!("{}/s", units::short_per_second(rate)),
            short: units::short_per_second,
            doubles: true,
        }),
        options: &[JobOption {
            name: "rate",
            turn: Some(17),
            usual: None,
            values: |of, _| {
                let rates = of.rate.as_ref().map(|rates| rates.values.clone());
                job_option::list(&rates, |job, rate| job.rate = Some(rate))
            },
            text: |job| job.rate.map(|rate| rate.to_string()),
        }],
        ..plain("rate")
    },
    Row {
        many: "arrivals",
        place: 11,
        order: 8,
        value: |job| job.arrival.to_string(),
        phrase: |job| (!job.arrival.is_steady()).then(|| "at random times".into()),
        default: Some("at equal distances"),
        tell: |job| !job.arrival.is_steady(),
        clear: |job| job.arrival = Arrival::Steady,
        options: &[JobOption {
            name: "arrival",
            turn: Some(7),
            usual: Some("steady"),
            values: |of, _| job_option::one(&of.arrival, |job, arrival| job.arrival = arrival),
            text: |job| job.rate.map(|_| job.arrival.to_string()),
        }],
        ..plain("arrival")
    },
    Row {
        title: "pause",
        many: "pauses",
        place: 12,
        order: 8,
        value: |job| show_pause(job).unwrap_or("-".into()),
        phrase: |job| show_pause(job).map(|pause| format!("with pauses of {pause}")),
        tell: |job| job.think > 0,
        clear: |job| job.think = 0,
        options: &[JobOption {
            name: "think",
            turn: Some(7),
            usual: None,
            values: |of, _| {
                job_option::one(&of.think, |job, pause| job.think = pause.as_nanos() as u64)
            },
            text: |job| (job.think > 0).then(|| units::short_time(Duration::from_nanos(job.think))),
        }],
        ..plain("think")
    },
];

/// Returns the letter of a target: `A` for the first.
pub fn target_name(index: u8) -> String {
    char::from(b'A' + index.min(25)).into()
}

fn show_mix(percent: u64) -> String {
    format!("{percent} % reads")
}

fn show_plain(number: u64) -> String {
    number.to_string()
}

fn show_threads(threads: u64) -> String {
    crate::units::counted(threads as usize, "thread")
}

fn show_ranks(ranks: u64) -> String {
    crate::units::counted(ranks as usize, "rank")
}

fn show_depth(depth: u64) -> String {
    format!("queue depth {depth}")
}

fn show_rate(rate: Rate) -> String {
    match rate {
        Rate::Operations(_) => format!("{rate}/s"),
        Rate::Bytes(_) => rate.to_string(),
    }
}

/// Returns the pause after each operation, if there is one.
fn show_pause(job: &Job) -> Option<String> {
    (job.think > 0).then(|| units::show_nanos(job.think as f64))
}

fn show_size(bytes: u64) -> String {
    format!("{} of the file", units::show_bytes(bytes))
}

fn show_count(count: u64) -> String {
    crate::units::counted(count as usize, "operation")
}

/// Returns a count that is not a number.
fn kind_of_count(count: Option<u64>) -> &'static str {
    if count.is_none() { "calibrated" } else { "one pass" }
}

fn is_flushed(job: &Job) -> bool {
    job.cpu_cache == CpuCache::Flush
}

fn yes(on: bool) -> String {
    if on { "yes" } else { "no" }.into()
}

fn show_group(writes: u64) -> String {
    format!("{} per sync", crate::units::counted(writes as usize, "write"))
}

/// Names a sync method in a sentence.
fn show_sync(sync: Sync) -> Option<&'static str> {
    Some(match sync {
        Sync::None => return None,
        Sync::End => "fdatasync at the end",
        Sync::Fdatasync | Sync::Fsync | Sync::Msync => sync.name(),
        Sync::Dsync => "O_DSYNC",
        Sync::Osync => "O_SYNC",
        Sync::RwfDsync => "RWF_DSYNC",
    })
}

/// Formats a file size, which is seldom a whole power: two to three digits.
fn short_size(bytes: u64) -> String {
    let exact = units::short_bytes(bytes);
    if exact.len() <= 5 {
        exact
    } else {
        units::show_bytes(bytes).replace("iB", "").replace(' ', "").to_lowercase()
    }
}
