//! The answer in short sentences: which backend is the fastest, what a cold cache costs, which
//! block size is enough.

use super::columns::{GlanceBar, GlanceColumn, GlanceRow, row_name};
use super::model::GlanceFigure;
use super::workloads::{Workload, WorkloadFigure};
use crate::analysis::answer::{
    Answer, ColdCost, Knee, Point, commit_sentences, describe_effects, describe_tied,
    describe_ways, find_best, show_rate, times,
};
use crate::analysis::compare::describe_variants;
use crate::analysis::neighbours::describe_neighbours;
use crate::analysis::outrun::brief_outrun;
use crate::analysis::why::Devices;
use crate::analysis::{CellNames, CellResult};
use crate::experiment::{CALLS, MEASURE};
use crate::plan::Axis;
use crate::session::Session;
use crate::units::column::{self, Unit};
use crate::units::{self, join_names, join_range};

/// Rows that are named; more are counted.
const MAX_NAMED: usize = 3;
/// Columns that are described: every screen shows as many.
const COLUMNS: usize = 2;

/// The figures that the sentences describe.
pub struct Shown<'a> {
    pub columns: &'a [GlanceColumn],
    pub rows: &'a [GlanceRow],
    pub workloads: &'a [Workload],
}

/// Returns the sentences, the most important first; the whole answer where it has another question.
pub fn facts(
    session: &Session,
    results: &[CellResult],
    &Shown { columns, rows, workloads }: &Shown,
    answer: &Answer,
) -> Vec<String> {
    if let Some(why) = describe_nothing_valid(results) {
        return vec![why];
    }
    if !answer.picked.is_empty() {
        return answer.picked.iter().map(|picked| picked.text.clone()).collect();
    }
    if matches!(session.plan.experiment.as_str(), MEASURE | CALLS) {
        return vec![answer.text.clone()];
    }
    let variants = describe_neighbours(session, results).or_else(|| describe_variants(session));
    let mut facts: Vec<String> = variants.into_iter().collect();
    if !columns.is_empty() && columns.iter().all(|column| column.access.is_commits()) {
        facts.extend(describe_commits(results));
    } else if workloads.is_empty() {
        let shown = || columns.iter().take(COLUMNS);
        facts.extend(shown().filter_map(|column| describe_best(column, rows)));
        facts.extend(describe_cpu_limits(results, columns));
        // The range over all block sizes says more than the ratio of the peaks.
        let effects = describe_effects(&answer.effects);
        let has_range = effects.iter().any(|(axis, _)| *axis == Axis::Cache);
        let cost = answer.cold_cost.iter().filter(|_| !has_range);
        facts.extend(cost.map(ColdCost::describe));
        facts.extend(
            shown().rev().filter_map(|column| describe_size(results, column, rows, &answer.knees)),
        );
        facts.extend(effects.into_iter().map(|(_, clause)| clause));
        // That none differs is said of the best already.
        let ways = describe_ways(results).filter(|said| said.contains("as fast as"));
        facts.extend(ways.map(|said| said.trim_end_matches('.').replacen("At", "at", 1)));
    } else {
        facts.extend(brief_outrun(session, results));
        facts.extend(describe_extremes(workloads));
        facts.extend(describe_leaders(workloads));
    }
    if facts.is_empty() && !answer.text.is_empty() {
        facts.push(answer.text.clone());
    }
    facts
}

/// Returns `no valid result: 32 MiB of 128 MiB were still in memory`, if all results are wrong.
fn describe_nothing_valid(results: &[CellResult]) -> Option<String> {
    let mut wrong = results.iter().map(CellResult::wrong);
    let first = wrong.next()??;
    wrong.all(|other| other.is_some()).then(|| format!("no valid result: {}", first.message))
}

