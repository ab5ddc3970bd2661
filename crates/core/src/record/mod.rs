//! Measured data: trials, samples, probe figures, events and warnings, and the verdict as a pure
//! function of its evidence.

mod ceilings;
mod event;
mod first_visit;
mod ground;
mod latency;
mod latency_log;
mod level_change;
mod opt_u64;
mod others;
mod pace;
mod pick;
mod probe;
mod rounds;
mod surroundings;
mod trial;
pub mod unusual;
mod verdict;
mod verified;
mod warning;
mod watching;

pub use ceilings::{Ceilings, DropLevel, Level, LinkCeiling, Reading, Throttle};
pub use event::{Begun, Earlier, End, Event, LaneSample, Phase, Progress, Sample, SampleParts};
pub use first_visit::FirstVisits;
pub use ground::{BelowCounts, CacheBelow, Ground, Layer, LayerKind, Medium};
pub use latency::{CommitTimes, Latency};
pub use latency_log::{
    EncodedLog, LatencyLog, LogBuckets, LogCount, LogEntry, LogSpace, histogram_of,
};
pub use level_change::{LevelChange, Stretch};
pub use opt_u64::OptU64;
pub use others::{OtherProcess, Others};
pub use pace::Paced;
pub use pick::{Pick, PickConditions, SkippedMethod, Try, describe_cache_state, describe_method};
pub use probe::{Estimate, HostSummary, ProbeFindings, ProbeTrial, Unit};
pub use rounds::Rounds;
pub use surroundings::{
    AroundStep, Dirty, DriveCount, DriveCounter, GroupBytes, Heat, MAX_LOST_SHARE, StateChange,
    Surroundings,
};
pub use trial::{
    CacheFlush, DeviceCounts, Evidence, Note, Preparation, RankShare, ReadBack, Residency, Slept,
    Trial, Visit, Xor,
};
pub use verdict::{
    Backing, CellEvidence, CommitDevice, CommitPath, Durability, Grounds, MachineEvidence,
    Measured, RULES, RankVerdict, Reach, Rule, Source, Spread, TargetEvidence, Verdict, complete,
    judge, judge_job, judge_ranks, judge_ranks_of_job, rates,
};
pub use verified::{Age, BadBlock, BadBlocks, Found, ReadFrom, Verified};
pub use warning::{CALLS_UNKNOWN, FEW, Finding, Remedy, Severity, WIDE, Warning, finding};
pub use watching::{Stopped, Watching};
