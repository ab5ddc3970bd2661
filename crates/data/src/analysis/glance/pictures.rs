//! Tables of questions that no axis answers: which method was picked, how many blocks take a while,
//! what caches are worth, whether programs agree.

use super::board::{
    Board, BoardCell, BoardColumn, COUNT, Cells, RATIO, differ_only_in, find_top, is_single,
    times_of,
};
use super::model::GlanceFigure;
use crate::analysis::answer::{
    Answer, ColdCost, Finding, Point, describe_read_back, describe_ways, times, times_exactly,
};
use crate::analysis::groups::group_by_key;
use crate::analysis::picked::{MethodRate, PickedMethod, describe_ties};
use crate::analysis::{CellResult, Holds, ProbeResult, remarks};
use crate::catalog::moves_data;
use crate::experiment::MEASURE;
use crate::plan::{Axis, Cache, CpuCache, Job, Op, ProbeCell, Writes};
use crate::record::{DropLevel, Level, Reading, describe_cache_state, describe_method};
use crate::session::Session;
use crate::stats::{Ratio, Summary, median};
use crate::units::column::{self, Unit};
use crate::units::{self, show_bytes, show_nanos, show_rate, show_share};

/// The block sizes that stand for small and for large ones.
const USUAL: [u64; 2] = [4096, 1 << 20];
/// Units of a number of operations.
pub(super) const COUNTS: &[Unit] = &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")];
pub(super) const BYTES: &[Unit] =
    &[(1.0, "B"), (1024.0, "KiB"), (1_048_576.0, "MiB"), (1_073_741_824.0, "GiB")];

/// Returns the board of the measured probes, and the cell that its figure is of; `None` if no
/// probe has a figure that a question asks for.
pub fn lab<'a>(session: &Session, probes: &'a [ProbeResult]) -> Option<(&'a ProbeCell, Board)> {
    let found = remarks::lab_figure(probes, &session.host)?;
    let figure = GlanceFigure {
        summary: found.probe.value?.summary,
        trials: found.probe.counted_trials().len(),
        reported: session.reference.is_some(),
        wrong: false,
        misleading: false,
    };
    let board = Board { title: found.title, beside: found.beside, ..Board::default() };
    Some((&found.probe.cell, board.lead_by(None, Some(figure), column::TIME)))
}

/// Returns what the whole file takes by the method that was picked, above the tries of all.
pub fn picked(session: &Session, results: &[CellResult], all: &[PickedMethod]) -> Option<Board> {
    let first = all.first()?;
    let simplest_of = |pick: &PickedMethod| {
        pick.tried.iter().min_by_key(|method| complexity(&method.cell)).cloned()
    };
    let simplest = simplest_of(first)?;
    let at = results.iter().position(|result| result.cell == first.cell)?;
    let (result, span) = (results.get(at)?, first.cell.span);
    let rate = result.throughput?.summary;
    let of_try = |method: &MethodRate| {
        let summary = Summary { min: method.min, max: method.max, ..alone(method.throughput) };
        let summary = Summary { low: method.low, high: method.high, ..summary };
        BoardCell::new(None, plain(summary, method.tries))
    };
    let whole = BoardCell::new(Some(at), GlanceFigure::of(session, result, rate));
    let gain = |rate: f64, base: &MethodRate| {
        Some(BoardCell::new(None, plain(alone(rate / base.throughput), 1)))
    };
    let mut gains = vec![gain(rate.median, &simplest)];
    let (mut rows, mut rates) = (vec!["the whole file".to_string()], vec![Some(whole)]);
    for pick in all {
        let base = simplest_of(pick)?;
        let state = if all.len() > 1 { describe_cache_state(&pick.cell) } else { String::new() };
        let name = |method: &MethodRate| {
            let mark = if method.cell == pick.cell { " (picked)" } else { "" };
            format!("{}{state}{mark}", describe_method(&method.cell))
        };
        rows.extend(pick.tried.iter().map(name));
        rates.extend(pick.tried.iter().map(of_try).map(Some));
        gains.extend(pick.tried.iter().map(|method| gain(method.throughput, &base)));
    }
    let gains = BoardColumn { intervals: false, ..BoardColumn::new("gain", RATIO, gains) };
    let mut beside = vec![match &first.ceiling {
        Some(of) => {
            format!("{}, {} of what {}", show_rate(rate.median), show_share(of.share), of.name)
        }
        None => show_rate(rate.median),
    }];
    let own = first.tried.iter().find(|method| method.cell == first.cell);
    // A method whose tries show no difference from the picked one is not slower.
    let is_slower = !simplest.no_difference && own.is_some_and(|own| own.cell != simplest.cell);
    beside.extend(own.filter(|_| is_slower).map(|own| {
        let gain = times_exactly(own.throughput / simplest.throughput);
        format!("{gain} as fast as {}", describe_method(&simplest.cell))
    }));
    beside.extend(first.xor.map(|xor| format!("XOR {xor}")));
    let ties = describe_ties(&first.tried);
    let ties = if ties.is_empty() { " It was the fastest in its tries." } else { &ties };
    let facts = vec![format!("picked {}.{ties}", describe_method(&first.cell))];
    let what = if first.xor.is_some() { "the XOR of" } else { "a pass over" };
    let title = format!("{what} {} takes", show_bytes(span));
    let columns = vec![BoardColumn::new("rate", column::RATE, rates), gains];
    let board = Board { title, beside, facts, axis: "method", rows, columns, ..Board::default() };
    let time = times_of(&rate.scaled(1.0 / span.max(1) as f64))?;
    let figure = GlanceFigure::of(session, result, time);
    Some(board.lead_by(Some(0), Some(figure), column::TIME))
}

