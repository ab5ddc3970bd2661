//! Everything Live draws of a run, updated by engine events. A copy of it is a frozen picture.

use std::collections::VecDeque;
use std::sync::Arc;

use super::counter::Counter;
use super::heat::LiveHeat;
use super::phases::Phases;
use super::rows::Picture;
use super::run_warnings::RunWarnings;
use super::series::{Measure, TrialSeries, per_second};
use super::strip;
use crate::analysis::{Axis, Bounds, SKIPPED_BY_USER, Sign, Signs};
use crate::catalog::moves_data;
use crate::curves::{self, Curve, Expected, Metric};
use crate::plan::{Job, Plan, ProbeCell};
use crate::record::{
    End, Grounds, LaneSample, Latency, Measured, Phase, Progress, Sample, SampleParts, Severity,
    Source, Trial, Verdict, judge_job,
};

/// The last trial, with the figures that only a finished trial has.
#[derive(Debug, Clone, PartialEq)]
pub struct LastTrial {
    pub cell: u32,
    pub round: u32,
    pub rate: f64,
    pub source: Option<Source>,
    /// CPU time per wall time of the trial: above 1 with several threads.
    pub user: f64,
    pub system: f64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub latency: Option<Arc<Latency>>,
    /// Commits per second, if the cell commits; `latency` is then per commit.
    pub commits: Option<f64>,
}

/// The work of each lane in the last second of the current trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recent {
    /// The cell of the trial.
    pub cell: Option<u32>,
    samples: VecDeque<(u64, Vec<LaneSample>)>,
    /// The trial is running; otherwise these are the last values of the previous one.
    pub fresh: bool,
}

/// Number of samples in a second.
const RECENT_SAMPLES: usize = 10;

impl Recent {
    fn push(&mut self, cell: u32, sample: &Sample, lanes: Vec<LaneSample>) {
        self.cell = Some(cell);
        if !self.fresh
            || self.samples.front().is_some_and(|(_, previous)| previous.len() != lanes.len())
        {
            self.samples.clear();
        }
        self.fresh = true;
        self.samples.push_back((sample.nanos, lanes));
        if self.samples.len() > RECENT_SAMPLES {
            self.samples.pop_front();
        }
    }

    fn nanos(&self) -> u64 {
        self.samples.iter().map(|(nanos, _)| *nanos).fold(0, u64::saturating_add)
    }

    /// Returns the rate of all lanes together, per second; `None` before the first sample.
    pub fn rate(&self, of: fn(&LaneSample) -> u64) -> Option<f64> {
        let lanes = self.samples.iter().flat_map(|(_, lanes)| lanes);
        let all = lanes.map(of).fold(0, u64::saturating_add);
        (!self.samples.is_empty()).then(|| per_second(all, self.nanos()))
    }

