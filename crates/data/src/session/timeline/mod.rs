//! A kept session as the events of its run, in their order and at their times.
//!
//! Trials and samples are kept with their times. What is kept without one (a calibration, a note, a
//! pick) happened between the trials around its line, and is placed there.

mod read;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

pub use read::{DEMO_ID, demo, demo_lines, timeline};

use super::Session;
use crate::plan::Plan;
use crate::record::{
    EncodedLog, End, Event, LaneSample, Latency, Phase, Progress, Sample, Trial, Verdict,
};

/// The longest time without a trial that is kept, nanoseconds: a pause may take hours.
const MAX_GAP: u64 = 10_000_000_000;
/// The longest preparation or trial that is kept, nanoseconds. A file may come from anyone, and the
/// sum of all must not overflow.
const MAX_STEP: u64 = 3_600_000_000_000;

/// An event at its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// The scratch file is filled, or the machine's ceilings are measured.
    Begin,
    /// A cell is calibrated before this trial.
    Calibrate {
        cell: u32,
        before: u32,
    },
    /// A trial is prepared, then runs.
    Start(u32),
    Sample {
        trial: u32,
        sample: u32,
    },
    Trial(u32),
    Other(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    /// Nanoseconds since the start.
    at: u64,
    what: What,
}

/// Events that the session does not hold, each with the number of trials before it.
#[derive(Debug, Default)]
struct Marks {
    calibrated: Vec<(usize, u32)>,
    others: Vec<(usize, Event)>,
    /// The first line that reports the failure of a cell.
    failed: Vec<(usize, u32)>,
}

/// The events of a run, with their times.
#[derive(Debug, Clone)]
pub struct Timeline {
    plan: Arc<Plan>,
    moments: Vec<Moment>,
    trials: Vec<Arc<Trial>>,
    samples: Vec<Sample>,
    others: Vec<Event>,
    latencies: Vec<Option<Arc<Latency>>>,
    /// Differences from the original run, in one sentence.
    remark: Option<String>,
}

impl Timeline {
    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.moments.len()
    }

    pub fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// Returns the time of the last event.
    pub fn length(&self) -> Duration {
        Duration::from_nanos(self.total())
    }

    fn total(&self) -> u64 {
        self.moments.last().map_or(0, |last| last.at)
    }

    /// Returns the time of an event; `None` after the last one.
    pub fn time(&self, index: usize) -> Option<Duration> {
        self.moments.get(index).map(|moment| Duration::from_nanos(moment.at))
    }

    /// Names the missing parts: the run was killed, or its samples are not kept.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// Returns an event as the engine reported it; `None` after the last one.
    pub fn event(&self, index: usize) -> Option<Event> {
        let moment = self.moments.get(index)?;
        Some(match moment.what {
            What::Begin => self.progress(moment.at, self.first_phase(), None, 0),
            What::Calibrate { cell, before } => {
                let round = self.trials.get(before as usize).map_or(1, |trial| trial.round);
                self.progress(moment.at, Phase::Calibrate, Some(cell), round)
            }
            What::Start(trial) => {
                let trial = &self.trials[trial as usize];
                self.progress(moment.at, Phase::Trial, Some(trial.cell), trial.round)
            }
            What::Sample { trial, sample } => {
                let (trial, sample) = (&self.trials[trial as usize], self.samples[sample as usize]);
                let Sample { bytes, ops, syscalls, .. } = sample;
                // The parts of the lanes are not kept.
                let parts = vec![LaneSample { bytes, ops, syscalls }].into();
                Event::Sample { cell: trial.cell, round: trial.round, sample, parts }
            }
            What::Trial(trial) => {
                let trial = Arc::clone(&self.trials[trial as usize]);
                let latency = self.latencies.get(trial.cell as usize).cloned().flatten();
                Event::Trial { trial, samples: Vec::new(), latency }
            }
            What::Other(other) => self.others[other as usize].clone(),
        })
    }

    fn first_phase(&self) -> Phase {
        if self.plan.target.is_ours() { Phase::Fill } else { Phase::Machine }
    }

    fn progress(&self, at: u64, phase: Phase, cell: Option<u32>, round: u32) -> Event {
        let total = self.total();
        let share = if total == 0 { 1.0 } else { at as f64 / total as f64 };
        let left = total.saturating_sub(at);
        Event::Progress(Progress { phase, cell, probe: None, round, share, left })
    }
}

#[cfg(any(test, feature = "testing"))]
impl Timeline {
    /// Returns the events of a session in memory, without samples.
    pub fn of(session: &Session) -> Timeline {
        place(session, Marks::default(), Vec::new())
    }
}

/// Places the events of a session in time. `samples` has the samples of each trial.
fn place(session: &Session, marks: Marks, samples: Vec<Vec<Sample>>) -> Timeline {
    let mut placing = Placing::new(session, marks);
    placing.put(What::Begin);
    for (index, trial) in session.trials.iter().enumerate() {
        placing.put_between(index, trial);
        placing.put_trial(index, trial, samples.get(index).map_or(&[], Vec::as_slice));
    }
    placing.put_rest(session);
    let has_samples = !placing.samples.is_empty();
    Timeline {
        plan: Arc::new(session.plan.clone()),
        moments: placing.moments,
        trials: session.trials.clone(),
        samples: placing.samples,
        others: placing.others,
        latencies: session.verdicts.iter().map(latency_of).collect(),
        remark: describe(session, has_samples),
    }
}

fn latency_of(verdict: &Option<Arc<Verdict>>) -> Option<Arc<Latency>> {
    verdict.as_ref()?.latency.clone().map(Arc::new)
}

