//! What keys do.

use std::path::Path;

use super::state::{Lab, Pane};
use super::{marks, running, values, view};
use crate::plan::Group;
use crate::tui::context::Request;
use crate::tui::cursor::moved;
use crate::tui::export::{Form, What};
use crate::tui::keymap::{Action, key_of};
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::popup::{Popup, Purpose};
use crate::tui::question::Question;
use crate::tui::screen::Screen;
use crate::tui::session_name;
use crate::tui::setup;
use crate::tui::update;

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Run => return run(model),
        Action::Toggle if running(model) => {
            return update::perform(model, Request::Steer(Action::Pause));
        }
        Action::Skip | Action::Stop if running(model) => {
            return update::perform(model, Request::Steer(action));
        }
        Action::Preset => {
            let cursor = model
                .presets
                .iter()
                .position(|preset| preset.id == model.lab.choice.preset.id)
                .unwrap_or(0);
            model.popups.push(Popup::Presets { cursor });
        }
        Action::Compare => {
            model.popups.push(Popup::Marks { cursor: 0 });
            return vec![Effect::Sessions];
        }
        Action::Edit => values::ask(model),
        Action::Copy => return copy(model),
        Action::Export | Action::SaveAs | Action::Mark => of_session(model, action),
        Action::NextPane => focus(&mut model.lab, 1),
        Action::PreviousPane => focus(&mut model.lab, Pane::ALL.len() - 1),
        Action::Filter => model.lab.typing = true,
        Action::Back => drop(super::back(model)),
        Action::Enter if model.lab.typing => model.lab.typing = false,
        _ => in_pane(model, action),
    }
    Vec::new()
}

fn focus(lab: &mut Lab, by: usize) {
    lab.typing = false;
    lab.pane = lab.pane.further(by);
}

/// Asks for the plan of what is chosen; its answer starts the run.
fn run(model: &mut Model) -> Vec<Effect> {
    if model.running() {
        update::run::refuse(model);
        return Vec::new();
    }
    let lab = &mut model.lab;
    let Some(settings) = lab.choice.settings(&lab.infos) else {
        let key = key_of(Action::Toggle, Screen::Lab);
        model.toasts.note(
            model.now,
            format!("no probe is chosen: {key} switches the one under the cursor on"),
        );
        return Vec::new();
    };
    lab.number += 1;
    lab.awaited = true;
    let (file, dir) = target(model);
    let (file, dir) = (file.map(Path::to_path_buf), dir.map(Path::to_path_buf));
    let question = Question {
        number: model.lab.number,
        file,
        dir,
        preset: model.lab.choice.preset.clone(),
        settings,
    };
    vec![Effect::PlanLab(Box::new(question))]
}

/// The target of Setup, where a probe of files is on: the others need none, and would fail with one
/// that is gone.
fn target(model: &Model) -> (Option<&Path>, Option<&Path>) {
    let (lab, setup) = (&model.lab, &model.setup);
    let needed =
        lab.infos.iter().any(|info| info.group == Group::Files && lab.choice.is_on(info.id));
    let file = setup.file.as_deref().filter(|_| needed);
    (file, setup.dir.as_deref().filter(|_| needed && file.is_none()))
}

/// The command line that measures the same without a screen.
fn copy(model: &mut Model) -> Vec<Effect> {
    let Some(line) = command(model) else {
        model.toasts.note(model.now, "no probe is chosen: there is no command line");
        return Vec::new();
    };
    vec![Effect::Copy(line)]
}

pub fn command(model: &Model) -> Option<String> {
    let lab = &model.lab;
    let settings = lab.choice.settings(&lab.infos)?;
    let (file, dir) = target(model);
    Some(setup::line(file, dir, &lab.choice.preset, &settings))
}

