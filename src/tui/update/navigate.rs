//! From screen to screen.

use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::screen::Screen;
use crate::tui::{host, lab, setup};

/// Shows a screen, and asks for what it needs.
pub fn go(model: &mut Model, screen: Screen) -> Vec<Effect> {
    model.screen = screen;
    match screen {
        Screen::Setup => setup::shown_again(model),
        Screen::Sessions => vec![Effect::Sessions],
        Screen::Host => {
            let (screens, context) = model.split();
            host::enter(screens.host, &context)
        }
        Screen::Lab => lab::shown(model),
        _ => Vec::new(),
    }
}
