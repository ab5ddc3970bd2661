//! Variation of the machine from run to run: estimated from saved runs of the same cells, else from
//! the halves of each run.
//!
//! All cells of one kind may also step together. Other programs on the host, a clock rate or a
//! throttled disk change all of them at once, by up to a factor of 2 within minutes on shared
//! machines, and no scatter of trials shows that before. A change of the kernel or of a setting may
//! do the same, so only trials that alternate can distinguish the two.

use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;

use super::pair::{Pair, ProbePair};
use crate::analysis::{CellResult, ProbeResult, probes, results};
use crate::facts::Host;
use crate::plan::{Cache, Job, Op, ProbeCell};
use crate::session::Session;
use crate::stats::drift::{MIN_SAVED_RUNS, between, common_move, level, within};
use crate::units::show_share;

/// Medians of cells in other saved runs on the same machine and file, as logarithms.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SavedRuns {
    /// One for each run that has some of the jobs.
    jobs: Vec<HashMap<Job, f64>>,
    probes: HashMap<ProbeCell, Vec<f64>>,
    runs: usize,
}

impl SavedRuns {
    /// Adds a run if it has any of these cells; returns whether it did.
    pub fn add(&mut self, run: &Session, jobs: &[Job], cells: &[ProbeCell]) -> bool {
        let measured = results(run);
        let wanted = measured.iter().filter(|result| jobs.contains(&result.cell));
        let levels: HashMap<Job, f64> =
            wanted.filter_map(|of| Some((of.cell.clone(), sound_level(of)?))).collect();
        let mut any = !levels.is_empty();
        self.jobs.extend(any.then_some(levels));
        let probes = probes(run);
        let sound = probes.iter().filter(|of| of.is_sound() && cells.contains(&of.cell));
        for result in sound {
            if let Some(level) = result.value.and_then(|of| level(&of.summary)) {
                self.probes.entry(result.cell.clone()).or_default().push(level);
                any = true;
            }
        }
        self.runs += usize::from(any);
        any
    }

    /// Returns the medians of each job in the runs that have it.
    fn by_job(&self) -> HashMap<Job, Vec<f64>> {
        let mut all: HashMap<Job, Vec<f64>> = HashMap::new();
        for (job, level) in self.jobs.iter().flatten() {
            all.entry(job.clone()).or_default().push(*level);
        }
        all
    }

    /// Counts the runs that have a job.
    fn runs_of(&self, job: &Job) -> usize {
        self.jobs.iter().filter(|run| run.contains_key(job)).count()
    }

    fn runs_of_probe(&self, cell: &ProbeCell) -> usize {
        self.probes.get(cell).map_or(0, Vec::len)
    }

    /// Returns the largest move that these cells made together between any two of the runs, as a
    /// logarithm; `None` for fewer than `runs` of them. It may have been a lasting change: that a
    /// machine came back is not asked, as two speeds of minutes each look like one.
    pub fn largest_move(&self, runs: usize, is_meant: impl Fn(&Job) -> bool) -> Option<f64> {
        let levels: Vec<HashMap<&Job, f64>> = self
            .jobs
            .iter()
            .map(|run| run.iter().filter(|(job, _)| is_meant(job)).map(|(j, l)| (j, *l)).collect())
            .filter(|run: &HashMap<&Job, f64>| !run.is_empty())
            .collect();
        let moves = levels.iter().enumerate().flat_map(|(at, a)| {
            levels[..at].iter().filter_map(|b| {
                let both = a.iter().filter_map(|(job, level)| Some(level - b.get(job)?));
                Some(common_move(&both.collect::<Vec<f64>>())?.abs())
            })
        });
        (levels.len() >= runs).then(|| moves.fold(0.0, f64::max))
    }

    /// Returns the number of runs that were added.
    pub fn runs(&self) -> usize {
        self.runs
    }
}

/// Returns the median of a cell as a logarithm; `None` if it failed or is marked wrong.
pub fn sound_level(result: &CellResult) -> Option<f64> {
    let figure = result.throughput.or(result.operations);
    let figure = figure.filter(|_| result.is_sound());
    figure.and_then(|of| level(&of.summary))
}

