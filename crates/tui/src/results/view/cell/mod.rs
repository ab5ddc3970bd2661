//! An opened cell: trials, figures, latencies, also over time, sources of its bytes, warnings.

mod facts;
pub mod heat;
mod stack;
mod trials;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use stack::{Scene, Section, Stack};

use super::{ResultsScene, frame};
use crate::analysis::HeatLog;
use crate::context::ViewContext;
use crate::results::data::{Data, TrialSeries};
use crate::results::state::OpenCell;
use crate::theme::Look;
use crate::view::list::List;
use crate::view::{Hits, Part, pane};

/// From this width the sections are in two columns.
const TWO_COLUMNS_WIDTH: u16 = 112;

/// Limit on trials above the chart over time.
const MAX_TRIALS_ABOVE: usize = 20;

/// Returns all sections in one column.
fn stack_all<'a>(
    s: Scene<'a>,
    over_time: Option<&'a TrialSeries>,
    latencies: Option<&'a HeatLog>,
    area: Rect,
) -> Stack<'a> {
    let parts = brief_parts(s).into_iter().chain([
        trials::sections(s, 7),
        facts::processor(s),
        trials::over_time(s, over_time, 7),
        heat::section(s, latencies, 9),
        facts::around(s),
    ]);
    Stack::new(area, parts)
}

fn stacks(scene: ResultsScene<'_>, index: usize, body: Rect) -> Vec<Stack<'_>> {
    let ResultsScene { look, results, data } = scene;
    let (Some(result), over_time) = (data.results().get(index), results.trial_series.get(index))
    else {
        return Vec::new();
    };
    let latencies = results.latencies.get(index);
    let inner = pane::inside(body);
    let column = |left: u16, width: u16| {
        Rect::new(inner.x + left + 1, inner.y, width.saturating_sub(2), inner.height)
    };
    let scene = |area: Rect| Scene { look, data, index, result, width: usize::from(area.width) };
    if inner.width < TWO_COLUMNS_WIDTH {
        let area = column(0, inner.width);
        return vec![stack_all(scene(area), over_time, latencies, area)];
    }
    let half = inner.width / 2;
    let (left, right) = (column(0, half), column(half, inner.width - half));
    let (l, r) = (scene(left), scene(right));
    let tall = if body.height >= 50 { 14 } else { 9 };
    // The chart over time stands below the trials, unless a long list would push it far down. A
    // single trial has no chart of trials.
    let count = result.trials.len();
    let (few, single) = (count <= MAX_TRIALS_ABOVE, count < 2);
    let processor = |s, here| if here { facts::processor(s) } else { Vec::new() };
    let course = |s, here| if here { trials::over_time(s, over_time, tall) } else { Vec::new() };
    vec![
        Stack::new(
            left,
            [
                facts::error(l),
                facts::figures(l),
                facts::trial_work(l),
                facts::limit(l),
                facts::list_writes(l),
                facts::verified(l),
                trials::sections(l, tall),
                course(l, few),
                heat::section(l, latencies, tall),
                facts::around(l),
                processor(l, single),
            ],
        ),
        Stack::new(
            right,
            [
                facts::source(r),
                facts::commits(r),
                facts::latency(r, tall),
                facts::warnings(r),
                facts::ranks(r),
                processor(r, !single),
                course(r, !few),
            ],
        ),
    ]
}

pub fn draw(
    scene: ResultsScene,
    ctx: &ViewContext,
    open: OpenCell,
    area: Rect,
    buf: &mut Buffer,
    hits: &mut Hits,
) {
    let ResultsScene { look, results, data } = scene;
    let Some(result) = data.results().get(open.result) else { return };
    let neighbours = results.neighbours();
    let place = neighbours.iter().position(|result| *result == open.result);
    let right = place.map_or(String::new(), |at| format!("{} of {}", at + 1, neighbours.len()));
    pane::frame(look, &result.cell.label(), &right, true, area, buf);
    if let Some(cursor) = open.heat {
        return heat::draw(scene, ctx, cursor, area, buf, hits);
    }
    let stacks = stacks(scene, open.result, area);
    let inner = pane::inside(area);
    for stack in &stacks {
        stack.draw(open.scroll, buf);
    }
    let height = stacks.iter().map(Stack::height).max().unwrap_or(0);
    let page = List::scrolled(open.scroll, height, inner);
    hits.list(Part::Cell, page);
    let bar = Rect { height: inner.height.saturating_sub(1), y: inner.y, ..inner };
    pane::scrollbar(look, page.first, height, bar, buf);
    let keys = match results.has_heat() {
        true => look.glyph(
            "← → cells · ↑ ↓ scroll · enter latencies · R measure it again · esc back",
            "arrows: cells, scroll - enter latencies - R measure it again - esc back",
        ),
        false => look.glyph(
            "← → other cells · ↑ ↓ scroll · R measure it again · esc back",
            "left right other cells - up down scroll - R measure it again - esc back",
        ),
    };
    frame::draw_footer(look, keys, area, buf);
}

/// Draws the main sections at the right of the chart.
pub fn draw_brief(look: &Look, data: &Data, index: usize, area: Rect, buf: &mut Buffer) {
    let Some(result) = data.results().get(index) else { return };
    let s = Scene { look, data, index, result, width: usize::from(area.width) };
    Stack::new(area, brief_parts(s)).draw(0, buf);
}

/// Returns the sections at the top of a single column.
fn brief_parts(s: Scene<'_>) -> [Vec<Section<'_>>; 11] {
    [
        facts::error(s),
        facts::figures(s),
        facts::trial_work(s),
        facts::limit(s),
        facts::list_writes(s),
        facts::verified(s),
        facts::source(s),
        facts::warnings(s),
        facts::commits(s),
        facts::latency(s, 8),
        facts::ranks(s),
    ]
}
