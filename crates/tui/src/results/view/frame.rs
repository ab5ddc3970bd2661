//! The frame of Results: metrics in the first line, a short text in the last, the selected row.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::curves::Metric;
use crate::keymap::key_of;
use crate::results::data::Data;
use crate::results::state::{Results, Tab};
use crate::screen::Screen;
use crate::theme::{Colours, Look, Role};
use crate::view::pane;

/// A tab with its place, key and name.
pub type PlacedTab = (Tab, Rect, &'static str, &'static str);

/// Returns the tabs in the first line of the frame; that of commits only if some were made.
pub fn tabs(data: &Data, area: Rect) -> Vec<PlacedTab> {
    let commits = Tab::Plot(Metric::Commits);
    let has_commits = commits.has_value(data);
    // Where there is little room, the names are shorter.
    let wanted = if has_commits { [145, 90] } else { [130, 78] };
    let size = wanted.iter().position(|from| area.width >= *from).unwrap_or(2);
    let gap = if size == 2 { 1 } else { 2 };
    let mut at = area.x + 2;
    let shown = Tab::ALL.into_iter().filter(|(tab, ..)| *tab != commits || has_commits);
    let tabs = shown.map(|(tab, action, names)| {
        let (key, name) = (key_of(action, Screen::Results), names[size]);
        let width = (key.len() + 1 + name.len()) as u16;
        let place = Rect::new(at, area.y, width, 1).intersection(area);
        at += width + gap;
        (tab, place, key, name)
    });
    tabs.collect()
}

/// Draws the frame with the tabs at the left and the session at the right.
pub fn frame(look: &Look, results: &Results, data: &Data, area: Rect, buf: &mut Buffer) -> Rect {
    let inner = pane::frame(look, "", "", false, area, buf);
    let mut end = area.x;
    let shown = results.tab();
    for (tab, place, key, name) in tabs(data, area) {
        let on = Some(tab) == shown;
        let style = if on {
            look.style(Role::Focus).add_modifier(Modifier::UNDERLINED)
        } else {
            look.style(Role::Dim)
        };
        let key_style = if on { look.style(Role::Focus) } else { look.style(Role::Key) };
        let padded = Rect::new(place.x - 1, place.y, place.width + 2, 1).intersection(area);
        let parts = [
            Span::raw(" "),
            Span::styled(key, key_style),
            Span::raw(" "),
            Span::styled(name, style),
            Span::raw(" "),
        ];
        Line::from(parts.to_vec()).render(padded, buf);
        end = padded.right();
    }
    let room = usize::from(area.right().saturating_sub(end + 3));
    let (name, target) = (data.view.name(), data.view.target());
    let both = format!("{name}{}{target}", look.glyph(" · ", " - "));
    let text =
        if pane::width(&both) + 2 <= room { both } else { pane::fit(name, room.saturating_sub(2)) };
    if room >= 8 {
        let width = pane::width(&text) as u16 + 2;
        let place = Rect::new(area.right() - 1 - width, area.y, width, 1);
        Line::from(vec![Span::raw(" "), look.span(Role::Text, text), Span::raw(" ")])
            .render(place, buf);
    }
    inner
}

/// Highlights the selected row in one colour.
pub fn select(look: &Look, row: Rect, buf: &mut Buffer) {
    let style = look.style(Role::Selected);
    // Reversed hues would be a patchwork.
    let plain = if style.fg.is_none() && look.colours != Colours::None {
        style.fg(Color::Reset)
    } else {
        style
    };
    pane::select(plain, 0, row, buf);
}

/// Draws a short text at the right of the last line of the frame.
pub fn draw_footer(look: &Look, text: &str, area: Rect, buf: &mut Buffer) {
    let text = pane::fit(text, usize::from(area.width.saturating_sub(6)));
    let width = pane::width(&text) as u16 + 2;
    if width > 2 && area.height > 0 {
        let place = Rect::new(area.right().saturating_sub(1 + width), area.bottom() - 1, width, 1)
            .intersection(area);
        // The border of an opened cell is bold.
        let style = look.style(Role::Dim).remove_modifier(Modifier::BOLD);
        Line::from(vec![Span::raw(" "), Span::styled(text, style), Span::raw(" ")])
            .render(place, buf);
    }
}
