//! Why a combination of axes is skipped.

use super::kind::{AvailableProbes, PlanRequest};
use super::{plan, sweep, usual};
use crate::plan::{
    Cache, ChoiceError, Info, Job, JobOption, Moves, Op, Pattern, Plan, Preset, Range, Resolved,
    SettingError, Settings, TargetSpec, Unknown,
};
use crate::units::{show_bytes, show_count};

/// Returns why this combination is meaningless or not supported here.
pub fn refusal(info: &Info, job: &Job, request: &PlanRequest) -> Option<String> {
    let id = info.id;
    if job.mix.is_some() && !info.mixes {
        let able = able(request, |info| info.mixes);
        return Some(format!("{id} cannot mix reads and writes; --backend {able} can"));
    }
    if !info.ops.contains(&job.op) {
        let moves = |info: &Info| job.op == Op::Seek || info.moves_bytes();
        let able = able(request, |i| !i.is_peer() && i.ops.contains(&job.op) && moves(i));
        return Some(format!("{id} cannot {}; --backend {able} can", job.op));
    }
    if job.depth > info.max_depth() {
        let why = if info.max_depth() == 1 {
            "is synchronous".into()
        } else {
            format!("supports a depth of at most {}", info.max_depth())
        };
        return Some(format!("{id} {why}; use --depth {} or -b uring", info.max_depth()));
    }
    if job.direct && !info.direct {
        return Some(format!("{id} does not support direct I/O; leave out --direct"));
    }
    if let Some(why) = appends(info, job, request)
        .or_else(|| starts_fresh(job))
        .or_else(|| own_files(job, request))
    {
        return Some(why);
    }
    if let Some(why) = folds(info, job).or_else(|| syncs(info, job, request)) {
        return Some(why);
    }
    if job.direct && job.cache == Cache::Warm {
        return Some(
            "direct I/O bypasses the page cache, so warm has no effect; leave out --direct or \
             --cache warm"
                .into(),
        );
    }
    fits(job, request)
        .or_else(|| writes(job, request))
        .or_else(|| verifies(info, job, request))
        .or_else(|| memory(info, job, request.memory))
        .or_else(|| (request.check)(job).err())
}

/// Returns why the XOR of the data is unavailable.
fn folds(info: &Info, job: &Job) -> Option<String> {
    if job.mix.is_some() && job.xor {
        return Some(
            "the mix overwrites the data that the XOR covers; leave out --xor or --mix".into(),
        );
    }
    if job.xor && info.moves() != Moves::Data {
        let why = if info.is_peer() {
            "is another program, whose data iotui does not see"
        } else {
            "passes no data to the program"
        };
        return Some(format!(
            "{} {why}, so there is no XOR; leave out --xor, or use pread",
            info.id
        ));
    }
    None
}

/// Returns why writes cannot be made durable in this way.
fn syncs(info: &Info, job: &Job, request: &PlanRequest) -> Option<String> {
    if job.op != Op::Write {
        return None;
    }
    if !info.syncs.contains(&job.sync) {
        let syncs = |i: &Info| i.ops.contains(&Op::Write) && i.syncs.contains(&job.sync);
        let able = able(request, syncs);
        return Some(format!("{} cannot --sync {}; --backend {able} can", info.id, job.sync));
    }
    if job.xor && job.sync.follows_writes() {
        return Some(format!(
            "commits would include the XOR; leave out --xor, or use --sync dsync instead of {}",
            job.sync
        ));
    }
    (job.mix.is_some() && job.sync.follows_writes()).then(|| {
        format!("a mix cannot sync after its writes; use --sync dsync instead of {}", job.sync)
    })
}

/// Returns why the blocks do not fit in the file.
fn fits(job: &Job, request: &PlanRequest) -> Option<String> {
    if job.span > request.target.size() {
        return Some(format!(
            "a span of {} exceeds the file's {}; use a smaller --size",
            show_bytes(job.span),
            show_bytes(request.target.size())
        ));
    }
    if let Some(ranks) = request.ranks.filter(|ranks| *ranks > 1 && job.block > job.span) {
        return Some(format!(
            "there are more ranks than blocks of {}: {} for each of {ranks}",
            show_bytes(job.block),
            show_bytes(job.span)
        ));
    }
    if job.block > job.span {
        return Some(format!(
            "a block of {} is larger than the measured span of {}",
            show_bytes(job.block),
            show_bytes(job.span)
        ));
    }
    let count = job.count?;
    (count > job.blocks()).then(|| {
        format!(
            "{} blocks of {} exceed the measured span of {}; use -n {} or less",
            count,
            show_bytes(job.block),
            show_bytes(job.span),
            job.blocks()
        )
    })
}

