//! Questions that the source formula and several rules ask of the evidence, and shared formatting.

use super::CellEvidence;
use crate::plan::{Cache, Op};
use crate::record::{Ground, Layer, Residency, Trial};
use crate::units;

/// Share of the span that may be cached in a cold file, or missing from a warm one.
const TOLERANCE: f64 = 0.01;
/// Tolerance for sampled residency: 256 samples of 1 % have a standard error of 0.6 %, three of
/// which are added.
const SAMPLED_TOLERANCE: f64 = 0.03;

impl<'a> CellEvidence<'a> {
    /// Returns true if the cell moves bytes; `null`, `seek` and `getpid` only make calls.
    pub(super) fn moves(&self) -> bool {
        self.info.moves_bytes() && self.job.op != Op::Seek
    }

    pub(super) fn reads(&self) -> bool {
        self.moves() && self.job.mix.map_or(self.job.op == Op::Read, |percent| percent > 0)
    }

    pub(super) fn writes(&self) -> bool {
        self.moves() && self.job.mix.map_or(self.job.op == Op::Write, |percent| percent < 100)
    }

    /// Returns true for reads that either the page cache or the disk may serve; tmpfs is always
    /// memory.
    pub(super) fn cacheable(&self) -> bool {
        self.reads() && self.info.cached && !self.job.direct && !self.target.memory
    }

    /// Returns true if the cell claims to measure memory: buffered reads of a warmed file.
    pub(super) fn is_warm(&self) -> bool {
        self.job.cache == Cache::Warm && !self.job.direct && !self.writes()
    }

    /// Returns whether the page cache of the target served all bytes of a trial, whoever counts
    /// them: it held the file when every lane was open, and still did at the end.
    pub(super) fn is_served_by_cache(&self, trial: &Trial) -> bool {
        let holds = |bytes: Option<u64>| {
            bytes.is_some_and(|held| self.job.span.saturating_sub(held) <= self.tolerance(trial))
        };
        let whole = holds(trial.resident_before) && holds(trial.resident_after);
        self.cacheable() && whole && !trial.is_sampled() && trial.bytes > 0
    }

    /// Returns whether a write returns only when a device of this machine has it, as far as the
    /// kernel can tell: direct writes and commits.
    pub(super) fn waits_for_device(&self) -> bool {
        let target = self.target;
        let direct = self.job.direct && target.direct != Some(false);
        (direct || self.job.commits()) && !target.remote && !target.memory
    }

    /// Returns whether a disk keeps the bytes, or may: older sessions do not know the ground.
    pub(super) fn may_be_on_disk(&self) -> bool {
        self.target.ground.as_ref().is_none_or(Ground::is_disk)
    }

    /// Returns the bytes that all disks below the target wrote during a trial; `None` where that is
    /// not known, or where a layer stores fewer bytes than are written to it.
    pub(super) fn written_to_disks(&self, trial: &Trial) -> Option<u64> {
        let ground = self.target.ground.as_ref().filter(|ground| ground.is_disk())?;
        let compresses = |layer: &Layer| layer.transform.contains("compress");
        let is_whole = self.target.compresses.is_none() && !ground.layers.iter().any(compresses);
        trial.evidence.below.as_ref().filter(|_| is_whole)?.write_bytes.get()
    }

    /// Returns the bytes that a trial read and wrote; `None` if a mixed trial does not record them
    /// separately.
    pub(super) fn split_bytes(&self, trial: &Trial) -> Option<(u64, u64)> {
        match (self.reads(), self.writes()) {
            (true, false) => Some((trial.bytes, 0)),
            (false, true) => Some((0, trial.bytes)),
            (false, false) => Some((0, 0)),
            (true, true) => {
                let written = trial.evidence.written?.min(trial.bytes);
                Some((trial.bytes - written, written))
            }
        }
    }

    /// Returns the bytes by which residency may deviate from a cold or a warm file.
    pub(super) fn tolerance(&self, trial: &Trial) -> u64 {
        let share = if trial.is_sampled() { SAMPLED_TOLERANCE } else { TOLERANCE };
        (self.job.span as f64 * share) as u64
    }

    /// Returns the number of trials as text: `5 trials`.
    pub(super) fn trial_count(&self) -> String {
        units::show_trials(self.trials.len())
    }

    /// Returns the trials that rates are computed from: all that count, or all if none counts.
    pub(super) fn rated_trials(&self) -> Vec<&'a Trial> {
        let full = self.trials_where(Trial::counts);
        if full.is_empty() { self.trials().collect() } else { full }
    }
    pub(super) fn trials(&self) -> impl Iterator<Item = &'a Trial> + Clone {
        self.trials.iter().map(|trial| &**trial)
    }

    /// Returns the trials for which `condition` holds.
    pub(super) fn trials_where(&self, condition: impl Fn(&Trial) -> bool) -> Vec<&'a Trial> {
        self.trials().filter(|trial| condition(trial)).collect()
    }

    /// Returns `in 2 of 5 trials`, `in all 5 trials`, `in 1 trial`.
    pub(super) fn in_trials(&self, count: usize) -> String {
        let all = units::show_trials(self.trials.len());
        match self.trials.len() {
            1 => format!("in {all}"),
            trials if trials == count => format!("in all {all}"),
            _ => format!("in {count} of {all}"),
        }
    }

    /// Sums `figure` over the trials.
    pub(super) fn sum(&self, figure: impl Fn(&Trial) -> u64) -> u128 {
        self.trials().map(|trial| u128::from(figure(trial))).sum()
    }

    /// Returns the name of the file system for use in a sentence.
    pub(super) fn fs(&self) -> &str {
        if self.target.fs.is_empty() { "this file system" } else { &self.target.fs }
    }
}

impl Trial {
    /// Returns true if residency is an estimate from sampled pages.
    pub(super) fn is_sampled(&self) -> bool {
        self.evidence.residency == Some(Residency::Sampled)
    }

    /// Returns the bytes beyond one pass per preparation, which had been read or written before.
    pub(super) fn repeat_bytes(&self) -> u64 {
        if self.evidence.unique_bytes == 0 {
            0
        } else {
            self.bytes.saturating_sub(self.over_parts(self.evidence.unique_bytes))
        }
    }

    /// Multiplies a number of bytes per preparation by the number of preparations.
    pub(super) fn over_parts(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.evidence.parts.max(1))
    }
}

/// Formats a number of bytes.
pub(super) fn size(bytes: impl Into<u128>) -> String {
    units::show_bytes(u64::try_from(bytes.into()).unwrap_or(u64::MAX))
}

/// Returns `part / whole`, or 0 if `whole` is 0.
pub(super) fn share(part: impl Into<u128>, whole: impl Into<u128>) -> f64 {
    let whole = whole.into();
    if whole == 0 { 0.0 } else { part.into() as f64 / whole as f64 }
}

/// Returns true if `part` is more than 2 % below `whole`, the tolerance for counters and partial
/// reads.
pub(super) fn falls_short(part: impl Into<u128>, whole: impl Into<u128>) -> bool {
    part.into() as f64 <= 0.98 * whole.into() as f64 - 1.0
}
