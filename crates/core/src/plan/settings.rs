//! The user's settings: each once, with its name, its parser and its formatter.
//!
//! The command line, presets and `--dry-run`'s line are all built from [`Settings::ALL`].

use std::time::Duration;

use super::probe::{parse_sets, put};
use super::setting_text::{
    backends, block_sizes, latency_target, neighbour_shares, pause, percent, percents, positive,
    seed, shares, show_switches, sizes, some_names, some_of, split_list, switch, switches, times,
    trial_time, trials, until, watch,
};
use super::{
    Arrival, Backends, Cache, Cold, Condition, CpuCache, CpuList, Expect, FilePer, Layout,
    MeasureCeilings, Op, Opened, Pattern, ProbeSet, Range, RangeOf, Rates, Remote, SettingError,
    StopCondition, Sync, TrialTime, Until, Writes, nearest,
};
use crate::units;

/// The requested settings. `None` = not given, so a preset or the default decides.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    pub backend: Option<Backends>,
    pub block_size: Option<Range>,
    pub count: Option<Range>,
    pub op: Option<Op>,
    pub pattern: Option<Pattern>,
    pub threads: Option<Range>,
    /// The CPUs that threads are pinned to.
    pub cpus: Option<CpuList>,
    pub depth: Option<Range>,
    pub rate: Option<Rates>,
    pub arrival: Option<Arrival>,
    /// The pause after each operation.
    pub think: Option<Duration>,
    pub latency_target: Option<Condition>,
    /// The job that runs while cells are measured.
    pub neighbour: Option<Box<Settings>>,
    /// Percentages of what it does at full speed.
    pub neighbour_share: Option<Range>,
    /// How long one cell is watched.
    pub watch: Option<Duration>,
    /// The conditions that end the watch before.
    pub stop_if: Option<Vec<StopCondition>>,
    pub cache: Option<Vec<Cache>>,
    pub direct: Option<Vec<bool>>,
    pub xor: Option<bool>,
    pub size: Option<Range>,
    /// Percentages of the memory available to this process.
    pub memory_share: Option<Range>,
    pub sync: Option<Vec<Sync>>,
    /// Writes between two calls of a sync method that follows writes.
    pub sync_every: Option<Range>,
    pub writes: Option<Vec<Writes>>,
    pub file_per: Option<Vec<FilePer>>,
    pub opened: Option<Vec<Opened>>,
    /// Percentages of reads.
    pub mix: Option<Range>,
    pub cpu_cache: Option<Vec<CpuCache>>,
    /// Percentages of the data that is written.
    pub compressible: Option<u8>,
    pub dedupe: Option<u8>,
    /// How many times the file is written before the measurement.
    pub precondition: Option<u8>,
    pub verify: Option<bool>,
    pub fresh: Option<bool>,
    pub trials: Option<u32>,
    pub until: Option<Until>,
    pub budget: Option<Duration>,
    pub trial_time: Option<TrialTime>,
    pub seed: Option<u64>,
    pub ceilings: Option<MeasureCeilings>,
    pub rated: Option<u64>,
    /// Profiles and conditions that the results are expected to keep to.
    pub expect: Option<Vec<Expect>>,
    pub cold: Option<Cold>,
    /// Ids of probes, their groups, or `all`.
    pub probe: Option<Vec<String>>,
    /// Values for parameters of these probes.
    pub sets: Option<Vec<ProbeSet>>,
    /// The other machine of the network probes.
    pub remote: Option<Remote>,
    /// How many of the ranks measure.
    pub ranks: Option<Range>,
    pub layout: Option<Layout>,
    /// A rank reads what a rank of another machine wrote.
    pub shift: Option<bool>,
}

/// The settings that a neighbour may have: the ones of a job, and the size of its file.
const OF_NEIGHBOUR: [&str; 15] = [
    "backend",
    "block-size",
    "op",
    "pattern",
    "threads",
    "depth",
    "rate",
    "arrival",
    "think",
    "direct",
    "size",
    "sync",
    "sync-every",
    "compressible",
    "dedupe",
];

