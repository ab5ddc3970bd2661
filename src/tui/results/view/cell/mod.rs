//! An opened cell: its trials, its figures, its latencies, where its bytes came from, what disturbs
//! it.

mod facts;
mod latency;
mod scene;
mod source;
mod stack;
mod trial_series;
mod trials;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use scene::Scene;
use stack::{Section, Stack};

use super::frame;
use crate::tui::results::data::Data;
use crate::tui::results::layout;
use crate::tui::results::state::{Open, Results};
use crate::tui::theme::Look;
use crate::tui::view::pane;

/// From this width on the sections stand in two columns.
const TWO: u16 = 112;

/// Rows of trials that still leave room below them.
const MANY: usize = 20;

fn stacks<'a>(
    look: &'a Look,
    results: &'a Results,
    data: &'a Data,
    index: usize,
    body: Rect,
) -> Vec<Stack<'a>> {
    let (Some(result), over_time) = (data.results().get(index), results.courses.of(index)) else {
        return Vec::new();
    };
    let inner = layout::inside(body);
    let column = |left: u16, width: u16| {
        Rect::new(inner.x + left + 1, inner.y, width.saturating_sub(2), inner.height)
    };
    let sight = |area: Rect| Scene { look, data, index, result, width: usize::from(area.width) };
    if inner.width < TWO {
        let area = column(0, inner.width);
        let s = sight(area);
        let parts = brief_parts(s).into_iter().chain([
            trials::sections(s, 7),
            facts::processor(s),
            trial_series::sections(s, over_time, 7),
        ]);
        return vec![Stack::of(area, parts)];
    }
    let half = inner.width / 2;
    let (left, right) = (column(0, half), column(half, inner.width - half));
    let (l, r) = (sight(left), sight(right));
    let tall = if body.height >= 50 { 14 } else { 9 };
    // Below the trials, where these are not so many that it is far down.
    let few = result.trials.len() <= MANY;
    let course =
        |s, here| if here { trial_series::sections(s, over_time, tall) } else { Vec::new() };
    vec![
        Stack::of(
            left,
            [
                facts::error(l),
                facts::figures(l),
                facts::trial(l),
                facts::limit(l),
                facts::written(l),
                trials::sections(l, tall),
                course(l, few),
            ],
        ),
        Stack::of(
            right,
            [
                source::sections(r),
                latency::sections(r, tall),
                facts::warnings(r),
                facts::processor(r),
                course(r, !few),
            ],
        ),
    ]
}

/// How far the opened cell can be scrolled.
pub fn most_scroll(results: &Results, look: &Look, body: Rect) -> usize {
    let (Some(data), Some(open)) = (&results.data, results.open) else { return 0 };
    stacks(look, results, data, open.result, body).iter().map(Stack::most_scroll).max().unwrap_or(0)
}

pub fn draw(look: &Look, results: &Results, data: &Data, open: Open, area: Rect, buf: &mut Buffer) {
    let Some(result) = data.results().get(open.result) else { return };
    let neighbours = results.neighbours();
    let place = neighbours.iter().position(|own| *own == open.result);
    let right = place.map_or(String::new(), |at| format!("{} of {}", at + 1, neighbours.len()));
    pane::frame(look, &result.cell.label(), &right, true, area, buf);
    let stacks = stacks(look, results, data, open.result, area);
    let inner = layout::inside(area);
    let (mut most, mut longest) = (0, 0);
    for stack in &stacks {
        stack.draw(open.scroll.min(stack.most_scroll()), buf);
        most = most.max(stack.most_scroll());
        longest = longest.max(stack.height());
    }
    let bar = Rect { height: inner.height.saturating_sub(1), y: inner.y, ..inner };
    pane::scrollbar(look, open.scroll.min(most), longest, bar, buf);
    let keys = look.glyph(
        "← → other cells · ↑ ↓ scroll · esc back",
        "left right other cells - up down scroll - esc back",
    );
    frame::below(look, keys, area, buf);
}

/// The same for a place beside the chart.
pub fn brief(look: &Look, data: &Data, index: usize, area: Rect, buf: &mut Buffer) {
    let Some(result) = data.results().get(index) else { return };
    let s = Scene { look, data, index, result, width: usize::from(area.width) };
    Stack::of(area, brief_parts(s)).draw(0, buf);
}

/// What stands first where there is one column.
fn brief_parts(s: Scene<'_>) -> [Vec<Section<'_>>; 8] {
    [
        facts::error(s),
        facts::figures(s),
        facts::trial(s),
        facts::limit(s),
        facts::written(s),
        source::sections(s),
        facts::warnings(s),
        latency::sections(s, 8),
    ]
}
