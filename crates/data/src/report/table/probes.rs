//! The table of probes: each measured value next to the expected one and to reports from other
//! machines.

use super::column_parts::{numbers, words};
use super::findings::sign;
use super::grid::Table;
use super::grid::{self, Cell, Column, Style};
use crate::analysis;
use crate::analysis::{ProbeResult, SKIPPED_BY_USER, end_sentence, group_by_key};
use crate::plan::{ProbeCell, Skipped};
use crate::record::{Severity, Unit, Warning};
use crate::report::Look;
use crate::report::notes::{ReportNote, group_by_text, name_first};
use crate::report::text::safe;
use crate::units::Precision;
use crate::units::column::{self, PER_SECOND, RATE, TIME, figure};

/// Returns the table of probes, with the short one as lines where the full one does not fit.
pub fn table(probes: &[ProbeResult], look: &Look) -> Table {
    let columns = build_columns(probes, look, false);
    let narrow = (!grid::all_fit(&columns, look.width)).then(|| format_short_lines(probes, look));
    Table { id: "probes", title: "Probes", columns, narrow, ..Table::default() }
}

/// Returns the table for narrow widths: a line names the probe, and its cells are listed below it
/// by their parameters alone. Columns that do not fit `look.width` are dropped by rank.
fn format_short_lines(probes: &[ProbeResult], look: &Look) -> Vec<String> {
    let mut columns = build_columns(probes, look, true);
    while !grid::squeezes(&columns, look.width) {
        let Some(last) = columns.iter().map(|column| column.rank).max().filter(|rank| *rank > 0)
        else {
            break;
        };
        columns.retain(|column| column.rank < last);
    }
    let mut lines = grid::format_lines(&columns, &[], look);
    let rows = lines.split_off(lines.len() - probes.len());
    let mut last = "";
    for (probe, row) in probes.iter().zip(rows) {
        let name = probe.cell.probe.as_str();
        if name != last && !probe.cell.params.is_empty() {
            lines.push(safe(name, look));
        }
        lines.push(row);
        last = name;
    }
    lines
}

/// Returns the columns of probes; the most useful have the lowest rank. Each value has its own
/// unit, because probes are of many kinds.
fn build_columns(probes: &[ProbeResult], look: &Look, is_short: bool) -> Vec<Column> {
    let mut columns = Vec::new();
    if is_short {
        columns.push(words("probe", 0, probes, short_name));
    } else {
        columns.push(words("probe", 0, probes, |p| p.cell.probe.clone()));
        if probes.iter().any(|p| !p.cell.params.is_empty()) {
            columns.push(words("parameters", 0, probes, |p| p.cell.parameters()));
        }
    }
    columns.push(values(probes));
    columns.push(numbers(if look.ascii { "+-%" } else { "±%" }, 4, probes, half_width));
    if probes.iter().any(|p| p.cycles.is_some()) {
        columns.push(cycles(probes));
    }
    if probes.iter().any(|p| p.estimate.is_some()) {
        let estimate = if is_short { short_estimate } else { estimate };
        columns.push(numbers("estimate", 1, probes, estimate));
    }
    let mut known = probes.iter().flat_map(|p| &p.reference).map(|known| known.session.as_str());
    if let Some(first) = known.next() {
        columns.push(if is_short && known.all(|name| name == first) {
            numbers(first, 2, probes, only_reference)
        } else {
            words("reference", 2, probes, reference)
        });
    }
    let marks = probes.iter().map(|p| mark(p, look.ascii));
    columns.push(Column::styled("", marks.collect()));
    // Names may come from other machines.
    columns.iter_mut().for_each(|column| column.make_safe(look));
    columns
}

/// Returns the parameters of a cell; a cell without parameters stands for the probe itself.
fn short_name(probe: &ProbeResult) -> String {
    match probe.cell.short_parameters() {
        none if none.is_empty() => probe.cell.probe.clone(),
        parameters => format!("  {parameters}"),
    }
}

