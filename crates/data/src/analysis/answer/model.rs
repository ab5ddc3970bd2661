//! The answer as reports show it.

use serde::Serialize;

use super::best::Best;
use super::cold::ColdCost;
use super::series::Knee;
use super::targets::TargetRatio;
use crate::analysis::{Network, PickedMethod};

/// The answer of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Plain sentences, one line.
    pub text: String,
    /// The fastest cell of the first group that has results: reads, then writes, then calls that
    /// move nothing.
    pub best: Option<Best>,
    /// The fastest cell of each further group.
    pub also: Vec<Best>,
    /// Where each curve comes within 5 % of its peak.
    pub knees: Vec<Knee>,
    pub cold_cost: Option<ColdCost>,
    /// The methods that were picked among several: what each reached, and why it was picked.
    pub picked: Vec<PickedMethod>,
    /// Each further target compared with the first; omitted from JSON where there is only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetRatio>,
    /// What the network probes show together.
    pub network: Network,
}
