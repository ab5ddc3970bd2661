//! Choices on Setup, and the refusal that each would get.

use super::kind::{AvailableProbes, PlanRequest};
use super::plan_error::PlanError;
use super::{plan, sweep, usual};
use crate::plan::{
    Cache, Info, Job, JobOption, Op, Plan, Preset, Range, Resolved, Settings, TargetSpec, Until,
};

/// The choices, and the facts that they are checked against.
pub struct Choices<'a> {
    /// The effective settings, with all gaps filled as a plan will fill them.
    pub settings: &'a Settings,
    /// Whether backends were chosen; otherwise they follow the operation.
    pub explicit_backends: bool,
    pub infos: &'a [&'static Info],
    pub target: TargetSpec,
    /// Checks whether this machine and target support a job; the error is the reason why not.
    pub check: &'a dyn Fn(&Job) -> Result<(), String>,
}

impl Choices<'_> {
    /// Returns why no cell can have this value of a setting, ignoring conflicts that exist without
    /// it.
    pub fn object_to(&self, name: &str, text: &str) -> Option<String> {
        // A plan determines the size of the memory.
        if name == "memory-share" || text == neutral_value(name) {
            return None;
        }
        let mut with = self.without(name);
        if let Err(error) = with.choose(name, text) {
            return Some(error.to_string());
        }
        let with = usual(&with, self.infos);
        let why = match self.plan(&with) {
            Err(why) => why,
            Ok(plan) => return describe_loss(name, &with, &plan, self.infos),
        };
        let before = self.plan(&usual(&self.without(name), self.infos));
        (before.err().as_ref() != Some(&why)).then_some(why)
    }

    /// Returns the choices without a setting, and without what does not apply then.
    fn without(&self, name: &str) -> Settings {
        let mut settings = self.settings.clone();
        settings.unset(name);
        if matches!(name, "op" | "cache") {
            let _ = settings.choose(name, neutral_value(name));
        }
        if !self.explicit_backends {
            settings.backend = None;
        }
        settings.memory_share = None;
        // The usual end of a preset gives way to a number of trials.
        settings.until = settings.until.filter(|until| *until != Until::Answer);
        // Probes need no file, and are checked elsewhere.
        settings.probe = None;
        settings
    }

    /// Plans a sweep of these settings.
    ///
    /// # Errors
    /// No cell can be measured; why not.
    fn plan(&self, settings: &Settings) -> Result<Plan, String> {
        let settings = narrow(settings);
        let presets = [Preset { experiment: sweep::EXPERIMENT.id.into(), ..Preset::default() }];
        let size = settings.largest_size().filter(|_| self.target.is_ours());
        let request = PlanRequest {
            resolved: &Resolved::new(&settings, &presets),
            target: self.target.with_size(size.unwrap_or(self.target.size())),
            targets: 1,
            variants: &[],
            infos: self.infos,
            check: self.check,
            memory: u64::MAX,
            allowed: u64::MAX,
            call: 0.0,
            cpus: 1,
            seed: 0,
            ranks: None,
            probes: AvailableProbes::NONE,
        };
        plan(&request).map_err(|error| match error {
            PlanError::Refused { reason, .. } => reason,
            error => error.to_string(),
        })
    }
}

/// Returns the value of a setting that conflicts with nothing.
fn neutral_value(name: &str) -> &'static str {
    match name {
        "op" => Op::Read.name(),
        "cache" => Cache::AsIs.name(),
        _ => JobOption::find(name).and_then(|option| option.usual).unwrap_or("false"),
    }
}

/// Returns the settings with the ends of long ranges only: what is possible for a value is so for
/// one of them.
fn narrow(settings: &Settings) -> Settings {
    let mut narrow = settings.clone();
    let ranges = [
        &mut narrow.block_size,
        &mut narrow.count,
        &mut narrow.threads,
        &mut narrow.depth,
        &mut narrow.size,
        &mut narrow.sync_every,
        &mut narrow.mix,
    ];
    for range in ranges.into_iter().flatten() {
        let (low, high) = (range.values.iter().min(), range.values.iter().max());
        if let (Some(low), Some(high)) = (low, high) {
            *range = Range::list(&if low == high { vec![*low] } else { vec![*low, *high] });
        }
    }
    narrow
}

/// Returns which cell shows that a value has no effect: planning replaced it in all cells.
fn describe_loss(
    name: &str,
    settings: &Settings,
    plan: &Plan,
    infos: &[&'static Info],
) -> Option<String> {
    let values = JobOption::find(name)?.values(&narrow(settings), infos)?;
    let is_kept = |cell: &Job| values.iter().any(|value| value.put_in(cell) == *cell);
    let first = plan.cells.first().filter(|_| !plan.cells.iter().any(is_kept))?;
    Some(format!("it has no effect on {}", first.label()))
}
