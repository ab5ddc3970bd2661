//! Rules about circumstances that the engine noted.

use crate::plan::CpuCache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::share;
use crate::record::{CacheFlush, Finding, Note, RankShare, Severity, Trial, finding};
use crate::units::{show_nanos, show_share};

/// Returns `in 2 of 5 trials` for the trials with a note that `matches`; `None` without one.
fn trials_with_note(evidence: &CellEvidence, matches: impl Fn(&Note) -> bool) -> Option<String> {
    let count = evidence.trials_where(|t| t.evidence.notes.iter().any(&matches)).len();
    (count > 0).then(|| evidence.in_trials(count))
}

pub(super) fn file_changed(evidence: &CellEvidence) -> Option<Finding> {
    let Some(trials) = trials_with_note(evidence, |note| matches!(note, Note::FileChanged(_)))
    else {
        return check_layers_changed(evidence);
    };
    let what = evidence.trials().flat_map(|t| &t.evidence.notes).find_map(|note| match note {
        Note::FileChanged(what) => Some(what.as_str()),
        _ => None,
    })?;
    finding(
        Severity::Wrong,
        "the file changed while it was measured",
        format!("{what}; {trials}"),
        "stop the program that writes the file, or measure a copy or a scratch file",
    )
}

fn check_layers_changed(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| matches!(note, Note::LayersChanged(_)))?;
    let what = evidence.trials().flat_map(|t| &t.evidence.notes).find_map(|note| match note {
        Note::LayersChanged(what) => Some(what.as_str()),
        _ => None,
    })?;
    finding(
        Severity::Wrong,
        "what lies below the file changed while it was measured",
        format!("{what}; {trials}"),
        "run again without changing devices and mounts during the run",
    )
}

pub(super) fn shared_descriptors(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| *note == Note::SharedDescriptors)?;
    finding(
        Severity::Note,
        "threads share a table of open files: each call takes 30 to 40 ns longer",
        format!("close_range(2) failed {trials}"),
        "compare only with results that have the same note, or run outside the sandbox",
    )
}

pub(super) fn small_pages(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| *note == Note::SmallPages)?;
    finding(
        Severity::Note,
        "the buffer is on small pages, on which large direct I/O can take up to three times as long",
        format!("no huge pages were available {trials}"),
        "set /sys/kernel/mm/transparent_hugepage/enabled to madvise, or use a smaller {block-size}",
    )
}

pub(super) fn slow_clock(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| *note == Note::SlowClock)?;
    finding(
        Severity::Note,
        "the system clock times the latencies: about 20 ns more per operation",
        format!("the time-stamp counter is not usable here, {trials}"),
        "use a larger {block-size}, for which 20 ns do not matter",
    )
}

pub(super) fn helper_uncounted(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| *note == Note::HelperUncounted)?;
    finding(
        Severity::Note,
        "the CPU time does not include the kernel's polling threads",
        format!("they could not be found or attributed {trials}"),
        "use {threads} 1, or run outside the container, on Linux 5.12 or newer",
    )
}

/// Share of a trial by which starts may differ; the figure changes by no more than that share.
const MAX_SKEW: f64 = 0.02;
/// Starts that are further apart make the interval wide, and are not excused by it.
const FAR_APART: f64 = 0.1;

pub(super) fn uneven_start(evidence: &CellEvidence) -> Option<Finding> {
    fn skew(t: &Trial) -> f64 {
        share(t.evidence.skew_nanos, t.nanos)
    }
    let limit = evidence.spread.half_width.unwrap_or(0.0).clamp(MAX_SKEW, FAR_APART);
    let bad = evidence.trials_where(|t| skew(t) > limit);
    let most = bad.iter().max_by(|a, b| skew(a).total_cmp(&skew(b)))?;
    let (who, remedy) = match most.ranks.is_empty() {
        true => ("threads", "use a longer {trial-time}, or no more {threads} than CPUs"),
        false => ("ranks", "use a longer {trial-time}, or start no more ranks than there are CPUs"),
    };
    let apart = bad.iter().filter(|t| were_apart(t)).count();
    let (severity, never) = match apart {
        0 => (Severity::Note, String::new()),
        _ => {
            let trials = evidence.in_trials(apart);
            (Severity::Misleading, format!("; one rank was done before another began {trials}"))
        }
    };
    finding(
        severity,
        format!(
            "{who} started {} apart, {} of the trial",
            show_nanos(most.evidence.skew_nanos as f64),
            show_share(skew(most))
        ),
        format!("{}{never}", evidence.in_trials(bad.len())),
        remedy,
    )
}

