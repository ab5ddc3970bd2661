//! The picture of a question that bytes per second do not answer: one large figure in the unit of
//! the question, and the small table that proves it.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use super::model::GlanceFigure;
use crate::analysis::answer::{Finding, Knee, Point, best_of, times, times_as_fast};
use crate::analysis::groups::group_by_key;
use crate::analysis::{CellResult, Expected, Holds, brief_words};
use crate::catalog::moves_data;
use crate::experiment::{CALLS, MEASURE, asks_for_time};
use crate::plan::{Axis, Cache, Job, Op, Plan};
use crate::record::Severity;
use crate::session::Session;
use crate::stats::{Summary, median};
use crate::units::column::{self, Unit};
use crate::units::{self, Precision, Rates, join_names, show_nanos};

/// The block size in which people ask for the latency of a read.
const USUAL_BLOCK: u64 = 4096;
/// Blocks up to this size cost no more than the call itself.
const SMALL: u64 = 64;
/// A median is close to the highest from this share on: the tolerance of a question.
const CLOSE_SHARE: f64 = 0.9;
/// If half of the intervals are wider, relative to their medians, they leave open what is close.
const MOST_UNCERTAIN: f64 = 0.2;
/// From this ratio of times on, a backend is worth a sentence of its own.
const FAR_SLOWER: f64 = 2.0;

/// A large figure, the table below it, and the sentences of its question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Board {
    /// Names the figure: `one random read of 4 KiB, direct, takes on average`.
    pub title: String,
    /// `69`, `64`, `NO`.
    pub number: String,
    /// `µs`, `KiB`.
    pub unit: String,
    /// That unit in the unit of the figure: 1000 nanoseconds.
    pub factor: f64,
    /// The figure behind the number; `None` if it is not a measured one.
    pub figure: Option<GlanceFigure>,
    /// The outcome behind the word that stands in place of a number.
    pub outcome: Option<Holds>,
    /// Sentences next to the number: `half of them take up to 63 µs`.
    pub beside: Vec<String>,
    /// Sentences of the answer: in place of the usual ones where a table replaces their picture,
    /// else before them.
    pub facts: Vec<String>,
    /// The axis of the rows.
    pub axis: &'static str,
    /// The names of the rows; none if the number stands above the usual picture.
    pub rows: Vec<String>,
    /// The row of the number.
    pub lead: Option<usize>,
    pub columns: Vec<BoardColumn>,
    /// The figures of the table are the answer themselves: each is drawn large, with a bar.
    pub large: bool,
}

/// Figures of one unit, one for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardColumn {
    /// `direct`, `p99`.
    pub title: String,
    /// The units of its figures, smallest first.
    pub units: &'static [Unit],
    /// Its figures have intervals: percentiles of latency have none.
    pub intervals: bool,
    pub cells: Vec<Option<BoardCell>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct BoardCell {
    /// An index into the results; `None` for a try or a reading.
    pub result: Option<usize>,
    pub figure: GlanceFigure,
    /// Other figures of the same result, the most important first: `84.0 k IOPS`.
    pub details: Vec<String>,
    /// The hue of the backend in every chart, where rows differ in it.
    pub hue: Option<usize>,
    /// Why it is easily misread or wrong, in a few words; empty if it is neither.
    pub caveat: String,
}

impl BoardCell {
    pub(super) fn new(result: Option<usize>, figure: GlanceFigure) -> BoardCell {
        BoardCell { result, figure, details: Vec::new(), hue: None, caveat: String::new() }
    }
}

/// A ratio.
pub const RATIO: &[Unit] = &[(1.0, "x")];
/// A number that is shown with all of its digits.
pub const COUNT: &[Unit] = &[(1.0, "")];
/// Bytes per second as vendors print them.
pub const VENDOR: &[Unit] = &[(1e6, "MB/s")];

impl BoardColumn {
    pub(super) fn new(
        title: &str,
        units: &'static [Unit],
        cells: Vec<Option<BoardCell>>,
    ) -> BoardColumn {
        BoardColumn { title: title.into(), units, intervals: true, cells }
    }

    /// Returns the interval of a row's figure, or why it has none; empty for an empty row.
    pub fn describe_certainty(&self, row: usize) -> String {
        let figure = self.cells.get(row).and_then(Option::as_ref).map(|cell| &cell.figure);
        match figure {
            Some(figure) if self.intervals || figure.wrong => figure.describe_certainty(),
            _ => String::new(),
        }
    }

