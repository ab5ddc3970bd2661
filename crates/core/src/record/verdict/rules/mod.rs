//! The rules: one for each way in which a result can be wrong or misread.

mod cache;
mod ceiling;
mod circumstance;
mod consistency;
mod depth;
mod disturbance;
mod pace;
mod path;
mod ranks;
mod scatter;
mod stored_data;
mod write;

#[cfg(test)]
pub(super) mod tests;

use super::CellEvidence;
use crate::record::{CALLS_UNKNOWN, FEW, Finding, WIDE};

/// A rule that detects one way in which a result can be wrong or misread.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Stable id, which the warning carries.
    pub id: &'static str,
    pub check: fn(&CellEvidence) -> Option<Finding>,
}

const fn rule(id: &'static str, check: fn(&CellEvidence) -> Option<Finding>) -> Rule {
    Rule { id, check }
}

/// All rules. Warnings of one severity are shown in this order.
pub static RULES: &[Rule] = &[
    rule("from-cache", cache::from_cache),
    rule("holes", stored_data::holes),
    rule("not-direct", path::not_direct),
    rule("memory", path::memory),
    rule("shared-offsets", cache::shared_offsets),
    rule("wrapped", cache::wrapped),
    rule("not-cold", cache::not_cold),
    rule("previous-trial", cache::previous_trial),
    rule("not-on-device", write::not_on_device),
    rule("compressible", stored_data::compressible),
    rule("depth-unused", depth::depth_unused),
    rule("cpu-bound", ceiling::cpu_bound),
    rule(FEW, scatter::few),
    rule("cut", scatter::cut),
    rule("short-trial", scatter::short_trial),
    rule("few-operations", scatter::few_operations),
    rule("few-for-percentile", scatter::few_for_percentile),
    rule(WIDE, scatter::wide),
    rule("not-steady", scatter::not_steady),
    rule("rate-missed", pace::rate_missed),
    rule("held-back", pace::held_back),
    rule("two-modes", scatter::two_modes),
    rule("level-change", scatter::level_change),
    rule("stalls", scatter::stalls),
    rule("rate-limited", ceiling::rate_limited),
    rule("beyond-memory", ceiling::beyond_memory),
    rule("read-ahead", depth::read_ahead),
    rule("unsteady-host", disturbance::unsteady_host),
    rule("disturbed", disturbance::disturbed),
    rule("nearly-full", disturbance::nearly_full),
    rule("timer-late", pace::timer_late),
    rule("spinning", pace::spinning),
    rule("slow-clock", circumstance::slow_clock),
    rule("timing-dominates", ceiling::timing_dominates),
    rule("inconsistent", consistency::inconsistent),
    rule("inconsistent-time", consistency::inconsistent_time),
    rule("above-link", ceiling::above_link),
    rule("above-memory", ceiling::above_memory),
    rule("not-ours", write::not_ours),
    rule("other-path", path::other_path),
    rule("layers", ceiling::layers),
    rule("preparation-timed", consistency::preparation_timed),
    rule("not-warm", cache::not_warm),
    rule("file-changed", circumstance::file_changed),
    rule("shared-descriptors", circumstance::shared_descriptors),
    rule("small-pages", circumstance::small_pages),
    rule("helper-uncounted", circumstance::helper_uncounted),
    rule("uneven-start", circumstance::uneven_start),
    rule("cloned", circumstance::cloned),
    rule(CALLS_UNKNOWN, circumstance::unknown_calls),
    rule("clock-jumped", circumstance::clock_jumped),
    rule("coarse-clock", circumstance::coarse_clock),
    rule("not-flushed", circumstance::not_flushed),
    rule("populated-more", depth::populated_more),
    rule("not-read-back", write::not_read_back),
    rule("not-durable", write::not_durable),
    rule("large-folios", write::large_folios),
    rule("below-cache", path::below_cache),
    rule("first-visit", path::first_visit),
    rule("own-cache", ranks::own_cache),
    rule("straggler", ranks::straggler),
    rule("bound", ranks::bound),
];
