//! A job: everything that defines one kind of work.

use serde::{Deserialize, Serialize};

use super::{
    Arrival, Cache, Choice, CpuCache, FilePer, Layout, Op, Opened, Pattern, Rate, Sync,
    VariantName, Writes,
};

/// Everything that defines one kind of work; one cell of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The backend, or the peer in its place.
    #[serde(flatten, with = "way")]
    pub backend: Choice,
    pub op: Op,
    pub pattern: Pattern,
    /// Bytes per operation, 1 to [`Job::MAX_BLOCK`].
    pub block: u64,
    /// Operations per trial over all threads; 0 = one pass to the end; `None` = calibrated.
    pub count: Option<u64>,
    /// Bytes of the target in use, from its start; with several ranks, the bytes of each.
    pub span: u64,
    pub threads: u32,
    pub depth: u32,
    pub cache: Cache,
    pub direct: bool,
    /// Fold every block into the 32-bit XOR inside the timed work.
    pub xor: bool,
    pub sync: Sync,
    /// Writes of a thread between two calls of a sync method that follows writes, 1 or more;
    /// omitted from JSON if it is 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub sync_every: u32,
    /// Percentage of reads in a mix of reads and writes.
    pub mix: Option<u8>,
    pub cpu_cache: CpuCache,
    /// Omitted from JSON if it is the behaviour of older sessions.
    #[serde(default, skip_serializing_if = "Writes::is_overwrite")]
    pub writes: Writes,
    /// Omitted from JSON if all threads use one file.
    #[serde(default, skip_serializing_if = "FilePer::is_run")]
    pub file_per: FilePer,
    /// Omitted from JSON if files are opened before the timed work.
    #[serde(default, skip_serializing_if = "Opened::is_before")]
    pub opened: Opened,
    /// The index of its target in a plan of several; omitted from JSON where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u8>,
    /// The variant of the machine that it is measured in, in a plan with variants; omitted from
    /// JSON in others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<VariantName>,
    /// How many ranks run it at the same time, 2 or more; omitted from JSON where one process does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// Omitted from JSON where no file is shared by ranks.
    #[serde(default, skip_serializing_if = "Layout::is_per_rank")]
    pub layout: Layout,
    /// The rate at which operations are intended to start; omitted from JSON at full speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Omitted from JSON if starts are intended at equal distances.
    #[serde(default, skip_serializing_if = "Arrival::is_steady")]
    pub arrival: Arrival,
    /// The pause after each operation, nanoseconds; omitted from JSON if it is 0.
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub think: u64,
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

/// The key distinguishes them: `"backend": "pread"` or `"peer": "dd"`.
mod way {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Choice;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Method<T> {
        Backend(T),
        Peer(T),
    }

    pub fn serialize<S: Serializer>(choice: &Choice, out: S) -> Result<S::Ok, S::Error> {
        let way = if choice.peer { Method::Peer(choice) } else { Method::Backend(choice) };
        way.serialize(out)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Choice, D::Error> {
        Ok(match Method::deserialize(from)? {
            Method::Backend(choice) => choice,
            Method::Peer(choice) => Choice { peer: true, ..choice },
        })
    }
}

impl Job {
    /// One read(2) moves at most 2 GiB less a page; a larger block could not be one operation.
    pub const MAX_BLOCK: u64 = 1 << 30;
    pub const MAX_THREADS: u32 = 1024;
    pub const MAX_DEPTH: u32 = 4096;
    pub const MAX_RANKS: u32 = 1 << 20;
    /// Each thread with a file of its own needs a file that iotui makes.
    pub const MAX_OWN_FILES: u32 = 64;
    pub const MAX_SYNC_EVERY: u32 = 1 << 20;
    /// Bytes of the stamp that a block begins with whose data is verified.
    pub const STAMP: u64 = 24;

    /// Returns the plainest job of a backend, to check whether the backend is available.
    pub fn plain(backend: Choice, op: Op) -> Job {
        Job {
            backend,
            op,
            pattern: Pattern::Seq,
            block: 4096,
            count: Some(0),
            span: 4096,
            threads: 1,
            depth: 1,
            cache: Cache::AsIs,
            direct: false,
            xor: false,
            sync: Sync::None,
            sync_every: 1,
            mix: None,
            cpu_cache: CpuCache::Keep,
            writes: Writes::Overwrite,
            file_per: FilePer::Run,
            opened: Opened::Before,
            target: None,
            variant: None,
            ranks: None,
            layout: Layout::PerRank,
            rate: None,
            arrival: Arrival::Steady,
            think: 0,
        }
    }

