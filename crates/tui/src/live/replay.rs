//! A replay: the events of a kept session, paced by the clock of the screen.

use std::time::Duration;

use super::run::LiveRun;
use crate::msg::{ReplayInput, Replayed, Speed};
use crate::screen::Screen;
use crate::session::Timeline;
use crate::session_view::SessionView;

/// Limit on kept states: going back repeats at most this part of a replay.
const MAX_CHECKPOINTS: usize = 16;

/// Least number of events between two states; repeating them is quick.
const MIN_STRIDE: usize = 2_000;

/// A key moves by this part of the replay.
const KEY_PART: u32 = 20;

/// Least time that a key moves by.
const MIN_KEY_STEP: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Replay {
    pub of: Replayed,
    pub speed: Speed,
    pub is_paused: bool,
    /// The session for Results at the end.
    shown: SessionView,
    timeline: Timeline,
    /// The screen that it was started from.
    pub from: Screen,
    /// The time of the run that is shown.
    at: Duration,
    /// The clock of the screen when that was shown.
    seen: Duration,
    /// The run as it was then.
    run: LiveRun,
    /// The next event.
    next: usize,
    /// The number of events before each state.
    checkpoints: Vec<(usize, LiveRun)>,
}

impl Replay {
    pub fn new(input: ReplayInput, from: Screen, now: Duration) -> Replay {
        let ReplayInput { of, speed, shown, timeline } = input;
        let run = begin(&shown);
        Replay {
            of,
            speed,
            is_paused: false,
            shown,
            timeline,
            from,
            at: Duration::ZERO,
            seen: now,
            run,
            next: 0,
            checkpoints: Vec::new(),
        }
    }

    pub fn run(&self) -> &LiveRun {
        &self.run
    }

    pub fn run_mut(&mut self) -> &mut LiveRun {
        &mut self.run
    }

    /// Returns the time of the run that is shown, and of its end.
    pub fn times(&self) -> (Duration, Duration) {
        (self.at, self.timeline.length())
    }

    /// Returns the shown part of the whole, 0 to 1.
    pub fn share(&self) -> f64 {
        let (at, end) = self.times();
        if end.is_zero() { 1.0 } else { at.as_secs_f64() / end.as_secs_f64() }
    }

    pub fn is_over(&self) -> bool {
        self.at >= self.timeline.length()
    }

    /// Returns the name of the session.
    pub fn name(&self) -> String {
        match self.of {
            Replayed::Demo => "example".into(),
            Replayed::Kept(_) => self.shown.display_name(),
        }
    }

    /// Describes it for the header: `replay 10x`, `replay paused, 10x`.
    pub fn describe(&self) -> String {
        if self.is_paused {
            format!("replay paused, {}x", self.speed.times())
        } else {
            format!("replay {}x", self.speed.times())
        }
    }

    /// Ends it: returns the session and what the replay lacks.
    pub fn finish(self) -> (SessionView, Option<String>) {
        (self.shown, self.timeline.remark().map(String::from))
    }

    /// Returns the session that is replayed.
    pub fn shown(&self) -> &SessionView {
        &self.shown
    }

    /// Follows the clock of the screen.
    pub fn advance(&mut self, now: Duration) {
        let passed = now.saturating_sub(std::mem::replace(&mut self.seen, now));
        if !self.is_paused {
            self.go_to(self.at.saturating_add(passed.saturating_mul(self.speed.times())));
        }
    }

    /// Lets the clock of the screen pass without following it.
    pub fn wait(&mut self, now: Duration) {
        self.seen = now;
    }

    /// Goes by one key forwards or back.
    pub fn step(&mut self, forwards: bool) {
        let step = (self.timeline.length() / KEY_PART).max(MIN_KEY_STEP);
        self.seek(if forwards {
            self.at.saturating_add(step)
        } else {
            self.at.saturating_sub(step)
        });
    }

    /// Goes to a part of the whole, 0 to 1.
    pub fn seek_share(&mut self, share: f64) {
        let end = self.timeline.length();
        self.seek(end.mul_f64(if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }));
    }

    fn seek(&mut self, to: Duration) {
        if to < self.at {
            self.go_back(to);
        }
        self.go_to(to);
    }

    /// Restores the last state before `to`.
    fn go_back(&mut self, to: Duration) {
        let is_before =
            |(next, _): &&(usize, LiveRun)| self.timeline.time(*next).is_none_or(|time| time <= to);
        (self.next, self.run) = match self.checkpoints.iter().rev().find(is_before) {
            Some((next, run)) => (*next, run.clone()),
            None => (0, begin(&self.shown)),
        };
    }

    fn go_to(&mut self, to: Duration) {
        self.at = to.min(self.timeline.length());
        let stride = (self.timeline.len() / MAX_CHECKPOINTS).max(MIN_STRIDE);
        while let Some(time) = self.timeline.time(self.next).filter(|time| *time <= self.at) {
            let Some(event) = self.timeline.event(self.next) else { break };
            self.run.handle_event(time, event);
            self.next += 1;
            let is_new = self.checkpoints.last().is_none_or(|(last, _)| *last < self.next);
            if self.next.is_multiple_of(stride) && is_new {
                self.checkpoints.push((self.next, self.run.clone()));
            }
        }
        self.run.show_at(self.at);
    }
}

#[cfg(test)]
impl Replay {
    pub fn checkpoints(&self) -> usize {
        self.checkpoints.len()
    }

    /// Returns the most events between two states.
    pub fn checkpoint_gap(&self) -> usize {
        let places = self.checkpoints.iter().map(|(next, _)| *next).chain([self.next]);
        let before = std::iter::once(0).chain(self.checkpoints.iter().map(|(next, _)| *next));
        places.zip(before).map(|(next, before)| next - before).max().unwrap_or(0)
    }
}

/// Returns the run before its first event.
fn begin(shown: &SessionView) -> LiveRun {
    let session = &shown.session;
    let plan = session.plan.clone().into();
    let mut run = LiveRun::new(session.host.clone(), &plan, Duration::ZERO);
    run.session.id.clone_from(&session.id);
    run.session.name.clone_from(&session.name);
    run.session.created.clone_from(&session.created);
    run
}
