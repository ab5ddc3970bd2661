//! The plan: target, cells, trials, seed and budget as pure data. It is saved in the session and
//! can be rerun.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::trial_time::{TrialTime, nanos};
use super::{
    Cold, Condition, CpuList, Expectation, Job, ProbeCell, Rate, Remote, StopCondition, TargetSpec,
    Until, Variant, target_name,
};
use crate::units::show_bytes;

/// A requested combination that makes no sense or is unavailable here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped<Cell = Job> {
    pub cell: Cell,
    pub reason: String,
}

/// Everything a run does, decided before it starts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    pub experiment: String,
    pub presets: Vec<String>,
    #[serde(with = "or_null")]
    pub target: TargetSpec,
    /// Further targets, whose cells are measured in the same rounds; omitted from JSON if empty.
    /// All are used over the same span.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<TargetSpec>,
    /// The variants of the machine that every cell is measured in, in turn; omitted from JSON if
    /// empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    pub cells: Vec<Job>,
    /// Cells of probes; omitted from JSON if empty, as are the skipped ones below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeCell>,
    /// Exactly this many rounds; `None` = until every interval is narrower than `goal` or the
    /// budget ends.
    pub trials: Option<u32>,
    /// Relative half width of the 95 % interval that ends a run.
    pub goal: f64,
    /// The user requested the goal; omitted from JSON if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until: bool,
    /// Each cell has one long trial, which ends in its steady state or after the trial time;
    /// omitted from JSON if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steady: bool,
    /// Its one cell has one long trial, to see what happens when; without a rate, the run chooses
    /// one. Omitted from JSON if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watch: bool,
    /// The conditions that end the watch before the trial time; omitted from JSON if nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_if: Vec<StopCondition>,
    /// The run ends when its answer is settled: at a difference of this share between cells that
    /// more trials do not decide; omitted from JSON if it ends otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<f64>,
    pub trial_time: TrialTime,
    /// The trial time was chosen to fit the budget, so a run may shorten it; omitted from JSON if
    /// requested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fitted: bool,
    /// No span was requested, so a run may use less of a file that is slow to read; omitted from
    /// JSON if one was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub span_may_shrink: bool,
    #[serde(with = "nanos")]
    pub budget: Duration,
    /// Determines the order of cells and the random offsets; below 2^53 so that every JSON reader
    /// preserves it.
    pub seed: u64,
    pub skipped: Vec<Skipped>,
    /// The cells are ways to do the same: each is tried for a moment, and only the fastest runs;
    /// omitted from JSON where they are not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pick: bool,
    /// A picked cell whose file is not in memory has one trial, as nobody gave a number: reading it
    /// again would take as long. Omitted from JSON where that does not apply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once_uncached: bool,
    /// The text of each setting that was given in addition to the presets and is part of cells;
    /// omitted from JSON in older sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
    /// Names were removed, so that it does not say what to measure; omitted from JSON if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anonymous: bool,
    /// Whether to measure this machine's ceilings before the first cell.
    #[serde(default)]
    pub ceilings: bool,
    /// Bytes per second that the disk's vendor specifies.
    #[serde(default)]
    pub rated: Option<u64>,
    /// The expectations of the results; omitted from JSON without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
    /// The condition whose highest rate among the cells is searched for; omitted from JSON
    /// without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_target: Option<Condition>,
    /// The caches dropped to make the file cold; omitted from JSON where it is the file's own
    /// pages.
    #[serde(default, skip_serializing_if = "Cold::is_data")]
    pub cold: Cold,
    /// The CPUs that threads are pinned to; omitted from JSON where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<CpuList>,
    /// By how many percent the data that iotui writes compresses; omitted from JSON if nobody
    /// asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compressible: Option<u8>,
    /// The percentage of written blocks that repeat an earlier one; omitted from JSON if nobody
    /// asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<u8>,
    /// How many times the files that iotui makes are written whole before the measurement;
    /// omitted from JSON if nobody asked: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<u8>,
    /// Written data is read back and compared after each of its trials; omitted from JSON if
    /// that was not requested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
    /// Each block is read by one trial, and by none of earlier runs; omitted from JSON if that was
    /// not requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh: Option<Fresh>,
    /// Requested probes that are unavailable here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_probes: Vec<Skipped<ProbeCell>>,
    /// The other machine of the network probes; omitted from JSON without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<Remote>,
    /// A rank reads what a rank of another machine wrote; omitted from JSON where it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shift: bool,
}

