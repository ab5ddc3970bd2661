//! Events that the engine reports while it runs. The session saves them, a front end shows them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Grounds, LaneSample, Latency, Level, Pick, ProbeFindings, ProbeTrial, Sample, Trial, Verdict,
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

/// What the engine is doing.
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
        /// The part of each lane; for display only, not saved.
        lanes: Vec<LaneSample>,
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
