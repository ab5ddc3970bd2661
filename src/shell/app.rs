//! The event loop: messages in, effects out, a draw after a change. Generic over the screen and the
//! effect handler, so that tests can run all of it.

use std::io;
use std::time::Duration;

use crossterm::event::MouseEventKind;
use ratatui::Terminal;
use ratatui::backend::Backend;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use crate::tui::model::Model;
use crate::tui::msg::{Effect, Msg};
use crate::tui::update::update;
use crate::tui::view;

/// Minimum interval between draws of data; keys are drawn at once.
const FRAME: Duration = Duration::from_millis(100);
/// Messages handled per frame; the rest waits for the next one.
const BATCH: usize = 4096;

/// The outcome of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    Yes,
    /// The whole screen must be redrawn.
    Repaint,
    Quit(u8),
}

/// Performs the effects of the model.
pub trait EffectHandler {
    fn perform(&mut self, effect: Effect) -> Done;
    /// Notes a message that was handled.
    fn on_message(&mut self, _: &Msg) {}
    fn begin_draw(&mut self) {}
    fn end_draw(&mut self) {}
}

/// The running full screen.
pub struct App<'a, B: Backend, H: EffectHandler> {
    pub terminal: &'a mut Terminal<B>,
    pub model: &'a mut Model,
    pub handler: &'a mut H,
    start: Instant,
    drawn: Option<Instant>,
    /// Time of the next draw, if anything has changed.
    due: Option<Instant>,
    /// Something other than the pointer has changed.
    stale: bool,
    /// The last motion of the mouse: those before it no longer matter.
    motion: Option<Msg>,
    over: Option<u8>,
}

impl<'a, B: Backend, H: EffectHandler> App<'a, B, H>
where
    B::Error: Send + Sync + 'static,
{
    pub fn new(terminal: &'a mut Terminal<B>, model: &'a mut Model, handler: &'a mut H) -> Self {
        App {
            terminal,
            model,
            handler,
            start: Instant::now(),
            drawn: None,
            due: None,
            stale: false,
            motion: None,
            over: None,
        }
    }

    /// Runs until the model quits and returns the exit code. `first` is performed before any key.
    ///
    /// # Errors
    /// The terminal cannot be drawn to: it is gone.
    pub async fn run(
        &mut self,
        first: Vec<Effect>,
        mut input: UnboundedReceiver<Msg>,
        mut receiver: UnboundedReceiver<Msg>,
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
                    Some(msg) if is_motion(&msg) => {
                        self.motion = Some(msg);
                        self.schedule();
                    }
                    Some(msg) => {
                        self.take_motion()?;
                        self.take(msg)?;
                        if self.over.is_none() {
                            self.draw()?;
                        }
                    }
                    // The terminal no longer sends keys.
                    None => {
                        open = false;
                        self.take(Msg::Leave(129))?;
                    }
                },
                () = sleep_until(due), if self.due.is_some() => self.draw_due(&mut receiver)?,
                // While a frame is due, messages wait for it: a thousand trials a second cause no
                // wake-ups.
                Some(msg) = receiver.recv(), if self.due.is_none() => {
                    self.take(msg)?;
                    self.mark_changed();
                }
                _ = tick.tick(), if self.model.ticks() => {
                    self.take(Msg::Tick)?;
                    self.mark_changed();
                }
            }
        }
        Ok(self.over.unwrap_or(0))
    }

    /// Draws the frame that is due, with what has arrived until now.
    fn draw_due(&mut self, receiver: &mut UnboundedReceiver<Msg>) -> io::Result<()> {
        let moved = self.take_motion()?;
        for _ in 0..BATCH {
            match receiver.try_recv() {
                Ok(msg) if self.over.is_none() => self.take(msg)?,
                _ => break,
            }
            self.stale = true;
        }
        if moved || self.stale {
            self.draw()?;
        }
        self.due = None;
        Ok(())
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
                    self.mark_changed();
                }
                Done::Quit(code) => self.over = Some(code),
            }
        }
        Ok(())
    }

    /// Takes the last motion in; returns whether the picture depends on it.
    fn take_motion(&mut self) -> io::Result<bool> {
        let Some(motion) = self.motion.take() else { return Ok(false) };
        let before = self.model.pointer;
        self.take(motion)?;
        Ok(before != self.model.pointer)
    }

    /// Notes a change, and schedules its draw.
    fn mark_changed(&mut self) {
        self.stale = true;
        self.schedule();
    }

    /// Schedules a draw, one frame after the last draw at the earliest.
    fn schedule(&mut self) {
        let next = self.drawn.map_or(self.start, |drawn| drawn + FRAME);
        self.due.get_or_insert(next);
    }

    fn draw(&mut self) -> io::Result<()> {
        (self.due, self.stale) = (None, false);
        self.handler.begin_draw();
        let model = &mut *self.model;
        let draw = |frame: &mut ratatui::Frame| model.hits = view::draw(model, frame.buffer_mut());
        let drawn = self.terminal.draw(draw).map(|_| ());
        self.handler.end_draw();
        self.drawn = Some(Instant::now());
        drawn.map_err(io::Error::other)
    }
}

/// Returns whether only the last of several such messages counts.
fn is_motion(msg: &Msg) -> bool {
    let Msg::Mouse(event) = msg else { return false };
    matches!(event.kind, MouseEventKind::Moved | MouseEventKind::Drag(_))
}

#[cfg(test)]
mod tests;
