//! The notes of a report, below its tables: warnings, failures, skipped cells, how the run ended,
//! and what explains the figures. Each format writes them in its own form.

use super::table::findings::{GroupedWarning, GroupedWarnings, sign};
use super::table::grid::{self, Style, Table, paint};
use super::{Look, text};
use crate::analysis::{self, Bounds, CellResult, Expected, Holds, end_sentence, group_by_key};
use crate::plan::{Cache, CpuCache, Job, Op, Skipped};
use crate::record::{End, Severity, Trial, Warning, Xor};
use crate::session::Session;
use crate::stats::median;
use crate::units::{self, show_count};

/// The subject of notes: a section of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    Warnings,
    /// Cells that failed or were not measured.
    Gaps,
    Probes,
    Estimates,
    Run,
    Expectations,
    Why,
}

/// A paragraph with a mark before its first line.
#[derive(Debug)]
pub struct ReportNote {
    pub mark: String,
    pub style: Style,
    pub body: String,
    /// A second paragraph; often empty.
    pub more: String,
}

impl ReportNote {
    pub fn new(mark: impl Into<String>, style: Style, body: impl Into<String>) -> ReportNote {
        ReportNote { mark: mark.into(), style, body: body.into(), more: String::new() }
    }

    /// Returns a note without a mark.
    pub fn plain(body: impl Into<String>) -> ReportNote {
        ReportNote::new("", Style::Plain, body)
    }

    /// Returns the reason why cells failed or were skipped: `skipped: read 4 KiB — the file is not
    /// ours.`
    pub fn reason(mark: impl Into<String>, style: Style, cells: &str, why: &str) -> ReportNote {
        ReportNote::new(mark, style, format!("{cells} — {}", end_sentence(why)))
    }

    /// Returns a warning of these cells with its evidence, which is that of the first of several,
    /// and its remedy.
    pub fn warning(
        mark: String,
        style: Style,
        warning: &Warning,
        message: &str,
        cells: &str,
        several: bool,
    ) -> ReportNote {
        let message = message.trim().trim_end_matches('.');
        let mut more = String::new();
        if !warning.evidence.is_empty() {
            let whose = if several { " (first cell)" } else { "" };
            more = format!("Evidence{whose}: {} ", end_sentence(&warning.evidence));
        }
        if !warning.remedy.text.is_empty() {
            more += &format!("Remedy: {}", end_sentence(&warning.remedy.text));
        }
        let body = format!("{message} ({}): {cells}", warning.id);
        ReportNote { more, ..ReportNote::new(mark, style, body) }
    }
}

/// Lines of text, wrapped and made safe.
pub struct TextLines<'a> {
    pub look: &'a Look,
    pub lines: Vec<String>,
}

impl TextLines<'_> {
    /// Adds one paragraph; `mark` precedes its first line, and the others are indented by its
    /// width.
    pub fn paragraph(&mut self, mark: &str, style: Style, body: &str) {
        let (mark, body) = (text::safe(mark, self.look), text::safe(body, self.look));
        let indent = text::width(&mark);
        let most = self.look.width.saturating_sub(indent).max(20);
        for (i, line) in text::wrap(&body, most).into_iter().enumerate() {
            let start =
                if i == 0 { paint(style, &mark, self.look.color) } else { " ".repeat(indent) };
            self.lines.push(start + &line);
        }
    }

    /// Adds a paragraph without a mark.
    pub fn plain(&mut self, body: &str) {
        self.paragraph("", Style::Plain, body);
    }

    pub fn add_notes(&mut self, notes: &[ReportNote]) {
        for note in notes {
            self.paragraph(&note.mark, note.style, &note.body);
            let indent = " ".repeat(text::width(&note.mark));
            self.paragraph(&indent, Style::Plain, &note.more);
        }
    }

    /// Adds a table with its text.
    pub fn add_table(&mut self, table: Table) {
        self.lines.extend(table.narrow.unwrap_or_else(|| {
            let columns = grid::fit(table.columns, self.look.width);
            grid::format_lines(&columns, &table.breaks, self.look)
        }));
        if !table.text.is_empty() {
            self.gap();
            self.paragraph(&format!("{}: ", table.id), Style::Dim, &end_sentence(&table.text));
        }
    }

    /// Adds an empty line, unless one is there.
    pub fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }
}

