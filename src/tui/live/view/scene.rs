//! The input of the panes of Live.

use crate::tui::live::run::Run;
use crate::tui::live::run_view::RunView;
use crate::tui::live::window::Zoom;
use crate::tui::theme::Look;

/// The input of the panes.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub look: &'a Look,
    pub view: &'a RunView,
    /// The current run with its pending requests; `None` after its end.
    pub run: Option<&'a Run>,
    pub frozen: bool,
    /// Why the run is not saved.
    pub unsaved: Option<&'a str>,
    pub zoom: Zoom,
    pub log: bool,
}
