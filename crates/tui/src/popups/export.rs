//! The form of an export: formats, file, anonymous or not.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use tui_input::Input;

use super::{After, KeyNames, Layer};
use crate::export::{Export, Focus, Form, Outcome};
use crate::keymap::Action;
use crate::keys::{Key, edit};
use crate::model::Model;
use crate::msg::{Effect, Query};
use crate::popup::{Popup, Then};
use crate::text::show_path;
use crate::theme::{Look, Role};
use crate::view::hits::{Hits, Part};
use crate::view::list::List;
use crate::view::pane;

/// Columns of the longest id of a format.
const IDS: usize = 10;

/// Returns the columns in which every description is whole, if the screen has them.
fn columns(form: &Form) -> u16 {
    let longest = form.choices.iter().map(|choice| pane::width(choice.about)).max().unwrap_or(0);
    u16::try_from(longest + IDS + 8).unwrap_or(u16::MAX).clamp(76, 130)
}

fn area(form: &Form, body: Rect) -> Rect {
    pane::middle(body, columns(form), form.choices.len() as u16 + 8)
}

impl Layer for Form {
    fn footer(&self, _: &Model) -> KeyNames {
        &[
            ("enter", "write"),
            ("tab", "next field"),
            ("down", "next format"),
            ("space", "anonymous"),
            ("esc", "close"),
        ]
    }

    fn field(&mut self) -> Option<&mut Input> {
        if self.focus == Focus::Path { Some(&mut self.path) } else { None }
    }

    fn field_changed(&mut self) {
        self.error = None;
    }

    /// Chooses a format: a click does not write a file.
    fn click(&mut self, _: &mut Model, row: usize) -> After {
        self.focus = Focus::Format;
        Form::choose(self, row);
        After::Stay(Vec::new())
    }

    fn press(&mut self, model: &mut Model, key: Key, action: Option<Action>) -> After {
        let (number, look) = (model.exports + 1, model.look.report());
        let last = self.choices.len().saturating_sub(1);
        match (key.code, self.focus) {
            (KeyCode::Enter, _) if self.writing => {}
            (KeyCode::Enter, _) => {
                let export = self.ask(number, look);
                model.exports = number;
                let query = export.map(|export| Query::Export(Box::new(export)));
                return After::Stay(query.map(Effect::Ask).into_iter().collect());
            }
            (KeyCode::Tab, _) => self.turn(key.shift),
            (KeyCode::Char(' '), Focus::Anonymous) => self.anonymous = !self.anonymous,
            (KeyCode::Up, Focus::Path | Focus::Anonymous) => self.turn(true),
            (KeyCode::Down, Focus::Path) => self.turn(false),
            (_, Focus::Path) => {
                edit(&mut self.path, key);
                self.error = None;
            }
            (_, Focus::Format) => match action {
                Some(Action::Up) => Form::choose(self, self.cursor.saturating_sub(1)),
                Some(Action::Down) => Form::choose(self, self.cursor + 1),
                Some(Action::Top) => Form::choose(self, 0),
                Some(Action::Bottom) => Form::choose(self, last),
                _ => {}
            },
            _ => {}
        }
        After::Stay(Vec::new())
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let look = &model.look;
        let title = format!("Export {}", self.name);
        let inner = pane::draw_window(look, title.trim_end(), area(self, body), buf);
        let below = Constraint::Length(5.min(inner.height.saturating_sub(1)));
        let [list, below] = Layout::vertical([Constraint::Min(1), below]).areas(inner);
        let list = List::around(self.cursor, self.choices.len(), list);
        hits.list(Part::Popup, list);
        formats(look, self, list, buf);
        let name = |text: &str, focus: Focus| {
            look.span(
                if self.focus == focus { Role::Focus } else { Role::Dim },
                format!(" {text:<6} "),
            )
        };
        pane::line(Line::from(name("File", Focus::Path)), 1, below, buf);
        let field = Rect::new(below.x + 8, below.y + 1, below.width.saturating_sub(10), 1)
            .intersection(below);
        pane::field(look, &self.path, self.focus == Focus::Path, field, buf);
        let sign = if self.anonymous { look.glyph("[√]", "[x]") } else { "[ ]" };
        let text = "anonymous: without host name, user, folders and file names";
        let style = if self.focus == Focus::Anonymous {
            look.style(Role::Selected)
        } else {
            look.style(Role::Text)
        };
        let room = usize::from(below.width).saturating_sub(2);
        pane::line(
            Line::from(vec![
                Span::raw(" "),
                Span::styled(pane::fit(&format!("{sign} {text}"), room), style),
            ]),
            2,
            below,
            buf,
        );
        // The whole description: the list may cut it.
        let about = self.choices.get(self.cursor).map_or("", |choice| choice.about);
        let (said, role) = match &self.error {
            Some(why) => (why.as_str(), Role::Wrong),
            None if self.writing => ("writing ...", Role::Dim),
            None if self.focus == Focus::Format && pane::width(about) > about_room(below) => {
                (about, Role::Text)
            }
            None => ("A relative path starts in the folder where iotui was started.", Role::Dim),
        };
        let said = pane::paragraph(look, role, " ", said, room);
        pane::lines(said.into_iter().take(2), 3, below, buf);
    }
}

