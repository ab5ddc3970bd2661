//! What was measured: trials, samples, events, warnings, and the verdict as a pure function of its evidence.

mod event;
mod known;
mod latency;
mod sample;
mod trial;
mod verdict;
mod warning;

pub use event::{End, Event, Phase, Progress};
pub use known::Known;
pub use latency::Latency;
pub use sample::{LaneSample, Sample};
pub use trial::{Evidence, Note, Prepared, Residency, Trial, Xor};
pub use verdict::{CellEvidence, Grounds, MachineEvidence, RULES, Rule, Source, Spread, TargetEvidence, Verdict, judge};
pub use warning::{Severity, Warning};
