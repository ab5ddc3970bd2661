//! The answer as reports show it.

use serde::Serialize;

use super::best::Best;
use super::cold::ColdCost;
use super::series::Knee;
use crate::analysis::{Network, Picked};

/// What a session answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Plain sentences, one line.
    pub text: String,
    /// The fastest cell of the first group that has results: reads, then writes, then calls that
    /// move nothing.
    pub best: Option<Best>,
    /// The fastest cell of each further group.
    pub also: Vec<Best>,
    /// For each curve: where it comes within 5 % of its peak.
    pub knees: Vec<Knee>,
    pub cold_cost: Option<ColdCost>,
    /// Where one of several ways was picked: what it gave, and why it was picked.
    pub picked: Vec<Picked>,
    /// What the network probes say together.
    pub network: Network,
}
