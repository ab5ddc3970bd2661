//! What the user asked for: every setting once, with its name, its parser and its way back to text.
//!
//! The command line, presets and `--dry-run`'s line are all made from [`Settings::ALL`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::job::PatternError;
use super::probe_param::{parse_sets, put};
use super::setting_text::{
    backends, block_sizes, percents, positive, seed, shares, some_names, some_of, switch,
    trial_time, trials, words,
};
use super::{
    Cache, Choice, ChoiceError, Cold, CpuCache, MeasureCeilings, Op, Pattern, ProbeSet, Range,
    RangeError, RangeOf, Remote, Sync, Unknown, Writes, nearest,
};
use crate::units::{self, UnitError};

/// How long one trial should take: calibration doubles the count until it takes at least `low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialTime {
    #[serde(with = "super::work::nanos")]
    pub low: Duration,
    #[serde(with = "super::work::nanos")]
    pub high: Duration,
}

impl Default for TrialTime {
    fn default() -> Self {
        TrialTime::of(Duration::from_millis(300))
    }
}

impl TrialTime {
    /// One time, not a range of them.
    pub fn of(time: Duration) -> TrialTime {
        TrialTime { low: time, high: time }
    }
}

/// What was asked for. `None` = not said, so a preset or the default decides.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    pub backend: Option<Backends>,
    pub block_size: Option<Range>,
    pub count: Option<Range>,
    pub op: Option<Op>,
    pub pattern: Option<Pattern>,
    pub threads: Option<Range>,
    pub depth: Option<Range>,
    pub cache: Option<Vec<Cache>>,
    pub direct: Option<bool>,
    pub xor: Option<bool>,
    pub size: Option<Range>,
    /// Percentages of the memory that this process may have.
    pub memory_share: Option<Range>,
    pub sync: Option<Sync>,
    pub writes: Option<Vec<Writes>>,
    /// Percentages of reads.
    pub mix: Option<Range>,
    pub cpu_cache: Option<Vec<CpuCache>>,
    pub trials: Option<u32>,
    pub budget: Option<Duration>,
    pub trial_time: Option<TrialTime>,
    pub seed: Option<u64>,
    pub ceilings: Option<MeasureCeilings>,
    pub rated: Option<u64>,
    pub cold: Option<Cold>,
    /// Ids of probes, their groups, or `all`.
    pub probe: Option<Vec<String>>,
    /// Values for parameters of these probes.
    pub sets: Option<Vec<ProbeSet>>,
    /// The other machine of the network probes.
    pub remote: Option<Remote>,
}

/// The backends asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backends {
    All,
    These(Vec<Choice>),
}