/// Says of the best reads from the device that the CPU takes their time, where it does.
fn describe_cpu_limits(results: &[CellResult], columns: &[GlanceColumn]) -> Option<String> {
    let devices = Devices::from_results(results);
    let is_limited = |column: &&GlanceColumn| {
        let best = column.best_bar().and_then(|bar| results.get(bar.result));
        column.place.ends_with("the device") && best.is_some_and(|of| devices.is_cpu_limited(of))
    };
    let column = columns.iter().take(COLUMNS).find(is_limited)?;
    Some(format!("{}: the CPU takes the time, not the device", place(column)))
}

/// Returns what commits cost, with the sentences as parts of a list.
fn describe_commits(results: &[CellResult]) -> Vec<String> {
    let sentences = commit_sentences(results).into_iter();
    sentences.map(|said| said.trim_end_matches('.').to_string()).collect()
}

/// Returns `from memory`, or another word that distinguishes a column from the others.
fn place(column: &GlanceColumn) -> String {
    if column.place.is_empty() { column.access.name().into() } else { column.place.clone() }
}

/// Returns `from memory: 12.1 GiB/s with mmap, 1.3x as fast as uring`.
fn describe_best(column: &GlanceColumn, rows: &[GlanceRow]) -> Option<String> {
    let place = place(column);
    let top = column.best_bar()?;
    let name = |row: usize| row_name(rows, row);
    let mut others: Vec<(usize, &GlanceBar)> = column
        .bars
        .iter()
        .enumerate()
        .filter(|(row, _)| *row != column.best)
        .filter_map(|(row, bar)| Some((row, bar.as_ref().filter(|bar| !bar.figure.wrong)?)))
        .collect();
    others.sort_by(|a, b| b.1.figure.summary.median.total_cmp(&a.1.figure.summary.median));
    // The best has an interval if any has one: those without are not ranked.
    others.retain(|(_, bar)| bar.figure.is_certain() || !top.figure.is_certain());
    let (second, next) = others.first()?;
    let show = |bar: &GlanceBar| show_figure_of(column, &bar.figure);
    if others.iter().any(|(_, bar)| bar.ratio.and_then(|ratio| ratio.interval()).is_none()) {
        let (rate, best) = (show(top), name(column.best));
        // No more trials of a published report will come.
        let so_far = if top.figure.reported { "" } else { " so far, not yet certain" };
        return Some(format!("{place}: {rate} with {best}{so_far}"));
    }
    let equal: Vec<&(usize, &GlanceBar)> =
        others.iter().filter(|(_, bar)| bar.no_difference).collect();
    if equal.is_empty() {
        let by = times(&next.ratio?.inverse());
        let (best, second) = (name(column.best), name(*second));
        let rate = show(top);
        return Some(format!("{place}: {rate} with {best}, {by} as fast as {second}"));
    }
    let alike = equal.iter().all(|(_, bar)| bar.ratio.is_some_and(|ratio| ratio.is_alike()));
    let names: Vec<&str> =
        std::iter::once(name(column.best)).chain(equal.iter().map(|(row, _)| name(*row))).collect();
    // One more name takes no more room than its number.
    let shown = if names.len() > MAX_NAMED { MAX_NAMED - 1 } else { names.len() };
    let names = join_names(&names[..shown], names.len(), ", ");
    let mut tied: Vec<&GlanceBar> = equal.iter().map(|(_, bar)| *bar).chain([top]).collect();
    tied.sort_by(|a, b| a.figure.summary.median.total_cmp(&b.figure.summary.median));
    let precision = tied.iter().map(|bar| bar.figure.precision()).max()?;
    let show = |bar: &GlanceBar| show_rate(bar.figure.summary.median, precision, column.bytes);
    let (low, high) = (show(tied.first()?), show(tied.last()?));
    if alike {
        return Some(format!("{place}: {high}; {names} are equally fast"));
    }
    let range = join_range(&low, &high);
    Some(format!("{place}: {range}; no difference shows between {names}"))
}

