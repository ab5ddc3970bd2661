//! How a cell is measured: by a backend of iotui's own, or by a peer in its place.

use crate::backend::{self, BACKENDS, Backend, Target};
use crate::peer::{self, PEERS, Peer};
use crate::plan::{Choice, DataPath, Info, Job, Op, Unknown, nearest};

/// A backend or a peer.
#[derive(Clone, Copy)]
pub enum Way {
    Backend(&'static dyn Backend),
    Peer(&'static dyn Peer),
}

impl Way {
    /// The one that a choice names.
    ///
    /// # Errors
    /// No registry has that name.
    pub fn of(choice: &Choice) -> Result<Way, Unknown> {
        let id = &choice.id;
        let own = backend::backend(id).map(Way::Backend);
        let found = own.or_else(|_| peer::peer(id).map(Way::Peer)).ok();
        found.ok_or_else(|| nearest("backend", id, infos().into_iter().map(|info| info.id)))
    }

    /// Each, backends first.
    pub fn all() -> impl Iterator<Item = Way> {
        BACKENDS
            .iter()
            .map(|backend| Way::Backend(*backend))
            .chain(PEERS.iter().map(|peer| Way::Peer(*peer)))
    }

    pub fn info(self) -> &'static Info {
        match self {
            Way::Backend(backend) => backend.info(),
            Way::Peer(peer) => peer.info(),
        }
    }

    /// Whether it can do `job` on this target and machine; the reason where it cannot.
    pub fn check(self, target: &Target, job: &Job) -> Result<(), String> {
        match self {
            Way::Backend(backend) => backend.check(target, job).map_err(|why| why.0),
            Way::Peer(peer) => {
                peer::refusal(peer, job).map_or(Ok(()), Err)?;
                peer::find_program(peer, std::env::var_os("PATH").as_deref())?;
                target.check(job).map_err(|why| why.0)
            }
        }
    }
}

/// The records of all backends and peers, for planning.
pub fn infos() -> Vec<&'static Info> {
    Way::all().map(Way::info).collect()
}

/// The record of the backend or peer that a choice names; `None` where a session names one that
/// this version does not know.
pub fn info(choice: &Choice) -> Option<&'static Info> {
    Way::all().map(Way::info).find(|info| info.id == choice.id)
}

/// Whether a job moves bytes, so that bytes per second say something about it.
pub fn moves_data(job: &Job) -> bool {
    job.op != Op::Seek && info(&job.backend).is_none_or(Info::moves_bytes)
}

/// Whether a job touches a mapping page by page, and so counts the page faults of reading.
pub fn faults(job: &Job) -> bool {
    let in_place = |info: &Info| info.data_path == DataPath::InPlace;
    info(&job.backend).is_some_and(in_place) && !job.backend.has("populate")
}

/// Whether a job is one of calls that move nothing: the bare measuring loop makes no call.
pub fn only_calls(job: &Job) -> bool {
    !moves_data(job) && !only_loops(job)
}

/// Whether a job measures the measuring loop itself.
pub fn only_loops(job: &Job) -> bool {
    info(&job.backend).is_some_and(|info| info.data_path == DataPath::LoopOnly)
}