/// Orders methods by the means that they need, the fewest first.
fn complexity(job: &Job) -> (bool, u32, u32, usize) {
    (job.direct, job.threads, job.depth, job.backend.options.len())
}

/// Returns the picture of a question that is not about one axis.
pub fn picture(session: &Session, results: &[CellResult], answer: &Answer) -> Option<Board> {
    let jobs = || results.iter().map(|result| &result.cell);
    if !jobs().all(|job| moves_data(job) && job.mix.is_none()) {
        return None;
    }
    let of = Pictures { session, results, answer };
    let only = |known: &[Axis]| differ_only_in(results, known);
    if session.plan.experiment == MEASURE {
        return only(&[Axis::Block]).then(|| of.counts())?;
    }
    // A backend that writes has another name.
    let several = results.iter().any(|of| of.cell.backend != results[0].cell.backend);
    let flushes = Axis::CpuCache.differs(jobs());
    match (several, flushes) {
        (false, true) => only(&[Axis::Block, Axis::Cache, Axis::CpuCache]).then(|| of.states())?,
        (true, true) => {
            use Axis::*;
            only(&[Backend, Block, Cache, CpuCache, Size, Count]).then(|| of.ways())?
        }
        (true, false) if jobs().any(|job| job.backend.peer) => {
            only(&[Axis::Backend, Axis::Block, Axis::Cache]).then(|| of.peers())?
        }
        (false, false) if jobs().all(is_single) => {
            use Axis::*;
            let is_known = only(&[Backend, Op, Mix, Sync, Xor, Count, Cache]);
            (Op.differs(jobs()) && is_known).then(|| of.operations())?
        }
        _ => None,
    }
}

struct Pictures<'a> {
    session: &'a Session,
    results: &'a [CellResult],
    answer: &'a Answer,
}

impl<'a> Pictures<'a> {
    /// Returns the results whose jobs are wanted, by bytes or by operations per second.
    fn points(
        &self,
        by: fn(&'a CellResult) -> Option<Point<'a>>,
        wanted: impl Fn(&Job) -> bool,
    ) -> Cells<'a> {
        let all = self.results.iter().enumerate().filter(|(_, result)| wanted(&result.cell));
        all.filter_map(|(at, result)| Some((at, by(result)?))).collect()
    }

    fn cell(&self, (at, point): (usize, Point), summary: Summary) -> BoardCell {
        BoardCell::new(Some(at), GlanceFigure::of(self.session, point.result, summary))
    }

    /// Returns the cell of the fastest result whose job is wanted, in bytes per second.
    fn best(&self, wanted: impl Fn(&Job) -> bool) -> Option<BoardCell> {
        let top = find_top(Some(&self.points(Point::bytes, wanted)))?;
        Some(self.cell(top, top.1.rate))
    }

