//! The picture of Setup: where its panes are, and what was clicked.

mod backends;
mod blocks;
mod hint;
mod plan;
mod target;
mod what;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

use super::objection::Given;
use super::state::{Pane, Setup};
use crate::plan::Settings;
use crate::tui::model::Model;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

/// Narrower screens show the target or the backends, not both.
const NARROW: u16 = 76;

/// Where the panes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    panes: Vec<(Pane, Rect)>,
    hint: Rect,
}

impl Places {
    pub fn pane(&self, at: Position) -> Option<Pane> {
        self.panes.iter().find(|(_, area)| area.contains(at)).map(|(pane, _)| *pane)
    }

    /// The inside of a pane.
    fn inner(&self, pane: Pane) -> Option<Rect> {
        let area = self.panes.iter().find(|(own, _)| *own == pane).map(|(_, area)| *area)?;
        Some(Rect::new(
            area.x + 1,
            area.y + 1,
            area.width.saturating_sub(2),
            area.height.saturating_sub(2),
        ))
    }
}

/// Where everything goes on a body of this size.
pub fn places(body: Rect, setup: &Setup) -> Places {
    let hint = u16::from(body.height >= 14);
    let blocks = if body.height >= 20 { 4 } else { 3 };
    let plan = (body.height / 3).clamp(5, 15).min(body.height);
    let top = body.height.saturating_sub(hint + blocks + plan);
    let mut panes = across(Rect { height: top, ..body }, setup);
    let mut at = body.y + top;
    for (pane, height) in [(Pane::Blocks, blocks), (Pane::Plan, plan)] {
        panes.push((pane, Rect::new(body.x, at, body.width, height)));
        at += height;
    }
    Places { panes, hint: Rect::new(body.x, at, body.width, hint) }
}

/// The upper panes beside each other.
fn across(area: Rect, setup: &Setup) -> Vec<(Pane, Rect)> {
    let wide = area.width;
    let cut = |x: u16, width: u16| Rect { x: area.x + x, width, ..area };
    if wide < NARROW {
        let what = (wide / 2 + 2).max(31).min(wide);
        let left = if setup.focus == Pane::Backends { Pane::Backends } else { Pane::Target };
        return vec![(left, cut(0, wide - what)), (Pane::What, cut(wide - what, what))];
    }
    let what = (wide * 38 / 100).clamp(34, 60);
    let backends = if wide < 100 { 18 } else { (wide * 28 / 100).clamp(18, 60) };
    let target = wide - what - backends;
    vec![
        (Pane::Target, cut(0, target)),
        (Pane::Backends, cut(target, backends)),
        (Pane::What, cut(target + backends, what)),
    ]
}

/// What a click met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    Row(usize),
    Backend(usize),
    Setting(usize, Option<&'static str>),
    Power(u32),
    Run,
    Copy,
}

pub fn hit(model: &Model, places: &Places, pane: Pane, at: Position) -> Option<Hit> {
    let inner = places.inner(pane)?;
    let counts = model.setup.counts();
    let shown = Shown::new(model, &counts);
    let row = at.y.checked_sub(inner.y).filter(|_| inner.contains(at)).map(usize::from);
    match pane {
        Pane::Target => target::hit(&shown, inner, row?),
        Pane::Backends => backends::hit(&shown, inner, row?),
        Pane::What => what::hit(&shown, inner, row?, usize::from(at.x - inner.x)),
        Pane::Blocks => row.map(|_| Hit::Power(blocks::power(inner, at.x))),
        Pane::Plan => plan::hit(&shown, inner, at),
    }
}

/// Lines of the plan that scroll.
pub fn plan_rows(model: &Model) -> usize {
    let counts = model.setup.counts();
    let body = crate::tui::view::areas(model.size).body;
    let inner = places(body, &model.setup).inner(Pane::Plan);
    inner.map_or(0, |inner| plan::scrolls(&Shown::new(model, &counts), inner))
}

/// What the panes are drawn from.
struct Shown<'a> {
    model: &'a Model,
    setup: &'a Setup,
    look: &'a Look,
    counts: &'a Settings,
    given: Given<'a>,
}

impl<'a> Shown<'a> {
    fn new(model: &'a Model, counts: &'a Settings) -> Shown<'a> {
        let setup = &model.setup;
        Shown { model, setup, look: &model.look, counts, given: setup.given(counts) }
    }

    fn style(&self, role: Role) -> Style {
        self.look.style(role)
    }

    fn focused(&self, pane: Pane) -> bool {
        self.setup.focus == pane && self.model.popups.is_empty()
    }

    /// Ticked and not.
    fn checks(&self) -> [&'static str; 2] {
        [self.look.glyph("✓", "x"), self.look.glyph("·", ".")]
    }

    fn dot(&self) -> &'static str {
        self.look.glyph(" · ", " - ")
    }

    /// A row under the cursor: one colour, so that it reads as one bar.
    fn bar(&self, line: Line<'static>, row: u16, area: Rect, buf: &mut Buffer) {
        pane::line(line.to_string(), row, area, buf);
        pane::select(self.style(Role::Selected), row, area, buf);
    }

    fn frame(&self, pane: Pane, title: &str, right: &str, area: Rect, buf: &mut Buffer) -> Rect {
        pane::frame(self.look, title, right, self.focused(pane), area, buf)
    }
}

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let counts = model.setup.counts();
    let shown = Shown::new(model, &counts);
    let places = places(area, &model.setup);
    for (pane, area) in &places.panes {
        match pane {
            Pane::Target => target::draw(&shown, *area, buf),
            Pane::Backends => backends::draw(&shown, *area, buf),
            Pane::What => what::draw(&shown, *area, buf),
            Pane::Blocks => blocks::draw(&shown, *area, buf),
            Pane::Plan => plan::draw(&shown, *area, buf),
        }
    }
    hint::draw(&shown, places.hint, buf);
}