/// Returns whether two runs used the same machine and file, so that a third like them shows how
/// such runs vary.
pub fn is_same_setup(a: &Session, b: &Session) -> bool {
    fn file(session: &Session) -> Option<Vec<(&str, &str)>> {
        let grounds = session.grounds.as_ref()?;
        Some(grounds.targets().map(|facts| (facts.fs.as_str(), facts.device.as_str())).collect())
    }
    fn is_own_run(session: &Session) -> bool {
        session.reference.is_none()
    }
    is_own_run(a)
        && is_own_run(b)
        && is_same_machine(&a.host, &b.host)
        && a.plan.targets().eq(b.plan.targets())
        && file(a) == file(b)
}

/// Returns whether two runs were measured on the same machine with the same kernel.
pub fn is_same_machine(a: &Host, b: &Host) -> bool {
    let identity = |host: &Host| {
        // A container gets a new name at each start.
        let name = if host.container.is_some() { String::new() } else { host.name.clone() };
        (name, host.cpu.model.clone(), host.cpu.allowed, host.kernel.clone(), host.memory.total)
    };
    identity(a) == identity(b)
}

/// The factor, as a logarithm, by which the interval of each cell's ratio is widened.
pub struct Widths<Cell> {
    kept: HashMap<Cell, f64>,
    /// For cells that too few of the saved runs have.
    halves: Option<f64>,
}

pub type Widen = Widths<Job>;
pub type WidenProbes = Widths<ProbeCell>;

impl<Cell: Hash + Eq + Clone> Widths<Cell> {
    /// Computes the widths; `trusted`: saved runs match both.
    fn new(levels: &HashMap<Cell, Vec<f64>>, halves: Option<f64>, trusted: bool) -> Widths<Cell> {
        let all: Vec<Vec<f64>> = levels.values().cloned().collect();
        let kept =
            levels.iter().filter_map(|(cell, own)| Some((cell.clone(), between(own, &all)?)));
        Widths { kept: if trusted { kept.collect() } else { HashMap::new() }, halves }
    }

    pub fn by(&self, cell: &Cell) -> Option<f64> {
        self.kept.get(cell).copied().or(self.halves)
    }
}

impl Widen {
    /// Widens nothing: for trials that alternated.
    pub fn none() -> Widen {
        Widths { kept: HashMap::new(), halves: None }
    }

    pub fn from_pairs(
        pairs: &[(&CellResult, &CellResult)],
        kept: &SavedRuns,
        trusted: bool,
    ) -> Widen {
        fn is_in_rounds(result: &&CellResult) -> bool {
            result.trials.iter().all(|trial| trial.round > 0)
        }
        let all: Vec<Vec<f64>> = pairs
            .iter()
            .flat_map(|(a, b)| [*a, *b])
            .filter(is_in_rounds)
            .map(CellResult::speeds)
            .collect();
        Widths::new(&kept.by_job(), within(all.iter().map(Vec::as_slice)), trusted)
    }
}

impl WidenProbes {
    pub fn from_results(
        results: &[Vec<ProbeResult>; 2],
        kept: &SavedRuns,
        trusted: bool,
    ) -> WidenProbes {
        let all: Vec<Vec<f64>> = results.iter().flatten().map(ProbeResult::values).collect();
        Widths::new(&kept.probes, within(all.iter().map(Vec::as_slice)), trusted)
    }
}

/// The basis of the estimate of the machine's own variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Basis {
    /// The spread of the medians in other saved runs of the same cells.
    #[serde(rename = "kept runs")]
    KeptRuns,
    /// The change from the first half of each run to its second.
    #[serde(rename = "halves")]
    Halves,
    /// Nothing.
    #[serde(rename = "unknown")]
    Unknown,
}

/// Variation that the intervals include on top of the scatter of trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    pub basis: Basis,
    /// Other saved runs that had some of the cells.
    pub runs: usize,
    /// The factor by which equal cells of two runs may differ, 95 %: the median over all cells.
    pub factor: Option<f64>,
    pub text: String,
}

/// Returns the highest number of saved runs that share a cell.
fn largest_count(cells: &[Pair], probes: &[ProbePair], kept: &SavedRuns) -> usize {
    let jobs = cells.iter().map(|pair| kept.runs_of(&pair.cell));
    jobs.chain(probes.iter().map(|pair| kept.runs_of_probe(&pair.cell))).max().unwrap_or(0)
}

