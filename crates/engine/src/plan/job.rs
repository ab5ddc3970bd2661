//! A job: everything that defines one kind of work.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Axis, Choice, Unknown, nearest};
use crate::units;

/// Makes an enum of names that is parsed, shown, listed and serialised by those names only.
macro_rules! names {
    ($(#[$meta:meta])* $kind:literal $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl FromStr for $name {
            type Err = Unknown;
            fn from_str(text: &str) -> Result<Self, Unknown> {
                let known = Self::ALL.iter().find(|v| v.name() == text.trim());
                known.copied().ok_or_else(|| nearest($kind, text, Self::ALL.iter().map(|v| v.name())))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { f.pad(self.name()) }
        }
    };
}

pub(super) use names;

names! {
    /// Whether what the machine can reach is measured before the first cell.
    "choice of when to measure ceilings" MeasureCeilings {
        /// Before a plan that takes 5 s or more.
        Auto = "auto",
        Always = "always",
        Never = "never",
    }
}

names! { "operation" Op { Read = "read", Write = "write", Seek = "seek" } }

names! {
    /// The page cache before a trial.
    "cache state" Cache {
        /// Nothing of the span is cached.
        Cold = "cold",
        /// At least 99 % of the span is cached.
        Warm = "warm",
        /// Left as the trial before it left it.
        AsIs = "asis",
    }
}

names! {
    /// How much is dropped to make a file cold.
    #[derive(Default)]
    "cache-drop level" Cold {
        /// The pages of the file.
        #[default]
        Data = "data",
        /// Also what the kernel remembers of directories and inodes, of all files: drop_caches 2.
        Meta = "meta",
        /// Also the pages of every other file: drop_caches 3.
        All = "all",
    }
}

impl Cold {
    /// Whether it is what every user may do.
    pub fn is_data(&self) -> bool {
        *self == Cold::Data
    }
}

names! {
    /// When a write reaches the device.
    "sync mode" Sync {
        /// When the kernel likes: the time to the page cache.
        None = "none",
        /// fdatasync at the end, inside the timed window.
        End = "end",
        /// O_DSYNC: every operation waits for the device.
        Each = "each",
    }
}

names! {
    /// The caches of the CPUs before a trial.
    "CPU cache state" CpuCache {
        /// Left as they are.
        Keep = "keep",
        /// Emptied of the file's data, which is proved by how long loads take.
        Flush = "flush",
    }
}

names! {
    /// What a write does to the file.
    #[derive(Default)]
    "kind of write" Writes {
        /// The blocks that the file has are written over.
        #[default]
        Overwrite = "overwrite",
        /// Each pass begins with an empty file and makes it longer by every block, in order.
        Append = "append",
    }
}

impl Writes {
    pub fn is_overwrite(&self) -> bool {
        *self == Writes::Overwrite
    }
}

/// The order in which blocks are visited; each visits every block once per pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Pattern {
    Seq,
    Random,
    Reverse,
    /// Every n-th block, then again from the next one.
    Stride(u64),
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Pattern::Seq => f.write_str("seq"),
            Pattern::Random => f.write_str("random"),
            Pattern::Reverse => f.write_str("reverse"),
            Pattern::Stride(n) => write!(f, "stride:{n}"),
        }
    }
}

/// Why a text names no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("stride needs its distance in blocks, 2 or more: stride:4")]
    Stride,
}

impl FromStr for Pattern {
    type Err = PatternError;
    fn from_str(text: &str) -> Result<Self, PatternError> {
        match text.trim() {
            "seq" => Ok(Pattern::Seq),
            "random" => Ok(Pattern::Random),
            "reverse" => Ok(Pattern::Reverse),
            other => match other.strip_prefix("stride") {
                Some(rest) => match rest.strip_prefix(':').and_then(|n| units::parse_count(n).ok())
                {
                    Some(n) if n >= 2 => Ok(Pattern::Stride(n)),
                    _ => Err(PatternError::Stride),
                },
                None => {
                    Err(nearest("pattern", other, ["seq", "random", "reverse", "stride:N"]).into())
                }
            },
        }
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.to_string()
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;
    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

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
    /// Bytes of the target that are used, from its start.
    pub span: u64,
    pub threads: u32,
    pub depth: u32,
    pub cache: Cache,
    pub direct: bool,
    /// Fold every block into the 32-bit XOR inside the timed work.
    pub xor: bool,
    pub sync: Sync,
    /// Percentage of reads where reads and writes are mixed.
    pub mix: Option<u8>,
    pub cpu_cache: CpuCache,
    /// Left out of JSON where it is what older sessions did.
    #[serde(default, skip_serializing_if = "Writes::is_overwrite")]
    pub writes: Writes,
}

/// The key says which it is: `"backend": "pread"` or `"peer": "dd"`.
mod way {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Choice;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Way<T> {
        Backend(T),
        Peer(T),
    }

    pub fn serialize<S: Serializer>(choice: &Choice, out: S) -> Result<S::Ok, S::Error> {
        let way = if choice.peer { Way::Peer(choice) } else { Way::Backend(choice) };
        way.serialize(out)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Choice, D::Error> {
        Ok(match Way::deserialize(from)? {
            Way::Backend(choice) => choice,
            Way::Peer(choice) => Choice { peer: true, ..choice },
        })
    }
}

impl Job {
    /// One read(2) moves at most 2 GiB less a page; a larger block could not be one operation.
    pub const MAX_BLOCK: u64 = 1 << 30;
    pub const MAX_THREADS: u32 = 1024;
    pub const MAX_DEPTH: u32 = 4096;

    /// The plainest job of a backend: to ask whether it can be had here.
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
            mix: None,
            cpu_cache: CpuCache::Keep,
            writes: Writes::Overwrite,
        }
    }

    /// Whether each pass begins with an empty file.
    pub fn appends(&self) -> bool {
        self.op == Op::Write && self.writes == Writes::Append
    }

    /// What it does, in a word: `read`, `write`, `append`, `seek`.
    pub fn action(&self) -> &'static str {
        if self.appends() { Writes::Append.name() } else { self.op.name() }
    }

    /// Blocks in the span, the odd last one included.
    pub fn blocks(&self) -> u64 {
        self.span.div_ceil(self.block.max(1))
    }

    /// What tells cells of one session apart, for one line: `pread 4 KiB cold`.
    pub fn label(&self) -> String {
        let axes = Axis::ALL.into_iter().filter(|axis| axis.is_brief());
        self.describe(&axes.collect::<Vec<_>>())
    }

    /// Its values on these axes, but for what goes without saying: `uring 1 MiB queue depth 8`.
    pub fn describe(&self, axes: &[Axis]) -> String {
        let phrases = axes.iter().filter_map(|axis| axis.phrase_among(self, false));
        phrases.collect::<Vec<_>>().join(" ")
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
    fn the_key_tells_a_peer_from_a_backend() {
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
    fn patterns_parse_and_print_alike() {
        for text in ["seq", "random", "reverse", "stride:4"] {
            assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
        for text in ["stride", "stride:0", "stride:1", "stride:x", "sek"] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }
}
