//! The picture of a watch: the usual response time, and each event.

use super::board::{Board, BoardCell, BoardColumn};
use super::model::GlanceFigure;
use crate::analysis::watched::Watched;
use crate::analysis::{CellNames, CellResult};
use crate::plan::{Axis, Metric};
use crate::record::unusual::Unusual;
use crate::session::Session;
use crate::stats::Summary;
use crate::units::{column, show_nanos};

/// Rows at most; the facts count the other events.
const MAX_ROWS: usize = 10;

/// Returns the board of a watch; `None` if none was measured.
pub fn watched(session: &Session, results: &[CellResult]) -> Option<Board> {
    let watched = Watched::of(session, results)?;
    let result = watched.result;
    let latency = result.latency?;
    let figure =
        |value: f64| Some(GlanceFigure::of(session, result, Summary::from_values(&[value])?));
    let names = CellNames::from_jobs(std::iter::once(&Axis::Rate.without(&result.cell)));
    let p99 = latency.p99.map(|p99| format!("p99 {}", show_nanos(p99)));
    let max = format!("max {}", show_nanos(latency.max));
    let events: Vec<&Unusual> = watched.course.events.iter().take(MAX_ROWS).collect();
    let column = |title: &str, whole: Option<f64>, of: &dyn Fn(&Unusual) -> Option<f64>| {
        let cell = |value: Option<f64>| Some(BoardCell::new(Some(0), figure(value?)?));
        let own = events.iter().map(|event| cell(of(event)));
        let cells = std::iter::once(cell(whole)).chain(own).collect();
        BoardColumn { intervals: false, ..BoardColumn::new(title, column::TIME, cells) }
    };
    let board = Board {
        title: format!(
            "{}, {}, p50",
            names.full(&Axis::Rate.without(&result.cell)),
            watched.title()
        ),
        beside: p99.into_iter().chain([max]).chain(watched.summary()).collect(),
        facts: watched.describe_events(false),
        axis: "time",
        rows: std::iter::once("all of it".into())
            .chain(events.iter().map(|event| watched.when(event)))
            .collect(),
        columns: vec![
            column("p50", latency.p50, &|event| event.p50),
            column("p99", latency.p99, &|event| event.p99),
            column("max", Some(latency.max), &|event| event.max),
        ],
        ..Board::default()
    };
    // The interval of the median is that of the ranks of all operations: there is one trial.
    let cell = result.trials.last()?.cell as usize;
    let verdict = session.verdicts.get(cell).and_then(Option::as_ref);
    let exact = verdict.and_then(|of| of.latency.as_ref()?.percentile(Metric::P50));
    let lead = match exact {
        Some(summary) => Some(GlanceFigure::of(session, result, summary)),
        None => latency.p50.and_then(figure),
    };
    Some(board.lead_by(Some(0), lead, column::TIME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::LatencyOf;
    use crate::analysis::watched::tests;

    #[test]
    fn each_event_has_a_row() {
        let (session, mut results) = tests::session();
        let (mean, p50, max) = (1e6, Some(1e6), 9e6);
        let (p90, p99, p999) = (p50, None, None);
        let latency = LatencyOf { mean, p50, p90, p99, p999, max, every: 1, unit: "ns" };
        results[0].latency = Some(latency);
        let board = watched(&session, &results).unwrap();
        assert!(board.title.ends_with("watched for 2 min at 100/s, p50"), "{}", board.title);
        assert_eq!((board.number.as_str(), board.unit.as_str()), ("1.0", "ms"), "{board:?}");
        assert_eq!(board.rows[0], "all of it");
        assert_eq!(board.rows[1], "12:00:57 UTC, after 57 s, for 3.00 s");
        assert_eq!((board.rows.len(), board.columns[2].cells.len()), (3, 3));
        assert_eq!(board.beside.last().unwrap(), "2 events");
        results[0].trials.clear();
        assert_eq!(watched(&session, &results), None);
    }
}
