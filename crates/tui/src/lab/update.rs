//! Keys, clicks and messages of Lab.

use std::path::PathBuf;

use tui_input::Input;

use super::data::{MarkedSession, ProbeData};
use super::state::{Lab, LabPane};
use crate::analysis;
use crate::context::{Context, ProbeChoice, Request, RunStatus};
use crate::export::{Form, What};
use crate::keymap::{Action, key_of};
use crate::msg::{Effect, Msg, Query};
use crate::plan::{Group, Plan, ProbeSet, check_sets, set_of};
use crate::popup::{MarkList, Popup, Purpose};
use crate::screen::Screen;
use crate::session::{self, Listed, Session};
use crate::session_view::{self, SessionView};
use crate::text::time::to_minute;
use crate::units::counted;
use crate::view::list::{move_cursor, next_of};
use crate::view::{Part, Target};

/// Requests the probes available with the target of Setup; not during a run, which the request
/// would disturb.
pub fn enter(lab: &Lab, ctx: &Context, file: Option<PathBuf>, dir: Option<PathBuf>) -> Vec<Effect> {
    if ctx.is_running() {
        return Vec::new();
    }
    let remote = lab.choice.remote().cloned();
    let sets = lab.choice.sets();
    vec![Effect::Ask(Query::Lab { file, dir, remote, sets })]
}

/// Returns the filter while it has the focus.
pub fn field(lab: &mut Lab) -> Option<&mut Input> {
    if lab.typing { Some(&mut lab.filter) } else { None }
}

/// Rebuilds the list after a change of the filter.
pub fn field_changed(lab: &mut Lab, _: &mut Context) -> Vec<Effect> {
    lab.arrange();
    Vec::new()
}

/// Closes a curve or the filter; returns false if neither is open.
pub fn back(lab: &mut Lab) -> bool {
    if lab.open {
        lab.open = false;
        return true;
    }
    if lab.typing || !lab.filter.value().is_empty() {
        lab.typing = false;
        lab.filter = Input::default();
        lab.arrange();
        return true;
    }
    false
}

pub fn act(lab: &mut Lab, ctx: &mut Context, action: Action) -> Vec<Effect> {
    match action {
        Action::Run => run(lab, ctx),
        Action::Toggle if ctx.measures_probes() => ctx.request(Request::Steer(Action::Pause)),
        Action::Skip | Action::Stop if ctx.measures_probes() => {
            ctx.request(Request::Steer(action));
        }
        Action::Preset => {
            ctx.popups.push(Popup::start(ctx.presets, &lab.choice.preset.id));
        }
        Action::Compare => {
            ctx.popups.push(Popup::Marks(MarkList { cursor: 0 }));
            return vec![Effect::Ask(Query::Sessions)];
        }
        Action::Edit => edit_parameters(lab, ctx),
        Action::Copy => copy(lab, ctx),
        Action::Export | Action::SaveAs | Action::Mark => act_on_session(lab, ctx, action),
        Action::NextPane => cycle_focus(lab, false),
        Action::PreviousPane => cycle_focus(lab, true),
        Action::Filter => lab.typing = true,
        Action::Back => drop(back(lab)),
        Action::Enter if lab.typing => lab.typing = false,
        _ => act_in_pane(lab, ctx, action),
    }
    Vec::new()
}

fn cycle_focus(lab: &mut Lab, back: bool) {
    lab.typing = false;
    lab.pane = next_of(&LabPane::ALL, lab.pane, back);
}

/// Requests the plan of the selected probes; its answer starts the run.
fn run(lab: &mut Lab, ctx: &mut Context) {
    if ctx.is_running() {
        return ctx.request(Request::RefuseRun);
    }
    let Some(probes) = chosen_probes(lab) else {
        let key = key_of(Action::Toggle, Screen::Lab);
        return ctx.note(format!("no probe is selected: {key} selects the one under the cursor"));
    };
    lab.number += 1;
    lab.starts_when_planned = true;
    ctx.request(Request::PlanProbes { number: lab.number, probes });
}

/// Returns the selection for the planner; `None` if nothing can be run.
fn chosen_probes(lab: &Lab) -> Option<Box<ProbeChoice>> {
    let settings = lab.choice.settings(&lab.infos)?;
    let needs_target =
        lab.infos.iter().any(|info| info.group == Group::Files && lab.choice.is_on(info.id));
    let preset = lab.choice.preset.clone();
    Some(Box::new(ProbeChoice { preset, settings, needs_target }))
}

