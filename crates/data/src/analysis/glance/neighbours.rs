//! The picture of neighbours: what is left of the speed of a cell next to each, and how long its
//! operations take.

use super::board::{Board, BoardCell, BoardColumn};
use super::model::GlanceFigure;
use crate::analysis::neighbours::{Neighboured, NextTo};
use crate::analysis::{CellNames, CellResult, LatencyOf, brief_words};
use crate::plan::Metric;
use crate::session::Session;
use crate::stats::{Ratio, Summary};
use crate::units::column::{self, Unit};

const PERCENT: &[Unit] = &[(0.01, "%")];

/// A cell in a variant, and the index of its result.
type Row<'a> = (usize, &'a NextTo);

/// Returns the board of cells that are measured next to neighbours; `None` without neighbours.
pub fn neighbours(session: &Session, results: &[CellResult]) -> Option<Board> {
    let all = Neighboured::all(session, results);
    let names = CellNames::from_jobs(all.iter().map(|of| &of.alone.result.cell));
    let first = all.iter().find(|of| !of.next_to.is_empty())?;
    let place = |of: &NextTo| {
        let job = of.job();
        results.iter().position(|result| result.cell == job)
    };
    let rows: Vec<Row> = all
        .iter()
        .flat_map(|of| std::iter::once(&of.alone).chain(&of.next_to))
        .filter_map(|of| Some((place(of)?, of)))
        .collect();
    let name = |(_, of): &Row| match all.len() {
        1 => of.variant.name.to_string(),
        _ => format!("{}, {}", names.own(&of.result.cell), of.variant.name),
    };
    let last = first.next_to.last()?;
    let is_last = |(_, of): &Row| std::ptr::eq(*of, last);
    // Where a rate is given, the question is how long operations take, if that is known.
    let waits = last.waits().filter(|_| last.result.cell.is_paced());
    let share = last.ratio.and_then(|Ratio { ratio, low, high }| {
        Some(Summary { low, high, ..Summary::from_values(&[ratio])? })
    });
    let own = if all.len() > 1 { names.own(&last.result.cell) } else { "the operations".into() };
    let (title, summary, units) = match waits {
        Some((of, summary)) => {
            let part = if of == Metric::P99 { "99 %" } else { "half" };
            let title = format!("next to the neighbour, {part} of {own} take up to");
            (title, Some(summary), column::TIME)
        }
        None if all.len() > 1 => (
            format!("next to the neighbour, the share of the speed of {own} that is left is"),
            share,
            PERCENT,
        ),
        None => {
            ("next to the neighbour, the share of the speed that is left is".into(), share, PERCENT)
        }
    };
    let figure = summary.map(|summary| GlanceFigure::of(session, &last.result, summary));
    let others = all.iter().filter(|of| !std::ptr::eq(*of, first));
    let board = Board {
        title,
        facts: std::iter::once(first).chain(others).filter_map(|of| of.describe(&names)).collect(),
        axis: "variant",
        rows: rows.iter().map(name).collect(),
        columns: columns(session, &rows),
        ..Board::default()
    };
    Some(board.lead_by(rows.iter().position(is_last), figure, units))
}

/// Returns what the neighbour moved, the speed and its share of that alone, and the latencies.
fn columns(session: &Session, rows: &[Row]) -> Vec<BoardColumn> {
    let moves = rows.iter().all(|(_, of)| of.result.throughput.is_some());
    let cells = |of: &dyn Fn(&NextTo) -> Option<Summary>| -> Vec<Option<BoardCell>> {
        let cell = |(at, next_to): &Row| {
            let figure = GlanceFigure::of(session, &next_to.result, of(next_to)?);
            let caveat = next_to.result.faults().map(brief_words).next().unwrap_or_default();
            Some(BoardCell { caveat, ..BoardCell::new(Some(*at), figure) })
        };
        rows.iter().map(cell).collect()
    };
    let single = |title: &str, units, of: &dyn Fn(&NextTo) -> Option<f64>| {
        let cells = cells(&|next_to| Summary::from_values(&[of(next_to)?]));
        BoardColumn { intervals: false, ..BoardColumn::new(title, units, cells) }
    };
    let time = |title: &str, of: fn(&LatencyOf) -> Option<f64>| {
        single(title, column::TIME, &move |next_to| of(next_to.result.latency.as_ref()?))
    };
    let speed = |next_to: &NextTo| match (moves, &next_to.result) {
        (true, result) => Some(result.throughput?.summary),
        (false, result) => Some(result.operations?.summary),
    };
    let units = if moves { column::RATE } else { column::PER_SECOND };
    let is_paced = rows.iter().all(|(_, of)| of.result.cell.is_paced());
    let times = [time("p99", |of| of.p99), time("p50", |of| of.p50), time("p99.9", |of| of.p999)];
    let speeds = [
        BoardColumn::new("speed", units, cells(&speed)),
        single("of alone", PERCENT, &|next_to| Some(next_to.ratio?.ratio)),
    ];
    let moved = single("neighbour", column::RATE, &NextTo::neighbour_rate);
    // The first has the bars.
    let mut columns: Vec<BoardColumn> = match is_paced {
        true => times.into_iter().chain([moved]).chain(speeds).collect(),
        false => speeds.into_iter().chain([moved]).chain(times).collect(),
    };
    // A rate that is kept is the same in all rows.
    columns.retain(|column| {
        !(is_paced && column.units == PERCENT) && column.cells.iter().any(Option::is_some)
    });
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::neighbours::testing;
    use crate::analysis::results;
    use crate::plan::Rate;
    use crate::units::Rates;

    #[test]
    fn each_neighbour_has_a_row() {
        let session = testing::session([100, 80, 50], [100, 100, 300]);
        let board = neighbours(&session, &results(&session)).unwrap();
        assert_eq!((board.number.as_str(), board.unit.as_str()), ("50.0", "%"), "{board:?}");
        assert_eq!((board.rows.join(" ").as_str(), board.lead), ("alone 25% 100%", Some(2)));
        let texts = |at: usize| board.columns[at].texts(Rates::default());
        assert_eq!((texts(0).0, texts(2).0), ("speed, MiB/s".into(), "neighbour, MiB/s".into()));
        assert_eq!(
            texts(1),
            ("of alone, %".into(), vec![" -  ".into(), "80.0".into(), "50.0".into()])
        );
    }

    #[test]
    fn a_given_rate_asks_for_latencies() {
        let mut session = testing::session([100; 3], [100, 100, 300]);
        session.plan.cells.iter_mut().for_each(|job| job.rate = Some(Rate::Operations(25_600)));
        let board = neighbours(&session, &results(&session)).unwrap();
        assert_eq!((board.number.as_str(), board.unit.as_str()), ("3.00", "ms"), "{board:?}");
        assert!(board.columns.iter().all(|column| column.title != "of alone"));
        let said = board.headline();
        assert!(said.starts_with("next to the neighbour, 99 % of the operations take"), "{said}");
        assert_eq!(board.columns[0].title, "p99");
        // Without them the share of the speed stands there.
        session.verdicts.iter_mut().for_each(|verdict| *verdict = None);
        let board = neighbours(&session, &results(&session)).unwrap();
        assert_eq!((board.number.as_str(), board.unit.as_str()), ("100", "%"), "{board:?}");
    }
}