/// Aligns the digits below each other, with a prefix or without.
fn cycles(probes: &[ProbeResult]) -> Column {
    let show = |cycles: Option<f64>| {
        cycles.map_or("-".into(), |cycles| Precision::Full.short_figure(cycles))
    };
    let texts: Vec<String> = probes.iter().map(|probe| show(probe.cycles)).collect();
    fn has_prefix(text: &str) -> bool {
        text.ends_with(char::is_alphabetic)
    }
    let some = texts.iter().any(|text| has_prefix(text));
    let padded = |text: String| if some && !has_prefix(&text) { text + "  " } else { text };
    Column::numbers("cycles", "", 3, texts.into_iter().map(padded).collect())
}

fn values(probes: &[ProbeResult]) -> Column {
    fn cell(probe: &ProbeResult) -> Cell {
        match (&probe.error, probe.unit.zip(probe.value)) {
            (Some(_), _) => vec![(Style::Red, "failed".into())],
            (None, Some((unit, value))) => vec![(Style::Bold, unit.show(value.summary.median))],
            (None, None) => vec![(Style::Plain, "-".into())],
        }
    }
    Column { right: true, ..Column::styled("value", probes.iter().map(cell).collect()) }
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

fn reference(probe: &ProbeResult) -> String {
    let unit = probe.unit.unwrap_or(Unit::Nanos);
    let known: Vec<String> = probe
        .reference
        .iter()
        .map(|known| format!("{} {}", unit.show(known.value), known.session))
        .collect();
    if known.is_empty() { "-".into() } else { known.join(", ") }
}

/// Returns both ends in one unit: `40.0-1500 ns`.
fn short_estimate(probe: &ProbeResult) -> String {
    let Some(of) = &probe.estimate else { return "-".into() };
    let unit = probe.unit.unwrap_or(Unit::Nanos);
    let units = match unit {
        Unit::Nanos => TIME,
        Unit::BytesPerSecond => RATE,
        Unit::PerSecond => PER_SECOND,
        Unit::Bytes => return format!("{}-{}", unit.show(of.low), unit.show(of.high)),
    };
    if of.low == of.high {
        return unit.show(of.low);
    }
    let (factor, name) = column::unit([of.low, of.high], units);
    format!("{}-{} {name}", figure(of.low / factor), figure(of.high / factor))
}

/// Returns the figure of the only reference machine.
fn only_reference(probe: &ProbeResult) -> String {
    let unit = probe.unit.unwrap_or(Unit::Nanos);
    probe.reference.first().map_or("-".into(), |known| unit.show(known.value))
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

/// Returns the notes on probes: warnings, failures, skipped cells, and the network.
pub fn notes(
    probes: &[ProbeResult],
    skipped: &[Skipped<ProbeCell>],
    ascii: bool,
) -> Vec<ReportNote> {
    let mut notes = Vec::new();
    for ProbeWarnings { first, message, labels } in group_warnings(probes) {
        let ((mark, style), cells) = (sign(first.severity, ascii), summarize(&labels));
        let several = labels.len() > 1;
        notes.push(ReportNote::warning(mark.into(), style, first, &message, &cells, several));
    }
    let (mark, red) = sign(Severity::Wrong, ascii);
    for probe in probes {
        if let Some(error) = &probe.error {
            notes.push(ReportNote::reason(
                format!("{mark}failed: "),
                red,
                &probe.cell.label(),
                error,
            ));
        }
    }
    for probe in probes.iter().filter(|probe| probe.skipped && !probe.trials.is_empty()) {
        notes.push(ReportNote::plain(format!("{}: {SKIPPED_BY_USER}.", probe.cell.label())));
    }
    let skipped = skipped.iter().map(|skipped| (skipped.reason.as_str(), skipped.cell.label()));
    for (reason, labels) in group_by_text(skipped) {
        notes.push(ReportNote::reason("skipped: ", Style::Dim, &summarize(&labels), reason));
    }
    for line in analysis::network(probes).describe() {
        notes.push(ReportNote::new("network: ", Style::Dim, end_sentence(&line)));
    }
    notes
}

/// The warnings of one kind.
pub struct ProbeWarnings<'a> {
    pub first: &'a Warning,
    /// The message of all, with the range of their figures.
    pub message: String,
    /// The names of their probes.
    pub labels: Vec<String>,
}

/// Groups the warnings of probes by kind and severity, in order of first appearance.
pub fn group_warnings(probes: &[ProbeResult]) -> Vec<ProbeWarnings<'_>> {
    let all = probes.iter().flat_map(|probe| probe.warnings.iter().map(move |one| (probe, one)));
    let mut groups = Vec::new();
    for (_, all) in group_by_key(all, |(_, one)| (one.severity, &one.id)) {
        let messages: Vec<&str> = all.iter().map(|(_, one)| &*one.message).collect();
        let message = analysis::describe_range(&messages);
        let labels = all.iter().map(|(probe, _)| probe.cell.label()).collect();
        groups.extend(all.first().map(|(_, first)| ProbeWarnings { first, message, labels }));
    }
    groups
}

