//! The latencies of cells over time, a map for each cell.

use super::model::{Figure, FigureGroup, FigureOf, Panel};
use super::scale::{Across, ValueScale};
use crate::analysis::{CellNames, CellResult, HeatLog, Sign};
use crate::report::Spread;
use crate::session::Session;
use crate::units::column::TIME;
use crate::units::{show_count, show_nanos};

/// Cells that are drawn at most.
const MAX_CELLS: usize = 8;
/// Shorter logs are not drawn next to others, nanoseconds.
const MIN_NANOS: u64 = 1_000_000_000;
/// Columns and rows of a map.
pub const SIZE: (usize, usize) = (60, 24);

/// Returns the maps of the first cells with logs; `None` without any.
pub fn group(session: &Session, results: &[CellResult]) -> Option<FigureGroup> {
    if session.latencies.is_empty() {
        return None;
    }
    let (logs, is_only) = (session.logs_by_cell(), results.len() == 1);
    let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
    let figures = results.iter().filter_map(|result| {
        let cell = result.trials.first()?.cell;
        if !is_only && logs.nanos(cell) < MIN_NANOS {
            return None;
        }
        let log = HeatLog::of_cell(&logs, cell).filter(|log| log.intervals() > 1)?;
        figure(log, result, names.full(&result.cell))
    });
    let figures: Vec<Figure> = figures.take(MAX_CELLS).collect();
    let title = "Latencies over time".into();
    let group = FigureGroup { title, keys: Vec::new(), figures, bars: None };
    Some(group).filter(|group| !group.figures.is_empty())
}

fn figure(log: HeatLog, result: &CellResult, name: String) -> Option<Figure> {
    let map = log.map(SIZE.0, SIZE.1);
    let (time, slowest) = log.slowest()?;
    let almost = if log.every() > 1 { "about " } else { "" };
    let most = map.columns.iter().flat_map(|own| &own.counts).max()?;
    let about = format!(
        "darker where more operations ended, up to {almost}{} in {}; \
         the slowest took up to {}, at {}",
        show_count(*most as f64),
        show_nanos((map.columns[0].end - map.columns[0].start) as f64),
        show_nanos(slowest as f64),
        show_nanos(time as f64),
    );
    let (low, high) = (log.range().0.max(1) as f64, log.range().1 as f64);
    let ends = [(low, low, low), (high, high, high)];
    Some(Figure {
        of: FigureOf::Latencies,
        title: format!("Latencies over time, {name}"),
        about,
        units: TIME,
        across: Across::seconds(log.nanos() as f64 / 1e9),
        scale: ValueScale::for_values(ends, Spread::Log, TIME)?,
        means: false,
        again: false,
        panels: vec![Panel { heat: Some((log, Sign::of(&result.cell).hue())), ..Panel::default() }],
    })
}
