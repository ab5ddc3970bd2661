//! All ranks, as rank 0 commands them.

use std::cell::{Cell as Slot, OnceCell, RefCell};
use std::time::{Duration, Instant};

use super::clock::{self, Offset};
use super::ending::{self, Ending};
use super::join::Opening;
use super::link::Link;
use super::merge::{Merger, OfRank};
use super::nodes::Nodes;
use super::order::{Order, Part, Reply, Report, pack, unpack};
use super::part::take_part;
use super::site::Site;
use crate::engine::control::Control;
use crate::engine::error::{EngineError, Failure};
use crate::engine::targets::Targets;
use crate::engine::trial::{Stage, Together, Work};
use crate::engine::trial_outcome::TrialOutcome;
use crate::engine::workers::Watch;
use crate::plan::Plan;
use crate::sys::clock::monotonic_nanos;
use crate::sys::signals;

/// Within a round, clocks of other machines are compared again after this time: quartz drifts by up
/// to 50 microseconds in a second.
const CLOCKS_HOLD: Duration = Duration::from_secs(1);

/// The ranks of a run, at rank 0.
pub struct Crew<'a> {
    link: &'a dyn Link,
    control: &'a Control,
    nodes: Nodes,
    /// Of the clock of each machine.
    offsets: RefCell<Vec<Offset>>,
    compared: Slot<Option<Instant>>,
    /// What this rank works on, once it is open.
    site: OnceCell<Site>,
    /// Which rank was stopped, and by which signal.
    stopped: OnceCell<String>,
}

