//! Lists: ways to add rounds, sessions that can be marked on the bars of Lab.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::window::Window;
use super::{After, KeyNames, Layer};
use crate::keymap::Action;
use crate::lab::{self, MarkEntry};
use crate::model::Model;
use crate::msg::{Effect, Query};
use crate::popup::MarkList;
use crate::refine::RefineForm;
use crate::theme::{Look, Role};
use crate::update::run;
use crate::view::list::List;
use crate::view::pane;

impl Layer for RefineForm {
    fn footer(&self, _: &Model) -> KeyNames {
        &[("enter", "run"), ("down", "next"), ("esc", "close")]
    }

    fn opened_by(&self) -> Option<Action> {
        Some(Action::Refine)
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.cursor)
    }

    /// Plans the further rounds that were chosen.
    fn choose(&mut self, model: &mut Model) -> After {
        if model.running() {
            run::refuse(model);
            return After::Close(Vec::new());
        }
        let query = self.request().map(|request| Query::Refine(Box::new(request)));
        After::Close(query.map(Effect::Ask).into_iter().collect())
    }

    fn window(&self, model: &Model, body: Rect) -> Option<Window> {
        const TITLE: &str = "Refine: add rounds until there are";
        const KEPT: &str = "The trials so far count; the new session has all trials.";
        let look = &model.look;
        let rows = self.rows();
        let area = pane::middle(body, 64, rows.len() as u16 + 4);
        let inner = pane::inside(area);
        let [list, _, below] = Layout::vertical([
            Constraint::Length(rows.len() as u16),
            Constraint::Length(1),
            Constraint::Min(0),
        ])
        .areas(inner);
        let widest = rows.iter().map(|(aim, _)| pane::width(aim)).max().unwrap_or(0);
        let lines = rows.iter().map(|(aim, time)| {
            Line::from(vec![
                look.span(Role::Number, format!(" {}", pane::pad(aim, widest + 3))),
                look.span(Role::Dim, time.clone()),
            ])
        });
        let lines = lines.collect();
        let text = pane::fit(KEPT, usize::from(inner.width.saturating_sub(2)));
        let kept = vec![look.line(Role::Dim, format!(" {text}"))];
        let list = List::around(self.cursor, rows.len(), list);
        Some(Window {
            notes: (kept, below),
            ..Window::new(TITLE, area, list, Some(self.cursor), lines)
        })
    }
}

impl Layer for MarkList {
    fn footer(&self, _: &Model) -> KeyNames {
        &[("space", "mark or unmark"), ("down", "next"), ("esc", "close")]
    }

    fn opened_by(&self) -> Option<Action> {
        Some(Action::Compare)
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.cursor)
    }

    fn choose(&mut self, model: &mut Model) -> After {
        After::Stay(lab::choose_mark(&mut model.lab, self.cursor))
    }

    fn window(&self, model: &Model, body: Rect) -> Option<Window> {
        let (look, rows) = (&model.look, lab::mark_entries(&model.lab));
        let area = pane::middle(body, 76, rows.len() as u16 + 2);
        let inner = pane::inside(area);
        let names = rows.iter().map(|row| pane::width(&row.name)).max().unwrap_or(0).min(30);
        let line = |row| mark_line(look, row, names, usize::from(inner.width));
        let lines = rows.iter().map(line).collect();
        let list = List::around(self.cursor, rows.len(), inner);
        Some(Window {
            empty: look.line(Role::Dim, " no other session measured probes"),
            ..Window::new("Marked on the bars", area, list, Some(self.cursor), lines)
        })
    }
}

fn mark_line(look: &Look, entry: &MarkEntry, names: usize, width: usize) -> Line<'static> {
    let (mark, style) = match entry.at {
        Some(place) if entry.on => {
            let (symbol, style) = lab::sign(look, place);
            (symbol.to_string(), style)
        }
        _ => (look.glyph("·", ".").to_string(), look.style(Role::Dim)),
    };
    let name = pane::fit(&entry.name, names);
    let room = width.saturating_sub(names + 7);
    Line::from(vec![
        Span::styled(format!(" {mark} "), style),
        look.span(if entry.on { Role::Number } else { Role::Text }, pane::pad(&name, names + 2)),
        look.span(Role::Dim, pane::fit(&entry.about, room)),
    ])
}