/// What is done with the session that is shown.
fn of_session(model: &mut Model, action: Action) {
    let data = &model.lab.data;
    let Some(session) = data.session.clone() else {
        let why = if running(model) {
            "the run goes on: wait until it is over"
        } else {
            "nothing was measured yet"
        };
        return model.toasts.note(model.now, why);
    };
    let (id, kept) = (session.id.clone(), data.path.is_some());
    match action {
        Action::Export => {
            let name = session_name::of_session(&session).to_string();
            model.popups.push(Popup::Export(Box::new(Form::session(What::Shown(session), &name))));
        }
        Action::Mark => {
            let is_saved = kept || session.reference.is_some();
            update::perform(model, Request::MarkSession { id, is_saved });
        }
        _ if !kept => {
            model.toasts.failed(model.now, "this session is not kept: there is nothing to name")
        }
        _ => {
            let hint = "a name by which this session is found again";
            model.popups.push(Popup::line(
                "Name this session",
                hint,
                session.name.clone(),
                Purpose::Rename { id },
            ));
        }
    }
}

fn in_pane(model: &mut Model, action: Action) {
    let page = view::page(model);
    let most = view::most_scroll(model);
    let lab = &mut model.lab;
    match (lab.pane, action) {
        (_, Action::Toggle) => {
            let (pane, probe) = (lab.pane, lab.probe().map(String::from));
            let of_item: Vec<String> =
                lab.sheet.probes_of(lab.item, &lab.infos).into_iter().map(String::from).collect();
            let ids = if pane == Pane::Probes { of_item } else { probe.into_iter().collect() };
            lab.choice.toggle(&ids.iter().map(String::as_str).collect::<Vec<_>>());
            lab.arrange();
        }
        (_, Action::Enter) => enter(model),
        (Pane::About, _) => lab.scroll = moved(lab.scroll.min(most), most + 1, action, page),
        (Pane::Bars, _) if lab.open => {
            let next = lab
                .curves()
                .zip(lab.current())
                .and_then(|(curves, slot)| curves.moved(&slot.cell, action).cloned());
            lab.go_to_cell(next);
        }
        (Pane::Probes, Action::Right) => lab.pane = Pane::Bars,
        (Pane::Bars, Action::Left) => lab.pane = Pane::Probes,
        (Pane::Bars, Action::Right) => lab.pane = Pane::About,
        (Pane::Probes, Action::Left) => {}
        (Pane::Probes, _) => {
            let to = moved(lab.item, lab.sheet.items.len(), action, page);
            lab.go_to_item(to);
        }
        (Pane::Bars, _) => {
            let to = moved(lab.slot, lab.sheet.slots.len(), action, page);
            lab.go_to(to);
        }
    }
    if model.lab.open && model.lab.curves().is_none() {
        model.lab.open = false;
    }
}

/// Opens the curve of the probe, or closes it.
fn enter(model: &mut Model) {
    let lab = &mut model.lab;
    if lab.open {
        lab.open = false;
        return;
    }
    match lab.curves() {
        Some(curves) => {
            let first = lab.current().and_then(|slot| curves.first(&slot.cell).cloned());
            lab.go_to_cell(first);
            (lab.open, lab.pane) = (true, Pane::Bars);
        }
        None if lab.pane == Pane::Probes => lab.pane = Pane::Bars,
        None => model.toasts.note(model.now, "this probe has no curve: nothing of it varies along an axis, or it is not measured yet"),
    }
}

/// Whether an action does something now.
pub fn offered(model: &Model, action: Action) -> bool {
    let lab = &model.lab;
    match action {
        Action::Run => !model.running(),
        Action::Stop | Action::Skip => running(model),
        Action::Export | Action::SaveAs | Action::Mark => lab.data.session.is_some(),
        Action::Enter => lab.typing || lab.open || lab.curves().is_some(),
        Action::Compare => marks::any(lab),
        Action::Edit => {
            !running(model)
                && lab
                    .probe()
                    .and_then(|id| lab.info(id))
                    .is_some_and(|info| !info.params.is_empty())
        }
        _ => true,
    }
}
