//! The latencies of a cell over time: as a section, and over the whole screen with a cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::stack::{Scene, Section};
use crate::analysis::{HeatCell, HeatLog};
use crate::context::ViewContext;
use crate::plot::HeatPlot;
use crate::results::state::Results;
use crate::results::view::ResultsScene;
use crate::results::view::frame::draw_footer;
use crate::theme::{Look, Role};
use crate::units::{counted, join_range, show_count, show_nanos, show_share};
use crate::view::{Hits, pane};

const TITLE: &str = "Latencies over time";

pub fn section<'a>(s: Scene<'a>, log: Option<&'a HeatLog>, height: u16) -> Vec<Section<'a>> {
    let Some(log) = log else { return Vec::new() };
    let plot = HeatPlot { look: s.look, log, hue: s.hue(), title: TITLE, cursor: None };
    // The title is a row of its own.
    let draw = Box::new(move |area: Rect, buf: &mut Buffer| plot.render(area, buf));
    vec![Section::Picture { height: height + 1, draw }]
}

/// Returns the plot that covers the screen.
fn whole<'a>(look: &'a Look, results: &'a Results) -> Option<HeatPlot<'a>> {
    let (open, data) = (results.open?, results.data.as_ref()?);
    let log = results.latencies.get(open.result)?;
    let hue = data.signs.get(open.result).map_or(0, |sign| sign.hue());
    Some(HeatPlot { look, log, hue, title: TITLE, cursor: None })
}

/// Returns the column and the row of the map under a place of the screen.
pub fn place_at(
    look: &Look,
    results: &Results,
    area: Rect,
    at: Position,
) -> Option<(usize, usize)> {
    whole(look, results)?.place_at(area, at)
}

/// Returns the place of the slowest operations, and the size of the map in an area.
pub fn extent(look: &Look, results: &Results, area: Rect) -> Option<[(usize, usize); 2]> {
    let (_, map) = whole(look, results)?.lay_out(area);
    Some([map.slowest?, (map.columns.len(), map.rows())])
}

/// Returns the area of the map and its axes.
pub fn area(body: Rect) -> Rect {
    let inner = pane::narrow(pane::inside(body));
    Rect { height: inner.height.saturating_sub(READ_OUT_ROWS + 1), ..inner }
}

const READ_OUT_ROWS: u16 = 2;

/// Draws the map over the whole screen, and below it what the cursor is on, or the pointer.
pub fn draw(
    scene: ResultsScene,
    ctx: &ViewContext,
    cursor: (usize, usize),
    body: Rect,
    buf: &mut Buffer,
    hits: &mut Hits,
) {
    let (look, area) = (scene.look, area(body));
    let Some(plot) = whole(look, scene.results) else { return };
    hits.chart(area);
    let (_, map) = plot.lay_out(area);
    let last = (map.columns.len().saturating_sub(1), map.rows().saturating_sub(1));
    let own = (cursor.0.min(last.0), cursor.1.min(last.1));
    let (column, row) = ctx.pointer.and_then(|at| plot.place_at(area, at)).unwrap_or(own);
    HeatPlot { cursor: Some((column, row)), ..plot }.render(area, buf);
    if let Some(cell) = map.at(column, row) {
        let below = Rect { y: area.bottom() + 1, height: READ_OUT_ROWS, ..area };
        pane::lines(read_out(look, &cell, plot.log.every() > 1), 0, below, buf);
    }
    let keys = look.glyph(
        "← → ↑ ↓ read out · g G first and last · esc back",
        "arrows read out - g G first and last - esc back",
    );
    draw_footer(look, keys, body, buf);
}

/// Describes a place of the map in two lines: where it is, and what is there; an estimate, where
/// not all operations were timed.
fn read_out(look: &Look, cell: &HeatCell, is_sampled: bool) -> [Line<'static>; 2] {
    let range =
        |(from, to): (u64, u64)| join_range(&show_nanos(from as f64), &show_nanos(to as f64));
    let (first, last) = cell.rounds;
    let trials = if first == last { format!("{first}") } else { format!("{first} to {last}") };
    let count = match usize::try_from(cell.count) {
        Ok(count) if count < 100_000 => counted(count, "operation"),
        _ => format!("{} operations", show_count(cell.count as f64)),
    };
    let share =
        if cell.count > 0 { format!(", {} here", show_share(cell.share)) } else { String::new() };
    let almost = if is_sampled && cell.count > 0 { "about " } else { "" };
    let pair = |name: &str, value: String| {
        [look.span(Role::Dim, format!("{name} ")), look.span(Role::Number, format!("{value}   "))]
    };
    let place = [
        pair("time", range(cell.time)),
        pair("trial", trials),
        pair("latency", range(cell.latency)),
    ];
    let what = [
        pair("count", format!("{almost}{count}{share}")),
        pair(
            "percentile",
            format!("{} here, {} in all", percentile(cell.up_to.0), percentile(cell.up_to.1)),
        ),
    ];
    [Line::from_iter(place.into_iter().flatten()), Line::from_iter(what.into_iter().flatten())]
}

/// Formats a share as a percentile, never rounded up to the next: `p50`, `p99.9`, `p100`.
fn percentile(share: f64) -> String {
    let percent = share * 100.0;
    let steps = match percent {
        ..99.0 | 100.0.. => 1.0,
        ..99.9 => 10.0,
        _ => 100.0,
    };
    format!("p{}", (percent * steps + 1e-6).floor() / steps)
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_not_rounded_up() {
        for (share, wanted) in [
            (0.0, "p0"),
            (0.5, "p50"),
            (0.899_9, "p89"),
            (0.999, "p99.9"),
            (0.998_9, "p99.8"),
            (0.999_99, "p99.99"),
            (1.0, "p100"),
        ] {
            assert_eq!(percentile(share), wanted, "{share}");
        }
    }
}
