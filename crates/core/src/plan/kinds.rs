//! The enumerations of a job: its operation, its order of blocks, and the states of the caches.

use std::fmt;
use std::str::FromStr;

use crate::units;

/// Defines an enum of names that is displayed, listed and serialised by these names only, and
/// parsed by them and the former names after `|`.
macro_rules! names {
    ($(#[$meta:meta])* $kind:literal $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal $(| $former:literal)?),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text $(, alias = $former)?)] $variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::plan::Unknown;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let name = match text.trim() { $($($former => $text,)?)+ name => name };
                let known = Self::ALL.iter().find(|v| v.name() == name);
                known.copied().ok_or_else(|| crate::plan::nearest($kind, text, Self::ALL.iter().map(|v| v.name())))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { f.pad(self.name()) }
        }
    };
}

pub(crate) use names;

names! {
    /// Whether the machine's ceilings are measured before the first cell.
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
        /// Left as the previous trial left it.
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
        /// Also the kernel's cache of directories and inodes, of all files: drop_caches 2.
        Meta = "meta",
        /// Also the pages of every other file: drop_caches 3.
        All = "all",
    }
}

impl Cold {
    /// Returns whether it is what every user may do.
    pub fn is_data(&self) -> bool {
        *self == Cold::Data
    }
}

names! {
    /// How writes are made durable.
    "sync method" Sync {
        /// Whenever the kernel writes back: measures the time to the page cache.
        None = "none",
        /// fdatasync at the end, inside the timed window.
        End = "end",
        /// fdatasync after every N writes of a thread.
        Fdatasync = "fdatasync",
        /// fsync after every N writes of a thread.
        Fsync = "fsync",
        /// O_DSYNC: each write waits for its data and what is needed to read it back.
        Dsync = "dsync" | "each",
        /// O_SYNC: as O_DSYNC, and for all attributes of the file.
        Osync = "osync",
        /// RWF_DSYNC: as O_DSYNC, asked for with each write.
        RwfDsync = "rwf-dsync",
        /// msync(MS_SYNC) of what was stored into a mapping since the last, after every N writes.
        Msync = "msync",
    }
}

impl Sync {
    /// The methods of every call that writes at an offset.
    pub const OF_WRITES: &[Sync] =
        &[Sync::None, Sync::End, Sync::Fdatasync, Sync::Fsync, Sync::Dsync, Sync::Osync];
    /// The methods of every call that also takes flags.
    pub const OF_FLAGGED_WRITES: &[Sync] = &[
        Sync::None,
        Sync::End,
        Sync::Fdatasync,
        Sync::Fsync,
        Sync::Dsync,
        Sync::Osync,
        Sync::RwfDsync,
    ];

    /// Returns whether a call after every N writes makes them durable.
    pub fn follows_writes(self) -> bool {
        matches!(self, Sync::Fdatasync | Sync::Fsync | Sync::Msync)
    }

    /// Returns whether the trial commits as it goes: each write, or each group of N, waits.
    pub fn commits(self) -> bool {
        !matches!(self, Sync::None | Sync::End)
    }
}

names! {
    /// The state of the CPU caches before a trial.
    "CPU cache state" CpuCache {
        /// Left as they are.
        Keep = "keep",
        /// Flushed of the file's data, which is verified by the latency of loads.
        Flush = "flush",
    }
}

names! {
    /// How a write changes the file.
    #[derive(Default)]
    "kind of write" Writes {
        /// Overwrites the existing blocks.
        #[default]
        Overwrite = "overwrite",
        /// Begins each pass with an empty file, and appends every block in order.
        Append = "append",
        /// Begins each pass with a file whose space is allocated and was never written (fallocate,
        /// unwritten extents).
        Preallocated = "preallocated",
    }
}

impl Writes {
    pub fn is_overwrite(&self) -> bool {
        *self == Writes::Overwrite
    }

    /// Returns whether each pass needs a file that was not written yet.
    pub fn starts_fresh(self) -> bool {
        self != Writes::Overwrite
    }
}

names! {
    /// The threads that share one file.
    #[derive(Default)]
    "number of files" FilePer {
        /// All threads write one file, or each reads a piece of every file of a list.
        #[default]
        Run = "run",
        /// Each thread writes a file of its own, as large as its part of the span, or reads whole
        /// files of a list.
        Thread = "thread",
    }
}

