//! Events that the engine reports while it runs. The session saves them, a front end shows them.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    CommitTimes, EncodedLog, Evidence, Grounds, Latency, LatencyLog, Level, LogEntry, Pick,
    ProbeFindings, ProbeTrial, Trial, Verdict,
};
use crate::plan::Plan;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The requested number of trials is complete.
    Finished,
    /// The time budget is used up.
    Budget,
    /// Every confidence interval is narrower than the goal.
    Goal,
    /// A signal, Ctrl-C or the stop key.
    Interrupted,
    /// The run itself failed.
    Failed,
}

/// The activity of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Filling the scratch file.
    Fill,
    /// Measuring the machine's ceilings.
    Machine,
    /// Measuring the effect of each cache-drop level.
    Levels,
    /// Running the command that sets a variant of the machine.
    Switch,
    Calibrate,
    Trial,
    /// Nothing runs until the pause ends; the trial that it interrupted is repeated in full.
    Pause,
}

/// The progress of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    pub phase: Phase,
    /// Index into the plan's cells.
    pub cell: Option<u32>,
    /// Index into the plan's probes.
    pub probe: Option<u32>,
    pub round: u32,
    /// Share of the run that is done, 0 to 1.
    pub share: f64,
    /// Estimated nanoseconds left.
    pub left: u64,
}

/// One message of the engine. As JSON it is a line of a session file, unless it is not saved.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Event {
    /// The target is ready; carries the plan as it will run. Comes before the first trial.
    Plan {
        plan: Arc<Plan>,
    },
    /// The facts about machine and target that verdicts rest on; the first cell follows.
    Grounds {
        #[serde(flatten)]
        grounds: Arc<Grounds>,
    },
    #[serde(skip)]
    Progress(Progress),
    /// One interval of a running trial. A slow watcher may drop it; after a pause the samples of
    /// the interrupted trial start again.
    #[serde(skip)]
    Sample {
        cell: u32,
        round: u32,
        sample: Sample,
        parts: SampleParts,
    },
    Trial {
        #[serde(flatten)]
        trial: Arc<Trial>,
        samples: Vec<Sample>,
        /// The latency of this trial alone, if operations were timed; not saved, because the
        /// verdict holds that of all trials.
        #[serde(skip)]
        latency: Option<Arc<Latency>>,
    },
    /// A piece of the latencies of a trial over time; the trial comes before it.
    Latencies {
        #[serde(flatten)]
        log: Arc<EncodedLog>,
    },
    /// A long trial began: latencies of its cell and round that came before are not its own.
    Begun {
        #[serde(flatten)]
        trial: Begun,
    },
    /// A piece of the latencies of a trial that has begun. Its entries may cover several intervals.
    Running {
        #[serde(flatten)]
        log: Arc<EncodedLog>,
    },
    /// The count that calibration chose: operations per pass and passes per trial; `whole` if the
    /// file ended first.
    Calibrated {
        cell: u32,
        count: u64,
        passes: u64,
        nanos: u64,
        whole: bool,
    },
    /// The user took a cell out of the rest of the run.
    #[serde(rename = "skip")]
    Skipped {
        cell: u32,
    },
    /// A cell failed and is skipped from now on; saved with its verdict.
    #[serde(skip)]
    Failed {
        cell: u32,
        error: String,
    },
    /// Saved with the number of trials that it rests on.
    #[serde(skip)]
    Verdict {
        cell: u32,
        verdict: Arc<Verdict>,
    },
    /// One figure of a probe's cell.
    Probe {
        #[serde(flatten)]
        trial: ProbeTrial,
    },
    /// The findings about a probe's cell so far; replaces earlier ones. `cell` is an index into the
    /// plan's probes.
    Findings {
        cell: u32,
        #[serde(flatten)]
        findings: Arc<ProbeFindings>,
    },
    /// The effect of each cache-drop level, if the experiment measures it.
    Levels {
        levels: Vec<Level>,
    },
    /// One of several methods was picked; the others are dropped from the run.
    #[serde(rename = "pick")]
    Picked {
        #[serde(flatten)]
        pick: Arc<Pick>,
    },
    Note {
        text: String,
    },
    /// The machine was not set back to the first variant (`--between`).
    #[serde(skip)]
    Unrestored,
    /// `seconds` is the time since the run began, if known; saved with what a list shows.
    #[serde(skip)]
    End {
        reason: End,
        seconds: Option<f64>,
    },
}

impl Event {
    /// Returns the event of a line of latencies.
    pub fn of_log(log: &Arc<EncodedLog>) -> Event {
        let log = Arc::clone(log);
        if log.spans { Event::Running { log } } else { Event::Latencies { log } }
    }
}

