//! The table of the cache-drop levels: what each further level costs the open, the first read and
//! the whole pass.

use super::extras::{figures, words};
use crate::analysis::CellResult;
use crate::record::{DropLevel, Level, Reading};
use crate::report::content::Table;
use crate::session::Session;
use crate::stats::median;
use crate::units::column::TIME;
use crate::units::{Rates, show_bytes};

/// Returns the table of a session that measured levels; `None` for others.
pub fn build_levels(session: &Session, _: &[&CellResult], rates: Rates) -> Option<Table> {
    let known: Vec<&Level> =
        session.levels.iter().filter(|level| !level.readings.is_empty()).collect();
    if session.levels.is_empty() {
        return None;
    }
    fn middle(level: &Level, part: fn(&Reading) -> u64) -> Option<f64> {
        let values = level.readings.iter().map(|reading| part(reading) as f64);
        median(&values.collect::<Vec<f64>>())
    }
    let whole = |level: &&Level| middle(level, |reading| reading.whole);
    let rate = |level: &&Level| {
        Some(level.bytes as f64 * 1e9 / whole(level)?).filter(|rate| rate.is_finite())
    };
    let columns = vec![
        words("dropped", 0, &known, |level| level.dropped.name().into()),
        words("details", 1, &known, |level| about(level.dropped).into()),
        figures("open", TIME, &known, |level| middle(level, |reading| reading.open)),
        figures("first read", TIME, &known, |level| middle(level, |reading| reading.first)),
        figures("whole read", TIME, &known, whole),
        figures("rate", rates.units(), &known, rate),
    ];
    Some(Table {
        id: "levels",
        title: "What each cache-drop level costs",
        columns,
        text: text(session, &known),
        ..Table::default()
    })
}

fn about(dropped: DropLevel) -> &'static str {
    match dropped {
        DropLevel::Nothing => "the file is in memory",
        DropLevel::Data => "the file's pages (posix_fadvise)",
        DropLevel::Meta => "and all dentries and inodes (drop_caches 2)",
        DropLevel::All => "and the pages of all files (drop_caches 3)",
    }
}

fn text(session: &Session, known: &[&Level]) -> String {
    let bytes = known.iter().map(|level| level.bytes).max().unwrap_or(0);
    let count = known.iter().map(|level| level.readings.len()).max().unwrap_or(0);
    let mut text = format!(
        "medians of {count} readings of {} per level, taken in turn: open(2), the first read of 4 KiB with its readahead, and \
         the whole file including open(2), in reads of 1 MiB. drop_caches 1 drops the page cache of all files, 2 dentries and inodes, \
         3 both; after 2 the blocks that hold the inodes may still be cached, after 3 they come from the disk too. Dirty pages survive \
         all three, since they are the only copy of the data: sync(2) runs first",
        show_bytes(bytes)
    );
    for level in &session.levels {
        if let Some(reason) = &level.reason {
            let what = if level.readings.is_empty() { "Skipped" } else { "Not read again" };
            text +=
                &format!(". {what}: {}: {}", level.dropped.name(), reason.trim_end_matches('.'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::report::table::grid::row_count;

    #[test]
    fn a_level_with_readings_is_not_left_out() {
        let level = |dropped, readings| Level {
            dropped,
            readings,
            bytes: 4096,
            reason: Some("EIO.".into()),
        };
        let reading = Reading { open: 1, first: 1, whole: 4 };
        let mut session = sample::quick();
        session.levels =
            vec![level(DropLevel::Data, vec![reading]), level(DropLevel::Meta, Vec::new())];
        let table = build_levels(&session, &[], Rates::default()).unwrap();
        assert!(
            row_count(&table.columns) == 1
                && table.text.ends_with("Not read again: data: EIO. Skipped: meta: EIO"),
            "{}",
            table.text
        );
    }
}
