//! Which presets and plans measure probes alone: Lab chooses and shows them.

use crate::experiment;
use crate::plan::{Plan, Preset};

/// Returns a preset that measures no file: it is chosen and run here.
pub fn is_probe_preset(preset: &Preset) -> bool {
    !experiment::needs_file(std::slice::from_ref(preset))
}

/// Returns a plan of probes alone.
pub fn is_probe_plan(plan: &Plan) -> bool {
    plan.cells.is_empty() && !plan.probes.is_empty()
}
