//! What a click does on Setup: focus, select, toggle.

use ratatui::layout::{Position, Rect};

use super::rows::ROWS;
use super::update::{copy, focus, run};
use super::{change, pick, view};
use crate::tui::keymap::Action;
use crate::tui::model::Model;
use crate::tui::msg::Effect;

pub fn clicked(model: &mut Model, area: Rect, at: Position) -> Vec<Effect> {
    let places = view::places(area, &model.setup);
    let Some(pane) = places.pane(at) else { return Vec::new() };
    focus(&mut model.setup, pane);
    match view::hit(model, &places, pane, at) {
        Some(view::Hit::Row(row)) => {
            let again = model.setup.browser.cursor == row;
            model.setup.browser.cursor = row;
            if again { pick::act(model, Action::Enter) } else { pick::look(model) }
        }
        Some(view::Hit::Backend(row)) => {
            model.setup.backend = row;
            change::toggle_backend(model, row)
        }
        Some(view::Hit::Setting(row, item)) => {
            model.setup.row = row;
            model.setup.mark = 0;
            match (ROWS.get(row), item) {
                (Some(setting), Some(item)) => change::take_item(model, setting, item),
                _ => Vec::new(),
            }
        }
        Some(view::Hit::Power(power)) => {
            let counts = model.setup.counts();
            if let Some(band) = model.setup.band(&counts) {
                model.setup.end = band.nearer(f64::from(power));
            }
            let end = model.setup.end;
            change::banded(model, |band| Some(band.put(end, power)))
        }
        Some(view::Hit::Run) => run(model),
        Some(view::Hit::Copy) => copy(model),
        None => Vec::new(),
    }
}
