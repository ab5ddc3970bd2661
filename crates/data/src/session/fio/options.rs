//! Converts fio's options to a job of iotui, and lists the options that a job cannot express.

use super::output::Options;
use crate::catalog::BACKENDS;
use crate::plan::{
    Arrival, Choice, DataPath, FilePer, Fio, FioEngine, FioOption, FioValue, Info, Job, Op,
    Pattern, Rate, Sync, foreign_backend,
};

/// The options of a job, which take precedence over the global ones.
pub struct JobOptions<'a> {
    pub own: &'a Options,
    pub global: &'a Options,
}

/// A job, and what it cannot express.
pub struct Read {
    pub job: Job,
    pub said: Vec<Remark>,
}

/// A remark on an option.
#[derive(Debug, PartialEq, Eq)]
pub struct Remark {
    pub text: String,
    /// It changes what the figures mean, not only what was done.
    pub meaning: bool,
}

impl Remark {
    pub fn meaning(text: impl Into<String>) -> Remark {
        Remark { text: text.into(), meaning: true }
    }

    fn other(text: String) -> Remark {
        Remark { text, meaning: false }
    }
}

/// Options that change what the figures mean, the values that do not, and what fio does.
const MEANINGS: [(&str, &[&str], &str); 14] = [
    ("rate", &[], FROM_REAL_START),
    ("rate_iops", &[], FROM_REAL_START),
    ("thinktime", &[], "fio paused between operations"),
    ("latency_target", &[], "fio varied the queue depth to keep this latency"),
    (DISTRIBUTION, &["random"], "some blocks come more often, and caches hold them"),
    ("percentage_random", &["100"], "only a part of the blocks is in random order"),
    ("read_iolog", &[], "a log has the operations"),
    ("flow", &[], "fio slowed the job down to keep pace with others"),
    ("verify", &[], "fio checked the data in the same time"),
    ("zero_buffers", &[], "zeros were written, which devices may store without writing"),
    ("buffer_compress_percentage", &[], "the data can be compressed"),
    ("dedupe_percentage", &[], "blocks of the data repeat"),
    ("zonemode", &["none"], "the blocks are in zones"),
    ("ignore_error", &[], "operations that failed count as well"),
];

const FROM_REAL_START: &str =
    "fio held the job to this rate, and counts latencies from the real start of an operation";
const DISTRIBUTION: &str = "random_distribution";

/// Returns the backend that corresponds to an engine of fio; no two backends share an engine.
fn backend_of(engine: &str) -> Option<(&'static Info, FioEngine)> {
    BACKENDS.iter().copied().find_map(|info| match info.fio {
        Fio::Engine(own) if own.name == engine => Some((info, own)),
        _ => None,
    })
}

