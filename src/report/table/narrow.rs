//! The table of probes for narrow widths: a line names the probe, and its cells are listed below it
//! by their parameters alone.

use super::below::safe;
use super::grid::{self, Column};
use super::probes::{figure_columns, make_safe, mark_column, reference};
use crate::analysis::ProbeResult;
use crate::record::Unit;
use crate::report::Look;
use crate::units::column::{self, PER_SECOND, RATE, TIME};

/// Returns the lines of the table; columns that do not fit `look.width` are dropped by rank.
pub fn lay_out(probes: &[ProbeResult], look: &Look) -> Vec<String> {
    let mut columns = columns(probes, look);
    while !grid::squeezes(&columns, look.width) {
        let Some(last) = columns.iter().map(|column| column.rank).max().filter(|rank| *rank > 0)
        else {
            break;
        };
        columns.retain(|column| column.rank < last);
    }
    let mut lines =
        grid::format_lines(&columns, &vec![false; probes.len()], look.width, look.color);
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
    let words = |title: &str, rank: u8, of: &dyn Fn(&ProbeResult) -> String| {
        Column::text_column(title, rank, probes.iter().map(of).collect())
    };
    let mut columns = vec![words("probe", 0, &name)];
    columns.extend(figure_columns(probes, look));
    if probes.iter().any(|p| p.estimate.is_some()) {
        columns.push(Column { right: true, ..words("estimate", 1, &estimate) });
    }
    let mut known = probes.iter().flat_map(|p| &p.reference).map(|known| known.session.as_str());
    if let Some(first) = known.next() {
        columns.push(if known.all(|name| name == first) {
            Column { right: true, ..words(first, 2, &figure) }
        } else {
            words("reference", 2, &reference)
        });
    }
    columns.push(mark_column(probes, look));
    for column in &mut columns {
        column.title = safe(&column.title, look);
    }
    make_safe(columns, look)
}

/// Returns the parameters of a cell; a cell without parameters stands for the probe itself.
fn name(probe: &ProbeResult) -> String {
    match probe.cell.short_parameters() {
        none if none.is_empty() => probe.cell.probe.clone(),
        parameters => format!("  {parameters}"),
    }
}

/// Returns both ends in one unit: `40.0-1500 ns`.
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
    let (factor, name) = column::unit([of.low, of.high], units);
    format!("{}-{} {name}", column::figure(of.low / factor), column::figure(of.high / factor))
}

/// Returns the figure of the only reference machine.
fn figure(probe: &ProbeResult) -> String {
    let unit = probe.unit.unwrap_or(Unit::Nanos);
    probe.reference.first().map_or("-".into(), |known| unit.show(known.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{ReferenceValue, SummaryOf};
    use crate::plan::{Param, ProbeCell};
    use crate::record::Estimate;
    use crate::stats::Summary;

    type Row = (&'static str, &'static [(&'static str, &'static str)], Unit, f64, (f64, f64));

    fn measured((probe, params, unit, value, (low, high)): Row) -> ProbeResult {
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
    fn the_longest_cells_of_the_lab_have_all_columns_at_80() {
        let rows: [Row; 4] = [
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
        let lines = lay_out(&probes, &Look { width: 80, ..Look::default() });
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
            let lines = super::lay_out(&probes, &Look { width, ..Look::default() });
            assert!(
                lines.iter().all(|line| line.chars().count() <= width)
                    && lines[0].contains("estimate"),
                "{}",
                lines.join("\n")
            );
        }
    }
}
