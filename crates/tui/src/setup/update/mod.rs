//! Keys, clicks and messages of Setup.

mod change;
mod pick;

pub use change::{answer, ask_for_value, save_preset, set_text, take_preset, toggle_backend};
pub use pick::set_target;

use pick::ChosenTargets;

use std::path::{Path, PathBuf};

use tui_input::Input;

use super::browser::BrowserRow;
use super::slider;
use super::state::{Setup, SetupPane};
use crate::context::{Context, Request};
use crate::experiment::settings_of;
use crate::keymap::Action;
use crate::msg::{Effect, Msg, NewRun, Query, Refusal};
use crate::plan::{Plan, Presets, TargetSpec};
use crate::popup::{Popup, Purpose};
use crate::view::list::{move_cursor, next_of};
use crate::view::{Part, Target};

pub fn act(setup: &mut Setup, ctx: &mut Context, action: Action) -> Vec<Effect> {
    match action {
        _ if setup.picks && waits_for_a_file(action) => {}
        Action::Run => return run(setup, ctx),
        Action::Reset => return change::reset(setup, ctx),
        Action::NextPane => setup.focus_on(next_of(SetupPane::ALL, setup.focus, false)),
        Action::PreviousPane => setup.focus_on(next_of(SetupPane::ALL, setup.focus, true)),
        Action::Preset => {
            ctx.popups.push(Popup::start(ctx.presets, &setup.preset.id));
        }
        Action::SaveAs => {
            let hint = "a name for iotui --preset NAME and for p here";
            ctx.popups.push(Popup::line("Save as a preset", hint, "", Purpose::Preset));
        }
        Action::Copy => return copy(setup, ctx),
        Action::Filter => open_filter(setup),
        Action::Hidden => {
            setup.browser.hidden = !setup.browser.hidden;
            setup.browser.build_rows();
        }
        Action::Budget => return change::set_better_budget(setup, ctx),
        Action::Edit => return change::edit(setup, ctx),
        Action::Back if !back(setup) && setup.picks => {
            setup.picks = false;
            ctx.popups.push(Popup::start(ctx.presets, &setup.preset.id));
            // Nothing was chosen.
            if let Some((preset, settings)) = setup.before_pick.take().map(|before| *before) {
                (setup.preset, setup.settings) = (preset, settings);
                return setup.replan(ctx.now);
            }
        }
        Action::Back => {}
        _ => return act_in_pane(setup, ctx, action),
    }
    Vec::new()
}

/// Returns whether an action is about what is not shown while a file is picked.
fn waits_for_a_file(action: Action) -> bool {
    matches!(
        action,
        Action::Run | Action::Reset | Action::SaveAs | Action::Copy | Action::Budget | Action::Mark
    )
}

/// Returns whether an action does something now.
pub fn is_offered(setup: &Setup, action: Action) -> bool {
    match action {
        _ if setup.picks && waits_for_a_file(action) => false,
        Action::Reset => !setup.is_default(),
        _ => true,
    }
}

/// Puts the cursor on a setting, by its name: on its row, or in the pane that has it.
pub fn show_setting(setup: &mut Setup, name: &str) {
    match name {
        "backend" => setup.focus_on(SetupPane::Backends),
        "block-size" => setup.focus_on(SetupPane::Blocks),
        _ => {
            setup.focus_on(SetupPane::Workload);
            setup.all_settings |= setup.find_line(name).is_none();
            setup.row = setup.find_line(name).unwrap_or(setup.row);
            setup.mark = 0;
        }
    }
}

fn open_filter(setup: &mut Setup) {
    setup.focus_on(SetupPane::Target);
    setup.browser.filter.get_or_insert_with(Input::default);
    setup.browser.typing = true;
}

fn act_in_pane(setup: &mut Setup, ctx: &mut Context, action: Action) -> Vec<Effect> {
    match setup.focus {
        SetupPane::Target => act_on_target(setup, ctx, action),
        SetupPane::Backends => act_on_backends(setup, ctx, action),
        SetupPane::Workload => act_on_workload(setup, ctx, action),
        SetupPane::Blocks => act_on_blocks(setup, ctx, action),
        SetupPane::Plan => act_on_plan(setup, ctx, action),
    }
}

