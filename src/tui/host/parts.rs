//! What is said, and where: three panes on a wide screen, one that scrolls on a narrow one.

use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;

use super::{diagram, facts};
use crate::report::host::{of_host, of_target};
use crate::tui::model::Model;
use crate::tui::theme::{Look, Role};
use crate::tui::view::{pane, popup};

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

pub fn parts(model: &Model, body: Rect) -> Vec<Part> {
    let (look, findings) = (&model.look, model.findings());
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
        let target = headless(target(model, room(right.width)));
        let doctor = popup::findings_lines(look, findings, room(right.width));
        // The target gets what it needs, unless the doctor would be left with too little.
        let wanted = target.len() as u16 + 2;
        let least = (doctor.len() as u16 + 2).min(body.height * 2 / 5);
        let [above, below] = Layout::vertical([
            Constraint::Max(wanted.min(body.height - least)),
            Constraint::Min(0),
        ])
        .areas(right);
        return vec![
            part("Machine", left, headless(machine(model, room(left.width)))),
            part("Target", above, target),
            Part { right: count, ..part("Doctor", below, doctor) },
        ];
    }
    let width = room(body.width);
    let mut lines = Vec::new();
    let mut starts = Vec::new();
    for (title, own) in [
        (None, machine(model, width)),
        // The facts of a target have its title.
        (model.setup.facts().is_none().then_some("Target"), target(model, width)),
        (Some("Doctor"), popup::findings_lines(look, findings, width)),
    ] {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        starts.push(lines.len());
        lines.extend(title.map(|title| head(look, title)));
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

pub fn head(look: &Look, title: &str) -> Line<'static> {
    Line::styled(format!(" {title}"), look.style(Role::Title))
}

fn machine(model: &Model, width: usize) -> Vec<Line<'static>> {
    match &model.host.host {
        Some(host) => facts::lines(&model.look, &of_host(host), width),
        None => vec![Line::styled(" looking ...", model.look.style(Role::Dim))],
    }
}

/// The facts of what Setup has chosen, and the way from the file down to the disk.
fn target(model: &Model, width: usize) -> Vec<Line<'static>> {
    let look = &model.look;
    let Some(target) = model.setup.facts() else {
        let text = "no target yet: choose a file on Setup (1)";
        return pane::wrap(text, width)
            .into_iter()
            .map(|part| Line::styled(format!(" {part}"), look.style(Role::Dim)))
            .collect();
    };
    let mut lines = facts::lines(look, &of_target(target), width);
    lines.push(Line::default());
    lines.push(head(look, "From the file down to the disk"));
    lines.extend(diagram::lines(look, target, width));
    lines
}
