//! Probes in the table: each measured value beside the expected one and those known of other
//! machines.

use super::below::{Page, end_sentence, safe};
use super::findings::sign;
use super::grid::{self, Cell, Column, Style};
use super::narrow;
use crate::analysis;
use crate::analysis::{ProbeResult, SKIPPED_BY_USER};
use crate::plan::{ProbeCell, Skipped};
use crate::record::{Severity, Unit};
use crate::report::Look;
use crate::units::column::{figure, short_figure};

/// Returns the table of probes: the full one if there is room for all of it, else the short one.
pub fn format_lines(probes: &[ProbeResult], look: &Look) -> Vec<String> {
    let columns = columns(probes, look);
    if grid::all_fit(&columns, look.width) {
        grid::format_lines(&columns, &vec![false; probes.len()], look.width, look.color)
    } else {
        narrow::lay_out(probes, look)
    }
}

/// Returns the columns of probes; the most useful have the lowest rank. Each value has its own
/// unit, because probes are of many kinds.
pub fn columns(probes: &[ProbeResult], look: &Look) -> Vec<Column> {
    let words = |title: &str, rank: u8, of: &dyn Fn(&ProbeResult) -> String| {
        Column::text_column(title, rank, probes.iter().map(of).collect())
    };
    let mut columns = vec![words("probe", 0, &|p| p.cell.probe.clone())];
    if probes.iter().any(|p| !p.cell.params.is_empty()) {
        columns.push(words("parameters", 0, &|p| p.cell.parameters()));
    }
    columns.extend(figure_columns(probes, look));
    if probes.iter().any(|p| p.estimate.is_some()) {
        columns.push(Column { right: true, ..words("estimate", 1, &estimate) });
    }
    if probes.iter().any(|p| !p.reference.is_empty()) {
        columns.push(words("reference", 2, &reference));
    }
    columns.push(mark_column(probes, look));
    make_safe(columns, look)
}

/// Returns the measurements: the value, the width of its interval, and cycles, if any.
pub(super) fn figure_columns(probes: &[ProbeResult], look: &Look) -> Vec<Column> {
    let halves = Column::text_column(
        if look.ascii { "+-%" } else { "±%" },
        4,
        probes.iter().map(half_width).collect(),
    );
    let cycles = probes.iter().any(|p| p.cycles.is_some()).then(|| cycles(probes));
    [values(probes), Column { right: true, ..halves }].into_iter().chain(cycles).collect()
}

pub(super) fn mark_column(probes: &[ProbeResult], look: &Look) -> Column {
    Column {
        cells: probes.iter().map(|p| mark(p, look.ascii)).collect(),
        ..Column::text_column("", 0, Vec::new())
    }
}

/// Makes the cells safe: names may come from other machines.
pub(super) fn make_safe(mut columns: Vec<Column>, look: &Look) -> Vec<Column> {
    for (_, piece) in columns.iter_mut().flat_map(|column| column.cells.iter_mut()).flatten() {
        *piece = safe(piece, look);
    }
    columns
}

/// Aligns the digits below each other, with a prefix or without.
fn cycles(probes: &[ProbeResult]) -> Column {
    let texts: Vec<String> =
        probes.iter().map(|probe| probe.cycles.map_or("-".into(), short_figure)).collect();
    fn has_prefix(text: &str) -> bool {
        text.ends_with(char::is_alphabetic)
    }
    let some = texts.iter().any(|text| has_prefix(text));
    let padded = |text: String| if some && !has_prefix(&text) { text + "  " } else { text };
    Column {
        right: true,
        ..Column::text_column("cycles", 3, texts.into_iter().map(padded).collect())
    }
}

fn values(probes: &[ProbeResult]) -> Column {
    fn cell(probe: &ProbeResult) -> Cell {
        match (&probe.error, probe.unit.zip(probe.value)) {
            (Some(_), _) => vec![(Style::Red, "failed".into())],
            (None, Some((unit, value))) => vec![(Style::Bold, unit.show(value.summary.median))],
            (None, None) => vec![(Style::Plain, "-".into())],
        }
    }
    Column {
        right: true,
        cells: probes.iter().map(cell).collect(),
        ..Column::text_column("value", 0, Vec::new())
    }
}

/// Returns half the width of the interval in percent.
fn half_width(probe: &ProbeResult) -> String {
    let half =
        probe.value.filter(|_| probe.error.is_none()).and_then(|value| value.summary.half_width());
    half.map_or("-".into(), |half| figure((half * 1000.0).round() / 10.0))
}

