//! The series of the trials: throughput, or operations, over the time that was measured, one trial
//! after another.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::scene::Scene;
use super::stack::Section;
use crate::record::Sample;
use crate::tui::curves::Metric;
use crate::tui::plot::{Axis, Chart, Draw, Point, Scale, Series};
use crate::tui::results::trial_series::TrialSeries;
use crate::units::{column, show_nanos};

/// Returns the sections; none if no trial has two intervals, which the list of trials covers.
pub fn sections<'a>(
    s: Scene<'a>,
    series: Option<&'a TrialSeries>,
    height: u16,
) -> Vec<Section<'a>> {
    let Some(series) =
        series.filter(|series| series.trials.iter().any(|samples| samples.len() > 1))
    else {
        return Vec::new();
    };
    let metric = match super::trials::metric(s) {
        Metric::Cpu => Metric::Throughput,
        metric => metric,
    };
    let points = points(metric, series);
    let (factor, unit) = column::unit(
        points.iter().map(|point| point.y).filter(|y| y.is_finite()),
        metric.units(s.look.unit),
    );
    vec![
        Section::Lines(vec![s.heading(&format!("Over time, trial after trial, {unit}"))]),
        Section::Picture {
            height,
            draw: Box::new(move |area, buf| draw(s, &points, factor, area, buf)),
        },
    ]
}

/// Returns the rate of a sample, per second.
fn rate(metric: Metric, sample: &Sample) -> f64 {
    let amount = match metric {
        Metric::Throughput | Metric::Cpu => sample.bytes,
        Metric::SystemCalls => sample.syscalls,
        Metric::Operations | Metric::Commits | Metric::Latency => sample.ops,
    };
    if sample.nanos == 0 { f64::NAN } else { amount as f64 * 1e9 / sample.nanos as f64 }
}

/// Returns the rates over time in seconds, each from its interval start; gaps between trials.
fn points(metric: Metric, series: &TrialSeries) -> Vec<Point> {
    let (mut points, mut before) = (Vec::new(), 0.0);
    for trial in &series.trials {
        let at = |nanos: u64| before + nanos as f64 / 1e9;
        for sample in trial {
            points
                .push(Point::new(at(sample.at.saturating_sub(sample.nanos)), rate(metric, sample)));
        }
        let Some(last) = trial.last() else { continue };
        points.extend([Point::new(at(last.at), rate(metric, last)), Point::gap(at(last.at))]);
        before = at(last.at);
    }
    points
}

fn draw(s: Scene, points: &[Point], factor: f64, area: Rect, buf: &mut Buffer) {
    let hue = s.hue();
    let series =
        Series { style: s.look.series(hue), ..Series::new(s.look, 0, "", points).draw(Draw::Step) };
    let show = |value: f64| column::figure(value / factor);
    fn time(seconds: f64) -> String {
        match seconds == 0.0 {
            true => "0".into(),
            false => show_nanos(seconds * 1e9).replace(".00", "").replace(".0 ", " "),
        }
    }
    let end = points.last().map_or(1.0, |point| point.x).max(1e-3);
    let x = Axis::new(Scale::Linear, &time).between(0.0, end).time();
    let y = Axis::new(Scale::Linear, &show).round_in(factor);
    Chart::new(s.look, x, y, &[series]).render(area, buf);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_follow_each_other_with_a_gap() {
        let sample = |at, bytes| Sample { at, nanos: 100_000_000, bytes, ops: 1, syscalls: 2 };
        let series = TrialSeries {
            result: 0,
            trials: vec![
                vec![sample(100_000_000, 10), sample(200_000_000, 20)],
                vec![sample(100_000_000, 30)],
            ],
        };
        let found: Vec<(u64, Option<u64>)> = points(Metric::Throughput, &series)
            .iter()
            .map(|p| ((p.x * 10.0).round() as u64, p.y.is_finite().then(|| p.y.round() as u64)))
            .collect();
        assert_eq!(
            found,
            [
                (0, Some(100)),
                (1, Some(200)),
                (2, Some(200)),
                (2, None),
                (2, Some(300)),
                (3, Some(300)),
                (3, None)
            ]
        );
        assert_eq!(points(Metric::SystemCalls, &series)[0].y.round(), 20.0);
        assert!(rate(Metric::Throughput, &Sample::default()).is_nan());
    }
}