    /// Returns how many processes run it, at least 1.
    pub fn processes(&self) -> u32 {
        self.ranks.unwrap_or(1).max(1)
    }

    /// Returns the threads of all its ranks together, at least 1.
    pub fn all_threads(&self) -> u32 {
        self.threads.max(1).saturating_mul(self.processes())
    }

    /// Returns the bytes of all its ranks together.
    pub fn span_of_all(&self) -> u64 {
        self.span.saturating_mul(self.processes().into())
    }

    /// Returns the job of all ranks together, as if one process did it.
    pub fn of_all_ranks(&self) -> Job {
        let (span, threads) = (self.span_of_all(), self.all_threads());
        let count = self.count.map(|count| count.saturating_mul(self.processes().into()));
        Job { span, threads, count, ranks: None, ..self.clone() }
    }

    /// Returns whether it works on a file that other ranks use too.
    pub fn shares_its_file(&self) -> bool {
        self.layout.is_shared()
    }

    /// Returns whether each write, or each group of [`Job::sync_every`], is a commit: it waits
    /// until the data is durable.
    pub fn commits(&self) -> bool {
        self.op == Op::Write && self.sync.commits()
    }

    /// Returns whether a call after each write, or each group of them, is the sync.
    pub fn syncs_after_writes(&self) -> bool {
        self.op == Op::Write && self.sync.follows_writes()
    }

    /// Returns the writes of one commit, 1 or more.
    pub fn writes_per_commit(&self) -> u32 {
        self.sync_every.max(1)
    }

    /// Returns the number of commits in this number of writes.
    pub fn commits_in(&self, writes: f64) -> f64 {
        writes / f64::from(self.writes_per_commit())
    }

    /// Returns the index of its target in the plan.
    pub fn target_index(&self) -> usize {
        self.target.unwrap_or(0).into()
    }

    /// Returns whether each pass begins with an empty file.
    pub fn appends(&self) -> bool {
        self.op == Op::Write && self.writes == Writes::Append
    }

    /// Returns whether each thread writes a file of its own.
    pub fn has_own_files(&self) -> bool {
        self.op == Op::Write && self.file_per == FilePer::Thread
    }

    /// Returns whether each thread reads whole files of a list.
    pub fn reads_whole_files(&self) -> bool {
        self.op != Op::Write && self.file_per == FilePer::Thread
    }

    /// Returns whether each pass begins with a file that was not written yet.
    pub fn starts_fresh(&self) -> bool {
        self.op == Op::Write && self.writes.starts_fresh()
    }

    /// Returns whether it needs no full file of the plan: it works on files that are made for it.
    pub fn makes_files(&self) -> bool {
        self.starts_fresh() || self.has_own_files()
    }

    /// Returns whether several threads append to one file: each takes the next block.
    pub fn appends_together(&self) -> bool {
        self.appends() && self.threads > 1 && !self.has_own_files()
    }

    /// Returns the bytes of the file that each lane works on: the span, or its part where each has
    /// a file of its own, in whole blocks.
    pub fn bytes_per_file(&self) -> u64 {
        if !self.has_own_files() {
            return self.span;
        }
        self.blocks().div_ceil(self.threads.max(1).into()).saturating_mul(self.block)
    }

    /// Returns the job of a lane on a file of its own: the only lane there.
    pub fn on_own_file(&self) -> Job {
        Job { span: self.bytes_per_file(), threads: 1, file_per: FilePer::Run, ..self.clone() }
    }

    /// Returns the name of its backend, as the call that it makes: `pread` writes by `pwrite`.
    pub fn way(&self) -> String {
        if self.op != Op::Write || self.mix.is_some() {
            return self.backend.to_string();
        }
        let id = self.backend.id.replace(Op::Read.name(), Op::Write.name());
        Choice { id, ..self.backend.clone() }.to_string()
    }

    /// Returns what it does, in a word: `read`, `write`, `append`, `preallocated`, `seek`.
    pub fn action(&self) -> &'static str {
        if self.starts_fresh() { self.writes.name() } else { self.op.name() }
    }

