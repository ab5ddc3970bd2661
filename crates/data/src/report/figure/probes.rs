//! The figures of probes: a curve over the varying numeric parameter, and a bar for each cell
//! without a curve.

use std::collections::HashSet;

use super::facets::index_or_insert;
use super::model::{
    Figure, FigureBar, FigureBars, FigureGroup, FigureOf, FigurePoint, LegendKey, LineStyle, Panel,
    PanelCurve, about, points,
};
use super::scale::{Across, ValueScale, ValueSpan, is_drawable};
use crate::analysis::{ProbeCurves, ProbeResult, capitalize, group_by_key};
use crate::plan::ProbeCell;
use crate::record::Unit;
use crate::report::Look;
use crate::units::column::{PER_SECOND, TIME, Unit as Shown};
use crate::units::{self, ticks};

/// Curves of one panel; marks distinguish equal colours. Further curves go to further panels.
const MAX_CURVES: usize = 8;

const SIZE: &[Shown] = &[
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
];

pub fn groups(results: &[ProbeResult], look: &Look) -> Vec<FigureGroup> {
    let drawn = results.iter().filter(|result| result.value.is_some() && result.error.is_none());
    let mut on_curves: HashSet<usize> = HashSet::new();
    let mut groups = Vec::new();
    for (probe, _) in group_by_key(drawn, |result| result.cell.probe.as_str()) {
        if let Some(curves) = ProbeCurves::from_results(probe, results) {
            on_curves.extend(curves.curves.iter().flat_map(|curve| curve.results.iter().copied()));
            groups.extend(group(&curves, results, look));
        }
    }
    for (unit, title) in [
        (Unit::Nanos, "Times"),
        (Unit::BytesPerSecond, "Bandwidth"),
        (Unit::PerSecond, "Rates"),
        (Unit::Bytes, "Sizes"),
    ] {
        let unplaced: Vec<usize> = (0..results.len())
            .filter(|of| !on_curves.contains(of) && results[*of].unit == Some(unit))
            .collect();
        groups.extend(bars(results, &unplaced, unit, title, look));
    }
    groups
}

fn units_of(unit: Unit, look: &Look) -> &'static [Shown] {
    match unit {
        Unit::Nanos => TIME,
        Unit::BytesPerSecond => look.unit.units(),
        Unit::PerSecond => PER_SECOND,
        Unit::Bytes => SIZE,
    }
}

fn point(result: &ProbeResult, of: usize, at: f64) -> Option<FigurePoint> {
    let summary = result.value.filter(|_| result.error.is_none())?.summary;
    let middle = summary.median;
    let span = (summary.low.unwrap_or(middle).max(0.0), middle, summary.high.unwrap_or(middle));
    let expected = result.estimate.as_ref().map(|estimate| (estimate.low, estimate.high));
    let expected = expected.filter(|(low, high)| *low > 0.0 && high.is_finite());
    let wrong = result.wrong().is_some();
    is_drawable(&span).then_some(FigurePoint { at, span, expected, wrong, of })
}

/// Adds reported values, in a neutral colour: after the curves, so that their keys come
/// last. Returns their names.
fn add_marks(panels: &mut [Panel], curves: usize, results: &[ProbeResult]) -> Vec<String> {
    let mut reporters = Vec::new();
    for panel in panels {
        let known = panel.curves.iter().flat_map(|curve| &curve.points);
        let marks = known.flat_map(|known| {
            results[known.of].reference.iter().map(|other| {
                let span = (other.value, other.value, other.value);
                let mark = FigurePoint { span, expected: None, wrong: true, ..known.clone() };
                (other.session.clone(), mark)
            })
        });
        for (session, marks) in group_by_key(marks, |(session, _)| session.clone()) {
            let key = curves + index_or_insert(&mut reporters, session);
            let points = marks.into_iter().map(|(_, mark)| mark).collect();
            panel.curves.push(PanelCurve { key, points });
        }
    }
    reporters
}

