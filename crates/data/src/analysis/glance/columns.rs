//! The largest figures: a column per kind of access, a row per backend, the best cell of each.

use super::access::{Access, Kinds};
use super::board::Cells;
use super::model::GlanceFigure;
use crate::analysis::CellResult;
use crate::analysis::answer::{Finding, Point, best_of};
use crate::analysis::cell_result::MAIN_SHARE;
use crate::catalog::{identity, moves_data};
use crate::plan::{Axis, Cache, Job};
use crate::session::Session;
use crate::stats::Ratio;
use crate::units::column::{self, PER_SECOND, Unit};
use crate::units::{self, Rates};

/// One kind of access, such as reads from the device.
#[derive(Debug, Clone, PartialEq)]
pub struct GlanceColumn {
    pub access: Access,
    /// `from the device`, `from memory`, `cold`; empty if nothing is known.
    pub place: String,
    pub cache: Cache,
    /// Bytes per second; else operations per second.
    pub bytes: bool,
    /// A bar for each row of the glance; `None` if it was not measured.
    pub bars: Vec<Option<GlanceBar>>,
    /// The row with the highest figure.
    pub best: usize,
    /// Indexes of all its results.
    pub results: Vec<usize>,
    /// The figure that chooses the unit.
    scale: f64,
}

/// A row: a backend, with what else distinguishes it from the others.
#[derive(Debug, Clone, PartialEq)]
pub struct GlanceRow {
    /// `read`, `uring queue depth 32`, `read on B`.
    pub name: String,
    /// The hue of the backend in every chart.
    pub hue: usize,
}

/// Returns the name of a row; empty for an unknown row.
pub fn row_name(rows: &[GlanceRow], row: usize) -> &str {
    rows.get(row).map_or("", |row| row.name.as_str())
}

/// The best cell of a row and column.
#[derive(Debug, Clone, PartialEq)]
pub struct GlanceBar {
    /// An index into the results.
    pub result: usize,
    pub figure: GlanceFigure,
    /// Settings that the name of the row leaves out: `256 KiB`, `4 KiB, random, 4 threads`.
    pub at: String,
    /// The 99th percentile of a commit, nanoseconds; `None` if too few were made.
    pub tail: Option<f64>,
    /// Its speed relative to the bar of the best row.
    pub ratio: Option<Ratio>,
    /// It is not wrong, and these trials do not show that it is slower than the best row.
    pub no_difference: bool,
}

impl GlanceColumn {
    pub fn best_bar(&self) -> Option<&GlanceBar> {
        self.bars.get(self.best)?.as_ref()
    }

    /// Returns the highest median of its bars.
    pub fn highest(&self) -> f64 {
        self.bars.iter().flatten().map(|bar| bar.figure.summary.median).fold(0.0, f64::max)
    }

    /// Returns the unit of its figures.
    pub fn unit(&self, rates: Rates) -> Unit {
        column::unit_for(self.scale, if self.bytes { rates.units() } else { PER_SECOND })
    }

    /// Returns the title: `read from the device, cold`.
    pub fn title(&self) -> String {
        format!("{} {}{}", self.access.name(), self.place, self.state()).trim_end().into()
    }

    /// Returns the requested state of the page cache, where the place does not name it: `, cold`.
    pub fn state(&self) -> String {
        match self.access {
            Access::Read(cache @ (Cache::Cold | Cache::Warm))
                if !self.place.is_empty() && !self.place.ends_with(&cache.to_string()) =>
            {
                format!(", {cache}")
            }
            _ => String::new(),
        }
    }
}

/// Columns whose figures differ by no more than this factor have one unit.
const NEAR: f64 = 4.0;