/// Returns `read 4 KiB cold, and 5 more`, or `every cell`.
pub fn describe_cells<'a>(mut jobs: impl ExactSizeIterator<Item = &'a Job>, all: usize) -> String {
    let count = jobs.len();
    match jobs.next() {
        Some(_) if count == all && count > 1 => "every cell".into(),
        first => name_first(&first.map(Job::label).unwrap_or_default(), count),
    }
}

/// Names the first of `count` items: `pread 4 KiB, and 3 more`.
pub fn name_first(first: &str, count: usize) -> String {
    match count {
        0 | 1 => first.into(),
        count => format!("{first}, and {} more", count - 1),
    }
}

/// Returns the warnings of the cells, numbered as the rows refer to them.
pub fn warnings(findings: &GroupedWarnings, rows: usize, ascii: bool) -> Vec<ReportNote> {
    let mut notes = Vec::new();
    for (i, found) in findings.0.iter().enumerate() {
        let GroupedWarning { warning, cells: affected, message, .. } = found;
        let (mark, style) = sign(warning.severity, ascii);
        let mark = match warning.severity {
            Severity::Note => mark.into(),
            _ => format!("{mark}{}: ", i + 1),
        };
        let cells = describe_cells(affected.iter().map(|r| &r.cell), rows);
        let cells = cells + &found.describe_lesser();
        notes.push(ReportNote::warning(mark, style, warning, message, &cells, affected.len() > 1));
    }
    notes
}

/// Groups items by text, in order of first appearance.
pub fn group_by_text<'a, T>(items: impl Iterator<Item = (&'a str, T)>) -> Vec<(&'a str, Vec<T>)> {
    let groups = group_by_key(items, |(text, _)| *text).into_iter();
    groups.map(|(text, all)| (text, all.into_iter().map(|(_, item)| item).collect())).collect()
}

/// Returns whether the results are as expected.
pub fn outcomes(expected: &[Expected]) -> Vec<ReportNote> {
    let note = |one: &Expected| {
        let style = match one.outcome {
            Holds::Pass => Style::Bold,
            Holds::CannotTell => Style::Yellow,
            Holds::Fail => Style::Red,
        };
        ReportNote::new("expected: ", style, one.text())
    };
    expected.iter().map(note).collect()
}

/// Returns the cells that failed or were not measured, by reason.
pub fn gaps(rows: &[&CellResult], skipped: &[Skipped], ascii: bool) -> Vec<ReportNote> {
    let mut notes = Vec::new();
    let failed = rows.iter().filter_map(|row| row.error.as_deref().map(|error| (error, &row.cell)));
    let (mark, red) = sign(Severity::Wrong, ascii);
    for (error, jobs) in group_by_text(failed) {
        let cells = describe_cells(jobs.into_iter(), rows.len());
        notes.push(ReportNote::reason(format!("{mark}failed: "), red, &cells, error));
    }
    for (reason, jobs) in group_by_text(skipped.iter().map(|s| (s.reason.as_str(), &s.cell))) {
        let cells = describe_cells(jobs.into_iter(), usize::MAX);
        notes.push(ReportNote::reason("skipped: ", Style::Dim, &cells, reason));
    }
    notes
}

/// Returns the cells with fewer or shorter trials than planned: the user skipped them, or a trial
/// was stopped early.
pub fn cut(rows: &[&CellResult]) -> Vec<ReportNote> {
    let mut notes = Vec::new();
    let by_user = rows.iter().filter(|row| row.error.is_none());
    let by_user: Vec<(String, &Job)> =
        by_user.filter_map(|row| Some((row.describe_skip()?, &row.cell))).collect();
    for (text, jobs) in group_by_text(by_user.iter().map(|(text, job)| (text.as_str(), *job))) {
        let cells = describe_cells(jobs.iter().copied(), rows.len());
        notes.push(ReportNote::plain(format!("{cells}: {text}.")));
    }
    // The warning with that name covers it.
    let is_unreported = |row: &&&CellResult| {
        row.trials.iter().any(|t| t.short) && !row.warnings.iter().any(|w| w.id == "cut")
    };
    let cut: Vec<&Job> = rows.iter().filter(is_unreported).map(|row| &row.cell).collect();
    if !cut.is_empty() {
        let cells = describe_cells(cut.into_iter(), rows.len());
        notes.push(ReportNote::reason(
            "cut short: ",
            Style::Dim,
            &cells,
            "a trial was stopped early",
        ));
    }
    notes
}