/// One setting: its names and both directions of its text.
pub struct Setting {
    /// The long option and the key in a preset.
    pub name: &'static str,
    pub short: Option<char>,
    /// `None`: a switch, which may be said alone or as `=yes`, `=no`.
    pub value: Option<&'static str>,
    pub help: &'static str,
    set: fn(&mut Settings, &str) -> Result<(), SettingError>,
    get: fn(&Settings) -> Option<String>,
    take: fn(&mut Settings, &Settings),
    /// It is said several times, and each time adds to it; in text with spaces between.
    pub many: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    #[error(transparent)]
    Unit(#[from] UnitError),
    #[error(transparent)]
    Range(#[from] RangeError),
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("{0}")]
    Value(String),
}

/// One row of the table: where the text goes, and how it comes back.
macro_rules! setting {
    ($name:literal, $short:expr, $value:expr, $field:ident, $parse:expr, $show:expr, $help:literal) => {
        Setting {
            name: $name,
            short: $short,
            value: $value,
            help: $help,
            set: |settings, text| {
                settings.$field = Some($parse(text)?);
                Ok(())
            },
            get: |settings| settings.$field.as_ref().map($show),
            take: |settings, from| {
                if settings.$field.is_none() {
                    settings.$field = from.$field.clone();
                }
            },
            many: false,
        }
    };
}

fn join<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

impl Setting {
    /// Its value as the text of an option, where it was said.
    pub fn text(&self, settings: &Settings) -> Option<String> {
        (self.get)(settings)
    }
}

impl Settings {
    /// Every setting, in the order of the help text.
    pub const ALL: &'static [Setting] = &[
        setting!(
            "backend",
            Some('b'),
            Some("NAME[+OPTION],..|all"),
            backend,
            backends,
            |b| match b {
                Backends::All => "all".into(),
                Backends::These(list) => join(list),
            },
            "Ways to do I/O, and programs that do it (dd, fio) [default: read,mmap,uring]; --list backends and --list peers show them"
        ),
        setting!(
            "probe",
            None,
            Some("ID,..|GROUP|all"),
            probe,
            words,
            |v| join(v),
            "Operating-system measurements in place of file I/O, or beside that of a preset; --list probes shows them"
        ),
        Setting {
            name: "set",
            short: None,
            value: Some("NAME=RANGE"),
            help: "Values of a probe's parameter: processes=1..10+1 | bytes=64k,1m | latency.stride=64 of one probe; may be said several times; --list probes shows them [default: those of the probe]",
            set: |settings, text| {
                let sets = settings.sets.get_or_insert_default();
                parse_sets(text)?.into_iter().for_each(|set| put(sets, set));
                Ok(())
            },
            get: |settings| {
                settings
                    .sets
                    .as_ref()
                    .map(|sets| sets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            },
            take: |settings, from| {
                // Those of the same parameter give way, and others stay.
                let Some(from) = &from.sets else { return };
                let said = settings.sets.take().unwrap_or_default();
                let mut sets = from.clone();
                said.into_iter().for_each(|set| put(&mut sets, set));
                settings.sets = Some(sets);
            },
            many: true,
        },
        setting!(
            "remote",
            None,
            Some("HOST[:PORT]"),
            remote,
            |t: &str| t.parse::<Remote>(),
            |v| v.to_string(),
            "The machine that network probes measure to, where iotui serve runs [default: none]"
        ),
        Setting {
            name: "block-size",
            short: Some('s'),
            value: Some("RANGE|auto"),
            help: "Block sizes: 4k | 512,4k,1m | 1k..8m (doubling) | 1k..8m*4 | 1..9+2 | auto = those of the preset [default: auto; without a preset 4k,32k,256k,2m]",
            set: |settings, text| {
                settings.block_size = block_sizes(text)?;
                Ok(())
            },
            get: |settings| settings.block_size.as_ref().map(Range::to_string),
            take: |settings, from| {
                if settings.block_size.is_none() {
                    settings.block_size = from.block_size.clone()
                }
            },
            many: false,
        },
        setting!(
            "count",
            Some('n'),
            Some("RANGE"),
            count,
            |t| Range::parse(t, RangeOf::Count),
            Range::to_string,
            "Operations per trial; 0 = one pass to the end [default: calibrated to --trial-time]"
        ),
        setting!(
            "op",
            None,
            Some("read|write|seek"),
            op,
            |t: &str| t.parse::<Op>(),
            |v| v.to_string(),
            "Operation [default: read]"
        ),
        setting!(
            "pattern",
            None,
            Some("seq|random|reverse|stride:N"),
            pattern,
            |t: &str| t.parse::<Pattern>(),
            |v| v.to_string(),
            "Order of the blocks; each visits every block once per pass [default: seq]"
        ),
        setting!(
            "threads",
            Some('t'),
            Some("RANGE"),
            threads,
            |t| some_of(t, super::Job::MAX_THREADS.into()),
            Range::to_string,
            "Worker threads, each on its own part of the file [default: 1]"
        ),
        setting!(
            "depth",
            Some('q'),
            Some("RANGE"),
            depth,
            |t| some_of(t, super::Job::MAX_DEPTH.into()),
            Range::to_string,
            "Operations under way at once per thread, where the backend can [default: 1]"
        ),
        setting!(
            "cache",
            Some('c'),
            Some("cold,warm,asis"),
            cache,
            some_names::<Cache>,
            |v| join(v),
            "Page cache before a trial [default: cold,warm; asis with --direct and for writes]"
        ),
        setting!(
            "direct",
            None,
            None,
            direct,
            switch,
            |v| v.to_string(),
            "Ask for direct I/O (O_DIRECT); =no where a preset asks for it"
        ),
        setting!(
            "xor",
            None,
            None,
            xor,
            switch,
            |v| v.to_string(),
            "Fold the 32-bit XOR of the data inside the timed work; =no where a preset asks for it"
        ),
        setting!(
            "size",
            None,
            Some("RANGE"),
            size,
            |t| Range::parse(t, RangeOf::Bytes),
            Range::to_string,
            "Bytes of the file that are used; size of a scratch or written file [default: all; 512m]"
        ),
        setting!(
            "memory-share",
            None,
            Some("PERCENT"),
            memory_share,
            shares,
            Range::to_string,
            "In place of --size: percent of the memory that this process may have, as in 50,100,150 [default: none]"
        ),
        setting!(
            "sync",
            None,
            Some("none|end|each"),
            sync,
            |t: &str| t.parse::<Sync>(),
            |v| v.to_string(),
            "When a write must reach the device: never, at the end (fdatasync), each time (O_DSYNC) [default: none]"
        ),
        setting!(
            "writes",
            None,
            Some("overwrite,append"),
            writes,
            some_names::<Writes>,
            |v| join(v),
            "Writes over what the file has, or to a file that is empty before each pass and grows, as one is made [default: overwrite]"
        ),
        setting!(
            "mix",
            None,
            Some("READ%"),
            mix,
            percents,
            Range::to_string,
            "Reads and writes mixed, so many percent of them reads, on a file that iotui makes: 70 or 0,30,50,70,100 [default: not mixed]"
        ),
        setting!(
            "cpu-cache",
            None,
            Some("keep,flush"),
            cpu_cache,
            some_names::<CpuCache>,
            |v| join(v),
            "Caches of the CPUs before a trial: as they are, or emptied, where each pass of a trial then begins so [default: keep]"
        ),
        setting!(
            "cold",
            None,
            Some("data|meta|all"),
            cold,
            |t: &str| t.parse::<Cold>(),
            |v| v.to_string(),
            "What cold drops: the file's pages; also directory entries and inodes, of all files; also the pages of all files (the last two as root) [default: data]"
        ),
        setting!(
            "trials",
            None,
            Some("N"),
            trials,
            trials,
            |v| v.to_string(),
            "Exactly N trials of every cell [default: until the intervals are narrow or the budget ends]"
        ),
        setting!(
            "budget",
            None,
            Some("TIME"),
            budget,
            positive,
            |v| units::short_time(*v),
            "Time for everything after the plan is made [default: 50s]"
        ),
        setting!(
            "trial-time",
            None,
            Some("TIME|LOW..HIGH"),
            trial_time,
            trial_time,
            |v| if v.low == v.high {
                units::short_time(v.low)
            } else {
                format!("{}..{}", units::short_time(v.low), units::short_time(v.high))
            },
            "Time of one trial; the count is doubled until it takes that long [default: 300ms]"
        ),
        setting!(
            "seed",
            None,
            Some("N"),
            seed,
            seed,
            |v| v.to_string(),
            "Seed of the order of trials and of random offsets [default: from the clock]"
        ),
        setting!(
            "ceilings",
            None,
            Some("auto|always|never"),
            ceilings,
            |t: &str| t.parse::<MeasureCeilings>(),
            |v| v.to_string(),
            "Measure what this machine can reach at most, in the first three runs of a boot: auto = before a plan of 5 s or more [default: auto]"
        ),
        setting!(
            "rated",
            None,
            Some("SPEED"),
            rated,
            units::parse_rate,
            |v| format!("{}/s", units::short_bytes(*v)),
            "Bytes per second that the vendor of the disk names, as in 3500MB/s: a line to hold results against"
        ),
    ];

