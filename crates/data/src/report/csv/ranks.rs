//! The rows of the machines and ranks of a cell, below that of the cell.

use super::column::{Column, Field, RankPart, Subject, column, integer, job, number, text_field};
use crate::analysis::CellResult;

/// Returns the machines and ranks of a cell, where there are several.
pub fn list_parts<'a>(subject: &Subject<'a>) -> Vec<RankPart<'a>> {
    let Subject::Job(CellResult { ranks: Some(ranks), .. }) = *subject else { return Vec::new() };
    let each = ranks.each.iter().map(RankPart::Rank);
    ranks.nodes.iter().map(RankPart::Node).chain(each).collect()
}

/// Returns the columns of machines and ranks: how a row is told from that of its cell.
pub fn rank_columns() -> [Column; 7] {
    let part = |name: &str, get: fn(RankPart) -> Field| {
        column(name, move |row| row.part.map_or(Field::Empty, get))
    };
    [
        job("ranks", |r| r.cell.ranks.map_or(Field::Empty, integer)),
        job("layout", |r| {
            if r.cell.ranks.is_some() { text_field(r.cell.layout) } else { Field::Empty }
        }),
        part("node", |part| match part {
            RankPart::Node(node) => text_field(&node.node),
            RankPart::Rank(rank) => text_field(&rank.node),
        }),
        part("rank", |part| match part {
            RankPart::Node(_) => Field::Empty,
            RankPart::Rank(rank) => integer(rank.rank),
        }),
        // In bytes per second, or in operations where no bytes move.
        part("rank_rate_median_per_second", |part| match part {
            RankPart::Node(node) => number(Some(node.rate)),
            RankPart::Rank(rank) => number(Some(rank.rate)),
        }),
        part("rank_done_median_nanoseconds", |part| match part {
            RankPart::Node(_) => Field::Empty,
            RankPart::Rank(rank) => number(Some(rank.done)),
        }),
        part("rank_cached_trials", |part| match part {
            RankPart::Node(node) => integer(node.cached_trials),
            RankPart::Rank(rank) => integer(rank.cached_trials),
        }),
    ]
}
