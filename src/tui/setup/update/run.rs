//! Runs the plan, or copies its command line.

use crate::tui::context::{Context, Request};
use crate::tui::msg::Effect;
use crate::tui::setup::state::Setup;

pub fn run(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    if !setup.planning.is_settled() {
        setup.planning.run_when_ready = true;
        return Vec::new();
    }
    match &setup.planning.proposed {
        Some(Ok(proposed)) => {
            let plan = proposed.plan.clone();
            if let (Some(path), false) = (setup.absolute_path(), ctx.is_running()) {
                setup.browser.add_recent(&path);
            }
            ctx.request(Request::Start(plan.into()));
            Vec::new()
        }
        Some(Err(why)) => {
            let why = why.clone();
            ctx.fail(why);
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// Copies the command line to the clipboard.
pub fn copy(setup: &Setup) -> Vec<Effect> {
    vec![Effect::Copy(setup.command())]
}
