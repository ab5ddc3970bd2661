//! A rank that is not the first: it does what rank 0 orders.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::clock;
use super::join::Opening;
use super::link::Link;
use super::nodes::Nodes;
use super::order::{Order, Part, Reply, Report, pack, unpack};
use super::part::{Presence, appoint, take_part};
use super::site::Site;
use crate::engine::cells::Cell;
use crate::engine::control::Cut;
use crate::engine::executor::Executor;
use crate::engine::target::OpenTarget;
use crate::engine::targets::Targets;
use crate::engine::trial::{Stage, Work};
use crate::plan::Plan;
use crate::sys::clock::monotonic_nanos;

/// A rank with what it measures.
struct Follower<'a> {
    link: &'a dyn Link,
    stop: &'static AtomicBool,
    signal: fn() -> Option<i32>,
    nodes: Nodes,
    opened: Option<(Targets, Site)>,
}

/// Does what rank 0 orders until the run is over; `stop` ends what is being measured, and `signal`
/// says which signal has set it.
///
/// # Errors
/// A message of rank 0 is none of this version.
pub fn follow(
    link: &dyn Link,
    stop: &'static AtomicBool,
    signal: fn() -> Option<i32>,
) -> Result<(), String> {
    let mut follower = Follower { link, stop, signal, nodes: Nodes::default(), opened: None };
    loop {
        match unpack(&link.broadcast(Vec::new()))? {
            // Rank 0 tells of another version, and sends the end.
            Order::Meet => follower.nodes = Nodes::find(link).unwrap_or_default(),
            Order::Open { plan, left } => follower.opened = follower.open(&plan, left),
            Order::CompareClocks => {
                clock::measure(link, &monotonic_nanos, follower.nodes.firsts());
            }
            Order::Part(part) => {
                let report = follower.run_part(&part);
                link.gather(pack(&Reply { report, signal: signal() }));
            }
            Order::End => return Ok(()),
        }
    }
}

impl Follower<'_> {
    /// Opens what it measures; `None` where it or another rank could not.
    fn open(&self, plan: &Plan, left: u64) -> Option<(Targets, Site)> {
        let deadline = Instant::now().checked_add(Duration::from_nanos(left));
        let stop = || self.stop.load(Relaxed) || is_past(deadline);
        let (link, nodes, signal) = (self.link, &self.nodes, self.signal);
        let opening = Opening { link, nodes, plan, stop: &stop, signal: &signal };
        let own = || {
            if opening.is_shared() {
                return Ok(None);
            }
            let plan = &plan.of_rank(self.link.rank());
            let opened = Targets::open(plan, &stop, &mut |_| ControlFlow::Continue(()));
            opened.map(Some).map_err(|error| error.to_string())
        };
        // Rank 0 has heard why, and tells it.
        opening.open(own).ok()
    }

    /// Returns the target and the cell of a part of a trial; the error is why they cannot be
    /// measured.
    fn find(&self, part: &Part) -> Result<(&OpenTarget, &Site, Cell), String> {
        let executor =
            Executor::from_choice(&part.job.backend).map_err(|unknown| unknown.to_string())?;
        let (targets, site) = self.opened.as_ref().ok_or("it has no target")?;
        let open_target = site.target_of(&part.job, targets.of(&part.job));
        executor.check(&open_target.target, &part.job)?;
        Ok((open_target, site, Cell::new(part.job.clone(), executor, part.fresh_each_pass)))
    }

    /// Runs a part of a trial, and keeps its appointment whatever happens.
    fn run_part(&self, part: &Part) -> Report {
        let rank = self.link.rank();
        let node = self.nodes.of(rank as usize) as usize;
        let offset = part.offsets.get(node).map_or(0, |offset| offset.ahead);
        if rank >= part.job.processes() {
            appoint(self.link, Presence::Idle, offset);
            return Report::Idle;
        }
        let (open_target, site, cell) = match self.find(part) {
            Ok(found) => found,
            Err(why) => {
                appoint(self.link, Presence::Failed, offset);
                return Report::Failed(why);
            }
        };
        let deadline = Instant::now().checked_add(Duration::from_nanos(part.left));
        let cut = || (self.stop.load(Relaxed) || is_past(deadline)).then_some(Cut::End);
        let stage = Stage {
            limit: part.limit.map(Duration::from_nanos),
            ends_by_time: part.ends_by_time,
            place: site.seats.place(&part.job),
            is_led: site.seats.is_led(),
            ..Stage::new(open_target, part.origin.saturating_add_signed(offset), part.seed, &cut)
        };
        let work = Work { cell: &cell, amount: &part.amount, observed: part.observed };
        take_part(self.link, offset, &stage, work, &mut |_, _| {}).into()
    }
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}
