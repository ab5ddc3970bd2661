//! A chart of plain characters, for text without pictures: a line of bars for each curve, all of a
//! figure on one scale.

use super::Look;
use super::figure::{self, Figure, FigureGroup, FigureOf, Panel};
use super::text::BARS;
use crate::analysis;
use crate::analysis::{CellResult, Metric};
use crate::session::Session;
use crate::units::Rates;

/// Returns whether a figure is drawn in text: not latencies, which tables list.
fn is_shown(figure: &Figure) -> bool {
    let is_listed = matches!(figure.of, FigureOf::Cells(Metric::Latency) | FigureOf::CommitTail);
    !figure.again && !is_listed
}

/// Builds the lines of the charts, each below a caption; none if nothing varies along an axis.
pub fn build_lines(session: &Session, results: &[CellResult]) -> Vec<String> {
    let groups = figure::job_groups(session, results, &Look::default());
    let mut lines = Vec::new();
    for group in &groups {
        for figure in group.figures.iter().filter(|figure| is_shown(figure)) {
            lines.extend(draw_chart(group, figure));
        }
    }
    lines
}

/// The values of one row along the axis.
type SparkRow = (String, Vec<(f64, f64)>);

fn collect_rows(group: &FigureGroup, panel: &Panel) -> Vec<SparkRow> {
    let named = |name: &str| {
        if panel.title.is_empty() { name.to_string() } else { format!("{name}, {}", panel.title) }
    };
    let curves = panel.curves.iter().map(|curve| {
        let name = group.keys.get(curve.key).map_or("", |key| key.name.as_str());
        (named(name), curve.points.iter().map(|point| (point.at, point.span.1)).collect())
    });
    curves
        .chain(panel.expected.iter().map(|line| (named(&line.name), line.points.clone())))
        .collect()
}

fn draw_chart(group: &FigureGroup, figure: &Figure) -> Vec<String> {
    let rows: Vec<SparkRow> =
        figure.panels.iter().flat_map(|panel| collect_rows(group, panel)).collect();
    let values = || {
        rows.iter()
            .flat_map(|(_, points)| points.iter().map(|(_, value)| *value))
            .filter(|v| v.is_finite() && *v > 0.0)
    };
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let places = &figure.across.places;
    let [first, .., last] = places.as_slice() else { return Vec::new() };
    if low > high {
        return Vec::new();
    }
    let bar = |value: f64| {
        let share = if high > low { (value / low).ln() / (high / low).ln() } else { 1.0 };
        BARS[(share * 7.0).round().clamp(0.0, 7.0) as usize]
    };
    let wide = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let show = |value: f64| match figure.of {
        FigureOf::Cells(metric) => metric.show(value, Rates::default()),
        _ => String::new(),
    };
    let (from, to) = ((figure.across.show)(*first), (figure.across.show)(*last));
    let mut lines = vec![format!(
        "{} from {from} to {to}; heights from {} to {}, logarithmic",
        figure.across.title,
        show(low),
        show(high)
    )];
    for (name, points) in &rows {
        let bar_at = |at: &f64| {
            points
                .iter()
                .find(|(place, value)| place == at && *value > 0.0)
                .map_or(' ', |(_, value)| bar(*value))
        };
        let bars: String = places.iter().map(bar_at).collect();
        lines.push(format!("{name:<wide$}  {bars}").trim_end().to_string());
    }
    let reasons = analysis::describe_lines(figure::estimates(&figure.panels));
    let reasons = reasons.replace("Dotted: estimates", "estimates are");
    lines.extend((!reasons.is_empty()).then_some(reasons));
    lines
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing;

    #[test]
    fn every_curve_becomes_a_line() {
        let session = testing::bounded(testing::quick());
        let results = analysis::results(&session);
        let lines = build_lines(&session, &results);
        assert!(
            lines[0].starts_with("block size from 4 KiB to") && lines[0].ends_with("logarithmic"),
            "{lines:?}"
        );
        let all: String = lines.concat();
        assert!(
            all.contains('▁') && all.contains('█') && all.contains("estimate: call and copy"),
            "{lines:?}"
        );
        assert!(
            lines.last().unwrap().starts_with("estimates are from the cheapest system call"),
            "{lines:?}"
        );
        assert!(lines.iter().filter(|line| line.starts_with("read")).count() >= 2, "{lines:?}");
        assert_eq!(
            super::build_lines(&session, &results[..1]),
            [""; 0],
            "one point makes no curve"
        );
        for (name, session) in testing::all() {
            let lines = super::build_lines(&session, &analysis::results(&session));
            assert!(
                lines.iter().all(|line| !line.contains("NaN") && !line.contains('\n')),
                "{name}"
            );
        }
    }
}
