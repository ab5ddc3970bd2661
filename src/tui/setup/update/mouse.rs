//! Clicks on Setup: focus, select, toggle.

use ratatui::layout::{Position, Rect};

use super::run::{copy, run};
use super::{change, pick};
use crate::tui::context::Context;
use crate::tui::keymap::Action;
use crate::tui::msg::Effect;
use crate::tui::setup::layout::{Hit, places};
use crate::tui::setup::slider::{Drag, End, position};
use crate::tui::setup::state::{Pane, Setup};
use crate::tui::setup::view;

/// Takes an end of the slider, or the range between them; elsewhere, moves the nearest end there.
fn press_slider(setup: &mut Setup, ctx: &mut Context, power: u32) -> Vec<Effect> {
    let effective = setup.effective_settings();
    let Some(band) = setup.band(&effective) else { return Vec::new() };
    let end = band.nearest_end(f64::from(power));
    setup.end = end;
    let at = match end {
        End::Low => position(band.low),
        End::High => position(band.high),
    };
    let within = (position(band.low)..=position(band.high)).contains(&f64::from(power));
    if within && (at - f64::from(power)).abs() >= 1.0 {
        setup.drag = Some(Drag::Range { from: power, band, moved: false });
        return Vec::new();
    }
    setup.drag = Some(Drag::End);
    move_end(setup, ctx, power)
}

fn move_end(setup: &mut Setup, ctx: &mut Context, power: u32) -> Vec<Effect> {
    let end = setup.end;
    change::change_band(setup, ctx, |band| Some(band.set_end(end, power)).filter(|b| *b != band))
}

/// Follows the pointer with what it holds of the slider.
pub fn drag(setup: &mut Setup, ctx: &mut Context, body: Rect, at: Position) -> Vec<Effect> {
    let Some(inner) = places(body, setup).inner(Pane::Blocks) else { return Vec::new() };
    let power = view::power_at(inner, at.x);
    match setup.drag {
        None => Vec::new(),
        Some(Drag::End) => move_end(setup, ctx, power),
        Some(Drag::Range { from, band, moved }) => {
            let by = power as i32 - from as i32;
            setup.drag = Some(Drag::Range { from, band, moved: moved || by != 0 });
            change::change_band(setup, ctx, |now| band.shift(by).filter(|band| *band != now))
        }
    }
}

/// Lets go of the slider. A range that was not dragged was clicked: the nearest end moves there.
pub fn release(setup: &mut Setup, ctx: &mut Context) -> Vec<Effect> {
    match setup.drag.take() {
        Some(Drag::Range { from, moved: false, .. }) => move_end(setup, ctx, from),
        _ => Vec::new(),
    }
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
        Some(Hit::Power(power)) => press_slider(setup, ctx, power),
        Some(Hit::Run) => run(setup, ctx),
        Some(Hit::Copy) => copy(setup),
        None => Vec::new(),
    }
}
