//! Windows over a screen that have a list or a text: presets, refinement, warnings, marks, themes,
//! messages, the doctor.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::hits::{Hits, Part};
use super::list::List;
use super::{findings, pane};
use crate::analysis::name_cells;
use crate::catalog::HUES;
use crate::lab::{self, MarkEntry};
use crate::model::Model;
use crate::popup::Popup;
use crate::refine::RefineForm;
use crate::spoken::speak;
use crate::theme::{Look, Role};
use crate::units;
use crate::vocabulary::{APPROXIMATE, FINE};
use crate::warning_groups::{Fix, WarningGroup};

/// A window with the rows of a list, or the lines of a text.
pub struct Window {
    title: &'static str,
    area: Rect,
    list: List,
    /// The row under the cursor; a text has none.
    cursor: Option<usize>,
    lines: Vec<Line<'static>>,
    /// What stands in the list if it is empty.
    empty: Line<'static>,
    /// Further lines, and where they are.
    notes: (Vec<Line<'static>>, Rect),
}

impl Window {
    fn new(
        title: &'static str,
        area: Rect,
        list: List,
        cursor: Option<usize>,
        lines: Vec<Line<'static>>,
    ) -> Window {
        let (empty, notes) = (Line::default(), (Vec::new(), Rect::ZERO));
        Window { title, area, list, cursor, lines, empty, notes }
    }

    pub fn draw(mut self, look: &Look, buf: &mut Buffer, hits: &mut Hits) {
        hits.list(Part::Popup, self.list);
        pane::draw_window(look, self.title, self.area, buf);
        if self.list.count == 0 {
            pane::line(self.empty, 0, self.list.area, buf);
        }
        self.list.draw(look, self.cursor, |at| std::mem::take(&mut self.lines[at]), buf);
        pane::lines(self.notes.0, 0, self.notes.1, buf);
    }
}

/// Returns the window of a popup that has a list or a text and nothing else.
pub fn window(model: &Model, popup: &Popup, body: Rect) -> Option<Window> {
    Some(match popup {
        Popup::Presets { cursor } => presets(model, *cursor, body),
        Popup::Refine(form) => refine(&model.look, form, body),
        Popup::Warnings { cursor } => warnings(model, *cursor, body),
        Popup::Marks { cursor } => marks(model, *cursor, body),
        Popup::Themes { cursor, .. } => themes(model, *cursor, body),
        Popup::Messages { scroll } => messages(model, *scroll, body),
        Popup::Doctor { scroll } => doctor(model, *scroll, body),
        _ => return None,
    })
}

/// Lists the presets, with how the answer of the selected one is read.
fn presets(model: &Model, cursor: usize, body: Rect) -> Window {
    let look = &model.look;
    let area = pane::middle(body, 104, (model.presets.len() as u16 + 16).max(10));
    let inner = pane::inside(area);
    let doc = model.presets.get(cursor).map_or("", |preset| preset.doc.as_str());
    let columns = usize::from(inner.width.saturating_sub(2));
    let mut doc = pane::paragraphs(doc, columns);
    // A long paragraph leaves some of the list, and says where it was cut.
    let most = usize::from(inner.height.saturating_sub(6)).max(4);
    if doc.len() > most {
        doc.truncate(most);
        if let Some(last) = doc.last_mut() {
            *last = pane::fit(&format!("{last} ..."), columns);
        }
    }
    let below = [Constraint::Min(3), Constraint::Length(1), Constraint::Length(doc.len() as u16)];
    let [list, _, text] = Layout::vertical(below).areas(inner);
    let room = usize::from(list.width).saturating_sub(22);
    let lines = model.presets.iter().map(|preset| {
        let (about, role) = match preset.question.as_str() {
            "" => (preset.about.as_str(), Role::Dim),
            question => (question, Role::Text),
        };
        Line::from(vec![
            look.span(Role::Number, format!(" {:<20}", preset.id)),
            look.span(role, pane::fit(about, room)),
        ])
    });
    let lines = lines.collect();
    let list = List::around(cursor, model.presets.len(), list);
    let doc = doc.into_iter().map(|part| look.line(Role::Text, format!(" {part}"))).collect();
    Window { notes: (doc, text), ..Window::new("Presets", area, list, Some(cursor), lines) }
}

/// Lists the ways to add rounds to a session.
fn refine(look: &Look, form: &RefineForm, body: Rect) -> Window {
    const TITLE: &str = "Refine: add rounds until there are";
    const KEPT: &str = "The trials so far count; the new session has those of both.";
    let rows = form.rows();
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
    let list = List::around(form.cursor, rows.len(), list);
    Window { notes: (kept, below), ..Window::new(TITLE, area, list, Some(form.cursor), lines) }
}

/// Lists the sessions that can be marked on the bars of Lab.
fn marks(model: &Model, cursor: usize, body: Rect) -> Window {
    let (look, rows) = (&model.look, lab::mark_entries(&model.lab));
    let area = pane::middle(body, 76, rows.len() as u16 + 2);
    let inner = pane::inside(area);
    let names = rows.iter().map(|row| pane::width(&row.name)).max().unwrap_or(0).min(30);
    let line = |row| mark_line(look, row, names, usize::from(inner.width));
    let lines = rows.iter().map(line).collect();
    let list = List::around(cursor, rows.len(), inner);
    Window {
        empty: look.line(Role::Dim, " no other session measured probes"),
        ..Window::new("Marked on the bars", area, list, Some(cursor), lines)
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

/// Lists the themes; the screen behind shows the one under the cursor.
fn themes(model: &Model, cursor: usize, body: Rect) -> Window {
    const NAME_COLUMNS: usize = 12;
    let (look, count) = (&model.look, model.themes.iter().len());
    // At the right: most of the screen stays to be judged.
    let [_, right] = Layout::horizontal([Constraint::Min(0), Constraint::Length(58)]).areas(body);
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
    let list = List::around(cursor, count, list);
    let notes = (vec![Line::from(colors)], below);
    Window { notes, ..Window::new("Themes", area, list, Some(cursor), lines) }
}

/// Shows the messages of the last line, whole.
fn messages(model: &Model, scroll: usize, body: Rect) -> Window {
    let columns = body.width.saturating_sub(2).min(100);
    let lines = message_lines(model, columns.saturating_sub(2));
    let area = pane::middle(body, columns, lines.len().clamp(1, 1000) as u16 + 2);
    let list = List::scrolled(scroll, lines.len(), pane::inside(area));
    Window {
        empty: model.look.line(Role::Dim, " no messages since the start"),
        ..Window::new("Messages, the newest first", area, list, None, lines)
    }
}

/// Columns of the age of a message.
const AGE: usize = 10;

fn message_lines(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let look = &model.look;
    let room = usize::from(columns).saturating_sub(AGE + 2);
    let mut lines = Vec::new();
    for told in model.toasts.kept() {
        let mut age = age(model.now.saturating_sub(told.at));
        for part in pane::wrap(&told.text, room) {
            lines.push(Line::from(vec![
                look.span(Role::Dim, format!(" {age:>AGE$} ")),
                look.span(told.role, part),
            ]));
            age.clear();
        }
    }
    lines
}

fn age(age: Duration) -> String {
    match age.as_secs() {
        0..=1 => "now".into(),
        seconds @ ..120 => format!("{seconds} s ago"),
        seconds => format!("{} min ago", seconds / 60),
    }
}

/// Shows the findings of the doctor.
fn doctor(model: &Model, scroll: usize, body: Rect) -> Window {
    let area = pane::middle(body, 100, body.height);
    let inner = pane::inside(area);
    let columns = usize::from(inner.width.saturating_sub(2));
    let lines = findings::describe(&model.look, model.host.findings(), columns);
    let list = List::scrolled(scroll, lines.len(), inner);
    Window::new("Doctor: what would disturb a measurement", area, list, None, lines)
}

/// Lists the kinds of warnings, with the paragraph of the one under the cursor.
fn warnings(model: &Model, cursor: usize, body: Rect) -> Window {
    let (look, groups) = (&model.look, model.warnings());
    let columns = body.width.saturating_sub(4).min(96);
    let width = usize::from(columns.saturating_sub(4));
    let text = groups.get(cursor).map_or_else(Vec::new, |group| warning_lines(model, group, width));
    let rows = (groups.len().max(1) + text.len()) as u16 + 3;
    let area = pane::middle(body, columns, rows);
    let inner = pane::inside(area);
    let below = (text.len() as u16).min(inner.height.saturating_sub(2));
    let [list, _, notes] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(1), Constraint::Length(below)])
            .areas(inner);
    let line = |group| summary_line(look, group, usize::from(list.width));
    let lines = groups.iter().map(line).collect();
    let list = List::around(cursor, groups.len(), list);
    Window {
        empty: look.line(Role::Good, format!(" {} no warnings", FINE.on(look))),
        notes: (text, notes),
        ..Window::new("Warnings", area, list, Some(cursor), lines)
    }
}

fn summary_line(look: &Look, group: &WarningGroup, width: usize) -> Line<'static> {
    let (role, sign) = match group.example.is_unfinished() {
        true => (Role::Dim, APPROXIMATE.on(look)),
        false => findings::severity(look, group.example.severity),
    };
    let count = match group.counted().len() {
        _ if group.is_everywhere() => "all cells".to_string(),
        count => units::counted(count, "cell"),
    };
    Line::from(vec![
        look.span(role, format!(" {sign} ")),
        look.span(Role::Dim, format!("{count:<10}")),
        look.span(Role::Text, pane::fit(&group.words, width.saturating_sub(14))),
    ])
}

