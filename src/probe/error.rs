//! Why a probe's cell has no value.

use std::io;

use crate::plan::ProbeCell;

/// The message says what is missing or was refused.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A cell of another iotui, or one that was written by hand.
    #[error("this iotui has no measurement {0}")]
    Unknown(String),
    /// What the kernel refuses or the machine lacks.
    #[error("{0}")]
    Missing(String),
    #[error("{what}: {error}")]
    Call { what: &'static str, error: io::Error },
    /// The run is to end.
    #[error("stopped")]
    Stopped,
}

impl ProbeError {
    pub fn unknown(cell: &ProbeCell) -> ProbeError {
        ProbeError::Unknown(cell.label())
    }

    /// What `what` last left in errno.
    pub fn last(what: &'static str) -> ProbeError {
        ProbeError::Call { what, error: io::Error::last_os_error() }
    }

    /// For `map_err`: the call that failed.
    pub fn of<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> ProbeError {
        move |error| ProbeError::Call { what, error: error.into() }
    }
}
