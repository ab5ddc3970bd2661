//! Every trial over the time of the run, relative to the median of its cell, which shows a machine
//! that drifts or is disturbed.

use super::chart::{Chart, Dot, Position, Series, Style, Tick};
use super::charts::style;
use super::page::Page;
use crate::analysis::CellResult;
use crate::record::Trial;
use crate::report::figure::{Group, Key, Mark, Metric};
use crate::units::{self, show_count, show_nanos, show_rate};

/// More trials than this are thinned out evenly.
const MAX_TRIALS: usize = 3000;

/// One trial: its start in seconds, its ratio to the cell's median, and its series.
struct TrialPoint<'a> {
    seconds: f64,
    share: f64,
    series: usize,
    result: &'a CellResult,
    trial: &'a Trial,
}

/// Returns the chart; `None` if no cell has two trials, since each would be its own median.
pub fn chart<'a>(page: &'a Page) -> Option<Chart<'a>> {
    let all = trial_points(page);
    if !all.iter().any(|at| at.result.counted_trials().len() > 1) {
        return None;
    }
    let last = all.iter().map(|at| at.seconds).fold(0.0, f64::max);
    let far = all.iter().map(|at| at.share.log2().abs()).fold(0.1, f64::max).min(6.0) * 1.1;
    let (across_at, down) = (
        |seconds: f64| 2.0 + 96.0 * seconds / last.max(1e-9),
        |share: f64| 50.0 - 50.0 * (share.log2() / far).clamp(-1.0, 1.0),
    );
    let every = all.len().div_ceil(MAX_TRIALS).max(1);
    let mut series: Vec<Series> = Vec::new();
    for (index, name, color, line, mark) in series_keys(page) {
        let dots = all.iter().step_by(every).filter(|at| at.series == index).map(|at| Dot {
            x: across_at(at.seconds),
            y: Position { own: down(at.share), other: None },
            whisker: None,
            struck: at.trial.short,
            says: describe_trial(at),
        });
        let dots: Vec<Dot> = dots.collect();
        if !dots.is_empty() {
            series.push(Series { index, mark, name, color, line, joined: false, band: None, dots });
        }
    }
    let thin = if every > 1 { format!("; 1 in {every} is drawn") } else { String::new() };
    let short =
        if all.iter().any(|at| at.trial.short) { "; struck through: cut short" } else { "" };
    let across = time_ticks(last).into_iter();
    let across = across.map(|(at, label)| Tick { at: across_at(at), label, strong: false });
    let up = ratio_ticks(far).into_iter();
    let up = up.map(|(at, label)| Tick { at: down(at), label, strong: at == 1.0 });
    Some(Chart {
        id: "time".into(),
        title: "Trials over time".into(),
        about: format!("each relative to the median of its cell, logarithmic{short}{thin}"),
        across: across.collect(),
        up: up.collect(),
        other: None,
        series,
        wide: true,
    })
}

/// Returns the keys of the series of jobs of a group, those of bars last. No estimates stand beside
/// bars.
fn keys_of(group: &Group) -> impl Iterator<Item = &Key> {
    group.keys.iter().chain(group.bars.iter().flat_map(|bars| &bars.keys))
}

/// Returns every series of jobs: its number, name, colour, line and mark.
fn series_keys<'a>(page: &'a Page) -> Vec<(usize, &'a str, &'static str, Style, Mark)> {
    let groups = page.groups.iter().zip(&page.first);
    groups
        .flat_map(|(group, first)| {
            keys_of(group).enumerate().map(move |(at, key)| (first + at, key))
        })
        .map(|(index, key)| (index, key.name.as_str(), key.color(), style(key), key.mark))
        .collect()
}

