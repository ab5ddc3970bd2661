//! Keys, clicks and messages of Host.

use std::time::SystemTime;

use ratatui::layout::{Position, Rect};

use super::HostScreen;
use super::view::{HostPane, panes};
use crate::context::Context;
use crate::facts::TargetFacts;
use crate::keymap::Action;
use crate::msg::{Effect, Msg};
use crate::record::Warning;
use crate::report;
use crate::report::host::Report;
use crate::view::list::move_cursor;

pub fn act(state: &mut HostScreen, ctx: &mut Context, action: Action) -> Vec<Effect> {
    if action == Action::Copy {
        let text = state.host.as_deref().map(|host| {
            report::host::text(&Report {
                host,
                target: state.target.as_ref(),
                findings: state.findings(),
                xor_loop: state.xor_loop,
            })
        });
        return text.map(Effect::Copy).into_iter().collect();
    }
    let panes = panes(state, ctx.look, ctx.body());
    let count = panes.len().max(1);
    let at = state.focus.min(count - 1);
    let Some(pane) = panes.get(at) else { return Vec::new() };
    match action {
        Action::NextPane | Action::Right if count > 1 => state.focus = (at + 1) % count,
        Action::PreviousPane | Action::Left if count > 1 => state.focus = (at + count - 1) % count,
        _ => state.scroll[at] = scroll(pane, state.scroll[at].min(pane.last()), action),
    }
    Vec::new()
}

/// Returns the first visible line after a key.
fn scroll(pane: &HostPane, at: usize, action: Action) -> usize {
    match action {
        // With a single pane, go from section to section.
        Action::NextPane | Action::Right => {
            pane.starts.iter().copied().find(|start| *start > at && at < pane.last()).unwrap_or(0)
        }
        Action::PreviousPane | Action::Left => {
            pane.starts.iter().copied().rfind(|start| *start < at).unwrap_or(pane.last())
        }
        _ => move_cursor(at, pane.last() + 1, action, pane.page()),
    }
}

pub fn handle_message(state: &mut HostScreen, ctx: &mut Context, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Host(host, xor_loop) => {
            (state.host, state.xor_loop) = (Some(host), Some(xor_loop));
        }
        Msg::Doctor(findings) => {
            state.general = findings;
            if state.planned.is_none() {
                state.examined_at = ctx.time;
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Takes the facts and findings for the plan of Setup.
pub fn show_plan(
    state: &mut HostScreen,
    time: Option<SystemTime>,
    target: Option<&TargetFacts>,
    findings: Option<&[Warning]>,
) {
    state.target = target.cloned();
    state.planned = findings.map(Into::into);
    if findings.is_some() {
        state.examined_at = time;
    }
}

/// Requests the facts; nothing during a run if they are known.
pub fn enter(state: &HostScreen, ctx: &Context) -> Vec<Effect> {
    if ctx.is_running() && state.host.is_some() { Vec::new() } else { vec![Effect::Host] }
}

/// Focuses the pane at a click.
pub fn click(state: &mut HostScreen, ctx: &mut Context, body: Rect, at: Position) -> Vec<Effect> {
    if let Some(pane) = panes(state, ctx.look, body).iter().position(|pane| pane.area.contains(at))
    {
        state.focus = pane;
    }
    Vec::new()
}
