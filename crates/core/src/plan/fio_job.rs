//! Options of fio that suit a job, and names for engines of fio that no backend has.

use super::{Choice, FioOption, Job, Op};

impl FioOption {
    /// Returns whether `job` can have the option: advice is about reads through the page cache.
    pub fn suits(&self, job: &Job) -> bool {
        let advice = self.assignment.is_some_and(|(name, _)| name == "fadvise_hint");
        !advice || (job.op == Op::Read && !job.direct)
    }
}

/// Prefix of the backend names for engines of fio that no backend has.
const FOREIGN: &str = "fio-";

/// Builds the backend name for an engine that no backend has: `fio-libpmem`.
pub fn foreign_backend(engine: &str) -> Choice {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    Choice::plain(&format!(
        "{FOREIGN}{}",
        engine.chars().filter(plain).take(40).collect::<String>()
    ))
}

/// Returns the engine of a name built by [`foreign_backend`].
pub fn foreign_engine(backend: &str) -> Option<&str> {
    backend.strip_prefix(FOREIGN).filter(|engine| !engine.is_empty())
}