/// Returns the results that are drawn, without duplicates, with the number of their series.
fn drawn_results(page: &Page) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (group, first) in page.groups.iter().zip(&page.first) {
        let figures = group.figures.iter().filter(|figure| figure.metric != Metric::Value);
        let curves = figures.flat_map(|figure| &figure.panels).flat_map(|panel| &panel.curves);
        all.extend(
            curves.flat_map(|curve| curve.points.iter().map(|point| (point.of, first + curve.key))),
        );
        // Bars of probes have no trials of jobs.
        let bars = group.bars.iter().filter(|bars| bars.jobs).flat_map(|bars| &bars.rows);
        let after = first + group.keys.len();
        all.extend(bars.map(|row| (row.point.of, after + row.key)));
    }
    all.sort_unstable();
    all.dedup_by_key(|(of, _)| *of);
    all
}

/// Returns the trials of all cells that are drawn, in the order of measurement.
fn trial_points<'a>(page: &'a Page) -> Vec<TrialPoint<'a>> {
    let mut all = Vec::new();
    for (of, series) in drawn_results(page) {
        let Some(result) = page.results.get(of) else { continue };
        let rate = |trial: &Trial| {
            if result.throughput.is_some() { trial.throughput() } else { trial.operations() }
        };
        let Some(median) = result.throughput.or(result.operations).map(|of| of.summary.median)
        else {
            continue;
        };
        for trial in &result.trials {
            let (share, seconds) = (rate(trial) / median, trial.evidence.started as f64 / 1e9);
            if share.is_finite() && share > 0.0 {
                all.push(TrialPoint { seconds, share, series, result, trial });
            }
        }
    }
    // Sessions without start times use the rounds.
    if all.iter().all(|at| at.seconds == 0.0) {
        all.iter_mut().for_each(|at| at.seconds = at.trial.round.into());
    }
    let first = all.iter().map(|at| at.seconds).fold(f64::MAX, f64::min);
    all.iter_mut().for_each(|at| at.seconds -= first);
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    all
}

fn describe_trial(at: &TrialPoint) -> Vec<String> {
    let rate = match at.result.throughput {
        Some(_) => show_rate(at.trial.throughput()),
        None => format!("{}/s", show_count(at.trial.operations())),
    };
    let (round, took) = (at.trial.round, show_nanos(at.trial.nanos as f64));
    let mut lines = vec![at.result.cell.label(), format!("{rate}, {:.2} x the median", at.share)];
    lines.push(format!("round {round}, {:.1} s into the run, took {took}", at.seconds));
    lines.extend(at.trial.short.then(|| "cut short".into()));
    lines
}

/// Returns the ticks of the time axis: 0, and a few more up to the last.
fn time_ticks(last: f64) -> Vec<(f64, String)> {
    let steps = [
        0.01, 0.05, 0.2, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0,
        7200.0, 21_600.0, 86_400.0,
    ];
    let step = steps.into_iter().find(|step| last / step <= 8.0).unwrap_or(last / 4.0);
    fn show(value: f64) -> String {
        if value < 100.0 {
            format!("{} s", (value * 100.0).round() / 100.0)
        } else {
            units::show_wait(std::time::Duration::from_secs_f64(value))
        }
    }
    (0..=8)
        .map(|i| f64::from(i) * step)
        .filter(|value| *value <= last)
        .map(|value| (value, show(value)))
        .collect()
}

/// Returns ratios on both sides of 1, up to `far` powers of two.
fn ratio_ticks(far: f64) -> Vec<(f64, String)> {
    let steps: &[f64] = match far {
        ..0.2 => &[1.05, 1.1],
        0.2..0.5 => &[1.1, 1.25],
        0.5..1.2 => &[1.25, 1.5, 2.0],
        1.2..3.0 => &[1.5, 2.0, 4.0],
        _ => &[2.0, 8.0, 32.0],
    };
    let inside = steps.iter().filter(|step| step.log2() < far);
    let both =
        inside.flat_map(|step| [(*step, format!("{step} x")), (1.0 / step, format!("1/{step} x"))]);
    std::iter::once((1.0, "median".to_string())).chain(both).collect()
}