    /// Returns the unit of the figures, of the requested ones if they are bytes per second.
    fn unit(&self, rates: Rates) -> Unit {
        let units = match (self.units, rates.units()) {
            (column::RATE | VENDOR, [one]) => std::slice::from_ref(one),
            (column::RATE, units) => units,
            _ => self.units,
        };
        let values = self.cells.iter().flatten().map(|cell| cell.figure.summary.median);
        column::unit(values, units)
    }

    /// Returns the divisor of the figures in [`texts`](Self::texts).
    pub fn factor(&self, rates: Rates) -> f64 {
        self.unit(rates).0
    }

    /// Returns the title with the unit, and the text of each row with aligned decimal points.
    /// `rates`: the requested units of bytes per second.
    pub fn texts(&self, rates: Rates) -> (String, Vec<String>) {
        let (factor, unit) = self.unit(rates);
        let title = match self.highest() > 0.0 && !unit.is_empty() {
            true => format!("{}, {unit}", self.title),
            false => self.title.clone(),
        };
        let text = |cell: &BoardCell| {
            let GlanceFigure { summary, .. } = cell.figure;
            let precision = if self.intervals { cell.figure.precision() } else { Precision::Full };
            match self.units {
                COUNT => format!("{:.0}", summary.median),
                _ => precision.short_figure(summary.median / factor),
            }
        };
        (title, column::align_texts(self.cells.iter().map(|cell| cell.as_ref().map(text))))
    }

    /// Returns whether more is better.
    pub fn is_rate(&self) -> bool {
        [column::PER_SECOND, column::RATE, VENDOR].contains(&self.units)
    }

    /// Returns the largest figure.
    pub fn highest(&self) -> f64 {
        self.cells.iter().flatten().map(|cell| cell.figure.summary.median).fold(0.0, f64::max)
    }
}

impl Board {
    /// Returns why a figure of a row is easily misread or wrong.
    pub fn caveat(&self, row: usize) -> Option<(Severity, &str)> {
        let cells = self.columns.iter().filter_map(|column| column.cells.get(row)?.as_ref());
        let mut faulty = cells.filter_map(|cell| Some((cell.figure.severity()?, &*cell.caveat)));
        faulty.find(|(_, caveat)| !caveat.is_empty())
    }

    /// Returns the figures that it shows.
    pub fn cells(&self) -> impl Iterator<Item = &BoardCell> {
        self.columns.iter().flat_map(|column| column.cells.iter().flatten())
    }

    /// Returns the highest figure of the columns in these units: the scale of their bars.
    pub fn highest(&self, units: &[Unit]) -> f64 {
        let same = self.columns.iter().filter(|column| column.units == units);
        same.map(BoardColumn::highest).fold(0.0, f64::max)
    }

    /// Returns the half width of the widest interval that it shows, the large figure's among them.
    pub fn widest(&self) -> Option<f64> {
        let with_intervals = self.columns.iter().filter(|column| column.intervals);
        let cells = with_intervals.flat_map(|column| column.cells.iter().flatten());
        let figures = cells.map(|cell| &cell.figure).chain(&self.figure);
        figures.filter_map(|figure| figure.summary.half_width()).reduce(f64::max)
    }

    /// Returns whether its figure is certain enough for large digits.
    pub fn suits_large(&self) -> bool {
        self.figure.is_none_or(|figure| figure.suits_large())
    }

    /// Returns half of the interval of its figure, with the ends of a wide one.
    pub fn describe_spread(&self) -> String {
        self.figure.map_or(String::new(), |figure| figure.describe_spread(self.factor))
    }

    /// Returns the ends of the interval of its figure.
    pub fn range(&self) -> String {
        self.figure.map_or(String::new(), |figure| figure.describe_range(self.factor))
    }