    /// Returns the time of an operation of the result whose job is wanted.
    fn time(&self, wanted: impl Fn(&Job) -> bool) -> Option<BoardCell> {
        let top = find_top(Some(&self.points(Point::calls, wanted)))?;
        Some(self.cell(top, times_of(&top.1.rate)?))
    }

    /// Returns the block sizes nearest to the usual ones that most states were measured with.
    fn usual_blocks(&self) -> Option<[u64; 2]> {
        let points = self.points(Point::bytes, |_| true);
        let blocks = group_by_key(points, |(_, point)| point.result.cell.block);
        let most = blocks.iter().map(|(_, all)| all.len()).max()?;
        let blocks = blocks.iter().filter(|(_, all)| all.len() == most).map(|(block, _)| *block);
        let nearest = |usual: u64| blocks.clone().min_by_key(|block| block.abs_diff(usual));
        Some([nearest(USUAL[0])?, nearest(USUAL[1])?])
    }

    /// How many blocks take the wanted time.
    fn counts(&self) -> Option<Board> {
        let works = self.results.iter().enumerate();
        let works = works.filter_map(|(at, of)| Some((at, of, of.work()?.of_a_pass())));
        let mut works: Vec<_> = works.collect();
        works.sort_by_key(|(_, result, _)| result.cell.block);
        let column = |title: &str, units, of: &dyn Fn(usize) -> f64| {
            let cell = |row: usize| {
                let (at, result, _) = works[row];
                let figure = GlanceFigure::of(self.session, result, alone(of(row)));
                Some(BoardCell::new(Some(at), figure))
            };
            let cells = (0..works.len()).map(cell).collect();
            BoardColumn { intervals: false, ..BoardColumn::new(title, units, cells) }
        };
        let columns = vec![
            column("count", COUNT, &|row| works[row].2.count as f64),
            column("size", BYTES, &|row| works[row].2.bytes),
            column("time", column::TIME, &|row| works[row].2.nanos),
            column("each", column::TIME, &|row| works[row].2.nanos / works[row].2.count as f64),
        ];
        // A small file ends before the wanted time.
        let low = 0.9 * self.session.plan.trial_time.low.as_nanos() as f64;
        let lasts = |row: &usize| works[*row].2.nanos >= low;
        let away = |row: &usize| works[*row].1.cell.block.abs_diff(USUAL[0]);
        let rows = || 0..works.len();
        let lead = rows().filter(lasts).min_by_key(away).or_else(|| rows().min_by_key(away))?;
        let (_, result, work) = works.get(lead)?;
        let time = show_nanos(work.nanos);
        let title = format!("reads of {} that take {time}", show_bytes(result.cell.block));
        // A count is exact.
        let figure = GlanceFigure::of(self.session, result, alone(work.count as f64));
        let figure = GlanceFigure { reported: true, ..figure };
        let rows = works.iter().map(|(_, result, _)| show_bytes(result.cell.block)).collect();
        let facts = vec![self.answer.text.clone()];
        let axis = Axis::Block.column();
        let board = Board { title, facts, axis, rows, columns, ..Board::default() };
        let board = board.lead_by(Some(lead), Some(figure), COUNTS);
        // Its own trial is the measurement, so there is no interval.
        Some(Board { figure: None, ..board })
    }

