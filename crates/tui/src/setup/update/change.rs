//! Changes to the settings: a checkbox, a step, typed text. Each requests a new plan.

use super::pick;
use crate::context::Context;
use crate::experiment::usual;
use crate::msg::{Effect, Query};
use crate::plan::{Backends, Choice, Info, PRESETS, Plan, Preset, Presets, Setting, Settings};
use crate::popup::{Popup, Purpose};
use crate::setup::rows::{self, RowKind};
use crate::setup::slider::Band;
use crate::setup::state::{Setup, SetupPane};
use crate::setup::step::{ValueStep, step};
use crate::units::{short_bytes, short_time};

/// The name under which a target path is typed.
const FILE: &str = "FILE";

/// Shows why a choice is refused, and changes nothing.
fn refuse(ctx: &mut Context, why: String) -> Vec<Effect> {
    ctx.note(why);
    Vec::new()
}

/// Sets one setting, and clears the settings that only its previous value needed.
fn set(
    setup: &mut Setup,
    ctx: &mut Context,
    name: &str,
    text: &str,
) -> Result<Vec<Effect>, String> {
    if setup.sweep_values(name).is_some() {
        let count = setup.preset.sweeps.len();
        ctx.note(format!(
            "{name} {text} now applies to all {count} sweeps of the preset; \
             clear it to restore their values"
        ));
    }
    let settings = &mut setup.settings;
    settings.choose(name, text).map_err(|error| error.to_string())?;
    // `no` matters only where the preset has `yes`.
    if settings.text(name).as_deref() == Some("false")
        && setup.preset.parts().iter().all(|part| part.text(name).is_none())
    {
        settings.unset(name);
    }
    drop_redundant(setup, name);
    Ok(setup.replan(ctx.now))
}

/// Unsets what applies without being set, so that the choices equal the preset again.
fn drop_redundant(setup: &mut Setup, name: &str) {
    if setup.preset.sweeps.iter().any(|sweep| sweep.text(name).is_some()) {
        return;
    }
    let mut without = setup.settings.clone();
    without.unset(name);
    let without = usual(&without.or(&setup.preset.settings), &setup.infos);
    let blocks = |settings: &Settings| settings.block_size.clone().map(|range| range.values);
    let is_same = match name {
        "block-size" => blocks(&without) == blocks(&setup.settings),
        _ => without.text(name) == setup.settings.text(name),
    };
    if is_same {
        setup.settings.unset(name);
    }
}

/// Sets the budget that the plan needs, or opens it as text.
pub fn set_better_budget(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    match setup.plan().and(setup.planning.better_budget) {
        Some(time) => set(setup, ctx, "budget", &short_time(time)).unwrap_or_default(),
        None => {
            ask_for_value(setup, ctx, "budget");
            Vec::new()
        }
    }
}

fn unset(setup: &mut Setup, ctx: &mut Context, name: &str) -> Vec<Effect> {
    setup.settings.unset(name);
    setup.replan(ctx.now)
}

/// Sets one setting unless it conflicts with the others.
fn choose(setup: &mut Setup, ctx: &mut Context, name: &str, text: &str) -> Vec<Effect> {
    if let Some(why) = setup.object_to(name, text) {
        return refuse(ctx, why);
    }
    match set(setup, ctx, name, text) {
        Ok(effects) => effects,
        Err(why) => refuse(ctx, why),
    }
}

/// Selects or deselects the backend of a line, or folds the list.
pub fn press_backend(setup: &mut Setup, ctx: &mut Context, line: usize) -> Vec<Effect> {
    match setup.backend_rows().get(line) {
        Some(info) => toggle(setup, ctx, info),
        None => {
            setup.all_backends = !setup.all_backends;
            Vec::new()
        }
    }
}

/// Selects or deselects a backend.
pub fn toggle_backend(setup: &mut Setup, ctx: &mut Context, at: usize) -> Vec<Effect> {
    match setup.infos.get(at).copied() {
        Some(info) => toggle(setup, ctx, info),
        None => Vec::new(),
    }
}