    /// Returns the large figure in a sentence; empty without one.
    pub fn headline(&self) -> String {
        if self.number.is_empty() {
            return String::new();
        }
        let interval = self.figure.map_or(String::new(), |figure| figure.describe_certainty());
        // A factor is one word: `9.6x`.
        let is_word = self.unit == RATIO[0].1 || self.unit.starts_with('/');
        let gap = if is_word { "" } else { " " };
        let is_open = self.outcome == Some(Holds::CannotTell);
        let number = if is_open { "not known yet" } else { self.number.as_str() };
        // A title above a table ends with its verb.
        let colon = if self.rows.is_empty() { ":" } else { "" };
        let said = format!("{}{colon} {number}{gap}{} {interval}", self.title, self.unit);
        [&[said.trim_end().to_string()], self.beside.as_slice()].concat().join(", ")
    }

    /// Sets the word in place of the large figure.
    pub(super) fn judged(self, outcome: Holds) -> Board {
        let number = match outcome {
            Holds::Pass => "YES",
            Holds::CannotTell => "?",
            Holds::Fail => "NO",
        };
        Board { number: number.into(), outcome: Some(outcome), ..self }
    }

    /// Returns the severity to mark at a figure, once for each result of a row.
    pub fn mark(&self, row: usize, column: usize) -> Option<Severity> {
        let own = self.columns.get(column)?.cells.get(row)?.as_ref()?;
        let mut earlier =
            self.columns[..column].iter().filter_map(|of| of.cells.get(row)?.as_ref());
        let is_marked = own.result.is_some() && earlier.any(|of| of.result == own.result);
        own.figure.severity().filter(|_| !is_marked)
    }

    /// Sets the large figure, and the row that has it.
    pub(super) fn lead_by(
        self,
        row: Option<usize>,
        figure: Option<GlanceFigure>,
        units: &'static [Unit],
    ) -> Board {
        let Some(figure) = figure else { return Board { lead: row, ..self } };
        let (factor, unit) = column::unit_for(figure.summary.median, units);
        let (number, unit) = (figure.number(factor), unit.into());
        Board { lead: row, number, factor, unit, figure: Some(figure), ..self }
    }
}

/// Returns the board with the rows of all these results, measured or not: during a run, each cell
/// has its row from the start.
pub(super) fn growing(session: &Session, results: &[CellResult], knees: &[Knee]) -> Option<Board> {
    let of = Ladder { session, results, knees };
    let jobs = || results.iter().map(|result| &result.cell);
    let axis = Axis::best(jobs());
    // Of cells that differ in anything else, the fastest would stand for several kinds of work.
    let only = |known: &[Axis]| differ_only_in(results, known);
    if session.plan.experiment == CALLS {
        return of.calls();
    }
    if !jobs().all(moves_data) {
        return None;
    }
    let (are_single, all_read) = (jobs().all(is_single), jobs().all(|job| job.op == Op::Read));
    match axis {
        _ if jobs().all(asks_for_time) => {
            let known = [Axis::Backend, Axis::Block, Axis::Cache, Axis::Direct];
            only(&known).then(|| of.latency())?
        }
        Some(axis @ (Axis::Depth | Axis::Mix)) => {
            only(&[axis, Axis::Backend, Axis::Block]).then(|| of.load(axis))?
        }
        // Preset `measure` asks for counts.
        Some(Axis::Block) if are_single && all_read && session.plan.experiment != MEASURE => {
            only(&[Axis::Block, Axis::Cache]).then(|| of.block_size())?
        }
        _ => None,
    }
}

/// Returns whether the cells differ in no other axis.
pub(super) fn differ_only_in(results: &[CellResult], known: &[Axis]) -> bool {
    let jobs = || results.iter().map(|result| &result.cell);
    Axis::ALL.into_iter().all(|axis| known.contains(&axis) || !axis.differs(jobs()))
}

/// Returns whether one operation at a time is in flight.
pub(super) fn is_single(job: &Job) -> bool {
    job.depth == 1 && job.threads == 1 && job.mix.is_none()
}

/// Returns whether everything is as expected.
pub(super) fn judge(plan: &Plan, expected: &[Expected]) -> Option<Board> {
    // The gravest outcome is that of all.
    let gravest = expected.iter().max_by_key(|one| one.outcome)?;
    let asked: Vec<String> = expected.iter().map(|one| one.expectation.describe()).collect();
    let has_profile = expected.iter().any(|one| one.expectation.by.is_some());
    let title = match has_profile {
        true => format!("{} It asks for {}", plan.question()?, asked.join(", ")),
        false => plan.question()?,
    };
    let beside = vec![gravest.name_cells(gravest.outcome)];
    Some(Board { title, beside, ..Board::default() }.judged(gravest.outcome))
}

