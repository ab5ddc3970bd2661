//! Why no plan can be made; each is one line that says what to do.

use crate::plan::{ChoiceError, SettingError, Unknown};
use crate::units::show_bytes;

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
    #[error("a block size of 0 reads nothing: give 1 or more")]
    NoBlock,
    #[error("a block of {} is more than one system call moves: the largest is {}", show_bytes(*.0), show_bytes(crate::plan::Job::MAX_BLOCK))]
    HugeBlock(u64),
    #[error("--size of 0 is nothing of the file: give 1 or more")]
    NoSpan,
    #[error("the file is empty: there is nothing to measure")]
    Empty,
    #[error("{0} combinations are more than anyone waits for: at most {most}; use shorter ranges", most = super::MOST_CELLS)]
    TooMany(u64),
    #[error("there is nothing to do: no backend was named")]
    Nothing,
    #[error("--sync is for writes: add --op write")]
    SyncRead,
    #[error("--writes append is for writes: add --op write")]
    AppendRead,
    #[error("--cold says what the cache state cold drops, which no cell has: add --cache cold")]
    ColdOfNone,
    #[error(
        "--remote names the machine of the network probes, and none of them was chosen: add --probe network"
    )]
    RemoteOfNone,
    #[error("--mix reads and writes: leave out --op")]
    MixRead,
    #[error("{0} only reads: leave out --op and --mix")]
    OnlyReads(&'static str),
    #[error("the preset {0} picks one of its own cells: run it alone")]
    Alone(String),
    #[error(
        "--cache warm with --direct makes no sense: direct I/O does not read the cache; use --cache asis or cold"
    )]
    WarmDirect,
}

impl PlanError {
    /// The option that the error is about, where its text does not begin with it.
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
