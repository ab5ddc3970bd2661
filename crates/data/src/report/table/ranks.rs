//! The table of the ranks of a run: how long all of them measured at once, and which was slowest.

use super::extras::{distinguishing_columns, figures, numbers};
use crate::analysis::{CellResult, RanksOf};
use crate::report::content::Table;
use crate::session::Session;
use crate::text::clean_text;
use crate::units::{Rates, column, show_nanos, show_rank, show_share};

/// Returns the table of a run of several ranks; `None` for others.
pub fn build_ranks(_: &Session, rows: &[&CellResult], rates: Rates) -> Option<Table> {
    let (cells, ranks): (Vec<&CellResult>, Vec<&RanksOf>) =
        rows.iter().filter_map(|row| Some((*row, row.ranks.as_ref()?))).unzip();
    let moves = cells.iter().any(|cell| cell.throughput.is_some());
    let units = if moves { rates.units() } else { column::PER_SECOND };
    let whole = |cell: &&CellResult| {
        let figure = if moves { cell.throughput } else { cell.operations };
        figure.map(|of| of.summary.median)
    };
    let count = ranks.iter().map(|of| of.ranks).max()?;
    let mut columns = distinguishing_columns(&cells, &[], false);
    columns.extend([
        figures("whole", units, &cells, whole),
        figures("active", units, &ranks, |of| of.active),
        figures("own", units, &ranks, |of| Some(of.own)),
        numbers("done", 0, &ranks, |of| show_done(of)),
        numbers("tail", 0, &ranks, |of| show_share(of.tail)),
        numbers("slowest", 0, &ranks, |of| name_slowest(of)),
        numbers("by", 1, &ranks, |of| format!("{:.2}x", of.slowness)),
    ]);
    let mut text = format!(
        "the {count} ranks together. Whole: from the first start to the last end. Active: while all \
         were at work. Own: the sum of what each reached from its own start to its own end. Done: \
         when the first and the last had ended. Tail: \
         the share of the time in which some were late or done. Slowest: the rank with the lowest \
         rate of its own, by that of the median rank. {}",
        describe_ends(&ranks)
    );
    if let Some(error) = ranks.iter().map(|of| of.clock_error).max().filter(|error| *error > 0) {
        text += &format!(
            ". The clocks of the machines are known to \u{b1}{}",
            show_nanos(error as f64)
        );
    }
    Some(Table { id: "ranks", title: "Ranks", columns, text, ..Table::default() })
}

/// Returns when the first and the last rank were done: `0.28-0.31 s`.
fn show_done(of: &RanksOf) -> String {
    let (first, last) = (show_nanos(of.first_done), show_nanos(of.last_done));
    match (first.split_once(' '), last.split_once(' ')) {
        (Some((number, unit)), Some((_, of_last))) if unit == of_last => format!("{number}-{last}"),
        _ => format!("{first}-{last}"),
    }
}

/// Returns `rank 3 on node7`.
fn name_slowest(of: &RanksOf) -> String {
    let node = of.each.get(of.slowest as usize).map_or("", |rank| rank.node.as_str());
    show_rank(of.slowest, &clean_text(node))
}

/// Says what ends the trials.
fn describe_ends(ranks: &[&RanksOf]) -> &'static str {
    let by_time = ranks.iter().filter(|of| of.by_time).count();
    match by_time {
        0 => "Each rank does the same amount",
        all if all == ranks.len() => "Trials end for all ranks at the same time",
        _ => {
            "Trials end for all ranks at the same time, but those of one pass over a small file when \
             each is done"
        }
    }
}