/// Builds tables of results along an axis.
struct Ladder<'a> {
    session: &'a Session,
    results: &'a [CellResult],
    knees: &'a [Knee],
}

/// Results of one row and column, with their indexes among all.
pub(super) type Cells<'a> = Vec<(usize, Point<'a>)>;

impl<'a> Ladder<'a> {
    fn jobs(&self) -> impl Iterator<Item = &'a Job> {
        self.results.iter().map(|result| &result.cell)
    }

    /// Returns each value of the jobs once, the smallest first.
    fn values<T: Ord>(&self, of: impl Fn(&Job) -> T) -> Vec<T> {
        let values: BTreeSet<T> = self.jobs().map(of).collect();
        values.into_iter().collect()
    }

    /// Returns the measured results by a key of their jobs.
    fn points<K: Clone + Eq + Hash>(&self, key: impl Fn(&Job) -> K) -> HashMap<K, Cells<'a>> {
        let all = self.results.iter().enumerate();
        let points = all.filter_map(|(at, result)| Some((at, Point::calls(result)?)));
        group_by_key(points, |(_, point)| key(&point.result.cell)).into_iter().collect()
    }

    /// Returns a cell of each of these results, with a figure from its operations per second.
    fn cells(
        &self,
        best: &[Option<(usize, Point)>],
        summary: impl Fn(&Point) -> Option<Summary>,
    ) -> Vec<Option<BoardCell>> {
        let cell = |(result, point): &(usize, Point)| {
            let figure = self.figure(point.result, summary(point)?);
            let caveat = point.result.faults().map(brief_words).next().unwrap_or_default();
            Some(BoardCell { caveat, ..BoardCell::new(Some(*result), figure) })
        };
        best.iter().map(|of| of.as_ref().and_then(cell)).collect()
    }

    fn figure(&self, result: &CellResult, summary: Summary) -> GlanceFigure {
        GlanceFigure::of(self.session, result, summary)
    }

    /// How long one random read takes, by block size and state of the cache.
    fn latency(&self) -> Option<Board> {
        let (blocks, states) = (self.values(|job| job.block), self.values(state));
        let points = self.points(|job| (job.block, state(job)));
        let of = |block: u64, own: &(u8, String)| points.get(&(block, own.clone()));
        let column = |own: &(u8, String)| {
            let best: Vec<_> = blocks.iter().map(|block| find_top(of(*block, own))).collect();
            let cells = self.cells(&best, |point| times_of(&point.rate));
            BoardColumn::new(&own.1, column::TIME, cells)
        };
        let columns: Vec<BoardColumn> = states.iter().map(column).collect();
        let usual = blocks.iter().position(|block| *block >= USUAL_BLOCK);
        let lead = usual.unwrap_or(blocks.len().checked_sub(1)?);
        let (state, column) = states.iter().zip(&columns).next()?;
        let cell = column.cells.get(lead)?.as_ref();
        let block = units::show_bytes(*blocks.get(lead)?);
        let title = format!("one random read of {block}, {}, takes on average", state.1);
        let mut beside = cell.map_or(Vec::new(), |cell| self.percentiles(cell.result));
        let warm = columns.iter().find(|column| column.title == Cache::Warm.to_string());
        let warm = warm.filter(|own| *own != column).and_then(|own| own.cells.get(lead)?.as_ref());
        let sound = cell.zip(warm).filter(|(cell, warm)| !cell.figure.wrong && !warm.figure.wrong);
        beside.extend(sound.map(|(cell, warm)| {
            let (slow, fast) = (cell.figure.summary.median, warm.figure.summary.median);
            let (own, both) = (warm.figure.precision(), cell.figure.precision());
            let by = both.max(own).times(slow / fast);
            format!("from memory {} ({by} as fast)", own.nanos(fast))
        }));
        let figure = cell.map(|cell| cell.figure);
        let own = of(*blocks.get(lead)?, state);
        let facts = describe_backends(own, &format!("at {block}, {}", state.1));
        let rows = blocks.into_iter().map(units::show_bytes).collect();
        let board =
            Board { title, beside, facts, axis: Axis::Block.column(), rows, ..Board::default() };
        Some(Board { columns, ..board.lead_by(Some(lead), figure, column::TIME) })
    }

    /// How many operations per second a queue depth or a mix of reads and writes reaches, and how
    /// long they take.
    fn load(&self, axis: Axis) -> Option<Board> {
        let block = *self.values(|job| job.block).first()?;
        let steps = self.values(|job| axis.value_of(job));
        let points = self.points(|job| (job.block, axis.value_of(job)));
        let of = |step: u64| points.get(&(block, step));
        let best: Vec<_> = steps.iter().map(|step| find_top(of(*step))).collect();
        let percentile = |title: &str, of: fn(&CellResult) -> Option<f64>| {
            let cells = self.cells(&best, |point| Summary::from_values(&[of(point.result)?]));
            BoardColumn { intervals: false, ..BoardColumn::new(title, column::TIME, cells) }
        };
        let operations = self.cells(&best, |point| Some(point.rate));
        let mut columns = vec![BoardColumn::new("operations", column::PER_SECOND, operations)];
        columns.push(percentile("p50", |of| of.latency?.p50));
        columns.push(percentile("p99", |of| of.latency?.p99));
        let is_known = |column: &BoardColumn| column.intervals || column.highest() > 0.0;
        columns.retain(is_known);
        let operations = columns.first()?;
        let knee = self.knee(axis).filter(|knee| knee.holds && !knee.rising);
        let at = knee.and_then(|knee| steps.iter().position(|step| *step == knee.at));
        let most = || {
            (0..steps.len()).max_by(|a, b| value(operations, *a).total_cmp(&value(operations, *b)))
        };
        let lead = at.or_else(most)?;
        let cell = operations.cells.get(lead)?.as_ref();
        let job = self.jobs().next()?;
        let rows: Vec<String> = steps.iter().map(|step| axis.tick(*step as f64)).collect();
        let step = axis.show(*steps.get(lead)?);
        let (order, op) = (order(job), if axis == Axis::Mix { "operations" } else { op_name(job) });
        let title = format!("{order}{op} of {} at {step} reach", units::show_bytes(block));
        let mut facts: Vec<String> = match (axis, at) {
            (Axis::Depth, Some(_)) if knee.is_some_and(Knee::is_sure) && lead + 1 < steps.len() => {
                vec![format!("from {step} on no more operations, only longer waiting")]
            }
            _ => Vec::new(),
        };
        facts.extend(describe_backends(of(*steps.get(lead)?), &format!("at {step}")));
        let beside = cell.map_or(Vec::new(), |cell| self.percentiles(cell.result));
        let figure = cell.map(|cell| cell.figure);
        let board = Board { title, beside, facts, axis: axis.column(), rows, ..Board::default() };
        Some(Board { columns, ..board.lead_by(Some(lead), figure, column::PER_SECOND) })
    }

    /// The cost of a call, by backend: of reads the smallest, from memory where that was measured.
    fn calls(&self) -> Option<Board> {
        let reads = || self.jobs().filter(|job| moves_data(job));
        let least = reads().map(|job| job.block).min().filter(|block| *block <= SMALL);
        let state = reads().map(|job| job.cache).max_by_key(|cache| *cache == Cache::Warm);
        let is_shown =
            |job: &Job| !moves_data(job) || (Some(job.block), Some(job.cache)) == (least, state);
        let shown = self.jobs().filter(|job| is_shown(job));
        let names = group_by_key(shown, |job| job.backend.to_string());
        let points = self.points(|job| (job.backend.to_string(), is_shown(job)));
        let best: Vec<_> =
            names.iter().map(|(name, _)| find_top(points.get(&(name.clone(), true)))).collect();
        let columns = vec![
            BoardColumn::new("one call", column::TIME, self.cells(&best, |of| times_of(&of.rate))),
            BoardColumn::new("calls", column::PER_SECOND, self.cells(&best, |of| Some(of.rate))),
        ];
        let is_read = |(_, jobs): &(String, Vec<&Job>)| jobs.iter().any(|job| moves_data(job));
        let lead = names.iter().position(is_read).unwrap_or(0);
        let (base, _) = names.get(lead)?;
        let figure = columns.first()?.cells.get(lead)?.as_ref().map(|cell| cell.figure);
        let what = least.map_or(String::new(), |block| format!(" of {}", units::show_bytes(block)));
        let title = format!("a call of {base}{what} takes");
        let others = names.iter().zip(&best).filter(|((name, _), _)| name != base);
        let said = others.filter_map(|((name, _), top)| {
            let ratio = top.as_ref()?.1.ratio(&best[lead].as_ref()?.1)?;
            let said = times_as_fast((name, base), &ratio, ["is", "was"], false);
            let is_faster = Finding::of(&ratio) == Finding::Differs && ratio.ratio > 1.0;
            let moves = moves_data(&top.as_ref()?.1.result.cell);
            Some(if is_faster && !moves { said + ", moving no data" } else { said })
        });
        let said = said.collect::<Vec<_>>().join("; ");
        let facts = (!said.is_empty()).then_some(said).into_iter().collect();
        let rows = names.iter().map(|(name, _)| name.clone()).collect();
        let board = Board { title, facts, axis: Axis::Backend.column(), rows, ..Board::default() };
        Some(Board { columns, ..board.lead_by(Some(lead), figure, column::TIME) })
    }

    /// Which block size is enough, above the usual picture.
    fn block_size(&self) -> Option<Board> {
        let knee = self.knee(Axis::Block)?;
        let (at, beside) = match knee.is_sure() {
            true => (Some(knee.at), "larger blocks gain less than 5 %".into()),
            false => self.size_near_peak(knee)?,
        };
        let shown = at.map_or("?".into(), units::show_bytes);
        let (number, unit) = shown.split_once(' ').unwrap_or((&shown, ""));
        let title =
            format!("block size that is enough for {}, {}", knee.cell.backend, knee.cell.cache);
        let others = self.knees.iter().filter(|of| of.axis == Axis::Block && *of != knee);
        let named = others.filter_map(|of| {
            let at = if of.is_sure() { of.at } else { self.size_near_peak(of)?.0? };
            Some(format!("{}: {}", of.cell.cache, units::show_bytes(at)))
        });
        let beside = [beside].into_iter().chain(named).collect();
        let (number, unit) = (number.into(), unit.into());
        let outcome = at.is_none().then_some(Holds::CannotTell);
        Some(Board { title, number, unit, outcome, beside, ..Board::default() })
    }

    /// Returns the smallest block size from where every median of this curve is close to the
    /// highest, and a sentence about it; no size if the intervals are too wide for that.
    ///
    /// `None` for published figures, which have no intervals.
    fn size_near_peak(&self, knee: &Knee) -> Option<(Option<u64>, String)> {
        let is_own =
            |of: &&CellResult| knee.axis.without(&of.cell) == knee.axis.without(&knee.cell);
        let sound = self.results.iter().filter(|of| of.wrong().is_none()).filter(is_own);
        let mut curve: Vec<(u64, &Summary)> = sound
            .filter_map(|of| Some((of.cell.block, &of.throughput.as_ref()?.summary)))
            .collect();
        curve.sort_by_key(|(block, _)| *block);
        let peak = curve.iter().map(|(_, rate)| rate.median).max_by(f64::total_cmp)?;
        if self.session.reference.is_some() {
            return None;
        }
        let widths: Option<Vec<f64>> = curve.iter().map(|(_, rate)| rate.half_width()).collect();
        let Some(usual) = widths.and_then(|widths| median(&widths)) else {
            return Some((None, "too few trials to tell".into()));
        };
        if usual > MOST_UNCERTAIN {
            let percent = units::show_percent(usual * 100.0);
            let half = "half of the intervals are wider than";
            return Some((None, format!("{half} \u{b1}{percent} %: too wide to tell")));
        }
        let is_far = |(_, rate): &(u64, &Summary)| rate.median < CLOSE_SHARE * peak;
        let steady = curve.iter().rposition(is_far).map_or(0, |last| last + 1);
        let (at, why) = match curve.len() - steady {
            0 => {
                let first = curve.iter().position(|point| !is_far(point));
                (first?, "the smallest within 10 % of the fastest; larger ones are no better")
            }
            1 => (steady, "the largest tried; larger blocks may gain more"),
            _ => (steady, "from here on all are within 10 % of the fastest"),
        };
        Some((Some(curve.get(at)?.0), why.into()))
    }

    /// Returns the knee of the slowest state of the cache, where the block size costs most.
    fn knee(&self, axis: Axis) -> Option<&'a Knee> {
        let own = self.knees.iter().filter(|knee| knee.axis == axis);
        own.min_by_key(|knee| state(&knee.cell).0)
    }

    /// Returns what half of the operations and one in a hundred take.
    fn percentiles(&self, result: Option<usize>) -> Vec<String> {
        let latency = result.and_then(|result| self.results.get(result)?.latency);
        let Some(latency) = latency else { return Vec::new() };
        let half = latency.p50.map(|p50| format!("half of them up to {}", show_nanos(p50)));
        let slow = latency.p99.map(|p99| format!("1 in 100 over {}", show_nanos(p99)));
        half.into_iter().chain(slow).collect()
    }
}