    /// The cost of each state of the caches, and of each level of dropping them.
    fn states(&self) -> Option<Board> {
        let [small, large] = self.usual_blocks()?;
        let jobs = self.results.iter().map(|result| &result.cell);
        let states = group_by_key(jobs, |job| (job.cache, job.cpu_cache)).into_iter();
        let mut states: Vec<State> = states.map(|(of, _)| of).collect();
        states.sort_by_key(|(cache, cpu)| (*cache != Cache::Warm, *cpu != CpuCache::Keep));
        let levels = self.session.levels.iter().filter(|level| !level.readings.is_empty());
        let of_level: Vec<(&Level, Result<State, &str>)> =
            levels.map(|level| (level, state_of_level(level.dropped))).collect();
        let mut rows: Vec<Result<State, &str>> = states.into_iter().map(Ok).collect();
        rows.extend(of_level.iter().map(|(_, row)| *row).filter(Result::is_err));
        let reading = |title: &str, part: fn(&Reading) -> u64| {
            let cell = |row: &Result<State, &str>| {
                let (level, _) = of_level.iter().find(|(_, of)| of == row)?;
                let values = level.readings.iter().map(|of| part(of) as f64);
                let values: Vec<f64> = values.collect();
                Some(BoardCell::new(None, plain(alone(median(&values)?), values.len())))
            };
            let cells = rows.iter().map(cell).collect();
            BoardColumn { intervals: false, ..BoardColumn::new(title, column::TIME, cells) }
        };
        let is = |state: State, block: u64| {
            move |job: &Job| (job.cache, job.cpu_cache, job.block) == (state.0, state.1, block)
        };
        let times_of_small = rows.iter().map(|row| self.time(is((*row).ok()?, small)));
        let rates = rows.iter().map(|row| self.best(is((*row).ok()?, large)));
        let mut columns = vec![
            reading("open", |reading| reading.open),
            reading("first", |reading| reading.first),
            BoardColumn::new(&show_bytes(small), column::TIME, times_of_small.collect()),
            BoardColumn::new(&show_bytes(large), column::RATE, rates.collect()),
        ];
        columns.retain(|column| column.highest() > 0.0);
        let [warm, cold] = [Cache::Warm, Cache::Cold].map(|cache| (cache, CpuCache::Keep));
        let figure = self.ratio(is(warm, large), is(cold, large));
        let title = format!("reads of {}, warm relative to cold", show_bytes(large));
        let mut facts: Vec<String> = self.answer.cold_cost.iter().map(ColdCost::describe).collect();
        facts.extend((!of_level.is_empty()).then(|| {
            "open, first: opening the file, then reading its first 4 KiB with what is read ahead"
                .into()
        }));
        let name = |row: &Result<State, &str>| match row {
            Ok((cache, CpuCache::Keep)) => cache.to_string(),
            Ok((cache, CpuCache::Flush)) => format!("{cache}, CPU flushed"),
            Err(level) => (*level).to_string(),
        };
        let rows = rows.iter().map(name).collect();
        let board = Board { title, facts, axis: "state", rows, columns, ..Board::default() };
        Some(board.lead_by(None, figure, RATIO))
    }

    /// Returns how many times as fast one job is as another.
    fn ratio(
        &self,
        own: impl Fn(&Job) -> bool,
        base: impl Fn(&Job) -> bool,
    ) -> Option<GlanceFigure> {
        let (_, own) = find_top(Some(&self.points(Point::bytes, own)))?;
        let (_, base) = find_top(Some(&self.points(Point::bytes, base)))?;
        let Ratio { ratio, low, high } = own.ratio(&base)?;
        let summary = Summary { low, high, ..alone(ratio) };
        let trials = own.result.counted_trials().len().min(base.result.counted_trials().len());
        Some(GlanceFigure { trials, ..GlanceFigure::of(self.session, own.result, summary) })
    }

    /// Which way to read is the fastest, at the smallest block and at its best, and what the caches
    /// are worth to each, over the smallest part of the file.
    fn ways(&self) -> Option<Board> {
        let all = self.points(Point::bytes, |_| true);
        let jobs = || all.iter().map(|(_, point)| &point.result.cell);
        let (span, least) = (jobs().map(|job| job.span).min()?, jobs().map(|job| job.block).min()?);
        let cache = jobs().map(|job| job.cache).min_by_key(|cache| *cache != Cache::Warm)?;
        let names: Vec<String> = group_by_key(jobs(), |job| job.backend.to_string())
            .into_iter()
            .map(|of| of.0)
            .collect();
        let column = |title: &str, block: Option<u64>, state: State| {
            let is_it = |job: &Job| {
                job.span == span
                    && block.is_none_or(|block| job.block == block)
                    && (job.cache, job.cpu_cache) == state
            };
            let cell =
                |name: &String| self.best(|job| is_it(job) && job.backend.to_string() == *name);
            BoardColumn::new(title, column::RATE, names.iter().map(cell).collect())
        };
        let mut columns = vec![
            column(&show_bytes(least), Some(least), (cache, CpuCache::Keep)),
            column("best", None, (cache, CpuCache::Keep)),
            column("flushed", None, (cache, CpuCache::Flush)),
        ];
        if cache == Cache::Warm {
            columns.push(column("cold", None, (Cache::Cold, CpuCache::Keep)));
        }
        columns.retain(|column| column.highest() > 0.0);
        let result = |row: usize| columns.first()?.cells.get(row)?.as_ref()?.result;
        let rates = columns.first()?.cells.iter().enumerate();
        let rates: Vec<(usize, f64)> = rates
            .filter_map(|(row, cell)| Some((row, cell.as_ref()?.figure.summary.median)))
            .collect();
        let (lead, _) = *rates.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        // The plainest way comes first in the plan.
        let (base, _) = *rates.iter().find(|(row, _)| *row != lead)?;
        let is = |row: usize| {
            let job = result(row).and_then(|at| Some(&self.results.get(at)?.cell));
            move |own: &Job| Some(own) == job
        };
        let figure = self.ratio(is(lead), is(base));
        let (own, other) = (&names[lead], &names[base]);
        let title = format!("{own} relative to {other} at {}, {cache}", show_bytes(least));
        let mut facts: Vec<String> = describe_ways(self.results).into_iter().collect();
        facts.push(format!(
            "of {} of the file; best: each at its best block size, flushed: without data in the \
             CPU caches",
            show_bytes(span)
        ));
        let axis = Axis::Backend.column();
        let board = Board { title, facts, axis, rows: names, columns, ..Board::default() };
        Some(board.lead_by(Some(lead), figure, RATIO))
    }