/// Returns the reasons of all estimates.
pub fn estimates(probes: &[ProbeResult]) -> Vec<ReportNote> {
    let reasons = probes
        .iter()
        .filter_map(|probe| Some((probe.estimate.as_ref()?.reason.as_str(), probe.cell.label())));
    let groups = group_by_text(reasons).into_iter();
    let note = |(reason, labels): (&str, Vec<String>)| {
        ReportNote::reason("estimate: ", Style::Dim, &summarize(&labels), reason)
    };
    groups.map(note).collect()
}

fn summarize(labels: &[String]) -> String {
    name_first(labels.first().map_or("", String::as_str), labels.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{ReferenceValue, SummaryOf};
    use crate::plan::{Param, ProbeCell};
    use crate::record::Estimate;
    use crate::stats::Summary;

    type ProbeRow = (&'static str, &'static [(&'static str, &'static str)], Unit, f64, (f64, f64));

    fn measured((probe, params, unit, value, (low, high)): ProbeRow) -> ProbeResult {
        let cell =
            ProbeCell::new(probe, params.iter().map(|(name, text)| (*name, Param::from(*text))));
        let summary =
            Summary::from_values(&[value, value * 1.4, value * 1.5, value * 1.6, value * 2.0]);
        let value = summary.map(|summary| SummaryOf { summary, unit: unit.name() });
        let (cycles, estimate) =
            (Some(2.4 * high), Some(Estimate { low, high, reason: "x".into() }));
        let known = (unit == Unit::Nanos)
            .then(|| ReferenceValue { session: "xeon-os".into(), value: high });
        let (trials, warnings, evidence) = (vec![], vec![], vec![]);
        ProbeResult {
            cell,
            trials,
            unit: Some(unit),
            value,
            cycles,
            estimate,
            reference: known.into_iter().collect(),
            warnings,
            error: None,
            skipped: false,
            evidence,
        }
    }

    #[test]
    fn the_widest_probes_fit_80_columns() {
        let rows: [ProbeRow; 4] = [
            (
                "clock",
                &[("part", "resolution"), ("source", "counter-ordered")],
                Unit::Nanos,
                29.9,
                (1.0, 1500.0),
            ),
            (
                "switch-process",
                &[("by", "futex"), ("cpus", "across")],
                Unit::Nanos,
                41_200.0,
                (500.0, 60e3),
            ),
            (
                "pipe",
                &[("kind", "unix"), ("cpus", "across")],
                Unit::BytesPerSecond,
                1.5e9,
                (5e8, 8e9),
            ),
            (
                "rtt",
                &[("by", "tcp"), ("to", "loopback"), ("cpus", "2"), ("bytes", "56 B")],
                Unit::Nanos,
                41_200.0,
                (8e3, 150e3),
            ),
        ];
        let probes: Vec<ProbeResult> = rows.into_iter().map(measured).collect();
        let lines = format_short_lines(&probes, &Look { width: 80, ..Look::default() });
        for title in ["value", "±%", "cycles", "estimate", "xeon-os"] {
            assert!(lines[0].contains(title), "{title}: {}", lines[0]);
        }
        for (line, wanted) in [
            (3, "  resolution, counter-ordered"),
            (3, "1.00-1500 ns"),
            (5, "0.50-60.0 µs"),
            (7, "0.47-7.45 GiB/s"),
        ] {
            assert!(lines[line].contains(wanted), "{wanted}: {}", lines.join("\n"));
        }
        for width in [60, 70, 80] {
            let lines = format_short_lines(&probes, &Look { width, ..Look::default() });
            assert!(
                lines.iter().all(|line| line.chars().count() <= width)
                    && lines[0].contains("estimate"),
                "{}",
                lines.join("\n")
            );
        }
    }
}