impl JobOptions<'_> {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.own.get(name).or(self.global.get(name)).map(|value| value.as_deref().unwrap_or("1"))
    }

    /// Returns whether it begins when its group does.
    pub fn starts_with_its_group(&self) -> bool {
        !["startdelay", "start_delay", "wait_for"].iter().any(|name| self.get(name).is_some())
    }

    /// Returns what changes the meaning of the figures.
    fn meanings(&self) -> Vec<Remark> {
        let mut said = Vec::new();
        for (name, plain, what) in MEANINGS {
            let value = self.get(name).filter(|value| !matches!(*value, "0" | ""));
            let value = value.filter(|value| !plain.contains(value));
            let value = value.filter(|_| name != DISTRIBUTION || self.drawn().is_none());
            said.extend(value.map(|value| Remark::meaning(format!("{name}={value}: {what}"))));
        }
        if self.get("invalidate") == Some("0") {
            let text = "invalidate=0: the page cache kept what it had of the file";
            said.push(Remark::meaning(text));
        }
        said
    }

    fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value != "0")
    }

    fn number(&self, name: &str, default: u64) -> u64 {
        self.get(name).and_then(|value| value.trim().parse().ok()).unwrap_or(default)
    }

    /// Returns a size as fio reads it: powers of 1024, unless `kb_base=1000` is set.
    fn size(&self, text: &str) -> Option<u64> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let number: u64 = text[..digits].parse().ok()?;
        let unit = text[digits..].trim().to_lowercase();
        let power = match unit.trim_end_matches('b').trim_end_matches('i') {
            "" => 0,
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            "p" => 5,
            _ => return None,
        };
        // By fio's default 4k is 4096 and 4ki is 4000; by the standards it is the other way round.
        let standard = self.get("kb_base") == Some("1000");
        let base: u64 = if unit.contains('i') == standard { 1024 } else { 1000 };
        number.checked_mul(base.checked_pow(power)?)
    }

    /// Returns the bytes of one operation.
    ///
    /// # Errors
    /// The option as given, if it has several sizes or is unknown.
    pub fn block(&self, op: Op) -> Result<u64, String> {
        if self.own.is_empty() && self.global.is_empty() {
            return Err("this fio does not print its options".into());
        }
        let asked = self.get("bs").or(self.get("blocksize")).unwrap_or("4k");
        // Read, write, trim; a missing value equals the one before.
        let (read, rest) = asked.split_once(',').unwrap_or((asked, ""));
        let write = rest.split(',').next().filter(|part| !part.is_empty() && op == Op::Write);
        let several = ["bsrange", "blocksize_range", "bssplit", "bs_unaligned", "bs_is_seq_rand"]
            .iter()
            .find_map(|name| self.get(name));
        match (several, self.size(write.unwrap_or(read).trim())) {
            (None, Some(block)) => Ok(block),
            (Some(several), _) => Err(several.into()),
            (None, None) => Err(asked.into()),
        }
    }

    /// Returns the backend for the engine of the job, with the options that `job` sets.
    fn backend(&self, job: &Job) -> Choice {
        let name = self.engine();
        let Some((info, engine)) = backend_of(name) else { return foreign_backend(name) };
        // 0 and 1 are what fio does without such an option.
        let number = |name: &str| {
            let number: u64 = self.get(name)?.trim().parse().ok()?;
            (2..=u64::from(Job::MAX_DEPTH)).contains(&number).then_some(number)
        };
        let given = |option: &FioOption| {
            let (name, value) = option.assignment.filter(|_| option.suits(job))?;
            let (is_set, value) = match value {
                FioValue::Word("1") => (self.is_on(name), None),
                FioValue::Word(word) => (self.get(name) == Some(word), None),
                FioValue::Number => (true, Some(number(name)?.to_string())),
            };
            is_set.then(|| (option.option.to_string(), value))
        };
        Choice {
            options: engine.options.iter().filter_map(given).collect(),
            ..Choice::plain(info.id)
        }
    }

    fn engine(&self) -> &str {
        // `external:FILE` names a file.
        let engine = self.get("ioengine").unwrap_or("psync");
        engine.split(':').next().unwrap_or(engine)
    }

    /// Returns the system calls per operation of the job's engine, if that number is fixed.
    pub fn calls_per_op(&self) -> Option<u32> {
        backend_of(self.engine()).and_then(|(_, engine)| engine.calls_per_op)
    }

    /// Returns the bytes of the file that `threads` use: each has a separate part if the job gives
    /// each thread its own offset.
    pub fn span(&self, threads: u32) -> u64 {
        let part = self.sized("size").unwrap_or(0);
        let apart = self.sized("offset_increment").is_some_and(|apart| apart == part);
        let parts = apart || self.file_per(threads) == FilePer::Thread;
        if parts { part.saturating_mul(threads.into()) } else { part }
    }

    /// Returns whether `threads` use one file: each has its own where the job names none.
    fn file_per(&self, threads: u32) -> FilePer {
        let shared = self.get("filename").is_some() || self.sized("offset_increment").is_some();
        if threads > 1 && !shared { FilePer::Thread } else { FilePer::Run }
    }

    fn sized(&self, name: &str) -> Option<u64> {
        self.size(self.get(name)?)
    }

    /// Returns what the job does: `randrw`, `read:8k`.
    fn kind(&self) -> &str {
        self.get("rw").or(self.get("readwrite")).unwrap_or("read")
    }

    /// Returns the order of the blocks and the share of reads; `None` for a job that only trims.
    fn order(&self, block: u64, said: &mut Vec<Remark>) -> Option<(Pattern, Option<u8>)> {
        let asked = self.kind();
        let (kind, more) =
            asked.split_once(':').map_or((asked, None), |(kind, more)| (kind, Some(more)));
        let random = kind.starts_with("rand");
        let mix = match kind.trim_start_matches("rand") {
            "rw" | "readwrite" => {
                Some(u8::try_from(self.number("rwmixread", 50)).unwrap_or(50).min(100))
            }
            "read" | "write" => None,
            "trim" => return None,
            _ => {
                said.push(Remark::other(format!(
                    "rw={asked}: only its reads and writes are imported"
                )));
                None
            }
        };
        let skip = more.and_then(|more| match more.strip_prefix('-') {
            Some(back) => self.size(back).map(|back| -i128::from(back)),
            None => self.size(more).map(i128::from),
        });
        let block = i128::from(block);
        let pattern = match skip.map(|skip| skip + block) {
            _ if random => self.drawn().unwrap_or(Pattern::Random),
            None => Pattern::Seq,
            Some(step) if step == -block => Pattern::Reverse,
            Some(step) if step > block && step % block == 0 => {
                Pattern::Stride(u64::try_from(step / block).unwrap_or(2))
            }
            Some(_) => {
                said.push(Remark::other(format!("rw={asked}: shown as seq")));
                Pattern::Seq
            }
        };
        Some((pattern, mix))
    }

    /// Returns the pattern that draws blocks as a random job does; `None` if it draws none, or in
    /// another way.
    fn drawn(&self) -> Option<Pattern> {
        let asked = self.get(DISTRIBUTION)?;
        if asked.starts_with("zipf:") {
            return asked.parse().ok();
        }
        // Percentages of the accesses and of the blocks, of one zone after the other.
        let zones = asked.strip_prefix("zoned:")?.split(':').map(|zone| {
            let (accesses, share) = zone.split_once('/')?;
            Some((share.parse::<u64>().ok()?, accesses.parse::<u64>().ok()?))
        });
        match zones.collect::<Option<Vec<_>>>()?[..] {
            [first, second] if (first.0 + second.0, first.1 + second.1) == (100, 100) => {
                [first, second].into_iter().find_map(|(share, of)| Pattern::hot(share, of).ok())
            }
            _ => None,
        }
    }

    /// Returns the rate of all threads; `None` without one, or with one for each direction.
    fn rate(&self, threads: u32) -> Option<Rate> {
        let of_each = |name: &str| self.size(self.get(name)?)?.checked_mul(threads.into());
        let operations = of_each("rate_iops").map(Rate::Operations);
        let rate = operations.filter(|rate| rate.is_valid());
        rate.or_else(|| of_each("rate").map(Rate::Bytes).filter(|rate| rate.is_valid()))
    }

    /// Returns the pause after each operation, nanoseconds: fio's is in microseconds.
    fn think(&self) -> u64 {
        let nanos = self.number("thinktime", 0).saturating_mul(1000);
        if nanos <= Job::MAX_THINK.as_nanos() as u64 { nanos } else { 0 }
    }

    /// Returns the sync method, and after how many writes.
    fn sync(&self) -> (Sync, u32) {
        match self.get("sync") {
            Some("sync" | "1") => return (Sync::Osync, 1),
            Some(value) if !matches!(value, "0" | "none") => return (Sync::Dsync, 1),
            _ if self.is_on("dsync") => return (Sync::Dsync, 1),
            _ => {}
        }
        for (name, sync) in [("fsync", Sync::Fsync), ("fdatasync", Sync::Fdatasync)] {
            let every = self.number(name, 0);
            if every > 0 {
                let every = every.min(Job::MAX_SYNC_EVERY.into()) as u32;
                return (sync, every);
            }
        }
        let at_end = self.is_on("end_fsync") || self.is_on("fsync_on_close");
        (if at_end { Sync::End } else { Sync::None }, 1)
    }

    /// Returns the job of one direction; `moved` is its number of bytes and operations, `None` if
    /// nothing was moved.
    pub fn job(&self, op: Op, threads: u32, moved: Option<(u64, u64)>) -> Read {
        let mut said = self.meanings();
        let mean = moved.filter(|(_, ops)| *ops > 0).map(|(bytes, ops)| (bytes / ops).max(1));
        let block = self.block(op).unwrap_or_else(|asked| {
            let text = format!("several block sizes ({asked}): the mean is shown");
            said.push(Remark::other(text));
            mean.unwrap_or(4096)
        });
        let (pattern, mix) = self.order(block, &mut said).unwrap_or((Pattern::Seq, None));
        let asked_direct = self.is_on("direct") || self.get("buffered") == Some("0");
        // A mapping is of the page cache, whatever the file was opened with.
        let maps =
            backend_of(self.engine()).is_some_and(|(info, _)| info.data_path == DataPath::Copied);
        let direct = asked_direct && !maps;
        if asked_direct && maps {
            let text = format!("direct=1: {} uses the page cache all the same", self.engine());
            said.push(Remark::meaning(text));
        }
        let threads = threads.clamp(1, Job::MAX_THREADS);
        let rate = self.rate(threads);
        let (sync, sync_every) = if op == Op::Write { self.sync() } else { (Sync::None, 1) };
        let mut job = Job {
            pattern,
            block: block.clamp(1, Job::MAX_BLOCK),
            count: None,
            span: self.span(threads),
            threads,
            depth: u32::try_from(self.number("iodepth", 1)).unwrap_or(1).clamp(1, Job::MAX_DEPTH),
            direct,
            sync,
            sync_every,
            mix,
            rate,
            arrival: match self.get("rate_process") {
                Some("poisson") if rate.is_some() => Arrival::Poisson,
                _ => Arrival::Steady,
            },
            think: self.think(),
            file_per: if op == Op::Write { self.file_per(threads) } else { FilePer::Run },
            ..Job::plain(Choice::plain(""), op)
        };
        job.backend = self.backend(&job);
        Read { job, said }
    }

    pub fn only_trims(&self) -> bool {
        matches!(self.kind(), "trim" | "randtrim")
    }

    /// Returns the direction of a job that did nothing.
    pub fn direction(&self) -> Op {
        let writes = self.kind().trim_start_matches("rand").starts_with("write");
        if writes { Op::Write } else { Op::Read }
    }

    /// Returns the threads of a job with a single entry: all of `numjobs`, which are reported
    /// together then. fio does not print `group_reporting` among the options.
    pub fn threads(&self) -> u32 {
        u32::try_from(self.number("numjobs", 1)).unwrap_or(1).max(1)
    }
}
