//! `+shared`: lanes claim the next blocks when they are free, instead of having a part of the span
//! each.

use super::error::Unsupported;
use crate::catalog::SHARED;
use crate::plan::{Job, Op};

/// Returns whether the lanes of the job share their blocks: as an option asks, or because they
/// append to one file.
pub fn is_shared(job: &Job) -> bool {
    job.backend.has(SHARED.name) || job.appends_together()
}

/// Accepts only reads, as the order of writers would be random, and no option that applies to a
/// lane's own part, which is unknown beforehand.
pub(super) fn check(job: &Job) -> Result<(), Unsupported> {
    if !job.backend.has(SHARED.name) {
        return Ok(());
    }
    let conflict = ["populate", "willneed"].into_iter().find(|option| job.backend.has(option));
    if let Some(option) = conflict {
        return Err(Unsupported(format!(
            "+{option} applies to a thread's own part, and with +shared threads have none"
        )));
    }
    if job.op == Op::Read { Ok(()) } else { Err(Unsupported("+shared only reads".into())) }
}
