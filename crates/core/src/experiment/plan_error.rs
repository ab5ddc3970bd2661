//! Why there is no plan.

use crate::plan::{ChoiceError, SettingError, Unknown};
use crate::units::show_bytes;

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
    #[error(
        "--file-per thread applies only to writes, and to files that are read --as-one; add --op \
         write, or name several files"
    )]
    OwnFilesRead,
    #[error("--opened applies only to files that are read --as-one")]
    OpenedOfOne,
    #[error("--cold applies only to cold cells, and no cell is cold; add --cache cold")]
    ColdOfNone,
    #[error(
        "--{0} applies only to data that iotui writes, and it writes none here; measure a scratch file"
    )]
    ContentOfNone(&'static str),
    #[error(
        "--precondition writes a file that iotui makes before the run; measure a scratch file that trials do not make themselves"
    )]
    PreconditionOfNone,
    #[error(
        "--size free is for one file that iotui makes; without --size all of an existing one is used"
    )]
    FreeOfNone,
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
        "--fresh chooses where a trial reads: it excludes --count, --rate, --think, --file-per, patterns that repeat blocks, peers and a pick among methods, one of which {0} has"
    )]
    FreshCount(String),
    #[error("--fresh reads the blocks of one file once; leave out --as-one")]
    FreshList,
    #[error("--fresh is for one process; drop it, or start iotui without mpirun")]
    FreshRanks,
    #[error("--cpus is for one process; drop it, and let mpirun bind the ranks (--bind-to)")]
    CpusRanks,
    #[error(
        "--cpus pins the threads of cells of a file, and none is selected; leave it out for probes"
    )]
    CpusOfNone,
    #[error("--{0} is for one process; drop it, or start iotui without mpirun")]
    PaceRanks(&'static str),
    #[error("--rate sets the starts of operations, --think the pauses between them; drop one")]
    RateThink,
    #[error(
        "--latency-target tries each rate until its own condition is judged; drop --{0}, or measure rates by --rate"
    )]
    TargetTrials(&'static str),
    #[error("--arrival is about the starts under --rate; add a rate, such as --rate 1k")]
    ArrivalOfNone,
    #[error(
        "--{0} sets the pace of the cells of a file, and none is selected; leave it out for probes"
    )]
    PaceOfNone(&'static str),
    #[error("--{0}: {1} tries its methods at full speed; leave it out, or name a backend")]
    PaceOfPick(&'static str, String),
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
    #[error("--until steady runs one trial until its rate is steady, which {0} does not allow")]
    SteadyWith(&'static str),
    #[error("--watch runs one trial of one cell, which {0} does not allow")]
    WatchWith(&'static str),
    #[error(
        "--watch runs one cell, but there are {0}: give one value of each option, one preset and one file"
    )]
    WatchCells(usize),
    #[error("--stop-if ends a watch; add one, such as --watch 1h")]
    StopOfNone,
    #[error("the time and the end of a watch are part of its plan: it has no other --{0}")]
    WatchPlan(&'static str),
    #[error(
        "whether trials run until they are steady is part of a plan: it has no other --until, and no --trials"
    )]
    SteadyPlan,
    #[error(
        "--between and --neighbour compare the cells of a file in a sweep; choose another preset, or \
         name a backend"
    )]
    VariantsOfNone,
    #[error("--stop-if '{0}': its time must be shorter than the watch")]
    StopWindow(String),
    #[error("--mix both reads and writes; leave out --op")]
    MixRead,
    #[error("{0} only reads; leave out --op and --mix")]
    OnlyReads(&'static str),
    #[error("the preset {0} {1}; run it alone")]
    Alone(String, &'static str),
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
            PlanError::Alone(..) => Some("--preset"),
            _ => None,
        }
    }
}