/// The part of the target that was read before a run that reads each block once (`--fresh`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fresh {
    /// The bytes, `[start, end]`, that runs since this machine started have read or written.
    pub visited: Vec<(u64, u64)>,
}

impl Plan {
    /// A plan that takes at least this long can spare the time to measure ceilings.
    pub const MIN_FOR_CEILINGS: Duration = Duration::from_secs(5);
    /// Half width of the interval at which more trials would not change an answer.
    pub const TARGET_HALF_WIDTH: f64 = 0.02;
    /// Share of the budget for the first rounds of a run that ends when its answer is settled; the
    /// rest is for the cells that can still change it.
    pub const FIRST_SHARE: f64 = 0.3;
    pub const BUDGET: Duration = Duration::from_secs(50);
    /// The budget of a run that is to reach a given precision.
    pub const UNTIL_BUDGET: Duration = Duration::from_secs(3600);
    /// The budget of a run that ends in a steady state: twice the rounds of a minute that show one.
    pub const STEADY_BUDGET: Duration = Duration::from_secs(600);
    /// The time of a watch besides its trial: to fill a scratch file, and to choose the rate.
    pub const WATCH_MARGIN: Duration = Duration::from_secs(600);
    /// The share of what the device does that a watch takes, and the least and the most operations
    /// per second: fewer say nothing about a second, and more cost CPU and tell no more of it.
    pub const WATCH_SHARE: f64 = 0.02;
    pub const WATCH_RATES: RangeInclusive<u64> = 10..=1000;
    /// The longest trials of a steady state take this share of the budget; the rest prepares them.
    const STEADY_SHARE: f64 = 0.95;
    /// Rounds of the longest trial.
    const STEADY_PARTS: u32 = 10;
    /// The longest round of a trial that ends in a steady state, as the criterion has it.
    const LONGEST_ROUND: Duration = Duration::from_secs(60);
    /// Minimum rounds before the goal may end a run.
    pub const ROUNDS: u32 = 5;
    /// Minimum rounds of a plan with variants. In the same time, many pairs of short trials tell
    /// more than few of long ones: a ratio is within 8 % from 40 pairs of 50 ms where it is within
    /// 17 % from 8 pairs of 250 ms (on a shared machine whose trials scatter by 15 %).
    pub const ROUNDS_OF_VARIANTS: u32 = 20;
    /// Trials after which a run without `--trials` ends, goal or not: memory stays bounded for any
    /// budget.
    const MAX_TRIALS: usize = 8192;

    /// Batches of every probe's cell where no number of trials is given.
    const BATCHES: u32 = 11;

    /// Targets of one plan: each is named by a letter.
    pub const MAX_TARGETS: usize = 26;

    /// Returns the fewest rounds for a plan with or without variants, where their number is not
    /// fixed.
    pub fn least_rounds(variants: &[Variant]) -> u32 {
        if variants.is_empty() { Plan::ROUNDS } else { Plan::ROUNDS_OF_VARIANTS }
    }

    /// Returns the rounds that are planned: those requested, or the fewest that a goal may end
    /// with.
    pub fn rounds(&self) -> u32 {
        self.trials.unwrap_or(Plan::least_rounds(&self.variants))
    }

    /// Returns all targets, in the order of their letters.
    pub fn targets(&self) -> impl Iterator<Item = &TargetSpec> {
        std::iter::once(&self.target).chain(&self.others)
    }

    /// Returns all targets, each with its letter where there are several.
    pub fn named_targets(&self) -> impl Iterator<Item = (Option<String>, &TargetSpec)> {
        let several = !self.others.is_empty();
        let name = move |index| several.then(|| target_name(index));
        (0..).map(name).zip(self.targets())
    }

    /// Returns the target of a job; `None` where the plan lacks it.
    pub fn target_of(&self, job: &Job) -> Option<&TargetSpec> {
        self.targets().nth(job.target_index())
    }

    /// Returns whether no cell needs the file whole: each makes its files itself.
    pub fn makes_every_file(&self) -> bool {
        self.target.is_ours() && !self.cells.is_empty() && self.cells.iter().all(Job::makes_files)
    }

    /// Returns the most ranks that a cell needs; 1 where one process measures.
    pub fn processes(&self) -> u32 {
        self.cells.iter().map(Job::processes).max().unwrap_or(1)
    }