/// Returns why a job cannot append: the file starts out empty and grows in order.
fn appends(info: &Info, job: &Job, request: &PlanRequest) -> Option<String> {
    if !job.appends() {
        return None;
    }
    if !info.appends {
        let able = able(request, |info| info.appends);
        return Some(format!("{} cannot append; {able} can", info.id));
    }
    let why = match job {
        Job { pattern: Pattern::Seq, depth: 1, .. } => return None,
        Job { pattern: Pattern::Seq, .. } => {
            "blocks are written one after the other; use --depth 1"
        }
        _ => "blocks are written in order; use --pattern seq",
    };
    Some(format!("append starts with an empty file: {why}"))
}

/// Returns why a job cannot begin with a file that was never written.
fn starts_fresh(job: &Job) -> Option<String> {
    (job.starts_fresh() && job.mix.is_some()).then(|| {
        format!(
            "{} starts with a file without data: there is nothing to read; omit --mix",
            job.writes
        )
    })
}

/// Returns why the threads of a job cannot have a file each.
fn own_files(job: &Job, request: &PlanRequest) -> Option<String> {
    if !job.has_own_files() {
        return None;
    }
    if job.threads > Job::MAX_OWN_FILES {
        return Some(format!(
            "at most {} threads can have a file each; use --threads {} or less",
            Job::MAX_OWN_FILES,
            Job::MAX_OWN_FILES
        ));
    }
    if job.blocks() < job.threads.into() {
        return Some(format!(
            "there are only {} blocks for {} files; use a larger --size",
            job.blocks(),
            job.threads
        ));
    }
    matches!(request.target, TargetSpec::New { .. } | TargetSpec::Scratch { keep: true, .. })
        .then(|| "files of threads are always removed; omit --keep, and name no file".into())
}

/// Lists the backends that can do something.
fn able(request: &PlanRequest, can: impl Fn(&Info) -> bool) -> String {
    let able = request.infos.iter().filter(|info| can(info)).map(|info| info.id);
    able.collect::<Vec<_>>().join(", ")
}

fn writes(job: &Job, request: &PlanRequest) -> Option<String> {
    let existing = matches!(request.target, TargetSpec::File { .. });
    (job.op == Op::Write && existing).then(|| {
        "iotui writes only to files it creates; name a new file, or none for a scratch file".into()
    })
}

/// Returns why what the job writes cannot be read back and compared, if that is requested.
fn verifies(info: &Info, job: &Job, request: &PlanRequest) -> Option<String> {
    if request.resolved.whole.verify != Some(true) || job.op != Op::Write {
        return None;
    }
    if info.moves() != Moves::Data {
        let id = info.id;
        return Some(format!(
            "{id} does not write iotui's data, so --verify has nothing to compare; use pread"
        ));
    }
    if job.block < Job::STAMP {
        let least = Job::STAMP;
        return Some(format!(
            "--verify marks each block with {least} bytes; use -s {least} or more"
        ));
    }
    // Which pass wrote each block last.
    let list = job.blocks().saturating_mul(4);
    (list > request.memory).then(|| {
        format!(
            "--verify needs {} for a list of {} blocks, which exceeds the usable memory of {}; use \
             a smaller --size or larger blocks",
            show_bytes(list),
            show_count(job.blocks() as f64),
            show_bytes(request.memory)
        )
    })
}

fn memory(info: &Info, job: &Job, available: u64) -> Option<String> {
    let buffers = match info.moves() {
        Moves::Data | Moves::Elsewhere => {
            let each =
                job.block.saturating_mul(job.depth.into()).saturating_mul(job.threads.into());
            // Reads and writes have separate buffers.
            if job.mix.is_some() { each.saturating_mul(2) } else { each }
        }
        Moves::Inside | Moves::Nothing => 0,
    };
    (buffers > available).then(|| {
        format!(
            "buffers of {} ({} threads x depth {} x {}) exceed the usable memory of {}",
            show_bytes(buffers),
            show_count(job.threads.into()),
            job.depth,
            show_bytes(job.block),
            show_bytes(available)
        )
    })
}

