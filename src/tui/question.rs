//! The question to the planner, and its answer where there is no plan.

use std::path::PathBuf;

use crate::engine::DiskSpeed;
use crate::plan::{Preset, Settings};

/// The input of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Answers to older questions are of no use.
    pub number: u64,
    /// `None`: a scratch file.
    pub file: Option<PathBuf>,
    /// Further files, measured in the same rounds.
    pub others: Vec<PathBuf>,
    pub dir: Option<PathBuf>,
    pub preset: Preset,
    pub settings: Settings,
}

/// What is known of a plan before it runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outlook {
    /// What it is expected to reach; empty if no estimate is possible.
    pub expected: String,
    /// What its budget buys; empty if nothing is known.
    pub forecast: String,
    /// How fast its disk is, by saved runs.
    pub disk: DiskSpeed,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub why: String,
    /// Whether the (first) file does not exist.
    pub is_missing: bool,
}

#[cfg(test)]
impl From<&str> for Refusal {
    fn from(why: &str) -> Refusal {
        Refusal { why: why.into(), is_missing: false }
    }
}