/// Copies the command line of the same run.
fn copy(lab: &Lab, ctx: &mut Context) {
    match chosen_probes(lab) {
        Some(probes) => ctx.request(Request::CopyProbes(probes)),
        None => ctx.note("no probe is selected, so there is nothing to copy"),
    }
}

/// Exports, names or marks the session that is shown.
fn act_on_session(lab: &Lab, ctx: &mut Context, action: Action) {
    let data = &lab.data;
    let Some(session) = data.session.clone() else {
        let why = if ctx.measures_probes() {
            "the run is in progress: wait until it ends"
        } else {
            "nothing has been measured yet"
        };
        return ctx.note(why);
    };
    let id = session.id.clone();
    let has_file = data.path.is_some();
    match action {
        Action::Export => {
            let name = session_view::session_name(&session);
            let file = session_view::unique_name(&session.name, &session.id).to_string();
            let form = Form::session(What::Shown(session), &name, &file);
            ctx.popups.push(Popup::Export(Box::new(form)));
        }
        Action::Mark => {
            let is_saved = has_file || session.reference.is_some();
            ctx.request(Request::MarkSession { id, is_saved });
        }
        _ if !has_file => ctx.fail("this session is not saved, so it cannot be named"),
        _ => {
            let hint = "a name to find this session by";
            ctx.popups.push(Popup::line(
                "Name this session",
                hint,
                session.name.clone(),
                Purpose::Rename { id },
            ));
        }
    }
}

fn act_in_pane(lab: &mut Lab, ctx: &mut Context, action: Action) {
    let drawn = ctx.hits.drawn(Part::Lab(lab.pane));
    match (lab.pane, action) {
        (_, Action::Toggle) => {
            let ids: Vec<String> = if lab.pane == LabPane::Probes {
                lab.sheet.probes_of(lab.item).into_iter().map(String::from).collect()
            } else {
                lab.probe().map(String::from).into_iter().collect()
            };
            lab.choice.toggle(&ids.iter().map(String::as_str).collect::<Vec<_>>());
            lab.arrange();
        }
        (_, Action::Enter) => open_curve(lab, ctx),
        (LabPane::About, _) => lab.scroll = drawn.scroll(action),
        (LabPane::Bars, _) if lab.open => {
            let next = lab
                .curves()
                .zip(lab.current_slot())
                .and_then(|(curves, slot)| curves.cell_after(&slot.cell, action).cloned());
            lab.go_to_cell(next);
        }
        (LabPane::Probes, Action::Right) => lab.pane = LabPane::Bars,
        (LabPane::Bars, Action::Left) => lab.pane = LabPane::Probes,
        (LabPane::Bars, Action::Right) => lab.pane = LabPane::About,
        (LabPane::Probes, Action::Left) => {}
        (LabPane::Probes, _) => {
            let to = move_cursor(lab.item, lab.sheet.items.len(), action, drawn.page());
            lab.go_to_item(to);
        }
        (LabPane::Bars, _) => {
            let to = move_cursor(lab.slot, lab.sheet.slots.len(), action, drawn.page());
            lab.go_to(to);
        }
    }
    if lab.open && lab.curves().is_none() {
        lab.open = false;
    }
}

/// Opens or closes the curve of the probe.
fn open_curve(lab: &mut Lab, ctx: &mut Context) {
    if lab.open {
        lab.open = false;
        return;
    }
    match lab.curves() {
        Some(curves) => {
            let first = lab.current_slot().and_then(|slot| curves.start_cell(&slot.cell).cloned());
            lab.go_to_cell(first);
            lab.open = true;
            lab.pane = LabPane::Bars;
        }
        None if lab.pane == LabPane::Probes => lab.pane = LabPane::Bars,
        None => ctx.note(
            "this probe has no curve: no numeric parameter varies, or it has not been measured yet",
        ),
    }
}

