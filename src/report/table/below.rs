//! What stands under the table: warnings, failures, what was left out, how it ended, and the answer
//! in words.

use super::findings::{Finding, Findings, sign};
use super::grid::{Style, paint};
use crate::analysis;
use crate::analysis::{Bounds, CellResult, LimitCause};
use crate::plan::{Job, Op, Skipped};
use crate::record::{End, Severity, Xor};
use crate::report::{Look, text};
use crate::session::Session;
use crate::stats::median;
use crate::units;

/// Lines of text under a table, wrapped and made safe.
pub struct Page<'a> {
    pub look: &'a Look,
    pub lines: Vec<String>,
}

impl Page<'_> {
    /// One paragraph; `mark` stands before its first line, the others are indented as far.
    pub fn paragraph(&mut self, mark: &str, style: Style, body: &str) {
        let (mark, body) = (safe(mark, self.look), safe(body, self.look));
        let indent = text::width(&mark);
        let most = self.look.width.saturating_sub(indent).max(20);
        for (i, line) in text::wrap(&body, most).into_iter().enumerate() {
            let start =
                if i == 0 { paint(style, &mark, self.look.color) } else { " ".repeat(indent) };
            self.lines.push(start + &line);
        }
    }

    /// A paragraph without a mark.
    pub fn plain(&mut self, body: &str) {
        self.paragraph("", Style::Plain, body);
    }

    /// An empty line, unless one is there.
    pub fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }
}

/// Text that can be shown there and does nothing else.
pub fn safe(body: &str, look: &Look) -> String {
    let body = text::clean(body);
    if look.ascii { text::ascii(&body) } else { body }
}

/// `read 4 KiB cold, and 5 more`, or `every cell`.
pub fn cells<'a>(mut jobs: impl ExactSizeIterator<Item = &'a Job>, all: usize) -> String {
    let count = jobs.len();
    match (jobs.next(), count) {
        (None, _) => String::new(),
        (Some(first), 1) => first.label(),
        (Some(_), n) if n == all => "every cell".into(),
        (Some(first), n) => format!("{}, and {} more", first.label(), n - 1),
    }
}

pub fn warnings(page: &mut Page, findings: &Findings, rows: usize) {
    page.gap();
    for (i, Finding { warning, cells: having }) in findings.0.iter().enumerate() {
        let (mark, style) = sign(warning.severity, page.look.ascii);
        let mark = if warning.severity == Severity::Note {
            mark.into()
        } else {
            format!("{mark}{} ", i + 1)
        };
        let cells = cells(having.iter().map(|r| &r.cell), rows);
        page.paragraph(
            &mark,
            style,
            &format!("{} ({}): {cells}", warning.message.trim().trim_end_matches('.'), warning.id),
        );
        let mut body = String::new();
        if !warning.evidence.is_empty() {
            let whose = if having.len() > 1 { ", in the first" } else { "" };
            body = format!("Evidence{whose}: {} ", sentence(&warning.evidence));
        }
        if !warning.remedy.is_empty() {
            body += &format!("Remedy: {}", sentence(&warning.remedy));
        }
        page.paragraph(&" ".repeat(text::width(&mark)), Style::Plain, &body);
    }
}

/// With its full stop.
pub fn sentence(body: &str) -> String {
    let body = body.trim();
    if body.is_empty() || body.ends_with(['.', '!', '?']) {
        body.into()
    } else {
        format!("{body}.")
    }
}

/// Texts with what they apply to, equal texts together.
pub fn merged<'a, T>(items: impl Iterator<Item = (&'a str, T)>) -> Vec<(&'a str, Vec<T>)> {
    let mut merged: Vec<(&str, Vec<T>)> = Vec::new();
    for (text, item) in items {
        match merged.iter_mut().find(|(known, _)| *known == text) {
            Some((_, items)) => items.push(item),
            None => merged.push((text, vec![item])),
        }
    }
    merged
}

