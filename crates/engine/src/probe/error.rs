//! The end of a probe without a value: an error, or a stop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The flag that stops probes; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    pub fn set(&self) {
        self.0.store(true, Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Why a probe cell could not be measured; the message names what is missing or was refused.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A cell written by another version of iotui, or by hand.
    #[error("this version of iotui has no measurement {0}")]
    Unknown(String),
    /// The kernel refuses it, or the machine lacks something.
    #[error("{0}")]
    Missing(String),
    #[error("{what}: {error}")]
    Call { what: &'static str, error: io::Error },
    /// The run was asked to stop.
    #[error("stopped")]
    Stopped,
}

impl ProbeError {
    /// Creates an error for the failed call `what` from the current errno.
    pub fn last_os_error(what: &'static str) -> ProbeError {
        ProbeError::Call { what, error: io::Error::last_os_error() }
    }

    /// Returns a closure for `map_err` that names the failed call `what`.
    pub fn in_call<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> ProbeError {
        move |error| ProbeError::Call { what, error: error.into() }
    }
}
