//! The answer as text, and the cells that were not measured.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::keymap::{Action, key_of};
use crate::record::{End, Severity};
use crate::results::data::{Data, Unfinished};
use crate::screen::Screen;
use crate::spoken::speak;
use crate::theme::{Look, Role};
use crate::units::{self, counted};
use crate::view::{findings, pane};
use crate::warning_groups::WarningGroup;

/// The lines of the answer; the last one may list missing cells.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerLines {
    /// The progress of the measurement, above the answer.
    progress: Option<Line<'static>>,
    answer: Vec<String>,
    missing: Option<String>,
    text: Style,
    warn: Style,
}

impl AnswerLines {
    pub fn len(&self) -> usize {
        self.answer.len()
            + usize::from(self.missing.is_some())
            + usize::from(self.progress.is_some())
    }
}

pub fn wrap_answer(look: &Look, data: &Data, width: usize) -> AnswerLines {
    let text = match data.view.answer.text.as_str() {
        "" => "No conclusion can be drawn from these results.",
        text => text,
    };
    let missing = describe_missing(data).map(|text| pane::fit(&text, width));
    AnswerLines {
        progress: progress_line(look, data, width),
        answer: pane::wrap(&speak(text), width),
        missing,
        text: look.style(Role::Text),
        warn: look.style(Role::Misleading),
    }
}

/// Columns of the bar of the trials done.
const BAR: u16 = 14;

/// Builds the line of a measurement that needs more trials: its progress and the key that adds
/// trials.
pub fn progress_line(look: &Look, data: &Data, width: usize) -> Option<Line<'static>> {
    let Unfinished { share, said, refinement } = data.unfinished.as_ref()?;
    let key = key_of(Action::Refine, Screen::Results);
    let columns = |more: &String| pane::width(more) + key.len() + 4;
    let more = refinement.as_ref().map(|more| format!("refine: {more}"));
    // A narrow screen omits the aim, which the form behind the key shows.
    let more = more.map(|more| match more.split_once(" to ") {
        Some((brief, _)) if pane::width(said) + columns(&more) > width => brief.into(),
        _ => more,
    });
    let more_width = more.as_ref().map_or(0, columns);
    let room = width.saturating_sub(more_width);
    let mut line = vec![look.span(Role::Title, pane::fit(said, room))];
    if pane::width(said) + usize::from(BAR) + 3 <= room {
        line.push(Span::raw("   "));
        line.extend(pane::progress_bar(look, *share, BAR, look.style(Role::Text)));
    }
    if let Some(more) = more {
        line.push(Span::raw("   "));
        line.push(look.span(Role::Key, key));
        line.push(look.span(Role::Text, format!(" {more}")));
    }
    Some(Line::from(line))
}

/// Describes failed and skipped cells, and a run that did not finish.
pub fn describe_missing(data: &Data) -> Option<String> {
    let view = &data.view;
    let failed = view.results.iter().filter(|result| result.error.is_some()).count();
    let mut parts = Vec::new();
    match view.session.end {
        _ if view.is_recorded => {}
        Some(End::Interrupted) | None => parts.push("the run was stopped early".to_string()),
        Some(End::Failed) => parts.push("the run failed before the end".into()),
        Some(End::Finished | End::Budget | End::Goal) => {}
    }
    if failed > 0 {
        parts.push(format!("{failed} of {} failed", counted(view.results.len(), "cell")));
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
    let mut area = pane::narrow(area);
    if let Some(progress) = &lines.progress {
        pane::line(progress.clone(), 0, area, buf);
        let rows = area.height.min(1);
        area = Rect { y: area.y + rows, height: area.height - rows, ..area };
    }
    let mut room = usize::from(area.height);
    if let Some(missing) = &lines.missing
        && room > 1
    {
        room -= 1;
        let row = room.min(lines.answer.len());
        pane::line(Line::styled(missing.clone(), lines.warn), row as u16, area, buf);
    }
    for (row, text) in lines.answer.iter().take(room).enumerate() {
        // An ellipsis marks a last line that has more text below it.
        let cut = row + 1 == room && lines.answer.len() > room;
        let shown = if cut { pane::fit_more(text, area.width.into()) } else { text.clone() };
        pane::line(Line::styled(shown, lines.text), row as u16, area, buf);
    }
}

/// Returns the warnings for the line above the answer: neither notes nor missing trials, which the
/// line of progress shows.
fn worth_a_line(data: &Data) -> impl Iterator<Item = &WarningGroup> {
    let shown = |group: &&WarningGroup| {
        group.example.severity > Severity::Note && !group.example.is_unfinished()
    };
    data.warnings.iter().filter(shown)
}

/// Draws the kinds of warnings in the line above the answer: as many as fit, then the number of
/// other kinds.
pub fn draw_warnings(look: &Look, data: &Data, row: Rect, buf: &mut Buffer) {
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
    // A key has the colour of keys next to warnings of any colour.
    pane::draw_text(look, key, Role::Key, row, at + text_width, buf);
}
