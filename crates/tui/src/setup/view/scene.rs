//! Data that the panes of Setup are drawn from.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use crate::context::ViewContext;
use crate::plan::Settings;
use crate::setup::objection::Constraints;
use crate::setup::state::{Setup, SetupPane};
use crate::theme::{Look, Role};
use crate::view::list::List;
use crate::view::pane;

/// Data that the panes are drawn from.
pub struct SetupScene<'a> {
    pub ctx: &'a ViewContext<'a>,
    pub setup: &'a Setup,
    pub look: &'a Look,
    pub constraints: Constraints<'a>,
}

impl<'a> SetupScene<'a> {
    pub fn new(setup: &'a Setup, ctx: &'a ViewContext<'a>) -> SetupScene<'a> {
        SetupScene { ctx, setup, look: ctx.look, constraints: setup.constraints() }
    }

    /// Returns the settings that apply, with all gaps filled.
    pub fn effective(&self) -> &Settings {
        &self.constraints.settings
    }

    pub fn style(&self, role: Role) -> Style {
        self.look.style(role)
    }

    pub fn focused(&self, pane: SetupPane) -> bool {
        self.setup.focus == pane && !self.ctx.is_covered
    }

    /// Returns the signs for selected and not selected.
    pub fn checks(&self) -> [&'static str; 2] {
        [self.look.glyph("√", "*"), self.look.glyph("·", " ")]
    }

    pub fn dot(&self) -> &'static str {
        self.look.glyph(" · ", " - ")
    }

    /// Returns the line that shows or hides what is rarely needed.
    pub fn fold_line(&self, hidden: usize, what: &str) -> Line<'static> {
        let (sign, text) = match hidden {
            0 => (self.look.glyph("▼", "v"), format!("fewer {what}")),
            _ => (self.look.glyph("►", ">"), format!("{hidden} more {what}")),
        };
        self.look.line(Role::Dim, format!(" {sign} {text}"))
    }

    /// Draws a list; the selected row is in one colour, so that it reads as a bar.
    pub fn draw_list(
        &self,
        list: List,
        selected: Option<usize>,
        line: impl Fn(usize) -> Line<'static>,
        buf: &mut Buffer,
    ) {
        let plain = |at: usize| match selected == Some(at) {
            true => line(at).to_string().into(),
            false => line(at),
        };
        list.draw(self.look, selected, plain, buf);
    }

    /// Draws lines below a rule.
    pub fn draw_notes(&self, lines: Vec<Line<'static>>, area: Rect, buf: &mut Buffer) {
        let rule = self.look.glyph("╌", "-").repeat(usize::from(area.width));
        pane::line(self.look.line(Role::Border, rule), 0, area, buf);
        pane::lines(lines, 1, area, buf);
    }

    pub fn frame(
        &self,
        pane: SetupPane,
        title: &str,
        right: &str,
        area: Rect,
        buf: &mut Buffer,
    ) -> Rect {
        pane::frame(self.look, title, right, self.focused(pane), area, buf)
    }
}
