//! Drawing of Host.

pub mod diagram;
pub mod facts;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;

use super::HostScreen;
use crate::context::ViewContext;
use crate::report::host::{host_items, target_items};
use crate::theme::{Look, Role};
use crate::units::counted;
use crate::view::list::List;
use crate::view::{Hits, Part, Target, findings, pane};

pub fn draw(state: &HostScreen, ctx: &ViewContext, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let panes = panes(state, ctx.look, area);
    let focus = state.focus.min(panes.len().saturating_sub(1));
    for (at, host_pane) in panes.into_iter().enumerate() {
        let (title, right) = (host_pane.title, &host_pane.right);
        let inner = pane::frame(ctx.look, title, right, at == focus, host_pane.area, buf);
        let list = List::scrolled(state.scroll[at], host_pane.lines.len(), inner);
        hits.area(host_pane.area, Target::Pane(Part::Host(at)));
        hits.list(Part::Host(at), list);
        hits.sections.extend(host_pane.starts);
        list.draw_lines(ctx.look, host_pane.lines, buf);
    }
}

/// Columns from which machine and target are side by side.
const MIN_WIDE: u16 = 110;

/// A pane with its lines.
#[derive(Debug)]
struct HostPane {
    title: &'static str,
    right: String,
    area: Rect,
    lines: Vec<Line<'static>>,
    /// First lines of its sections, if it has several.
    starts: Vec<usize>,
}

/// Builds the panes with their lines.
fn panes(state: &HostScreen, look: &Look, body: Rect) -> Vec<HostPane> {
    let findings = state.findings();
    fn room(width: u16) -> usize {
        usize::from(width.saturating_sub(3))
    }
    let count = (!findings.is_empty()).then(|| counted(findings.len(), "finding"));
    let found = count.into_iter().chain(state.describe_time()).collect::<Vec<_>>().join(", ");
    let part = |title, area, lines| HostPane {
        title,
        right: String::new(),
        area,
        lines,
        starts: Vec::new(),
    };
    if body.width >= MIN_WIDE {
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(50), Constraint::Min(0)]).areas(body);
        let target = without_heading(target_lines(state, look, room(right.width)));
        let doctor = findings::describe(look, findings, room(right.width));
        // The target gets the rows it needs, but leaves the doctor a minimum.
        let preferred = target.len() as u16 + 2;
        let min_doctor = (doctor.len() as u16 + 2).min(body.height * 2 / 5);
        let [above, below] = Layout::vertical([
            Constraint::Max(preferred.min(body.height - min_doctor)),
            Constraint::Min(0),
        ])
        .areas(right);
        return vec![
            part("Machine", left, without_heading(machine_lines(state, look, room(left.width)))),
            part("Target", above, target),
            HostPane { right: found, ..part("Doctor", below, doctor) },
        ];
    }
    let width = room(body.width);
    let mut lines = Vec::new();
    let mut starts = Vec::new();
    for (title, section) in [
        (None, machine_lines(state, look, width)),
        // The facts of a target start with their own heading.
        (state.target.is_none().then_some("Target"), target_lines(state, look, width)),
        (Some("Doctor"), findings::describe(look, findings, width)),
    ] {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        starts.push(lines.len());
        lines.extend(title.map(|title| facts::heading(look, title)));
        lines.extend(section);
    }
    vec![HostPane { right: found, starts, ..part("Host", body, lines) }]
}

/// Removes the first heading, which repeats the frame's title.
fn without_heading(mut lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
    if lines.len() > 1 {
        lines.remove(0);
    }
    lines
}

fn machine_lines(state: &HostScreen, look: &Look, width: usize) -> Vec<Line<'static>> {
    match &state.host {
        Some(host) => facts::item_lines(look, &host_items(host, state.xor_loop), width),
        None => vec![look.line(Role::Dim, " inspecting...")],
    }
}

/// Returns the facts of the target chosen on Setup, and the path from the file down to the disk.
fn target_lines(state: &HostScreen, look: &Look, width: usize) -> Vec<Line<'static>> {
    let Some(target) = &state.target else {
        let text = "no target yet: choose a file on Setup (1)";
        return pane::wrap(text, width)
            .into_iter()
            .map(|part| look.line(Role::Dim, format!(" {part}")))
            .collect();
    };
    let mut lines = facts::item_lines(look, &target_items(target), width);
    lines.push(Line::default());
    lines.push(facts::heading(look, "From the file down to the disk"));
    lines.extend(diagram::draw_lines(look, target, width));
    lines
}
