//! Fits the span to the disk: if warming a whole file would take the budget, cells use less of it.

use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::Sink;
use crate::engine::target::OpenTarget;
use crate::engine::targets::{Filling, Targets};
use crate::plan::{Plan, TargetSpec};
use crate::record::Event;
use crate::sys::cold::make_cold_within;
use crate::sys::fill::WINDOW;
use crate::sys::{buffer, fd};
use crate::units::{show_bytes, show_trials};

/// Share of the budget that reading the span once in each round may take. With the filling of a
/// scratch file, at least two thirds of the time remain for trials.
const READING_SHARE: f64 = 0.15;
/// Share of the budget that filling may take: a disk writes more slowly than it reads.
const FILLING_SHARE: f64 = 0.06;
/// Less would fit into large CPU caches.
const MIN_SPAN: u64 = WINDOW;
/// A span has room for this many of the largest blocks.
const MIN_BLOCKS: u64 = 8;
/// Bytes that are read to measure the speed of the disk, within the time below.
const PROBED: u64 = 64 << 20;
const MAX_PROBING: Duration = Duration::from_millis(500);
const PIECE: usize = 2 << 20;

/// When the filling of scratch files ends before they have their size.
pub(super) struct FillLimit {
    /// The time for one file.
    most: Duration,
    /// The least bytes of each file.
    least: u64,
}

impl FillLimit {
    /// Returns the limit for a plan; a requested size has no limit.
    pub fn new(plan: &Plan) -> FillLimit {
        let ours = plan.targets().all(|target| matches!(target, TargetSpec::Scratch { .. }));
        let most = plan.budget.mul_f64(FILLING_SHARE) / plan.targets().count() as u32;
        FillLimit {
            most: if plan.span_may_shrink && ours { most } else { Duration::MAX },
            least: largest_block(plan).saturating_mul(MIN_BLOCKS),
        }
    }

