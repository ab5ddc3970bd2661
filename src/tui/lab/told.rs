//! What messages do: what the shell found, a plan, a run, a session that is opened.

use super::data::Data;
use super::marks;
use crate::analysis;
use crate::plan::Plan;
use crate::session::{self, Listed};
use crate::tui::model::Model;
use crate::tui::msg::{Effect, Msg};
use crate::tui::shown::Shown;
use crate::tui::update;

pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Lab(here) => {
            model.lab.here = *here;
            model.lab.arrange();
        }
        Msg::MarkedOnLab(result) => marks::loaded(model, result),
        Msg::LabPlanned { number, result }
            if number == model.lab.number && std::mem::take(&mut model.lab.awaited) =>
        {
            match result {
                Ok(plan) => return update::run::start(model, (*plan).into()),
                Err(why) => model.toasts.failed(model.now, why),
            }
        }
        _ => {}
    }
    Vec::new()
}

/// The sessions that are kept.
pub fn listed(model: &mut Model, listed: &[Listed]) {
    model.lab.kept = listed.iter().filter(|listed| listed.probes > 0).cloned().collect();
}

/// A plan is about to run: where it measures probes, its cells take their places.
pub fn begin(model: &mut Model, plan: &Plan) {
    if plan.probes.is_empty() {
        return;
    }
    let lab = &mut model.lab;
    lab.choice.only(
        plan.probes
            .iter()
            .chain(plan.skipped_probes.iter().map(|skipped| &skipped.cell))
            .map(|cell| cell.probe.as_str()),
    );
    lab.data = Data {
        planned: plan.probes.clone(),
        skipped: plan.skipped_probes.clone(),
        ..Data::default()
    };
    lab.open = false;
    lab.arrange();
}

/// Time goes on: what was measured since the last time shows.
pub fn ticked(model: &mut Model) {
    if let Some(session) = model.live.take_probed() {
        model.lab.data = Data::growing(session, analysis::probes(session));
        model.lab.arrange();
    }
}

/// Shows the probes of a session.
pub fn show(model: &mut Model, shown: &Shown) {
    let lab = &mut model.lab;
    let plan = &shown.session.plan;
    let cells = plan.probes.iter().chain(plan.skipped_probes.iter().map(|skipped| &skipped.cell));
    lab.choice.only(cells.map(|cell| cell.probe.as_str()));
    lab.data = Data::whole(shown.session.clone(), shown.probes.clone(), shown.path.clone());
    lab.arrange();
}

/// The shown session has another name.
pub fn renamed(model: &mut Model, id: &str, name: &str) {
    let data = &mut model.lab.data;
    let Some(session) = data.session.as_ref().filter(|session| session.id == id) else { return };
    let mut session = session::Session::clone(session);
    session.name = name.into();
    *data = Data::whole(session, std::mem::take(&mut data.results), data.path.take());
    model.lab.arrange();
}
