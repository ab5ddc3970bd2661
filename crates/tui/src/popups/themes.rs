//! The themes: the screen below shows the one under the cursor.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::window::Window;
use super::{After, KeyNames, Layer};
use crate::catalog::HUES;
use crate::keymap::Action;
use crate::keys::Key;
use crate::model::Model;
use crate::popup::ThemeList;
use crate::theme::Role;
use crate::view::list::List;
use crate::view::pane;

impl Layer for ThemeList {
    fn footer(&self, _: &Model) -> KeyNames {
        &[("enter", "keep"), ("down", "next"), ("esc", "take back")]
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.cursor)
    }

    fn select(&self, model: &mut Model) {
        let id = model.themes.iter().nth(self.cursor).map(|file| file.id.clone());
        if let Some(id) = id {
            model.use_theme(&id);
        }
    }

    fn choose(&mut self, model: &mut Model) -> After {
        After::Close(vec![model.setup.remember(&model.presets, &model.look)])
    }

    fn close(&mut self, model: &mut Model) {
        model.use_theme(&self.before);
    }

    fn press(&mut self, model: &mut Model, _: Key, action: Option<Action>) -> After {
        match action {
            Some(Action::Enter | Action::Toggle) => return self.choose(model),
            Some(Action::Theme) => {
                self.cursor = (self.cursor + 1) % model.themes.iter().len().max(1);
                self.select(model);
            }
            _ => self.move_row(model, action),
        }
        After::Stay(Vec::new())
    }

    fn window(&self, model: &Model, body: Rect) -> Option<Window> {
        const NAME_COLUMNS: usize = 12;
        let (look, count) = (&model.look, model.themes.iter().len());
        // At the right: most of the screen stays to be judged.
        let [_, right] =
            Layout::horizontal([Constraint::Min(0), Constraint::Length(58)]).areas(body);
        let height = Constraint::Length(count as u16 + 4);
        let [_, area] = Layout::vertical([Constraint::Min(0), height]).areas(right);
        let inner = pane::inside(area);
        let rows = [Constraint::Min(0), Constraint::Length(1), Constraint::Length(1)];
        let [list, _, below] = Layout::vertical(rows).areas(inner);
        let room = usize::from(inner.width).saturating_sub(NAME_COLUMNS + 2);
        let lines = model.themes.iter().map(|file| {
            let name = pane::fit(&file.id, NAME_COLUMNS);
            Line::from(vec![
                look.span(Role::Number, format!(" {name:<NAME_COLUMNS$} ")),
                look.span(Role::Dim, pane::fit(&file.about, room)),
            ])
        });
        let lines = lines.collect();
        let mut colors = vec![Span::raw(" ")];
        for hue in 0..HUES {
            colors.push(Span::styled(look.glyph("██ ", "## "), look.series(hue)).to_owned());
        }
        colors.push(look.span(Role::Misleading, "  ! warning "));
        colors.push(look.span(Role::Wrong, look.glyph(" × wrong ", " x wrong ")));
        let list = List::around(self.cursor, count, list);
        let notes = (vec![Line::from(colors)], below);
        Some(Window { notes, ..Window::new("Themes", area, list, Some(self.cursor), lines) })
    }
}