    /// Returns the bytes of the file of iotui's that all ranks share; `None` where they share none.
    pub fn whole_of(&self, spec: &TargetSpec) -> Option<u64> {
        let shared = spec.is_ours() && self.cells.iter().any(Job::shares_its_file);
        shared.then(|| spec.size().saturating_mul(self.processes().into()))
    }

    /// Returns how many times the files that iotui makes are written before the measurement.
    pub fn fillings(&self) -> u64 {
        self.precondition.unwrap_or(1).into()
    }

    /// Returns the bytes that are written to make the files of iotui's, by all ranks.
    pub fn filled(&self) -> u64 {
        self.made().saturating_mul(self.fillings())
    }

    /// Describes how a file of this size is made: `64 MiB`, `64 MiB 3 times`.
    pub fn describe_filling(&self, size: u64) -> String {
        match self.fillings() {
            1 => show_bytes(size),
            times => format!("{} {times} times", show_bytes(size)),
        }
    }

    /// Returns the bytes of the files of iotui's, of all ranks.
    pub fn made(&self) -> u64 {
        let ours = self.targets().filter(|target| target.is_ours());
        let size = ours.fold(0u64, |sum, target| sum.saturating_add(target.size()));
        size.saturating_mul(self.processes().into())
    }

    /// Returns the plan of a rank: one that measures no cell makes no large file.
    pub fn of_rank(&self, rank: u32) -> Plan {
        const SMALL: u64 = 4096;
        let idle = self.target.is_ours() && rank >= self.processes();
        let target = match idle {
            true => self.target.with_size(self.target.size().min(SMALL)),
            false => self.target.clone(),
        };
        Plan { target, ..self.clone() }
    }

    /// Returns the most bytes that iotui's files take: the file that cells overwrite or read, the
    /// file that cells start fresh, and the files of single threads exist at the same time.
    pub fn stored(&self) -> u64 {
        let any = |kind: fn(&Job) -> bool| u64::from(self.cells.iter().any(kind));
        let kinds = u64::from(!self.makes_every_file())
            + any(|job| job.starts_fresh() && !job.has_own_files())
            + any(Job::has_own_files);
        self.made().saturating_mul(kinds)
    }

    /// Returns by how many percent the data compresses that iotui writes, if that is known: blocks
    /// that are verified differ, others repeat unless the options request something else.
    pub fn stored_compressible(&self) -> Option<u8> {
        self.compressible.or(self.verify.then_some(0))
    }

    /// Describes the data that iotui writes, if an option affects it.
    pub fn written_data(&self) -> Option<String> {
        self.stored_compressible().or(self.dedupe)?;
        Some(match (self.compressible.unwrap_or(0), self.dedupe.unwrap_or(0)) {
            (0, 0) => "random data, no block twice".into(),
            (saved, 0) => format!("data that compresses by {saved} %"),
            (0, repeated) => format!("random data of which {repeated} % repeats"),
            (saved, repeated) => {
                format!("data that compresses by {saved} % and of which {repeated} % repeats")
            }
        })
    }

    /// Returns an empty plan with the defaults of everything.
    pub fn plain(experiment: &str, target: TargetSpec) -> Plan {
        Plan {
            experiment: experiment.into(),
            target,
            goal: Plan::TARGET_HALF_WIDTH,
            budget: Plan::BUDGET,
            ..Plan::default()
        }
    }

    /// Returns the largest buffers that one of its cells needs, bytes.
    pub fn buffer_bytes(&self) -> u64 {
        let lanes = |job: &Job| u64::from(job.depth).saturating_mul(job.threads.into());
        self.cells.iter().map(|job| job.block.saturating_mul(lanes(job))).max().unwrap_or(0)
    }

    /// Returns the batches of every probe's cell.
    pub fn probe_rounds(&self) -> u32 {
        self.trials.unwrap_or(Self::BATCHES)
    }

    /// Returns why nothing is measured with the other machine, where one was named.
    pub fn unmet(&self) -> Option<&str> {
        if self.remote.is_none() || self.probes.iter().any(ProbeCell::is_far) {
            return None;
        }
        self.skipped_probes
            .iter()
            .find(|skipped| skipped.cell.is_far())
            .map(|skipped| skipped.reason.as_str())
    }

