//! The other ranks, which obey rank 0.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::clock;
use super::files::{JointOpening, RankFiles};
use super::link::Link;
use super::messages::{Command, PartCommand, PartReply, pack, unpack};
use super::nodes::Nodes;
use super::part::{Presence, appoint, take_part};
use crate::engine::cells::Cell;
use crate::engine::control::Cut;
use crate::engine::error::Failure;
use crate::engine::executor::Executor;
use crate::engine::target::OpenTarget;
use crate::engine::targets::Targets;
use crate::engine::trial::{PartWork, RankRole, TrialStage};
use crate::engine::trial_parts::TrialOutcome;
use crate::plan::Plan;
use crate::sys::clock::monotonic_nanos;

/// A rank with what it measures.
struct Follower<'a> {
    link: &'a dyn Link,
    stop: &'static AtomicBool,
    signal: fn() -> Option<i32>,
    nodes: Nodes,
    opened: Option<(Targets, RankFiles)>,
}

/// Obeys rank 0 until the run is over; `stop` ends a measurement, and `signal` returns
/// the signal that set it. The error is a message of another version.
pub fn follow(
    link: &dyn Link,
    stop: &'static AtomicBool,
    signal: fn() -> Option<i32>,
) -> Result<(), String> {
    let mut follower = Follower { link, stop, signal, nodes: Nodes::default(), opened: None };
    loop {
        match unpack(&link.broadcast(Vec::new()))? {
            // Rank 0 reports another version, and ends the run.
            Command::Meet => follower.nodes = Nodes::find(link).unwrap_or_default(),
            Command::Open { plan, left } => follower.opened = follower.open(&plan, left),
            Command::CompareClocks => {
                clock::measure(link, &monotonic_nanos, follower.nodes.firsts());
            }
            Command::RunPart(part) => {
                let result = follower.run_part(&part);
                link.gather(pack(&PartReply { result, signal: signal() }));
            }
            Command::End => return Ok(()),
        }
    }
}

impl Follower<'_> {
    /// Opens what it measures; `None` if it or another rank failed.
    fn open(&self, plan: &Plan, left: u64) -> Option<(Targets, RankFiles)> {
        let deadline = Instant::now().checked_add(Duration::from_nanos(left));
        let stop = || self.stop.load(Relaxed) || is_past(deadline);
        let (link, nodes, signal) = (self.link, &self.nodes, self.signal);
        let opening = JointOpening { link, nodes, plan, stop: &stop, signal: &signal };
        let mut own = || {
            if opening.is_shared() {
                return Ok(None);
            }
            let plan = &plan.of_rank(self.link.rank());
            let opened = Targets::open(plan, &stop, &mut |_| ControlFlow::Continue(()));
            opened.map(Some).map_err(|error| error.to_string())
        };
        // Rank 0 knows the reason, and reports it.
        opening.open(&mut own).ok()
    }

    /// Returns the target and the cell of a part of a trial; the error is why they cannot be
    /// measured.
    fn find(&self, part: &PartCommand) -> Result<(&OpenTarget, &RankFiles, Cell), String> {
        let executor =
            Executor::from_choice(&part.job.backend).map_err(|unknown| unknown.to_string())?;
        let (targets, files) = self.opened.as_ref().ok_or("it has no target")?;
        let open_target = files.target_of(&part.job, targets.of(&part.job));
        executor.check(&open_target.target, &part.job)?;
        Ok((open_target, files, Cell::new(part.job.clone(), executor, part.fresh_each_pass)))
    }

    /// Runs a part of a trial, and keeps its appointment whatever happens.
    fn run_part(&self, part: &PartCommand) -> Option<Result<Box<TrialOutcome>, Failure>> {
        let rank = self.link.rank();
        let node = self.nodes.of(rank as usize) as usize;
        let offset = part.offsets.get(node).map_or(0, |offset| offset.ahead);
        if rank >= part.job.processes() {
            appoint(self.link, Presence::Idle, offset);
            return None;
        }
        let (open_target, files, cell) = match self.find(part) {
            Ok(found) => found,
            Err(why) => {
                appoint(self.link, Presence::Failed, offset);
                return Some(Err(Failure::Cell(why)));
            }
        };
        let deadline = Instant::now().checked_add(Duration::from_nanos(part.left));
        let cut = || (self.stop.load(Relaxed) || is_past(deadline)).then_some(Cut::End);
        let stage = TrialStage {
            limit: part.limit.map(Duration::from_nanos),
            ends_by_time: part.ends_by_time,
            role: RankRole {
                place: files.place(&part.job),
                is_led: files.is_led(),
                ..RankRole::default()
            },
            ..TrialStage::new(
                open_target,
                part.origin.saturating_add_signed(offset),
                part.seed,
                &cut,
            )
        };
        let work = PartWork { cell: &cell, amount: &part.amount, observed: part.observed };
        Some(take_part(self.link, offset, &stage, work, &mut |_, _| {}).map(Box::new))
    }
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}
