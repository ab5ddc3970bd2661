//! The picture of a speed that lasts: the rate in the steady state, and the levels before.

use super::board::{Board, BoardCell, BoardColumn};
use super::model::GlanceFigure;
use super::pictures::{BYTES, COUNTS};
use crate::analysis::over_time::Lasting;
use crate::analysis::{CellNames, CellResult, brief_words};
use crate::session::Session;
use crate::stats::{Stretch, Summary};
use crate::units::{column, show_nanos};

/// A level of a cell, with the index of its result.
type Row<'a> = (usize, &'a Lasting<'a>, &'a Stretch);

/// Returns the board of cells whose trials look for a steady state; `None` if none was measured.
pub fn sustain(session: &Session, results: &[CellResult]) -> Option<Board> {
    let all = Lasting::all(session, results);
    let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
    let figure = |of: &Lasting| {
        let units = if of.result.throughput.is_some() { column::RATE } else { column::PER_SECOND };
        let rate = of.result.throughput.or(of.result.operations)?.summary;
        Some((GlanceFigure::of(session, of.result, rate), units))
    };
    let figures = all.iter().filter_map(|of| Some((of, figure(of)?)));
    let (first, (lead, units)) =
        figures.max_by(|a, b| a.1.0.summary.median.total_cmp(&b.1.0.summary.median))?;
    let place = |of: &Lasting| results.iter().position(|result| result.cell == of.result.cell);
    let rows: Vec<Row> = all
        .iter()
        .filter_map(|of| Some((place(of)?, of, of.course.as_ref()?)))
        .flat_map(|(at, of, course)| course.levels.iter().map(move |level| (at, of, level)))
        .collect();
    let name = |(_, of, level): &Row| {
        let course = of.course.as_ref()?;
        let (from, lasted) = (course.start(level), course.seconds(level));
        let time = |seconds: f64| match seconds > 0.0 {
            true => show_nanos(seconds * 1e9),
            false => "0 s".into(),
        };
        let span = format!("{} to {}", time(from), time(from + lasted));
        let own = Some(names.own(&of.result.cell)).filter(|_| all.len() > 1);
        Some(own.map_or(span.clone(), |own| format!("{own}: {span}")))
    };
    let beside: Vec<String> = [first.describe_rounds()].into();
    let others = all.iter().filter(|of| of.result.cell != first.result.cell);
    let facts = first.describe_changes().into_iter().chain(others.filter_map(|of| of.say(&names)));
    let board = Board {
        title: format!("{} {}", names.full(&first.result.cell), first.verb()),
        beside,
        facts: facts.collect(),
        axis: "time",
        rows: rows.iter().filter_map(name).collect(),
        columns: columns(session, &rows),
        ..Board::default()
    };
    let last = rows.iter().rposition(|(_, of, _)| of.result.cell == first.result.cell);
    Some(board.lead_by(last, Some(lead), units))
}

/// Returns the rate of each level, what it moved, and how long operations took.
fn columns(session: &Session, rows: &[Row]) -> Vec<BoardColumn> {
    let moves = rows.iter().all(|(_, of, _)| of.course.as_ref().is_some_and(|of| of.moves_bytes));
    let cell = |(at, of, level): &Row, value: &dyn Fn(&Lasting, &Stretch) -> Option<f64>| {
        let summary = Summary::from_values(&[value(of, level)?])?;
        let caveat = of.result.faults().map(brief_words).next().unwrap_or_default();
        let figure = GlanceFigure::of(session, of.result, summary);
        Some(BoardCell { caveat, ..BoardCell::new(Some(*at), figure) })
    };
    let column = |title: &str, units, value: &dyn Fn(&Lasting, &Stretch) -> Option<f64>| {
        let cells = rows.iter().map(|row| cell(row, value)).collect();
        BoardColumn { intervals: false, ..BoardColumn::new(title, units, cells) }
    };
    let rate = |of: &Lasting, level: &Stretch| {
        let course = of.course.as_ref()?;
        Some(course.work(level) / course.seconds(level))
    };
    let work = |of: &Lasting, level: &Stretch| Some(of.course.as_ref()?.work(level));
    let time = |quantile: f64| {
        move |of: &Lasting, level: &Stretch| of.course.as_ref()?.latency(level, quantile)
    };
    let (rates, works) = if moves { (column::RATE, BYTES) } else { (column::PER_SECOND, COUNTS) };
    vec![
        column("rate", rates, &rate),
        column("moved", works, &work),
        column("p50", column::TIME, &time(0.5)),
        column("p99", column::TIME, &time(0.99)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::over_time::testing::long_session;
    use crate::units::Rates;

    #[test]
    fn each_level_has_a_row() {
        let mib: Vec<u64> = (0..300).map(|at| if at < 123 { 290 } else { 31 }).collect();
        let (session, results) = long_session(&mib);
        let board = sustain(&session, &results).unwrap();
        assert_eq!((board.number.as_str(), board.unit.as_str()), ("310", "MiB/s"), "{board:?}");
        assert_eq!(board.rows, ["0 s to 12.3 s", "12.3 s to 30.0 s"]);
        assert_eq!(board.lead, Some(1));
        let texts = |at: usize| board.columns[at].texts(Rates::default());
        assert_eq!(texts(0).0, "rate, GiB/s");
        assert_eq!(texts(1), ("moved, GiB".into(), vec!["34.8 ".into(), " 5.36".into()]));
        assert!(board.title.ends_with(" keeps"), "{}", board.title);
        assert!(
            board.facts[0].contains("then 310 MiB/s; a token bucket fits"),
            "{:?}",
            board.facts
        );
    }

    #[test]
    fn unmeasured_cells_have_no_board() {
        let (session, mut results) = long_session(&[100; 300]);
        assert!(sustain(&session, &results).is_some());
        results[0].trials.clear();
        assert_eq!(sustain(&session, &results), None);
    }
}
