//! What the formula and the rules ask of the evidence again and again.

use super::CellEvidence;
use crate::plan::{Cache, Op};
use crate::record::{Residency, Trial};
use crate::text::{Instead, safe};
use crate::units;

/// Share of the span that may be cached before a cold file counts as cached: what may be missing
/// from a warm one.
const CACHED: f64 = 0.01;
/// The same where residency was sampled: 256 samples of 1 % have a standard error of 0.6 %, three
/// of which are added.
const CACHED_SAMPLED: f64 = 0.03;

impl<'a> CellEvidence<'a> {
    /// Whether bytes move at all; `null`, `seek` and `getpid` only make calls.
    pub(super) fn moves(&self) -> bool {
        self.info.moves_bytes() && self.job.op != Op::Seek
    }

    pub(super) fn reads(&self) -> bool {
        self.moves() && self.job.mix.map_or(self.job.op == Op::Read, |percent| percent > 0)
    }

    pub(super) fn writes(&self) -> bool {
        self.moves() && self.job.mix.map_or(self.job.op == Op::Write, |percent| percent < 100)
    }

    /// Reads that the page cache may answer instead of the disk. On tmpfs it always does.
    pub(super) fn cacheable(&self) -> bool {
        self.reads() && self.info.cached && !self.job.direct && !self.target.memory
    }

    /// A cell that says it measures memory: cached reads of a file that was made warm.
    pub(super) fn is_warm(&self) -> bool {
        self.job.cache == Cache::Warm && !self.job.direct && !self.writes()
    }

    /// What a trial read and wrote, bytes; `None` where a mixed trial does not tell them apart.
    pub(super) fn split(&self, trial: &Trial) -> Option<(u64, u64)> {
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

    /// Bytes of the span that may be cached before the file counts as cached.
    pub(super) fn slack(&self, trial: &Trial) -> u64 {
        let share = if trial.is_sampled() { CACHED_SAMPLED } else { CACHED };
        (self.job.span as f64 * share) as u64
    }

    /// `1 trial`, `5 trials`.
    pub(super) fn count(&self) -> String {
        trials(self.trials.len())
    }

    /// The trials that the rates are made from: those that were not cut short, or all where all
    /// were.
    pub(super) fn counted(&self) -> Vec<&'a Trial> {
        let whole = self.which(|t| !t.short);
        if whole.is_empty() { self.trials().collect() } else { whole }
    }

    /// The trials, one by one.
    pub(super) fn trials(&self) -> impl Iterator<Item = &'a Trial> + Clone {
        self.trials.iter().map(|trial| &**trial)
    }

    /// The trials of which something holds.
    pub(super) fn which(&self, holds: impl Fn(&Trial) -> bool) -> Vec<&'a Trial> {
        self.trials().filter(|trial| holds(trial)).collect()
    }

    /// `in 2 of 5 trials`.
    pub(super) fn of_trials(&self, some: usize) -> String {
        format!("in {some} of {} trials", self.trials.len())
    }

    /// Added up over the trials.
    pub(super) fn sum(&self, of: impl Fn(&Trial) -> u64) -> u128 {
        self.trials().map(|trial| u128::from(of(trial))).sum()
    }

    pub(super) fn fs(&self) -> &str {
        if self.target.fs.is_empty() { "this file system" } else { &self.target.fs }
    }
}

impl Trial {
    pub(super) fn is_sampled(&self) -> bool {
        self.evidence.residency == Some(Residency::Sampled)
    }

    /// Bytes beyond one pass after a preparation: they were read or written before since then.
    pub(super) fn repeats(&self) -> u64 {
        if self.evidence.unique_bytes == 0 {
            0
        } else {
            self.bytes.saturating_sub(self.each_part(self.evidence.unique_bytes))
        }
    }

    /// What each preparation was followed by, over all of them.
    pub(super) fn each_part(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.evidence.parts.max(1))
    }
}

/// `1 trial`, `5 trials`.
pub(super) fn trials(count: usize) -> String {
    if count == 1 { "1 trial".into() } else { format!("{count} trials") }
}

/// Bytes as text.
pub(super) fn size(bytes: impl Into<u128>) -> String {
    units::show_bytes(u64::try_from(bytes.into()).unwrap_or(u64::MAX))
}

/// `part / whole`; 0 of nothing.
pub(super) fn share(part: impl Into<u128>, whole: impl Into<u128>) -> f64 {
    let whole = whole.into();
    if whole == 0 { 0.0 } else { part.into() as f64 / whole as f64 }
}

/// Whether `part` falls short of `whole` by more than 2 %, the scatter that counters and read sizes
/// may have.
pub(super) fn falls_short(part: impl Into<u128>, whole: impl Into<u128>) -> bool {
    part.into() as f64 <= 0.98 * whole.into() as f64 - 1.0
}

/// Names of processes and files may hold line breaks; what is shown is one line.
pub(super) fn line(text: &str) -> String {
    safe(text, Instead::Nothing)
}
