//! Warnings by kind, in one line above the answer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::record::Severity;
use crate::tui::keymap::{Action, key_of};
use crate::tui::results::data::Data;
use crate::tui::screen::Screen;
use crate::tui::theme::{Look, Role};
use crate::tui::view::{findings, pane};
use crate::tui::warning_groups::WarningGroup;
use crate::units;

/// Returns the kinds worth a place above the answer: not notes, and not that more trials are to
/// come, which is said there anyway.
fn worth_a_line(data: &Data) -> impl Iterator<Item = &WarningGroup> {
    let shown = |group: &&WarningGroup| {
        group.example.severity > Severity::Note && !group.example.is_unfinished()
    };
    data.warnings.iter().filter(shown)
}

/// Draws the kinds of warnings in the line above the answer, as many as fit, and the number of the
/// others.
pub fn draw_line(look: &Look, data: &Data, row: Rect, buf: &mut Buffer) {
    let groups: Vec<&WarningGroup> = worth_a_line(data).collect();
    let Some(worst) = groups.first().map(|group| group.example.severity) else { return };
    let (role, sign) = findings::severity(look, worst);
    let key = key_of(Action::Warnings, Screen::Results);
    let room = usize::from(row.width.saturating_sub(18));
    let dot = look.glyph(" · ", " - ");
    let shown = |count: usize| {
        let parts: Vec<String> = groups.iter().take(count).map(|group| group.summary()).collect();
        let rest = groups.len() - count;
        let more = if rest > 0 { format!(" +{rest}") } else { String::new() };
        format!("{sign} {}{more}{dot}", parts.join(dot))
    };
    let room = room.saturating_sub(pane::width(key));
    let fitting = (1..=groups.len()).rev().map(shown).find(|text| pane::width(text) <= room);
    let text = fitting.unwrap_or_else(|| {
        let warnings = units::counted(groups.len(), "kind");
        format!("{}{dot}", pane::fit(&format!("{sign} {warnings} of warnings"), room))
    });
    let (text_width, key_width) = (pane::width(&text) as u16, pane::width(key) as u16);
    let at = row.width.saturating_sub(text_width + key_width + 3);
    pane::draw_text(look, text.trim_end(), role, row, at, buf);
    // Whatever colour the warnings have, it is a key.
    pane::draw_text(look, key, Role::Key, row, at + text_width, buf);
}
