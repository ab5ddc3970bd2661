//! All ranks, as rank 0 commands them.

use std::cell::{Cell as Slot, RefCell};
use std::time::{Duration, Instant};

use super::clock;
use super::link::Link;
use super::merge::{OfRank, merge};
use super::nodes::Nodes;
use super::order::{Order, Part, Report, pack, unpack};
use super::part::take_part;
use crate::engine::error::{EngineError, Failure};
use crate::engine::trial::{Stage, Together, Work};
use crate::engine::trial_outcome::TrialOutcome;
use crate::engine::workers::Watch;
use crate::plan::Plan;
use crate::sys::clock::monotonic_nanos;

/// Clocks of other machines are compared again after this time: quartz drifts by up to 50
/// microseconds in a second.
const CLOCKS_HOLD: Duration = Duration::from_secs(1);

/// The ranks of a run, at rank 0.
pub struct Crew<'a> {
    link: &'a dyn Link,
    nodes: Nodes,
    /// How far the clock of each rank is ahead of that of rank 0, nanoseconds.
    offsets: RefCell<Vec<i64>>,
    compared: Slot<Option<Instant>>,
}

impl<'a> Crew<'a> {
    /// Finds out which machine each rank is on. The others [follow](super::follow).
    ///
    /// # Errors
    /// Not all are of one version.
    pub fn new(link: &'a dyn Link) -> Result<Crew<'a>, EngineError> {
        link.broadcast(pack(&Order::Meet));
        let nodes = Nodes::find(link).map_err(EngineError::Rank)?;
        let offsets = RefCell::new(vec![0; link.size() as usize]);
        Ok(Crew { link, nodes, offsets, compared: Slot::new(None) })
    }

    /// Returns the name of the machine of each rank.
    pub fn names(&self) -> Vec<String> {
        self.nodes.names().to_vec()
    }

    fn send(&self, order: &Order) {
        self.link.broadcast(pack(order));
    }

    /// Has all ranks open the target of the plan, while `own` opens that of rank 0.
    ///
    /// # Errors
    /// That of `own`, or of the first other rank that could not.
    pub fn open<T>(
        &self,
        plan: &Plan,
        own: impl FnOnce() -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        self.send(&Order::Open(Box::new(plan.clone())));
        let own = own();
        let opened: Result<(), String> = own.as_ref().map(|_| ()).map_err(|e| e.to_string());
        let all = self.link.gather(pack(&opened));
        let own = own?;
        for (rank, message) in all.iter().enumerate() {
            let opened: Result<(), String> = unpack(message).and_then(|opened| opened);
            opened.map_err(|why| EngineError::Rank(self.nodes.blame(rank, &why)))?;
        }
        Ok(own)
    }

    /// Compares the clocks with that of rank 0, if that was long ago.
    fn compare_clocks(&self) {
        let recent = |since: Instant| since.elapsed() < CLOCKS_HOLD;
        if self.nodes.count() < 2 || self.compared.get().is_some_and(recent) {
            return;
        }
        self.send(&Order::CompareClocks);
        let found = clock::measure(self.link, &monotonic_nanos, &self.nodes.elsewhere());
        self.offsets.replace(found);
        self.compared.set(Some(Instant::now()));
    }

    /// Merges the reports of all ranks; the failure of one is that of the cell.
    fn collect(&self, messages: Vec<Vec<u8>>) -> Result<TrialOutcome, Failure> {
        let (mut ranks, mut stopped, mut abandoned) = (Vec::new(), false, false);
        for (rank, message) in messages.iter().enumerate() {
            match unpack(message).unwrap_or_else(Report::Failed) {
                Report::Measured(measured) => {
                    ranks.push(OfRank { node: self.nodes.of(rank), outcome: *measured });
                }
                Report::Failed(why) => return Err(Failure::Cell(self.nodes.blame(rank, &why))),
                Report::Stopped => stopped = true,
                Report::Abandoned => abandoned = true,
            }
        }
        match (abandoned, stopped) {
            (true, _) => Err(Failure::Abandoned),
            (false, true) => Err(Failure::Stopped),
            (false, false) => merge(ranks).ok_or(Failure::Stopped),
        }
    }
}

/// Tells the other ranks that there is nothing more to do.
pub fn dismiss(link: &dyn Link) {
    link.broadcast(pack(&Order::End));
}

impl Together for Crew<'_> {
    fn run_part(
        &self,
        stage: &Stage,
        work: Work,
        sample: &mut Watch,
    ) -> Result<TrialOutcome, Failure> {
        self.compare_clocks();
        let left = stage.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let part = Part {
            job: work.cell.job.clone(),
            fresh_each_pass: work.cell.fresh_each_pass,
            amount: *work.amount,
            seed: stage.seed,
            observed: work.observed,
            limit: stage.limit.map(|limit| limit.as_nanos() as u64),
            left: left.map_or(u64::MAX, |left| left.as_nanos() as u64),
            origin: stage.origin,
            offsets: self.offsets.borrow().clone(),
        };
        self.send(&Order::Part(Box::new(part)));
        let own = take_part(self.link, 0, stage, work, sample);
        self.collect(self.link.gather(pack(&Report::from(own))))
    }
}
