//! The frame of Results: metrics in the first line, a short text in the last, the selected row.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::ResultsScene;
use crate::curves::Metric;
use crate::keymap::key_of;
use crate::results::state::Tab;
use crate::screen::Screen;
use crate::theme::{Colours, Look, Role};
use crate::view::{Hits, Target, pane};

/// Draws the frame with the tabs at the left and the session at the right.
pub fn frame(scene: ResultsScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) -> Rect {
    let ResultsScene { look, data, .. } = scene;
    let inner = pane::frame(look, "", "", false, area, buf);
    let end = draw_tabs(scene, area, buf, hits);
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

/// Draws the tabs, with Commits only if there were any; returns their end.
fn draw_tabs(scene: ResultsScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) -> u16 {
    let ResultsScene { look, results, data } = scene;
    let commits = Tab::Plot(Metric::Commits);
    let has_commits = commits.has_value(data);
    // A narrow screen has short names.
    let is_wide = area.width >= 145;
    let gap = if is_wide { 2 } else { 1 };
    let (mut at, shown) = (area.x + 2, results.tab());
    for (tab, action, [long, short]) in Tab::ALL {
        if tab == commits && !has_commits {
            continue;
        }
        let (key, name) = (key_of(action, Screen::Results), if is_wide { long } else { short });
        let on = Some(tab) == shown;
        let style = look.style(if on { Role::Focus } else { Role::Dim });
        let style = if on { style.add_modifier(Modifier::UNDERLINED) } else { style };
        let line = Line::from(vec![
            Span::raw(" "),
            look.span(if on { Role::Focus } else { Role::Key }, key),
            Span::raw(" "),
            Span::styled(name, style),
            Span::raw(" "),
        ]);
        let width = line.width() as u16;
        let padded = Rect::new(at - 1, area.y, width, 1).intersection(area);
        line.render(padded, buf);
        hits.area(Rect::new(at, area.y, width - 2, 1).intersection(area), Target::Tab(tab));
        at += width - 2 + gap;
    }
    at + 1 - gap
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
