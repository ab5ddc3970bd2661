//! Cold and warm, made and proved before every trial, outside the timed window (design §3.2).

use super::error::Failure;
use super::observe::{Cached, cached, of_pages};
use super::target::Bench;
use crate::plan::{Cache, Cold, Job, Op};
use crate::record::Preparation;
use crate::sys::{cold, mappers};

/// What preparation reached, and what of the span is cached now.
pub(super) struct Ready {
    pub reached: Preparation,
    pub cached: Option<Cached>,
}

/// Brings the page cache into the job's state. Every lane of the trial before is gone, and with it
/// every mapping of ours. `cut` ends the reading of a large file: it may take longer than the
/// budget.
pub(super) fn prepare(bench: &Bench, job: &Job, cut: &dyn Fn() -> bool) -> Result<Ready, Failure> {
    let failed = |what: &str, error: std::io::Error| Failure::Cell(format!("{what}: {error}"));
    if job.appends() {
        bench.empty().map_err(|e| failed("emptying the file before the trial", e))?;
    }
    if job.op == Op::Write {
        // What earlier trials left dirty would be written back on this one's time.
        bench.file.sync_data().map_err(|e| failed("fdatasync before the trial", e))?;
    }
    match job.cache {
        Cache::AsIs => {
            Ok(Ready { reached: Preparation::AsIs, cached: cached(&bench.file, job.span, false) })
        }
        Cache::Cold => {
            drop_caches(bench.cold).map_err(|e| failed("dropping the caches of all files", e))?;
            let dropped = cold::make_cold(&bench.file, job.span)
                .map_err(|e| failed("dropping the file from the page cache", e))?;
            let cached = dropped.left.map(|left| of_pages(&left, job.span));
            let left = cached.map_or(0, |c| c.resident);
            let mapped_by = if left > 0 { who_maps(bench) } else { Vec::new() };
            Ok(Ready { reached: Preparation::Cold { left, mapped_by }, cached })
        }
        Cache::Warm => match cold::make_warm_unless(&bench.file, job.span, cut) {
            Ok(found) => {
                let cached = found.map(|found| of_pages(&found, job.span));
                Ok(Ready {
                    reached: Preparation::Warm { resident: cached.map_or(0, |c| c.resident) },
                    cached,
                })
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Err(Failure::Stopped),
            Err(error) => Err(failed("reading the file into the page cache", error)),
        },
    }
}

/// More than the file's own pages, where that was asked for. First: what it leaves is proved
/// afterwards.
fn drop_caches(level: Cold) -> std::io::Result<()> {
    match level {
        Cold::Data => Ok(()),
        Cold::Meta => cold::drop_caches(2),
        Cold::All => cold::drop_caches(3),
    }
}

fn who_maps(bench: &Bench) -> Vec<String> {
    mappers::mappers(&bench.file)
        .into_iter()
        .take(4)
        .map(|m| format!("{} ({})", m.name, m.pid))
        .collect()
}