/// Returns the columns of a description.
fn about_room(list: Rect) -> usize {
    usize::from(list.width).saturating_sub(IDS + 5)
}

fn formats(look: &Look, form: &Form, list: List, buf: &mut Buffer) {
    let line = |at: usize| {
        let (choice, here) = (&form.choices[at], at == form.cursor);
        let mark = if here { look.glyph("►", ">") } else { " " };
        let about = pane::fit_words(choice.about, about_room(list.area));
        Line::from(vec![
            look.span(Role::Focus, format!(" {mark} ")),
            look.span(
                if here { Role::Number } else { Role::Text },
                format!("{:<IDS$} ", choice.id),
            ),
            look.span(Role::Dim, about),
        ])
    };
    let selected = (form.focus == Focus::Format).then_some(form.cursor);
    list.draw(look, selected, line, buf);
}

/// Reports the outcome of an export; closes its form, or shows a question or an error there.
pub fn finish(model: &mut Model, number: u64, outcome: Outcome) -> Vec<Effect> {
    let own = |popup: &Popup| matches!(popup, Popup::Export(form) if form.asked.as_ref().is_some_and(|asked| asked.number == number));
    let at = model.popups.iter().position(own);
    if let Some(Popup::Export(form)) = at.and_then(|at| model.popups.get_mut(at)) {
        form.writing = false;
    }
    match outcome {
        Outcome::Written(path) => {
            if let Some(at) = at {
                model.popups.remove(at);
            }
            model.toasts.good(model.now, format!("wrote {}", show_path(&path)));
        }
        Outcome::Failed(why) => {
            model.toasts.fail(model.now, format!("not written: {why}"));
            if let Some(Popup::Export(form)) = at.and_then(|at| model.popups.get_mut(at)) {
                form.error = Some(why);
            }
        }
        Outcome::Exists(over) => {
            let asked = match at.and_then(|at| model.popups.get(at)) {
                Some(Popup::Export(form)) => form.asked.clone(),
                _ => None,
            };
            match asked {
                Some(export) => {
                    let replace =
                        Effect::Ask(Query::Export(Box::new(Export { replace: true, ..export })));
                    let name = over
                        .path
                        .file_name()
                        .unwrap_or(over.path.as_os_str())
                        .to_string_lossy()
                        .into_owned();
                    model.popups.push(Popup::question(
                        format!("Overwrite {name}?"),
                        over.detail,
                        Then::Do(replace),
                    ));
                }
                // No one can answer a question.
                None => model.toasts.fail(
                    model.now,
                    format!("not written: {} already exists", show_path(&over.path)),
                ),
            }
        }
    }
    Vec::new()
}
