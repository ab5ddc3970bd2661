//! The loop: messages in, effects out, a draw when something changed. Generic over the screen and
//! the effect handler, so that tests run it whole.

use std::io;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::Backend;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use crate::tui::model::Model;
use crate::tui::msg::{Effect, Msg};
use crate::tui::update::update;
use crate::tui::view;

/// Data are drawn at most so often; a key at once.
const FRAME: Duration = Duration::from_millis(100);
/// Messages taken in for one frame; the rest comes with the next.
const BATCH: usize = 4096;

/// What became of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    Yes,
    /// The whole screen must be drawn anew.
    Repaint,
    Quit(u8),
}

/// Whoever does what the model wants done.
pub trait EffectHandler {
    fn perform(&mut self, effect: Effect) -> Done;
    /// A message was taken in.
    fn on_message(&mut self, _: &Msg) {}
    fn begin_draw(&mut self) {}
    fn end_draw(&mut self) {}
}

/// The full screen at work.
pub struct App<'a, B: Backend, H: EffectHandler> {
    pub terminal: &'a mut Terminal<B>,
    pub model: &'a mut Model,
    pub handler: &'a mut H,
    start: Instant,
    drawn: Option<Instant>,
    /// When to draw what has changed.
    due: Option<Instant>,
    over: Option<u8>,
}

impl<'a, B: Backend, H: EffectHandler> App<'a, B, H>
where
    B::Error: Send + Sync + 'static,
{
    pub fn new(terminal: &'a mut Terminal<B>, model: &'a mut Model, handler: &'a mut H) -> Self {
        App { terminal, model, handler, start: Instant::now(), drawn: None, due: None, over: None }
    }

    /// Runs until the model wants to quit; the exit code. `first` is done before the first key.
    ///
    /// # Errors
    /// The terminal cannot be drawn to: it is gone.
    pub async fn run(
        &mut self,
        first: Vec<Effect>,
        mut input: UnboundedReceiver<Msg>,
        mut told: UnboundedReceiver<Msg>,
    ) -> io::Result<u8> {
        let mut open = true;
        let size = self.terminal.size().map_err(io::Error::other)?;
        self.take(Msg::Resize(size.width, size.height))?;
        self.draw()?;
        self.perform(first)?;
        let mut tick = tokio::time::interval(FRAME);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while self.over.is_none() {
            let due = self.due.unwrap_or(self.start);
            tokio::select! {
                biased;
                said = input.recv(), if open => match said {
                    Some(msg) => {
                        self.take(msg)?;
                        if self.over.is_none() {
                            self.draw()?;
                        }
                    }
                    // Nobody can press a key any more.
                    None => {
                        open = false;
                        self.take(Msg::Leave(129))?;
                    }
                },
                () = sleep_until(due), if self.due.is_some() => {
                    for _ in 0..BATCH {
                        match told.try_recv() {
                            Ok(msg) if self.over.is_none() => self.take(msg)?,
                            _ => break,
                        }
                    }
                    self.draw()?;
                }
                // While a frame is due, what is told waits for it: a thousand trials a second wake
                // nobody up.
                Some(msg) = told.recv(), if self.due.is_none() => {
                    self.take(msg)?;
                    self.changed();
                }
                _ = tick.tick(), if self.model.ticks() => {
                    self.take(Msg::Tick)?;
                    self.changed();
                }
            }
        }
        Ok(self.over.unwrap_or(0))
    }

    fn take(&mut self, msg: Msg) -> io::Result<()> {
        self.handler.on_message(&msg);
        let effects = update(self.model, self.start.elapsed(), msg);
        self.perform(effects)
    }

    fn perform(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match self.handler.perform(effect) {
                Done::Yes => {}
                // Not `clear`: it asks the terminal for the cursor and races the keys for the
                // answer.
                Done::Repaint => {
                    let size = self.terminal.size().map_err(io::Error::other)?;
                    self.terminal
                        .resize(ratatui::layout::Rect::new(0, 0, size.width, size.height))
                        .map_err(io::Error::other)?;
                    self.changed();
                }
                Done::Quit(code) => self.over = Some(code),
            }
        }
        Ok(())
    }

    /// Something is to be drawn, not sooner than a frame after the last draw.
    fn changed(&mut self) {
        let next = self.drawn.map_or(self.start, |drawn| drawn + FRAME);
        self.due.get_or_insert(next);
    }

    fn draw(&mut self) -> io::Result<()> {
        self.due = None;
        self.handler.begin_draw();
        let model = &*self.model;
        let drawn = self.terminal.draw(|frame| view::draw(model, frame.buffer_mut())).map(|_| ());
        self.handler.end_draw();
        self.drawn = Some(Instant::now());
        drawn.map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests;