fn group(all: &ProbeCurves, results: &[ProbeResult], look: &Look) -> Option<FigureGroup> {
    let mut keys = Vec::new();
    let mut panels: Vec<Panel> = Vec::new();
    for (index, curve) in all.curves.iter().enumerate() {
        let points: Vec<FigurePoint> = curve
            .results
            .iter()
            .filter_map(|of| point(&results[*of], *of, all.value_of(&results[*of].cell)))
            .collect();
        if points.is_empty() {
            continue;
        }
        if index % MAX_CURVES == 0 || panels.is_empty() {
            panels.push(Panel::default());
        }
        keys.push(LegendKey::ordinal(curve.name.clone(), index % MAX_CURVES, LineStyle::Solid));
        let panel = panels.last_mut()?;
        panel.curves.push(PanelCurve { key: keys.len() - 1, points });
    }
    let reporters = add_marks(&mut panels, keys.len(), results);
    // A curve needs a name only if there are others.
    let unnamed = keys.iter_mut().filter(|key| key.name.is_empty() && !reporters.is_empty());
    unnamed.for_each(|key| key.name = "this run".into());
    let reported = (1..).zip(&reporters);
    keys.extend(
        reported.map(|(at, name)| {
            LegendKey::ordinal(format!("reported: {name}"), at, LineStyle::Marks)
        }),
    );
    let spans: Vec<ValueSpan> = points(&panels)
        .flat_map(|point| [Some(point.span), point.expected.map(|(low, high)| (low, low, high))])
        .flatten()
        .collect();
    let scale = ValueScale::for_values(spans, look.scale, units_of(all.unit, look))?;
    let places: Vec<f64> = points(&panels).map(|point| point.at).collect();
    let (axis, sizes) = (all.axis.as_str(), all.axis == "bytes");
    // Processes are counted in small numbers, not doubled.
    let log = sizes
        || places.iter().all(|at| *at >= 1.0)
            && places.iter().fold(0.0, |a: f64, b| a.max(*b)) > 16.0;
    let by = if sizes { "size" } else { axis };
    let across = Across::new(by.to_string(), log, places.into_iter(), move |at| {
        if sizes { units::show_bytes(at as u64) } else { ticks::label(at) }
    });
    let title = format!("{} by {by}", capitalize(&all.title));
    let figure = Figure {
        of: FigureOf::Probe,
        title: title.clone(),
        about: about(points(&panels)).into(),
        units: units_of(all.unit, look),
        across,
        scale,
        means: false,
        again: false,
        panels,
    };
    Some(FigureGroup { title, keys, figures: vec![figure], bars: None })
}

fn bars(
    results: &[ProbeResult],
    indexes: &[usize],
    unit: Unit,
    title: &str,
    look: &Look,
) -> Option<FigureGroup> {
    let bar = |of: &usize| {
        let result = &results[*of];
        let point = point(result, *of, 0.0)?;
        let show = match unit {
            Unit::BytesPerSecond => look.unit.show(point.span.1),
            _ => unit.show(point.span.1),
        };
        let reported =
            result.reference.iter().map(|known| (known.session.clone(), known.value)).collect();
        Some(FigureBar { key: 0, label: label(&result.cell), point, show, reported })
    };
    let rows: Vec<FigureBar> = indexes.iter().filter_map(bar).collect();
    fn ends(row: &FigureBar) -> Vec<(f64, f64, f64)> {
        let reported = row.reported.iter().map(|(_, value)| (*value, *value, *value));
        let expected = row.point.expected.map(|(low, high)| (low, low, high));
        reported.chain(expected).chain([row.point.span]).collect::<Vec<_>>()
    }
    let scale =
        ValueScale::for_values(rows.iter().flat_map(ends), look.scale, units_of(unit, look))?;
    let keys = vec![LegendKey::ordinal(title.into(), 0, LineStyle::Solid)];
    let bars = Some(FigureBars { title: title.into(), jobs: false, scale, rows });
    Some(FigureGroup { title: title.into(), keys, figures: Vec::new(), bars })
}

fn label(cell: &ProbeCell) -> String {
    // A word that repeats the probe adds nothing: `fork fork`.
    let words = cell.short_words().into_iter().filter(|word| *word != cell.probe);
    [cell.probe.clone()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_repeat_the_probe() {
        assert_eq!(
            label(&ProbeCell::new("fork", [("how", crate::plan::Param::Text("fork".into()))])),
            "fork"
        );
        assert_eq!(
            label(&ProbeCell::new("fork", [("how", crate::plan::Param::Text("vfork".into()))])),
            "fork vfork"
        );
    }
}
