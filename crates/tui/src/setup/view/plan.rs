//! The plan pane: what a run will do, before anything runs.

use std::collections::HashSet;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::scene::SetupScene;
use crate::analysis::group_by_key;
use crate::experiment::{Proposed, estimate, predict_missed};
use crate::keymap::{Action, key_of};
use crate::msg::Outlook;
use crate::plan::{Axis, Job, Op, Plan, TargetSpec};
use crate::record::{Severity, Warning};
use crate::screen::Screen;
use crate::setup::state::{Setup, SetupPane};
use crate::spoken::speak;
use crate::text::{Replacement, safe, show_path};
use crate::theme::Role;
use crate::units::{counted, show_bytes, show_wait};
use crate::view::list::List;
use crate::view::{Hits, Part, Target, findings, pane};

/// Returns the command line in as many lines as the pane can show.
fn command_lines(scene: &SetupScene, inner: Rect) -> Vec<String> {
    let columns = usize::from(inner.width.saturating_sub(4)).max(10);
    let max = if inner.height >= 9 { 3 } else { 2 };
    let text = scene.setup.lacks_command().unwrap_or_else(|| scene.setup.command());
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(last) if pane::width(last) + 1 + pane::width(word) <= columns => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    if lines.len() > max {
        let rest = lines.split_off(max - 1).join(" ");
        lines.push(pane::fit(&rest, columns));
    }
    lines
}

pub fn draw(scene: &SetupScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let planning = &scene.setup.planning;
    let late = planning.is_late(scene.ctx.now);
    let right = match &planning.proposed {
        _ if late => "planning...",
        Some(Ok(_)) => RUN,
        _ => "",
    };
    let inner = scene.frame(SetupPane::Plan, "Plan", right, area, buf);
    if right == RUN {
        draw_run_key(scene, area, buf, hits);
    }
    let command = command_lines(scene, inner);
    let [above, below] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(command.len() as u16)])
            .areas(inner);
    let lines = plan_lines(scene, usize::from(above.width));
    let list = List::scrolled(scene.setup.scroll, lines.len(), above);
    hits.list(Part::Setup(SetupPane::Plan), list);
    hits.area(below, Target::Plan(Action::Copy));
    list.draw_lines(scene.look, lines, buf);
    if late {
        buf.set_style(above, scene.style(Role::Off).add_modifier(Modifier::DIM));
    }
    let mark = scene.look.span(Role::Key, " $ ");
    pane::lines(pane::hang(mark, command, scene.style(Role::Text)), 0, below, buf);
    copy_key(scene, below, buf);
}

/// The text in the title of a plan that can run.
const RUN: &str = "r run";

/// Draws the key that runs the plan in the colours of a button.
fn draw_run_key(scene: &SetupScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let width = RUN.len() as u16 + 2;
    if let Some(x) = area.right().checked_sub(width + 1).filter(|x| *x > area.x + 8) {
        let button = Rect::new(x, area.y, width, 1);
        buf.set_style(button, scene.style(Role::Selected));
        hits.area(button, Target::Plan(Action::Run));
    }
}

/// Draws `y copy` at the end of the command if it fits.
fn copy_key(scene: &SetupScene, below: Rect, buf: &mut Buffer) {
    let Some(last) = below.height.checked_sub(1) else { return };
    let x = below.right().saturating_sub(8);
    let free = (x.saturating_sub(1)..below.right())
        .all(|x| buf.cell((x, below.y + last)).is_none_or(|cell| cell.symbol() == " "));
    if free {
        buf.set_string(x, below.y + last, "y", scene.style(Role::Key));
        buf.set_string(x + 2, below.y + last, "copy", scene.style(Role::Dim));
    }
}

