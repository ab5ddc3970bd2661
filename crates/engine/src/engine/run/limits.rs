//! Reads the limits of control groups again during a run: anyone may change them at any time.

use std::sync::Arc;

use super::Run;
use crate::engine::fleet::Crew;
use crate::record::{Event, Grounds, Throttle};

impl Run<'_> {
    /// Reads the limits again; if one changed, verdicts rest on the new ones, and a note says so.
    pub(super) fn read_limits_again(&mut self) {
        let machines = self.crew.map_or(1, Crew::kernels);
        let now = self.targets.throttles().into_iter();
        let now: Vec<Option<Throttle>> =
            now.map(|limits| limits.map(|limits| limits.of_machines(machines))).collect();
        let known = self.grounds.targets().map(|target| &target.throttle);
        let Some((before, after)) = known.zip(&now).find(|(before, after)| before != after) else {
            return;
        };
        let describe = |limits: &Option<Throttle>| {
            limits.as_ref().map_or_else(|| "no limit".into(), Throttle::describe)
        };
        let text = format!(
            "the limits of the control group changed during the run: before {}, then {}",
            describe(before),
            describe(after)
        );
        let mut grounds = Grounds::clone(&self.grounds);
        grounds.targets_mut().zip(now).for_each(|(target, limits)| target.throttle = limits);
        self.grounds = Arc::new(grounds);
        self.sink.event(Event::Grounds { grounds: Arc::clone(&self.grounds) });
        self.sink.event(Event::Note { text });
    }
}