fn toggle(setup: &mut Setup, ctx: &mut Context, info: &Info) -> Vec<Effect> {
    let effective = setup.effective_settings();
    let mut list =
        effective.backend.as_ref().map_or(Vec::new(), |backends| backends.choices(&setup.infos));
    if list.iter().any(|choice| choice.id == info.id) {
        list.retain(|choice| choice.id != info.id);
    } else if let Some(why) = setup.object_to("backend", info.id) {
        return refuse(ctx, why);
    } else {
        list.push(Choice::plain(info.id));
        list.sort_by_key(|choice| setup.infos.iter().position(|info| info.id == choice.id));
    }
    setup.settings.backend = Some(Backends::These(list));
    drop_redundant(setup, "backend");
    setup.replan(ctx.now)
}

/// Handles left and right on a row.
pub fn step_row(
    setup: &mut Setup,
    ctx: &mut Context,
    row: &'static Setting,
    up: bool,
) -> Vec<Effect> {
    let effective = setup.effective_settings();
    let text = effective.text(row.name);
    match rows::kind(row) {
        RowKind::OneOf(items) => step_to_item(setup, ctx, row, &items, text.as_deref(), up),
        RowKind::SomeOf(items) => {
            let mark = setup.mark;
            setup.mark = if up { (mark + 1).min(items.len() - 1) } else { mark.saturating_sub(1) };
            Vec::new()
        }
        RowKind::Text => {
            let origin = step_origin(setup, row.name);
            match step(row.name, text.as_deref(), origin.as_deref(), up) {
                ValueStep::To(next) => choose(setup, ctx, row.name, &next),
                ValueStep::Unset if setup.preset.settings.text(row.name).is_none() => {
                    unset(setup, ctx, row.name)
                }
                ValueStep::Unset | ValueStep::Stay => Vec::new(),
            }
        }
    }
}

/// Returns the value to step from where none is set.
fn step_origin(setup: &Setup, name: &str) -> Option<String> {
    match name {
        "budget" => Some(short_time(setup.plan().map_or(Plan::BUDGET, Plan::budget_unasked))),
        "trial-time" => setup.plan().map(|plan| short_time(plan.trial_time.low)),
        "size" => setup.constraints().size.map(short_bytes),
        _ => None,
    }
}

/// Steps to the next item that does not conflict, or shows why all conflict.
fn step_to_item(
    setup: &mut Setup,
    ctx: &mut Context,
    row: &'static Setting,
    items: &[&'static str],
    now: Option<&str>,
    up: bool,
) -> Vec<Effect> {
    let at = items.iter().position(|item| Some(*item) == now);
    let candidates: Vec<&'static str> = match (at, up) {
        (Some(at), true) => items[at + 1..].to_vec(),
        (Some(at), false) => items[..at].iter().rev().copied().collect(),
        (None, true) => items.to_vec(),
        (None, false) => items.iter().rev().copied().collect(),
    };
    let mut first = None;
    for item in candidates {
        match setup.object_to(row.name, item) {
            None => {
                // Explain why an item was skipped.
                first.into_iter().for_each(|why: String| ctx.note(why));
                return choose(setup, ctx, row.name, item);
            }
            Some(why) => drop(first.get_or_insert(why)),
        }
    }
    first.map(|why| refuse(ctx, why)).unwrap_or_default()
}

/// Handles Space on a row: cycles through the items, toggles a checkbox, or opens the text field.
pub fn toggle_row(setup: &mut Setup, ctx: &mut Context, row: &'static Setting) -> Vec<Effect> {
    match rows::kind(row) {
        RowKind::OneOf(items) => {
            let now = setup.effective_settings().text(row.name);
            let at = items.iter().position(|item| Some(*item) == now.as_deref());
            let last = at.is_some_and(|at| at + 1 == items.len());
            if last {
                step_to_item(setup, ctx, row, &items, None, true)
            } else {
                step_wrapping(setup, ctx, row, &items, now.as_deref())
            }
        }
        RowKind::SomeOf(items) => match items.get(setup.mark).copied() {
            Some(item) => toggle_item(setup, ctx, row, &items, item),
            None => Vec::new(),
        },
        RowKind::Text => edit(setup, ctx),
    }
}

