//! A chart of plain characters, for text that holds no picture: a line of bars for each curve, all on one scale.

use super::svg::curves::curves;
use super::svg::expected;
use crate::session::{self, CellResult, Session};
use crate::units::{show_count, show_rate};

/// Heights of a bar; the estimates are dotted.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Curves that are drawn; more are no chart.
const MOST: usize = 24;

/// The lines of the chart with a line that says what it is; none where nothing varies along an axis.
pub fn lines(session: &Session, results: &[CellResult]) -> Vec<String> {
    if results.is_empty() {
        return Vec::new();
    }
    let (axis, all) = curves(results);
    let bytes = all.iter().all(|curve| curve.bytes);
    let dotted = if bytes { expected(session, results, axis) } else { Vec::new() };
    let measured = all.iter().take(MOST).map(|curve| {
        let points = curve.points.iter().filter_map(|point| Some((point.at, point.rate?.1)));
        (curve.name.clone(), points.collect::<Vec<_>>())
    });
    let rows: Vec<(String, Vec<(f64, f64)>)> = measured.chain(dotted.iter().map(|line| (line.name.clone(), line.points.clone()))).collect();
    let mut places: Vec<f64> = rows.iter().flat_map(|(_, points)| points.iter().map(|(at, _)| *at)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let values = || rows.iter().flat_map(|(_, points)| points.iter().map(|(_, value)| *value)).filter(|v| v.is_finite() && *v > 0.0);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    if places.len() < 2 || low > high {
        return Vec::new();
    }
    let bar = |value: f64| {
        let share = if high > low { (value / low).ln() / (high / low).ln() } else { 1.0 };
        BARS[(share * 7.0).round().clamp(0.0, 7.0) as usize]
    };
    let wide = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let show = |value: f64| if bytes { show_rate(value) } else { format!("{}/s", show_count(value)) };
    let (from, to) = (axis.show(places[0] as u64), axis.show(places[places.len() - 1] as u64));
    let mut lines = vec![format!("{} from {from} to {to}; heights from {} to {}, logarithmic", axis.title(), show(low), show(high))];
    for (name, points) in rows {
        let one = |at: &f64| points.iter().find(|(place, value)| place == at && *value > 0.0).map_or(' ', |(_, value)| bar(*value));
        let bars: String = places.iter().map(one).collect();
        lines.push(format!("{name:<wide$}  {bars}").trim_end().to_string());
    }
    let reasons = session::estimate_reasons(&dotted).replace("Dotted: estimates", "estimates are");
    lines.extend((!reasons.is_empty()).then_some(reasons));
    lines
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn every_curve_is_a_line_of_bars_on_one_scale() {
        let session = sample::bounded(sample::quick());
        let results = session::results(&session);
        let lines = lines(&session, &results);
        assert!(lines[0].starts_with("block size from 4 KiB to") && lines[0].ends_with("logarithmic"), "{lines:?}");
        let all: String = lines.concat();
        assert!(all.contains('▁') && all.contains('█') && all.contains("estimate: call and copy"), "{lines:?}");
        assert!(lines.last().unwrap().starts_with("estimates are from the cheapest system call"), "{lines:?}");
        assert!(lines.iter().filter(|line| line.starts_with("read")).count() >= 2, "{lines:?}");
        assert_eq!(super::lines(&session, &results[..1]), [""; 0], "a point is no curve");
        for (name, session) in sample::all() {
            let lines = super::lines(&session, &session::results(&session));
            assert!(lines.iter().all(|line| !line.contains("NaN") && !line.contains('\n')), "{name}");
        }
    }
}