/// Handles keys of the target pane. Enter chooses the match and closes the filter.
fn act_on_target(setup: &mut Setup, ctx: &mut Context, action: Action) -> Vec<Effect> {
    let ends = action == Action::Enter && setup.browser.typing;
    let effects = pick::act(setup, ctx, action);
    if ends {
        back(setup);
    }
    effects
}

fn act_on_backends(setup: &mut Setup, ctx: &mut Context, action: Action) -> Vec<Effect> {
    let at = setup.backend_cursor();
    if action.moves_rows() {
        let page = ctx.hits.drawn(Part::Setup(SetupPane::Backends)).page();
        setup.backend = move_cursor(at, setup.backend_rows().len(), action, page);
        return Vec::new();
    }
    match action {
        Action::Toggle | Action::Enter => change::press_backend(setup, ctx, at),
        _ => Vec::new(),
    }
}

fn act_on_workload(setup: &mut Setup, ctx: &mut Context, action: Action) -> Vec<Effect> {
    let (at, count) = (setup.workload_cursor(), setup.workload_rows().len());
    if action.moves_rows() {
        let page = ctx.hits.drawn(Part::Setup(SetupPane::Workload)).page();
        setup.row = move_cursor(at, count, action, page);
        setup.mark = 0;
        return Vec::new();
    }
    let Some(row) = setup.current_setting() else {
        setup.all_settings ^= matches!(action, Action::Toggle | Action::Enter);
        return Vec::new();
    };
    match action {
        Action::Left => change::step_row(setup, ctx, row, false),
        Action::Right => change::step_row(setup, ctx, row, true),
        Action::Toggle | Action::Enter => change::toggle_row(setup, ctx, row),
        _ => Vec::new(),
    }
}

/// Moves in the table of sweeps; Space takes a row out, or puts it back.
fn act_on_sweeps(setup: &mut Setup, ctx: &mut Context, action: Action) -> Vec<Effect> {
    if action.moves_rows() {
        let page = ctx.hits.drawn(Part::Setup(SetupPane::Blocks)).page();
        setup.sweep = move_cursor(setup.sweep, setup.preset.sweeps.len(), action, page);
        return Vec::new();
    }
    if !matches!(action, Action::Toggle | Action::Enter) {
        return Vec::new();
    }
    if setup.toggle_sweep(setup.sweep) {
        return setup.replan(ctx.now);
    }
    ctx.note("one row must stay");
    Vec::new()
}

