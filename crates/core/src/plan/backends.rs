//! The backends that a setting names.

use super::{Choice, Info};

/// The requested backends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backends {
    All,
    These(Vec<Choice>),
}

impl Backends {
    /// Returns each requested backend; `all` is every backend, without the peers.
    pub fn choices(&self, infos: &[&'static Info]) -> Vec<Choice> {
        match self {
            Backends::These(list) => list.clone(),
            Backends::All => infos
                .iter()
                .filter(|info| !info.is_peer())
                .map(|info| Choice::plain(info.id))
                .collect(),
        }
    }
}
