//! The executor of a cell: a backend of iotui, or a peer in its place.

use crate::backend::{self, BACKENDS, Backend, Target};
use crate::peer::{self, PEERS, Peer};
use crate::plan::{Choice, DataPath, Info, Job, Op, Unknown, nearest};

/// A backend or a peer.
#[derive(Clone, Copy)]
pub enum Executor {
    Backend(&'static dyn Backend),
    Peer(&'static dyn Peer),
}

impl Executor {
    /// Returns the backend or peer of that name.
    ///
    /// # Errors
    /// No backend and no peer has that name.
    pub fn from_choice(choice: &Choice) -> Result<Executor, Unknown> {
        let id = &choice.id;
        backend::backend(id)
            .map(Executor::Backend)
            .or_else(|_| peer::peer(id).map(Executor::Peer))
            .map_err(|_| nearest("backend", id, infos().into_iter().map(|info| info.id)))
    }

    /// Iterates over all backends, then all peers.
    pub fn all() -> impl Iterator<Item = Executor> {
        BACKENDS
            .iter()
            .map(|backend| Executor::Backend(*backend))
            .chain(PEERS.iter().map(|peer| Executor::Peer(*peer)))
    }

    pub fn info(self) -> &'static Info {
        match self {
            Executor::Backend(backend) => backend.info(),
            Executor::Peer(peer) => peer.info(),
        }
    }

    /// Checks whether it can do `job` on this target and machine; the error is the reason.
    pub fn check(self, target: &Target, job: &Job) -> Result<(), String> {
        match self {
            Executor::Backend(backend) => {
                let info = backend.info();
                if job.op == Op::Write && !info.syncs.contains(&job.sync) {
                    return Err(format!("{} cannot --sync {}", info.id, job.sync));
                }
                backend.check(target, job).map_err(|why| why.0)
            }
            Executor::Peer(peer) => {
                peer::refusal(peer, job).map_or(Ok(()), Err)?;
                peer::find_program(peer, std::env::var_os("PATH").as_deref())?;
                target.check(job).map_err(|why| why.0)
            }
        }
    }
}

/// Returns the descriptions of all backends and peers, for planning.
pub fn infos() -> Vec<&'static Info> {
    Executor::all().map(Executor::info).collect()
}

/// Returns the description of the backend or peer of a choice with its options; `None` where a
/// session names one that this version does not know.
pub fn info(choice: &Choice) -> Option<&'static Info> {
    let info = Executor::all().map(Executor::info).find(|info| info.id == choice.id);
    info.map(|info| info.of(choice))
}

/// Returns whether a job moves data, so that bytes per second are meaningful.
pub fn moves_data(job: &Job) -> bool {
    job.op != Op::Seek && info(&job.backend).is_none_or(Info::moves_bytes)
}

/// Returns whether a job touches a mapping page by page, and so counts the page faults of reading.
pub fn faults(job: &Job) -> bool {
    fn in_place(info: &Info) -> bool {
        info.data_path == DataPath::InPlace
    }
    info(&job.backend).is_some_and(in_place) && !job.backend.has("populate")
}

/// Returns whether a job consists of calls that move no data; the bare measuring loop makes no
/// call.
pub fn only_calls(job: &Job) -> bool {
    !moves_data(job) && !only_loops(job)
}

/// Returns whether a job measures the measuring loop itself.
pub fn only_loops(job: &Job) -> bool {
    info(&job.backend).is_some_and(|info| info.data_path == DataPath::LoopOnly)
}
