//! Live: what runs now, as it runs.
//!
//! | what | where |
//! |---|---|
//! | the run, its clock and what was asked of it | `run` |
//! | what is drawn of it | `picture`, with `series`, `window`, `place`, `found` |
//! | messages and actions | `update` |
//! | the panes | `view` |

mod found;
mod picture;
mod place;
mod run;
mod series;
mod update;
mod view;
mod window;

#[cfg(test)]
mod tests;

pub use update::{act, begin, end, resumed, stopping, suspend, ticked, told};
pub use view::{bar, draw};

use picture::Picture;
use run::{Run, Suspended};
use window::Zoom;

use std::time::Duration;

use super::model::Model;
use crate::plan::Plan;
use crate::session::Session;
use crate::units;

/// A picture that holds still while the run goes on.
#[derive(Debug)]
struct Frozen(Picture);

#[derive(Debug, Default)]
pub struct Live {
    run: Option<Run>,
    frozen: Option<Frozen>,
    /// The last picture of the run before.
    over: Option<Picture>,
    /// The id of the session of the last run; empty: it has no file.
    id: String,
    /// Why not all of it is in its file.
    unsaved: Option<String>,
    zoom: Zoom,
    /// The curve has a logarithmic axis.
    log: bool,
}

impl Live {
    /// Before anything ran; `log`: the curve has a logarithmic axis.
    pub fn begun(log: bool) -> Live {
        Live { log, ..Live::default() }
    }

    pub fn running(&self) -> bool {
        self.run.is_some()
    }

    /// What is to be drawn.
    fn picture(&self) -> Option<&Picture> {
        let frozen = self.frozen.as_ref().map(|frozen| &frozen.0);
        frozen.or(self.run.as_ref().map(|run| &run.picture)).or(self.over.as_ref())
    }
}

/// The state for the first line: `idle`, `running 17 of 54`.
pub fn state(model: &Model) -> String {
    let more = model.look.glyph("…", "...");
    match &model.live.run {
        None => "idle".into(),
        Some(run) if run.stopping => format!("stopping{more}"),
        Some(run) if run.pausing && run.paused() => "paused".into(),
        Some(run) if run.pausing && run.suspended == Suspended::No => format!("pausing{more}"),
        Some(run) if run.pausing => "paused".into(),
        // Probes are counted by nothing that a person would count.
        Some(run) if run.picture.cell().is_none() && probe(model).is_some() => brief(run),
        Some(run) => format!("running {}", run.picture.place),
    }
}

/// The state where there is no room for it all: `running 12 %`.
pub fn brief_state(model: &Model) -> String {
    match &model.live.run {
        Some(run) if state(model).starts_with("running") => brief(run),
        _ => state(model),
    }
}

fn brief(run: &Run) -> String {
    format!("running {} %", run.picture.percent().unwrap_or(0))
}

/// The plan that runs.
pub fn plan(model: &Model) -> Option<&Plan> {
    model.live.run.as_ref().map(|run| &*run.picture.plan)
}

/// The probe that is measured now, by its place in the plan.
pub fn probe(model: &Model) -> Option<u32> {
    model.live.run.as_ref()?.picture.progress?.probe
}

/// The percent of the run that are done, and what is left of it in words.
pub fn far(model: &Model) -> Option<(u32, String)> {
    let picture = &model.live.run.as_ref()?.picture;
    let (percent, (_, left)) = (picture.percent()?, picture.left()?);
    Some((percent, format!("{} left", units::show_wait(Duration::from_secs_f64(left)))))
}

/// The session as far as it is, where probes were measured since this was asked the last time.
pub fn probed(model: &mut Model) -> Option<&Session> {
    let run = model.live.run.as_mut()?;
    std::mem::take(&mut run.probed).then_some(&run.session)
}

/// Why not all of the last run is in its file.
pub fn unsaved(model: &Model) -> Option<&str> {
    model.live.unsaved.as_deref()
}

/// The session of the last run.
pub fn id(model: &Model) -> Option<&str> {
    Some(model.live.id.as_str()).filter(|id| !id.is_empty())
}

/// The file of the run takes no lines, or takes them again.
pub fn saving(model: &mut Model, unsaved: Option<String>) {
    model.live.unsaved = unsaved;
}

/// The run was told to stop, and has not yet.
pub fn is_stopping(model: &Model) -> bool {
    model.live.run.as_ref().is_some_and(|run| run.stopping)
}

/// The target of the run.
pub fn target(model: &Model) -> String {
    model.live.run.as_ref().map(|run| run.picture.target.clone()).unwrap_or_default()
}
