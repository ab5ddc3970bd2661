//! Areas of the chart, its legend and the answer.

use ratatui::layout::Rect;

use crate::view::pane;

/// The areas inside of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurveAreas {
    pub chart: Rect,
    /// The line above the legend.
    pub legend_title: Rect,
    pub legend: Rect,
    /// Details of the point under the cursor; empty without room.
    pub point_title: Rect,
    pub point: Rect,
    pub answer_title: Rect,
    pub answer: Rect,
    /// The legend is at the right of the chart, else below it.
    pub beside: bool,
}

/// Columns of a legend at the right of the chart.
const LEGEND_COLUMNS: u16 = 72;
/// Longer lines of an answer are hard to read.
pub const MAX_ANSWER_COLUMNS: usize = 150;

/// Divides the body; `curves`: rows of the legend; `lines`: rows of the answer.
pub fn parts(body: Rect, curves: usize, lines: usize) -> CurveAreas {
    let inner = pane::inside(body);
    let (curves, lines) = (curves.clamp(1, 1000) as u16, lines.clamp(1, 100) as u16);
    let row = |y: u16| Rect::new(inner.x, y, inner.width, u16::from(y < inner.bottom()));
    let answer = lines.min((inner.height.saturating_sub(2) / 6).max(2)).min(inner.height);
    let answer_top = inner.bottom() - answer;
    let answer_title = row(answer_top.saturating_sub(1).max(inner.y));
    let answer_area = Rect::new(inner.x, answer_top, inner.width, answer);
    let upper = answer_title.y - inner.y;
    if body.width >= 150 && body.height >= 30 {
        let left = inner.width - LEGEND_COLUMNS - 1;
        let side = |y: u16, height: u16| Rect::new(inner.x + left + 1, y, LEGEND_COLUMNS, height);
        let legend = curves.min((upper.saturating_sub(2)) / 2);
        let below = inner.y + 1 + legend;
        return CurveAreas {
            chart: Rect::new(inner.x, inner.y, left, upper),
            legend_title: side(inner.y, 1),
            legend: side(inner.y + 1, legend),
            point_title: side(below, 1),
            point: side(below + 1, upper.saturating_sub(legend + 2)),
            answer_title,
            answer: answer_area,
            beside: true,
        };
    }
    let free = upper.saturating_sub(1);
    let legend = curves.min(free - (free * 11).div_ceil(20)).max(1).min(free);
    let title = inner.y + free - legend;
    CurveAreas {
        chart: Rect::new(inner.x, inner.y, inner.width, free - legend),
        legend_title: row(title),
        legend: Rect::new(inner.x, title + 1, inner.width, legend),
        point_title: Rect::ZERO,
        point: Rect::ZERO,
        answer_title,
        answer: answer_area,
        beside: false,
    }
}