/// Builds which cells have it, the finding, its evidence, and the remedy with the key that does it.
fn warning_lines(model: &Model, group: &WarningGroup, width: usize) -> Vec<Line<'static>> {
    let (look, warning) = (&model.look, &group.example);
    let mut lines = Vec::new();
    let texts = [
        (warning.message.clone(), Role::Text),
        (warning.evidence.clone(), Role::Dim),
        (speak(&warning.remedy.text), Role::Text),
    ];
    for (text, role) in texts.into_iter().filter(|(text, _)| !text.is_empty()) {
        lines.extend(pane::paragraph(look, role, " ", &text, width));
    }
    if !group.is_everywhere() {
        let cells = model.warned_session().map_or(&[][..], |session| &session.plan.cells);
        let names = name_cells(cells, group.counted()).join("; ");
        let names = pane::fit_words(&names, width.saturating_sub(1));
        lines.insert(0, look.line(Role::Title, format!(" {names}")));
    }
    let action = match group.fix() {
        Some(Fix::Rounds) => "adds rounds to this session".to_string(),
        Some(Fix::Setting(name)) => {
            let with = match model.warned_plan() {
                Some(_) => "with the plan of this session",
                None => "for the next run",
            };
            format!("shows {} on Setup, {with}", speak(&format!("--{name}")))
        }
        None => return lines,
    };
    lines.push(Line::from(vec![
        look.span(Role::Key, " enter "),
        look.span(Role::Text, pane::fit(&action, width.saturating_sub(7))),
    ]));
    lines
}
