//! Keys, clicks and messages of Host.

use std::time::SystemTime;

use super::HostScreen;
use crate::context::Context;
use crate::facts::TargetFacts;
use crate::keymap::Action;
use crate::msg::{Effect, Msg, Query};
use crate::record::Warning;
use crate::report;
use crate::report::host::HostReport;
use crate::view::list::List;
use crate::view::{Hits, Part, Target};

pub fn act(state: &mut HostScreen, ctx: &mut Context, action: Action) -> Vec<Effect> {
    if action == Action::Copy {
        let text = state.host.as_deref().map(|host| {
            report::host::text(&HostReport {
                host,
                target: state.target.as_ref(),
                findings: state.findings(),
                xor_loop: state.xor_loop,
            })
        });
        return text.map(Effect::Copy).into_iter().collect();
    }
    let panes = state.scroll.len();
    let is_split = ctx.hits.sections.is_empty();
    let at = if is_split { state.focus.min(panes - 1) } else { 0 };
    match action {
        Action::NextPane | Action::Right if is_split => state.focus = (at + 1) % panes,
        Action::PreviousPane | Action::Left if is_split => state.focus = (at + panes - 1) % panes,
        _ => state.scroll[at] = scroll(ctx.hits, ctx.hits.drawn(Part::Host(at)), action),
    }
    Vec::new()
}

/// Returns the first visible line after a key.
fn scroll(hits: &Hits, list: List, action: Action) -> usize {
    let (sections, at, last) = (&hits.sections, list.first, list.last_page());
    match action {
        // With a single pane, go from section to section.
        Action::NextPane | Action::Right => {
            sections.iter().copied().find(|start| *start > at && at < last).unwrap_or(0)
        }
        Action::PreviousPane | Action::Left => {
            sections.iter().copied().rfind(|start| *start < at).unwrap_or(last)
        }
        _ => list.scroll(action),
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
    if ctx.is_running() && state.host.is_some() {
        Vec::new()
    } else {
        vec![Effect::Ask(Query::Host)]
    }
}

/// Focuses the pane at a click.
pub fn click(state: &mut HostScreen, target: Target) {
    if let Target::Pane(Part::Host(pane)) | Target::Row(Part::Host(pane), _) = target {
        state.focus = pane;
    }
}
