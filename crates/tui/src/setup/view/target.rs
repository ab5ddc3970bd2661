//! The target pane: a file browser, and facts about the file under the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::scene::SetupScene;
use crate::facts::TargetFacts;
use crate::plan::target_name;
use crate::setup::browser::{BrowserRow, EntryKind};
use crate::setup::state::SetupPane;
use crate::text::{Replacement, safe, show_path};
use crate::theme::Role;
use crate::units::{show_bytes, show_share};
use crate::view::list::List;
use crate::view::{Hits, Part, pane};

pub fn draw(scene: &SetupScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let browser = &scene.setup.browser;
    let loading = browser.loading.as_ref().filter(|loading| **loading != browser.dir);
    let dir = match loading {
        Some(loading) => format!("{} ...", show_path(loading)),
        None => show_path(&browser.dir),
    };
    let title = match scene.setup.preset.question.as_str() {
        question if scene.setup.picks => format!("{question} Pick the file"),
        _ => "Target".into(),
    };
    let inner = scene.frame(SetupPane::Target, &title, &dir, area, buf);
    let filter = u16::from(browser.filter.is_some());
    let facts = if inner.height >= 12 { 5 } else { 0 };
    let [head, rows, facts] = Layout::vertical([
        Constraint::Length(filter),
        Constraint::Min(0),
        Constraint::Length(facts),
    ])
    .areas(inner);
    if let Some(input) = &browser.filter {
        pane::filter(scene.look, input, browser.typing, head, buf);
    }
    let list = List::around(browser.cursor, browser.rows.len(), rows);
    hits.list(Part::Setup(SetupPane::Target), list);
    let visible: Vec<BrowserRow> = list.rows().map(|(at, _)| browser.rows[at]).collect();
    let columns = BrowserColumns::fit(scene, &visible, usize::from(list.area.width));
    let line = |at: usize| row_line(scene, browser.rows[at], &columns);
    let selected = Some(browser.cursor).filter(|_| scene.focused(SetupPane::Target));
    scene.draw_list(list, selected, line, buf);
    let used = browser.rows.len() as u16;
    let message = match (&browser.error, &browser.loading) {
        (Some(why), _) => Some((why.clone(), Role::Wrong)),
        (None, Some(_)) if browser.entries.is_empty() => {
            Some(("reading the folder...".into(), Role::Dim))
        }
        _ if browser.rows.is_empty() => Some(("no file matches".into(), Role::Dim)),
        _ => None,
    };
    if let Some((text, role)) = message {
        let at = used.min(list.area.height.saturating_sub(1));
        let text = pane::fit(&text, usize::from(list.area.width).saturating_sub(2));
        pane::line(scene.look.line(role, format!(" {text}")), at, list.area, buf);
    }
    draw_facts(scene, facts, buf);
}

/// Widths of the columns; the names get what the others leave.
struct BrowserColumns {
    name: usize,
    size: usize,
    note: usize,
}

impl BrowserColumns {
    /// Minimum number of columns for a note.
    const MIN_NOTED: usize = 34;

    fn fit(scene: &SetupScene, rows: &[BrowserRow], width: usize) -> BrowserColumns {
        let widths = rows.iter().map(|row| {
            let (_, size, note, _) = describe_row(scene, *row);
            (pane::width(&size), pane::width(&note))
        });
        let (size, note) =
            widths.fold((0, 0), |(size, note), row| (size.max(row.0), note.max(row.1)));
        let note = if width < BrowserColumns::MIN_NOTED { 0 } else { note };
        let gaps = 3 + 1 + if note > 0 { 3 } else { 1 };
        BrowserColumns { name: width.saturating_sub(size + note + gaps), size, note }
    }
}

/// Returns the line of a row: mark, name, size and note.
fn row_line(scene: &SetupScene, row: BrowserRow, columns: &BrowserColumns) -> Line<'static> {
    let setup = scene.setup;
    let (name, size, note, mut role) = describe_row(scene, row);
    let target = setup.target_index(row);
    let mark = match target {
        Some(_) if setup.as_one => "&".into(),
        Some(index) if !setup.others.is_empty() => target_name(index),
        Some(_) => scene.look.glyph("►", ">").into(),
        None => " ".into(),
    };
    if target.is_some() {
        role = Role::Number;
    }
    // Names in one folder often begin alike, so their ends are kept.
    let name = pane::fit_front(&name, columns.name);
    let mut spans = vec![
        scene.look.span(Role::Focus, format!(" {mark} ")),
        scene.look.span(role, pane::pad(&name, columns.name + 1)),
    ];
    let size = format!("{size:>width$}", width = columns.size);
    spans.extend(quantity_spans(scene, &size, role == Role::Off));
    if columns.note > 0 {
        spans.push(scene.look.span(Role::Dim, format!("  {note}")));
    }
    Line::from(spans)
}

/// Returns a number with its unit dimmed.
fn quantity_spans(scene: &SetupScene, text: &str, off: bool) -> Vec<Span<'static>> {
    let at = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let role = if off { Role::Off } else { Role::Text };
    let unit_role = if off { Role::Off } else { Role::Dim };
    vec![scene.look.span(role, number.to_string()), scene.look.span(unit_role, unit.to_string())]
}

