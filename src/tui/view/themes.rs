//! The list of themes; the screen behind it shows the one under the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::list::List;
use super::{pane, window};
use crate::backend::HUES;
use crate::tui::model::Model;
use crate::tui::theme::Role;

/// Columns of the names.
const NAME_COLUMNS: usize = 12;

fn area(model: &Model, body: Rect) -> Rect {
    // At the right: most of the screen stays to be judged.
    let width = 58.min(body.width);
    let height = (model.themes.iter().len() as u16 + 4).min(body.height);
    Rect::new(body.right() - width, body.bottom() - height, width, height)
}

fn list_in(model: &Model, cursor: usize, inner: Rect) -> List {
    let list = Rect { height: inner.height.saturating_sub(2), ..inner };
    List::around(cursor, model.themes.iter().len(), list)
}

pub fn list(model: &Model, cursor: usize, body: Rect) -> List {
    list_in(model, cursor, pane::inside(area(model, body)))
}

pub fn draw(model: &Model, cursor: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let inner = window::draw_window(look, "Themes", area(model, body), buf);
    let files: Vec<_> = model.themes.iter().collect();
    let line = |at: usize| {
        let room = usize::from(inner.width).saturating_sub(NAME_COLUMNS + 2);
        let name = pane::fit(&files[at].id, NAME_COLUMNS);
        Line::from(vec![
            look.span(Role::Number, format!(" {name:<NAME_COLUMNS$} ")),
            look.span(Role::Dim, pane::fit(&files[at].about, room)),
        ])
    };
    list_in(model, cursor, inner).draw(look, Some(cursor), line, buf);
    let mut colors = vec![Span::raw(" ")];
    for hue in 0..HUES {
        colors.push(Span::styled(look.glyph("██ ", "## "), look.series(hue)));
    }
    colors.push(look.span(Role::Misleading, "  ! warning "));
    colors.push(look.span(Role::Wrong, look.glyph(" × wrong ", " x wrong ")));
    pane::line(Line::from(colors), inner.height.saturating_sub(1), inner, buf);
}
