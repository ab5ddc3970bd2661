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
pub use view::draw;

use picture::Picture;
use run::{Run, Suspended};
use window::Zoom;

use super::model::Model;

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
        Some(run) => format!("running {}", run.picture.place),
    }
}

/// The state where there is no room for it all: `running 12 %`.
pub fn brief_state(model: &Model) -> String {
    let share = model.live.run.as_ref().and_then(|run| run.picture.progress).map_or(0.0, |progress| progress.share);
    let measuring = state(model).starts_with("running");
    if measuring { format!("running {:.0} %", (share * 100.0).clamp(0.0, 100.0)) } else { state(model) }
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
