//! The plan: target, cells, trials, seed and budget as pure data. It goes into the session and can
//! be run again.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Cold, Job, ProbeCell, Remote, TrialTime};

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum TargetSpec {
    /// A file that iotui makes in `dir`, fills with random data, and removes.
    Scratch {
        #[serde(with = "super::path")]
        dir: PathBuf,
        size: u64,
        keep: bool,
    },
    /// The user's own file or block device, opened read-only.
    File {
        #[serde(with = "super::path")]
        path: PathBuf,
        size: u64,
    },
    /// A file that did not exist: iotui makes it, writes it, and leaves it.
    New {
        #[serde(with = "super::path")]
        path: PathBuf,
        size: u64,
    },
    /// No file: probes that need none. `null` in JSON.
    #[serde(skip)]
    None,
}

impl TargetSpec {
    pub fn size(&self) -> u64 {
        match self {
            TargetSpec::Scratch { size, .. }
            | TargetSpec::File { size, .. }
            | TargetSpec::New { size, .. } => *size,
            TargetSpec::None => 0,
        }
    }

    /// Whether iotui makes the file, and so may write it.
    pub fn is_ours(&self) -> bool {
        !matches!(self, TargetSpec::File { .. } | TargetSpec::None)
    }
}

/// A combination that was asked for among others and makes no sense or is not to be had here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped<Cell = Job> {
    pub cell: Cell,
    pub reason: String,
}

/// Everything a run does, decided before it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub experiment: String,
    pub presets: Vec<String>,
    #[serde(with = "or_null")]
    pub target: TargetSpec,
    pub cells: Vec<Job>,
    /// Cells of probes; left out of JSON where there are none, as are those below that were
    /// skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeCell>,
    /// Exactly this many rounds; `None` = until every interval is narrower than `goal` or the
    /// budget ends.
    pub trials: Option<u32>,
    /// Relative half width of the 95 % interval that ends a run.
    pub goal: f64,
    pub trial_time: TrialTime,
    /// The trial time was chosen to fit the budget, so a run may shorten it; left out of JSON where
    /// it was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fitted: bool,
    #[serde(with = "super::nanos")]
    pub budget: Duration,
    /// Draws the order of cells and the random offsets; below 2^53 so that every JSON reader keeps
    /// it.
    pub seed: u64,
    pub skipped: Vec<Skipped>,
    /// The cells are ways to do the same: each is tried for a moment, and only the fastest runs;
    /// left out of JSON where they are not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pick: bool,
    /// Measure what this machine can reach, before the first cell.
    #[serde(default)]
    pub ceilings: bool,
    /// Bytes per second that the vendor of the disk names.
    #[serde(default)]
    pub rated: Option<u64>,
    /// What is dropped to make the file cold; left out of JSON where it is the file's own pages.
    #[serde(default, skip_serializing_if = "Cold::is_data")]
    pub cold: Cold,
    /// Probes that were asked for among others and are not to be had here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_probes: Vec<Skipped<ProbeCell>>,
    /// The other machine of the network probes; left out of JSON where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Remote>,
}

impl Plan {
    /// A plan that takes at least so long can spare the time to measure ceilings.
    pub const LONG: Duration = Duration::from_secs(5);
    /// Half width of the interval at which more trials would not change an answer.
    pub const GOAL: f64 = 0.02;
    pub const BUDGET: Duration = Duration::from_secs(50);
    /// Rounds wanted before the goal may end a run.
    pub const ROUNDS: u32 = 5;
    /// Trials after which a run without `--trials` ends, goal or not: memory stays bounded however
    /// long the budget.
    const MOST_TRIALS: usize = 8192;

    /// Batches of every probe's cell where no number of trials is said.
    const BATCHES: u32 = 11;

    /// Whether no cell needs the file whole: each makes it itself.
    pub fn only_appends(&self) -> bool {
        self.target.is_ours() && !self.cells.is_empty() && self.cells.iter().all(Job::appends)
    }

    /// The most bytes that files of iotui's take: where some cells overwrite or read one and others
    /// make one, there are two.
    pub fn stored(&self) -> u64 {
        let two = !self.only_appends() && self.cells.iter().any(Job::appends);
        let size = if self.target.is_ours() { self.target.size() } else { 0 };
        if two { size.saturating_mul(2) } else { size }
    }

    /// A plan of nothing yet, with the defaults of everything that was not asked for.
    pub fn plain(experiment: &str, target: TargetSpec) -> Plan {
        Plan {
            experiment: experiment.into(),
            presets: Vec::new(),
            target,
            cells: Vec::new(),
            probes: Vec::new(),
            trials: None,
            goal: Plan::GOAL,
            trial_time: TrialTime::default(),
            fitted: false,
            budget: Plan::BUDGET,
            seed: 0,
            skipped: Vec::new(),
            pick: false,
            ceilings: false,
            rated: None,
            cold: Cold::default(),
            skipped_probes: Vec::new(),
            remote: None,
        }
    }

    /// Batches of every probe's cell.
    pub fn probe_rounds(&self) -> u32 {
        self.trials.unwrap_or(Self::BATCHES)
    }

    /// Why nothing is measured with the other machine, where one was named.
    pub fn unmet(&self) -> Option<&str> {
        if self.remote.is_none() || self.probes.iter().any(ProbeCell::is_far) {
            return None;
        }
        self.skipped_probes
            .iter()
            .find(|skipped| skipped.cell.is_far())
            .map(|skipped| skipped.reason.as_str())
    }

    /// Rounds that this plan runs at most.
    pub fn most_rounds(&self) -> u32 {
        let fits =
            u32::try_from(Self::MOST_TRIALS / self.cells.len().max(1)).unwrap_or(Self::ROUNDS);
        self.trials.unwrap_or(fits.max(Self::ROUNDS))
    }
}

/// A target, `null` for none.
mod or_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::TargetSpec;

    pub fn serialize<S: Serializer>(target: &TargetSpec, out: S) -> Result<S::Ok, S::Error> {
        Some(target).filter(|target| **target != TargetSpec::None).serialize(out)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<TargetSpec, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(TargetSpec::None))
    }
}