names! {
    /// When the files of a list are opened.
    #[derive(Default)]
    "time of opening" Opened {
        /// Before the timed work.
        #[default]
        Before = "before",
        /// One after the other as part of the timed work.
        Timed = "timed",
    }
}

impl Opened {
    pub fn is_before(&self) -> bool {
        *self == Opened::Before
    }
}

impl FilePer {
    pub fn is_run(&self) -> bool {
        *self == FilePer::Run
    }
}

names! {
    /// Where the ranks of a run find their data.
    #[derive(Default)]
    "layout" Layout {
        /// Each rank has a file of its own.
        #[default]
        PerRank = "per-rank",
        /// All share one file, each has one piece of it.
        Segmented = "segmented",
        /// All share one file, whose blocks belong to the ranks in turn.
        Strided = "strided",
    }
}

impl Layout {
    pub fn is_per_rank(&self) -> bool {
        *self == Layout::PerRank
    }

    /// Returns whether all ranks use one file.
    pub fn is_shared(self) -> bool {
        !self.is_per_rank()
    }
}

/// The order in which blocks are visited: each once per pass, or drawn with replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    Seq,
    Random,
    Reverse,
    /// Every n-th block, then again starting at the next one.
    Stride(u64),
    /// Drawn, the k-th most popular block by 1 / k^theta: theta in thousandths, 1 to
    /// [`Pattern::MAX_THETA`].
    Zipf(u16),
    /// Drawn: a share of the blocks gets that share of the accesses, both 1 to 99 percent.
    Hot {
        share: u8,
        accesses: u8,
    },
}

impl Pattern {
    pub const MAX_THETA: u16 = 5000;

    /// Returns whether each block is drawn with replacement: some come again within a pass.
    pub fn is_drawn(self) -> bool {
        matches!(self, Pattern::Zipf(_) | Pattern::Hot { .. })
    }

    /// Returns whether one block says nothing about where the next one is.
    pub fn is_random(self) -> bool {
        self == Pattern::Random || self.is_drawn()
    }

    /// Returns the pattern by which this percentage of the blocks gets this one of the accesses.
    ///
    /// # Errors
    /// One is not 1 to 99, or the other blocks would get more each.
    pub fn hot(share: u64, accesses: u64) -> Result<Pattern, PatternError> {
        let percent = |value: u64| u8::try_from(value).ok().filter(|p| (1..=99).contains(p));
        match (percent(share), percent(accesses)) {
            (Some(share), Some(accesses)) if share > accesses => {
                Err(PatternError::Swapped { share, accesses })
            }
            (Some(share), Some(accesses)) => Ok(Pattern::Hot { share, accesses }),
            _ => Err(PatternError::Hot),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Pattern::Seq => f.write_str("seq"),
            Pattern::Random => f.write_str("random"),
            Pattern::Reverse => f.write_str("reverse"),
            Pattern::Stride(n) => write!(f, "stride:{n}"),
            Pattern::Zipf(theta) => write!(f, "zipf:{}", f64::from(*theta) / 1000.0),
            Pattern::Hot { share, accesses } => write!(f, "hot:{share}/{accesses}"),
        }
    }
}

/// The reason why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("stride needs its distance in blocks, 2 or more: stride:4")]
    Stride,
    #[error(
        "zipf needs its exponent, 0.001 to 5 with up to 3 decimals: zipf:0.99; the larger, the \
         more accesses go to the most popular blocks"
    )]
    Zipf,
    #[error(
        "hot needs two percentages, 1 to 99: of the blocks, and of the accesses that they get: \
         hot:20/80"
    )]
    Hot,
    #[error(
        "hot:{share}/{accesses} gives {share} % of the blocks only {accesses} % of the accesses; \
         did you mean hot:{accesses}/{share}?"
    )]
    Swapped { share: u8, accesses: u8 },
}