/// Returns everything to know before a run.
fn plan_lines(scene: &SetupScene, columns: usize) -> Vec<Line<'static>> {
    let room = columns.saturating_sub(3);
    match &scene.setup.planning.proposed {
        None => vec![scene.look.line(Role::Dim, " planning...")],
        Some(Err(refusal)) => {
            let sign = scene.look.glyph("×", "X");
            wrap_with_sign(scene, sign, Role::Wrong, &refusal.why, Role::Text, room)
        }
        Some(Ok(proposed)) => {
            let mut lines = vec![summary_line(scene, &proposed.plan)];
            push_target(scene, proposed, room, &mut lines);
            // In a low pane the rest has no room.
            push_findings(scene, room, &mut lines);
            push_what_runs(scene, proposed, room, &mut lines);
            push_key_of_doctor(scene, room, &mut lines);
            lines
        }
    }
}

/// Adds what is read and written.
fn push_target(
    scene: &SetupScene,
    proposed: &Proposed,
    room: usize,
    lines: &mut Vec<Line<'static>>,
) {
    let mut push = |sign: &str, role: Role, text: &str| {
        lines.extend(wrap_with_sign(scene, sign, role, text, Role::Text, room));
    };
    push(" ", Role::Dim, &describe_target(scene.setup, proposed));
    let ground = &proposed.facts.ground;
    if ground.is_walked() && (!ground.is_disk() || ground.layers_to_drop().next().is_some()) {
        push(" ", Role::Dim, &format!("lies on {}", proposed.facts.describe_place()));
    }
    if let Some(why) = scene.setup.scratch_elsewhere() {
        push("!", Role::Misleading, &why);
    }
}

/// Adds the sweeps, what is skipped, and the expected result.
fn push_what_runs(
    scene: &SetupScene,
    proposed: &Proposed,
    room: usize,
    lines: &mut Vec<Line<'static>>,
) {
    let mut push = |sign: &str, sign_role: Role, text: &str, role: Role| {
        lines.extend(wrap_with_sign(scene, sign, sign_role, text, role, room));
    };
    let note = scene.look.glyph("●", "*");
    let sweeps = scene.setup.describe_sweeps();
    if !sweeps.is_empty() {
        push(scene.look.glyph("≡", "="), Role::Dim, &sweeps, Role::Dim);
    }
    if let Some(instead) = &proposed.instead {
        push(note, Role::Note, &safe(instead, Replacement::Mark), Role::Text);
    }
    for (reason, skipped) in group_by_key(&proposed.plan.skipped, |skipped| &skipped.reason) {
        let text = speak(&format!("{} skipped: {reason}", skipped.len()));
        push(scene.look.glyph("○", "-"), Role::Dim, &text, Role::Dim);
    }
    let planning = &scene.setup.planning;
    let outlook = &planning.outlook;
    match planning.better_budget {
        Some(time) => {
            let text = describe_short_budget(&proposed.plan, outlook, time);
            push("!", Role::Misleading, &text, Role::Text);
        }
        None if !outlook.forecast.is_empty() => {
            // A run with a goal is not ended by its budget.
            let runs = if proposed.plan.has_goal() { "runs " } else { "" };
            push(" ", Role::Dim, &format!("{runs}{}", outlook.forecast), Role::Text);
        }
        None => {}
    }
    if !outlook.expected.is_empty() {
        push(scene.look.glyph("┈", ":"), Role::Dim, &outlook.expected, Role::Dim);
    }
}

/// Describes the cells that a short budget leaves out, and the key that sets a better one.
fn describe_short_budget(plan: &Plan, outlook: &Outlook, better: Duration) -> String {
    let budget = show_wait(plan.budget);
    let key = key_of(Action::Budget, Screen::Setup);
    let set = format!("{key} sets {}", show_wait(better));
    match predict_missed(plan, &outlook.disk) {
        Some(missed) => {
            let (left, total) = (missed.cells.len(), missed.total);
            let dot = if missed.basis.is_empty() { "" } else { ", " };
            let basis = missed.basis;
            format!(
                "{budget} probably leaves {left} of {total} cells without a result{dot}{basis}: {set}"
            )
        }
        None if outlook.forecast.is_empty() => format!("{budget} is too short to be sure: {set}"),
        None => format!("{}: {set}", outlook.forecast),
    }
}

