//! The small tables below the large one: which there are, and in what order.

use super::columns::make_safe;
use super::extra::Extra;
use super::{counts, levels, runs, writes};
use crate::analysis::CellResult;
use crate::report::Look;
use crate::session::Session;
use crate::units::Rates;

type BuildExtra = fn(&Session, &[&CellResult], Rates) -> Option<Extra>;

/// In the order of reports.
const BUILDERS: &[BuildExtra] = &[
    counts::build_counts,
    runs::build_runs,
    runs::build_call_runs,
    writes::build_writes,
    levels::build_levels,
];

/// Those that this session has.
pub fn extras(session: &Session, rows: &[&CellResult], look: &Look) -> Vec<Extra> {
    let built = BUILDERS.iter().filter_map(|build| build(session, rows, look.unit));
    let safe = |mut extra: Extra| {
        extra.columns.iter_mut().for_each(|column| make_safe(column, look));
        extra
    };
    built.map(safe).collect()
}