/// Returns `from memory: 64 KiB is enough for mmap, larger blocks gain less than 5 %`, for the
/// curve of the best cell; `None` as long as its trials are too few to show that.
fn describe_size(
    results: &[CellResult],
    column: &GlanceColumn,
    rows: &[GlanceRow],
    knees: &[Knee],
) -> Option<String> {
    let bar = column.best_bar()?;
    let best = &results.get(bar.result)?.cell;
    let is_own = |knee: &&Knee| knee.axis.without(&knee.cell) == knee.axis.without(best);
    let knee = knees.iter().find(is_own).filter(|knee| knee.smallest != knee.largest)?;
    let (place, show) = (place(column), |value: u64| knee.axis.show(value));
    let name = row_name(rows, column.best);
    let more = if knee.axis == Axis::Block { "larger blocks gain" } else { "more gains" };
    if knee.rising {
        let word = if knee.larger_skipped.is_some() { "measured" } else { "tried" };
        let largest = show(knee.largest);
        Some(format!("{place}: {name} was still getting faster at {largest}, the largest {word}"))
    } else {
        let at = show(knee.at);
        // A published report has no intervals.
        let is_known = knee.is_sure() || (bar.figure.reported && knee.holds);
        is_known.then(|| format!("{place}: {at} is enough for {name}, {more} less than 5 %"))
    }
}

/// One of the two figures of a row.
type Column = fn(&Workload) -> Option<&WorkloadFigure>;

/// Returns a figure unless it is wrong.
fn trusted(figure: Option<&WorkloadFigure>) -> Option<&WorkloadFigure> {
    figure.filter(|figure| !figure.figure.wrong)
}

/// Returns the mean time of one operation at a time, which agrees with the operations per second;
/// where half of all are much faster, that too: `358 µs (half of them up to 105 µs)`.
fn describe_single(figure: &WorkloadFigure) -> Option<String> {
    let mean = 1e9 / figure.operations.filter(|rate| *rate > 0.0)?;
    let shown = figure.figure.precision().nanos(mean);
    Some(match figure.p50.filter(|p50| *p50 * MAX_SKEW < mean) {
        Some(p50) => format!("{shown} (half of them up to {})", units::show_nanos(p50)),
        None => shown,
    })
}

/// Maximum ratio of mean to median for which the mean alone is shown.
const MAX_SKEW: f64 = 1.2;

/// Returns the largest figures in sentences, for text: screens show them as digits.
pub fn headline(results: &[CellResult], shown: &Shown) -> Vec<String> {
    let alone = shown
        .columns
        .iter()
        .take(COLUMNS)
        .filter(|column| column.bytes && column.bars.iter().flatten().count() == 1);
    match shown.workloads {
        [] => alone.filter_map(|column| describe_alone(results, column, shown.rows)).collect(),
        workloads => describe_sequential(workloads).into_iter().collect(),
    }
}

/// Returns `from memory: 16.4 to 17.3 GiB/s with read, 1, 2 and 4 MiB; no difference shows`: the
/// best cell of a single row, and the cells that do not differ from it.
fn describe_alone(
    results: &[CellResult],
    column: &GlanceColumn,
    rows: &[GlanceRow],
) -> Option<String> {
    let bar = column.best_bar().filter(|bar| !bar.figure.wrong)?;
    let own = || column.results.iter().filter_map(|at| results.get(*at));
    let points: Vec<Point> = own().filter_map(Point::bytes).collect();
    let (place, name) = (place(column), row_name(rows, column.best));
    if let Some(best) = find_best(&points).filter(|best| !best.no_difference.is_empty()) {
        let names = CellNames::from_jobs(own().map(|result| &result.cell));
        return Some(format!("{place}: {}", describe_tied(own(), &best, &names)));
    }
    let rate = show_figure_of(column, &bar.figure);
    let parts = [name, bar.at.as_str()].into_iter().filter(|part| !part.is_empty());
    let so_far = if bar.figure.is_firm() { "" } else { " so far" };
    Some(format!("{place}: {rate} with {}{so_far}", parts.collect::<Vec<_>>().join(", ")))
}