/// One setting: its names, the kind of its value, and both directions of its text.
pub struct Setting {
    /// The long option and the key in a preset.
    pub name: &'static str,
    pub short: Option<char>,
    /// Its name on the screen.
    pub title: &'static str,
    pub kind: ValueKind,
    /// The default, in words; empty for a switch that is off.
    pub default: &'static str,
    /// Its effect, without its default.
    pub about: &'static str,
    set: fn(&mut Settings, &str) -> Result<(), SettingError>,
    get: fn(&Settings) -> Option<String>,
    take: fn(&mut Settings, &Settings),
}

/// One row of the table: how the text is parsed, and how it is written.
macro_rules! setting {
    (
        $name:literal $(/ $short:literal)?, $title:literal, $kind:expr, default: $default:literal,
        $field:ident: $parse:expr => $show:expr,
        $about:literal $(,)?
    ) => {
        Setting {
            name: $name,
            short: {
                let short: &[char] = &[$($short)?];
                if let [short] = short { Some(*short) } else { None }
            },
            title: $title,
            kind: $kind,
            default: $default,
            about: $about,
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
        }
    };
}

fn join<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

impl Setting {
    /// Returns its line in the help.
    pub fn help(&self) -> String {
        match self.default {
            "" => self.about.into(),
            default => format!("{} [default: {default}]", self.about),
        }
    }

    /// Returns whether it is this option, `--size` or `-s`.
    fn is_option(&self, option: &str) -> bool {
        match option.strip_prefix("--") {
            Some(name) => self.name == name,
            None => self.short.is_some_and(|short| option == format!("-{short}")),
        }
    }

    /// Returns its value as the text of an option, if it was given.
    pub fn text(&self, settings: &Settings) -> Option<String> {
        (self.get)(settings)
    }
}