/// Returns the remedy for intervals that were widened by the change between halves of a run.
fn remedy(cells: &[Pair], probes: &[ProbePair], kept: &SavedRuns, trusted: bool) -> String {
    if !trusted {
        return String::new();
    }
    let had = largest_count(cells, probes, kept);
    let more = match MIN_SAVED_RUNS.saturating_sub(had).max(1) {
        1 => "1 more saved run".into(),
        more => format!("{more} more saved runs"),
    };
    format!(" {more} of these cells (--save) would measure that; more trials narrow the intervals.")
}

/// Describes the variation included in these pairs; `None` if none has a ratio.
/// `trusted`: saved runs match both.
pub fn describe(
    cells: &[Pair],
    probes: &[ProbePair],
    kept: &SavedRuns,
    trusted: bool,
) -> Option<Drift> {
    let ratios =
        cells.iter().map(|pair| pair.ratio).chain(probes.iter().map(|pair| pair.ratio)).flatten();
    if ratios.filter(|ratio| ratio.interval().is_some()).count() == 0 {
        return None;
    }
    let mut factors: Vec<f64> = cells
        .iter()
        .map(|pair| pair.drift)
        .chain(probes.iter().map(|pair| pair.drift))
        .flatten()
        .collect();
    factors.sort_by(f64::total_cmp);
    let factor = factors.get(factors.len() / 2).copied();
    let known = trusted && largest_count(cells, probes, kept) >= MIN_SAVED_RUNS;
    let by = factor.map_or(String::new(), |factor| show_share(factor - 1.0));
    let (basis, text) = match factor {
        Some(_) if known => (
            Basis::KeptRuns,
            format!(
                "The intervals include how much this machine varies from run to run, about {by}, as seen in {} other saved runs of these cells.",
                kept.runs
            ),
        ),
        Some(_) => (
            Basis::Halves,
            format!(
                "From run to run, results vary by about {by}, estimated from the halves of both \
                 runs: the intervals include that.{}",
                remedy(cells, probes, kept, trusted)
            ),
        ),
        None => (
            Basis::Unknown,
            "The intervals cover these runs only: how much this machine varies from run to run is unknown.".into(),
        ),
    };
    Some(Drift { basis, runs: if basis == Basis::KeptRuns { kept.runs } else { 0 }, factor, text })
}

/// The largest factor that a machine is taken to move by when no saved runs show it.
const MAX_MOVE: f64 = 2.0;

/// Factor of the logarithm by which a cell may move further than most: a change does not affect all
/// cells by the same share.
const FURTHER: f64 = 1.5;

/// Minimum number of saved runs to show how far the machine moves.
const MIN_RUNS: usize = 5;

/// A property that cells share which step together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct StepKind {
    op: Op,
    cache: Cache,
    direct: bool,
}

impl StepKind {
    fn of(job: &Job) -> StepKind {
        StepKind { op: job.op, cache: job.cache, direct: job.direct }
    }
}

/// The common step of all cells of each kind, as a logarithm, as far as the machine may have caused
/// it by itself.
#[derive(Debug, Default)]
pub struct Steps(HashMap<StepKind, f64>);

impl Steps {
    /// Computes them from the cells of two runs on one machine and file.
    pub fn from_pairs(pairs: &[(&CellResult, &CellResult)], kept: &SavedRuns) -> Steps {
        let mut moves: HashMap<StepKind, Vec<f64>> = HashMap::new();
        for (base, other) in pairs {
            if let Some((a, b)) = sound_level(base).zip(sound_level(other)) {
                moves.entry(StepKind::of(&base.cell)).or_default().push(b - a);
            }
        }
        let step = |(kind, moves): (StepKind, Vec<f64>)| {
            let moved = common_move(&moves)?;
            let seen = kept.largest_move(MIN_RUNS, |job| StepKind::of(job) == kind);
            let believed = match seen {
                Some(most) => moved.clamp(-most, most),
                None if moved.abs() <= MAX_MOVE.ln() => moved,
                None => return None,
            };
            Some((kind, FURTHER * believed))
        };
        Steps(moves.into_iter().filter_map(step).collect())
    }

    /// Returns the step of the cells like this one, as a logarithm.
    pub fn of(&self, job: &Job) -> Option<f64> {
        self.0.get(&StepKind::of(job)).copied()
    }
}
