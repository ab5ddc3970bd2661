//! What the engine tells while it runs. The session keeps it, a front end shows it.

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
    /// The asked number of trials was done.
    Finished,
    /// The time was used up.
    Budget,
    /// Every interval is narrower than the goal.
    Goal,
    /// A signal, Ctrl-C or the stop key.
    Interrupted,
    /// The run itself failed.
    Failed,
}

/// What goes on inside a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The scratch file is being filled.
    Fill,
    /// What the machine can reach is being found out.
    Machine,
    /// What each level of cold buys is being found out.
    Levels,
    Calibrate,
    Trial,
    /// Nothing runs until the pause is over; what ran when it began is repeated in full.
    Pause,
}

/// Where a run is.
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
    /// Nanoseconds left, as far as can be told.
    pub left: u64,
}

/// One message of the engine.
#[derive(Debug, Clone)]
pub enum Event {
    /// The target is ready: the plan as it is run. Comes before the first trial.
    Plan {
        plan: Arc<Plan>,
    },
    /// The facts about machine and target that verdicts are judged by; cells begin.
    Grounds {
        grounds: Arc<Grounds>,
    },
    Progress(Progress),
    /// May be dropped by a slow watcher. Where a pause cuts the trial they begin anew.
    Sample {
        cell: u32,
        round: u32,
        sample: Sample,
        /// What each lane did of it; for whoever watches, not kept.
        lanes: Vec<LaneSample>,
    },
    Trial {
        trial: Arc<Trial>,
        samples: Vec<Sample>,
        /// Of this trial alone, where operations were timed; not kept, a verdict has that of all
        /// trials.
        latency: Option<Arc<Latency>>,
    },
    /// The count that calibration chose: operations per pass and passes per trial; `whole` where
    /// the file ended first.
    Calibrated {
        cell: u32,
        count: u64,
        passes: u64,
        nanos: u64,
        whole: bool,
    },
    /// A cell failed and is left out from here on.
    Failed {
        cell: u32,
        error: String,
    },
    Verdict {
        cell: u32,
        verdict: Arc<Verdict>,
    },
    /// One figure of a probe's cell.
    Probe {
        trial: ProbeTrial,
    },
    /// What is known about a probe's cell so far; replaces what was told before. Its index is that
    /// in the plan's probes.
    Findings {
        cell: u32,
        findings: Arc<ProbeFindings>,
    },
    /// What each level of cold buys, where the experiment asks for it.
    Levels {
        levels: Vec<Level>,
    },
    /// One of several ways was picked: the others are out of the run.
    Picked {
        pick: Arc<Pick>,
    },
    Note {
        text: String,
    },
    End {
        reason: End,
    },
}
