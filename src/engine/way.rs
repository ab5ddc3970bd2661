//! How a cell is measured: by a backend of iotui's own, or by a peer in its place.

use crate::backend::{self, BACKENDS, Backend, Target};
use crate::peer::{self, PEERS, Peer};
use crate::plan::{Choice, Info, Job, Op, Unknown, nearest};

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
                peer::installed(peer, std::env::var_os("PATH").as_deref())?;
                target.check(job).map_err(|why| why.0)
            }
        }
    }
}

/// The records of all backends and peers, for planning.
pub fn infos() -> Vec<&'static Info> {
    Way::all().map(Way::info).collect()
}

/// Whether a job moves bytes, so that bytes per second say something about it.
pub fn moves_data(job: &Job) -> bool {
    // A session may name a way that this version does not know.
    let moves = Way::of(&job.backend).map_or(true, |way| way.info().moves_bytes());
    job.op != Op::Seek && moves
}
