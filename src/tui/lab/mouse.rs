//! Clicks: a box switches, a row selects, a row that is selected opens its curve.

use ratatui::layout::{Position, Rect};

use super::act::act;
use super::state::Pane;
use super::view::{self, Hit};
use crate::tui::keymap::Action;
use crate::tui::model::Model;
use crate::tui::msg::Effect;

pub fn clicked(model: &mut Model, body: Rect, at: Position) -> Vec<Effect> {
    let hit = view::hit(model, body, at);
    let lab = &mut model.lab;
    lab.typing = false;
    match hit {
        Some(Hit::Item { item, mark }) => {
            lab.pane = Pane::Probes;
            lab.go_to_item(item);
            // A pause is not what a click on a box means.
            if mark && !super::running(model) {
                return act(model, Action::Toggle);
            }
        }
        Some(Hit::Slot(slot)) if slot == lab.slot && lab.pane == Pane::Bars => {
            return act(model, Action::Enter);
        }
        Some(Hit::Slot(slot)) => {
            lab.pane = Pane::Bars;
            lab.go_to(slot);
        }
        Some(Hit::X(x)) => {
            lab.pane = Pane::Bars;
            let cell = lab
                .curves()
                .zip(lab.current())
                .and_then(|(curves, slot)| curves.at(&slot.cell, x).cloned());
            lab.go_to_cell(cell);
        }
        Some(Hit::Pane(pane)) => lab.pane = pane,
        None => {}
    }
    Vec::new()
}
