//! What the machine differs by itself between the two runs: from kept runs of the same cells, else
//! from the runs' own halves.

use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;

use super::pair::{Pair, ProbePair};
use crate::analysis::{CellResult, ProbeResult, SummaryOf, probes, results};
use crate::plan::{Job, ProbeCell};
use crate::session::Session;
use crate::stats::drift::{KEPT, between, level, within};
use crate::units::show_share;

/// Medians of cells in other kept runs on the same machine and file, as logarithms.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kept {
    jobs: HashMap<Job, Vec<f64>>,
    probes: HashMap<ProbeCell, Vec<f64>>,
    runs: usize,
}

impl Kept {
    /// Takes a run in, where it has any of these cells; whether it had.
    pub fn add(&mut self, run: &Session, jobs: &[Job], cells: &[ProbeCell]) -> bool {
        let mut any = false;
        let sound = |of: Option<SummaryOf>| of.and_then(|of| level(&of.summary));
        for result in results(run).iter().filter(|result| {
            result.error.is_none() && result.wrong().is_none() && jobs.contains(&result.cell)
        }) {
            if let Some(level) = sound(result.throughput.or(result.operations)) {
                self.jobs.entry(result.cell.clone()).or_default().push(level);
                any = true;
            }
        }
        for result in probes(run).iter().filter(|result| {
            result.error.is_none() && result.wrong().is_none() && cells.contains(&result.cell)
        }) {
            if let Some(level) = sound(result.value) {
                self.probes.entry(result.cell.clone()).or_default().push(level);
                any = true;
            }
        }
        self.runs += usize::from(any);
        any
    }

    /// How many runs were taken in.
    pub fn runs(&self) -> usize {
        self.runs
    }
}

/// Whether two runs were made on the same machine and of the same file, so that a third one like
/// them shows how they differ.
pub fn alike(a: &Session, b: &Session) -> bool {
    let host = |session: &Session| {
        let host = &session.host;
        // A container is named anew each time it starts.
        let name = if host.container.is_some() { String::new() } else { host.name.clone() };
        (name, host.cpu.model.clone(), host.cpu.allowed, host.kernel.clone(), host.memory.total)
    };
    let file = |session: &Session| {
        session
            .grounds
            .as_ref()
            .map(|grounds| (grounds.target.fs.clone(), grounds.target.device.clone()))
    };
    let known = |session: &Session| session.reference.is_none();
    known(a)
        && known(b)
        && host(a) == host(b)
        && a.plan.target == b.plan.target
        && file(a) == file(b)
}

/// By how much the interval of each cell's ratio is widened, as a logarithm.
pub struct Widths<Cell> {
    kept: HashMap<Cell, f64>,
    /// Of the cells that too few kept runs have.
    halves: Option<f64>,
}

pub type Widen = Widths<Job>;
pub type WidenProbes = Widths<ProbeCell>;

impl<Cell: Hash + Eq + Clone> Widths<Cell> {
    /// `trusted`: kept runs are like both.
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
    pub fn of(pairs: &[(&CellResult, &CellResult)], kept: &Kept, trusted: bool) -> Widen {
        let measured = |result: &&CellResult| result.trials.iter().all(|trial| trial.round > 0);
        let all: Vec<Vec<f64>> = pairs
            .iter()
            .flat_map(|(a, b)| [*a, *b])
            .filter(measured)
            .map(CellResult::speeds)
            .collect();
        Widths::new(&kept.jobs, within(all.iter().map(Vec::as_slice)), trusted)
    }
}

impl WidenProbes {
    pub fn of(results: &[Vec<ProbeResult>; 2], kept: &Kept, trusted: bool) -> WidenProbes {
        let values = |result: &ProbeResult| -> Vec<f64> {
            result.counted().into_iter().map(|at| result.trials[at].value).collect()
        };
        let all: Vec<Vec<f64>> = results.iter().flatten().map(values).collect();
        Widths::new(&kept.probes, within(all.iter().map(Vec::as_slice)), trusted)
    }
}

/// What is known of how the machine differs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Basis {
    /// The spread of the medians in other kept runs of the same cells.
    #[serde(rename = "kept runs")]
    KeptRuns,
    /// The change from the first half of each run to its second.
    #[serde(rename = "halves")]
    Halves,
    /// Nothing.
    #[serde(rename = "unknown")]
    Unknown,
}

/// What the intervals hold beside the scatter of trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    pub basis: Basis,
    /// Kept runs that had some of the cells, beside those compared.
    pub runs: usize,
    /// The factor by which equal cells of two runs may differ, 95 %: the middle one of all cells.
    pub factor: Option<f64>,
    pub text: String,
}

/// What would narrow intervals that were widened by halves.
fn remedy(cells: &[Pair], probes: &[ProbePair], kept: &Kept, trusted: bool) -> String {
    if !trusted {
        return "saved runs cannot improve on it, because these two differ in machine or file"
            .into();
    }
    let (jobs, cells_of_probes) = (
        cells.iter().map(|pair| kept.jobs.get(&pair.cell)),
        probes.iter().map(|pair| kept.probes.get(&pair.cell)),
    );
    let had = jobs.chain(cells_of_probes).flatten().map(Vec::len).max().unwrap_or(0);
    let more = match KEPT.saturating_sub(had).max(1) {
        1 => "1 more saved run".into(),
        more => format!("{more} more saved runs"),
    };
    format!("{more} of these cells (--save) would measure it, and more trials narrow the intervals")
}

/// What was known of these pairs; `None` where there are none with a ratio.
/// `trusted`: kept runs are like both.
pub fn told(cells: &[Pair], probes: &[ProbePair], kept: &Kept, trusted: bool) -> Option<Drift> {
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
    let enough = |levels: &Vec<f64>| levels.len() >= KEPT;
    let any = cells.iter().any(|pair| kept.jobs.get(&pair.cell).is_some_and(enough))
        || probes.iter().any(|pair| kept.probes.get(&pair.cell).is_some_and(enough));
    let known = trusted && any;
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
                "Trials of one run do not show how much the machine varies from run to run. \
                 The intervals include about {by} for that, three times the difference between \
                 the halves of each run; {}.",
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
