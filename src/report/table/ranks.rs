//! The table of the ranks of a run: how long all of them measured at once, and which was slowest.

use super::extra::{Extra, distinguishing_columns, number_column};
use super::grid::Column;
use crate::analysis::{CellResult, RanksOf};
use crate::session::Session;
use crate::units::{Rates, column, show_share};

/// Returns the table of a run of several ranks; `None` for others.
pub fn build_ranks(_: &Session, rows: &[&CellResult], rates: Rates) -> Option<Extra> {
    let (cells, ranks): (Vec<&CellResult>, Vec<RanksOf>) =
        rows.iter().filter_map(|row| Some((*row, row.ranks?))).unzip();
    let moves = cells.iter().any(|cell| cell.throughput.is_some());
    let units = if moves { rates.units() } else { column::PER_SECOND };
    let whole = |cell: &&CellResult| {
        let figure = if moves { cell.throughput } else { cell.operations };
        figure.map(|of| of.summary.median)
    };
    let texts = |text: fn(&RanksOf) -> String| ranks.iter().map(text).collect::<Vec<_>>();
    let figures = |of: fn(&RanksOf) -> Option<f64>| ranks.iter().map(of).collect::<Vec<_>>();
    let count = ranks.iter().map(|of| of.ranks).max()?;
    let mut columns = distinguishing_columns(&cells, &[], false);
    columns.extend([
        number_column("whole", units, &cells.iter().map(whole).collect::<Vec<_>>()),
        number_column("active", units, &figures(|of| of.active)),
        number_column("own", units, &figures(|of| Some(of.own))),
        Column::numbers("tail", "", 0, texts(|of| show_share(of.tail))),
        Column::numbers("slowest", "", 0, texts(|of| format!("rank {}", of.slowest))),
        Column::numbers("by", "", 1, texts(|of| format!("{:.2}x", of.slowness))),
    ]);
    let text = format!(
        "the {count} ranks together. Whole: from the first start to the last end. Active: while all \
         were at work. Own: the sum of what each reached from its own start to its own end. Tail: \
         the share of the time in which some were late or done. Slowest: the rank with the lowest \
         rate of its own, by that of the median rank"
    );
    Some(Extra { id: "ranks", title: "Ranks", columns, rows: cells.len(), text })
}
