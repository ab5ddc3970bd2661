//! Circumstances that the engine noted.

use super::{Rule, rule};
use crate::plan::CpuCache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::share;
use crate::record::{CacheFlush, Note, Severity, Trial, Warning};
use crate::units::{show_nanos, show_share};

pub(super) const FILE_CHANGED: Rule =
    rule(0, "file-changed", "the file changed while it was measured", file_changed);

pub(super) const SHARED_DESCRIPTORS: Rule = rule(
    0,
    "shared-descriptors",
    "workers share their table of open files, which costs time per call",
    shared_descriptors,
);

pub(super) const SMALL_PAGES: Rule =
    rule(0, "small-pages", "the buffer of direct I/O has no huge pages behind it", small_pages);

pub(super) const SLOW_CLOCK: Rule = rule(
    22,
    "slow-clock",
    "reading the clock costs more than the time-stamp counter would",
    slow_clock,
);

pub(super) const HELPER_UNCOUNTED: Rule = rule(
    0,
    "helper-uncounted",
    "CPU time of a kernel thread that worked for the cell is not counted",
    helper_uncounted,
);

pub(super) const UNEVEN_START: Rule =
    rule(0, "uneven-start", "threads did not start together", uneven_start);

pub(super) const CLONED: Rule =
    rule(0, "cloned", "blocks were shared between files instead of copied", cloned);

pub(super) const NOT_FLUSHED: Rule =
    rule(0, "not-flushed", "the CPU caches were to be emptied and were not", not_flushed);

/// The trials that carry a note.
pub(super) fn noted(evidence: &CellEvidence, is: impl Fn(&Note) -> bool) -> Option<String> {
    let count = evidence.which(|t| t.evidence.notes.iter().any(&is)).len();
    (count > 0).then(|| evidence.of_trials(count))
}

fn file_changed(evidence: &CellEvidence) -> Option<Warning> {
    let trials = noted(evidence, |note| matches!(note, Note::FileChanged(_)))?;
    let what = evidence.trials().flat_map(|t| &t.evidence.notes).find_map(|note| match note {
        Note::FileChanged(what) => Some(what.as_str()),
        _ => None,
    })?;
    FILE_CHANGED.warn(
        Severity::Wrong,
        "the file changed while it was measured".into(),
        format!("{what}; {trials}"),
        "stop what writes the file, or measure a copy or a scratch file",
    )
}

fn shared_descriptors(evidence: &CellEvidence) -> Option<Warning> {
    let trials = noted(evidence, |note| *note == Note::SharedDescriptors)?;
    SHARED_DESCRIPTORS.warn(
        Severity::Note,
        "threads share the table of open files: each call costs 30 to 40 ns more".into(),
        format!("close_range(2) was refused {trials}"),
        "compare only with results that carry the same note, or run outside of the sandbox",
    )
}

fn small_pages(evidence: &CellEvidence) -> Option<Warning> {
    let trials = noted(evidence, |note| *note == Note::SmallPages)?;
    SMALL_PAGES.warn(
        Severity::Note,
        "the buffer lies on small pages, with which large direct I/O can take twice the time"
            .into(),
        format!("no huge pages were given {trials}"),
        "set /sys/kernel/mm/transparent_hugepage/enabled to madvise, or use a smaller --block-size",
    )
}

fn slow_clock(evidence: &CellEvidence) -> Option<Warning> {
    let trials = noted(evidence, |note| *note == Note::SlowClock)?;
    SLOW_CLOCK.warn(
        Severity::Note,
        "latencies are timed by the system clock: about 20 ns more per operation".into(),
        format!("the time-stamp counter is not steady here, {trials}"),
        "prefer a larger --block-size, where 20 ns do not count",
    )
}

fn helper_uncounted(evidence: &CellEvidence) -> Option<Warning> {
    let trials = noted(evidence, |note| *note == Note::HelperUncounted)?;
    HELPER_UNCOUNTED.warn(
        Severity::Note,
        "the CPU time lacks that of the kernel's polling threads".into(),
        format!("they could not be found or told apart {trials}"),
        "use --threads 1, or run outside of the container, on Linux 5.12 or newer",
    )
}

/// Share of a trial by which starts may be apart; it moves the figure by no more than that share.
const SKEW: f64 = 0.02;

fn uneven_start(evidence: &CellEvidence) -> Option<Warning> {
    let uneven = |t: &Trial| share(t.evidence.skew_nanos, t.nanos);
    let limit = evidence.spread.half_width.unwrap_or(0.0).max(SKEW);
    let bad = evidence.which(|t| uneven(t) > limit);
    let most = bad.iter().max_by(|a, b| uneven(a).total_cmp(&uneven(b)))?;
    UNEVEN_START.warn(
        Severity::Note,
        format!(
            "threads started {} apart, {} of the trial",
            show_nanos(most.evidence.skew_nanos as f64),
            show_share(uneven(most))
        ),
        evidence.of_trials(bad.len()),
        "use a longer --trial-time, or no more --threads than there are CPUs",
    )
}

fn cloned(evidence: &CellEvidence) -> Option<Warning> {
    let trials = noted(evidence, |note| *note == Note::Cloned)?;
    CLONED.warn(
        Severity::Misleading,
        format!("{} can share blocks between files, so nothing need have been copied: the rate is that of metadata", evidence.fs()),
        format!("a first piece was shared (FICLONERANGE) {trials}"),
        "measure reading with --backend pread, or copying on a file system without reflinks",
    )
}

fn not_flushed(evidence: &CellEvidence) -> Option<Warning> {
    if evidence.job.cpu_cache != CpuCache::Flush || !evidence.moves() {
        return None;
    }
    let bad = evidence.which(|t| !t.evidence.cpu_cache.is_some_and(|flush| flush.worked()));
    let trials = evidence.of_trials(bad.len());
    let facts = match bad.first()?.evidence.cpu_cache {
        Some(CacheFlush { before_nanos, after_nanos, .. }) => {
            format!(
                "a load took {} before and {} after, {trials}",
                show_nanos(before_nanos),
                show_nanos(after_nanos)
            )
        }
        None => format!("it could not be tried {trials}"),
    };
    let remedy = "compare with --cpu-cache keep: where both are alike, the CPU caches play no part";
    NOT_FLUSHED.warn(
        Severity::Misleading,
        "the CPU caches still held what was to be flushed from them".into(),
        facts,
        remedy,
    )
}