fn show_figure_of(column: &GlanceColumn, figure: &GlanceFigure) -> String {
    show_rate(figure.summary.median, figure.precision(), column.bytes)
}

/// Units of vendors.
const DECIMAL: &[Unit] = &[(1e6, "MB/s"), (1e9, "GB/s")];

/// Returns `reads 2.81 GB/s and writes 5.90 GB/s in sequence`.
fn describe_sequential(workloads: &[Workload]) -> Option<String> {
    let most = |of: Column, word: &str| {
        let rows = workloads.iter().filter(|row| !row.random);
        let figures = rows.filter_map(|row| Some(trusted(of(row))?.figure));
        let most = figures.max_by(|a, b| a.summary.median.total_cmp(&b.summary.median))?;
        let (factor, unit) = column::unit_for(most.summary.median, DECIMAL);
        Some(format!("{word} {} {unit}", most.number(factor)))
    };
    let said = [most(|row| row.read.as_ref(), "reads"), most(|row| row.write.as_ref(), "writes")];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| format!("{} in sequence", said.join(" and ")))
}

/// Returns `one at a time, a read takes 80 µs and a write 280 µs; 62 k reads/s at most`.
fn describe_extremes(workloads: &[Workload]) -> Option<String> {
    let random = || workloads.iter().filter(|row| row.random);
    let single = random().find(|row| row.is_single());
    let time = |of: Column| describe_single(trusted(of(single?))?);
    let (read, write) = (time(|row| row.read.as_ref()), time(|row| row.write.as_ref()));
    let alone = match (read, write) {
        (Some(read), Some(write)) => Some(format!("a read takes {read} and a write {write}")),
        (Some(read), None) => Some(format!("a read takes {read}")),
        (None, Some(write)) => Some(format!("a write takes {write}")),
        (None, None) => None,
    };
    let most = |of: Column, word: &str| {
        let rates = random().filter_map(|row| {
            let own = trusted(of(row))?;
            Some((own.operations?, own.figure.precision()))
        });
        let (most, precision) = rates.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(format!("{} random {word}/s", precision.count(most)))
    };
    let most: Vec<String> =
        [most(|row| row.read.as_ref(), "reads"), most(|row| row.write.as_ref(), "writes")]
            .into_iter()
            .flatten()
            .collect();
    let most = (!most.is_empty()).then(|| format!("at most {}", most.join(" and ")));
    let alone = alone.map(|said| format!("one at a time, {said} on average"));
    let said: Vec<String> = alone.into_iter().chain(most).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Returns the number of rows that each of several backends leads.
fn describe_leaders(workloads: &[Workload]) -> Option<String> {
    let figures = workloads.iter().flat_map(Workload::figures);
    let figures: Vec<&WorkloadFigure> = figures.filter(|figure| !figure.figure.wrong).collect();
    let mut backends: Vec<(&str, usize)> = Vec::new();
    for figure in figures.iter().filter(|figure| figure.leads == Some(true)) {
        match backends.iter_mut().find(|(id, _)| *id == figure.backend) {
            Some((_, count)) => *count += 1,
            None => backends.push((&figure.backend, 1)),
        }
    }
    let all = figures.len();
    let open = figures.iter().filter(|figure| figure.leads == Some(false)).count();
    let few = figures.iter().filter(|figure| figure.leads.is_none()).count();
    if all == 0 || few == all {
        return None;
    }
    let mut said: Vec<String> =
        backends.iter().map(|(id, count)| format!("{id} is faster in {count} of {all}")).collect();
    if open > 0 {
        said.push(match open == all {
            true => "no difference shows between the backends".into(),
            false => format!("no difference shown in {open}"),
        });
    }
    Some(said.join(", "))
}
