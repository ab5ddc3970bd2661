//! The list of themes; the screen behind it shows the one under the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{pane, window};
use crate::backend::HUES;
use crate::tui::model::Model;
use crate::tui::theme::Role;

/// Columns of the names.
const NAME_COLUMNS: usize = 12;

pub fn draw(model: &Model, cursor: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let rows = model.themes.iter().len();
    // At the right: most of the screen stays to be judged.
    let width = 58.min(body.width);
    let height = (rows as u16 + 4).min(body.height);
    let area = Rect::new(body.right() - width, body.bottom() - height, width, height);
    let inner = window::draw_window(look, "Themes", area, buf);
    let list = Rect { height: inner.height.saturating_sub(2), ..inner };
    let first = pane::first_row(cursor, rows, usize::from(list.height));
    let shown = model.themes.iter().skip(first).take(usize::from(list.height));
    for (row, file) in shown.enumerate() {
        let room = usize::from(list.width).saturating_sub(NAME_COLUMNS + 2);
        let name = pane::fit(&file.id, NAME_COLUMNS);
        let parts = vec![
            Span::styled(format!(" {name:<NAME_COLUMNS$} "), look.style(Role::Number)),
            Span::styled(pane::fit(&file.about, room), look.style(Role::Dim)),
        ];
        pane::line(Line::from(parts), row as u16, list, buf);
        if first + row == cursor {
            pane::select(look.style(Role::Selected), row as u16, list, buf);
        }
    }
    pane::scrollbar(look, first, rows, list, buf);
    let mut colors = vec![Span::raw(" ")];
    for hue in 0..HUES {
        colors.push(Span::styled(look.glyph("██ ", "## "), look.series(hue)));
    }
    colors.push(Span::styled("  ! warning ", look.style(Role::Misleading)));
    colors.push(Span::styled(look.glyph(" × wrong ", " x wrong "), look.style(Role::Wrong)));
    pane::line(Line::from(colors), inner.height.saturating_sub(1), inner, buf);
}
