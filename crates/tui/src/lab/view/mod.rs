//! Drawing of Lab: the list, the bars or a curve, the explanation.

mod about;
mod bars;
mod chart;
mod list;

pub use bars::sign;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Direction, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::state::{Lab, LabPane};
use crate::context::ViewContext;
use crate::keymap::{Action, key_of};
use crate::screen::Screen;
use crate::theme::Role;
use crate::view::{Hits, Part, Target, board, pane};

/// Minimum columns of a screen with the explanation at the right.
const MIN_WIDE: u16 = 110;
/// Minimum rows of a screen with the large figure.
const MIN_HEAD: u16 = 20;

pub fn draw(lab: &Lab, ctx: &ViewContext, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let head = lab.data.board.as_ref().filter(|_| body.height >= MIN_HEAD);
    let rows = head.map_or(0, |_| board::HEAD);
    let [above, body] =
        Layout::vertical([Constraint::Length(rows), Constraint::Min(0)]).areas(body);
    if let Some(head) = head {
        let above = pane::narrow(above);
        board::draw_head(ctx.look, head, above, buf);
        let key = key_of(Action::Compare, Screen::Lab);
        let parts = [
            ctx.look.span(Role::Dim, "next: "),
            ctx.look.span(Role::Key, key),
            ctx.look.span(Role::Text, " compares with other machines"),
        ];
        Line::from_iter(parts).right_aligned().render(Rect { height: 1, ..above }, buf);
    }
    let (direction, rest) = if body.width >= MIN_WIDE {
        (Direction::Horizontal, (body.width * 3 / 10).clamp(40, 64))
    } else {
        (Direction::Vertical, (body.height / 3).min(12))
    };
    let [main, about] =
        Layout::new(direction, [Constraint::Min(0), Constraint::Length(rest)]).areas(body);
    let [list, bars] =
        Layout::horizontal([Constraint::Length(20), Constraint::Min(30)]).areas(main);
    for (pane, area) in LabPane::ALL.into_iter().zip([list, bars, about]) {
        hits.area(area, Target::Pane(Part::Lab(pane)));
    }
    list::draw(lab, ctx, list, buf, hits);
    if lab.open {
        chart::draw(lab, ctx.look, bars, buf, hits);
    } else {
        bars::draw(lab, ctx, bars, buf, hits);
    }
    about::draw(lab, ctx.look, about, buf, hits);
}