fn step_wrapping(
    setup: &mut Setup,
    ctx: &mut Context,
    row: &'static Setting,
    items: &[&'static str],
    now: Option<&str>,
) -> Vec<Effect> {
    let effects = step_to_item(setup, ctx, row, items, now, true);
    let moved = setup.effective_settings().text(row.name).as_deref() != now;
    if moved || items.len() < 3 || items.first().copied() == now {
        effects
    } else {
        step_to_item(setup, ctx, row, items, None, true)
    }
}

/// Chooses one item of a row, by click or key.
pub fn choose_item(
    setup: &mut Setup,
    ctx: &mut Context,
    row: &'static Setting,
    item: &'static str,
) -> Vec<Effect> {
    match rows::kind(row) {
        RowKind::SomeOf(items) => {
            setup.mark = items.iter().position(|other| *other == item).unwrap_or(0);
            toggle_item(setup, ctx, row, &items, item)
        }
        _ => choose(setup, ctx, row.name, item),
    }
}

fn toggle_item(
    setup: &mut Setup,
    ctx: &mut Context,
    row: &'static Setting,
    items: &[&'static str],
    item: &str,
) -> Vec<Effect> {
    let effective = setup.effective_settings();
    let now = effective.text(row.name).unwrap_or_default();
    let on = now.split(',').any(|name| name == item);
    let why = setup.object_to(row.name, item);
    if let (false, Some(why)) = (on, why) {
        return refuse(ctx, why);
    }
    let chosen: Vec<&str> = items
        .iter()
        .copied()
        .filter(|name| (**name == *item) != now.split(',').any(|n| n == *name))
        .collect();
    if chosen.is_empty() {
        return refuse(
            ctx,
            format!("at least one is required: select another before deselecting {item}"),
        );
    }
    set(setup, ctx, row.name, &chosen.join(",")).unwrap_or_default()
}

/// Opens the value under the cursor as text.
pub fn edit(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    let name = match setup.focus {
        SetupPane::Target => {
            let now = setup.file.as_deref().map(|path| path.to_string_lossy().into_owned());
            let now = now.unwrap_or_else(|| {
                format!("{}/", setup.browser.dir.to_string_lossy()).replace("//", "/")
            });
            let hint = "a file or block device; for writes, a file that does not exist yet";
            ctx.popups.push(Popup::line("Target", hint, now, Purpose::Setting(FILE)));
            return Vec::new();
        }
        SetupPane::Backends => "backend",
        SetupPane::Blocks => "block-size",
        SetupPane::Workload => setup.current_setting().map_or("op", |row| row.name),
        SetupPane::Plan => return Vec::new(),
    };
    ask_for_value(setup, ctx, name);
    Vec::new()
}

/// Opens the line in which the value of a setting is typed.
pub fn ask_for_value(setup: &Setup, ctx: &mut Context, name: &str) {
    if let Some(setting) = Settings::ALL.iter().find(|s| s.name == name) {
        let now = setup.effective_settings().text(name).unwrap_or_default();
        let form = setting.kind.placeholder().unwrap_or_else(|| "yes|no".into());
        let title = format!("--{name} {form}");
        ctx.popups.push(Popup::line(
            title,
            format!("{}; leave empty for the preset's value", setting.help()),
            now,
            Purpose::Setting(setting.name),
        ));
    }
}

/// Sets a typed value; empty text restores the preset's.
pub fn set_text(
    setup: &mut Setup,
    ctx: &mut Context,
    name: &str,
    text: &str,
) -> Result<Vec<Effect>, String> {
    if name == FILE {
        if text.is_empty() {
            return Ok(pick::set_target(setup, ctx, None, None));
        }
        let path = setup.browser.dir.join(text);
        let effects = pick::set_target(setup, ctx, Some(path), None);
        // Whether it exists is known with the plan.
        setup.exists = false;
        return Ok(effects);
    }
    if text.is_empty() {
        return Ok(unset(setup, ctx, name));
    }
    if name == "backend" {
        let mut parsed = Settings::default();
        parsed.set(name, text).map_err(|error| error.to_string())?;
        check_backends(&parsed, &setup.infos)?;
    }
    set(setup, ctx, name, text)
}

/// Checks the names and options of backends against the registry.
fn check_backends(settings: &Settings, infos: &[&'static Info]) -> Result<(), String> {
    let Some(Backends::These(list)) = &settings.backend else { return Ok(()) };
    for choice in list {
        let info = infos.iter().find(|info| info.id == choice.id);
        let info = info.ok_or_else(|| {
            crate::plan::nearest("backend", &choice.id, infos.iter().map(|i| i.id)).to_string()
        })?;
        choice.check(info).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Moves the active end of the slider.
pub fn slide(setup: &mut Setup, ctx: &mut Context, right: bool) -> Vec<Effect> {
    let end = setup.end;
    change_band(setup, ctx, |band| band.move_end(end, right))
}

/// Changes the number of sizes between the ends.
pub fn spread(setup: &mut Setup, ctx: &mut Context, wider: bool) -> Vec<Effect> {
    change_band(setup, ctx, |band| band.spread(wider))
}

/// Applies a change to the band of block sizes, if there is one.
pub fn change_band(
    setup: &mut Setup,
    ctx: &mut Context,
    change: impl FnOnce(Band) -> Option<Band>,
) -> Vec<Effect> {
    let effective = setup.effective_settings();
    match setup.band(&effective).and_then(change) {
        Some(band) => {
            setup.moved = Some(band);
            set(setup, ctx, "block-size", &band.to_text()).unwrap_or_default()
        }
        None => Vec::new(),
    }
}

/// Takes a preset, dropping all changes.
pub fn take_preset(setup: &mut Setup, ctx: &mut Context, preset: Preset) -> Vec<Effect> {
    use_preset(setup, preset);
    setup.replan(ctx.now)
}

pub(super) fn use_preset(setup: &mut Setup, preset: Preset) {
    setup.preset = preset;
    setup.settings = Settings::default();
    (setup.rows_out, setup.sweep) = (Vec::new(), 0);
    setup.given = None;
    setup.picks = false;
}

/// Answers a question of the guided start: runs its preset, with settings of the question, on a
/// scratch file, or on the file that is picked next.
pub fn answer(
    setup: &mut Setup,
    ctx: &mut Context,
    preset: Preset,
    settings: Settings,
) -> Vec<Effect> {
    let picks = preset.needs_file;
    let before = (setup.preset.clone(), setup.settings.clone());
    use_preset(setup, preset);
    setup.settings = settings;
    setup.before_pick = picks.then(|| before.into());
    if picks {
        setup.focus_on(SetupPane::Target);
        setup.picks = true;
        pick::find_target(setup);
        let mut effects = setup.replan(ctx.now);
        effects.extend(pick::inspect_cursor(setup));
        return effects;
    }
    let dir = setup.dir.clone();
    setup.planning.run_when_ready = true;
    pick::set_target(setup, ctx, None, dir)
}

/// Drops all changes of the preset; without any, takes the default preset.
pub fn reset(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    let usual = ctx.presets.iter().find(|preset| preset.id == Presets::DEFAULT);
    let preset = match usual {
        Some(usual) if setup.settings == Settings::default() => usual.clone(),
        _ => setup.preset.clone(),
    };
    take_preset(setup, ctx, preset)
}

/// Saves the current choices as a preset.
pub fn save_preset(setup: &Setup, id: &str) -> Result<Vec<Effect>, String> {
    fn is_allowed(c: char) -> bool {
        c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c)
    }
    if id.is_empty() || id.len() > 40 || !id.chars().all(is_allowed) {
        return Err("use 1 to 40 lowercase letters, digits, - and _, e.g. my-disk".into());
    }
    if PRESETS.iter().any(|(name, _)| *name == id) {
        return Err(format!("{id} is a built-in preset: choose another name"));
    }
    Ok(vec![Effect::Ask(Query::SavePreset { id: id.into(), question: Box::new(setup.question()) })])
}
