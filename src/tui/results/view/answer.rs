//! The answer as text, and the cells that were not measured.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use crate::record::End;
use crate::tui::keymap::{Action, key_of};
use crate::tui::results::data::Data;
use crate::tui::screen::Screen;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

/// The lines of the answer; the last one may list missing cells.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerLines {
    answer: Vec<String>,
    missing: Option<String>,
    text: Style,
    warn: Style,
}

impl AnswerLines {
    pub fn len(&self) -> usize {
        self.answer.len() + usize::from(self.missing.is_some())
    }
}

pub fn wrap_answer(look: &Look, data: &Data, width: usize) -> AnswerLines {
    let text = match data.view.answer.text.as_str() {
        "" => "No conclusion can be drawn from these results.",
        text => text,
    };
    let missing = describe_missing(data).map(|text| pane::fit(&text, width));
    AnswerLines {
        answer: pane::wrap(text, width),
        missing,
        text: look.style(Role::Text),
        warn: look.style(Role::Misleading),
    }
}

/// Describes failed and skipped cells, and a run that did not finish.
pub fn describe_missing(data: &Data) -> Option<String> {
    let view = &data.view;
    let failed = view.results.iter().filter(|result| result.error.is_some()).count();
    let mut parts = Vec::new();
    match view.session.end {
        Some(End::Interrupted) | None => parts.push("the run was stopped early".to_string()),
        Some(End::Failed) => parts.push("the run failed before the end".into()),
        Some(End::Finished | End::Budget | End::Goal) => {}
    }
    if failed > 0 {
        parts.push(format!("{failed} of {} cells failed", view.results.len()));
    }
    if let Some(first) = view.skipped.first() {
        let rest = if view.skipped.iter().all(|s| s.reason == first.reason) { "" } else { ", .." };
        parts.push(format!("{} skipped ({}{rest})", view.skipped.len(), first.reason));
    }
    let more = if failed + view.skipped.len() > 0 {
        format!(": {} lists them", key_of(Action::Table, Screen::Results))
    } else {
        String::new()
    };
    (!parts.is_empty()).then(|| format!("{}{more}", parts.join(", ")))
}

pub fn draw(lines: &AnswerLines, area: Rect, buf: &mut Buffer) {
    let area = Rect::new(area.x + 1, area.y, area.width.saturating_sub(2), area.height);
    let mut room = usize::from(area.height);
    if let Some(missing) = &lines.missing
        && room > 1
    {
        room -= 1;
        let row = room.min(lines.answer.len());
        pane::line(Line::styled(missing.clone(), lines.warn), row as u16, area, buf);
    }
    for (row, text) in lines.answer.iter().take(room).enumerate() {
        // An ellipsis in the last visible line shows that more follows.
        let cut = row + 1 == room && lines.answer.len() > room;
        let shown = if cut { pane::fit_more(text, area.width.into()) } else { text.clone() };
        pane::line(Line::styled(shown, lines.text), row as u16, area, buf);
    }
}