/// Opens a field for the parameters of the probe under the cursor.
fn edit_parameters(lab: &Lab, ctx: &mut Context) {
    let Some(info) = lab.probe().and_then(|id| lab.info(id)) else {
        return ctx.note("move the cursor to a probe to set its parameters");
    };
    if info.params.is_empty() {
        return ctx.note(format!("{} has no parameters to set", info.id));
    }
    let ranges: Vec<String> =
        info.params.iter().map(|param| format!("{} {}", param.name, param.range())).collect();
    let hint = format!(
        "{0}=FROM..TO or {0}=A,B; {1}; leave empty for the defaults",
        info.params[0].name,
        ranges.join(", ")
    );
    let sets = lab.choice.sets().unwrap_or_default();
    let sets = info.params.iter().filter_map(|param| set_of(&sets, info.id, param.name));
    let values: Vec<String> = sets.map(|set| format!("{}={}", set.name, set.values)).collect();
    ctx.popups.push(Popup::line(
        format!("Parameters of {}", info.id),
        hint,
        values.join(" "),
        Purpose::Values(info.id),
    ));
}

/// Sets the parameters of a probe, in the form of `--set`, replacing earlier values.
///
/// # Errors
/// The text names a parameter that the probe does not have, or a value out of range.
pub fn set_values(
    lab: &mut Lab,
    ctx: &mut Context,
    id: &str,
    text: &str,
) -> Result<Vec<Effect>, String> {
    let Some(info) = lab.info(id) else { return Err(format!("unknown probe {id}")) };
    let parse = |word: &str| {
        word.parse::<ProbeSet>()
            .map(|set| ProbeSet { probe: set.probe.or_else(|| Some(id.into())), ..set })
    };
    let values: Vec<ProbeSet> = text
        .split_whitespace()
        .map(parse)
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    check_sets(&values, &[info]).map_err(|error| error.to_string())?;
    lab.choice.put_values(info, values);
    lab.arrange();
    ctx.request(Request::InspectProbes);
    Ok(Vec::new())
}

/// Handles a click: on a checkbox toggles, on a row selects, on a selected row opens its curve.
pub fn click(lab: &mut Lab, ctx: &mut Context, target: Target) -> Vec<Effect> {
    lab.typing = false;
    let (Target::Pane(Part::Lab(pane))
    | Target::Row(Part::Lab(pane), _)
    | Target::Check(Part::Lab(pane), _)) = target
    else {
        return Vec::new();
    };
    let was_focused = std::mem::replace(&mut lab.pane, pane) == pane;
    match (pane, target) {
        (LabPane::Probes, Target::Row(_, item)) => lab.go_to_item(item),
        (LabPane::Probes, Target::Check(_, item)) => {
            lab.go_to_item(item);
            // A click on a checkbox must not pause the run.
            if !ctx.measures_probes() {
                return act(lab, ctx, Action::Toggle);
            }
        }
        (LabPane::Bars, Target::Row(_, slot)) => {
            if slot == lab.slot && was_focused && !lab.open {
                return act(lab, ctx, Action::Enter);
            }
            lab.go_to(slot);
        }
        _ => {}
    }
    Vec::new()
}