/// Returns the columns and the rows that they share.
pub fn columns(session: &Session, results: &[CellResult]) -> (Vec<GlanceColumn>, Vec<GlanceRow>) {
    let kinds = Kinds::new(results);
    let names = Names::new(results, kinds);
    let mut rows: Vec<(Job, GlanceRow)> = Vec::new();
    let mut groups: Vec<(Access, Vec<Cells>)> = Vec::new();
    for (index, result) in results.iter().enumerate() {
        let access = kinds.of(result);
        let point = match access {
            Access::Calls => Point::calls(result),
            Access::Commits { .. } => Point::commits(result),
            _ => Point::bytes(result),
        };
        let Some(point) = point else { continue };
        let key = names.key(&result.cell);
        let row = rows.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let hue = identity(&result.cell.backend.id).hue;
            rows.push((key, GlanceRow { name: names.name(&result.cell), hue }));
            rows.len() - 1
        });
        let at = groups.iter().position(|(known, _)| *known == access).unwrap_or_else(|| {
            groups.push((access, Vec::new()));
            groups.len() - 1
        });
        let cells = &mut groups[at].1;
        cells.resize(cells.len().max(row + 1), Vec::new());
        cells[row].push((index, point));
    }
    let column =
        |(access, cells): (Access, Vec<Cells>)| column(session, &names, access, cells, rows.len());
    let mut columns: Vec<GlanceColumn> = groups.into_iter().filter_map(column).collect();
    columns.sort_by_key(order);
    distinguish(&mut columns);
    let top = columns.iter().filter(|column| column.bytes).map(|column| column.scale);
    let top = top.fold(0.0, f64::max);
    // Figures of about one size have one unit.
    let near = |column: &&mut GlanceColumn| column.bytes && column.scale * NEAR >= top;
    columns.iter_mut().filter(near).for_each(|column| column.scale = top);
    (columns, rows.into_iter().map(|(_, row)| row).collect())
}

/// Returns the place of a column: reads from the device, then from memory, other reads, writes,
/// commits by one writer and by several, durable ones first.
fn order(column: &GlanceColumn) -> usize {
    match (column.access, column.place.as_str()) {
        (Access::Read(_), "from the device") => 0,
        (Access::Read(_), "from memory") => 1,
        (Access::Read(Cache::Cold), _) => 0,
        (Access::Read(Cache::Warm), _) => 1,
        (Access::Read(Cache::AsIs), _) => 2,
        (Access::ToDevice, _) => 3,
        (Access::ToMemory, _) => 4,
        (Access::Commits { durable, several }, _) => {
            let trusted = [Some(true), None, Some(false)].iter().position(|of| *of == durable);
            5 + 2 * trusted.unwrap_or(0) + usize::from(several)
        }
        (Access::Mix | Access::Calls, _) => 11,
    }
}

/// Names the state of the cache where two columns have one title, as with direct I/O.
fn distinguish(columns: &mut [GlanceColumn]) {
    let titles: Vec<String> = columns.iter().map(GlanceColumn::title).collect();
    for (at, column) in columns.iter_mut().enumerate() {
        let twice = titles.iter().enumerate().any(|(own, title)| own != at && *title == titles[at]);
        if twice && column.access.is_read() {
            column.place = format!("{}, {}", column.place, column.cache);
        }
    }
}

fn column(
    session: &Session,
    names: &Names,
    access: Access,
    cells: Vec<Cells>,
    rows: usize,
) -> Option<GlanceColumn> {
    let results = cells.iter().flatten().map(|(result, _)| *result).collect();
    let mut bars: Vec<Option<(GlanceBar, Point)>> =
        cells.iter().map(|cells| bar(session, names, cells)).collect();
    bars.resize_with(rows, || None);
    let points = bars.iter().enumerate();
    let points: Cells = points.filter_map(|(row, bar)| Some((row, bar.as_ref()?.1))).collect();
    let (_, best, top) = best_of(&points)?;
    for (bar, point) in bars.iter_mut().flatten() {
        bar.ratio = point.ratio(&top);
        let differs = point.compare(&top).is_none_or(|(finding, _)| finding == Finding::Differs);
        bar.no_difference = !bar.figure.wrong && !differs;
    }
    let cache = top.result.cell.cache;
    let place = match access {
        Access::Commits { .. } => {
            describe_writers(bars.iter().flatten().map(|(_, point)| point.result.cell.threads))
        }
        _ => describe_place(access, top.result),
    };
    let bytes = !matches!(access, Access::Calls | Access::Commits { .. });
    let bars = bars.into_iter().map(|bar| bar.map(|(bar, _)| bar)).collect();
    let scale = top.rate.median;
    Some(GlanceColumn { access, place, cache, bytes, bars, best, results, scale })
}