    /// Breaks once the current file has enough, `spent` after the first was begun.
    pub fn check(&self, spent: Duration, filling: Filling) -> ControlFlow<()> {
        let files = u32::try_from(filling.target + 1).unwrap_or(u32::MAX);
        let is_enough = spent > self.most.saturating_mul(files) && filling.bytes >= self.least;
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn largest_block(plan: &Plan) -> u64 {
    plan.cells.iter().map(|cell| cell.block).max().unwrap_or(0)
}

/// The plan with its final span, and the time to read it.
pub(super) struct Span {
    pub plan: Arc<Plan>,
    /// The time that reading it into the page cache takes; 0 if unknown.
    pub reading: Duration,
}

/// Chooses the span: a smaller one than that of `plan`, with a note, where the disk is too slow or
/// a scratch file was not filled completely.
pub(super) fn choose(
    plan: &Arc<Plan>,
    targets: &Targets,
    stop: &dyn Fn() -> bool,
    sink: &mut dyn Sink,
) -> Span {
    if !plan.span_may_shrink {
        return Span { plan: Arc::clone(plan), reading: Duration::ZERO };
    }
    let mut chosen = Plan::clone(plan);
    chosen.span_may_shrink = false;
    let span = plan.cells.iter().map(|cell| cell.span).max().unwrap_or(0);
    let size = targets.iter().map(|target| target.facts.size).min().unwrap_or(span);
    let speed = targets.iter().filter_map(|target| read_speed(target, stop)).reduce(f64::min);
    // Each target is filled and warmed.
    let count = targets.iter().count() as u32;
    let filled = span.min(size);
    let budget = plan.budget.mul_f64(READING_SHARE) / plan.rounds() / count;
    let fits = choose_span(filled, largest_block(plan), speed, budget);
    let seconds = speed.map_or(0.0, |speed| fits as f64 / speed * f64::from(count));
    let reading = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    if fits >= span {
        return Span { plan: Arc::new(chosen), reading };
    }
    chosen.cells.iter_mut().for_each(|cell| cell.span = cell.span.min(fits));
    let most = targets.iter().map(|target| target.facts.size).max().unwrap_or(size);
    for target in std::iter::once(&mut chosen.target).chain(&mut chosen.others) {
        if let TargetSpec::Scratch { size, .. } = target {
            *size = (*size).min(most);
        }
    }
    // If all filled bytes can be read in time, the writing was slow.
    let speed = speed.filter(|_| fits < filled);
    sink.event(Event::Note { text: describe(span, fits, speed, plan.rounds()) });
    Span { plan: Arc::new(chosen), reading }
}

/// Returns the largest power of two that a disk of `speed` bytes per second reads in `budget`, at
/// least 64 MiB and room for blocks of `block`; `span` if that is smaller, or the speed
/// is unknown.
fn choose_span(span: u64, block: u64, speed: Option<f64>, budget: Duration) -> u64 {
    let Some(speed) = speed else { return span };
    let most = (speed * budget.as_secs_f64()) as u64;
    let fits = most.checked_ilog2().map_or(MIN_SPAN, |log| (1 << log).max(MIN_SPAN));
    let fits = fits.max(block.saturating_mul(MIN_BLOCKS));
    if most >= span { span } else { span.min(fits) }
}

/// Reads the start of the target cold; returns its speed in bytes per second, if the file could be
/// dropped from the page cache.
fn read_speed(target: &OpenTarget, stop: &dyn Fn() -> bool) -> Option<f64> {
    let file = fd::reopen(&target.file).ok()?;
    // Of a list, it is one of the files.
    let len = target.facts.size.min(fd::size(&file).ok()?).min(PROBED);
    let mut piece = buffer::zeroed(PIECE).ok()?;
    if len < MIN_SPAN
        || !make_cold_within(&target.file, 0..len, stop).is_ok_and(|cold| cold.is_cold())
    {
        return None;
    }
    let begin = Instant::now();
    let mut at = 0;
    while at < len && begin.elapsed() < MAX_PROBING && !stop() {
        at += file.read_at(&mut piece, at).ok().filter(|n| *n > 0)? as u64;
    }
    Some(at as f64 / begin.elapsed().as_secs_f64().max(1e-9))
}

/// Describes the smaller span by the speed of reading, `None` if writing was too slow.
fn describe(span: u64, fits: u64, read_speed: Option<f64>, rounds: u32) -> String {
    let why = read_speed.map_or_else(
        || "the disk writes slowly".into(),
        |speed| format!("the disk reads {}/s", show_bytes(speed as u64)),
    );
    format!(
        "{why}: cells use {} instead of {}, so that the budget allows {} of each; --size sets the \
         span",
        show_bytes(fits),
        show_bytes(span),
        show_trials(rounds as usize)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::Job;

    #[test]
    fn scratch_files_have_time_and_room() {
        let scratch =
            |dir: &str| TargetSpec::Scratch { dir: dir.into(), size: 512 << 20, keep: false };
        let cells = vec![Job { block: 16 << 20, ..testing::job() }];
        let plan = Plan {
            others: vec![scratch("/b")],
            cells,
            span_may_shrink: true,
            ..Plan::plain("sweep", scratch("/a"))
        };
        let limit = FillLimit::new(&plan);
        let reached = |seconds: f64, mib: u64| {
            let (target, bytes) = ((mib / 512) as usize, (mib % 512) << 20);
            let filling = Filling { target, bytes, all: mib << 20 };
            limit.check(Duration::from_secs_f64(seconds), filling).is_break()
        };
        assert!(!reached(1.4, 256) && reached(1.6, 256), "half of 6 % of 50 s");
        assert!(!reached(1.6, 64), "eight blocks are 128 MiB");
        assert!(!reached(2.9, 512 + 256) && reached(3.1, 512 + 256), "the second file");
        assert!(!reached(3.1, 512 + 64));
        let limit = FillLimit::new(&Plan { span_may_shrink: false, ..plan });
        let filling = Filling { target: 0, bytes: 512 << 20, all: 512 << 20 };
        assert!(limit.check(Duration::from_secs(9999), filling).is_continue());
    }

    #[test]
    fn slow_writing_is_named() {
        // Only a file that can be made cold has a speed.
        let Some(dir) = crate::sys::testing::disk_dir() else { return };
        let file = tempfile::NamedTempFile::new_in(dir).unwrap();
        file.as_file().set_len(MIN_SPAN).unwrap();
        let target = TargetSpec::File { path: file.path().into(), size: MIN_SPAN };
        let plan = Plan {
            cells: vec![Job { span: 2 * MIN_SPAN, ..testing::job() }],
            budget: Duration::from_secs(100_000),
            trials: Some(2),
            span_may_shrink: true,
            ..Plan::plain("sweep", target)
        };
        let targets = Targets::open(&plan, &|| false, &mut |_| ControlFlow::Continue(())).unwrap();
        let mut said = Vec::new();
        choose(&Arc::new(plan), &targets, &|| false, &mut |event| said.push(event));
        let [Event::Note { text }] = &said[..] else { panic!("{said:?}") };
        let expected = "the disk writes slowly: cells use 64 MiB instead of 128 MiB, so that the \
                        budget allows 2 trials of each";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn slower_disks_get_smaller_spans() {
        let budget = Plan::BUDGET.mul_f64(0.03);
        for (speed, span) in [
            (3e9, 512),
            (400e6, 512),
            (300e6, 256),
            (100e6, 128),
            (40e6, 64),
            (1e6, 64),
            (0.0, 64),
            (f64::MAX, 512),
        ] {
            assert_eq!(choose_span(512 << 20, 4096, Some(speed), budget), span << 20, "{speed}");
        }
        assert_eq!(choose_span(512 << 20, 4096, None, budget), 512 << 20);
        assert_eq!(choose_span(5 << 20, 4096, Some(1e6), budget), 5 << 20, "never larger");
        assert_eq!(choose_span(4 << 30, 4096, Some(1e9), budget), 1 << 30);
        assert_eq!(
            choose_span(1 << 30, 4096, Some(100e6), budget * 60),
            1 << 30,
            "a longer budget"
        );
        let large = |block: u64| choose_span(512 << 20, block << 20, Some(1e6), budget) >> 20;
        assert_eq!((large(8), large(16), large(128)), (64, 128, 512), "room for large blocks");
    }
}
