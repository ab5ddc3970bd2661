//! Draws the form of an export: formats, file, anonymous or not.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::hits::{Hits, Part};
use super::list::List;
use super::pane;
use crate::export::{Focus, Form};
use crate::theme::{Look, Role};

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

pub fn draw(look: &Look, form: &Form, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let title = format!("Export {}", form.name);
    let inner = pane::draw_window(look, title.trim_end(), area(form, body), buf);
    let below = Constraint::Length(5.min(inner.height.saturating_sub(1)));
    let [list, below] = Layout::vertical([Constraint::Min(1), below]).areas(inner);
    let list = List::around(form.cursor, form.choices.len(), list);
    hits.list(Part::Popup, list);
    formats(look, form, list, buf);
    let name = |text: &str, focus: Focus| {
        look.span(if form.focus == focus { Role::Focus } else { Role::Dim }, format!(" {text:<6} "))
    };
    pane::line(Line::from(name("File", Focus::Path)), 1, below, buf);
    let field =
        Rect::new(below.x + 8, below.y + 1, below.width.saturating_sub(10), 1).intersection(below);
    pane::field(look, &form.path, form.focus == Focus::Path, field, buf);
    let sign = if form.anonymous { look.glyph("[√]", "[x]") } else { "[ ]" };
    let text = "anonymous: without host name, user, folders and file names";
    let style = if form.focus == Focus::Anonymous {
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
    // What the list had to cut.
    let about = form.choices.get(form.cursor).map_or("", |choice| choice.about);
    let (said, role) = match &form.error {
        Some(why) => (why.as_str(), Role::Wrong),
        None if form.writing => ("writing ...", Role::Dim),
        None if form.focus == Focus::Format && pane::width(about) > about_room(below) => {
            (about, Role::Text)
        }
        None => ("A relative path starts in the folder where iotui was started.", Role::Dim),
    };
    let said = pane::paragraph(look, role, " ", said, room);
    pane::lines(said.into_iter().take(2), 3, below, buf);
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