/// Returns what happened around long trials, and when.
pub fn around(rows: &[&CellResult]) -> Vec<ReportNote> {
    let note = |row: &&CellResult| {
        let lines = row.around();
        let cells = describe_cells(std::iter::once(&row.cell), rows.len());
        (!lines.is_empty()).then(|| {
            ReportNote::new("around: ", Style::Dim, format!("{cells} — {}.", lines.join(". ")))
        })
    };
    rows.iter().filter_map(note).collect()
}

/// Returns an early end of the run, the measured share of its time, and the session's notes.
pub fn ending(session: &Session) -> Vec<ReportNote> {
    let mut notes = Vec::new();
    match session.end {
        Some(End::Interrupted) | None => notes.push(ReportNote::plain(
            "The run was stopped early: the results above are from before that.",
        )),
        Some(End::Failed) => {
            notes
                .push(ReportNote::plain("The run failed: the results above are from before that."));
        }
        Some(End::Finished | End::Budget | End::Goal) => {}
    }
    if let Some(time) = analysis::measured_time(session) {
        let [measured, run] =
            [time.measured_seconds, time.run_seconds].map(|of| units::show_nanos(of * 1e9));
        let share = time.share * 100.0;
        notes.push(ReportNote::plain(format!("Measured {measured} of {run} ({share:.0} %).")));
    }
    notes.extend(of_run(session));
    notes
}

/// Returns the session's own notes.
pub fn of_run(session: &Session) -> impl Iterator<Item = ReportNote> {
    session.notes.iter().map(|note| ReportNote::new("note: ", Style::Dim, end_sentence(note)))
}

/// The maximum number of curves with a cost line.
const MAX_COST_CURVES: usize = 8;

/// Returns the cost of an operation on each curve, and the limits of the cells.
pub fn why(session: &Session, rows: &[&CellResult]) -> Vec<ReportNote> {
    let results: Vec<CellResult> = rows.iter().map(|row| (*row).clone()).collect();
    let why = analysis::explain_limits(&results, |job| Bounds::of_job(session, job));
    let mut notes = Vec::new();
    for curve in why.costs.iter().take(MAX_COST_CURVES) {
        notes.push(ReportNote::new(
            "cost: ",
            Style::Dim,
            format!("{}: {}.", curve.name, curve.text),
        ));
    }
    let limited = why.limits.iter().zip(rows);
    let limited = limited.filter_map(|(limit, row)| Some((limit.as_ref()?, &row.cell)));
    for (by, limited) in group_by_key(limited, |(limit, _)| limit.by) {
        let (limit, first) = limited[0];
        let (name, figures) = limit.text.split_once(": ").unwrap_or((by.name(), ""));
        let (cells, first) = (units::counted(limited.len(), "cell"), first.label());
        let body = format!("{name}, {cells} ({first}: {figures}).");
        notes.push(ReportNote::new("limited by: ", Style::Dim, body));
    }
    notes
}

/// Returns the rates that were expected of the cells before they ran.
pub fn expected(session: &Session, rows: &[&CellResult]) -> Option<ReportNote> {
    let text = analysis::describe_expected(session, rows.iter().copied());
    let (name, text) = text.split_once(": ")?;
    Some(ReportNote::new(format!("{name}: "), Style::Dim, format!("{text}.")))
}

