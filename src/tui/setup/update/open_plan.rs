//! The plan of a session, taken over.

use std::path::{Path, PathBuf};

use super::{change, pick};
use crate::experiment::settings_of;
use crate::plan::{Plan, Presets, TargetSpec};
use crate::tui::context::Context;
use crate::tui::msg::Effect;
use crate::tui::setup::state::Setup;

/// Takes over what a session measured: its targets, its preset, and what differs from that. The
/// choices stay where they are the same already.
pub fn open_plan(setup: &mut Setup, ctx: &mut Context, plan: &Plan) -> Vec<Effect> {
    let known = |id: &str| ctx.presets.iter().find(|preset| preset.id == id);
    // A preset may be gone; its cells are not.
    let preset = plan.presets.iter().find_map(|id| known(id)).or_else(|| known(Presets::DEFAULT));
    let Some(preset) = preset.cloned() else { return Vec::new() };
    let settings = settings_of(plan, &preset, &setup.infos);
    let (file, others, dir) = places(plan, &setup.browser.start);
    let absolute = |path: &PathBuf| setup.browser.start.join(path);
    let files: Vec<PathBuf> = file.iter().chain(&others).cloned().collect();
    let is_same = (&setup.preset, &setup.settings) == (&preset, &settings)
        && setup.files().iter().map(absolute).eq(files)
        && setup.dir.as_ref().map(absolute) == dir;
    if is_same {
        return Vec::new();
    }
    change::use_preset(setup, preset);
    setup.settings = settings;
    pick::set_targets(setup, ctx, file, others, dir)
}

/// Returns the files of a plan, or the folder of its scratch file if it is not the one where iotui
/// was started.
fn places(plan: &Plan, start: &Path) -> (Option<PathBuf>, Vec<PathBuf>, Option<PathBuf>) {
    let mut files = plan.targets().filter_map(|target| match target {
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => Some(path.clone()),
        TargetSpec::Scratch { .. } | TargetSpec::None => None,
    });
    let dir = match &plan.target {
        TargetSpec::Scratch { dir, .. } => Some(dir.clone()).filter(|dir| dir != start),
        _ => None,
    };
    (files.next(), files.collect(), dir)
}