/// Cells that failed, that were skipped, and trials that were cut.
pub fn missing(page: &mut Page, rows: &[&CellResult], skipped: &[Skipped]) {
    page.gap();
    let failed = rows.iter().filter_map(|row| row.error.as_deref().map(|error| (error, &row.cell)));
    let (mark, red) = sign(Severity::Wrong, page.look.ascii);
    for (error, jobs) in merged(failed) {
        page.paragraph(
            &format!("{mark}failed: "),
            red,
            &format!("{} — {}", cells(jobs.iter().copied(), rows.len()), sentence(error)),
        );
    }
    for (reason, jobs) in merged(skipped.iter().map(|s| (s.reason.as_str(), &s.cell))) {
        page.paragraph(
            "skipped: ",
            Style::Dim,
            &format!("{} — {}", cells(jobs.iter().copied(), usize::MAX), sentence(reason)),
        );
    }
    cut(page, rows);
}

/// Cells with a trial that was stopped before its end.
pub fn cut(page: &mut Page, rows: &[&CellResult]) {
    // The warning of that name says it already.
    let untold = |row: &&&CellResult| {
        row.trials.iter().any(|t| t.short) && !row.warnings.iter().any(|w| w.id == "cut")
    };
    let cut: Vec<&Job> = rows.iter().filter(untold).map(|row| &row.cell).collect();
    if !cut.is_empty() {
        page.paragraph(
            "cut short: ",
            Style::Dim,
            &format!(
                "{} — a trial was stopped before its end.",
                cells(cut.into_iter(), rows.len())
            ),
        );
    }
}

/// How the run ended, where that says something about the figures, and what it noted.
pub fn ending(page: &mut Page, session: &Session) {
    let said = match session.end {
        Some(End::Interrupted) | None => {
            Some("The run was stopped before its end: above is what was measured until then.")
        }
        Some(End::Failed) => {
            Some("The run failed before its end: above is what was measured until then.")
        }
        Some(End::Finished | End::Budget | End::Goal) => None,
    };
    page.gap();
    if let Some(said) = said {
        page.plain(said);
    }
    for note in &session.notes {
        page.paragraph("note: ", Style::Dim, &sentence(note));
    }
}

/// What an operation costs on each curve, and what limits the cells.
pub fn why(page: &mut Page, session: &Session, rows: &[&CellResult]) {
    let results: Vec<CellResult> = rows.iter().map(|row| (*row).clone()).collect();
    let why = analysis::explain_limits(&results, &Bounds::of(session));
    page.gap();
    for curve in why.costs.iter().take(CURVES) {
        page.paragraph("cost: ", Style::Dim, &format!("{}: {}.", curve.name, curve.text));
    }
    let mut limits: Vec<(&LimitCause, Vec<&Job>)> = Vec::new();
    for (limit, row) in why.limits.iter().zip(rows) {
        let Some(limit) = limit else { continue };
        match limits.iter_mut().find(|(known, _)| known.by == limit.by) {
            Some((_, jobs)) => jobs.push(&row.cell),
            None => limits.push((limit, vec![&row.cell])),
        }
    }
    for (limit, jobs) in limits {
        let whose = if jobs.len() > 1 { "; the first: " } else { ": " };
        let (name, figures) = limit.text.split_once(": ").unwrap_or((limit.by.name(), ""));
        page.paragraph(
            "limit: ",
            Style::Dim,
            &format!("{name} in {}{whose}{figures}.", cells(jobs.iter().copied(), rows.len())),
        );
    }
}

/// What facts said of the cells before they ran.
pub fn expected(page: &mut Page, session: &Session, rows: &[&CellResult]) {
    let said = analysis::describe_expected(session, rows.iter().copied());
    if let Some((name, said)) = said.split_once(": ") {
        page.gap();
        page.paragraph(&format!("{name}: "), Style::Dim, &format!("{said}."));
    }
}

/// Curves whose costs are told.
const CURVES: usize = 8;