impl Settings {
    /// Every setting, in the order of the help text.
    pub const ALL: &'static [Setting] = &[
        setting!(
            "backend" / 'b', "Backend", ValueKind::Form("NAME[+OPTION],..|all"),
            default: "read,mmap,uring",
            backend: backends => |b| match b {
                Backends::All => "all".into(),
                Backends::These(list) => join(list),
            },
            "Backends and external programs (dd, fio) to measure with; see --list backends and \
             --list peers",
        ),
        setting!(
            "probe", "Probe", ValueKind::Form("ID,..|GROUP|all"),
            default: "none",
            probe: split_list => |v| join(v),
            "Operating-system probes to run instead of file I/O, or along with that of a preset; \
             see --list probes",
        ),
        Setting {
            name: "set",
            short: None,
            title: "Probe parameters",
            kind: ValueKind::Forms("NAME=RANGE"),
            default: "the probe's own values",
            about: "Values of a probe's parameter: processes=1..10+1 | bytes=64k,1m | \
                    latency.stride=64 for one probe only; may be repeated; see --list probes",
            set: |settings, text| {
                let sets = settings.sets.get_or_insert_default();
                parse_sets(text)?.into_iter().for_each(|set| put(sets, set));
                Ok(())
            },
            get: |settings| {
                let sets = settings.sets.as_ref()?;
                Some(sets.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            },
            take: |settings, from| {
                // Values of the same parameter are replaced, and others stay.
                let Some(from) = &from.sets else { return };
                let given = settings.sets.take().unwrap_or_default();
                let mut sets = from.clone();
                given.into_iter().for_each(|set| put(&mut sets, set));
                settings.sets = Some(sets);
            },
        },
        setting!(
            "remote", "Remote", ValueKind::Form("HOST[:PORT]"),
            default: "none",
            remote: |t: &str| t.parse::<Remote>() => |v| v.to_string(),
            "Host for the network probes, where iotui serve runs",
        ),
        Setting {
            name: "block-size",
            short: Some('s'),
            title: "Block size",
            kind: ValueKind::Form("RANGE|auto"),
            default: "auto; without a preset 4k,32k,256k,2m",
            about: "Block sizes, such as 4k or 1k..8m (doubling); also 512,4k,1m | 1k..8m*4 | \
                    1..9+2, up to 1024 | auto = as the preset has it",
            set: |settings, text| {
                settings.block_size = block_sizes(text)?;
                Ok(())
            },
            get: |settings| settings.block_size.as_ref().map(Range::to_string),
            take: |settings, from| {
                if settings.block_size.is_none() {
                    settings.block_size = from.block_size.clone();
                }
            },
        },
        setting!(
            "count" / 'n', "Count", ValueKind::Form("RANGE"),
            default: "calibrated to --trial-time",
            count: |t| Range::parse(t, RangeOf::Count) => Range::to_string,
            "Operations per trial; 0 = one pass to the end of the file",
        ),
        setting!(
            "op", "Operation", ValueKind::OneOf(&["read", "write", "seek"]),
            default: "read",
            op: |t: &str| t.parse::<Op>() => |v| v.to_string(),
            "Operation",
        ),
        setting!(
            "pattern", "Pattern", ValueKind::OneOfOr(
                &["seq", "random", "reverse", "zipf:0.99", "hot:20/80"],
                "stride:N|zipf:THETA|hot:SHARE/ACCESSES",
            ),
            default: "seq",
            pattern: |t: &str| t.parse::<Pattern>() => |v| v.to_string(),
            "Order of the blocks: each once per pass, or with replacement: zipf:0.99 = the k-th \
             most popular block by 1/k^0.99, hot:20/80 = 20 % of the blocks get 80 % of the accesses",
        ),
        setting!(
            "threads" / 't', "Threads", ValueKind::Form("RANGE"),
            default: "1",
            threads: |t| some_of(t, super::Job::MAX_THREADS.into()) => Range::to_string,
            "Worker threads, each on its own part of the file",
        ),
        setting!(
            "cpus", "CPUs", ValueKind::Form("LIST"),
            default: "where the kernel runs them",
            cpus: |t: &str| t.parse::<CpuList>() => |v| v.to_string(),
            "Pin each thread to one of these CPUs, such as 0,2-3: the first thread to 0, the second \
             to 2, and so on, in turn",
        ),
        setting!(
            "depth" / 'q', "Queue depth", ValueKind::Form("RANGE"),
            default: "1",
            depth: |t| some_of(t, super::Job::MAX_DEPTH.into()) => Range::to_string,
            "Queue depth: operations in flight per thread, where the backend supports it",
        ),
        setting!(
            "rate", "Rate", ValueKind::Form("RANGE"),
            default: "as fast as possible",
            rate: Rates::parse => Rates::to_string,
            "Start operations at this rate, of all threads together, whether or not earlier ones \
             are done: operations (500, 10k) or bytes (100MB/s) per second, or 1k..32k; latencies \
             then count from the intended start",
        ),
        setting!(
            "arrival", "Arrival", ValueKind::OneOf(&["steady", "poisson"]),
            default: "steady",
            arrival: |t: &str| t.parse::<Arrival>() => |v| v.to_string(),
            "When operations start under --rate: at equal distances, or at random (Poisson)",
        ),
        setting!(
            "think", "Pause", ValueKind::Form("TIME"),
            default: "none",
            think: pause => |v| units::short_time(*v),
            "Pause of a thread after each operation, such as 5ms; with --depth, of each of its slots",
        ),
        setting!(
            "latency-target", "Max latency", ValueKind::Form("CONDITION"),
            default: "none",
            latency_target: latency_target => |v| v.to_string(),
            "Search for the highest rate with this latency: a percentile of the response times, such \
             as p99<5ms, in steps of 5 % from 10/s to 1m/s, or at the rates of --rate; exit 5 if it \
             holds at none",
        ),
        setting!(
            "neighbour", "Neighbour", ValueKind::Form("OPTIONS"),
            default: "none",
            neighbour: Settings::parse_neighbour => |v| v.argv().join(" "),
            "Measure each cell alone and next to a second job, in the same rounds: its options, such \
             as '--op write -s 1m --direct --rate 200MB/s'; it has a scratch file of its own, and \
             several rates are several neighbours",
        ),
        setting!(
            "neighbour-share", "Neighbour at", ValueKind::Form("PERCENT"),
            default: "its rate, or 100",
            neighbour_share: neighbour_shares => Range::to_string,
            "Run the neighbour at these percentages of its full speed, such as 25,50,75,100",
        ),
        setting!(
            "watch", "Watch", ValueKind::Form("TIME"),
            default: "none",
            watch: watch => |v| units::short_time(*v),
            "Run a light job for that long (10s to 720h): what happened when, and who was active; \
             without --rate at 2 % of what the device does, from 10/s to 1000/s; without a preset \
             or other options random direct reads of 4 KiB",
        ),
        setting!(
            "stop-if", "Stop if", ValueKind::Lists("CONDITION for TIME,.."),
            default: "nothing",
            stop_if: StopCondition::parse_list => |v| join(v),
            "End the watch, with exit code 5, when this is so of all operations of a time: \
             'p99>50ms for 10s' (p50, p90, p99, p99.9, max) or 'iops<50 for 1m'; may be repeated",
        ),
        setting!(
            "cache" / 'c', "Page cache", ValueKind::SomeOf(&["cold", "warm", "asis"]),
            default: "cold,warm; asis with --direct and for writes",
            cache: some_names::<Cache> => |v| join(v),
            "State of the page cache before a trial: dropped, filled, or unchanged",
        ),
        setting!(
            "direct", "Direct I/O", ValueKind::Switch,
            default: "",
            direct: switches => show_switches,
            "Use direct I/O (O_DIRECT); =no overrides a preset, =no,yes compares both",
        ),
        setting!(
            "xor", "XOR", ValueKind::Switch,
            default: "",
            xor: switch => |v| v.to_string(),
            "Compute the 32-bit XOR of the data, within the timed work; =no overrides a preset",
        ),
        setting!(
            "size", "Size", ValueKind::Form("RANGE"),
            default: "all of a file; 512m for a scratch file",
            size: sizes => Range::to_string,
            "Bytes of the file to use; size of a scratch file or of a file that is written, also \
             free: all free space but a tenth",
        ),
        setting!(
            "memory-share", "Memory share", ValueKind::Form("PERCENT"),
            default: "none",
            memory_share: shares => Range::to_string,
            "Size as a percentage of usable memory, e.g. 50,100,150 (instead of --size)",
        ),
        setting!(
            "sync", "Sync", ValueKind::SomeOf(&[
                "none", "end", "fdatasync", "fsync", "dsync", "osync", "rwf-dsync", "msync",
            ]),
            default: "none",
            sync: some_names::<Sync> => |v| join(v),
            "How writes are made durable: not at all, once at the end (fdatasync), by a call after \
             every --sync-every writes (fdatasync, fsync, msync), or by each write (dsync = \
             O_DSYNC, osync = O_SYNC, rwf-dsync = RWF_DSYNC)",
        ),
        setting!(
            "sync-every", "Sync every", ValueKind::Form("RANGE"),
            default: "1",
            sync_every: |t| some_of(t, super::Job::MAX_SYNC_EVERY.into()) => Range::to_string,
            "Writes of a thread for each sync (fdatasync, fsync or msync)",
        ),
        setting!(
            "writes", "Writes", ValueKind::SomeOf(&["overwrite", "append", "preallocated"]),
            default: "overwrite",
            writes: some_names::<Writes> => |v| join(v),
            "How a file is written: over existing data, at the end of a file that is empty before \
             each pass, or into space that is allocated before each pass (fallocate)",
        ),
        setting!(
            "file-per", "File per", ValueKind::SomeOf(&["run", "thread"]),
            default: "run",
            file_per: some_names::<FilePer> => |v| join(v),
            "All threads write one file, or each writes its own; with --as-one each reads a piece of \
             every file, or whole files",
        ),
        setting!(
            "opened", "Opened", ValueKind::SomeOf(&["before", "timed"]),
            default: "before",
            opened: some_names::<Opened> => |v| join(v),
            "Files of --as-one are opened before the timed work, or in it",
        ),
        setting!(
            "ranks", "Ranks", ValueKind::Form("RANGE"),
            default: "all that were started",
            ranks: |t| some_of(t, super::Job::MAX_RANKS.into()) => Range::to_string,
            "How many ranks measure at the same time (iotui-mpi), of the processes that mpirun \
             started",
        ),
        setting!(
            "layout", "Layout", ValueKind::OneOf(&["per-rank", "segmented", "strided"]),
            default: "per-rank; segmented for a named file",
            layout: |t: &str| t.parse::<Layout>() => |v| v.to_string(),
            "How ranks share files (iotui-mpi): each has a file of its own, or one piece of a file \
             that all share, or every n-th block of that file",
        ),
        setting!(
            "shift", "Shift", ValueKind::Switch,
            default: "yes if there are several machines",
            shift: switch => |v| v.to_string(),
            "Read what a rank of another machine wrote (iotui-mpi), which is not in this one's \
             page cache",
        ),
        setting!(
            "compressible", "Compressible", ValueKind::Form("PERCENT"),
            default: "0, but a write cell repeats one block",
            compressible: percent => |v| v.to_string(),
            "How far the data that iotui writes compresses; blocks then differ",
        ),
        setting!(
            "dedupe", "Dedupe", ValueKind::Form("PERCENT"),
            default: "0, but a write cell repeats one block",
            dedupe: percent => |v| v.to_string(),
            "Share of written data that repeats earlier blocks, as deduplication sees it",
        ),
        setting!(
            "precondition", "Precondition", ValueKind::Form("TIMES"),
            default: "once",
            precondition: times => |v| v.to_string(),
            "How many times a file of iotui's is written whole before the measurement",
        ),
        setting!(
            "verify", "Verify", ValueKind::Switch,
            default: "",
            verify: switch => |v| v.to_string(),
            "Read back and compare every written byte: after each trial, once the file is dropped \
             from the page cache; exit 1 if it differs; =no overrides a preset",
        ),
        setting!(
            "fresh", "Fresh", ValueKind::Switch,
            default: "",
            fresh: switch => |v| v.to_string(),
            "Read each block of FILE once: caches below this machine, of a host, a server or a \
             drive, have not seen it; needs --cache cold or --direct",
        ),
        setting!(
            "mix", "Read share", ValueKind::Form("READ%"),
            default: "not mixed",
            mix: percents => Range::to_string,
            "Mix reads and writes: the percentage of reads, e.g. 70 or 0,30,50,70,100, on a file \
             that iotui creates",
        ),
        setting!(
            "cpu-cache", "CPU caches", ValueKind::SomeOf(&["keep", "flush"]),
            default: "keep",
            cpu_cache: some_names::<CpuCache> => |v| join(v),
            "CPU caches before each pass: left as they are, or flushed",
        ),
        setting!(
            "cold", "Cold drops", ValueKind::OneOf(&["data", "meta", "all"]),
            default: "data",
            cold: |t: &str| t.parse::<Cold>() => |v| v.to_string(),
            "What a cold trial drops: data = the file's pages, meta = also all dentries and \
             inodes, all = also every cached page (meta and all need root)",
        ),
        setting!(
            "trials", "Trials", ValueKind::Form("N"),
            default: "see --until",
            trials: trials => |v| v.to_string(),
            "Exactly N trials of every cell",
        ),
        setting!(
            "until", "Until", ValueKind::Form("answer|steady|PERCENT"),
            default: "of most presets: answer, else 2%",
            until: until => |v| match v {
                Until::Answer => "answer".into(),
                Until::Steady => "steady".into(),
                Until::Within(hundredths) => format!("{}%", f64::from(*hundredths) / 100.0),
            },
            "Run until the answer is settled: until more trials would change it by at most 10 %, \
             or every interval is within PERCENT of its median; the latter without --budget for \
             up to an hour. With steady, each cell has one long trial: until five rounds of up to a \
             minute stay within 20 % of their mean, or --budget ends",
        ),
        setting!(
            "budget", "Budget", ValueKind::Form("TIME"),
            default: "50s, with --until PERCENT 1h, steady 10m",
            budget: positive => |v| units::short_time(*v),
            "Time limit of the run, once the plan is made",
        ),
        setting!(
            "trial-time", "Trial time", ValueKind::Form("TIME|LOW..HIGH"),
            default: "up to 300ms",
            trial_time: trial_time => |v| if v.low == v.high {
                units::short_time(v.low)
            } else {
                format!("{}..{}", units::short_time(v.low), units::short_time(v.high))
            },
            "Duration of a trial; the count is chosen so that a trial takes that long",
        ),
        setting!(
            "seed", "Seed", ValueKind::Form("N"),
            default: "from the clock",
            seed: seed => |v| v.to_string(),
            "Seed of the order of trials and of random offsets",
        ),
        setting!(
            "ceilings", "Ceilings", ValueKind::OneOf(&["auto", "always", "never"]),
            default: "auto",
            ceilings: |t: &str| t.parse::<MeasureCeilings>() => |v| v.to_string(),
            "Measure memory bandwidth and call costs of this machine, in the first three runs \
             after a boot; auto = before a plan of 5 s or more",
        ),
        setting!(
            "rated", "Rated speed", ValueKind::Form("SPEED"),
            default: "none",
            rated: units::parse_rate => |v| format!("{}/s", units::short_bytes(*v)),
            "The vendor's rated speed, such as 3500MB/s; shown as a reference line",
        ),
        setting!(
            "expect", "Expect", ValueKind::Form("PROFILE|CONDITION,.."),
            default: "nothing",
            expect: Expect::parse_list => |v| join(v),
            "What the results must keep to: profiles (see --list profiles) and conditions on \
             p50, p90, p99, p99.9, max, iops, commits or throughput, e.g. 'p99<10ms,iops>=10k' \
             or '>=500MB/s'; exit 5 if one does not hold, 1 if one cannot be judged. A profile \
             also says what to measure if no preset is named",
        ),
    ];

