//! The table of verified cells: what was read back, and what was wrong.

use super::extra::{Extra, distinguishing_columns, numbers, words};
use crate::analysis::{CellResult, VerifiedOf};
use crate::record::{BadBlock, ReadFrom};
use crate::session::Session;
use crate::units::{Rates, show_share};

/// Returns the table of a session whose writes were read back; `None` for others.
pub fn build_verified(_: &Session, rows: &[&CellResult], _: Rates) -> Option<Extra> {
    let (cells, verified): (Vec<&CellResult>, Vec<VerifiedOf>) =
        rows.iter().filter_map(|row| Some((*row, row.verified.clone()?))).unzip();
    let from = verified.iter().max_by_key(|of| of.read_from)?;
    let mut columns = distinguishing_columns(&cells, &["cache"], false);
    columns.extend([
        numbers("blocks", 0, &verified, |of| of.blocks.to_string()),
        numbers("bad", 0, &verified, |of| of.bad.total().to_string()),
        numbers("first at", 0, &verified, |of| first(of, |bad| bad.offset.to_string())),
        words("holds", 0, &verified, |of| first(of, |bad| bad.found.name().into())),
        words("read from", 1, &verified, |of| name(of.read_from).into()),
        numbers("stamps", 2, &verified, |of| show_share(of.stamp_share)),
    ]);
    let ended = if verified.iter().all(|of| of.complete) {
        ""
    } else {
        ". Not all blocks were compared: the run ended before"
    };
    let text = format!(
        "after each trial every written block was {}, and each byte compared. First at: the offset \
         of the first bad block in the first trial that has one, and what it holds. Stamps: about the share of the \
         timed work that marking the blocks took{ended}",
        from.describe_reading()
    );
    Some(Extra { id: "verified", title: "Verified", columns, rows: cells.len(), text })
}

/// Returns a part of the first bad block; `-` if none is bad.
fn first(of: &VerifiedOf, part: fn(&BadBlock) -> String) -> String {
    of.first.map_or("-".into(), |first| part(&first.block))
}

fn name(from: ReadFrom) -> &'static str {
    match from {
        ReadFrom::Device => "device",
        ReadFrom::Storage => "file system",
        ReadFrom::Cache => "page cache",
        ReadFrom::Memory => "memory",
    }
}