/// Returns whether the first rank was done before the last one began.
fn were_apart(trial: &Trial) -> bool {
    let last_start = trial.ranks.iter().map(|rank| rank.start).max();
    let first_end = trial.ranks.iter().map(RankShare::end).min();
    last_start.zip(first_end).is_some_and(|(start, end)| start >= end)
}

pub(super) fn cloned(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| *note == Note::Cloned)?;
    finding(
        Severity::Misleading,
        format!(
            "{} can share blocks between files instead of copying: the rate may be that of \
             metadata only",
            evidence.fs()
        ),
        format!("a test range was shared (FICLONERANGE) {trials}"),
        "measure reads with {backend} pread, or copies on a file system without reflinks",
    )
}

pub(super) fn not_flushed(evidence: &CellEvidence) -> Option<Finding> {
    if evidence.job.cpu_cache != CpuCache::Flush || !evidence.moves() {
        return None;
    }
    let bad =
        evidence.trials_where(|t| !t.evidence.cpu_cache.is_some_and(|flush| flush.is_effective()));
    let trials = evidence.in_trials(bad.len());
    let facts = match bad.first()?.evidence.cpu_cache {
        Some(CacheFlush { before_nanos, after_nanos, .. }) => {
            format!(
                "a load took {} before the flush and {} after it, {trials}",
                show_nanos(before_nanos),
                show_nanos(after_nanos)
            )
        }
        None => format!("the flush could not be checked {trials}"),
    };
    let remedy =
        "compare with {cpu-cache} keep: if both rates are equal, the CPU caches do not matter";
    finding(Severity::Misleading, "the CPU caches still held data after the flush", facts, remedy)
}

/// Relative error of the reported time up to which it is not misleading.
const MAX_CLOCK_ERROR: f64 = 0.05;

pub(super) fn unknown_calls(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| *note == Note::CallsUnknown)?;
    finding(
        Severity::Note,
        format!(
            "{} does not report its number of system calls, so their rate is unknown",
            evidence.job.backend
        ),
        trials,
        "count them with strace -cf",
    )
}

pub(super) fn clock_jumped(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| matches!(note, Note::ClockJumped(_)))?;
    let notes = evidence.trials().flat_map(|trial| &trial.evidence.notes);
    let most = notes.filter_map(|note| match note {
        Note::ClockJumped(nanos) => Some(*nanos),
        _ => None,
    });
    finding(
        Severity::Note,
        format!("the clock jumped by {}: all later starts moved", show_nanos(most.max()? as f64)),
        format!("the machine slept, or its clock was reset, {trials}"),
        "measure again on a machine that does not sleep",
    )
}

pub(super) fn coarse_clock(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| matches!(note, Note::CoarseClock(_)))?;
    let (nanos, step) = evidence
        .trials()
        .flat_map(|trial| trial.evidence.notes.iter().map(|note| (trial.nanos, note)))
        .filter_map(|(nanos, note)| match note {
            Note::CoarseClock(step) => Some((nanos, *step)),
            _ => None,
        })
        .min_by(|a, b| (a.0 as f64 / a.1 as f64).total_cmp(&(b.0 as f64 / b.1 as f64)))?;
    let error = step as f64 / nanos.max(1) as f64;
    finding(
        if error > MAX_CLOCK_ERROR { Severity::Misleading } else { Severity::Note },
        format!(
            "{} reported a time of {}, which may be off by {}",
            evidence.job.backend,
            show_nanos(nanos as f64),
            show_share(error.min(1.0))
        ),
        format!("its clock has a resolution of {}; {trials}", show_nanos(step as f64)),
        "use a longer {trial-time} or a larger {size}",
    )
}