    /// Returns the largest size that is known before the target is.
    pub fn largest_size(&self) -> Option<u64> {
        let sizes = self.size.iter().flat_map(|range| &range.values);
        sizes.copied().filter(|size| *size != Range::FREE).max()
    }

    /// Sets one by name, from the text of an option or of a preset's key.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
        match Self::ALL.iter().find(|s| s.name == name) {
            Some(setting) => (setting.set)(self, text),
            None => Err(nearest("setting", name, Self::ALL.iter().map(|s| s.name)).into()),
        }
    }

    /// Parses the options of a neighbour, such as `-b pread --op write -s 1m --rate 200MB/s`.
    ///
    /// # Errors
    /// A word is no option, an option does not belong to a job, or its value is refused.
    pub fn parse_neighbour(text: &str) -> Result<Box<Settings>, SettingError> {
        let refuse = |why: String| Err(SettingError::Value(why));
        let mut settings = Settings::default();
        let mut words = text.split_ascii_whitespace();
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word, None),
            };
            let found = Self::ALL.iter().find(|setting| setting.is_option(option));
            let Some(setting) = found.filter(|of| OF_NEIGHBOUR.contains(&of.name)) else {
                return refuse(format!("'{option}' is not an option of a neighbour"));
            };
            let value = match (value, setting.kind) {
                (Some(value), _) => value,
                (None, ValueKind::Switch) => "yes",
                (None, _) => match words.next() {
                    Some(value) => value,
                    None => return refuse(format!("'{option}' of the neighbour lacks a value")),
                },
            };
            if let Err(error) = settings.set(setting.name, value) {
                return refuse(format!("{option} of the neighbour: {error}"));
            }
        }
        if settings == Settings::default() {
            return refuse("name its options, such as '--op write -s 1m --direct'".into());
        }
        Ok(Box::new(settings))
    }

    /// Returns the name and text of every setting that was given: [`Settings::set`] of each returns
    /// these settings again.
    pub fn given_values(&self) -> impl Iterator<Item = (&'static str, String)> {
        Self::ALL.iter().filter_map(|setting| Some((setting.name, (setting.get)(self)?)))
    }

    /// Returns the value of a setting as text.
    pub fn text(&self, name: &str) -> Option<String> {
        Self::ALL.iter().find(|s| s.name == name).and_then(|s| s.text(self))
    }

    /// Sets a setting, clears the settings that only its previous value needed, and sets the
    /// operation to write where only writes have the new value.
    pub fn choose(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
        self.set(name, text)?;
        match name {
            "op" if self.op != Some(Op::Write) => {
                if self.sync.as_deref() != Some(&[Sync::None]) {
                    self.sync = None;
                    self.sync_every = None;
                }
                self.mix = None;
                self.writes = None;
                self.file_per = None;
            }
            // A mix reads and writes, so it is a write operation.
            "mix" | "writes" | "file-per" => self.op = Some(Op::Write),
            _ => {}
        }
        Ok(())
    }

    /// Removes a setting.
    pub fn unset(&mut self, name: &str) {
        let mut rest = Settings::default();
        for setting in Self::ALL.iter().filter(|s| s.name != name) {
            (setting.take)(&mut rest, self);
        }
        *self = rest;
    }

    /// Returns these settings with what they leave open taken from `defaults`.
    pub fn or(mut self, defaults: &Settings) -> Settings {
        for setting in Self::ALL {
            (setting.take)(&mut self, defaults);
        }
        self
    }

    /// Returns the settings as arguments: parsing them gives these settings again.
    pub fn argv(&self) -> Vec<String> {
        let mut argv = Vec::new();
        for setting in Self::ALL {
            let Some(text) = (setting.get)(self) else { continue };
            let option = format!("--{}", setting.name);
            match setting.kind {
                ValueKind::Switch if text == "true" => argv.push(option),
                ValueKind::Switch if text == "false" => argv.push(option + "=no"),
                ValueKind::Switch => argv.push(option + "=" + &text),
                ValueKind::Forms(_) => {
                    argv.extend(text.split(' ').flat_map(|value| [option.clone(), value.into()]));
                }
                _ => argv.extend([setting.short.map_or(option, |c| format!("-{c}")), text]),
            }
        }
        argv
    }
}