    /// Returns the tolerance at which the answer is settled, if that ends the run.
    pub fn settles(&self) -> Option<f64> {
        self.settle.filter(|tolerance| self.trials.is_none() && (0.0..1.0).contains(tolerance))
    }

    /// Returns the rounds over which a trial of at most `longest` is to be steady.
    pub fn steady_round(longest: Duration) -> Duration {
        (longest / Plan::STEADY_PARTS).min(Plan::LONGEST_ROUND)
    }

    /// Returns the longest time of each of these trials that end in a steady state.
    pub fn steady_time(budget: Duration, cells: usize) -> Duration {
        let count = u32::try_from(cells.max(1)).unwrap_or(u32::MAX);
        let millis = (budget / count).mul_f64(Plan::STEADY_SHARE).as_millis();
        Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX).max(1))
    }

    /// Returns what ends the run, if no number of trials does.
    pub fn ends_by(&self) -> Option<Until> {
        let goal = self.until.then(|| Until::Within((self.goal * 1e4).round() as u32));
        goal.or(self.steady.then_some(Until::Steady)).or(self.settle.map(|_| Until::Answer))
    }

    /// Returns the budget that it has if none is requested.
    pub fn budget_unasked(&self) -> Duration {
        if self.watch {
            return self.trial_time.low.saturating_add(Plan::WATCH_MARGIN);
        }
        Plan::usual_budget(self.ends_by(), self.variants.len())
    }

    /// Returns the usual budget of a run that ends so.
    pub fn usual_budget(until: Option<Until>, variants: usize) -> Duration {
        match until {
            Some(Until::Within(_)) => Plan::UNTIL_BUDGET,
            Some(Until::Steady) => Plan::STEADY_BUDGET,
            // Each variant has as much time as a run of its own.
            Some(Until::Answer) | None => Plan::BUDGET * variants.max(1) as u32,
        }
    }

    /// Returns whether each cell has one long trial: until it is steady, or of a watch.
    pub fn has_long_trials(&self) -> bool {
        self.steady || self.watch
    }

    /// Returns the rate of a watch; `full_speed` is in operations per second.
    pub fn watch_rate(full_speed: f64) -> Rate {
        let wanted = (full_speed * Plan::WATCH_SHARE) as u64;
        // Two digits.
        let unit = 10u64.pow(wanted.checked_ilog10().unwrap_or(0).saturating_sub(1));
        let rounded = wanted / unit * unit;
        Rate::Operations(rounded.clamp(*Plan::WATCH_RATES.start(), *Plan::WATCH_RATES.end()))
    }

    /// Returns whether a goal ends the run, before its budget does.
    pub fn has_goal(&self) -> bool {
        self.until && self.trials.is_none() || self.settles().is_some()
    }

    /// Returns the time that a run keeps for the cells that can still change the answer, if it ends
    /// when that is settled.
    pub fn kept_time(settle: Option<f64>, budget: Duration) -> Duration {
        settle.map_or(Duration::ZERO, |_| budget.mul_f64(1.0 - Plan::FIRST_SHARE))
    }

    /// Returns the maximum number of rounds of this plan.
    pub fn most_rounds(&self) -> u32 {
        // A search tries one rate at a time, and ends by itself.
        let cells = if self.latency_target.is_some() { 1 } else { self.cells.len().max(1) };
        let fits = u32::try_from(Self::MAX_TRIALS / cells).unwrap_or(Self::ROUNDS);
        self.trials.unwrap_or(fits.max(Self::ROUNDS))
    }
}

/// Serialises [`TargetSpec::None`] as `null`.
mod or_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::plan::TargetSpec;

    pub fn serialize<S: Serializer>(target: &TargetSpec, out: S) -> Result<S::Ok, S::Error> {
        Some(target).filter(|target| **target != TargetSpec::None).serialize(out)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<TargetSpec, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(TargetSpec::None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filling_writes_the_file() {
        let target = TargetSpec::Scratch { dir: "/".into(), size: 1 << 20, keep: false };
        let once = Plan::plain("sweep", target);
        let thrice = Plan { precondition: Some(3), ..once.clone() };
        for (plan, written, said) in [(&once, 1, "1 MiB"), (&thrice, 3, "1 MiB 3 times")] {
            assert_eq!((plan.filled(), plan.made()), (written << 20, 1 << 20));
            assert_eq!((plan.stored(), plan.describe_filling(1 << 20)), (1 << 20, said.into()));
        }
    }
}