impl FromStr for Pattern {
    type Err = PatternError;
    fn from_str(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        let (name, value) = text.split_once(':').map_or((text, None), |(n, v)| (n, Some(v)));
        match (name, value) {
            ("seq", None) => Ok(Pattern::Seq),
            ("random", None) => Ok(Pattern::Random),
            ("reverse", None) => Ok(Pattern::Reverse),
            ("stride", value) => {
                let blocks = value.and_then(|value| units::parse_count(value).ok());
                blocks.filter(|n| *n >= 2).map(Pattern::Stride).ok_or(PatternError::Stride)
            }
            ("zipf", value) => {
                value.and_then(parse_theta).map(Pattern::Zipf).ok_or(PatternError::Zipf)
            }
            ("hot", value) => {
                let (share, accesses) =
                    value.and_then(|value| value.split_once('/')).ok_or(PatternError::Hot)?;
                let percent = |text: &str| text.trim().parse().map_err(|_| PatternError::Hot);
                Pattern::hot(percent(share)?, percent(accesses)?)
            }
            _ => {
                let forms = ["stride:N", "zipf:THETA", "hot:SHARE/ACCESSES"];
                let all = ["seq", "random", "reverse"].into_iter().chain(forms);
                Err(nearest("pattern", text, all).into())
            }
        }
    }
}

/// Returns a decimal number from 0.001 to 5 in thousandths.
fn parse_theta(text: &str) -> Option<u16> {
    let (whole, decimals) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let decimals = decimals.trim_end_matches('0');
    let is_number = whole.bytes().chain(decimals.bytes()).all(|digit| digit.is_ascii_digit());
    if !is_number || decimals.len() > 3 {
        return None;
    }
    let thousandths = format!("{whole}{decimals:0<3}").parse().ok()?;
    (1..=Pattern::MAX_THETA).contains(&thousandths).then_some(thousandths)
}

/// A name that is in no registry, with the nearest ones that are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind} '{name}'{}", hint(.near, .all))]
pub struct Unknown {
    pub kind: &'static str,
    pub name: String,
    pub near: Vec<String>,
    pub all: Vec<String>,
}

fn hint(near: &[String], all: &[String]) -> String {
    match near {
        [] => format!("; there are: {}", all.join(", ")),
        _ => format!("; did you mean {}?", near.join(" or ")),
    }
}

/// Returns the error for `name`, naming up to three of `known` that are close in spelling.
pub fn nearest<'a>(
    kind: &'static str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Unknown {
    let all: Vec<String> = known.into_iter().map(String::from).collect();
    let mut scored: Vec<(f64, &String)> = all
        .iter()
        .map(|k| (strsim::jaro_winkler(name, k), k))
        .filter(|(score, _)| *score > 0.75)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near = scored.iter().take(3).map(|(_, k)| (*k).clone()).collect();
    Unknown { kind, name: name.into(), near, all }
}

/// Returns whether a word is a name with up to two wrong letters, fewer than half of them.
pub fn is_near(typed: &str, name: &str) -> bool {
    let wrong = strsim::osa_distance(typed, name);
    wrong <= 2 && 2 * wrong < name.trim_start_matches('-').len()
}

/// Returns whose data each rank reads, by the numbers of their machines: that of the rank as many
/// places further on as the largest machine has ranks. A machine with more than half of them reads
/// some of its own.
pub fn shifted(machines: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..machines.len() as u32).collect();
    order.sort_by_key(|rank| machines[*rank as usize]);
    let runs = order.chunk_by(|a, b| machines[*a as usize] == machines[*b as usize]);
    let most = runs.map(<[u32]>::len).max().unwrap_or(0);
    let mut sources = vec![0; machines.len()];
    for (place, rank) in order.iter().enumerate() {
        sources[*rank as usize] = order[(place + most) % order.len()];
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_offer_near_ones() {
        let known = ["read", "pread", "mmap"];
        assert_eq!(
            nearest("backend", "raed", known).to_string(),
            "unknown backend 'raed'; did you mean read or pread?"
        );
        assert_eq!(
            nearest("backend", "zzz", known).to_string(),
            "unknown backend 'zzz'; there are: read, pread, mmap"
        );
    }

    #[test]
    fn shifted_ranks_read_other_machines() {
        let own = |machines: &[u32]| {
            let sources = shifted(machines);
            let mut once = sources.clone();
            once.sort_unstable();
            assert_eq!(once, (0..machines.len() as u32).collect::<Vec<u32>>());
            let is_own = |(rank, of): &(usize, &u32)| machines[*rank] == machines[**of as usize];
            sources.iter().enumerate().filter(is_own).count()
        };
        assert_eq!((own(&[0, 1]), own(&[0, 1, 0, 1, 2, 2]), own(&[])), (0, 0, 0));
        assert_eq!((own(&[0, 0, 1]), own(&[0, 0])), (1, 2));
    }
}