    /// Compares reads of a file with writes of one, in the same blocks.
    fn operations(&self) -> Option<Board> {
        let all = self.points(Point::calls, |_| true);
        let name = |job: &Job| match (job.op, job.writes) {
            (Op::Write, Writes::Append) => "create".to_string(),
            (op, _) => format!("{op}{}", describe_cache_state(job)),
        };
        let rows: Vec<String> = all.iter().map(|(_, point)| name(&point.result.cell)).collect();
        let (first, rest) = all.split_first()?;
        if rest.is_empty() || group_by_key(rows.iter(), |name| *name).len() < rows.len() {
            return None;
        }
        let bytes = |(at, point): &(usize, Point)| {
            Some(self.cell((*at, *point), Point::bytes(point.result)?.rate))
        };
        let rates: Vec<_> = all.iter().map(|of| Some(self.cell(*of, of.1.rate))).collect();
        let times = all.iter().map(|of| Some(self.cell(*of, times_of(&of.1.rate)?))).collect();
        let columns = vec![
            BoardColumn::new("operations", column::PER_SECOND, rates),
            BoardColumn::new("rate", column::RATE, all.iter().map(bytes).collect()),
            BoardColumn { intervals: false, ..BoardColumn::new("each", column::TIME, times) },
        ];
        let job = &first.1.result.cell;
        let state = describe_cache_state(job);
        let comma = if state.is_empty() { "" } else { "," };
        let title = format!("{}s of {}{state}{comma} reach", job.op, show_bytes(job.block));
        let figure = columns[0].cells.first()?.as_ref().map(|cell| cell.figure);
        let read_back = describe_read_back(self.results).into_iter();
        let facts = read_back.chain(self.answer.cold_cost.iter().map(ColdCost::describe)).collect();
        let axis = Axis::Op.column();
        let board = Board { title, facts, axis, rows, columns, ..Board::default() };
        Some(board.lead_by(Some(0), figure, column::PER_SECOND))
    }

