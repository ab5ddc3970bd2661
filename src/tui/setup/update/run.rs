//! Runs the plan, or copies its command line.

use crate::tui::context::{Context, Request};
use crate::tui::msg::Effect;
use crate::tui::new_run::NewRun;
use crate::tui::setup::state::Setup;

pub fn run(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    if ctx.is_running() {
        ctx.request(Request::RefuseRun);
        return Vec::new();
    }
    setup.planning.run_when_ready = true;
    if setup.planning.is_settled() {
        setup.planning.since = ctx.now;
        // The plan may be old: the file may be gone, or another iotui may measure by now.
        return setup.request_plan().into_iter().collect();
    }
    Vec::new()
}

/// Runs the plan that has just been made.
pub fn run_ready(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    match &setup.planning.proposed {
        Some(Ok(proposed)) => {
            let run = NewRun::from(proposed.plan.clone());
            let path = setup.absolute_path();
            if let Some(path) = path {
                setup.browser.add_recent(&path);
            }
            let other_run = setup.planning.other_run().map(String::from);
            ctx.request(Request::Start(NewRun { other_run, ..run }));
            Vec::new()
        }
        Some(Err(refusal)) => {
            ctx.fail(refusal.why.clone());
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// Copies the command line to the clipboard.
pub fn copy(setup: &Setup) -> Vec<Effect> {
    vec![Effect::Copy(setup.command())]
}