#[cfg(any(test, feature = "testing"))]
impl Settings {
    /// Returns the settings of a line of `name=text`.
    pub fn from_words(line: &str) -> Settings {
        let mut settings = Settings::default();
        for word in line.split_whitespace() {
            let (name, text) = word.split_once('=').unwrap();
            settings.set(name, text).unwrap();
        }
        settings
    }
}

#[cfg(test)]
mod tests;

/// The kind of value that a setting has, from which the option's help, completion and the screen's
/// rows are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// On or off: given alone, or as `=yes` and `=no`.
    Switch,
    /// One of these names.
    OneOf(&'static [&'static str]),
    /// One of these names, or a value of these forms; names with a colon are examples of them.
    OneOfOr(&'static [&'static str], &'static str),
    /// Some of these names, separated by commas.
    SomeOf(&'static [&'static str]),
    /// A value of this form.
    Form(&'static str),
    /// Values of this form, one each time the option is given; in text separated by spaces.
    Forms(&'static str),
    /// The same, separated by commas.
    Lists(&'static str),
}

impl ValueKind {
    /// Returns the value as the help writes it, as in `read|write|seek`; `None` for a switch.
    pub fn placeholder(self) -> Option<String> {
        match self {
            ValueKind::Switch => None,
            ValueKind::OneOf(names) => Some(names.join("|")),
            ValueKind::OneOfOr(names, forms) => {
                let plain = names.iter().copied().filter(|name| !name.contains(':'));
                Some(plain.chain([forms]).collect::<Vec<_>>().join("|"))
            }
            ValueKind::SomeOf(names) => Some(names.join(",")),
            ValueKind::Form(form) | ValueKind::Forms(form) | ValueKind::Lists(form) => {
                Some(form.into())
            }
        }
    }
}
