//! The picture of loading files: how long it takes with a cold cache, by which way, and why not by
//! a mapping.

use super::board::{Board, Cells, find_top, times_of};
use super::model::GlanceFigure;
use crate::analysis::answer::{Finding, Point, times};
use crate::analysis::{CellNames, CellResult};
use crate::catalog::{self, moves_data};
use crate::plan::{Axis, Cache, Choice, DataPath, Info, Job, Op};
use crate::record::Trial;
use crate::session::Session;
use crate::units::column::Unit;
use crate::units::{Precision, counted, show_bytes, show_count};

/// The preset whose question it is.
const LOAD: &str = "load";
/// Times of whole loads.
const SECONDS: &[Unit] = &[(1e6, "ms"), (1e9, "s"), (60e9, "min")];
/// From this share on, bytes came from the page cache.
const MOST: f64 = 0.99;
/// From this factor on, numbers of requests are worth a clause.
const WORTH: f64 = 1.5;

/// Returns the board of files that are read as one, or of the preset, if cold loads are measured;
/// `None` if each result has another cache, or a rate.
pub fn load(session: &Session, results: &[CellResult]) -> Option<Board> {
    let plan = &session.plan;
    let asks = plan.target.listed().len() > 1 || plan.presets.iter().any(|id| id == LOAD);
    let loads =
        |of: &CellResult| of.cell.op == Op::Read && moves_data(&of.cell) && !of.cell.is_paced();
    if !asks || !plan.others.is_empty() || !results.iter().all(loads) {
        return None;
    }
    let of = |wanted: &dyn Fn(&CellResult) -> bool| -> Cells {
        let wanted = results.iter().enumerate().filter(|(_, result)| wanted(result));
        wanted.filter_map(|(at, result)| Some((at, Point::bytes(result)?))).collect()
    };
    let is_cold = |result: &CellResult| result.cell.cache == Cache::Cold;
    let (_, best) = find_top(Some(&of(&is_cold)))?;
    let span = best.result.cell.span;
    let what = match plan.target.listed().len() {
        files if files > 1 && span == plan.target.size() => {
            format!("{} ({})", counted(files, "file"), show_bytes(span))
        }
        _ => show_bytes(span),
    };
    let jobs: Vec<Job> = results.iter().map(|of| Axis::Cache.without(&of.cell)).collect();
    let name = CellNames::from_jobs(jobs.iter()).full(&Axis::Cache.without(&best.result.cell));
    let beside = vec![format!("{} by {name}", rate_of(&best))];
    let is_plain = |result: &CellResult| is_cold(result) && is_mapping(&result.cell.backend);
    let mapping = find_top(Some(&of(&is_plain))).map(|(_, point)| point);
    let mut facts: Vec<String> =
        mapping.and_then(|mapping| compare(&best, &mapping)).into_iter().collect();
    let is_warm = |result: &CellResult| result.cell.cache == Cache::Warm;
    facts.extend(find_top(Some(&of(&is_warm))).and_then(|(_, warm)| describe_second(&best, &warm)));
    let time = times_of(&best.rate)?.scaled(span as f64);
    let figure = GlanceFigure::of(session, best.result, time);
    let title = format!("loading {what} with a cold cache takes at best");
    Some(Board { title, beside, facts, ..Board::default() }.lead_by(None, Some(figure), SECONDS))
}

/// Returns whether it maps files without any advice, as most loaders do.
fn is_mapping(choice: &Choice) -> bool {
    let is_in_place = |info: &Info| info.data_path == DataPath::InPlace;
    choice.options.is_empty() && catalog::info(choice).is_some_and(is_in_place)
}

fn rate_of(point: &Point) -> String {
    Precision::of(point.rate.half_width()).rate(point.rate.median)
}

/// Compares the best way with a mapping: `2.9x as fast as mmap, which ...`.
fn compare(best: &Point, mapping: &Point) -> Option<String> {
    if best.result.cell == mapping.result.cell {
        return None;
    }
    let ratio = best.ratio(mapping).filter(|ratio| Finding::of(ratio) == Finding::Differs)?;
    let requests = requests_of(best.result).zip(requests_of(mapping.result));
    let requests = requests.filter(|(own, of_mapping)| own.factor_to(of_mapping) >= WORTH);
    let requests = requests.map_or(String::new(), |(own, of_mapping)| {
        format!(": {} in place of {}", own.describe(), of_mapping.describe())
    });
    // It has no blocks.
    let name = mapping.result.cell.describe(&[Axis::Backend, Axis::Threads]);
    Some(format!("it is {} as fast as {name} ({}){requests}", times(&ratio), rate_of(mapping)))
}

/// The requests that the disk needs for a whole load.
struct Requests {
    count: f64,
    /// The mean size, bytes.
    bytes: u64,
}

/// Returns the requests of a whole load, as in the trials; `None` if they are unknown.
fn requests_of(result: &CellResult) -> Option<Requests> {
    let counted = result.counted();
    let sum = |of: &dyn Fn(&Trial) -> Option<u64>| -> Option<u64> {
        counted.iter().map(|trial| of(trial)).sum()
    };
    let requests = sum(&|trial| trial.evidence.disk_requests.get())?;
    let bytes = sum(&|trial| trial.evidence.disk_read_bytes)?;
    let bytes = bytes.checked_div(requests).filter(|bytes| *bytes > 0)?;
    Some(Requests { count: (result.cell.span as f64 / bytes as f64).round(), bytes })
}

impl Requests {
    fn factor_to(&self, other: &Requests) -> f64 {
        (self.count / other.count).max(other.count / self.count)
    }

    /// Returns `98.0 k requests of 64 KiB`; the size has two digits, as requests differ.
    fn describe(&self) -> String {
        let unit = 1u64 << self.bytes.ilog2().saturating_sub(3);
        let each = (self.bytes + unit / 2) / unit * unit;
        format!("{} requests of {}", show_count(self.count), show_bytes(each))
    }
}

/// Describes the second load, if its bytes came from the page cache.
fn describe_second(cold: &Point, warm: &Point) -> Option<String> {
    let from_memory = warm.result.source?.page_cache >= MOST;
    let faster = warm.rate.median / cold.rate.median;
    (from_memory && warm.result.wrong().is_none()).then(|| {
        let by = Precision::of(cold.rate.half_width()).times(faster);
        format!("the second load comes from the page cache at {}: {by} as fast", rate_of(warm))
    })
}