/// The choices, and the facts that they are checked against.
pub struct Choices<'a> {
    /// The effective settings, with all gaps filled as a plan will fill them.
    pub settings: &'a Settings,
    /// Whether backends were chosen; otherwise they follow the operation.
    pub explicit_backends: bool,
    pub infos: &'a [&'static Info],
    pub target: TargetSpec,
    /// Checks whether this machine and target support a job; the error is the reason why not.
    pub check: &'a dyn Fn(&Job) -> Result<(), String>,
}

impl Choices<'_> {
    /// Returns why no cell can have this value of a setting. Of conflicts that exist without it,
    /// it says nothing.
    pub fn object_to(&self, name: &str, text: &str) -> Option<String> {
        // How much memory there is, a plan finds out.
        if name == "memory-share" || text == neutral_value(name) {
            return None;
        }
        let mut with = self.without(name);
        if let Err(error) = with.choose(name, text) {
            return Some(error.to_string());
        }
        let with = usual(&with, self.infos);
        let why = match self.plan(&with) {
            Err(why) => why,
            Ok(plan) => return describe_loss(name, &with, &plan, self.infos),
        };
        let before = self.plan(&usual(&self.without(name), self.infos));
        (before.err().as_ref() != Some(&why)).then_some(why)
    }

    /// Returns the choices without a setting, and without what does not apply then.
    fn without(&self, name: &str) -> Settings {
        let mut settings = self.settings.clone();
        settings.unset(name);
        if matches!(name, "op" | "cache") {
            let _ = settings.choose(name, neutral_value(name));
        }
        if !self.explicit_backends {
            settings.backend = None;
        }
        settings.memory_share = None;
        // Probes need no file, and are checked elsewhere.
        settings.probe = None;
        settings
    }

    /// Plans a sweep of these settings.
    ///
    /// # Errors
    /// No cell can be measured; why not.
    fn plan(&self, settings: &Settings) -> Result<Plan, String> {
        let settings = narrow(settings);
        let presets = [Preset { experiment: sweep::EXPERIMENT.id.into(), ..Preset::default() }];
        let size = match &settings.size {
            Some(sizes) if self.target.is_ours() => sizes.values.iter().copied().max(),
            _ => None,
        };
        let request = PlanRequest {
            resolved: &Resolved::new(&settings, &presets),
            target: self.target.with_size(size.unwrap_or(self.target.size())),
            targets: 1,
            variants: &[],
            infos: self.infos,
            check: self.check,
            memory: u64::MAX,
            allowed: u64::MAX,
            call: 0.0,
            cpus: 1,
            seed: 0,
            ranks: None,
            probes: AvailableProbes::NONE,
        };
        plan(&request).map_err(|error| match error {
            PlanError::Refused { reason, .. } => reason,
            error => error.to_string(),
        })
    }
}

/// Returns the value of a setting that conflicts with nothing.
fn neutral_value(name: &str) -> &'static str {
    match name {
        "op" => Op::Read.name(),
        "cache" => Cache::AsIs.name(),
        _ => JobOption::find(name).and_then(|option| option.usual).unwrap_or("false"),
    }
}

/// Returns the settings with the ends of long ranges only: what is possible for a value is so for
/// one of them.
fn narrow(settings: &Settings) -> Settings {
    let mut narrow = settings.clone();
    let ranges = [
        &mut narrow.block_size,
        &mut narrow.count,
        &mut narrow.threads,
        &mut narrow.depth,
        &mut narrow.size,
        &mut narrow.sync_every,
        &mut narrow.mix,
    ];
    for range in ranges.into_iter().flatten() {
        let (low, high) = (range.values.iter().min(), range.values.iter().max());
        if let (Some(low), Some(high)) = (low, high) {
            *range = Range::list(&if low == high { vec![*low] } else { vec![*low, *high] });
        }
    }
    narrow
}