/// Returns the cells whose trials repeat a pass over all that they read because it ends before the
/// trial time: the duration of one pass.
pub fn whole_file(session: &Session, rows: &[&CellResult]) -> Option<ReportNote> {
    let mut took: Vec<(f64, &Job)> =
        rows.iter().filter_map(|row| Some((repeated_pass_nanos(row)?, &row.cell))).collect();
    took.retain(|(nanos, _)| *nanos < session.plan.trial_time.low.as_nanos() as f64);
    took.sort_by(|a, b| a.0.total_cmp(&b.0));
    fn time(nanos: f64) -> String {
        units::show_nanos(nanos)
    }
    let wanted = units::short_time(session.plan.trial_time.low);
    // A pass reads whole blocks of its span, which may be less than the file.
    let size = session.plan.target.size();
    let passed = |row: &&CellResult| Some(row.work()?.of_a_pass().bytes as u64);
    let read = rows.iter().filter(|row| took.iter().any(|(_, job)| **job == row.cell));
    let least = read.filter_map(passed).min().unwrap_or(size);
    let (mark, what) = match least >= size {
        true => ("whole file", "the whole file".to_string()),
        false => ("whole span", format!("a span of {}", units::show_bytes(least))),
    };
    let (least, most) = (took.first()?.0, took.last()?.0);
    let pass = units::join_range(&time(least), &time(most));
    let is_cold = took.iter().any(|(_, job)| job.cache == Cache::Cold);
    let cold = if is_cold { "; each cold pass is prepared first" } else { "" };
    let body = format!(
        "{} read {what} several times in each trial of {wanted} (one pass takes {pass}){cold}.",
        units::counted(took.len(), "cell")
    );
    Some(ReportNote::new(format!("{mark}: "), Style::Dim, body))
}

/// Returns the cells that read different parts of the same span: their XOR differs although the
/// file is the same.
pub fn xor_coverage(rows: &[&CellResult]) -> Option<ReportNote> {
    let read = rows.iter().filter(|row| row.cell.op == Op::Read);
    let of =
        |row: &&CellResult| row.trials.iter().find_map(|t| Some((t.evidence.unique_bytes, t.xor?)));
    let mut all: Vec<(u64, Xor, &Job)> =
        read.filter_map(|row| of(row).map(|(bytes, xor)| (bytes, xor, &row.cell))).collect();
    all.sort_by_key(|(bytes, ..)| *bytes);
    let part = |(bytes, xor, job): &&(u64, Xor, &Job)| {
        let other_part = |(_, other, of): &(u64, Xor, &Job)| {
            other != xor && of.span == job.span && of.target == job.target
        };
        *bytes < job.span && all.iter().any(other_part)
    };
    let (least, _, first) = all.iter().find(part)?;
    let same = |job: &Job| job.span == first.span && job.target == first.target;
    let (most, _, last) = all.iter().rfind(|(_, _, job)| same(job))?;
    let bytes = units::show_bytes;
    let (small, large) = (bytes(*least), bytes(*most));
    let body = match least == most {
        true => format!(
            "of {small}; which part of the file that is depends on the pattern, the threads and the block size."
        ),
        false => format!(
            "of {small} ({}) to {large} ({}): a trial that ends early covers only part of the file.",
            first.label(),
            last.label()
        ),
    };
    let body = format!("{body} With -n 0 every cell covers the whole file.");
    Some(ReportNote::new("XOR: ", Style::Dim, body))
}

/// Returns how the XOR pads cells whose bytes end within a 32-bit word.
pub fn xor_padding(rows: &[&CellResult]) -> Option<ReportNote> {
    let folded = rows.iter().flat_map(|row| row.trials.iter().filter(|trial| trial.xor.is_some()));
    let bytes = folded.map(|trial| trial.evidence.unique_bytes).find(|bytes| bytes % 4 != 0)?;
    let body = format!(
        "{bytes} bytes are not a multiple of 4: the last word has {} of them and is padded with \
         zeros.",
        bytes % 4
    );
    Some(ReportNote::new("XOR: ", Style::Dim, body))
}

/// Returns the median time of one pass over the whole file, if calibration ended there and not at
/// the trial time.
fn repeated_pass_nanos(row: &CellResult) -> Option<f64> {
    let whole = row.cell.count.is_none()
        && !row.trials.is_empty()
        && row.trials.iter().all(|t| t.passes > 1 || t.short);
    let passes = row.trials.iter().filter(|t| t.passes > 0);
    let passes = passes.map(|t| t.nanos as f64 / t.passes as f64);
    median(&passes.collect::<Vec<f64>>()).filter(|_| whole)
}

/// Medians over the trials of a cell.
struct MappingPasses {
    /// Passes after each time the file was opened and mapped.
    per_mapping: f64,
    /// Minor page faults per pass.
    faults: f64,
}

impl MappingPasses {
    /// Counts the faults of a row; `None` if trials end within the file: then no page is visited
    /// twice.
    fn from_row(row: &CellResult) -> Option<Self> {
        let middle = |of: fn(&Trial) -> f64| {
            let whole = row.trials.iter().filter(|trial| !trial.short && trial.passes > 0);
            median(&whole.map(|trial| of(trial)).collect::<Vec<f64>>())
        };
        Some(Self {
            per_mapping: middle(|t| t.passes as f64 / t.evidence.parts.max(1) as f64)?,
            faults: middle(|t| t.minor_faults as f64 / t.passes as f64)?,
        })
    }
}