/// Adds the findings of the doctor that can spoil results.
fn push_findings(scene: &SetupScene, room: usize, lines: &mut Vec<Line<'static>>) {
    let all = sort_by_severity(scene.setup.findings().unwrap_or_default());
    for finding in all.into_iter().filter(|finding| finding.severity > Severity::Note) {
        let (role, sign) = findings::severity(scene.look, finding.severity);
        let text = pane::fit_words(&finding.message, room);
        lines.extend(wrap_with_sign(scene, sign, role, &text, Role::Text, room));
    }
}

/// Adds the key that shows every finding, and counts the notes.
fn push_key_of_doctor(scene: &SetupScene, room: usize, lines: &mut Vec<Line<'static>>) {
    let all = scene.setup.findings().unwrap_or_default();
    let notes = all.iter().filter(|finding| finding.severity == Severity::Note).count();
    let key = key_of(Action::Doctor, Screen::Setup);
    let text = match (all.len(), notes) {
        (0, _) => return,
        (_, 0) => format!("{key} shows the remedies"),
        _ => format!("{key} shows {}, and remedies", counted(notes, "note")),
    };
    lines.extend(wrap_with_sign(scene, "", Role::Dim, &text, Role::Dim, room));
}

/// Wraps a text behind a sign; behind a blank it begins at the edge.
fn wrap_with_sign(
    scene: &SetupScene,
    sign: &str,
    sign_role: Role,
    text: &str,
    role: Role,
    room: usize,
) -> Vec<Line<'static>> {
    let mark = if sign == " " { " ".into() } else { format!(" {sign:1} ") };
    let mark = scene.look.span(sign_role, mark);
    pane::hang(mark, pane::wrap(text, room), scene.style(role))
}

/// Returns the line of time, cells, rounds and memory.
fn summary_line(scene: &SetupScene, plan: &Plan) -> Line<'static> {
    let cells = plan.cells.len();
    let mut spans = vec![Span::raw(" ")];
    let mut push = |number: String, text: &str| {
        spans.push(scene.look.span(Role::Number, number));
        spans.push(scene.look.span(Role::Dim, text.to_string()));
    };
    // The most important figures come first: a narrow pane cuts the end.
    let (dot, time) = (scene.dot(), estimate(plan));
    // The time until a goal is unknown.
    let is_open = plan.has_goal();
    push(
        String::new(),
        match () {
            () if is_open => "at least ",
            () if time < plan.budget => "about ",
            () => "at most ",
        },
    );
    push(show_wait(time), dot);
    push(cells.to_string(), if cells == 1 { " cell" } else { " cells" });
    if let Some(product) = describe_product(plan, scene.look.glyph(" × ", " x ")) {
        push(String::new(), " = ");
        push(product, "");
    }
    match plan.trials {
        Some(n) => push(
            format!(" {} {n}", scene.look.glyph("×", "x")),
            match (n, plan.pick) {
                (1, false) => " trial",
                (_, false) => " trials",
                (1, true) => " trial of the fastest",
                (_, true) => " trials of the fastest",
            },
        ),
        None if plan.settles().is_some() => {
            push(String::new(), &format!("{dot}until the answer is settled"))
        }
        None => push(String::new(), &format!("{dot}repeated until precise")),
    }
    push(String::new(), dot);
    push(show_bytes(plan.buffer_bytes()), " of memory");
    Line::from(spans)
}

/// Describes a plan that has every combination of its values: `3 backends × 4 block sizes`; `None`
/// if some are missing.
fn describe_product(plan: &Plan, times: &str) -> Option<String> {
    let mut varied = Vec::new();
    for axis in Axis::ALL {
        let values: HashSet<String> = plan.cells.iter().map(|job| axis.value(job)).collect();
        if values.len() > 1 {
            varied.push((values.len(), axis.many()));
        }
    }
    let product: usize = varied.iter().map(|(count, _)| count).product();
    (varied.len() > 1 && product == plan.cells.len()).then(|| {
        let parts: Vec<String> =
            varied.iter().map(|(count, name)| format!("{count} {name}")).collect();
        parts.join(times)
    })
}

