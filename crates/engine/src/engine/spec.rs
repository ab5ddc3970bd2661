//! The work of one trial, as lanes get it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Duration;

use super::executor::Executor;
use crate::backend::Target;
use crate::backend::access_pattern::{Place, Share, is_shared};
use crate::backend::claims::Claims;
use crate::backend::meter::Timed;
use crate::backend::pace::PaceSpec;
use crate::plan::{CpuList, Info, Job};

/// Returns the number of CPUs that this process may use.
pub(super) fn cpus() -> u64 {
    static CPUS: OnceLock<u64> = OnceLock::new();
    *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get() as u64))
}

/// The complete specification of one trial's work.
#[derive(Clone)]
pub(super) struct Spec {
    pub executor: Executor,
    pub job: Job,
    pub target: Target,
    /// Operations of one pass over all lanes.
    pub count: u64,
    pub passes: u64,
    pub seed: u64,
    pub timed: Timed,
    /// Ends the trial this long after its lanes began.
    pub limit: Option<Duration>,
    /// The blocks of the span to use; `None` = all.
    pub part: Option<Range<u64>>,
    /// Where this process works in a file that others use too.
    pub place: Option<Place>,
    /// The CPUs that its lanes are pinned to.
    pub cpus: Option<CpuList>,
    /// It is complete when `limit` is over.
    pub ends_by_time: bool,
    /// It is complete earlier if it is steady over rounds of this length.
    pub steady: Option<Duration>,
    /// It is complete whenever it ends.
    pub watched: bool,
    /// Takes pieces of this many intervals out of its log while it runs.
    pub piece: Option<u32>,
    /// When its operations start; `None` = at full speed.
    pub pace: Option<PaceSpec>,
}

impl Spec {
    /// Returns the description of the executor, with the job's options.
    pub fn info(&self) -> &'static Info {
        self.executor.info().of(&self.job.backend)
    }

    /// Returns the job of each lane: a lane with a separate file is alone on it, and in a file that
    /// processes share it sees all of it.
    pub fn job_of_lane(&self) -> Cow<'_, Job> {
        match self.place {
            _ if self.job.has_own_files() => Cow::Owned(self.job.on_own_file()),
            Some(place) => Cow::Owned(Job { span: place.whole(self.job.span), ..self.job.clone() }),
            None => Cow::Borrowed(&self.job),
        }
    }

    /// Returns the number of CPUs that its lanes may use.
    pub fn cpus(&self) -> u64 {
        self.cpus.as_ref().map_or_else(cpus, |cpus| cpus.distinct().len() as u64)
    }

    /// Returns the share of a lane.
    pub fn share(&self, lane: u32) -> Share {
        let part = self.part.clone().unwrap_or(0..self.job.blocks());
        Share::within(&self.job, part, lane, self.count, self.seed).at(self.place)
    }

    /// Returns whether the starts of its operations are intended at a rate.
    pub fn has_rate(&self) -> bool {
        matches!(self.pace, Some(PaceSpec::Rate(_)))
    }

    /// Returns the claims on blocks, if the lanes share them.
    pub fn claims(&self) -> Option<Claims> {
        is_shared(&self.job).then(|| Claims::new(&self.share(0), &self.job, self.passes))
    }
}
