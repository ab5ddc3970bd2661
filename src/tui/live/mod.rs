//! Live: what runs now, as it runs.

use std::path::PathBuf;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::keymap::Action;
use super::model::Model;
use super::msg::{Effect, Msg};
use super::shown::{self, Shown};
use super::theme::Role;
use super::update;
use super::view::pane;
use crate::host::Host;
use crate::plan::Plan;
use crate::record::{Event, Progress};
use crate::session::Session;

/// The run that goes on.
#[derive(Debug)]
pub struct Run {
    /// As it grows.
    pub session: Session,
    pub path: Option<PathBuf>,
    pub progress: Option<Progress>,
    pub stopping: bool,
    pub pausing: bool,
}

#[derive(Debug, Default)]
pub struct Live {
    run: Option<Run>,
}

impl Live {
    pub fn running(&self) -> bool {
        self.run.is_some()
    }
}

/// A plan is about to run.
pub fn begin(model: &mut Model, plan: Arc<Plan>) {
    let host = model.host.host.as_deref().cloned().unwrap_or_else(Host::default);
    let session = Session::new(String::new(), String::new(), String::new(), host, Plan::clone(&plan));
    model.live.run = Some(Run { session, path: None, progress: None, stopping: false, pausing: false });
}

/// The run is over: what it measured.
pub fn end(model: &mut Model) -> Option<Shown> {
    let run = model.live.run.take()?;
    Some(Shown::of(run.session, run.path))
}

pub fn stopping(model: &mut Model) {
    if let Some(run) = &mut model.live.run {
        run.stopping = true;
    }
}

pub fn pause(model: &mut Model, on: bool) -> Effect {
    if let Some(run) = &mut model.live.run {
        run.pausing = on;
    }
    Effect::Pause(on)
}

/// Events of the run.
pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let Some(run) = &mut model.live.run else { return Vec::new() };
    match msg {
        Msg::Begun { path, id, name, created } => {
            run.path = path;
            (run.session.id, run.session.name, run.session.created) = (id, name, created);
        }
        Msg::Event(event) => {
            run.session.apply(&event);
            if let Event::Progress(progress) = event {
                run.progress = Some(progress);
            }
        }
        _ => {}
    }
    Vec::new()
}

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    let Some(run) = &model.live.run else { return Vec::new() };
    match action {
        Action::Pause => {
            let on = !run.pausing;
            vec![pause(model, on)]
        }
        Action::Skip => vec![Effect::Skip],
        Action::Stop => update::run::stop(model),
        _ => Vec::new(),
    }
}

/// The state for the first line: `idle`, `running 17 of 54`.
pub fn state(model: &Model) -> String {
    match &model.live.run {
        None => "idle".into(),
        Some(run) if run.stopping => "stopping".into(),
        Some(run) if run.pausing => "paused".into(),
        Some(run) => format!("running, {:.0} %", run.progress.map_or(0.0, |p| p.share * 100.0)),
    }
}

/// The target of the run.
pub fn target(model: &Model) -> String {
    model.live.run.as_ref().map(|run| shown::target(&run.session.plan.target)).unwrap_or_default()
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(&model.look, "Throughput", "", true, area, buf);
    pane::line(ratatui::text::Line::styled(state(model), model.look.style(Role::Text)), 0, inner, buf);
}