/// Returns the place of the bytes, as far as the best cell shows it.
fn describe_place(access: Access, best: &CellResult) -> String {
    let place = match (access, best.source) {
        (Access::Read(_), Some(source)) if source.device >= MAIN_SHARE => "from the device",
        (Access::Read(_), Some(source)) if source.page_cache >= MAIN_SHARE => "from memory",
        (Access::Read(Cache::AsIs), _) => "",
        (Access::Read(cache), _) => return cache.to_string(),
        (Access::ToDevice, _) => "to the device",
        (Access::ToMemory, _) => "to memory",
        (Access::Commits { .. } | Access::Mix | Access::Calls, _) => "",
    };
    place.into()
}

/// Returns `by 1 writer`, `by 2-16 writers`.
fn describe_writers(threads: impl Iterator<Item = u32> + Clone) -> String {
    let (least, most) = (threads.clone().min().unwrap_or(1), threads.max().unwrap_or(1));
    let most = units::counted(most as usize, "writer");
    if least == 1 || most.starts_with(&format!("{least} ")) {
        format!("by {most}")
    } else {
        format!("by {least}-{most}")
    }
}

/// Returns the bar of the best of these cells.
fn bar<'a>(
    session: &Session,
    names: &Names,
    cells: &[(usize, Point<'a>)],
) -> Option<(GlanceBar, Point<'a>)> {
    let (best, result, point) = best_of(cells)?;
    let bar = GlanceBar {
        result,
        figure: GlanceFigure::of(session, point.result, point.rate),
        at: names.rest(&best.cell),
        tail: point.result.commits.and_then(|commits| commits.total.p99),
        ratio: None,
        no_difference: false,
    };
    Some((bar, point))
}

/// The axes in the names of rows; the other ones are left for the bars.
struct Names {
    /// The axes of a name behind the backend.
    own: Vec<Axis>,
    /// The shape of the file is left for the bars.
    shapes: bool,
}

/// Axes that distinguish columns, or cells of one row.
const OTHERS: [Axis; 7] =
    [Axis::Backend, Axis::Block, Axis::Cache, Axis::Op, Axis::Mix, Axis::Sync, Axis::Count];

/// Axes that distinguish methods of commits; the others are left for the bars.
const METHOD: [Axis; 2] = [Axis::Sync, Axis::Direct];

impl Names {
    fn new(results: &[CellResult], kinds: Kinds) -> Names {
        let jobs = || results.iter().map(|result| &result.cell);
        if kinds.all_commit {
            let own = METHOD.into_iter().filter(|axis| axis.differs(jobs()));
            return Names { own: own.collect(), shapes: true };
        }
        let along = Axis::best(jobs());
        let own = Axis::ALL
            .into_iter()
            .filter(|axis| !OTHERS.contains(axis) && Some(*axis) != along && axis.differs(jobs()));
        Names { own: own.collect(), shapes: false }
    }

    /// Returns the job with only the settings that distinguish rows.
    fn key(&self, job: &Job) -> Job {
        let others =
            Axis::ALL.into_iter().filter(|axis| *axis != Axis::Backend && !self.own.contains(axis));
        others.fold(job.clone(), |job, axis| axis.without(&job))
    }

    fn name(&self, job: &Job) -> String {
        // Of commits, direct I/O is the method, and buffered the usual.
        let is_named = |axis: Axis| !(self.shapes && axis == Axis::Direct);
        let phrases = self.own.iter().filter_map(|axis| axis.phrase_among(job, is_named(*axis)));
        std::iter::once(job.way()).chain(phrases).collect::<Vec<_>>().join(" ")
    }

    /// Returns the settings that a name leaves out: block size, pattern, threads.
    fn rest(&self, job: &Job) -> String {
        let block = moves_data(job).then_some(Axis::Block).into_iter();
        let others = Axis::ALL.into_iter().filter(|axis| {
            ![Axis::Backend, Axis::Block, Axis::Cache].contains(axis)
                && (self.shapes || *axis != Axis::Op)
                && !self.own.contains(axis)
        });
        let axes = block.chain(others);
        axes.filter_map(|axis| axis.phrase_among(job, false)).collect::<Vec<_>>().join(", ")
    }
}
