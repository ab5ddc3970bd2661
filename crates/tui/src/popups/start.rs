//! The guided start: the questions, and what the selected one measures, reads and writes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::{After, KeyNames, Layer};
use crate::keymap::Action;
use crate::keys::Key;
use crate::model::Model;
use crate::msg::{Replayed, Speed};
use crate::plan::{Preset, Settings};
use crate::popup::{Help, Popup, Start};
use crate::screen::Screen;
use crate::start::{Entry, Needs, disturbances, entries};
use crate::theme::Role;
use crate::update::act::act;
use crate::update::navigate::go;
use crate::update::run;
use crate::update::screens::with_screens;
use crate::view::hits::{Hits, Part};
use crate::view::list::List;
use crate::view::pane;
use crate::{lab, setup};

/// Columns of the window where there is room.
const COLUMNS: u16 = 100;
/// Rows below the list: a rule and the description.
const MAX_BELOW: u16 = 12;

impl Layer for Start {
    fn footer(&self, _: &Model) -> KeyNames {
        &[
            ("enter", "start"),
            ("down", "next"),
            ("e", "all settings"),
            ("?", "the words"),
            ("q", "quit"),
        ]
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.cursor)
    }

    /// Starts what answers the selected question.
    fn choose(&mut self, model: &mut Model) -> After {
        let all = entries(&model.presets);
        let Some(entry) = all.get(self.cursor) else { return After::Stay(Vec::new()) };
        let (needs, preset) = match entry {
            Entry::Preset(preset) => (entry.needs(), Preset::clone(preset)),
            Entry::Example => {
                let speed = Speed::default();
                return After::Close(run::ask_for_replay(model, Replayed::Demo, speed));
            }
        };
        if needs != Needs::NoFile {
            let answer = |screens: crate::model::Screens, ctx: &mut crate::context::Context| {
                setup::answer(screens.setup, ctx, preset)
            };
            return After::Close(with_screens(model, answer));
        }
        model.lab.choose(preset, Settings::default());
        let mut effects = go(model, Screen::Lab);
        effects.extend(with_screens(model, |screens, ctx| lab::act(screens.lab, ctx, Action::Run)));
        After::Close(effects)
    }

    fn press(&mut self, model: &mut Model, key: Key, action: Option<Action>) -> After {
        match action {
            _ if key.letter() == Some('e') => return After::Close(Vec::new()),
            Some(Action::Back) => return After::Close(Vec::new()),
            Some(Action::Enter | Action::Toggle | Action::Right | Action::Run) => {
                return self.choose(model);
            }
            // The words come first: the footer shows the keys.
            Some(Action::Help) => {
                model.popups.push(Popup::Help(Help { words: true, ..Help::default() }));
            }
            Some(action @ Action::Go(_)) => return After::Close(act(model, action)),
            Some(
                action @ (Action::Quit
                | Action::Doctor
                | Action::Palette
                | Action::Theme
                | Action::Redraw
                | Action::Suspend
                | Action::Interrupt),
            ) => return After::Stay(act(model, action)),
            _ => self.move_row(model, action),
        }
        After::Stay(Vec::new())
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let look = &model.look;
        // Nothing of the screen below is of use yet.
        Clear.render(body, buf);
        let (area, list) = places(model, body);
        let inner = pane::frame(look, "What do you want to know?", "", true, area, buf);
        let rows = entries(&model.presets);
        let names = rows.iter().map(|row| pane::width(row.question())).max().unwrap_or(0);
        let width = usize::from(list.width);
        let line = |at: usize| row_line(model, &rows[at], names, at == self.cursor, width);
        let questions = List::around(self.cursor, rows.len(), list);
        hits.list(Part::Popup, questions);
        questions.draw(look, None, line, buf);
        let top = list.bottom() + (list.y - inner.y);
        let below = Rect::new(inner.x, top, inner.width, inner.bottom().saturating_sub(top));
        if let Some(entry) = rows.get(self.cursor) {
            draw_description(model, entry, below, buf);
        }
    }
}

/// Returns the window and the list in it.
fn places(model: &Model, body: Rect) -> (Rect, Rect) {
    let rows = entries(&model.presets).len() as u16;
    let columns = COLUMNS.min(body.width.saturating_sub(2));
    let airy = body.height >= rows + MAX_BELOW + 4;
    let height = (rows + 2 + MAX_BELOW + 2 * u16::from(airy)).min(body.height);
    let area = Rect::new(
        body.x + (body.width - columns) / 2,
        body.y + (body.height - height) / 2,
        columns,
        height,
    );
    let list = Rect::new(
        area.x + 1,
        area.y + 1 + u16::from(airy),
        area.width.saturating_sub(2),
        rows.min(area.height.saturating_sub(4)),
    );
    (area, list)
}

fn row_line(model: &Model, entry: &Entry, names: usize, here: bool, width: usize) -> Line<'static> {
    let look = &model.look;
    let question = pane::fit(entry.question(), width.saturating_sub(4));
    let gap = " ".repeat(names.saturating_sub(pane::width(&question)) + 3);
    let mark = if here { look.glyph(" ► ", " > ") } else { "   " };
    let mut spans = vec![
        look.span(Role::Focus, mark),
        look.span(if here { Role::Selected } else { Role::Text }, question),
        Span::raw(gap),
    ];
    let room = width.saturating_sub(names + 6);
    if room >= 40 {
        spans.push(look.span(Role::Dim, format!("{:<22}", entry.target())));
    }
    spans.push(look.span(Role::Number, format!("{:>8}", entry.time())));
    spans.push(look.span(Role::Dim, format!("   {}", entry.id())));
    Line::from(spans)
}

fn draw_description(model: &Model, entry: &Entry, area: Rect, buf: &mut Buffer) {
    let look = &model.look;
    if area.height == 0 {
        return;
    }
    pane::divider(look, Rect { height: 1, ..area }, buf);
    let columns = usize::from(area.width.saturating_sub(4));
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut push = |sign: &str, text: &str, sign_role: Role, role: Role| {
        let sign = look.span(sign_role, format!(" {sign} "));
        lines.extend(pane::hang(sign, pane::wrap(text, columns), look.style(role)));
    };
    push(look.glyph("√", "*"), &entry.describe(&model.setup), Role::Good, Role::Text);
    let measures = entry.needs() != Needs::Nothing;
    if let (Needs::Scratch, Some(why)) = (entry.needs(), model.setup.scratch_elsewhere()) {
        push("!", &why, Role::Misleading, Role::Text);
    }
    for text in disturbances(&model.setup).iter().take(2).filter(|_| measures) {
        push("!", text, Role::Misleading, Role::Text);
    }
    let used = lines.len();
    let room = usize::from(area.height - 1).saturating_sub(used + 1);
    let mut about = pane::paragraphs(entry.about(), columns);
    if about.len() > room {
        about.truncate(room);
        if let Some(last) = about.last_mut() {
            *last = pane::fit_more(last, columns);
        }
    }
    if !about.is_empty() {
        lines.push(Line::default());
    }
    let about = about.into_iter().map(|part| look.line(Role::Dim, format!("   {part}")));
    lines.extend(about);
    let rows = usize::from(area.height - 1);
    if let Some(last) = rows.checked_sub(1).filter(|_| lines.len() > rows) {
        lines[last].push_span(Span::raw(" …"));
    }
    pane::lines(lines, 1, area, buf);
}
