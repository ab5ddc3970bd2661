//! The sentences below the figures: the answer, where the bytes came from, the trials.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::analysis::{Glance, Grade, Statement};
use crate::keymap::{Action, key_of};
use crate::record::Severity;
use crate::results::data::Data;
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::view::{findings, pane};
use crate::vocabulary::FINE;

/// Longer lines are hard to read.
const MAX_WIDTH: u16 = 110;

/// Returns the sentences of the answer, each wrapped.
pub fn facts(look: &Look, glance: &Glance, width: u16) -> Vec<Vec<Line<'static>>> {
    let width = usize::from(width.min(MAX_WIDTH));
    let sign = look.glyph("· ", "- ").to_string();
    let hang = |fact: &String| {
        let sign = look.span(Role::Dim, sign.clone());
        pane::hang(sign, pane::wrap(fact, width.saturating_sub(2)), look.style(Role::Text))
    };
    glance.facts.iter().map(hang).collect()
}

/// Returns the sentences that fit whole into this number of rows.
pub fn fit_whole(facts: Vec<Vec<Line<'static>>>, rows: u16) -> Vec<Line<'static>> {
    let mut room = usize::from(rows);
    let mut shown = Vec::new();
    for lines in facts.into_iter().filter(|lines| lines.len() <= usize::from(rows)) {
        if lines.len() <= room {
            room -= lines.len();
            shown.extend(lines);
        }
    }
    shown
}

/// Returns where the bytes came from and why the figures can be trusted, each in at most two lines.
///
/// `progress`: the line of an unfinished measurement, which replaces its count of trials.
pub fn statements(
    look: &Look,
    glance: &Glance,
    progress: Option<Line<'static>>,
    width: u16,
) -> Vec<Line<'static>> {
    let (origin, trust) = (&glance.origin, &glance.trust);
    let is_said = |said: &&Statement| !said.text.is_empty();
    let trust = match &glance.warned {
        Some(warned) if progress.is_some() => Some(warned),
        _ => Some(trust).filter(|trust| progress.is_none() || trust.grade != Grade::Unfinished),
    };
    let others = [Some(origin), trust].into_iter().flatten();
    // The board above has the gravest outcome.
    let above = glance.board.as_ref().and_then(|board| board.outcome);
    let gravest = glance.expected.iter().map(|said| said.grade).max().filter(|_| above.is_some());
    let above = glance.expected.iter().rposition(|said| Some(said.grade) == gravest);
    let expected = glance.expected.iter().enumerate().filter(|(at, _)| Some(*at) != above);
    let shown = expected.map(|(_, said)| said).chain(others).filter(is_said);
    let width = usize::from(width.min(MAX_WIDTH));
    let mut lines: Vec<Line> = shown.flat_map(|said| statement(look, said, width)).collect();
    lines.extend(progress);
    lines
}

/// Returns the key that helps most now: to repeat a disturbed run, to add trials, to see why a
/// figure is easily misread, else to keep or compare the result.
pub fn next_step(look: &Look, data: &Data) -> Line<'static> {
    let view = &data.view;
    let warnings = view.results.iter().flat_map(|result| &result.warnings);
    let mut grave = warnings.filter(|warning| warning.severity > Severity::Note);
    let is_recorded = view.session.reference.is_none();
    let (action, said) = match view.glance.trust.grade {
        _ if is_recorded && grave.any(|warning| warning.id == "disturbed") => {
            (Action::RunAgain, "runs it again; stop the other programs first")
        }
        Grade::Wrong | Grade::Misleading => (Action::Enter, "opens a marked figure and says why"),
        Grade::Unfinished if is_recorded => (Action::Refine, "adds trials"),
        _ => (Action::Export, "exports it; enter opens a figure: where its time goes"),
    };
    let key = key_of(action, Screen::Results);
    let parts = [look.span(Role::Dim, "  next: "), look.span(Role::Key, key)];
    let said = look.span(Role::Text, format!(" {said}"));
    Line::from_iter(parts.into_iter().chain([said]))
}

fn statement(look: &Look, said: &Statement, width: usize) -> Vec<Line<'static>> {
    let (role, sign) = match said.grade {
        Grade::Good => (Role::Good, FINE.on(look)),
        Grade::Unfinished => (Role::Dim, look.glyph("≈", "~")),
        Grade::Misleading => findings::severity(look, Severity::Misleading),
        Grade::Wrong => findings::severity(look, Severity::Wrong),
    };
    let mut parts = pane::wrap(&said.text, width.saturating_sub(2));
    // The last clauses say least; those in brackets are one.
    let mut clauses: Vec<&str> =
        said.text.split("; ").filter(|_| !said.text.contains('(')).collect();
    while parts.len() > 2 && clauses.len() > 1 {
        clauses.pop();
        parts = pane::wrap(&clauses.join("; "), width.saturating_sub(2));
    }
    if parts.len() > 2 {
        parts.truncate(2);
        if let Some(last) = parts.last_mut() {
            *last = pane::fit_more(last, width.saturating_sub(2));
        }
    }
    pane::hang(look.span(role, format!("{sign} ")), parts, look.style(Role::Text))
}

/// Draws the lines that fit; a mark shows that more follow.
pub fn draw(lines: Vec<Line<'static>>, area: Rect, buf: &mut Buffer) {
    let (all, room) = (lines.len(), usize::from(area.height));
    for (row, line) in lines.into_iter().take(room).enumerate() {
        let cut = row + 1 == room && all > room;
        let end = (line.width() as u16).min(area.width.saturating_sub(1));
        pane::line(line, row as u16, area, buf);
        if cut && let Some(cell) = buf.cell_mut((area.x + end, area.bottom() - 1)) {
            cell.set_symbol("…");
        }
    }
}

/// Returns the rows that are needed, and that are used at most.
pub fn probe_heights(glance: &Glance) -> (u16, u16) {
    let rows = glance.probes.len().min(1000) as u16;
    (rows.min(3), rows)
}

pub fn draw_probes(look: &Look, data: &Data, area: Rect, buf: &mut Buffer) {
    let probes = &data.view.glance.probes;
    let widest = |text: fn(&(String, String, String)) -> &String| {
        probes.iter().map(|probe| pane::width(text(probe))).max().unwrap_or(0)
    };
    let figures = widest(|(_, figure, _)| figure);
    let labels = widest(|(label, ..)| label).min(usize::from(area.width) * 2 / 3);
    let height = usize::from(area.height);
    // A single row shows a probe; of more rows the last one counts the probes without room.
    let shown = if probes.len() > height { height.saturating_sub(1).max(1) } else { height };
    for (row, (label, figure, interval)) in probes.iter().take(shown).enumerate() {
        let label = pane::fit(label, labels);
        let indent = labels.saturating_sub(pane::width(&label)) + 2;
        let figure = format!("{}{figure:>figures$}", " ".repeat(indent));
        let line = Line::from(vec![
            look.span(Role::Text, label),
            look.span(Role::Number, figure),
            look.span(Role::Dim, format!("  {interval}")),
        ]);
        pane::line(line, row as u16, area, buf);
    }
    let more = probes.len().saturating_sub(shown);
    if more > 0 {
        let text = format!("and {more} more: the Lab shows them");
        pane::line(look.line(Role::Dim, text), shown as u16, area, buf);
    }
}
