//! The trait of a peer: [`Peer`] builds the command line of a [`Task`] and parses the output.

use std::path::Path;
use std::time::Duration;

use crate::plan::{Info, Job};
use crate::sys::usage::Usage;
use crate::text::{Replacement, safe};

/// An external program that can run jobs.
pub trait Peer: Sync {
    /// Returns its description.
    fn info(&self) -> &'static Info;

    /// Returns the name of its package in most distributions.
    fn package(&self) -> &'static str;

    /// Returns the text before the number in its version, if other programs have its name.
    fn version_start(&self) -> Option<&'static str> {
        None
    }

    /// Returns why it does not support this job, on any machine.
    fn refusal(&self, job: &Job) -> Option<String>;

    /// Builds its arguments for a task.
    fn command(&self, task: &Task) -> Vec<String>;

    /// Parses its output into one result per thread.
    ///
    /// # Errors
    /// If it reported a failure, or its output has an unexpected form.
    fn parse(&self, task: &Task, output: &Output) -> Result<Vec<ThreadResult>, PeerError>;

    /// Returns true if it can repeat complete passes in a single run.
    fn can_repeat(&self) -> bool;

    /// Returns true if it stops at the task's limit by itself; otherwise it is interrupted, and
    /// then reports its work.
    fn obeys_limit(&self) -> bool;
}

/// The work of one run of a peer.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    pub job: &'a Job,
    /// An absolute path through which a child process can open the file.
    pub file: &'a Path,
    /// One part for each thread.
    pub parts: &'a [Part],
    pub passes: u64,
    pub seed: u64,
    /// Maximum reading time.
    pub limit: Option<Duration>,
}

/// The part of the file that one thread reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub offset: u64,
    /// Length in bytes, a multiple of the block size.
    pub len: u64,
    /// Blocks that one pass reads.
    pub ops: u64,
}

/// The output of a peer.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    pub stdout: &'a str,
    pub stderr: &'a str,
}

/// The work of one thread of a peer, as reported by the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadResult {
    pub bytes: u64,
    pub ops: u64,
    /// System calls, if their number is known.
    pub syscalls: Option<u64>,
    pub nanos: u64,
    /// Resolution of its clock, nanoseconds.
    pub step: u64,
    /// Resources used by the thread during that time; `None`: not reported.
    pub usage: Option<Usage>,
}

/// Why a run of a peer has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    #[error("{program} failed: {line}")]
    Failed { program: &'static str, line: String },
    #[error("unexpected output of {program}: {why}")]
    Output { program: &'static str, why: String },
}

/// Returns the first line that is not blank, shortened for messages.
pub fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(safe(line, Replacement::Nothing).chars().take(200).collect())
}