/// Returns `mmap 4 KiB cold takes 533 per pass, mmap 4 KiB warm 8`.
fn describe_faults(mut both: [(&Job, MappingPasses); 2]) -> String {
    both.sort_by(|a, b| b.1.faults.total_cmp(&a.1.faults));
    let [(dear, most), (cheap, least)] = both;
    let [most, least] = [most, least].map(|of| show_count(of.faults));
    let (dear, cheap) = (dear.label(), cheap.label());
    format!("{dear} takes {most} per pass, {cheap} {least}")
}

/// Fewer faults cost a few microseconds: starting a program causes about as many.
const MIN_FAULTS: f64 = 100.0;

/// Returns whether the difference in faults can affect a result.
fn differ(one: &MappingPasses, other: &MappingPasses) -> bool {
    let (least, most) = (one.faults.min(other.faults), one.faults.max(other.faults));
    one.per_mapping != other.per_mapping && most - least >= MIN_FAULTS && most > 1.1 * least
}

/// Returns the jobs that a job is compared with: the same job with empty caches.
fn twins(job: &Job) -> Vec<Job> {
    let cold = (job.cache == Cache::Warm).then(|| Job { cache: Cache::Cold, ..job.clone() });
    let flushed = (job.cpu_cache == CpuCache::Keep)
        .then(|| Job { cpu_cache: CpuCache::Flush, ..job.clone() });
    cold.into_iter().chain(flushed).collect()
}

/// Returns the first such pair with both counts, and the number of pairs.
pub fn page_faults(rows: &[&CellResult]) -> Option<ReportNote> {
    let pairs: Vec<String> = rows
        .iter()
        .flat_map(|row| twins(&row.cell).into_iter().map(move |twin| (row, twin)))
        .filter_map(|(row, twin)| {
            let other = rows.iter().find(|other| other.cell == twin)?;
            let (one, two) = (MappingPasses::from_row(row)?, MappingPasses::from_row(other)?);
            let differs = differ(&one, &two);
            differs.then(|| describe_faults([(&row.cell, one), (&other.cell, two)]))
        })
        .collect();
    let first = pairs.first()?;
    let more = match pairs.len() {
        1 => String::new(),
        count => format!(" (as in {count} pairs)"),
    };
    let body = format!("{first}{more}.");
    Some(ReportNote::new("page faults: ", Style::Dim, body))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::report::testing;

    /// The note on cold and warm cells with these passes, parts and faults in each trial.
    fn note(cold: [u64; 3], warm: [u64; 3]) -> String {
        let cells = [Cache::Cold, Cache::Warm].map(|cache| testing::job("mmap", 4096, cache));
        let like = testing::Like::new(450.0, 0.0, None);
        let mut session = testing::measured(cells.to_vec(), 5, like);
        for trial in session.trials.iter_mut().map(Arc::make_mut) {
            let [passes, parts, faults] = if trial.cell == 0 { cold } else { warm };
            (trial.passes, trial.evidence.parts, trial.minor_faults) =
                (passes, parts, faults * passes);
        }
        let results = crate::analysis::results(&session);
        let note = page_faults(&results.iter().collect::<Vec<_>>());
        note.map_or_else(String::new, |note| note.mark + &note.body)
    }

    #[test]
    fn unequal_mappings_have_a_note() {
        assert_eq!(
            note([3, 3, 1600], [40, 1, 40 * 4]),
            "page faults: mmap 4 KiB cold takes 1.60 k per pass, mmap 4 KiB warm 160."
        );
        assert_eq!(note([3, 3, 1600], [40, 40, 160]), "", "as many mappings for as many passes");
        assert_eq!(note([3, 3, 40], [40, 1, 1]), "", "few faults");
        assert_eq!(note([0, 1, 1600], [40, 1, 160]), "", "ends within the file");
        assert_eq!(
            note([1, 0, 1600], [40, 0, 160]).len(),
            note([1, 1, 1600], [40, 1, 160]).len(),
            "an older session"
        );
    }
}
