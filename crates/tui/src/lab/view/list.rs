//! The list of groups and probes, with marks for selected and unavailable ones.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;

use crate::context::{RunStatus, ViewContext};
use crate::lab::rows::ProbeItem;
use crate::lab::state::{Lab, LabPane};
use crate::theme::{Look, Role};
use crate::view::list::List;
use crate::view::{Hits, Part, Target, pane};

/// Columns before the name of a probe: the running sign and the checkbox. A click on them toggles.
const BOX: u16 = 4;

pub fn draw(lab: &Lab, ctx: &ViewContext, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let look = ctx.look;
    let focused = lab.pane == LabPane::Probes;
    let (on, count) = (lab.choice.count(lab.sheet.probes()), lab.sheet.probes().count());
    let of = if area.width < 22 { "/" } else { " of " };
    let inner = pane::frame(look, "Probes", &format!("{on}{of}{count}"), focused, area, buf);
    let has_filter = lab.typing || !lab.filter.value().is_empty();
    let above = Constraint::Length(u16::from(has_filter));
    let [head, rows] = Layout::vertical([above, Constraint::Min(0)]).areas(inner);
    if has_filter {
        pane::filter(look, &lab.filter, lab.typing, head, buf);
    }
    let list = List::around(lab.item, lab.sheet.items.len(), rows);
    hits.list(Part::Lab(LabPane::Probes), list);
    for (at, row) in list.rows() {
        let check = Rect { width: row.width.min(BOX), ..row };
        hits.area(check, Target::Check(Part::Lab(LabPane::Probes), at));
    }
    let running = ctx.run.and_then(RunStatus::probe_cell).map(|cell| cell.probe.as_str());
    let width = usize::from(list.area.width);
    let selected = Some(lab.item).filter(|_| focused);
    let line = |at: usize| {
        let line = item_line(look, lab, at, &lab.sheet.items[at], running, width);
        if selected == Some(at) { pane::lit(look, line) } else { line }
    };
    list.draw(look, selected, line, buf);
    if lab.sheet.items.is_empty() {
        pane::line(look.line(Role::Dim, " no probe matches"), 0, list.area, buf);
    }
}

fn item_line(
    look: &Look,
    lab: &Lab,
    row: usize,
    item: &ProbeItem,
    running: Option<&str>,
    width: usize,
) -> Line<'static> {
    match item {
        ProbeItem::Group(group) => {
            let probes = lab.sheet.probes_of(row);
            let on = lab.choice.count(probes.iter().copied());
            let name = group.map_or("other", |group| group.name());
            let count = format!("{on} of {}", probes.len());
            let pad = " ".repeat(width.saturating_sub(name.len() + count.len() + 3));
            Line::from(vec![
                look.span(Role::Title, format!(" {name}")),
                look.span(Role::Dim, format!("{pad} {count}")),
            ])
        }
        ProbeItem::Probe(id) => {
            let missing = lab.unavailable_reason(id).is_some() || lab.info(id).is_none();
            let on = lab.choice.is_on(id);
            let (mark, role) = match (missing, on) {
                (true, true) => (look.glyph("√", "x"), Role::Off),
                (false, true) => (look.glyph("√", "x"), Role::Good),
                (_, false) => (look.glyph("·", "."), Role::Dim),
            };
            let name = if missing {
                Role::Off
            } else if on {
                Role::Text
            } else {
                Role::Dim
            };
            let runs = if running == Some(id) { look.glyph("►", ">") } else { " " };
            let failed = lab
                .data
                .results
                .iter()
                .any(|result| result.cell.probe == *id && result.error.is_some());
            let sign = if failed { look.glyph(" ×", " X") } else { "" };
            let room = width.saturating_sub(usize::from(BOX) + 1 + sign.len().min(2));
            Line::from(vec![
                look.span(Role::Good, format!("{runs} ")),
                look.span(role, format!("{mark} ")),
                look.span(name, pane::fit(id, room)),
                look.span(Role::Wrong, sign.to_string()),
            ])
        }
    }
}
