//! The trials of a cell in the order they ran: as dots, and one by one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::stack::{Scene, Section};
use crate::curves::Metric;
use crate::plot::{Axis, Chart, Draw, Point, Rule, Scale, Series};
use crate::record::{Sample, Trial};
use crate::results::data::TrialSeries;
use crate::theme::Role;
use crate::units::{self, column, show_nanos};

/// Returns the metric of trials: the plotted one, if a single trial has a value of it.
pub(super) fn metric(s: Scene) -> Metric {
    match s.data.metric {
        Metric::Operations | Metric::Commits => Metric::Operations,
        Metric::SystemCalls => Metric::SystemCalls,
        Metric::Cpu if s.result.throughput.is_some() => Metric::Cpu,
        _ if s.result.throughput.is_some() => Metric::Throughput,
        _ => Metric::Operations,
    }
}

fn value(metric: Metric, trial: &Trial) -> f64 {
    match metric {
        Metric::Throughput => trial.throughput(),
        Metric::SystemCalls => trial.syscall_rate().unwrap_or(f64::NAN),
        Metric::Cpu if trial.bytes > 0 => {
            (trial.user_nanos + trial.system_nanos) as f64 / trial.bytes as f64
        }
        Metric::Cpu => f64::NAN,
        Metric::Operations | Metric::Commits | Metric::Latency => trial.operations(),
    }
}

pub fn sections(s: Scene<'_>, height: u16) -> Vec<Section<'_>> {
    let trials = &s.result.trials;
    if trials.is_empty() {
        return Vec::new();
    }
    let metric = metric(s);
    let outliers = s.result.outliers();
    let mut sections = vec![Section::Lines(vec![s.heading("Trials")])];
    if trials.len() > 1 {
        let outliers = outliers.clone();
        sections.push(Section::Picture {
            height,
            draw: Box::new(move |area, buf| dots(s, metric, &outliers, area, buf)),
        });
    }
    let values: Vec<Option<f64>> = trials.iter().map(|trial| Some(value(metric, trial))).collect();
    let (factor, unit) = column::unit(values.iter().flatten().copied(), metric.units(s.look.unit));
    let texts = column::align(&values, factor);
    let wide = texts.first().map_or(0, String::len).max(unit.chars().count());
    let title =
        format!("{:>5}  {unit:>wide$}  {:>9}  {:>9}  {:>9}", "round", "moved", "time", "device");
    sections.push(Section::Lines(vec![s.look.line(Role::Dim, title)]));
    let row = move |at: usize| {
        let trial = &trials[at];
        let device = trial.device_bytes.map_or("-".into(), units::show_bytes);
        let rest = format!(
            "  {:>9}  {:>9}  {device:>9}",
            units::show_bytes(trial.bytes),
            units::show_nanos(trial.nanos as f64)
        );
        let mut parts = vec![
            s.look.span(Role::Dim, format!("{:>5}  ", trial.round)),
            s.look.span(Role::Number, format!("{:>wide$}", texts[at])),
            s.look.span(Role::Text, rest),
        ];
        if outliers.binary_search(&at).is_ok() {
            parts.push(s.look.span(Role::Misleading, "  outlier"));
        }
        if trial.short {
            parts.push(s.look.span(Role::Dim, "  cut short"));
        }
        Line::from(parts)
    };
    sections.push(Section::Rows { count: trials.len(), row: Box::new(row) });
    sections
}

fn dots(s: Scene, metric: Metric, outliers: &[usize], area: Rect, buf: &mut Buffer) {
    let trials = &s.result.trials;
    let select = |pick: &dyn Fn(usize) -> bool| -> Vec<Point> {
        let point = |(at, trial): (usize, &std::sync::Arc<Trial>)| {
            pick(at).then(|| Point::new((at + 1) as f64, value(metric, trial)))
        };
        trials.iter().enumerate().filter_map(point).collect()
    };
    let is_outlier = |at: usize| outliers.binary_search(&at).is_ok();
    let plain = select(&|at| !is_outlier(at) && !trials[at].short);
    let apart = select(&is_outlier);
    let short = select(&|at| !is_outlier(at) && trials[at].short);
    let hue = s.hue();
    let dot = |points, style, marker| Series {
        name: "",
        points,
        style,
        marker,
        draw: Draw::Points,
        emphasis: false,
    };
    let all = [
        dot(plain.as_slice(), s.look.series(hue), s.look.ordinal(0)),
        dot(&short, s.look.style(Role::Dim), s.look.ordinal(4)),
        dot(&apart, s.look.style(Role::Misleading), '!'),
    ];
    let values = trials.iter().map(|trial| value(metric, trial)).filter(|value| value.is_finite());
    let (factor, unit) = column::unit(values, metric.units(s.look.unit));
    let show = |value: f64| column::figure(value / factor);
    fn number(at: f64) -> String {
        format!("{at:.0}")
    }
    let y = Axis::new(Scale::Linear, &show).loose().round_in(factor).title(unit);
    let x = Axis::new(Scale::Linear, &number).between(0.5, trials.len() as f64 + 0.5);
    let middle = metric.value_of(s.result).map_or(f64::NAN, |(median, ..)| median);
    let rules = [Rule { at: middle, label: "median", style: s.look.style(Role::Rule) }];
    Chart::new(s.look, x, y, &all).rules(&rules).render(area, buf);
}

/// Returns the chart over time, or nothing if each trial has one interval, as in the list above.
pub fn over_time<'a>(
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
    fn gaps_separate_trials() {
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
