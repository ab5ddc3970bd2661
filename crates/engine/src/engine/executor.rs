//! The executor of a cell: a backend of iotui, or a peer in its place.

use crate::backend::{self, BACKENDS, Backend, Target};
use crate::catalog::infos;
use crate::peer::{self, PEERS, Peer};
use crate::plan::{Choice, Info, Job, Op, Unknown, nearest};

/// A backend or a peer.
#[derive(Clone, Copy)]
pub enum Executor {
    Backend(&'static dyn Backend),
    Peer(&'static dyn Peer),
}

impl Executor {
    /// Returns the backend or peer of that name.
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