pub fn handle_message(lab: &mut Lab, ctx: &mut Context, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Lab(local) => {
            lab.local = *local;
            lab.arrange();
        }
        Msg::MarkedOnLab(Ok(other)) => add_mark(lab, *other),
        Msg::MarkedOnLab(Err(why)) => ctx.fail(why),
        Msg::LabPlanned { number, result }
            if number == lab.number && std::mem::take(&mut lab.starts_when_planned) =>
        {
            match result {
                Ok(run) => ctx.request(Request::Start(*run)),
                Err(why) => ctx.fail(why),
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Takes the list of saved sessions.
pub fn list_sessions(lab: &mut Lab, listed: &[Listed]) {
    lab.saved = listed.iter().filter(|listed| listed.probes > 0).cloned().collect();
}

/// Prepares for a run: lists the cells of the plan if it has probes.
pub fn begin(lab: &mut Lab, plan: &Plan) {
    if plan.probes.is_empty() {
        return;
    }
    lab.choice.select_only(
        plan.probes
            .iter()
            .chain(plan.skipped_probes.iter().map(|skipped| &skipped.cell))
            .map(|cell| cell.probe.as_str()),
    );
    lab.data = ProbeData {
        planned: plan.probes.clone(),
        skipped: plan.skipped_probes.clone(),
        ..ProbeData::default()
    };
    lab.open = false;
    lab.arrange();
}

/// Shows the results so far.
pub fn grow(lab: &mut Lab, session: &Session) {
    lab.data = ProbeData::from_run(session, analysis::probes(session));
    lab.arrange();
}

/// Shows the probes of a session.
pub fn show(lab: &mut Lab, shown: &SessionView) {
    let plan = &shown.session.plan;
    let cells = plan.probes.iter().chain(plan.skipped_probes.iter().map(|skipped| &skipped.cell));
    lab.choice.select_only(cells.map(|cell| cell.probe.as_str()));
    lab.data =
        ProbeData::from_session(shown.session.clone(), shown.probes.clone(), shown.path.clone());
    lab.arrange();
    // The large figure stands above the bars: its own bar is among the visible ones.
    lab.go_to_cell(lab.data.asked.clone());
}

/// Renames the session that is shown.
pub fn rename(lab: &mut Lab, id: &str, name: &str) {
    let data = &mut lab.data;
    let Some(session) = data.session.as_ref().filter(|session| session.id == id) else { return };
    let mut session = session::Session::clone(session);
    session.name = name.into();
    *data = ProbeData::from_session(session, std::mem::take(&mut data.results), data.path.take());
    lab.arrange();
}

/// Returns whether an action has an effect now.
pub fn is_offered(lab: &Lab, run: Option<&RunStatus>, action: Action) -> bool {
    let measures_probes = run.is_some_and(RunStatus::measures_probes);
    match action {
        Action::Run => run.is_none(),
        Action::Stop | Action::Skip => measures_probes,
        Action::Export | Action::SaveAs | Action::Mark => lab.data.session.is_some(),
        Action::Enter => lab.typing || lab.open || lab.curves().is_some(),
        Action::Compare => !mark_entries(lab).is_empty(),
        Action::Edit => {
            !measures_probes
                && lab
                    .probe()
                    .and_then(|id| lab.info(id))
                    .is_some_and(|info| !info.params.is_empty())
        }
        _ => true,
    }
}

/// A session or reference that can be marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkEntry {
    pub id: String,
    pub name: String,
    pub about: String,
    /// Its index, which determines its sign; `None` until its values are loaded.
    pub at: Option<usize>,
    pub on: bool,
}

/// Returns the references, then the user's sessions, except the shown session.
pub fn mark_entries(lab: &Lab) -> Vec<MarkEntry> {
    let loaded = lab.local.others.iter().chain(&lab.marked).enumerate();
    let entry = |(at, other): (usize, &MarkedSession)| MarkEntry {
        id: other.id.clone(),
        name: other.name.clone(),
        about: other.about.clone(),
        at: Some(at),
        on: !lab.hidden.contains(&other.id),
    };
    let is_loaded =
        |id: &str| lab.local.others.iter().chain(&lab.marked).any(|other| other.id == id);
    let unloaded =
        lab.saved.iter().filter(|listed| !is_loaded(&listed.id)).map(|listed| MarkEntry {
            id: listed.id.clone(),
            name: session_view::listed_name(listed).into(),
            about: format!(
                "{} UTC, {}",
                to_minute(&listed.created),
                counted(listed.probes as usize, "probe")
            ),
            at: None,
            on: false,
        });
    loaded
        .map(entry)
        .chain(unloaded)
        .filter(|entry| Some(entry.id.as_str()) != lab.data.id())
        .collect()
}

/// Toggles the marks of an entry, loading its values first if needed.
pub fn choose_mark(lab: &mut Lab, at: usize) -> Vec<Effect> {
    let Some(entry) = mark_entries(lab).into_iter().nth(at) else { return Vec::new() };
    match (entry.at, entry.on) {
        (None, _) => return vec![Effect::Ask(Query::MarkOnLab(entry.id))],
        (Some(_), true) => drop(lab.hidden.insert(entry.id)),
        (Some(_), false) => drop(lab.hidden.remove(&entry.id)),
    }
    Vec::new()
}

/// Adds the values of a session.
fn add_mark(lab: &mut Lab, other: MarkedSession) {
    lab.hidden.remove(&other.id);
    match lab.marked.iter_mut().find(|marked| marked.id == other.id) {
        Some(marked) => *marked = other,
        None => lab.marked.push(other),
    }
}
