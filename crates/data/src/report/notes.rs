//! The notes of a report, below its tables: warnings, failures, skipped cells, how the run ended,
//! and what explains the figures. Each format writes them in its own form.

use super::table::findings::{Finding, Findings, sign};
use super::table::grid::{Style, paint};
use super::{Look, text};
use crate::analysis;
use crate::analysis::{Bounds, CellResult, Expected, Holds, group_by_key};
use crate::plan::{Cache, Job, Op, Skipped};
use crate::record::{End, Severity, Warning, Xor};
use crate::report::text::end_sentence;
use crate::session::Session;
use crate::stats::median;
use crate::units;

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
pub struct Note {
    pub mark: String,
    pub style: Style,
    pub body: String,
    /// A second paragraph; often empty.
    pub more: String,
}

impl Note {
    pub fn new(mark: impl Into<String>, style: Style, body: impl Into<String>) -> Note {
        Note { mark: mark.into(), style, body: body.into(), more: String::new() }
    }

    /// Returns a note without a mark.
    pub fn plain(body: impl Into<String>) -> Note {
        Note::new("", Style::Plain, body)
    }

    /// Returns what holds for these cells: `skipped: read 4 KiB — the file is not ours.`
    pub fn reason(mark: impl Into<String>, style: Style, cells: &str, why: &str) -> Note {
        Note::new(mark, style, format!("{cells} — {}", end_sentence(why)))
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
    ) -> Note {
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
        Note { more, ..Note::new(mark, style, body) }
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

    pub fn add_notes(&mut self, notes: &[Note]) {
        for note in notes {
            self.paragraph(&note.mark, note.style, &note.body);
            let indent = " ".repeat(text::width(&note.mark));
            self.paragraph(&indent, Style::Plain, &note.more);
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
pub fn warnings(findings: &Findings, rows: usize, ascii: bool) -> Vec<Note> {
    let mut notes = Vec::new();
    for (i, Finding { warning, cells: affected, message }) in findings.0.iter().enumerate() {
        let (mark, style) = sign(warning.severity, ascii);
        let mark = match warning.severity {
            Severity::Note => mark.into(),
            _ => format!("{mark}{}: ", i + 1),
        };
        let cells = describe_cells(affected.iter().map(|r| &r.cell), rows);
        notes.push(Note::warning(mark, style, warning, message, &cells, affected.len() > 1));
    }
    notes
}

/// Groups items by text, in order of first appearance.
pub fn group_by_text<'a, T>(items: impl Iterator<Item = (&'a str, T)>) -> Vec<(&'a str, Vec<T>)> {
    let groups = group_by_key(items, |(text, _)| *text).into_iter();
    groups.map(|(text, all)| (text, all.into_iter().map(|(_, item)| item).collect())).collect()
}

/// Returns whether the results are as expected.
pub fn outcomes(expected: &[Expected]) -> Vec<Note> {
    let note = |one: &Expected| {
        let style = match one.outcome {
            Holds::Pass => Style::Bold,
            Holds::CannotTell => Style::Yellow,
            Holds::Fail => Style::Red,
        };
        Note::new("expected: ", style, one.text())
    };
    expected.iter().map(note).collect()
}

/// Returns the cells that failed or were not measured, by reason.
pub fn gaps(rows: &[&CellResult], skipped: &[Skipped], ascii: bool) -> Vec<Note> {
    let mut notes = Vec::new();
    let failed = rows.iter().filter_map(|row| row.error.as_deref().map(|error| (error, &row.cell)));
    let (mark, red) = sign(Severity::Wrong, ascii);
    for (error, jobs) in group_by_text(failed) {
        let cells = describe_cells(jobs.into_iter(), rows.len());
        notes.push(Note::reason(format!("{mark}failed: "), red, &cells, error));
    }
    for (reason, jobs) in group_by_text(skipped.iter().map(|s| (s.reason.as_str(), &s.cell))) {
        let cells = describe_cells(jobs.into_iter(), usize::MAX);
        notes.push(Note::reason("skipped: ", Style::Dim, &cells, reason));
    }
    notes
}

/// Returns the cells with fewer or shorter trials than planned: the user skipped them, or a trial
/// was stopped early.
pub fn cut(rows: &[&CellResult]) -> Vec<Note> {
    let mut notes = Vec::new();
    let by_user = rows.iter().filter(|row| row.error.is_none());
    let by_user: Vec<(String, &Job)> =
        by_user.filter_map(|row| Some((row.describe_skip()?, &row.cell))).collect();
    for (text, jobs) in group_by_text(by_user.iter().map(|(text, job)| (text.as_str(), *job))) {
        let cells = describe_cells(jobs.iter().copied(), rows.len());
        notes.push(Note::plain(format!("{cells}: {text}.")));
    }
    // The warning with that name covers it.
    let is_unreported = |row: &&&CellResult| {
        row.trials.iter().any(|t| t.short) && !row.warnings.iter().any(|w| w.id == "cut")
    };
    let cut: Vec<&Job> = rows.iter().filter(is_unreported).map(|row| &row.cell).collect();
    if !cut.is_empty() {
        let cells = describe_cells(cut.into_iter(), rows.len());
        notes.push(Note::reason("cut short: ", Style::Dim, &cells, "a trial was stopped early"));
    }
    notes
}

/// Returns how the run ended if that affects the figures, the share of its time that was measured,
/// and the notes of the session.
pub fn ending(session: &Session) -> Vec<Note> {
    let mut notes = Vec::new();
    match session.end {
        Some(End::Interrupted) | None => notes.push(Note::plain(
            "The run was stopped early: the results above are from before that.",
        )),
        Some(End::Failed) => {
            notes.push(Note::plain("The run failed: the results above are from before that."));
        }
        Some(End::Finished | End::Budget | End::Goal) => {}
    }
    if let Some(time) = analysis::measured_time(session) {
        let [measured, run] =
            [time.measured_seconds, time.run_seconds].map(|of| units::show_nanos(of * 1e9));
        let share = time.share * 100.0;
        notes.push(Note::plain(format!("Measured {measured} of {run} ({share:.0} %).")));
    }
    let own = session.notes.iter().map(|note| Note::new("note: ", Style::Dim, end_sentence(note)));
    notes.extend(own);
    notes
}

/// The maximum number of curves with a cost line.
const MAX_COST_CURVES: usize = 8;

/// Returns the cost of an operation on each curve, and the limits of the cells.
pub fn why(session: &Session, rows: &[&CellResult]) -> Vec<Note> {
    let results: Vec<CellResult> = rows.iter().map(|row| (*row).clone()).collect();
    let why = analysis::explain_limits(&results, |job| Bounds::of_job(session, job));
    let mut notes = Vec::new();
    for curve in why.costs.iter().take(MAX_COST_CURVES) {
        notes.push(Note::new("cost: ", Style::Dim, format!("{}: {}.", curve.name, curve.text)));
    }
    let limited = why.limits.iter().zip(rows);
    let limited = limited.filter_map(|(limit, row)| Some((limit.as_ref()?, &row.cell)));
    for (by, limited) in group_by_key(limited, |(limit, _)| limit.by) {
        let whose = if limited.len() > 1 { ". The first: " } else { ": " };
        let (name, figures) = limited[0].0.text.split_once(": ").unwrap_or((by.name(), ""));
        let cells = describe_cells(limited.iter().map(|(_, job)| *job), rows.len());
        let body = format!("{name} in {cells}{whose}{figures}.");
        notes.push(Note::new("limit: ", Style::Dim, body));
    }
    notes
}

/// Returns the rates that were expected of the cells before they ran.
pub fn expected(session: &Session, rows: &[&CellResult]) -> Option<Note> {
    let text = analysis::describe_expected(session, rows.iter().copied());
    let (name, text) = text.split_once(": ")?;
    Some(Note::new(format!("{name}: "), Style::Dim, format!("{text}.")))
}

/// Returns the cells whose trials repeat a pass over all that they read because it ends before the
/// trial time: the duration of one pass.
pub fn whole_file(session: &Session, rows: &[&CellResult]) -> Option<Note> {
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
    let body = match took.as_slice() {
        [] => return None,
        [(nanos, job)] => format!("{} covered {what} in {}", job.label(), time(*nanos)),
        [(least, first), .., (most, last)] => {
            format!(
                "{} cells covered {what}, in {} ({}) to {} ({})",
                took.len(),
                time(*least),
                first.label(),
                time(*most),
                last.label()
            )
        }
    };
    let is_cold = took.iter().any(|(_, job)| job.cache == Cache::Cold);
    let cold = if is_cold { ", and each cold pass is prepared first" } else { "" };
    let body =
        format!("{body}, less than the trial time of {wanted}; trials repeat the pass{cold}.");
    Some(Note::new(format!("{mark}: "), Style::Dim, body))
}

/// Returns the cells that read different parts of the same span: their XOR differs although the
/// file is the same.
pub fn xor_coverage(rows: &[&CellResult]) -> Option<Note> {
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
    Some(Note::new("XOR: ", Style::Dim, body))
}

/// Returns how the XOR pads cells whose bytes end within a 32-bit word.
pub fn xor_padding(rows: &[&CellResult]) -> Option<Note> {
    let folded = rows.iter().flat_map(|row| row.trials.iter().filter(|trial| trial.xor.is_some()));
    let bytes = folded.map(|trial| trial.evidence.unique_bytes).find(|bytes| bytes % 4 != 0)?;
    let body = format!(
        "{bytes} bytes are not a multiple of 4: the last word has {} of them and is padded with \
         zeros.",
        bytes % 4
    );
    Some(Note::new("XOR: ", Style::Dim, body))
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