/// Describes what is read and written, and the space that leaves.
fn describe_target(setup: &Setup, proposed: &Proposed) -> String {
    let plan = &proposed.plan;
    let (size, filling) =
        (show_bytes(plan.target.size()), plan.describe_filling(plan.target.size()));
    let left =
        proposed.facts.space.map(|space| show_bytes(space.available.saturating_sub(plan.stored())));
    let left = left.map(|left| format!("; leaves {left} free")).unwrap_or_default();
    let rewrites = describe_rewrites(plan).unwrap_or_default();
    let up_to = if plan.makes_every_file() { "up to " } else { "" };
    match &plan.target {
        TargetSpec::None => "needs no file".into(),
        TargetSpec::File { .. } if !plan.others.is_empty() => {
            let least = plan.targets().map(TargetSpec::size).min().unwrap_or(0);
            let (count, least) = (plan.targets().count(), show_bytes(least));
            format!("reads {count} files, up to {least} of each; writes nothing")
        }
        TargetSpec::File { path, .. } => {
            format!("reads {}, {size}; writes nothing", show_path(path))
        }
        list @ TargetSpec::Files { .. } => {
            format!("reads {} as one, {size}; writes nothing", list.describe_list())
        }
        TargetSpec::Scratch { .. } if !plan.others.is_empty() => {
            let folders: Vec<String> = plan.targets().filter_map(scratch_folder).collect();
            format!(
                "writes {up_to}{filling} to each of {} scratch files, in {}{rewrites}, removed \
                 afterwards",
                folders.len(),
                folders.join(" and ")
            )
        }
        TargetSpec::Scratch { dir, .. } => {
            let path = setup.scratch_folder().unwrap_or_else(|| dir.clone());
            format!(
                "writes {up_to}{filling} to a scratch file in {}{rewrites}, removed afterwards{left}",
                show_path(&path)
            )
        }
        TargetSpec::New { path, .. } => {
            format!(
                "writes {up_to}{filling} to the new file {}{rewrites}, which is kept{left}",
                show_path(path)
            )
        }
    }
}

fn scratch_folder(target: &TargetSpec) -> Option<String> {
    match target {
        TargetSpec::Scratch { dir, .. } => Some(show_path(dir)),
        _ => None,
    }
}

/// Describes how trials that write overwrite the file.
fn describe_rewrites(plan: &Plan) -> Option<String> {
    let writes = plan.cells.iter().filter(|cell| cell.op == Op::Write);
    let each: Option<u64> = writes
        .map(|cell| {
            cell.count.map(|count| {
                if count == 0 { cell.span } else { cell.span.min(count.saturating_mul(cell.block)) }
            })
        })
        .sum();
    if !plan.cells.iter().any(|cell| cell.op == Op::Write) {
        return None;
    }
    if plan.makes_every_file() {
        return Some(", created again for the trials".into());
    }
    if plan.cells.iter().any(Job::makes_files) {
        return Some(
            ", then overwrites it and writes as much to files created for the trials".into(),
        );
    }
    // One more for the warm-up round.
    let rounds = plan.trials.map(|n| u64::from(n) + 1);
    Some(match (each, rounds) {
        (Some(each), Some(rounds)) => {
            format!(", then overwrites about {} in trials", show_bytes(each.saturating_mul(rounds)))
        }
        (Some(each), None) => format!(", then overwrites {} in each round", show_bytes(each)),
        _ => format!(", then overwrites it for at most {}", show_wait(plan.budget)),
    })
}

fn sort_by_severity(findings: &[Warning]) -> Vec<&Warning> {
    let mut sorted: Vec<&Warning> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    sorted
}
