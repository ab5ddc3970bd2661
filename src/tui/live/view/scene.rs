//! The input of the panes of Live.

use ratatui::style::Style;

use crate::plan::Cache;
use crate::tui::live::run::Run;
use crate::tui::live::run_view::RunView;
use crate::tui::live::series::Measure;
use crate::tui::live::window::Window;
use crate::tui::plot::Fill;
use crate::tui::theme::{Look, Role};

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
    /// The trials that are shown.
    pub window: Window,
    /// The first warning that is shown.
    pub scroll: usize,
    /// Whether values have a logarithmic axis; `None`: what fits them.
    pub log: Option<bool>,
}

impl Scene<'_> {
    /// Returns whether these rates have a logarithmic axis.
    pub fn is_log(&self, measure: Measure) -> bool {
        self.log.unwrap_or_else(|| self.view.needs_log(measure))
    }

    /// Returns in a word why the picture stands still, if it does.
    pub fn describe_stop(&self) -> Option<&'static str> {
        if self.frozen { Some("frozen") } else { self.view.describe_end_briefly() }
    }

    /// Returns what the trials of a cell are drawn with: colour, fill and mark.
    pub fn sign(&self, cell: u32) -> (Style, Fill, char) {
        let look = self.look;
        let Some(sign) = self.view.sign(cell) else {
            return (look.style(Role::Text), Fill::Solid, ' ');
        };
        let fill = match sign.cache {
            Cache::Cold => Fill::Solid,
            Cache::Warm => Fill::Hatched,
            Cache::AsIs => Fill::Dotted,
        };
        (look.series(sign.hue()), fill, look.marker(sign))
    }
}
