//! The table of probes where there is little room: a line names the probe, and its cells stand below it by their parameters alone.

use super::super::Look;
use super::below::safe;
use super::grid::{self, Column};
use super::probed::{figures, marks, reference, safely};
use crate::record::Unit;
use crate::session::ProbeResult;
use crate::units::column::{self, PER_SECOND, RATE, TIME};

/// The lines of the table; what does not fit `look.width` gives way by its rank.
pub fn lines(probes: &[ProbeResult], look: &Look) -> Vec<String> {
    let columns = columns(probes, look);
    let columns = if grid::squeezes(&columns, look.width) { columns } else { grid::fit(columns, look.width) };
    let mut lines = grid::lines(&columns, &vec![false; probes.len()], look.width, look.color);
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

fn columns(probes: &[ProbeResult], look: &Look) -> Vec<Column> {
    let words = |title: &str, rank: u8, of: &dyn Fn(&ProbeResult) -> String| Column::words(title, rank, probes.iter().map(of).collect());
    let mut columns = vec![words("probe", 0, &name)];
    columns.extend(figures(probes, look));
    if probes.iter().any(|p| p.estimate.is_some()) {
        columns.push(Column { right: true, ..words("estimate", 1, &estimate) });
    }
    let mut known = probes.iter().flat_map(|p| &p.reference).map(|known| known.session.as_str());
    if let Some(first) = known.next() {
        columns.push(match known.all(|name| name == first) {
            true => Column { right: true, ..words(first, 2, &figure) },
            false => words("reference", 2, &reference),
        });
    }
    columns.push(marks(probes, look));
    for column in &mut columns {
        column.title = safe(&column.title, look);
    }
    safely(columns, look)
}

/// A cell without parameters is the probe itself.
fn name(probe: &ProbeResult) -> String {
    match probe.cell.short_parameters() {
        none if none.is_empty() => probe.cell.probe.clone(),
        parameters => format!("  {parameters}"),
    }
}

/// Both ends in one unit: `0.04-1.50 µs`.
fn estimate(probe: &ProbeResult) -> String {
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
    let (factor, name) = column::unit([of.high], units);
    format!("{}-{} {name}", column::figure(of.low / factor), column::figure(of.high / factor))
}

/// That of the only machine there is.
fn figure(probe: &ProbeResult) -> String {
    let unit = probe.unit.unwrap_or(Unit::Nanos);
    probe.reference.first().map_or("-".into(), |known| unit.show(known.value))
}