    /// Returns the rate of each lane, per second.
    pub fn lanes(&self, of: fn(&LaneSample) -> u64) -> Vec<f64> {
        let count = self.samples.front().map_or(0, |(_, lanes)| lanes.len());
        let sum = |lane: usize| {
            let samples = self.samples.iter().filter_map(|(_, lanes)| lanes.get(lane));
            samples.map(of).fold(0, u64::saturating_add)
        };
        let nanos = self.nanos();
        (0..count).map(|lane| per_second(sum(lane), nanos)).collect()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunView {
    pub plan: Arc<Plan>,
    pub target: String,
    /// Colour and markers of each cell.
    pub signs: Vec<Sign>,
    /// Seconds of the run, without pauses.
    pub now: f64,
    pub series: TrialSeries,
    pub phases: Phases,
    pub axis: Axis,
    pub curves: Vec<Curve>,
    pub picture: Picture,
    question: Option<String>,
    /// Estimates, available once the ceilings of the machine are known.
    pub expected: Vec<Expected>,
    /// Bytes per second that machine and disk reach at most, by name.
    pub ceilings: Vec<(&'static str, f64)>,
    /// Cells that have a result, of jobs and of probes.
    pub known: usize,
    /// Cells whose interval is as narrow as the goal of the run.
    pub narrow: usize,
    /// Finished trials of all cells.
    pub trials: u64,
    pub progress: Option<Progress>,
    /// When it was reported.
    progress_at: f64,
    /// When the last sample came.
    sampled_at: f64,
    /// The largest completed share that was shown: a step that is repeated takes nothing back.
    reached: f64,
    pub recent: Recent,
    pub heat: LiveHeat,
    pub last: Option<LastTrial>,
    pub warnings: RunWarnings,
    /// Samples that did not reach the screen.
    pub dropped: u64,
    /// Why the run ended, once it has.
    pub outcome: Option<End>,
}

impl RunView {
    /// Returns the question of the run, else how its picture is ordered.
    pub fn title(&self) -> String {
        self.question.clone().unwrap_or_else(|| match self.picture {
            Picture::Curves => format!("By {}", self.axis.title()),
            _ => "So far".into(),
        })
    }

    pub fn new(plan: Arc<Plan>) -> RunView {
        let axis = curves::axis_of_curves(plan.cells.iter());
        let signs = Signs::new(&plan.cells, axis);
        RunView {
            signs: plan.cells.iter().map(|job| signs.of(job)).collect(),
            target: crate::session_view::describe_targets(&plan),
            now: 0.0,
            series: TrialSeries::default(),
            phases: Phases::default(),
            axis,
            curves: Vec::new(),
            picture: Picture::default(),
            question: plan.question(),
            expected: Vec::new(),
            ceilings: Vec::new(),
            known: 0,
            narrow: 0,
            trials: 0,
            progress: None,
            progress_at: 0.0,
            sampled_at: 0.0,
            reached: 0.0,
            recent: Recent::default(),
            heat: LiveHeat::default(),
            last: None,
            warnings: RunWarnings::default(),
            dropped: 0,
            outcome: None,
            plan,
        }
    }

    pub fn job(&self, cell: u32) -> Option<&Job> {
        self.plan.cells.get(cell as usize)
    }

    /// Returns the name of a step.
    pub fn label(&self, step: RunStep) -> Option<String> {
        match step {
            RunStep::Cell(cell) => self.job(cell).map(Job::label),
            RunStep::Probe(probe) => self.plan.probes.get(probe as usize).map(ProbeCell::label),
        }
    }

    pub fn sign(&self, cell: u32) -> Option<Sign> {
        self.signs.get(cell as usize).copied()
    }

    /// Returns the colour of the cell's backend.
    pub fn hue(&self, cell: u32) -> usize {
        self.sign(cell).map_or(0, |sign| sign.hue())
    }

    /// Returns the current cell.
    pub fn cell(&self) -> Option<u32> {
        self.progress.and_then(|progress| progress.cell)
    }

    pub fn phase(&self) -> Option<Phase> {
        self.progress.map(|progress| progress.phase)
    }

    /// Returns what the upper chart shows: bytes, or operations if no cell moves any.
    pub fn measure(&self) -> Measure {
        if self.plan.cells.iter().any(moves_data) { Measure::Bytes } else { Measure::Operations }
    }

    pub fn metric(&self) -> Metric {
        self.measure().metric()
    }

    /// Sets the ceilings that results are compared with, and the estimates from them.
    pub fn set_bounds(&mut self, bounds: &Bounds) {
        if self.metric() == Metric::Throughput {
            self.ceilings = bounds.lines();
            self.expected =
                curves::expected_line(self.plan.cells.iter(), self.axis, self.metric(), bounds);
        }
    }

    /// Returns the completed share (0 to 1) and the seconds left, extrapolated from the last
    /// report. The share never falls, whatever a report says.
    pub fn estimate_progress(&self) -> Option<(f64, f64)> {
        let progress = self.progress?;
        let estimated = progress.left as f64 / 1e9;
        let left = (estimated - (self.now - self.progress_at).max(0.0)).max(0.0);
        let rest = 1.0 - progress.share.clamp(0.0, 1.0);
        let share = if estimated > 0.0 { 1.0 - rest * left / estimated } else { progress.share };
        // The budget of a run with a goal is only its limit.
        let (share, left) = if self.has_goal() && left > 0.0 {
            (share.max(self.narrow as f64 / self.plan.cells.len().max(1) as f64), f64::NAN)
        } else {
            (share, left)
        };
        Some((share.max(self.reached).clamp(0.0, 1.0), left))
    }

    /// Returns whether the run ends once every interval is narrow enough.
    pub fn has_goal(&self) -> bool {
        self.plan.until && self.plan.trials.is_none()
    }

    /// Returns the progress of the run.
    pub fn counter(&self) -> Counter {
        let estimate = self.estimate_progress();
        let is_trial = self.outcome.is_none() && self.cell().is_some();
        Counter {
            trial: self.trials + u64::from(is_trial),
            known: self.known,
            cells: self.plan.cells.len() + self.plan.probes.len(),
            share: estimate.map_or(0.0, |(share, _)| share),
            left: estimate
                .map(|(_, left)| left)
                .filter(|left| self.outcome.is_none() && left.is_finite()),
            is_limit: self.plan.has_goal(),
        }
    }

    /// Returns whether the spread of these rates so far needs a logarithmic axis.
    pub fn needs_log(&self, measure: Measure) -> bool {
        strip::needs_log(self.series.extremes(measure))
    }

    /// Returns the seconds the step has run without a sample.
    pub fn idle_seconds(&self) -> f64 {
        if self.series.is_open() { 0.0 } else { self.now - self.progress_at }
    }

    /// Returns the seconds since the last sample of a trial that has begun.
    pub fn quiet_seconds(&self) -> f64 {
        if self.series.is_open() { self.now - self.sampled_at } else { 0.0 }
    }

    pub fn apply_progress(&mut self, progress: Progress) {
        self.phases.begin(progress.phase, self.now, self.series.reached() as f64 / 1e9);
        if progress.phase == Phase::Pause {
            // It will be repeated in full.
            self.series.discard_trial();
            self.heat.discard_trial();
        }
        self.series.end_trial();
        if Some((progress.cell, progress.phase)) != self.progress.map(|p| (p.cell, p.phase)) {
            self.recent.fresh = false;
        }
        self.reached = self.estimate_progress().map_or(0.0, |(share, _)| share);
        self.progress = Some(progress);
        self.progress_at = self.now;
    }

    /// Adds a sample of a trial, which its cell and its round name.
    pub fn push_sample(&mut self, (cell, round): (u32, u32), sample: &Sample, parts: SampleParts) {
        self.sampled_at = self.now;
        self.series.push(sample, cell);
        self.recent.push(cell, sample, parts.lanes);
        self.heat.add_sample((cell, round), sample.at, parts.log);
    }

    /// Ends the current trial.
    pub fn finish_trial(&mut self, trial: &Trial) {
        let Trial { nanos, bytes, ops, syscalls, .. } = *trial;
        if !self.series.is_open() {
            // Too short for a sample, or all samples were dropped.
            let sample =
                Sample { at: nanos, nanos, bytes, ops, syscalls: syscalls.get().unwrap_or(0) };
            self.series.push(&sample, trial.cell);
        }
        self.series.end_trial();
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        self.phases.end_trial(self.now, seconds(nanos), seconds(trial.verify_nanos()));
        self.trials += 1;
        self.recent.fresh = false;
    }

    /// Returns what the time went to, up to now.
    pub fn spent(&self) -> Phases {
        match self.outcome {
            Some(_) => self.phases.clone(),
            None => self.phases.until(self.now, self.series.reached() as f64 / 1e9),
        }
    }

    /// Shows the last trial; `first`: it is the first of its cell, so its verdict is applied.
    pub fn show_last(
        &mut self,
        trial: &Arc<Trial>,
        latency: Option<Arc<Latency>>,
        grounds: Option<&Grounds>,
        first: bool,
    ) {
        let job = self.plan.cells.get(trial.cell as usize).cloned();
        let verdict = job.as_ref().zip(grounds).map(|(job, grounds)| {
            let trials = [Arc::clone(trial)];
            let measured = Measured {
                trials: &trials,
                latency: latency.as_deref(),
                service: None,
                commits: None,
                once: false,
            };
            judge_job(job, &measured, grounds)
        });
        if let Some(verdict) = verdict.as_ref().filter(|_| first) {
            self.warnings.apply_verdict(trial.cell, verdict);
        }
        let share =
            |nanos: u64| if trial.nanos == 0 { 0.0 } else { nanos as f64 / trial.nanos as f64 };
        self.last = Some(LastTrial {
            cell: trial.cell,
            round: trial.round,
            rate: if self.measure() == Measure::Bytes {
                trial.throughput()
            } else {
                trial.operations()
            },
            source: verdict.and_then(|verdict| verdict.source),
            user: share(trial.user_nanos),
            system: share(trial.system_nanos),
            minor_faults: trial.minor_faults,
            major_faults: trial.major_faults,
            latency,
            commits: job.filter(Job::commits).map(|job| job.commits_in(trial.operations())),
        });
    }

    pub fn apply_verdict(&mut self, cell: u32, verdict: &Verdict) {
        self.warnings.apply_verdict(cell, verdict);
    }

    pub fn add_failure(&mut self, cell: u32, error: &str) {
        let label = self.job(cell).map(Job::label).unwrap_or_default();
        self.warnings.add_note(Severity::Wrong, &format!("{label}: {error}"));
    }

    pub fn add_skip(&mut self, cell: u32) {
        let label = self.job(cell).map(Job::label).unwrap_or_default();
        self.warnings.add_note(Severity::Note, &format!("{label}: {SKIPPED_BY_USER}"));
    }

    /// Marks the run as ended.
    pub fn finish(&mut self, end: Option<End>) {
        let share = match end {
            Some(End::Finished | End::Goal | End::Budget) => 1.0,
            _ => self.estimate_progress().map_or(0.0, |(share, _)| share),
        };
        self.phases = self.spent();
        self.outcome = end.or(Some(End::Failed));
        if let Some(progress) = &mut self.progress {
            (progress.share, progress.left) = (share, 0);
        }
        self.recent.fresh = false;
    }

    /// Returns in a word why the run ended, once it has.
    pub fn describe_end_briefly(&self) -> Option<&'static str> {
        Some(match self.outcome? {
            End::Finished | End::Goal | End::Budget => "done",
            End::Interrupted => "stopped",
            End::Failed => "failed",
        })
    }

    /// Returns why the run ended, once it has.
    pub fn describe_end(&self) -> Option<&'static str> {
        Some(match self.outcome? {
            End::Finished => "done",
            End::Budget => "done: the time budget is used up",
            End::Goal if self.plan.settles().is_some() => "done: the answer is settled",
            End::Goal => "done: every interval is narrow enough",
            End::Interrupted => "stopped before the end",
            End::Failed => "failed before the end",
        })
    }
}

/// A cell or a probe, by its index in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStep {
    Cell(u32),
    Probe(u32),
}

impl RunStep {
    pub fn from_progress(progress: &Progress) -> Option<RunStep> {
        progress.cell.map(RunStep::Cell).or(progress.probe.map(RunStep::Probe))
    }

    pub fn index(self) -> u32 {
        let (RunStep::Cell(index) | RunStep::Probe(index)) = self;
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_always_numbers() {
        let mut recent = Recent::default();
        for _ in 0..2 {
            let lane = LaneSample { bytes: u64::MAX, ..LaneSample::default() };
            let sample = Sample { nanos: u64::MAX, ..Sample::default() };
            recent.push(0, &sample, vec![lane; 2]);
        }
        let bytes = |lane: &LaneSample| lane.bytes;
        assert!(recent.rate(bytes).is_some_and(f64::is_finite));
        assert!(recent.lanes(bytes).into_iter().all(f64::is_finite));
    }
}