fn act_on_blocks(setup: &mut Setup, ctx: &mut Context, action: Action) -> Vec<Effect> {
    if setup.has_table() {
        return act_on_sweeps(setup, ctx, action);
    }
    let end = setup.end;
    match action {
        Action::Left => change::slide(setup, ctx, false),
        Action::Right => change::slide(setup, ctx, true),
        Action::Up => change::spread(setup, ctx, true),
        Action::Down => change::spread(setup, ctx, false),
        Action::Top => change::change_band(setup, ctx, |band| Some(band.set_end(end, 0))),
        Action::Bottom => {
            change::change_band(setup, ctx, |band| Some(band.set_end(end, slider::MAX_POWER)))
        }
        Action::Toggle | Action::Enter => {
            setup.end = end.opposite();
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn act_on_plan(setup: &mut Setup, ctx: &mut Context, action: Action) -> Vec<Effect> {
    if action == Action::Enter {
        return run(setup, ctx);
    }
    if action.moves_rows() {
        setup.scroll = ctx.hits.drawn(Part::Setup(SetupPane::Plan)).scroll(action);
    }
    Vec::new()
}

/// Refreshes Setup when it is shown again: files and caches may have changed.
pub fn enter(setup: &mut Setup) -> Vec<Effect> {
    setup.browser.loading = Some(setup.browser.dir.clone());
    let list = Effect::Ask(Query::List(setup.browser.dir.clone()));
    std::iter::once(list).chain(setup.request_plan()).collect()
}

/// Requests the plan and the findings about it once more: the machine may have changed.
pub fn examine(setup: &mut Setup) -> Option<Effect> {
    setup.request_plan()
}

pub fn handle_message(setup: &mut Setup, ctx: &mut Context, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Proposed { number, result, findings, outlook } => {
            if setup.planning.accept_answer(number, result, findings, *outlook) {
                return take_plan(setup, ctx);
            }
            setup.send_pending().into_iter().collect()
        }
        Msg::Listed(listing) => {
            let first = setup.browser.entries.is_empty();
            if !setup.browser.accept_listing(listing) {
                return Vec::new();
            }
            if first {
                pick::find_target(setup);
            }
            pick::inspect_cursor(setup)
        }
        Msg::Gone(paths) => {
            let before = setup.browser.recent.len();
            setup.browser.recent.retain(|path| !paths.contains(path));
            setup.browser.build_rows();
            let changed = before != setup.browser.recent.len();
            changed.then(|| setup.remember(ctx.presets, ctx.look)).into_iter().collect()
        }
        Msg::Seen(inspection) => {
            setup.browser.accept_inspection(inspection);
            pick::inspect_cursor(setup)
        }
        Msg::PresetSaved(Ok(preset)) => {
            ctx.succeed(format!("saved as preset {}", preset.id));
            let mut effects = change::take_preset(setup, ctx, *preset);
            effects.push(setup.remember(ctx.presets, ctx.look));
            effects
        }
        Msg::PresetSaved(Err(why)) => {
            ctx.fail(why);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Takes over the plan of the newest choices.
fn take_plan(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    let mut effects = Vec::new();
    match &setup.planning.proposed {
        Some(Ok(proposed)) => {
            setup.exists =
                proposed.plan.target != TargetSpec::None && !proposed.plan.target.is_ours();
        }
        Some(Err(Refusal { is_missing: true, .. })) => {
            setup.exists = false;
            let gone = setup.absolute_path().filter(|path| setup.browser.recent.contains(path));
            effects.extend(gone.map(|path| Effect::Ask(Query::FindGone(vec![path]))));
            effects.extend(list_again(setup));
        }
        // A file that is refused for another reason may still exist.
        Some(Err(_)) | None => {}
    }
    if std::mem::take(&mut setup.dirty) {
        effects.push(setup.remember(ctx.presets, ctx.look));
    }
    if std::mem::take(&mut setup.planning.run_when_ready) {
        run_ready(setup, ctx);
    }
    effects
}

/// Lists the folder again if it still shows a file that is gone.
fn list_again(setup: &mut Setup) -> Option<Effect> {
    let gone = setup.absolute_path()?;
    let browser = &mut setup.browser;
    let is_shown =
        |row: &BrowserRow| matches!(row, BrowserRow::Entry(_)) && browser.path(*row) == Some(&gone);
    if browser.loading.is_some() || !browser.rows.iter().any(is_shown) {
        return None;
    }
    browser.loading = Some(browser.dir.clone());
    Some(Effect::Ask(Query::List(browser.dir.clone())))
}

/// Returns the filter while it has the focus.
pub fn field(setup: &mut Setup) -> Option<&mut Input> {
    let browser = &mut setup.browser;
    if browser.typing { browser.filter.as_mut() } else { None }
}

/// Rebuilds the list after a change of the filter.
pub fn field_changed(setup: &mut Setup, _: &mut Context) -> Vec<Effect> {
    let browser = &mut setup.browser;
    browser.build_rows();
    browser.cursor = 0;
    pick::inspect_cursor(setup)
}

/// Closes the filter; returns false if no filter is open.
pub fn back(setup: &mut Setup) -> bool {
    let browser = &mut setup.browser;
    browser.typing = false;
    let had = browser.filter.take().is_some();
    browser.build_rows();
    had
}

/// Takes over what a session measured: its targets, its preset, and what differs from that. The
/// choices stay where they are the same already.
pub fn open_plan(setup: &mut Setup, ctx: &mut Context, plan: &Plan) -> Vec<Effect> {
    let known = |id: &str| ctx.presets.iter().find(|preset| preset.id == id);
    // A preset may be gone; its cells are not.
    let preset = plan.presets.iter().find_map(|id| known(id)).or_else(|| known(Presets::DEFAULT));
    let Some(preset) = preset.cloned() else { return Vec::new() };
    let settings = settings_of(plan, &preset, &setup.infos);
    let chosen = list_places(plan, &setup.browser.start);
    let absolute = |path: &PathBuf| setup.browser.start.join(path);
    let is_same = (&setup.preset, &setup.settings) == (&preset, &settings)
        && setup.as_one == chosen.as_one
        && setup.file.as_ref().map(absolute) == chosen.file
        && setup.others.iter().map(absolute).eq(chosen.others.iter().cloned())
        && setup.dir.as_ref().map(absolute) == chosen.dir;
    if is_same {
        return Vec::new();
    }
    change::use_preset(setup, preset);
    setup.settings = settings;
    pick::set_targets(setup, ctx, chosen)
}

/// Returns the targets of a plan; the folder of a scratch file if it is not the only one and the
/// one where iotui was started.
fn list_places(plan: &Plan, start: &Path) -> ChosenTargets {
    if let TargetSpec::Files { dir, files, .. } = &plan.target {
        let paths = files.iter().map(|file| dir.join(&file.path));
        return ChosenTargets::as_one(paths.collect());
    }
    let mut places = plan.targets().filter_map(TargetSpec::path).map(Path::to_path_buf);
    let (first, others) = (places.next(), places.collect::<Vec<_>>());
    if matches!(plan.target, TargetSpec::Scratch { .. }) {
        let dir = first.filter(|dir| dir != start || !others.is_empty());
        return ChosenTargets { others, dir, ..ChosenTargets::default() };
    }
    ChosenTargets { file: first, others, ..ChosenTargets::default() }
}

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
fn run_ready(setup: &mut Setup, ctx: &mut Context) {
    match &setup.planning.proposed {
        Some(Ok(proposed)) => {
            let run = NewRun::from(proposed.plan.clone());
            let path = setup.absolute_path();
            if let Some(path) = path {
                setup.browser.add_recent(&path);
            }
            let other_run = setup.planning.other_run().map(String::from);
            ctx.request(Request::Start(NewRun { other_run, ..run }));
        }
        Some(Err(refusal)) => ctx.fail(refusal.why.clone()),
        None => {}
    }
}

/// Copies the command line to the clipboard.
pub fn copy(setup: &Setup, ctx: &mut Context) -> Vec<Effect> {
    if let Some(why) = setup.lacks_command() {
        ctx.note(why);
        return Vec::new();
    }
    vec![Effect::Copy(setup.command())]
}

/// Moves the nearest end of the slider to a power of two.
fn move_nearest_end(setup: &mut Setup, ctx: &mut Context, power: u32) -> Vec<Effect> {
    let effective = setup.effective_settings();
    let Some(band) = setup.band(&effective) else { return Vec::new() };
    let end = band.nearest_end(f64::from(power));
    setup.end = end;
    change::change_band(setup, ctx, |band| Some(band.set_end(end, power)).filter(|b| *b != band))
}

pub fn click(setup: &mut Setup, ctx: &mut Context, target: Target) -> Vec<Effect> {
    let pane = match target {
        Target::Pane(Part::Setup(pane)) | Target::Row(Part::Setup(pane), _) => pane,
        Target::Item(..) => SetupPane::Workload,
        Target::BlockSize(_) => SetupPane::Blocks,
        Target::Plan(_) => SetupPane::Plan,
        _ => return Vec::new(),
    };
    setup.focus_on(pane);
    match (pane, target) {
        (SetupPane::Target, Target::Row(_, row)) => {
            let again = setup.browser.cursor == row;
            setup.browser.cursor = row;
            if again { pick::act(setup, ctx, Action::Enter) } else { pick::inspect_cursor(setup) }
        }
        (SetupPane::Backends, Target::Row(_, row)) => {
            setup.backend = row;
            change::press_backend(setup, ctx, row)
        }
        (SetupPane::Blocks, Target::Row(_, row)) => {
            setup.sweep = row;
            act_on_sweeps(setup, ctx, Action::Toggle)
        }
        (SetupPane::Workload, Target::Row(_, row)) => {
            (setup.row, setup.mark) = (row, 0);
            setup.all_settings ^= setup.current_setting().is_none();
            Vec::new()
        }
        (_, Target::Item(row, item)) => {
            (setup.row, setup.mark) = (row, 0);
            match setup.current_setting() {
                Some(setting) => change::choose_item(setup, ctx, setting, item),
                None => Vec::new(),
            }
        }
        (_, Target::BlockSize(power)) => move_nearest_end(setup, ctx, power),
        (_, Target::Plan(Action::Run)) => run(setup, ctx),
        (_, Target::Plan(_)) => copy(setup, ctx),
        _ => Vec::new(),
    }
}
