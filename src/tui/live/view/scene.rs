//! What the panes of Live draw from.

use crate::tui::live::run::Run;
use crate::tui::live::run_view::RunView;
use crate::tui::live::window::Zoom;
use crate::tui::theme::Look;

/// What the panes draw from.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub look: &'a Look,
    pub view: &'a RunView,
    /// What goes on and was asked for; `None`: the run is over.
    pub run: Option<&'a Run>,
    pub frozen: bool,
    /// Why the run is not saved.
    pub unsaved: Option<&'a str>,
    pub zoom: Zoom,
    pub log: bool,
}
