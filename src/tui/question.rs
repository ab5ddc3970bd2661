//! The question to the planner.

use std::path::PathBuf;

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