/// A trial that is long enough to be written while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Index into the plan's cells.
    pub cell: u32,
    pub round: u32,
    /// When it began, nanoseconds after the run; of a watch also in seconds since 1970.
    pub started: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<u64>,
}

impl Begun {
    /// Returns the trial as far as its log goes; `None` if nothing ended in it.
    pub fn cut_trial(&self, log: &LatencyLog) -> Option<Trial> {
        let entries = || log.entries().iter();
        let end = entries().last().map(|last| log.start_of(last) + log.length_of(last));
        let sum = |of: fn(&LogEntry) -> u64| entries().map(of).fold(0, u64::saturating_add);
        let (ops, bytes) = (sum(|of| of.ops), sum(|of| of.bytes));
        let &Begun { cell, round, started, clock } = self;
        // The lanes counted the bytes of the log.
        let evidence = Evidence {
            started,
            prepared: started,
            parts: 1,
            lane_bytes: bytes,
            clock,
            ..Evidence::default()
        };
        let nanos = end.filter(|_| ops > 0)?;
        Some(Trial { cell, round, ops, bytes, nanos, short: true, evidence, ..Trial::default() })
    }
}

/// The work of an interval that ended `at` nanoseconds after the first thread of the trial started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sample {
    pub at: u64,
    pub nanos: u64,
    pub bytes: u64,
    pub ops: u64,
    pub syscalls: u64,
}

/// The part of one lane in a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaneSample {
    pub bytes: u64,
    pub ops: u64,
    pub syscalls: u64,
}

/// The parts of a sample, for display only; not saved.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleParts {
    /// The part of each lane.
    pub lanes: Vec<LaneSample>,
    /// The latencies that lanes have logged since the sample before; `None` if none are timed.
    pub log: Option<LatencyLog>,
    /// A piece of the log of a long trial that nothing is added to any more; `None` before it ends.
    pub finished: Option<Box<LatencyLog>>,
}

impl From<Vec<LaneSample>> for SampleParts {
    fn from(lanes: Vec<LaneSample>) -> SampleParts {
        SampleParts { lanes, ..SampleParts::default() }
    }
}

impl Sample {
    /// Most samples that a trial keeps; neighbours are merged beyond that.
    pub const MAX_PER_TRIAL: usize = 120;

    /// Merges this interval with the one after it.
    pub fn merge(&self, next: &Sample) -> Sample {
        Sample {
            at: next.at,
            nanos: self.nanos.saturating_add(next.nanos),
            bytes: self.bytes.saturating_add(next.bytes),
            ops: self.ops.saturating_add(next.ops),
            syscalls: self.syscalls.saturating_add(next.syscalls),
        }
    }
}

/// The results of an earlier run of the same plan; empty for a new run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Earlier {
    /// In the order of measurement.
    pub trials: Vec<Arc<Trial>>,
    /// The latencies of each cell; fewer if the others are unknown.
    pub latencies: Vec<Option<Latency>>,
    /// The service times of each cell at a rate, alike.
    pub services: Vec<Option<Latency>>,
    /// The commits of each cell, alike.
    pub commits: Vec<Option<CommitTimes>>,
    /// The latencies of trials over time, if they are known.
    pub logs: Vec<Arc<EncodedLog>>,
    /// How long it took, seconds; 0 if unknown.
    pub seconds: f64,
    /// The only cell that gets further trials.
    pub only: Option<u32>,
}

impl Earlier {
    /// Returns the number of rounds done.
    pub fn rounds(&self) -> u32 {
        self.trials.iter().map(|trial| trial.round).max().unwrap_or(0)
    }

    /// Returns the number of rounds that remain, if the plan fixes it.
    pub fn rounds_left(&self, plan: &Plan) -> Option<u32> {
        plan.trials.map(|trials| trials.saturating_sub(self.rounds()))
    }

    /// Returns the rounds to run.
    pub fn further_rounds(&self, plan: &Plan) -> RangeInclusive<u32> {
        let done = self.rounds();
        let last = plan.trials.unwrap_or(plan.most_rounds().saturating_add(done));
        done.saturating_add(1)..=last
    }

    /// Returns when the last trial ended, nanoseconds after the start of that run.
    pub fn end(&self) -> u64 {
        let end = |trial: &Arc<Trial>| trial.evidence.started.saturating_add(trial.nanos);
        self.trials.iter().map(end).max().unwrap_or(0)
    }

    /// Returns the seconds of both parts, where the second took `elapsed`; to milliseconds.
    pub fn add_seconds(&self, elapsed: Duration) -> f64 {
        let before = self.seconds.max(self.end() as f64 / 1e9);
        ((before + elapsed.as_secs_f64()) * 1e3).round() / 1e3
    }
}