impl<'a> Crew<'a> {
    /// Finds out which machine each rank is on. The others [follow](super::follow).
    ///
    /// # Errors
    /// Not all are of one version, or were started alike.
    pub fn new(link: &'a dyn Link, control: &'a Control) -> Result<Crew<'a>, EngineError> {
        link.broadcast(pack(&Order::Meet));
        let nodes = Nodes::find(link).map_err(EngineError::Rank)?;
        link.roll().name(nodes.names());
        Ok(Crew {
            link,
            control,
            offsets: RefCell::new(vec![Offset::default(); nodes.count()]),
            nodes,
            compared: Slot::default(),
            site: OnceCell::new(),
            stopped: OnceCell::new(),
        })
    }

    /// Returns the name of the machine of each rank.
    pub fn names(&self) -> Vec<String> {
        self.nodes.names().to_vec()
    }

    /// Returns the fewest CPUs that a rank is bound to; `None` = each may use all of its machine.
    pub fn bound(&self) -> Option<u32> {
        self.nodes.bound()
    }

    /// Returns which rank a signal has stopped, and with it the run.
    pub fn stopped(&self) -> Option<&String> {
        self.stopped.get()
    }

    /// Stops the run where a rank has received a signal, which stops all.
    fn heed(&self, rank: usize, signal: i32) {
        if !self.control.stopping() {
            let why = format!("stopped by {}", signals::name(signal));
            let _ = self.stopped.set(self.nodes.blame(rank, &why));
        }
        self.control.stop_for(signal);
    }

    /// Returns how many machines there are, each with a kernel of its own.
    pub fn kernels(&self) -> u32 {
        self.nodes.kernels()
    }

    /// Returns the plan for these ranks: on one machine there is no other to read from.
    pub fn adapt(&self, plan: &Plan) -> Plan {
        Plan { shift: plan.shift && self.nodes.count() > 1, ..plan.clone() }
    }

    /// Returns the name and version of the library that connects them, if it has one.
    pub fn library(&self) -> Option<String> {
        Some(self.link.library()).filter(|name| !name.is_empty())
    }

    fn send(&self, order: &Order) {
        self.link.broadcast(pack(order));
    }

    /// Has all ranks open what they measure, while `own` opens the target of rank 0; `None` where
    /// the budget ended meanwhile.
    ///
    /// # Errors
    /// That of `own`, or of the first other rank that could not.
    pub fn open(
        &self,
        plan: &Plan,
        (left, stop): (Duration, &dyn Fn() -> bool),
        own: impl FnOnce() -> Result<Option<Targets>, EngineError>,
    ) -> Result<Option<Targets>, EngineError> {
        let left = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
        self.send(&Order::Open { plan: Box::new(plan.clone()), left });
        let mut failed = None;
        let own = || match own() {
            Ok(Some(targets)) => Ok(Some(targets)),
            other => {
                let other = other.map(|_| ());
                let why =
                    other.as_ref().err().map_or("the budget ended".into(), ToString::to_string);
                failed = Some(other);
                Err(why)
            }
        };
        let (link, nodes, signal) = (self.link, &self.nodes, &|| self.control.signal());
        let opening = Opening { link, nodes, plan, stop, signal };
        match (opening.open(own), failed) {
            (Ok((mut targets, site)), _) => {
                if opening.is_shared() {
                    // It was empty before; the others wait.
                    targets.inspect(plan);
                }
                // A run opens its targets once.
                let _ = self.site.set(site);
                Ok(Some(targets))
            }
            (Err(_), Some(Ok(()))) => Ok(None),
            (Err(_), Some(Err(own))) if self.link.size() == 1 => Err(own),
            (Err(_), Some(Err(stopped @ EngineError::Stopped))) => Err(stopped),
            (Err(refusal), _) => {
                if let Some(signal) = refusal.signal {
                    self.control.stop_for(signal);
                }
                Err(EngineError::Rank(refusal.why))
            }
        }
    }

    /// Compares the clocks of the machines with that of rank 0.
    pub fn compare_clocks(&self) {
        if self.nodes.count() < 2 {
            return;
        }
        self.send(&Order::CompareClocks);
        let found = clock::measure(self.link, &monotonic_nanos, self.nodes.firsts());
        let known = self.compared.replace(Some(Instant::now())).is_some();
        let before = self.offsets.take();
        let since = |(now, before): (Offset, &Offset)| now.since(known.then_some(*before));
        self.offsets.replace(found.into_iter().zip(&before).map(since).collect());
    }

    /// Merges the reports of all ranks; the failure of one is that of the cell.
    fn collect(&self, messages: Vec<Vec<u8>>) -> Result<TrialOutcome, Failure> {
        let (mut ranks, mut stopped, mut abandoned) = (Merger::default(), false, false);
        for (rank, message) in messages.iter().enumerate() {
            let reply: Result<Reply, String> = unpack(message);
            if let Ok(Reply { signal: Some(signal), .. }) = reply {
                self.heed(rank, signal);
            }
            match reply.map_or_else(Report::Failed, |reply| reply.report) {
                Report::Measured(measured) => {
                    let node = self.nodes.of(rank) as usize;
                    let clock_error = self.offsets.borrow().get(node).map_or(0, |of| of.error);
                    let kernel = self.nodes.kernel_of(rank);
                    ranks.add(OfRank { kernel, clock_error, outcome: *measured });
                }
                Report::Failed(why) => return Err(Failure::Cell(self.nodes.blame(rank, &why))),
                Report::Stopped => stopped = true,
                Report::Abandoned => abandoned = true,
                Report::Idle => {}
            }
        }
        match (abandoned, stopped) {
            (true, _) => Err(Failure::Abandoned),
            (false, true) => Err(Failure::Stopped),
            (false, false) => ranks.finish().ok_or(Failure::Stopped),
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
        if self.compared.get().is_some_and(|since| since.elapsed() > CLOCKS_HOLD) {
            self.compare_clocks();
        }
        let Ending { amount, after } = ending::of(&work);
        let limit = after.or(stage.limit);
        let left = stage.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let job = &work.cell.job;
        let part = Part {
            job: job.clone(),
            fresh_each_pass: work.cell.fresh_each_pass,
            amount,
            seed: stage.seed,
            observed: work.observed,
            limit: limit.map(|limit| limit.as_nanos() as u64),
            ends_by_time: after.is_some(),
            left: left.map_or(u64::MAX, |left| left.as_nanos() as u64),
            origin: stage.origin,
            offsets: self.offsets.borrow().clone(),
        };
        self.send(&Order::Part(Box::new(part)));
        let site = self.site.get();
        let stage = Stage {
            open_target: site
                .map_or(stage.open_target, |site| site.target_of(job, stage.open_target)),
            place: site.and_then(|site| site.seats.place(job)),
            limit,
            ends_by_time: after.is_some(),
            part: None,
            ..*stage
        };
        let own = take_part(self.link, 0, &stage, Work { amount: &amount, ..work }, sample);
        let reply = Reply { report: own.into(), signal: None };
        self.collect(self.link.gather(pack(&reply)))
    }
}
