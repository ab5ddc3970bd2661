//! Why a run as a whole, or one cell of it, could not go on.

use std::io;
use std::path::PathBuf;

use crate::units::show_bytes;

/// The run failed before any cell could.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("cannot open {}: {error}", .path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("cannot make a file in {}: {error}; choose another folder with --dir", .dir.display())]
    Scratch { dir: PathBuf, error: io::Error },
    #[error("this plan has no file to measure: name one")]
    NoFile,
    #[error("cannot make {}: {error}", .path.display())]
    New { path: PathBuf, error: io::Error },
    #[error("cannot make {}: something else got this name while it was filled, and stays as it is: choose another name", .0.display())]
    Taken(PathBuf),
    #[error("the disk is full: {} were to be written; use a smaller --size or another --dir", show_bytes(*.0))]
    Full(u64),
    #[error("writing the file: {0}")]
    Fill(io::Error),
    #[error("stopped while the file was being made")]
    Stopped,
}

/// Why one trial gave no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The cell failed: its message.
    Cell(String),
    /// The stop flag or the deadline came before the trial began.
    Stopped,
    /// A system call did not return within a second of the stop or the deadline.
    Abandoned,
}