    /// Sets one by name, from the text of an option or of a preset's key.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
        match Self::ALL.iter().find(|s| s.name == name) {
            Some(setting) => (setting.set)(self, text),
            None => Err(nearest("setting", name, Self::ALL.iter().map(|s| s.name)).into()),
        }
    }

    /// The name and text of every setting that was said: [`Settings::set`] of each gives these
    /// settings again.
    pub fn said(&self) -> impl Iterator<Item = (&'static str, String)> {
        Self::ALL.iter().filter_map(|setting| Some((setting.name, (setting.get)(self)?)))
    }

    /// The value of one by name, as text.
    pub fn text(&self, name: &str) -> Option<String> {
        Self::ALL.iter().find(|s| s.name == name).and_then(|s| s.text(self))
    }

    /// Forgets what was said of one.
    pub fn unset(&mut self, name: &str) {
        let mut rest = Settings::default();
        for setting in Self::ALL.iter().filter(|s| s.name != name) {
            (setting.take)(&mut rest, self);
        }
        *self = rest;
    }

    /// These settings; what they leave open is taken from `defaults`.
    pub fn or(mut self, defaults: &Settings) -> Settings {
        for setting in Self::ALL {
            (setting.take)(&mut self, defaults);
        }
        self
    }

    /// Back to arguments: parsing them gives these settings again.
    pub fn argv(&self) -> Vec<String> {
        let mut argv = Vec::new();
        for setting in Self::ALL {
            match ((setting.get)(self), setting.value) {
                (None, _) => {}
                (Some(text), None) if text == "true" => argv.push(format!("--{}", setting.name)),
                (Some(_), None) => argv.push(format!("--{}=no", setting.name)),
                (Some(text), Some(_)) if setting.many => {
                    argv.extend(
                        text.split(' ').flat_map(|one| [format!("--{}", setting.name), one.into()]),
                    );
                }
                (Some(text), Some(_)) => argv.extend([
                    setting.short.map_or(format!("--{}", setting.name), |c| format!("-{c}")),
                    text,
                ]),
            }
        }
        argv
    }
}

#[cfg(test)]
mod tests;
