//! The guided start: the questions, and what the selected one measures, reads and writes.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use tui_input::Input;

use super::{After, KeyNames, Layer};
use crate::keymap::{Action, key_of};
use crate::keys::{Key, edit};
use crate::model::Model;
use crate::msg::{Effect, Replayed, Speed};
use crate::plan::{Preset, Presets, Profiles, Settings};
use crate::popup::{Help, Popup, Start};
use crate::screen::Screen;
use crate::setup::SetupPane;
use crate::start::{DISKS, Entry, Needs, PROFILE, Task, disturbances, entries};
use crate::theme::Role;
use crate::update::act::act;
use crate::update::navigate::go;
use crate::update::palette::choose_preset;
use crate::update::run;
use crate::update::screens::with_screens;
use crate::view::hits::{Hits, Part};
use crate::view::list::List;
use crate::view::pane;
use crate::{lab, setup};

/// Columns of the window where there is room.
const COLUMNS: u16 = 106;
/// Rows below the list: a rule and the description.
const MAX_BELOW: u16 = 12;
/// In a description of fewer rows nothing separates its parts.
const LOW: u16 = 6;

impl Layer for Start {
    fn footer(&self, _: &Model) -> KeyNames {
        &[
            ("enter", "start"),
            ("space", "change it"),
            ("/", "filter"),
            ("e", "all settings"),
            ("?", "the words"),
            ("q", "quit"),
        ]
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.cursor)
    }

    /// Starts what answers the selected question, or takes the selected preset.
    fn choose(&mut self, model: &mut Model) -> After {
        let all = entries(&model.presets, self.wanted());
        match all.get(self.cursor).copied() {
            None | Some(Entry::Heading) => After::Stay(Vec::new()),
            Some(Entry::Example) => {
                After::Close(run::ask_for_replay(model, Replayed::Demo, Speed::default()))
            }
            Some(Entry::Listed(preset)) => {
                let id = preset.id.clone();
                After::Close(choose_preset(model, &id))
            }
            Some(Entry::Task(task)) => After::Close(start_task(model, task)),
            Some(entry @ Entry::Preset(preset)) => {
                let (needs, preset) = (entry.needs(), preset.clone());
                After::Close(start_preset(model, needs, preset))
            }
        }
    }

    fn field(&mut self) -> Option<&mut Input> {
        self.filter.as_mut()
    }

    fn field_changed(&mut self) {
        self.cursor = 0;
    }

    fn opened_by(&self) -> Option<Action> {
        Some(Action::Preset)
    }

    fn press(&mut self, model: &mut Model, key: Key, action: Option<Action>) -> After {
        let moves = matches!(
            key.code,
            KeyCode::Enter | KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown
        );
        match action {
            Some(Action::Back) if self.filter.is_some() => {
                (self.filter, self.cursor) = (None, 0);
            }
            _ if !moves && self.filter.is_some() => {
                if self.filter.as_mut().is_some_and(|input| edit(input, key)) {
                    self.field_changed();
                }
            }
            _ if key.letter() == Some('/') => {
                (self.filter, self.cursor) = (Some(Input::default()), 0);
            }
            _ if key.letter() == Some('e') => return After::Close(Vec::new()),
            Some(Action::Back | Action::Preset) => return After::Close(Vec::new()),
            Some(Action::Toggle) => return After::Close(self.take_to_setup(model)),
            Some(Action::Enter | Action::Right | Action::Run) => {
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
            _ => {
                let before = self.cursor;
                self.move_row(model, action);
                // A heading is nothing to choose.
                let rows = entries(&model.presets, self.wanted());
                if rows.get(self.cursor) == Some(&Entry::Heading) {
                    let next = if self.cursor > before { self.cursor + 1 } else { self.cursor - 1 };
                    self.cursor = next.min(rows.len() - 1);
                }
            }
        }
        After::Stay(Vec::new())
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let look = &model.look;
        // Nothing of the screen below is of use yet.
        Clear.render(body, buf);
        let (area, list) = self.places(model, body);
        let inner = pane::frame(look, "What do you want to know?", "", true, area, buf);
        if let Some(input) = &self.filter {
            pane::filter(look, input, true, Rect { height: 1, ..inner }, buf);
        }
        let rows = entries(&model.presets, self.wanted());
        let questions = rows.iter().filter(|row| !matches!(row, Entry::Listed(_)));
        let names = questions.map(|row| pane::width(row.question())).max().unwrap_or(40);
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

impl Start {
    /// Returns the text that rows must contain.
    fn wanted(&self) -> &str {
        self.filter.as_ref().map_or("", |input| input.value())
    }

    /// Takes the preset of the selected row to Setup, without a run.
    fn take_to_setup(&self, model: &mut Model) -> Vec<Effect> {
        let all = entries(&model.presets, self.wanted());
        let chosen = match all.get(self.cursor) {
            Some(Entry::Preset(preset) | Entry::Listed(preset)) => preset.id.clone(),
            _ => return Vec::new(),
        };
        if chosen == model.setup.preset.id { Vec::new() } else { choose_preset(model, &chosen) }
    }

    /// Returns the window and the list in it.
    fn places(&self, model: &Model, body: Rect) -> (Rect, Rect) {
        let rows = entries(&model.presets, "").len() as u16;
        let columns = COLUMNS.min(body.width.saturating_sub(2));
        let height = (rows + 2 + MAX_BELOW).min(body.height);
        let area = Rect::new(
            body.x + (body.width - columns) / 2,
            body.y + (body.height - height) / 2,
            columns,
            height,
        );
        let above = u16::from(self.filter.is_some());
        // The description keeps a quarter of a low window.
        let below = MAX_BELOW.min((height / 4).max(height.saturating_sub(rows + 2)));
        let list = Rect::new(
            area.x + 1,
            area.y + 1 + above,
            area.width.saturating_sub(2),
            (area.height.saturating_sub(2 + above)).saturating_sub(below),
        );
        (area, list)
    }
}

fn start_preset(model: &mut Model, needs: Needs, preset: Preset) -> Vec<Effect> {
    if needs != Needs::NoFile {
        return with_screens(model, |screens, ctx| {
            setup::answer(screens.setup, ctx, preset, Settings::default())
        });
    }
    model.lab.choose(preset, Settings::default());
    let mut effects = go(model, Screen::Lab);
    effects.extend(with_screens(model, |screens, ctx| lab::act(screens.lab, ctx, Action::Run)));
    effects
}

fn start_task(model: &mut Model, task: Task) -> Vec<Effect> {
    match task {
        Task::Profile => {
            let profiles = Profiles::built_in();
            let Ok(profile) = profiles.get(PROFILE) else { return Vec::new() };
            let usual = |preset: &&Preset| preset.id == Presets::DEFAULT;
            let Some(preset) = model.presets.iter().find(usual).cloned() else {
                return Vec::new();
            };
            let mut settings = profile.preset().settings;
            let _ = settings.set("expect", PROFILE);
            with_screens(model, |screens, ctx| setup::answer(screens.setup, ctx, preset, settings))
        }
        Task::TwoDisks => {
            let effects = choose_preset(model, DISKS);
            model.setup.focus_on(SetupPane::Target);
            let [mark, run] =
                [Action::Mark, Action::Run].map(|action| key_of(action, Screen::Setup));
            let text = format!("{mark} marks a folder on each disk, then {run} runs");
            model.toasts.note(model.now, text);
            effects
        }
        Task::Slower => {
            let effects = go(model, Screen::Sessions);
            let [again, mark, compare] = [Action::RunAgain, Action::Mark, Action::Compare]
                .map(|action| key_of(action, Screen::Sessions));
            let text = format!("{again} runs a session again; {mark} on both, then {compare}");
            model.toasts.note(model.now, text);
            effects
        }
    }
}

fn row_line(model: &Model, entry: &Entry, names: usize, here: bool, width: usize) -> Line<'static> {
    let look = &model.look;
    if *entry == Entry::Heading {
        let text = format!(" all {} presets", model.presets.len());
        return look.line(Role::Dim, text);
    }
    let question = pane::fit(entry.question(), names.min(width.saturating_sub(4)));
    let gap = " ".repeat(names.saturating_sub(pane::width(&question)) + 3);
    let mark = if here { look.glyph(" ► ", " > ") } else { "   " };
    let role = match entry {
        _ if here => Role::Selected,
        Entry::Listed(_) => Role::Dim,
        _ => Role::Text,
    };
    let mut spans = vec![look.span(Role::Focus, mark), look.span(role, question), Span::raw(gap)];
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
    let is_spaced = area.height > LOW;
    let room = usize::from(area.height - 1).saturating_sub(used + usize::from(is_spaced));
    let mut about = pane::paragraphs(entry.about(), columns);
    if about.len() > room {
        about.truncate(room);
        if let Some(last) = about.last_mut() {
            *last = pane::fit_more(last, columns);
        }
    }
    if is_spaced && !about.is_empty() {
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
