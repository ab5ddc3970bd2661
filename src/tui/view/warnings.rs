//! Draws the kinds of warnings over a screen, with the paragraph of one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::list::List;
use super::{findings, pane, window};
use crate::analysis::name_cells;
use crate::tui::model::Model;
use crate::tui::spoken::speak;
use crate::tui::theme::{Look, Role};
use crate::tui::vocabulary::{APPROXIMATE, FINE};
use crate::tui::warning_groups::{Remedy, WarningGroup};
use crate::units;

/// The window of the warnings, with the paragraph of the one under the cursor.
struct Parts {
    area: Rect,
    list: List,
    text: Rect,
    lines: Vec<Line<'static>>,
}

fn parts(model: &Model, groups: &[WarningGroup], cursor: usize, body: Rect) -> Parts {
    let columns = body.width.saturating_sub(4).min(96);
    let width = usize::from(columns.saturating_sub(4));
    let lines = groups.get(cursor).map_or_else(Vec::new, |group| paragraph(model, group, width));
    let rows = (groups.len().max(1) + lines.len()) as u16 + 3;
    let area = window::middle(body, columns, rows);
    let inner = pane::inside(area);
    let below = (lines.len() as u16 + 1).min(inner.height.saturating_sub(1));
    let list = Rect { height: inner.height - below, ..inner };
    let text = Rect { y: list.bottom() + 1, height: below.saturating_sub(1), ..inner };
    Parts { area, list: List::around(cursor, groups.len(), list), text, lines }
}

pub fn list(model: &Model, cursor: usize, body: Rect) -> List {
    parts(model, &model.warnings(), cursor, body).list
}

/// Draws the kinds of warnings as a list, and the paragraph of the one under the cursor.
pub fn draw(model: &Model, cursor: usize, body: Rect, buf: &mut Buffer) {
    let (look, groups) = (&model.look, model.warnings());
    let Parts { area, list, text, lines } = parts(model, &groups, cursor, body);
    let inner = window::draw_window(look, "Warnings", area, buf);
    if groups.is_empty() {
        let none = format!(" {} no warnings", FINE.on(look));
        pane::line(look.line(Role::Good, none), 0, inner, buf);
        return;
    }
    let width = usize::from(list.area.width);
    list.draw(look, Some(cursor), |at| summary_line(look, &groups[at], width), buf);
    pane::lines(lines, 0, text, buf);
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
fn paragraph(model: &Model, group: &WarningGroup, width: usize) -> Vec<Line<'static>> {
    let (look, warning) = (&model.look, &group.example);
    let mut lines = Vec::new();
    let texts = [
        (warning.message.clone(), Role::Text),
        (warning.evidence.clone(), Role::Dim),
        (speak(&warning.remedy), Role::Text),
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
    let action = match group.remedy() {
        Some(Remedy::Refine) => "adds rounds to this session".to_string(),
        Some(Remedy::Setting(name)) => {
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
