//! Why a whole run, or one of its cells, failed.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::units::show_bytes;

/// Why a run failed before its first cell.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("cannot open {}: {error}", .path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error(
        "cannot create a file in {}: {error}; choose another folder with --dir",
        .dir.display()
    )]
    Scratch { dir: PathBuf, error: io::Error },
    #[error(
        "{} and {} are on different file systems; --as-one reads files of one",
        .0.display(),
        .1.display()
    )]
    SeveralFileSystems(PathBuf, PathBuf),
    #[error("{} has another size than when the plan was made; make the plan again", .0.display())]
    Resized(PathBuf),
    #[error("this plan needs a file to measure; name one")]
    NoFile,
    #[error("cannot create {}: {error}", .path.display())]
    New { path: PathBuf, error: io::Error },
    #[error(
        "cannot create {}: another file took this name while the data was being written and was \
         left untouched; choose another name",
        .0.display()
    )]
    Taken(PathBuf),
    #[error(
        "the disk is full: the file needs {}; use a smaller --size or another --dir",
        show_bytes(*.0)
    )]
    Full(u64),
    #[error("cannot write the file: {0}")]
    Fill(io::Error),
    #[error(
        "the disk quota is used up: the file needs {}; use a smaller --size or another --dir",
        show_bytes(*.0)
    )]
    Quota(u64),
    #[error("{0}")]
    Unfillable(String),
    /// The failure of another rank, with its number and machine.
    #[error("{0}")]
    Rank(String),
    #[error("stopped while the file was being created")]
    Stopped,
}

/// Why a trial has no result.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    /// The cell failed, with this message.
    Cell(String),
    /// A stop or the deadline ended the trial before it was complete.
    Stopped,
    /// A system call did not return within a second of the stop or the deadline.
    Abandoned,
}