    /// Whether other programs agree with iotui where the disk or the largest block takes the time.
    fn peers(&self) -> Option<Board> {
        let all = self.points(Point::bytes, |_| true);
        let jobs = || all.iter().map(|(_, point)| &point.result.cell);
        let names: Vec<(String, Vec<&Job>)> = group_by_key(jobs(), |job| job.backend.to_string());
        let base = names.iter().position(|(_, jobs)| jobs.iter().all(|job| !job.backend.peer))?;
        let (least, most) =
            (jobs().map(|job| job.block).min()?, jobs().map(|job| job.block).max()?);
        let cold = jobs().map(|job| job.cache).min_by_key(|cache| *cache != Cache::Cold)?;
        let warm = jobs().map(|job| job.cache).min_by_key(|cache| *cache != Cache::Warm)?;
        let mut places = vec![(most, cold), (most, warm), (least, warm)];
        places.dedup();
        let of = |row: usize, (block, cache): (u64, Cache)| {
            let name = names[row].0.clone();
            move |job: &Job| {
                (job.block, job.cache) == (block, cache) && job.backend.to_string() == name
            }
        };
        let column = |place: &(u64, Cache)| {
            let title = format!("{} {}", show_bytes(place.0), place.1);
            let cells = (0..names.len()).map(|row| self.best(of(row, *place))).collect();
            BoardColumn::new(&title, column::RATE, cells)
        };
        let columns: Vec<BoardColumn> = places.iter().map(column).collect();
        let place = places[0];
        let point = |row: usize| find_top(Some(&self.points(Point::bytes, of(row, place))));
        let (_, of_base) = point(base)?;
        let peers = (0..names.len()).filter(|row| names[*row].1.iter().any(|job| job.backend.peer));
        let ratios = peers.map(|row| {
            let sound = of_base.result.wrong().is_none();
            let own = point(row).filter(|(_, own)| sound && own.result.wrong().is_none());
            (names[row].0.as_str(), own.and_then(|(_, own)| own.ratio(&of_base)))
        });
        let ratios: Vec<(&str, Option<Ratio>)> = ratios.collect();
        let outcome = ratios.iter().map(|(_, ratio)| agrees(ratio.as_ref())).max()?;
        let others: Vec<&str> = ratios.iter().map(|(name, _)| *name).collect();
        let verbs = if others.len() == 1 { "does" } else { "do" };
        let title = format!(
            "{verbs} {} agree with {} at {}, {}?",
            units::join_names(&others, others.len(), ", "),
            names[base].0,
            show_bytes(place.0),
            place.1
        );
        let said = ratios.iter().map(|(name, ratio)| describe_agreement(name, ratio.as_ref()));
        let beside = said.collect();
        let facts = describe_ways(self.results).into_iter().collect();
        let (axis, lead) = (Axis::Backend.column(), Some(base));
        let rows = names.iter().map(|(name, _)| name.clone()).collect();
        let board = Board { title, beside, facts, axis, rows, lead, columns, ..Board::default() };
        Some(board.judged(outcome))
    }
}

/// Returns `dd is 1.3x as fast`, `fio agrees within 10 %`, or that these trials do not show it.
fn describe_agreement(name: &str, ratio: Option<&Ratio>) -> String {
    match (agrees(ratio), ratio.filter(|ratio| ratio.interval().is_some())) {
        (Holds::Pass, _) => format!("{name} agrees within 10 %"),
        (_, None) => format!("{name}: too few trials"),
        (Holds::Fail, Some(ratio)) => format!("{name} is {} as fast", times(ratio)),
        (_, Some(ratio)) => {
            format!("{name}: up to {} is possible", times_exactly(ratio.max_change()))
        }
    }
}

/// Programs agree within this factor.
const AGREEMENT: f64 = 1.1;

/// Returns whether a ratio shows agreement, or shows none.
fn agrees(ratio: Option<&Ratio>) -> Holds {
    let Some((ratio, (low, high))) = ratio.and_then(|of| Some((of, of.interval()?))) else {
        return Holds::CannotTell;
    };
    let is_far = !(1.0 / AGREEMENT..=AGREEMENT).contains(&ratio.ratio);
    match Finding::of(ratio) {
        Finding::Differs if is_far => Holds::Fail,
        _ if low >= 1.0 / AGREEMENT && high <= AGREEMENT => Holds::Pass,
        _ => Holds::CannotTell,
    }
}

/// The state of the page cache and of the CPU caches.
type State = (Cache, CpuCache);

/// Returns the state that a level of dropping leaves, or the name of a row of its own.
fn state_of_level(dropped: DropLevel) -> Result<State, &'static str> {
    match dropped {
        DropLevel::Nothing => Ok((Cache::Warm, CpuCache::Keep)),
        DropLevel::Data => Ok((Cache::Cold, CpuCache::Keep)),
        DropLevel::Meta => Err("cold, no metadata"),
        DropLevel::All => Err("cold, nothing left"),
    }
}

/// Returns the summary of a single value, without an interval.
fn alone(value: f64) -> Summary {
    let (median, mean, min, max) = (value, value, value, value);
    Summary { median, low: None, high: None, mean, stddev: 0.0, min, max }
}

fn plain(summary: Summary, trials: usize) -> GlanceFigure {
    GlanceFigure { summary, trials, reported: false, wrong: false, misleading: false }
}
