//! Rank 0, which commands the others.

use std::cell::{Cell as Slot, OnceCell, RefCell};
use std::time::{Duration, Instant};

use super::clock::{self, ClockOffset};
use super::files::{JointOpening, RankFiles};
use super::link::Link;
use super::merge::Merger;
use super::messages::{Command, PartCommand, PartReply, pack, unpack};
use super::nodes::Nodes;
use super::part::{Ending, ending_of, take_part};
use crate::engine::control::Control;
use crate::engine::error::{EngineError, Failure};
use crate::engine::targets::Targets;
use crate::engine::trial::{PartWork, RankRole, Together, TrialStage};
use crate::engine::trial_parts::TrialOutcome;
use crate::engine::workers::Watch;
use crate::plan::Plan;
use crate::sys::clock::monotonic_nanos;
use crate::sys::signals;

/// Within a round, clocks of other machines are compared again after this time: quartz drifts by up
/// to 50 microseconds in a second.
const CLOCKS_HOLD: Duration = Duration::from_secs(1);

/// The ranks of a run, at rank 0.
pub struct Ranks<'a> {
    link: &'a dyn Link,
    control: &'a Control,
    nodes: Nodes,
    /// The clock of each machine.
    offsets: RefCell<Vec<ClockOffset>>,
    compared: Slot<Option<Instant>>,
    /// The files of this rank, once they are open.
    files: OnceCell<RankFiles>,
    /// Which rank was stopped, and by which signal.
    stopped: OnceCell<String>,
}

impl<'a> Ranks<'a> {
    /// Finds out which machine each rank is on. The others [follow](super::follow).
    ///
    /// # Errors
    /// Not all are of one version, or were started alike.
    pub fn new(link: &'a dyn Link, control: &'a Control) -> Result<Ranks<'a>, EngineError> {
        link.broadcast(pack(&Command::Meet));
        let nodes = Nodes::find(link).map_err(EngineError::Rank)?;
        link.roll().name(nodes.names());
        Ok(Ranks {
            link,
            control,
            offsets: RefCell::new(vec![ClockOffset::default(); nodes.count()]),
            nodes,
            compared: Slot::default(),
            files: OnceCell::new(),
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

    /// Returns the number of kernels: containers of one machine share one.
    pub fn kernels(&self) -> u32 {
        self.nodes.kernels()
    }

    /// Returns the plan for these ranks: shifting needs a second machine.
    pub fn adapt(&self, plan: &Plan) -> Plan {
        Plan { shift: plan.shift && self.nodes.count() > 1, ..plan.clone() }
    }

    /// Returns the name and version of the library that connects them, if it has one.
    pub fn library(&self) -> Option<String> {
        Some(self.link.library()).filter(|name| !name.is_empty())
    }

    fn send(&self, order: &Command) {
        self.link.broadcast(pack(order));
    }

    /// Has all ranks open what they measure, while `own` opens the target of rank 0; `None` if the
    /// budget ends before. The error is that of `own`, or of the first other rank that failed.
    pub fn open(
        &self,
        plan: &Plan,
        (left, stop): (Duration, &dyn Fn() -> bool),
        own: &mut dyn FnMut() -> Result<Option<Targets>, EngineError>,
    ) -> Result<Option<Targets>, EngineError> {
        let left = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
        self.send(&Command::Open { plan: Box::new(plan.clone()), left });
        let mut failed = None;
        let mut own = || match own() {
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
        let opening = JointOpening { link, nodes, plan, stop, signal };
        match (opening.open(&mut own), failed) {
            (Ok((mut targets, files)), _) => {
                if opening.is_shared() {
                    // It was empty before; the others wait.
                    targets.inspect(plan);
                }
                // A run opens its targets once.
                let _ = self.files.set(files);
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
        self.send(&Command::CompareClocks);
        let found = clock::measure(self.link, &monotonic_nanos, self.nodes.firsts());
        let known = self.compared.replace(Some(Instant::now())).is_some();
        let before = self.offsets.take();
        let since =
            |(now, before): (ClockOffset, &ClockOffset)| now.since(known.then_some(*before));
        self.offsets.replace(found.into_iter().zip(&before).map(since).collect());
    }

    /// Merges the reports of all ranks; the failure of one is that of the cell.
    fn collect(&self, messages: Vec<Vec<u8>>) -> Result<TrialOutcome, Failure> {
        let (mut ranks, mut stopped, mut abandoned) = (Merger::default(), false, false);
        for (rank, message) in messages.iter().enumerate() {
            let PartReply { result, signal } = unpack(message).unwrap_or_else(|why| PartReply {
                result: Some(Err(Failure::Cell(why))),
                signal: None,
            });
            if let Some(signal) = signal {
                self.heed(rank, signal);
            }
            match result {
                Some(Ok(outcome)) => {
                    let node = self.nodes.of(rank) as usize;
                    let clock_error = self.offsets.borrow().get(node).map_or(0, |of| of.error);
                    ranks.add(self.nodes.kernel_of(rank), clock_error, *outcome);
                }
                Some(Err(Failure::Cell(why))) => {
                    return Err(Failure::Cell(self.nodes.blame(rank, &why)));
                }
                Some(Err(Failure::Stopped)) => stopped = true,
                Some(Err(Failure::Abandoned)) => abandoned = true,
                None => {}
            }
        }
        if abandoned {
            return Err(Failure::Abandoned);
        }
        if stopped {
            return Err(Failure::Stopped);
        }
        ranks.finish().ok_or(Failure::Stopped)
    }
}

/// Ends the other ranks.
pub fn dismiss(link: &dyn Link) {
    link.broadcast(pack(&Command::End));
}

impl Together for Ranks<'_> {
    fn run_part(
        &self,
        stage: &TrialStage,
        work: PartWork,
        sample: &mut Watch,
    ) -> Result<TrialOutcome, Failure> {
        if self.compared.get().is_some_and(|since| since.elapsed() > CLOCKS_HOLD) {
            self.compare_clocks();
        }
        let Ending { amount, after } = ending_of(&work);
        let limit = after.or(stage.limit);
        let left = stage.role.deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let job = &work.cell.job;
        let part = PartCommand {
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
        self.send(&Command::RunPart(Box::new(part)));
        let files = self.files.get();
        let own = stage.open_target;
        let stage = TrialStage {
            open_target: files.map_or(own, |files| files.target_of(job, own)),
            role: RankRole { place: files.and_then(|files| files.place(job)), ..stage.role },
            limit,
            ends_by_time: after.is_some(),
            ..*stage
        };
        let own = take_part(self.link, 0, &stage, PartWork { amount: &amount, ..work }, sample);
        let reply = PartReply { result: Some(own.map(Box::new)), signal: None };
        self.collect(self.link.gather(pack(&reply)))
    }
}
