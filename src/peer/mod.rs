//! Other programs that do the same job, to hold iotui against: one file each, listed once in
//! [`PEERS`].
//!
//! A peer says which jobs it can do, how it is called for one, and what its output means; all of
//! that is pure. The engine prepares the file, runs the program in the place of lanes, and judges
//! its trial by the same evidence.

mod dd;
mod fio;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::plan::{CpuCache, Info, Job, Op, Unknown, nearest};
use crate::sys::child;
use crate::sys::usage::Usage;
use crate::text::{Instead, safe};

/// Another program.
pub trait Peer: Sync {
    fn info(&self) -> &'static Info;

    /// The package of most distributions that has it.
    fn package(&self) -> &'static str;

    /// Why it cannot do this job on any machine, where it cannot.
    fn refusal(&self, job: &Job) -> Option<String>;

    /// Its arguments for a task.
    fn command(&self, task: &Task) -> Vec<String>;

    /// What it says that it did.
    ///
    /// # Errors
    /// It says that it failed, or its output is not understood.
    fn parse(&self, task: &Task, output: &Output) -> Result<Vec<Done>, PeerError>;

    /// Whether it can repeat whole passes in one run.
    fn repeats(&self) -> bool;

    /// It ends by itself at the task's limit; else it is interrupted, and says what it did.
    fn keeps_limit(&self) -> bool;
}

/// Every peer, in the order of lists.
pub static PEERS: &[&dyn Peer] = &[&dd::Dd, &fio::Fio];

/// The peer of that name.
pub fn peer(id: &str) -> Result<&'static dyn Peer, Unknown> {
    let found = PEERS.iter().find(|p| p.info().id == id);
    found.copied().ok_or_else(|| nearest("peer", id, PEERS.iter().map(|p| p.info().id)))
}

/// What one run of a peer is to do.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    pub job: &'a Job,
    /// An absolute path by which a child can open the file.
    pub file: &'a Path,
    /// One for each thread.
    pub parts: &'a [Part],
    pub passes: u64,
    pub seed: u64,
    /// How long it reads at most.
    pub limit: Option<Duration>,
}

/// What one thread reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Where its bytes of the file begin, and how many there are: whole blocks.
    pub offset: u64,
    pub len: u64,
    /// Blocks that one pass reads of them.
    pub ops: u64,
}

/// What it printed.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    pub stdout: &'a str,
    pub stderr: &'a str,
}

/// What one thread of it did, in its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    pub bytes: u64,
    pub ops: u64,
    /// System calls, where it is known how many it makes.
    pub syscalls: Option<u64>,
    pub nanos: u64,
    /// The step of its clock, nanoseconds.
    pub step: u64,
    /// Of the thread in that time; `None`: it does not say.
    pub usage: Option<Usage>,
}

/// Why a run of a peer gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    #[error("{program} says: {line}")]
    Said { program: &'static str, line: String },
    #[error("what {program} printed is not understood: {why}")]
    Output { program: &'static str, why: String },
}

/// Where the program is.
///
/// # Errors
/// It is not installed: how to.
pub fn installed(peer: &dyn Peer, path: Option<&OsStr>) -> Result<PathBuf, String> {
    let missing = || format!("not installed: apt-get install {}", peer.package());
    child::find(peer.info().id, path).ok_or_else(missing)
}

/// Why no run of this peer can be this job, where none can.
pub fn refusal(peer: &dyn Peer, job: &Job) -> Option<String> {
    let id = peer.info().id;
    if job.op != Op::Read || job.mix.is_some() {
        return Some(format!("{id} is only run to read: what is written is iotui's own"));
    }
    if job.xor {
        return Some(format!("{id} does not fold the data into an XOR: leave out --xor"));
    }
    if job.cpu_cache == CpuCache::Flush {
        return Some(format!(
            "{id} fills the CPU caches again while it starts: leave out --cpu-cache flush"
        ));
    }
    if job.block > job.span {
        return Some(format!("{id} reads whole blocks only"));
    }
    peer.refusal(job)
}

/// The job as a peer does it: an odd last block is left out.
pub fn whole_blocks(job: &Job) -> Job {
    Job { span: job.span / job.block.max(1) * job.block, ..job.clone() }
}

/// The first line that says something, short enough to show; for messages.
pub fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(safe(line, Instead::Nothing).chars().take(200).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Cache, Choice, Pattern};

    /// A job that every peer can do.
    pub fn job(peer: &str) -> Job {
        let choice = Choice { peer: true, ..Choice::parse(peer).unwrap() };
        Job { block: 4096, span: 1 << 20, cache: Cache::Warm, ..Job::plain(choice, Op::Read) }
    }

    #[test]
    fn what_no_peer_does_has_a_reason() {
        for peer in PEERS {
            let plain = job(peer.info().id);
            assert_eq!(refusal(*peer, &plain), None);
            for odd in [
                Job { op: Op::Write, ..plain.clone() },
                Job { op: Op::Seek, ..plain.clone() },
                Job { mix: Some(50), ..plain.clone() },
                Job { xor: true, ..plain.clone() },
                Job { cpu_cache: CpuCache::Flush, ..plain.clone() },
                Job { block: 2 << 20, ..plain.clone() },
                Job { pattern: Pattern::Stride(3), ..plain.clone() },
                Job { depth: 2, ..plain },
            ] {
                assert!(
                    refusal(*peer, &odd).is_some_and(|why| why.contains(peer.info().id)),
                    "{odd:?}"
                );
            }
            assert!(peer.info().is_peer() && !peer.info().mixes && peer.info().ops == [Op::Read]);
        }
    }

    #[test]
    fn a_missing_program_names_its_package() {
        for peer in PEERS {
            let why = installed(*peer, Some(OsStr::new("/no/such/folder:relative"))).unwrap_err();
            assert_eq!(why, format!("not installed: apt-get install {}", peer.package()));
        }
    }

    #[test]
    fn an_odd_last_block_is_left_out() {
        let odd = Job { span: 10_000, ..job("dd") };
        assert_eq!((whole_blocks(&odd).span, whole_blocks(&odd).blocks()), (8192, 2));
        assert_eq!(whole_blocks(&Job { span: 8192, ..odd }).span, 8192);
    }

    #[test]
    fn messages_are_one_line() {
        assert_eq!(first_line("\n \n fio: no\tsuch \nmore").as_deref(), Some("fio: no such"));
        assert_eq!(first_line(" \n"), None);
        assert_eq!(first_line(&"x".repeat(1000)).unwrap().len(), 200);
    }
}
