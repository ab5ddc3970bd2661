//! The small tables below the large one, and their order.

use super::columns::make_safe;
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
    let built = BUILDERS.iter().filter_map(|build| build(session, rows, look.unit));
    let safe = |mut extra: Extra| {
        extra.columns.iter_mut().for_each(|column| make_safe(column, look));
        extra
    };
    built.map(safe).collect()
}
