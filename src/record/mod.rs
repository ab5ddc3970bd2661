//! What was measured: trials, samples, events, warnings, and the verdict as a pure function of its
//! evidence.

mod ceilings;
mod event;
mod far;
mod known;
mod latency;
mod level;
mod level_change;
mod pick;
mod probe;
mod sample;
mod trial;
mod verdict;
mod warning;

pub use ceilings::{Ceilings, LinkCeiling, Throttle};
pub use event::{End, Event, Phase, Progress};
pub use far::HostSummary;
pub use known::Known;
pub use latency::Latency;
pub use level::{Dropped, Level, Reading};
pub use level_change::{LevelChange, Stretch};
pub use pick::{Found, LeftOut, Pick, Try, state_of, way_of};
pub use probe::{Estimate, ProbeFindings, ProbeTrial, Unit};
pub use sample::{LaneSample, Sample};
pub use trial::{CacheFlush, Evidence, Note, Prepared, ReadBack, Residency, Trial, Xor};
pub use verdict::{
    CellEvidence, Grounds, MachineEvidence, RULES, Rule, Source, Spread, TargetEvidence, Verdict,
    judge,
};
pub use warning::{CALLS_UNKNOWN, Severity, Warning};