    /// Returns the number of blocks in the span, including the odd last one.
    pub fn blocks(&self) -> u64 {
        self.span.div_ceil(self.block.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_print_alike() {
        for cache in Cache::ALL {
            assert_eq!(cache.name().parse::<Cache>().as_ref(), Ok(cache));
        }
        assert!("colt".parse::<Cache>().unwrap_err().to_string().contains("did you mean cold"));
    }

    #[test]
    fn the_key_marks_a_peer() {
        for (choice, key) in [
            (Choice::plain("dd"), "backend"),
            (Choice { peer: true, ..Choice::plain("dd") }, "peer"),
        ] {
            let job = Job::plain(choice, Op::Read);
            let text = serde_json::to_string(&job).unwrap();
            assert!(text.starts_with(&format!("{{\"{key}\":\"dd\",\"op\":\"read\"")), "{text}");
            assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
            let both = text.replacen('{', r#"{"peer":"fio","backend":"read","#, 1);
            assert!(serde_json::from_str::<Job>(&both).is_err(), "{both}");
            assert!(serde_json::from_str::<Job>(&text.replacen(key, "program", 1)).is_err());
        }
    }

    #[test]
    fn writes_are_called_after_their_call() {
        let label = |backend: &str, op, writes| {
            let job = Job::plain(Choice::parse(backend).unwrap(), op);
            Job { writes, ..job }.label()
        };
        for (backend, op, writes, said) in [
            ("read", Op::Read, Writes::Overwrite, "read 4 KiB"),
            ("read", Op::Write, Writes::Overwrite, "write 4 KiB"),
            ("read", Op::Write, Writes::Append, "write 4 KiB append"),
            ("read+libc", Op::Write, Writes::Append, "write+libc 4 KiB append"),
            ("read+libc", Op::Write, Writes::Overwrite, "write+libc 4 KiB"),
            ("pread", Op::Write, Writes::Overwrite, "pwrite 4 KiB"),
            ("preadv2+nowait", Op::Write, Writes::Append, "pwritev2+nowait 4 KiB append"),
            ("uring", Op::Write, Writes::Overwrite, "uring 4 KiB write"),
        ] {
            assert_eq!(label(backend, op, writes), said);
        }
        let written = Job::plain(Choice::plain("read"), Op::Write);
        let text = serde_json::to_string(&written).unwrap();
        assert!(text.starts_with("{\"backend\":\"read\""), "files keep the name: {text}");
    }

    #[test]
    fn patterns_parse_and_print_alike() {
        for text in [
            "seq",
            "random",
            "reverse",
            "stride:4",
            "zipf:0.99",
            "zipf:0.001",
            "zipf:1",
            "zipf:1.2",
            "zipf:5",
            "hot:20/80",
            "hot:1/99",
            "hot:50/50",
        ] {
            let pattern = text.parse::<Pattern>().unwrap();
            assert_eq!(pattern.to_string(), text);
            let json = serde_json::to_string(&pattern).unwrap();
            assert_eq!(json, format!("\"{text}\""));
            assert_eq!(serde_json::from_str::<Pattern>(&json).unwrap(), pattern);
        }
        assert_eq!(" zipf:0.9900 ".parse::<Pattern>(), Ok(Pattern::Zipf(990)));
        assert_eq!("zipf:.5".parse::<Pattern>(), Ok(Pattern::Zipf(500)));
        assert_eq!("hot: 5 / 95".parse::<Pattern>(), Pattern::hot(5, 95));
    }

    #[test]
    fn other_patterns_are_refused() {
        for (text, said) in [
            ("stride", "2 or more"),
            ("stride:0", "2 or more"),
            ("stride:1", "2 or more"),
            ("stride:x", "2 or more"),
            ("sek", "did you mean seq?"),
            ("seq:2", "did you mean seq?"),
            ("zipf", "zipf:0.99"),
            ("zipf:", "zipf:0.99"),
            ("zipf:0", "0.001 to 5"),
            ("zipf:-1", "0.001 to 5"),
            ("zipf:5.001", "0.001 to 5"),
            ("zipf:0.1234", "up to 3 decimals"),
            ("zipf:1e3", "0.001 to 5"),
            ("zipf:99999999999", "0.001 to 5"),
            ("zipf:nan", "0.001 to 5"),
            ("zip:0.99", "there are: seq, random, reverse, stride:N, zipf:THETA"),
            ("hot", "hot:20/80"),
            ("hot:20", "hot:20/80"),
            ("hot:0/80", "1 to 99"),
            ("hot:20/100", "1 to 99"),
            ("hot:20/800", "1 to 99"),
            ("hot:2.5/80", "1 to 99"),
            ("hot:80/20", "did you mean hot:20/80?"),
        ] {
            let error = text.parse::<Pattern>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
