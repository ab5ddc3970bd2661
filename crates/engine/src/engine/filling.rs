//! Checks before a run whether its files can be filled in time, by the limits of control groups and
//! of file sizes.

use std::fs::File;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit};

use crate::facts::TargetKind;
use crate::host;
use crate::plan::{Plan, TargetSpec};
use crate::units::{short_bytes, show_bytes, show_rate, show_wait};

/// Share of the budget that filling may take; a file that needs more gets a smaller size.
const FILLING_SHARE: f64 = 0.6;
/// A span has room for this many of the largest blocks.
const MIN_BLOCKS: u64 = 8;
const MIB: u64 = 1 << 20;

/// Why the files of a plan cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfillable {
    pub why: String,
    /// The largest possible size, if any.
    pub fits: Option<u64>,
    /// The remedy if no size is possible.
    remedy: &'static str,
}

impl Unfillable {
    /// Returns the reason with its remedy.
    pub fn text(&self) -> String {
        match self.fits {
            Some(fits) => format!("{}: use --size {}", self.why, short_bytes(fits)),
            None => format!("{}: {}", self.why, self.remedy),
        }
    }
}

/// Checks whether the files that iotui makes for a plan can be filled.
pub fn check_filling(plan: &Plan) -> Result<(), Unfillable> {
    let ours = || plan.targets().filter(|spec| spec.is_ours() && spec.size() > 0);
    let limit = getrlimit(Resource::RLIMIT_FSIZE).map_or(u64::MAX, |(soft, _)| soft);
    let largest = ours().map(TargetSpec::size).max().unwrap_or(0);
    if largest > limit {
        let why = format!(
            "a file may have at most {} here (ulimit -f), and this plan needs {}",
            show_bytes(limit),
            show_bytes(largest)
        );
        return Err(Unfillable {
            why,
            fits: usable(plan, limit),
            remedy: "use a smaller -s, or raise it",
        });
    }
    // Others are made in their trials.
    if plan.makes_every_file() {
        return Ok(());
    }
    let slowest = ours().filter_map(|spec| {
        let dir = File::open(spec.folder()?).ok()?;
        let facts = host::inspect(&dir, spec.folder()?, TargetKind::Scratch);
        let throttle = host::throttle_of(&facts)?;
        Some((throttle.write_bytes?, throttle.by))
    });
    let Some((rate, by)) = slowest.min() else { return Ok(()) };
    let bytes: u64 = ours().map(TargetSpec::size).sum();
    check_time(plan, bytes.saturating_mul(plan.fillings()), rate, &by)
}

/// Checks whether `bytes` can be written within the budget, at `rate` bytes per second.
fn check_time(plan: &Plan, bytes: u64, rate: u64, by: &str) -> Result<(), Unfillable> {
    let takes = bytes as f64 / rate.max(1) as f64;
    let most = plan.budget.as_secs_f64() * FILLING_SHARE;
    if takes <= most {
        return Ok(());
    }
    let count = plan.targets().filter(|spec| spec.is_ours()).count().max(1) as u64;
    let why = format!(
        "filling {} takes {} at the {} that {by} allows, and the budget is {}",
        show_bytes(bytes),
        show_wait(Duration::try_from_secs_f64(takes).unwrap_or(Duration::MAX)),
        show_rate(rate as f64),
        show_wait(plan.budget)
    );
    let fits = usable(plan, (rate as f64 * most) as u64 / count / plan.fillings());
    Err(Unfillable { why, fits, remedy: "use a longer --budget or another --dir" })
}

/// Returns the largest whole number of MiB and of blocks up to `most` that the cells can use.
fn usable(plan: &Plan, most: u64) -> Option<u64> {
    let block = plan.cells.iter().map(|cell| cell.block).max().unwrap_or(1);
    let unit = if most >= MIB { MIB.max(block) } else { block.max(1) };
    let fits = most / unit * unit;
    (fits >= block.saturating_mul(MIN_BLOCKS)).then_some(fits)
}

/// Returns the plan with files of this size, and cells that use no more.
pub(super) fn shrink(plan: &Plan, size: u64) -> Plan {
    let mut plan = plan.clone();
    plan.cells.iter_mut().for_each(|cell| cell.span = cell.span.min(size));
    for target in std::iter::once(&mut plan.target).chain(&mut plan.others) {
        if target.is_ours() {
            *target = target.with_size(target.size().min(size));
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::Job;

    fn plan(block: u64, mib: u64, seconds: u64) -> Plan {
        let target = TargetSpec::Scratch { dir: "/".into(), size: mib * MIB, keep: false };
        let cells = vec![Job { block, span: mib * MIB, ..testing::job() }];
        Plan { cells, budget: Duration::from_secs(seconds), ..Plan::plain("sweep", target) }
    }

    #[test]
    fn slow_filling_shrinks_the_file() {
        let found = |block, seconds| {
            let plan = plan(block, 128, seconds);
            check_time(&plan, 128 * MIB, 10 * MIB, "blkio.throttle")
        };
        let slow = found(65536, 4).unwrap_err();
        assert_eq!(
            slow.text(),
            "filling 128 MiB takes 13 s at the 10.0 MiB/s that blkio.throttle allows, and the \
             budget is 4 s: use --size 24m"
        );
        assert_eq!(found(65536, 60), Ok(()));
        let large = found(16 * MIB, 4).unwrap_err();
        assert!(large.fits.is_none() && large.text().contains("--budget"), "{large:?}");
        let smaller = shrink(&plan(65536, 128, 4), 24 * MIB);
        assert_eq!((smaller.target.size(), smaller.cells[0].span), (24 * MIB, 24 * MIB));
    }

    #[test]
    fn file_size_limit_is_respected() {
        let target = TargetSpec::File { path: "/".into(), size: u64::MAX };
        assert_eq!(check_filling(&Plan::plain("sweep", target)), Ok(()), "it is only read");
        assert_eq!(usable(&plan(4096, 1, 1), 4 * MIB + 5), Some(4 * MIB));
        assert_eq!(usable(&plan(4096, 1, 1), 50_000), Some(49_152));
        assert_eq!(usable(&plan(4096, 1, 1), 4096), None);
    }
}