fn describe(session: &Session, has_samples: bool) -> Option<String> {
    match session.end {
        _ if session.lost > 0 => Some("its file is damaged: what is left was replayed".into()),
        None => Some("the run was killed: its file ends here".into()),
        Some(End::Failed) => Some("the run failed here".into()),
        Some(_) if !has_samples => {
            Some("its samples are not kept: it was replayed trial by trial".into())
        }
        Some(_) => None,
    }
}

/// A timeline that is being made.
struct Placing {
    moments: Vec<Moment>,
    samples: Vec<Sample>,
    others: Vec<Event>,
    /// Nanoseconds since the start.
    now: u64,
    /// The end of the last trial, on the session's clock.
    ended: u64,
    /// Per cell, its last trial.
    last_trials: Vec<Option<usize>>,
    verdicts: Vec<Option<Arc<Verdict>>>,
    errors: Vec<Option<String>>,
    /// Latencies over time, by cell and round.
    logs: HashMap<(u32, u32), Vec<Arc<EncodedLog>>>,
    calibrated: std::iter::Peekable<std::vec::IntoIter<(usize, u32)>>,
    waiting: std::iter::Peekable<std::vec::IntoIter<(usize, Event)>>,
    failed: std::iter::Peekable<std::vec::IntoIter<(usize, u32)>>,
}

impl Placing {
    fn new(session: &Session, marks: Marks) -> Placing {
        let mut last_trials = vec![None; session.plan.cells.len()];
        for (index, trial) in session.trials.iter().enumerate() {
            last_trials[trial.cell as usize] = Some(index);
        }
        let mut logs: HashMap<_, Vec<Arc<EncodedLog>>> = HashMap::new();
        for log in &session.latencies {
            logs.entry((log.cell, log.round)).or_default().push(Arc::clone(log));
        }
        Placing {
            moments: Vec::new(),
            samples: Vec::new(),
            others: Vec::new(),
            now: 0,
            ended: 0,
            last_trials,
            verdicts: session.verdicts.clone(),
            errors: session.errors.clone(),
            logs,
            calibrated: marks.calibrated.into_iter().peekable(),
            waiting: marks.others.into_iter().peekable(),
            failed: marks.failed.into_iter().peekable(),
        }
    }

    fn put(&mut self, what: What) {
        self.moments.push(Moment { at: self.now, what });
    }

    fn put_event(&mut self, event: Event) {
        self.put(What::Other(self.others.len() as u32));
        self.others.push(event);
    }

    fn fail(&mut self, cell: u32) {
        if let Some(error) = self.errors.get_mut(cell as usize).and_then(Option::take) {
            self.put_event(Event::Failed { cell, error });
        }
    }

    /// Places what happened before a trial, in the time that passed since the one before.
    fn put_between(&mut self, index: usize, trial: &Trial) {
        let evidence = &trial.evidence;
        let prepared = evidence.prepared.min(evidence.started);
        let gap =
            prepared.saturating_sub(evidence.prepare_nanos).saturating_sub(self.ended).min(MAX_GAP);
        let mut cells = Vec::new();
        while let Some((_, cell)) = self.calibrated.next_if(|(before, _)| *before <= index) {
            cells.push(cell);
        }
        // Calibrations follow the start; the file does not hold their durations.
        let parts = cells.len() as u64 + u64::from(index == 0);
        let part = gap / parts.max(1);
        let begin = self.now;
        if index == 0 && parts > 0 {
            self.now += part;
        }
        self.put_waiting(index);
        for cell in cells {
            self.put(What::Calibrate { cell, before: index as u32 });
            self.now += part;
        }
        self.now = self.now.max(begin + gap);
    }

    fn put_waiting(&mut self, index: usize) {
        while let Some((_, event)) = self.waiting.next_if(|(before, _)| *before <= index) {
            self.put_event(event);
        }
        while let Some((_, cell)) = self.failed.next_if(|(before, _)| *before <= index) {
            self.fail(cell);
        }
    }

    fn put_trial(&mut self, index: usize, trial: &Trial, samples: &[Sample]) {
        let number = index as u32;
        self.put(What::Start(number));
        let evidence = &trial.evidence;
        let untimed = evidence.started.saturating_sub(evidence.prepared.min(evidence.started));
        self.now += evidence.prepare_nanos.saturating_add(untimed.min(MAX_GAP)).min(MAX_STEP);
        let begin = self.now;
        self.ended = trial.end_time();
        let end = begin + self.ended.saturating_sub(evidence.started).min(MAX_STEP);
        for sample in samples {
            self.now = begin.saturating_add(sample.at).clamp(self.now, end);
            self.put(What::Sample { trial: number, sample: self.samples.len() as u32 });
            self.samples.push(*sample);
        }
        // The last part was read back before the trial was reported.
        let read_back = trial.verify_nanos() / evidence.parts.max(1);
        self.ended = self.ended.saturating_add(read_back);
        self.now = end.saturating_add(read_back.min(MAX_STEP));
        self.put(What::Trial(number));
        for log in self.logs.remove(&(trial.cell, trial.round)).into_iter().flatten() {
            self.put_event(Event::of_log(&log));
        }
        if self.last_trials[trial.cell as usize] == Some(index) {
            if let Some(verdict) = self.verdicts[trial.cell as usize].take() {
                self.put_event(Event::Verdict { cell: trial.cell, verdict });
            }
            self.fail(trial.cell);
        }
    }

    /// Places what no trial follows, and the end.
    fn put_rest(&mut self, session: &Session) {
        self.put_waiting(usize::MAX);
        for cell in 0..self.errors.len() as u32 {
            self.fail(cell);
        }
        if let Some(reason) = session.end {
            self.put_event(Event::End { reason, seconds: session.seconds });
        }
    }
}
