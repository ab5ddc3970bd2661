//! Peers: external programs that run the same jobs, for comparison with iotui. One file each,
//! listed in [`PEERS`].
//!
//! A peer defines which jobs it supports, its command line and the parsing of its output; all of
//! that is pure. The engine prepares the file, runs the program instead of lanes, and judges its
//! trials by the same evidence.

mod dd;
mod fio;
mod kind;

pub use kind::{Output, Part, Peer, PeerError, Task, ThreadResult, first_line};

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use crate::plan::{CpuCache, Job, Op, Unknown, nearest};
use crate::sys::child::{self, ChildAction};
use crate::text::show_path;

/// Time limit of `--version`.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// Longer first lines are not versions.
const MAX_VERSION_LEN: usize = 80;

/// All peers, in display order.
pub static PEERS: &[&dyn Peer] = &[&dd::Dd, &fio::Fio];

/// Finds the peer with this id.
///
/// # Errors
/// No peer has that id; the error suggests the most similar one.
pub fn peer(id: &str) -> Result<&'static dyn Peer, Unknown> {
    let found = PEERS.iter().find(|p| p.info().id == id);
    found.copied().ok_or_else(|| nearest("peer", id, PEERS.iter().map(|p| p.info().id)))
}

/// Finds the program in `path`, a list of folders like PATH.
///
/// # Errors
/// If it is not installed, or another program has its name; the message says how to install it.
pub fn find_program(peer: &dyn Peer, path: Option<&OsStr>) -> Result<PathBuf, String> {
    let missing = || format!("not installed: apt-get install {}", peer.package());
    let program = child::find(peer.info().id, path).ok_or_else(missing)?;
    let Some(start) = peer.version_start() else { return Ok(program) };
    if is_named(&program, start) {
        return Ok(program);
    }
    Err(format!(
        "{} is another program, its --version is not {start}N: apt-get install {}, and put its folder first in PATH",
        show_path(&program),
        peer.package()
    ))
}

/// Returns whether the version of a program has this start and a number. Each program is asked
/// once.
fn is_named(program: &Path, start: &str) -> bool {
    static KNOWN: Mutex<Vec<(PathBuf, bool)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, named)) = known.iter().find(|(own, _)| own == program) {
        return *named;
    }
    let version = version(program, &|| false);
    let number = version.as_deref().and_then(|version| version.strip_prefix(start));
    let named = number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()));
    known.push((program.into(), named));
    named
}

/// Returns the first line that a program prints for `--version`.
pub fn version(program: &Path, stop: &dyn Fn() -> bool) -> Option<String> {
    let mut watch = |since: Duration| {
        if stop() || since > VERSION_TIMEOUT { ChildAction::Kill } else { ChildAction::Continue }
    };
    let output = child::run(program, &["--version".to_string()], &mut watch).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim();
    let plain = output.status.success()
        && !line.is_empty()
        && line.len() <= MAX_VERSION_LEN
        && line.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    plain.then(|| line.to_string())
}

/// Returns why this peer does not support this job.
pub fn refusal(peer: &dyn Peer, job: &Job) -> Option<String> {
    let id = peer.info().id;
    if job.op != Op::Read || job.mix.is_some() {
        return Some(format!("{id} only reads: iotui writes only with its own backends"));
    }
    if job.xor {
        return Some(format!("{id} does not compute an XOR of the data: omit --xor"));
    }
    if job.cpu_cache == CpuCache::Flush {
        return Some(format!(
            "{id} refills the CPU caches during its start-up: omit --cpu-cache flush"
        ));
    }
    if job.block > job.span {
        return Some(format!("{id} reads only full blocks: use a smaller --block-size"));
    }
    peer.refusal(job)
}

/// Returns the job without a partial last block, which peers skip.
pub fn round_to_blocks(job: &Job) -> Job {
    Job { span: job.span / job.block.max(1) * job.block, ..job.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Cache, Choice, Pattern};

    /// Returns a job that every peer supports.
    pub fn job(peer: &str) -> Job {
        let choice = Choice { peer: true, ..Choice::parse(peer).unwrap() };
        Job { block: 4096, span: 1 << 20, cache: Cache::Warm, ..Job::plain(choice, Op::Read) }
    }

    #[test]
    fn refuses_what_no_peer_supports() {
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
            let why =
                find_program(*peer, Some(OsStr::new("/no/such/folder:relative"))).unwrap_err();
            assert_eq!(why, format!("not installed: apt-get install {}", peer.package()));
        }
    }

    #[test]
    fn a_partial_last_block_is_skipped() {
        let odd = Job { span: 10_000, ..job("dd") };
        assert_eq!((round_to_blocks(&odd).span, round_to_blocks(&odd).blocks()), (8192, 2));
        assert_eq!(round_to_blocks(&Job { span: 8192, ..odd }).span, 8192);
    }

    #[test]
    fn messages_are_one_line() {
        assert_eq!(first_line("\n \n fio: no\tsuch \nmore").as_deref(), Some("fio: no such"));
        assert_eq!(first_line(" \n"), None);
        assert_eq!(first_line(&"x".repeat(1000)).unwrap().len(), 200);
    }
}
