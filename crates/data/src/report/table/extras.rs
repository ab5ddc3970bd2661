//! The small tables below the large one, and their order.

use super::extra::Extra;
use super::{commits, counts, levels, ranks, runs, tried, verified, writes};
use crate::analysis::CellResult;
use crate::report::Look;
use crate::session::Session;
use crate::units::Rates;

type BuildExtra = fn(&Session, &[&CellResult], Rates) -> Option<Extra>;

/// The small tables in the order of reports.
const BUILDERS: &[BuildExtra] = &[
    counts::build_counts,
    runs::build_runs,
    runs::build_call_runs,
    commits::build_commits,
    writes::build_writes,
    verified::build_verified,
    levels::build_levels,
    ranks::build_ranks,
    tried::build_tried,
];

/// Returns the small tables of this session.
pub fn extras(session: &Session, rows: &[&CellResult], look: &Look) -> Vec<Extra> {
    let mut built: Vec<Extra> =
        BUILDERS.iter().filter_map(|build| build(session, rows, look.unit)).collect();
    built.iter_mut().flat_map(|extra| &mut extra.columns).for_each(|own| own.make_safe(look));
    built
}
