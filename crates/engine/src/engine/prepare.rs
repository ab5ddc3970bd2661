//! Brings the page cache into the state of a job before every trial, outside the timed window, and
//! verifies it.

use super::error::Failure;
use super::observe::{Cached, measure_cached, to_bytes};
use super::target::OpenTarget;
use crate::plan::{Cache, Cold, Job, Op};
use crate::record::Preparation;
use crate::sys::{cold, mappers};

/// The state that preparation reached, and how much of the span is cached now.
pub(super) struct Ready {
    pub reached: Preparation,
    pub cached: Option<Cached>,
}

/// Brings the page cache into the job's state. All lanes of the trial before have ended, and with
/// them our mappings. `cut` ends the reading of a large file, and the wait for one that is
/// being read: they may take longer than the budget.
pub(super) fn prepare(
    open_target: &OpenTarget,
    job: &Job,
    cut: &dyn Fn() -> bool,
) -> Result<Ready, Failure> {
    fn preparation_error(what: &str, error: std::io::Error) -> Failure {
        Failure::Cell(format!("{what}: {error}"))
    }
    fn stopped_or(what: &str, error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::Interrupted => Failure::Stopped,
            _ => preparation_error(what, error),
        }
    }
    if job.appends() {
        open_target
            .truncate()
            .map_err(|e| preparation_error("cannot truncate the file before the trial", e))?;
    }
    if job.op == Op::Write {
        // Pages that earlier trials left dirty would be written back during this one.
        open_target
            .file
            .sync_data()
            .map_err(|e| preparation_error("fdatasync before the trial", e))?;
    }
    match job.cache {
        Cache::AsIs => Ok(Ready {
            reached: Preparation::AsIs,
            cached: measure_cached(&open_target.file, job.span, false),
        }),
        Cache::Cold => {
            drop_caches(open_target.cold)
                .map_err(|e| preparation_error("cannot drop the caches of all files", e))?;
            let dropped = cold::make_cold_until(&open_target.file, job.span, cut)
                .map_err(|e| stopped_or("cannot drop the file from the page cache", e))?;
            let cached = dropped.left.map(|left| to_bytes(&left, job.span));
            let left = cached.map_or(0, |c| c.resident);
            let mapped_by = if left > 0 { mapping_processes(open_target) } else { Vec::new() };
            Ok(Ready { reached: Preparation::Cold { left, mapped_by }, cached })
        }
        Cache::Warm => {
            let found = cold::make_warm_until(&open_target.file, job.span, cut)
                .map_err(|e| stopped_or("cannot read the file into the page cache", e))?;
            let cached = found.map(|found| to_bytes(&found, job.span));
            let resident = cached.map_or(0, |cached| cached.resident);
            Ok(Ready { reached: Preparation::Warm { resident }, cached })
        }
    }
}

/// Drops more than the file's own pages, where requested. Comes first: the pages it leaves are
/// checked afterwards.
fn drop_caches(level: Cold) -> std::io::Result<()> {
    match level {
        Cold::Data => Ok(()),
        Cold::Meta => cold::drop_caches(2),
        Cold::All => cold::drop_caches(3),
    }
}

fn mapping_processes(open_target: &OpenTarget) -> Vec<String> {
    mappers::mappers(&open_target.file)
        .into_iter()
        .take(4)
        .map(|m| format!("{} ({})", m.name, m.pid))
        .collect()
}