/// Cells whose trial is the whole file, since it ended before the trial time: how long one pass
/// took.
pub fn whole(page: &mut Page, session: &Session, rows: &[&CellResult]) {
    let mut took: Vec<(f64, &Job)> =
        rows.iter().filter_map(|row| Some((pass_nanos(row)?, &row.cell))).collect();
    took.retain(|(nanos, _)| *nanos < session.plan.trial_time.low.as_nanos() as f64);
    took.sort_by(|a, b| a.0.total_cmp(&b.0));
    let time = |nanos: f64| units::show_nanos(nanos);
    let wanted = units::short_time(session.plan.trial_time.low);
    let body = match took.as_slice() {
        [] => return,
        [(nanos, job)] => format!("{} took the whole file, in {}", job.label(), time(*nanos)),
        [(least, first), .., (most, last)] => {
            format!(
                "{} cells took the whole file, in {} ({}) to {} ({})",
                took.len(),
                time(*least),
                first.label(),
                time(*most),
                last.label()
            )
        }
    };
    page.gap();
    page.paragraph(
        "whole file: ",
        Style::Dim,
        &format!("{body}, less than the trial time of {wanted}; trials repeat it, and each cold pass is prepared first."),
    );
}

/// Cells that read another part of the same span than others: their XOR differs though the file is
/// the same.
pub fn folded(page: &mut Page, rows: &[&CellResult]) {
    let read = rows.iter().filter(|row| row.cell.op == Op::Read);
    let of =
        |row: &&CellResult| row.trials.iter().find_map(|t| Some((t.evidence.unique_bytes, t.xor?)));
    let mut all: Vec<(u64, Xor, &Job)> =
        read.filter_map(|row| of(row).map(|(bytes, xor)| (bytes, xor, &row.cell))).collect();
    all.sort_by_key(|(bytes, ..)| *bytes);
    let part = |(bytes, xor, job): &&(u64, Xor, &Job)| {
        *bytes < job.span && all.iter().any(|(_, other, of)| other != xor && of.span == job.span)
    };
    let Some((least, _, first)) = all.iter().find(part) else { return };
    let Some((most, _, last)) = all.iter().rfind(|(_, _, job)| job.span == first.span) else {
        return;
    };
    let bytes = units::show_bytes;
    let body = match least == most {
        true => format!(
            "of {}, and which part of the file that is depends on the order, the threads and the block size.",
            bytes(*least)
        ),
        false => format!(
            "of {} ({}) to {} ({}): a trial that ends before the file covers a part of it.",
            bytes(*least),
            first.label(),
            bytes(*most),
            last.label()
        ),
    };
    page.gap();
    page.paragraph("XOR: ", Style::Dim, &format!("{body} With -n 0 all cover the whole."));
}

/// Cells whose bytes end within a 32-bit word: what their XOR takes for the rest of it.
pub fn padded(page: &mut Page, rows: &[&CellResult]) {
    let folded = rows.iter().flat_map(|row| row.trials.iter().filter(|trial| trial.xor.is_some()));
    let Some(bytes) = folded.map(|trial| trial.evidence.unique_bytes).find(|bytes| bytes % 4 != 0)
    else {
        return;
    };
    page.gap();
    page.paragraph(
        "XOR: ",
        Style::Dim,
        &format!(
            "{bytes} bytes are no multiple of 4: zeros fill the last word, which has {} of them.",
            bytes % 4
        ),
    );
}

/// Median time of one pass over the whole file, where calibration ended there and not at the trial
/// time.
fn pass_nanos(row: &CellResult) -> Option<f64> {
    let whole = row.cell.count.is_none()
        && !row.trials.is_empty()
        && row.trials.iter().all(|t| t.passes > 0 || t.short);
    let passes: Vec<f64> = row
        .trials
        .iter()
        .filter(|t| t.passes > 0)
        .map(|t| t.nanos as f64 / t.passes as f64)
        .collect();
    median(&passes).filter(|_| whole)
}
