//! The rules: one for each way in which a result can be wrong or misread.

mod cache;
mod ceiling;
mod circumstance;
mod consistency;
mod depth;
mod disturbance;
mod first_visit;
mod level_change;
mod overlap;
mod path;
mod peer;
mod ranks;
mod rule;
mod sample_size;
mod stalls;
mod stored_data;
mod write;

#[cfg(test)]
mod examples;
#[cfg(test)]
pub(super) mod examples_below;
#[cfg(test)]
mod examples_ceiling;
#[cfg(test)]
mod examples_ranks;
#[cfg(test)]
mod examples_trust;
#[cfg(test)]
mod tests;

pub use rule::Rule;

/// All rules in order of their number, those without a number last.
pub static RULES: &[Rule] = &[
    cache::FROM_CACHE,
    stored_data::HOLES,
    path::NOT_DIRECT,
    path::MEMORY,
    overlap::SHARED_OFFSETS,
    overlap::WRAPPED,
    cache::NOT_COLD,
    cache::PREVIOUS_TRIAL,
    write::NOT_ON_DEVICE,
    stored_data::COMPRESSIBLE,
    depth::DEPTH_UNUSED,
    ceiling::CPU_BOUND,
    sample_size::FEW,
    sample_size::CUT,
    sample_size::SHORT_TRIAL,
    sample_size::FEW_OPERATIONS,
    sample_size::FEW_FOR_PERCENTILE,
    sample_size::WIDE,
    sample_size::TWO_MODES,
    level_change::LEVEL_CHANGE,
    stalls::STALLS,
    ceiling::RATE_LIMITED,
    ceiling::BEYOND_MEMORY,
    depth::READ_AHEAD,
    disturbance::UNSTEADY_HOST,
    disturbance::DISTURBED,
    disturbance::NEARLY_FULL,
    circumstance::SLOW_CLOCK,
    ceiling::TIMING_DOMINATES,
    consistency::INCONSISTENT,
    consistency::INCONSISTENT_TIME,
    ceiling::ABOVE_LINK,
    ceiling::ABOVE_MEMORY,
    write::NOT_OURS,
    path::OTHER_PATH,
    ceiling::LAYERS,
    consistency::PREPARATION_TIMED,
    cache::NOT_WARM,
    circumstance::FILE_CHANGED,
    circumstance::SHARED_DESCRIPTORS,
    circumstance::SMALL_PAGES,
    circumstance::HELPER_UNCOUNTED,
    circumstance::UNEVEN_START,
    circumstance::CLONED,
    peer::UNKNOWN_CALLS,
    peer::COARSE_CLOCK,
    circumstance::NOT_FLUSHED,
    depth::POPULATED_MORE,
    write::NOT_READ_BACK,
    write::NOT_DURABLE,
    write::LARGE_FOLIOS,
    path::BELOW_CACHE,
    first_visit::FIRST_VISIT,
    ranks::OWN_CACHE,
    ranks::STRAGGLER,
    ranks::BOUND,
];
