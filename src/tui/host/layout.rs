//! Which panes there are, and where: three on a wide screen, one that scrolls on a narrow one.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;

use super::state::HostScreen;
use super::view::{diagram, facts};
use crate::report::host::{host_items, target_items};
use crate::tui::theme::{Look, Role};
use crate::tui::view::{findings, pane};

/// From here on machine and target stand side by side.
const WIDE: u16 = 110;

/// One pane.
#[derive(Debug)]
pub struct Part {
    pub title: &'static str,
    pub right: String,
    pub area: Rect,
    pub lines: Vec<Line<'static>>,
    /// Where its parts begin, if it holds several.
    pub starts: Vec<usize>,
}

impl Part {
    /// Lines that are seen at once.
    pub fn page(&self) -> usize {
        usize::from(self.area.height.saturating_sub(2)).max(1)
    }

    /// The first line of the last page.
    pub fn last(&self) -> usize {
        self.lines.len().saturating_sub(self.page())
    }
}

/// The panes with their lines.
pub fn parts(state: &HostScreen, look: &Look, body: Rect) -> Vec<Part> {
    let findings = state.findings();
    let room = |width: u16| usize::from(width.saturating_sub(3));
    let count = match findings.len() {
        0 => String::new(),
        1 => "1 finding".into(),
        n => format!("{n} findings"),
    };
    let part =
        |title, area, lines| Part { title, right: String::new(), area, lines, starts: Vec::new() };
    if body.width >= WIDE {
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(50), Constraint::Min(0)]).areas(body);
        let target = headless(target(state, look, room(right.width)));
        let doctor = findings::describe(look, findings, room(right.width));
        // The target gets what it needs, unless the doctor would be left with too little.
        let wanted = target.len() as u16 + 2;
        let least = (doctor.len() as u16 + 2).min(body.height * 2 / 5);
        let [above, below] = Layout::vertical([
            Constraint::Max(wanted.min(body.height - least)),
            Constraint::Min(0),
        ])
        .areas(right);
        return vec![
            part("Machine", left, headless(machine(state, look, room(left.width)))),
            part("Target", above, target),
            Part { right: count, ..part("Doctor", below, doctor) },
        ];
    }
    let width = room(body.width);
    let mut lines = Vec::new();
    let mut starts = Vec::new();
    for (title, own) in [
        (None, machine(state, look, width)),
        // The facts of a target have its title.
        (state.target.is_none().then_some("Target"), target(state, look, width)),
        (Some("Doctor"), findings::describe(look, findings, width)),
    ] {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        starts.push(lines.len());
        lines.extend(title.map(|title| facts::heading(look, title)));
        lines.extend(own);
    }
    vec![Part { right: count, starts, ..part("Host", body, lines) }]
}

/// Without its first title, which the frame says.
fn headless(mut lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
    if lines.len() > 1 {
        lines.remove(0);
    }
    lines
}

fn machine(state: &HostScreen, look: &Look, width: usize) -> Vec<Line<'static>> {
    match &state.host {
        Some(host) => facts::lines(look, &host_items(host), width),
        None => vec![Line::styled(" looking ...", look.style(Role::Dim))],
    }
}

/// The facts of what Setup has chosen, and the way from the file down to the disk.
fn target(state: &HostScreen, look: &Look, width: usize) -> Vec<Line<'static>> {
    let Some(target) = &state.target else {
        let text = "no target yet: choose a file on Setup (1)";
        return pane::wrap(text, width)
            .into_iter()
            .map(|part| Line::styled(format!(" {part}"), look.style(Role::Dim)))
            .collect();
    };
    let mut lines = facts::lines(look, &target_items(target), width);
    lines.push(Line::default());
    lines.push(facts::heading(look, "From the file down to the disk"));
    lines.extend(diagram::lines(look, target, width));
    lines
}