/// Returns the fastest of the measured results of a row.
pub(super) fn find_top<'a>(cells: Option<&Cells<'a>>) -> Option<(usize, Point<'a>)> {
    best_of(cells?).map(|(_, result, top)| (result, top))
}

/// Compares the backends of one row: the fastest, and each that is far slower.
fn describe_backends(cells: Option<&Cells>, place: &str) -> Vec<String> {
    let Some(cells) = cells else { return Vec::new() };
    let Some((best, _, top)) = best_of(cells) else { return Vec::new() };
    let name = |job: &Job| job.backend.to_string();
    let sound = || cells.iter().map(|(_, point)| point).filter(|of| of.result.wrong().is_none());
    let others = || sound().filter(|of| of.result.cell != best.cell);
    let differs = |of: &&Point| matches!(of.compare(&top), Some((Finding::Differs, false)));
    let slower: Vec<&Point> = others().filter(differs).collect();
    let mut said = Vec::new();
    if others().count() > 0 && others().all(|of| of.compare(&top).is_some()) {
        let mut alike = vec![name(&best.cell)];
        alike.extend(others().filter(|of| !differs(of)).map(|of| name(&of.result.cell)));
        said.push(match alike.as_slice() {
            [one] => format!("{place}: {one} is the fastest"),
            some => format!(
                "{place}: no difference shows between {}",
                join_names(some, some.len(), ", ")
            ),
        });
    }
    said.extend(slower.iter().filter_map(|of| {
        let job = &of.result.cell;
        // Operations in flight together take their time together.
        let together = f64::from(job.depth) * f64::from(job.all_threads());
        let (ratio, time) = (top.ratio(of)?, times_of(&of.rate)?.scaled(together));
        let name = name(job);
        let time = Precision::of(time.half_width()).nanos(time.median);
        let how = format!("{place}: {name} takes {time}, {} as long", times(&ratio));
        (ratio.ratio >= FAR_SLOWER).then_some(how)
    }));
    said
}

