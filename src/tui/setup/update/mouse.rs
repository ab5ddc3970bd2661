//! Clicks on Setup: focus, select, toggle.

use ratatui::layout::{Position, Rect};

use super::run::{copy, run};
use super::{change, pick};
use crate::tui::context::Context;
use crate::tui::keymap::Action;
use crate::tui::msg::Effect;
use crate::tui::setup::layout::{Hit, places};
use crate::tui::setup::state::Setup;
use crate::tui::setup::view;

/// Moves the nearest end of the slider to a power of two.
fn move_nearest_end(setup: &mut Setup, ctx: &mut Context, power: u32) -> Vec<Effect> {
    let effective = setup.effective_settings();
    let Some(band) = setup.band(&effective) else { return Vec::new() };
    let end = band.nearest_end(f64::from(power));
    setup.end = end;
    change::change_band(setup, ctx, |band| Some(band.set_end(end, power)).filter(|b| *b != band))
}

pub fn click(setup: &mut Setup, ctx: &mut Context, body: Rect, at: Position) -> Vec<Effect> {
    let places = places(body, setup);
    let Some(pane) = places.pane(at) else { return Vec::new() };
    setup.focus_on(pane);
    match view::hit(setup, &ctx.view(), &places, pane, at) {
        Some(Hit::Row(row)) => {
            let again = setup.browser.cursor == row;
            setup.browser.cursor = row;
            if again { pick::act(setup, ctx, Action::Enter) } else { pick::inspect_cursor(setup) }
        }
        Some(Hit::Backend(row)) => {
            setup.backend = row;
            change::press_backend(setup, ctx, row)
        }
        Some(Hit::Setting(row, item)) => {
            setup.row = row;
            setup.mark = 0;
            match (setup.current_setting(), item) {
                (Some(setting), Some(item)) => change::choose_item(setup, ctx, setting, item),
                (Some(_), None) => Vec::new(),
                (None, _) => {
                    setup.all_settings = !setup.all_settings;
                    Vec::new()
                }
            }
        }
        Some(Hit::Power(power)) => move_nearest_end(setup, ctx, power),
        Some(Hit::Run) => run(setup, ctx),
        Some(Hit::Copy) => copy(setup),
        None => Vec::new(),
    }
}
