//! The workload pane: one row per setting.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::scene::SetupScene;
use crate::plan::Setting;
use crate::setup::rows::{self, RowKind, RowPart, TITLE_COLUMNS, WorkloadLine};
use crate::setup::state::SetupPane;
use crate::theme::Role;
use crate::view::list::List;
use crate::view::{Hits, Part, Target, pane};

fn parts(scene: &SetupScene, row: &'static Setting, width: usize) -> Vec<RowPart> {
    if let Some(values) = scene.setup.sweep_values(row.name) {
        return vec![RowPart {
            item: None,
            text: format!(" per sweep: {values} "),
            on: true,
            why: None,
        }];
    }
    rows::parts(
        row,
        &scene.constraints,
        scene.setup.plan(),
        width.saturating_sub(*TITLE_COLUMNS),
        scene.checks(),
    )
}

pub fn draw(scene: &SetupScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let setup = scene.setup;
    let changed = if setup.is_changed() { ", changed" } else { "" };
    let inner = scene.frame(
        SetupPane::Workload,
        "Workload",
        &format!("{}{changed}", setup.preset.id),
        area,
        buf,
    );
    let (rows, cursor) = (setup.workload_rows(), setup.workload_cursor());
    let is_focused = scene.focused(SetupPane::Workload);
    let line = |at: usize| match rows.get(at) {
        Some(WorkloadLine::Setting(row)) => {
            row_line(scene, row, at == cursor && is_focused, usize::from(inner.width))
        }
        Some(WorkloadLine::Heading(title)) => scene.look.line(Role::Dim, format!(" {title}")),
        None => scene.fold_line(rows.hidden, "settings"),
    };
    let selected = Some(cursor).filter(|_| is_focused && setup.current_setting().is_none());
    let list = List::around(cursor, rows.len(), inner);
    hits.list(Part::Setup(SetupPane::Workload), list);
    for (at, place) in list.rows() {
        if let Some(WorkloadLine::Setting(setting)) = rows.get(at) {
            record_items(scene, at, setting, place, hits);
        }
    }
    scene.draw_list(list, selected, line, buf);
    let below = rows.len() as u16 + 1;
    if inner.height > below + 2 {
        draw_about(scene, Rect { y: inner.y + below, height: inner.height - below, ..inner }, buf);
    }
}

/// Records where each item of a row can be clicked.
fn record_items(
    scene: &SetupScene,
    at: usize,
    row: &'static Setting,
    place: Rect,
    hits: &mut Hits,
) {
    let mut x = place.x + *TITLE_COLUMNS as u16;
    for part in parts(scene, row, usize::from(place.width)) {
        let width = pane::width(&part.text) as u16;
        if let Some(item) = part.item {
            let area = Rect { x, width, ..place }.intersection(place);
            hits.area(area, Target::Item(at, item));
        }
        x += width;
    }
}

/// Draws the purpose of the preset.
fn draw_about(scene: &SetupScene, area: Rect, buf: &mut Buffer) {
    let preset = &scene.setup.preset;
    let columns = usize::from(area.width.saturating_sub(3));
    let mut lines = Vec::new();
    let mut push = |role, text: &str| {
        for paragraph in text.split("\n\n") {
            lines.extend(pane::paragraph(scene.look, role, "  ", paragraph, columns));
        }
    };
    // The words of the row under the cursor are explained before they are needed.
    if let Some(row) = scene.setup.current_setting().filter(|_| scene.focused(SetupPane::Workload))
    {
        push(Role::Text, &format!("{}: {}", row.title, row.help()));
        push(Role::Dim, "");
    }
    push(Role::Text, &format!("preset {}: {}", preset.id, preset.about));
    push(Role::Dim, &preset.doc);
    scene.draw_notes(lines, area, buf);
}

fn row_line(scene: &SetupScene, row: &'static Setting, here: bool, width: usize) -> Line<'static> {
    let label = format!(" {} ", row.title);
    let gap = " ".repeat((*TITLE_COLUMNS).saturating_sub(pane::width(&label)));
    let mut spans =
        vec![scene.look.span(if here { Role::Selected } else { Role::Dim }, label), Span::raw(gap)];
    let is_set = row.text(&scene.setup.settings).is_some();
    let boxes = matches!(rows::kind(row), RowKind::SomeOf(_));
    for (at, part) in parts(scene, row, width).into_iter().enumerate() {
        let marked = here && boxes && at == scene.setup.mark;
        spans.extend(part_spans(scene, &part, is_set, marked, here && part.item.is_none()));
    }
    Line::from(spans)
}

fn part_spans(
    scene: &SetupScene,
    part: &RowPart,
    is_set: bool,
    marked: bool,
    arrows: bool,
) -> Vec<Span<'static>> {
    let role = match (&part.why, part.on) {
        (Some(_), true) => Role::Misleading,
        (Some(_), false) => Role::Off,
        (None, true) if is_set => Role::Number,
        (None, true) => Role::Text,
        (None, false) => Role::Dim,
    };
    let text = part.text.clone();
    let style = if marked { scene.style(Role::Selected) } else { scene.style(role) };
    if arrows && text.starts_with(' ') {
        let key = scene.style(Role::Focus);
        let (left, right) = (scene.look.glyph("‹", "<"), scene.look.glyph("›", ">"));
        return vec![
            Span::styled(left, key),
            Span::styled(text.trim().to_string(), style),
            Span::styled(right, key),
        ];
    }
    vec![Span::styled(text, style)]
}
