//! The interface of an experiment, and the facts that plans are based on.

use super::plan_error::PlanError;
use crate::facts::TargetFacts;
use crate::plan::{
    Info, Job, Plan, ProbeCell, ProbeInfo, Resolved, Settings, Skipped, TargetSpec, Variant,
};
use crate::record::{Estimate, Unit};

/// Everything that a plan depends on, gathered beforehand: an experiment never touches the machine.
pub struct PlanRequest<'a> {
    pub resolved: &'a Resolved<'a>,
    /// The target; of several the first, with the size of the smallest.
    pub target: TargetSpec,
    /// Number of targets, up to [`Plan::MAX_TARGETS`](crate::plan::Plan::MAX_TARGETS).
    pub targets: u8,
    /// The variants of the machine that every cell is measured in.
    pub variants: &'a [Variant],
    pub infos: &'a [&'static Info],
    /// Checks whether this kernel and target support a job; the error is the reason why not.
    pub check: &'a dyn Fn(&Job) -> Result<(), String>,
    /// Memory that buffers may use, bytes.
    pub memory: u64,
    /// Memory that this process may use in total, bytes: the base of `--memory-share`.
    pub allowed: u64,
    /// Cost of the cheapest system call here, nanoseconds; 0 = not measured.
    pub call: f64,
    /// CPUs that this process may use.
    pub cpus: u32,
    /// The seed if the user specified none.
    pub seed: u64,
    /// How many ranks were started; `None` = this process alone.
    pub ranks: Option<u32>,
    pub probes: &'a AvailableProbes<'a>,
}

/// The probes that are available here.
pub struct AvailableProbes<'a> {
    pub infos: &'a [&'static ProbeInfo],
    /// Returns all cells of a probe, each with the reason if it is unavailable.
    #[allow(clippy::type_complexity)]
    pub cells: &'a dyn Fn(&'static ProbeInfo) -> Vec<(ProbeCell, Result<(), String>)>,
}

impl AvailableProbes<'static> {
    /// No probes: for plans that only measure files.
    pub const NONE: &'static AvailableProbes<'static> =
        &AvailableProbes { infos: &[], cells: &|_| Vec::new() };
}

/// Cells, and the skipped ones with the reason.
pub type Cells = (Vec<Job>, Vec<Skipped>);

/// A rule that turns settings into cells.
pub struct Experiment {
    pub id: &'static str,
    pub about: &'static str,
    /// Whether its cells do the same work by different methods, one of which is picked at run time.
    pub picks: bool,
    /// Whether it measures a file.
    pub needs_file: bool,
    pub cells: fn(&Settings, &PlanRequest) -> Result<Cells, PlanError>,
}

/// A plan and the facts found while making it.
#[derive(Debug)]
pub struct Proposed {
    pub plan: Plan,
    /// Facts about the target, or about an empty file where the scratch file would be.
    pub facts: TargetFacts,
    /// Every backend and peer that cannot do a plain job of the requested operation here, and why;
    /// empty unless a survey was requested.
    pub unavailable: Vec<(&'static str, String)>,
    /// The target measured instead of the named file, and why.
    pub instead: Option<String>,
    /// The span that all targets are used over, where they differ in size.
    pub common_span: Option<String>,
}

/// A cell of a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub cell: ProbeCell,
    pub unit: Unit,
    pub estimate: Option<Estimate>,
    /// Why it is unavailable.
    pub refused: Option<String>,
}