/// Returns which cell shows that a value has no effect: planning replaced it in all of them.
fn describe_loss(
    name: &str,
    settings: &Settings,
    plan: &Plan,
    infos: &[&'static Info],
) -> Option<String> {
    let values = JobOption::find(name)?.values(&narrow(settings), infos)?;
    let is_kept = |cell: &Job| values.iter().any(|value| value.put_in(cell) == *cell);
    let first = plan.cells.first().filter(|_| !plan.cells.iter().any(is_kept))?;
    Some(format!("it has no effect on {}", first.label()))
}

/// Maximum number of combinations of one preset: two long ranges multiplied would exhaust the
/// memory.
pub const MAX_CELLS: u64 = 10_000;

/// Why no plan can be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    #[error("--set: {0}")]
    Set(SettingError),
    #[error("{cell}: {reason}")]
    Refused { cell: String, reason: String },
    #[error("a block size of 0 reads nothing; use 1 or more")]
    NoBlock,
    #[error(
        "a block size of {} is more than one system call can move; the maximum is {}",
        show_bytes(*.0),
        show_bytes(crate::plan::Job::MAX_BLOCK)
    )]
    HugeBlock(u64),
    #[error("--size 0 leaves nothing to measure; use 1 or more")]
    NoSpan,
    #[error("the file is empty; there is nothing to measure")]
    Empty,
    #[error("{0} combinations; the limit is {max}, use shorter ranges", max = MAX_CELLS)]
    TooMany(u64),
    #[error("there is nothing to do: no backend is selected")]
    Nothing,
    #[error("--sync applies only to writes; add --op write")]
    SyncRead,
    #[error("--writes append and preallocated apply only to writes; add --op write")]
    AppendRead,
    #[error("--file-per thread applies only to writes; add --op write")]
    OwnFilesRead,
    #[error("--cold applies only to cold cells, and there are none; add --cache cold")]
    ColdOfNone,
    #[error(
        "--{0} applies only to data that iotui writes, and it writes none here; measure a scratch file"
    )]
    ContentOfNone(&'static str),
    #[error(
        "--verify reads back what iotui writes, and it writes nothing here; add --op write, and measure a scratch file"
    )]
    VerifyOfNone,
    #[error(
        "--fresh reads blocks that nothing has read, and iotui has just written these; measure a file that is older"
    )]
    FreshOfOurs,
    #[error(
        "--fresh reads each block once, past the page cache: add --cache cold or --direct to {0}, or leave it out"
    )]
    FreshCached(String),
    #[error(
        "--fresh chooses where a trial reads: it excludes --count, --file-per, peers and a pick among methods, which {0} has"
    )]
    FreshCount(String),
    #[error("--fresh is for one process; drop it, or start iotui without mpirun")]
    FreshRanks,
    #[error("--verify marks each block, so none repeats; drop --dedupe or --verify")]
    VerifyDedupe,
    #[error(
        "--verify marks each 512 bytes, which then compress by at most 94 %, not {0} %; use a lower --compressible"
    )]
    VerifyCompressible(u8),
    #[error("--{0} is for the ranks of iotui-mpi, which mpirun starts; this process is alone")]
    OneProcess(&'static str),
    #[error("--ranks {asked}: only {started} were started; start more with mpirun -n")]
    FewRanks { asked: u64, started: u32 },
    #[error("with --layout per-rank iotui creates a file for each rank; name a folder")]
    OneFileOfRanks,
    #[error("--remote applies only to network probes, and none is selected; add --probe network")]
    RemoteOfNone,
    #[error("--until ends a run by its precision, --trials by a number; drop one of them")]
    UntilTrials,
    #[error(
        "--until applies only to the cells of a file, and none is selected; use --trials for probes"
    )]
    UntilOfNone,
    #[error(
        "--between compares the cells of a file in a sweep; choose another preset, or name a backend"
    )]
    VariantsOfNone,
    #[error("--mix both reads and writes; leave out --op")]
    MixRead,
    #[error("{0} only reads; leave out --op and --mix")]
    OnlyReads(&'static str),
    #[error("the preset {0} picks one of its own cells; run it alone")]
    Alone(String),
    #[error(
        "--cache warm cannot be combined with --direct, which bypasses the page cache; use --cache \
         asis or cold"
    )]
    WarmDirect,
}

impl PlanError {
    /// Returns the option that the error is about, if its text does not begin with it.
    pub fn option(&self) -> Option<&'static str> {
        match self {
            PlanError::Unknown(unknown) => match unknown.kind {
                "backend" | "option" => Some("--backend"),
                "probe" => Some("--probe"),
                _ => None,
            },
            PlanError::Choice(_) => Some("--backend"),
            PlanError::NoBlock | PlanError::HugeBlock(_) => Some("--block-size"),
            PlanError::Empty => Some("--size"),
            PlanError::Alone(_) => Some("--preset"),
            _ => None,
        }
    }
}