fn value(column: &BoardColumn, row: usize) -> f64 {
    let cell = column.cells.get(row).and_then(Option::as_ref);
    cell.map_or(0.0, |cell| cell.figure.summary.median)
}

/// Returns the order and name of the state that a job finds its data in, the slowest first.
fn state(job: &Job) -> (u8, String) {
    match (job.direct, job.cache) {
        (true, _) => (0, Axis::Direct.column().into()),
        (false, Cache::Cold) => (1, job.cache.to_string()),
        (false, Cache::AsIs) => (2, job.cache.to_string()),
        (false, Cache::Warm) => (3, job.cache.to_string()),
    }
}

/// Returns `random ` for such a job, `zipf:0.99 ` where blocks are drawn.
fn order(job: &Job) -> String {
    if job.pattern.is_random() { format!("{} ", job.pattern) } else { String::new() }
}

fn op_name(job: &Job) -> &'static str {
    if job.op == Op::Write { "writes" } else { "reads" }
}

/// Returns the time of one operation, nanoseconds, from operations per second.
pub(super) fn times_of(rate: &Summary) -> Option<Summary> {
    let time = |rate: f64| 1e9 / rate;
    let of = |rate: Option<f64>| rate.filter(|rate| *rate > 0.0).map(time);
    let median = of(Some(rate.median))?;
    Some(Summary {
        median,
        low: of(rate.high),
        high: of(rate.low),
        mean: median,
        stddev: rate.stddev / rate.median * median,
        min: of(Some(rate.max)).unwrap_or(median),
        max: of(Some(rate.min)).unwrap_or(median),
    })
}
