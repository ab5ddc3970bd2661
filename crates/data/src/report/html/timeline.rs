//! Every trial over the time of the run, relative to the median of its cell, which shows a machine
//! that drifts or is disturbed.

use std::io::{self, Write};

use super::chart::HtmlChart;
use super::page::HtmlPage;
use crate::analysis::CellResult;
use crate::record::Trial;
use crate::report::figure::{
    Across, Figure, FigureOf, FigurePoint, LegendKey, Panel, PanelCurve, ValueScale,
};
use crate::units::{show_count, show_nanos, show_rate};

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

/// The trials of a run as a figure.
pub struct TrialChart<'a> {
    trials: Vec<TrialPoint<'a>>,
    /// Every series of the page.
    keys: Vec<LegendKey>,
    pub figure: Figure,
}

impl<'a> TrialChart<'a> {
    /// Returns the trials over time; `None` if no cell has two trials, since each would be its own
    /// median.
    pub fn new(page: &'a HtmlPage) -> Option<TrialChart<'a>> {
        let trials = trial_points(page);
        if !trials.iter().any(|at| at.result.counted_trials().len() > 1) {
            return None;
        }
        let keys: Vec<LegendKey> =
            page.groups.iter().flat_map(|group| group.keys.clone()).collect();
        let figure = build_figure(&trials, keys.len());
        Some(TrialChart { trials, keys, figure })
    }

    /// Writes the chart.
    pub fn write(&self, id: String, out: &mut dyn Write) -> io::Result<()> {
        let describe = |_: &LegendKey, point: &FigurePoint| {
            self.trials.get(point.of).map(describe_trial).unwrap_or_default()
        };
        let (figure, keys) = (&self.figure, self.keys.as_slice());
        for panel in &figure.panels {
            let id = id.clone();
            HtmlChart { id, figure, panel, keys, first: 0, wide: true, describe: &describe }
                .write(out)?;
        }
        Ok(())
    }
}

fn build_figure(trials: &[TrialPoint], series: usize) -> Figure {
    let last = trials.iter().map(|at| at.seconds).fold(0.0, f64::max);
    let far = trials.iter().map(|at| at.share.log2().abs()).fold(0.1, f64::max).min(6.0) * 1.1;
    let every = trials.len().div_ceil(MAX_TRIALS).max(1);
    let mut curves: Vec<PanelCurve> =
        (0..series).map(|key| PanelCurve { key, points: Vec::new() }).collect();
    for (of, at) in trials.iter().enumerate().step_by(every) {
        let (span, wrong) = ((at.share, at.share, at.share), at.trial.short);
        let point = FigurePoint { at: at.seconds, span, expected: None, wrong, of };
        curves[at.series].points.push(point);
    }
    curves.retain(|curve| !curve.points.is_empty());
    let thin = if every > 1 { format!("; 1 in {every} is drawn") } else { String::new() };
    let is_cut = trials.iter().any(|at| at.trial.short);
    let short = if is_cut { "; struck through: cut short" } else { "" };
    Figure {
        of: FigureOf::Trials,
        title: "Trials over time".into(),
        about: format!("each trial relative to the median of its cell{short}{thin}"),
        units: &[(1.0, "x")],
        across: Across::seconds(last),
        scale: ValueScale::for_ratios(far),
        means: false,
        again: false,
        panels: vec![Panel { curves, ..Panel::default() }],
    }
}

/// Returns the results that are drawn, without duplicates, with the number of their series.
fn drawn_results(page: &HtmlPage) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (group, first) in page.groups.iter().zip(&page.first) {
        let figures = group.figures.iter().filter(|figure| figure.of != FigureOf::Probe);
        let curves = figures.flat_map(|figure| &figure.panels).flat_map(|panel| &panel.curves);
        all.extend(
            curves.flat_map(|curve| curve.points.iter().map(|point| (point.of, first + curve.key))),
        );
        // Bars of probes have no trials of jobs.
        let bars = group.bars.iter().filter(|bars| bars.jobs).flat_map(|bars| &bars.rows);
        all.extend(bars.map(|row| (row.point.of, first + row.key)));
    }
    all.sort_unstable();
    all.dedup_by_key(|(of, _)| *of);
    all
}

/// Returns the trials of all cells that are drawn, in the order of measurement.
fn trial_points<'a>(page: &'a HtmlPage) -> Vec<TrialPoint<'a>> {
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

/// Returns the read-out of a trial.
fn describe_trial(at: &TrialPoint) -> String {
    let rate = match at.result.throughput {
        Some(_) => show_rate(at.trial.throughput()),
        None => format!("{}/s", show_count(at.trial.operations())),
    };
    let (round, took) = (at.trial.round, show_nanos(at.trial.nanos as f64));
    let mut lines = vec![at.result.cell.label(), format!("{rate}, {:.2} x the median", at.share)];
    lines.push(format!("round {round}, {:.1} s into the run, took {took}", at.seconds));
    lines.extend(at.trial.short.then(|| "cut short".into()));
    lines.join("\n")
}
