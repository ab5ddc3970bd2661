//! A rank that is not the first: it does what rank 0 orders.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::clock;
use super::link::Link;
use super::nodes::Nodes;
use super::order::{Order, Part, Report, pack, unpack};
use super::part::{appoint, take_part};
use crate::engine::cells::Cell;
use crate::engine::control::Cut;
use crate::engine::executor::Executor;
use crate::engine::target::OpenTarget;
use crate::engine::targets::Targets;
use crate::engine::trial::{Stage, Work};
use crate::plan::Plan;
use crate::sys::clock::monotonic_nanos;

/// Does what rank 0 orders until the run is over; `stop` ends what is being measured.
///
/// # Errors
/// A message of rank 0 is none of this version.
pub fn follow(link: &dyn Link, stop: &'static AtomicBool) -> Result<(), String> {
    let mut nodes = Nodes::default();
    let mut targets: Option<Targets> = None;
    loop {
        match unpack(&link.broadcast(Vec::new()))? {
            // Rank 0 tells of another version, and sends the end.
            Order::Meet => nodes = Nodes::find(link).unwrap_or_default(),
            Order::Open(plan) => {
                let opened = open(&plan, stop);
                link.gather(pack(&opened.as_ref().map(|_| ()).map_err(Clone::clone)));
                targets = opened.ok();
            }
            Order::CompareClocks => {
                clock::measure(link, &monotonic_nanos, &nodes.elsewhere());
            }
            Order::Part(part) => {
                let report = run_part(link, targets.as_ref(), &part, stop);
                link.gather(pack(&report));
            }
            Order::End => return Ok(()),
        }
    }
}

fn open(plan: &Plan, stop: &AtomicBool) -> Result<Targets, String> {
    let mut targets =
        Targets::open(plan, &|| stop.load(Relaxed), &mut |_| ControlFlow::Continue(()))
            .map_err(|error| error.to_string())?;
    targets.inspect(plan);
    Ok(targets)
}

/// Returns the target and the cell of a part of a trial; the error is why they cannot be measured.
fn find<'a>(targets: Option<&'a Targets>, part: &Part) -> Result<(&'a OpenTarget, Cell), String> {
    let executor =
        Executor::from_choice(&part.job.backend).map_err(|unknown| unknown.to_string())?;
    let open_target = targets.ok_or("it has no target")?.of(&part.job);
    executor.check(&open_target.target, &part.job)?;
    Ok((open_target, Cell::new(part.job.clone(), executor, part.fresh_each_pass)))
}

/// Runs a part of a trial, and keeps its appointment whatever happens.
fn run_part(link: &dyn Link, targets: Option<&Targets>, part: &Part, stop: &AtomicBool) -> Report {
    let offset = part.offsets.get(link.rank() as usize).copied().unwrap_or(0);
    let (open_target, cell) = match find(targets, part) {
        Ok(found) => found,
        Err(why) => {
            appoint(link, false, offset);
            return Report::Failed(why);
        }
    };
    let deadline = Instant::now().checked_add(Duration::from_nanos(part.left));
    let cut = || {
        let over = || deadline.is_some_and(|deadline| Instant::now() > deadline);
        (stop.load(Relaxed) || over()).then_some(Cut::End)
    };
    let stage = Stage {
        open_target,
        origin: part.origin.saturating_add_signed(offset),
        seed: part.seed,
        cut: &cut,
        limit: part.limit.map(Duration::from_nanos),
        part: None,
        deadline: None,
        crew: None,
        meet: None,
    };
    let work = Work { cell: &cell, amount: &part.amount, observed: part.observed };
    take_part(link, offset, &stage, work, &mut |_, _| {}).into()
}
