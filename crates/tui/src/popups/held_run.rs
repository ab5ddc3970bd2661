//! Asks what to do about a run that another iotui blocks.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::question::ask;
use super::{After, KeyNames, Layer};
use crate::keymap::{Action, key_of};
use crate::keys::Key;
use crate::model::Model;
use crate::msg::HeldRun;
use crate::popup::WaitingRun;
use crate::screen::Screen;
use crate::update::held_run::look;
use crate::update::run::begin;
use crate::view::hits::Hits;

impl Layer for HeldRun {
    fn footer(&self, _: &Model) -> KeyNames {
        &[("r", "wait until it ends"), ("R", "run now"), ("esc", "close")]
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, _: &mut Hits) {
        let detail = "Both runs would disturb each other.";
        let keys = "r waits until it ends    R runs now    esc closes";
        ask(&model.look, [&self.why, detail, keys], body, buf);
    }

    /// `r` or Enter waits, `R` runs now.
    fn press(&mut self, model: &mut Model, key: Key, _: Option<Action>) -> After {
        match key.letter() {
            Some('R') => return After::Close(begin(model, self.run.clone())),
            Some('r') => {}
            _ if key.code == KeyCode::Enter => {}
            _ => return After::Stay(Vec::new()),
        }
        let shows = key_of(Action::Run, Screen::Setup);
        let why = format!("your run begins when the other run has ended: {shows} shows it");
        model.toasts.note(model.now, why);
        model.held = Some(self.clone());
        After::Close(look(model).into_iter().collect())
    }
}

impl Layer for WaitingRun {
    fn footer(&self, _: &Model) -> KeyNames {
        &[("R", "run now"), ("n", "give it up"), ("esc", "close")]
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, _: &mut Hits) {
        let why = model.held.as_ref().map_or("", |held| &held.why);
        let detail = "Your run waits and begins when that has ended.";
        let keys = "R runs it now    n gives it up    esc closes";
        ask(&model.look, [why, detail, keys], body, buf);
    }

    /// `R` begins the run that waits now, `n` gives it up.
    fn press(&mut self, model: &mut Model, key: Key, _: Option<Action>) -> After {
        match key.letter() {
            Some('R') => match model.held.take() {
                Some(held) => After::Close(begin(model, held.run)),
                None => After::Close(Vec::new()),
            },
            Some('n') => {
                model.held = None;
                After::Close(Vec::new())
            }
            _ => After::Stay(Vec::new()),
        }
    }
}