fn estimate(probe: &ProbeResult) -> String {
    let shown = |value: f64| probe.unit.unwrap_or(Unit::Nanos).show(value);
    match &probe.estimate {
        None => "-".into(),
        Some(of) if of.low == of.high => shown(of.low),
        Some(of) => format!("{} to {}", shown(of.low), shown(of.high)),
    }
}

pub(super) fn reference(probe: &ProbeResult) -> String {
    let unit = probe.unit.unwrap_or(Unit::Nanos);
    let known: Vec<String> = probe
        .reference
        .iter()
        .map(|known| format!("{} {}", unit.show(known.value), known.session))
        .collect();
    if known.is_empty() { "-".into() } else { known.join(", ") }
}

fn mark(probe: &ProbeResult, ascii: bool) -> Cell {
    let worst = probe.warnings.iter().map(|w| w.severity).filter(|s| *s > Severity::Note).max();
    match probe.error.as_ref().map(|_| Severity::Wrong).or(worst) {
        None => vec![(Style::Plain, "ok".into())],
        Some(severity) => {
            let (mark, style) = sign(severity, ascii);
            vec![(style, mark.trim_end().into())]
        }
    }
}

/// Adds the text about probes that follows the tables: warnings, failures, and skipped cells.
pub fn add_notes(page: &mut Page, probes: &[ProbeResult], skipped: &[Skipped<ProbeCell>]) {
    page.gap();
    let ascii = page.look.ascii;
    let mut reported: Vec<(&str, &str)> = Vec::new();
    for warning in probes.iter().flat_map(|probe| &probe.warnings) {
        let key = (warning.id.as_ref(), warning.message.as_str());
        if reported.contains(&key) {
            continue;
        }
        reported.push(key);
        let affected: Vec<String> = probes
            .iter()
            .filter(|p| p.warnings.contains(warning))
            .map(|p| p.cell.label())
            .collect();
        let (mark, style) = sign(warning.severity, ascii);
        let body = format!(
            "{} ({}): {}.",
            warning.message.trim().trim_end_matches('.'),
            warning.id,
            summarize(&affected)
        );
        let more = [("Evidence", &warning.evidence), ("Remedy", &warning.remedy)]
            .into_iter()
            .filter(|(_, text)| !text.is_empty());
        let more: String =
            more.map(|(what, text)| format!(" {what}: {}", end_sentence(text))).collect();
        page.paragraph(mark, style, &(body + &more));
    }
    let (mark, red) = sign(Severity::Wrong, ascii);
    for probe in probes {
        if let Some(error) = &probe.error {
            page.paragraph(
                &format!("{mark}failed: "),
                red,
                &format!("{} — {}", probe.cell.label(), end_sentence(error)),
            );
        }
    }
    for probe in probes.iter().filter(|probe| probe.skipped && !probe.trials.is_empty()) {
        page.plain(&format!("{}: {SKIPPED_BY_USER}.", probe.cell.label()));
    }
    for (reason, labels) in group_by_reason(
        skipped.iter().map(|skipped| (skipped.reason.as_str(), skipped.cell.label())),
    ) {
        page.paragraph(
            "skipped: ",
            Style::Dim,
            &format!("{} — {}", summarize(&labels), end_sentence(reason)),
        );
    }
    for line in analysis::network(probes).describe() {
        page.paragraph("network: ", Style::Dim, &end_sentence(&line));
    }
}

/// Groups equal reasons, in the order of the first of each.
fn group_by_reason<'a>(
    items: impl Iterator<Item = (&'a str, String)>,
) -> Vec<(&'a str, Vec<String>)> {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for (reason, label) in items {
        match all.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, labels)) => labels.push(label),
            None => all.push((reason, vec![label])),
        }
    }
    all
}

/// Adds the reasons of all estimates or, unless `all`, where to find them.
pub fn add_estimates(page: &mut Page, probes: &[ProbeResult], all: bool) {
    let reasons = || {
        probes.iter().filter_map(|probe| {
            Some((probe.estimate.as_ref()?.reason.as_str(), probe.cell.label()))
        })
    };
    if !all && reasons().next().is_some() {
        page.paragraph(
            "estimates: ",
            Style::Dim,
            "the Lab screen and the markdown, html and json formats show their reasons.",
        );
    }
    for (reason, labels) in group_by_reason(reasons().filter(|_| all)) {
        page.paragraph(
            "estimate: ",
            Style::Dim,
            &format!("{} — {}", summarize(&labels), end_sentence(reason)),
        );
    }
}

fn summarize(labels: &[String]) -> String {
    match labels {
        [] => String::new(),
        [label] => label.clone(),
        [first, rest @ ..] => format!("{first}, and {} more", rest.len()),
    }
}