/// Returns the name, size, note and role of a row.
fn describe_row(scene: &SetupScene, row: BrowserRow) -> (String, String, String, Role) {
    let setup = scene.setup;
    let browser = &setup.browser;
    fn clean(text: String) -> String {
        safe(&text, Replacement::Mark)
    }
    match row {
        BrowserRow::Scratch => {
            let size = if setup.file.is_none() {
                scene.constraints.span()
            } else {
                scene.effective().size.as_ref().and_then(|s| s.values.iter().max().copied())
            };
            ("scratch file".into(), show_bytes(size.unwrap_or(512 << 20)), "new".into(), Role::Text)
        }
        BrowserRow::Recent(at) => {
            let path = &browser.recent[at];
            let name = clean(show_path(path));
            let facts = browser.facts.get(path);
            let size = facts
                .and_then(|facts| facts.as_ref().ok())
                .map(|facts| show_bytes(facts.size))
                .unwrap_or_default();
            (
                name,
                size,
                "recent".into(),
                if matches!(facts, Some(Err(_))) { Role::Off } else { Role::Dim },
            )
        }
        BrowserRow::Last => (
            format!("{}/", browser.path(row).map(show_path).unwrap_or_default()),
            String::new(),
            "last".into(),
            Role::Dim,
        ),
        BrowserRow::Parent => ("../".into(), String::new(), String::new(), Role::Dim),
        BrowserRow::Entry(at) => {
            let entry = &browser.entries[at];
            let facts = browser.facts.get(&entry.path).and_then(|facts| facts.as_ref().ok());
            let size = facts.map_or(entry.size, |facts| facts.size);
            let role = if entry.objection().is_some() { Role::Off } else { Role::Text };
            let note = facts.map(|facts| short_note(facts)).unwrap_or_default();
            match entry.kind {
                EntryKind::Folder => {
                    (format!("{}/", entry.name), String::new(), String::new(), Role::Dim)
                }
                EntryKind::File => (entry.name.clone(), show_bytes(size), note, role),
                EntryKind::Device => (
                    entry.name.clone(),
                    if size > 0 { show_bytes(size) } else { "device".into() },
                    note,
                    role,
                ),
                EntryKind::Other => (entry.name.clone(), String::new(), "not a file".into(), role),
            }
        }
    }
}

fn short_note(facts: &TargetFacts) -> String {
    match (facts.hole_share(), facts.resident) {
        (Some(holes), _) if holes > 0.005 => format!("{:.0}% stored", (1.0 - holes) * 100.0),
        (_, Some(resident)) => format!("{:.0}% RAM", resident.share * 100.0),
        _ => String::new(),
    }
}

/// Returns names and values of the facts about the row under the cursor.
pub fn facts_at_cursor(scene: &SetupScene) -> Vec<(&'static str, String)> {
    let browser = &scene.setup.browser;
    let Some(row) = browser.row() else { return Vec::new() };
    if browser.objection().is_some() {
        // The facts of a target that cannot be measured do not matter: the reason is shown instead.
        return Vec::new();
    }
    let facts = browser
        .path(row)
        .and_then(|path| browser.facts.get(path))
        .and_then(|facts| facts.as_ref().ok());
    let mut shown = Vec::new();
    match facts {
        Some(facts) => {
            shown.push(("on", facts.describe_place()));
            let (resident, holes) = (facts.resident, facts.hole_share());
            let cached = resident.map(|of| format!("{} in the page cache", show_share(of.share)));
            let stored = holes.map(|holes| match holes {
                0.0 => "all of it".into(),
                _ => format!("{}, the rest is holes", show_share(1.0 - holes)),
            });
            let mut both = [("cached", cached), ("stored", stored)];
            // A low pane has room for one of them.
            if holes.is_some_and(|holes| holes > 0.0) {
                both.reverse();
            }
            shown.extend(both.into_iter().filter_map(|(name, value)| Some((name, value?))));
            shown.extend(facts.space.map(|space| ("free", show_bytes(space.available))));
        }
        None if matches!(row, BrowserRow::Scratch) => describe_scratch(scene, &mut shown),
        // A folder or file that was not inspected may be a mount.
        None => {}
    }
    shown
}

/// Adds facts about the scratch file: from its plan, or else from the folder.
fn describe_scratch(scene: &SetupScene, shown: &mut Vec<(&'static str, String)>) {
    let setup = scene.setup;
    let asked = setup.plan().and_then(|plan| plan.written_data());
    let data = asked.unwrap_or("random data".into());
    shown.push(("contents", format!("{data}, removed after the run")));
    let planned = setup.facts().filter(|_| setup.file.is_none());
    let folder = setup.scratch_folder().filter(|_| planned.is_some());
    shown.extend(folder.map(|folder| ("in", show_path(&folder))));
    let listed = &setup.browser.file_system;
    let fs = planned.map_or(&listed.fs, |facts| &facts.fs);
    if !fs.is_empty() {
        shown.push(("on", fs.clone()));
    }
    let space = planned.map_or(listed.space, |facts| facts.space);
    shown.extend(space.map(|space| ("free", show_bytes(space.available))));
}

/// Draws the facts below the list, if there is room.
fn draw_facts(scene: &SetupScene, area: Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let room = usize::from(area.width).saturating_sub(13);
    let mut lines = Vec::new();
    if let Some(why) = scene.setup.browser.objection() {
        let columns = usize::from(area.width).saturating_sub(4);
        lines.extend(pane::paragraph(scene.look, Role::Misleading, "  ", &why, columns));
    }
    for (name, value) in facts_at_cursor(scene) {
        let value =
            if name == "in" { pane::fit_front(&value, room) } else { pane::fit(&value, room) };
        lines.push(Line::from(vec![
            scene.look.span(Role::Dim, format!("  {name:<10} ")),
            scene.look.span(Role::Text, value),
        ]));
    }
    scene.draw_notes(lines, area, buf);
}
