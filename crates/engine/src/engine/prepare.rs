//! Brings the page cache into the state of a job before every trial, outside the timed window, and
//! verifies it.

use std::io;
use std::ops::Range;

use super::below::Layers;
use super::error::Failure;
use super::observe::{Cached, measure_cached};
use super::target::OpenTarget;
use crate::plan::{Cache, Cold, Job, Op};
use crate::record::Preparation;
use crate::sys::{cold, mappers};

/// The state that preparation reached, and the cached bytes of the span.
pub(super) struct Ready {
    pub reached: Preparation,
    pub cached: Option<Cached>,
}

/// The part of the preparation that a process does.
pub(super) struct Scope {
    /// The part of each file that is used.
    pub part: Range<u64>,
    /// This process prepares what all processes of the machine share.
    pub leads: bool,
}

/// Brings the page cache into the job's state. All lanes of the trial before have ended, and with
/// them our mappings. `cut` ends the reading of a large file, and the wait for one that is
/// being read: they may take longer than the budget.
pub(super) fn prepare(
    open_target: &OpenTarget,
    job: &Job,
    scope: &Scope,
    layers: Option<&mut Layers>,
    cut: &dyn Fn() -> bool,
) -> Result<Ready, Failure> {
    fn preparation_error(what: &str, error: io::Error) -> Failure {
        Failure::Cell(format!("{what}: {error}"))
    }
    fn stopped_or(what: &str, error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::Interrupted => Failure::Stopped,
            _ => preparation_error(what, error),
        }
    }
    let parts = open_target.parts(job, &scope.part);
    open_target
        .make_files(job, cut)
        .map_err(|e| stopped_or("cannot make the file of the trial", e))?;
    if job.op == Op::Write {
        // Pages that earlier trials left dirty would be written back during this one.
        parts
            .iter()
            .try_for_each(|(file, _)| file.sync_data())
            .map_err(|e| preparation_error("fdatasync before the trial", e))?;
    }
    match job.cache {
        Cache::AsIs => {
            Ok(Ready { reached: Preparation::AsIs, cached: measure_cached(&parts, false) })
        }
        Cache::Cold => {
            let level = if scope.leads { open_target.cold } else { Cold::Data };
            drop_caches(level)
                .map_err(|e| preparation_error("cannot drop the caches of all files", e))?;
            let cached = Cached::of_each(&parts, |file, part| {
                Ok(cold::make_cold_within(file, part, cut)?.left)
            })
            .map_err(|e| stopped_or("cannot drop the file from the page cache", e))?;
            if let Some(layers) = layers {
                layers.drop_caches(level, cut).map_err(|e| {
                    stopped_or("cannot drop the files below from the page cache", e)
                })?;
            }
            let left = cached.map_or(0, |c| c.resident);
            let mapped_by = if left > 0 { mapping_processes(open_target) } else { Vec::new() };
            Ok(Ready { reached: Preparation::Cold { left, mapped_by }, cached })
        }
        Cache::Warm => {
            let cached =
                Cached::of_each(&parts, |file, part| cold::make_warm_within(file, part, cut))
                    .map_err(|e| stopped_or("cannot read the file into the page cache", e))?;
            let resident = cached.map_or(0, |cached| cached.resident);
            Ok(Ready { reached: Preparation::Warm { resident }, cached })
        }
    }
}

/// Drops more than the file's pages, if requested. Comes first: the pages it leaves are checked
/// afterwards.
fn drop_caches(level: Cold) -> io::Result<()> {
    match level {
        Cold::Data => Ok(()),
        Cold::Meta => cold::drop_caches(2),
        Cold::All => cold::drop_caches(3),
    }
}

fn mapping_processes(open_target: &OpenTarget) -> Vec<String> {
    // Of a list, only one is looked for.
    mappers::mappers(&open_target.file)
        .into_iter()
        .take(4)
        .map(|m| format!("{} ({})", m.name, m.pid))
        .collect()
}
