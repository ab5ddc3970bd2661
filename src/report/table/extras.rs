//! The small tables below the large one: which there are, and in what order.

use super::columns::safe_column;
use super::extra::Extra;
use super::{levels, measured, runs, written};
use crate::analysis::CellResult;
use crate::report::Look;
use crate::session::Session;
use crate::units::Rates;

type Make = fn(&Session, &[&CellResult], Rates) -> Option<Extra>;

/// In the order of reports.
const ALL: &[Make] =
    &[measured::measured, runs::runs, runs::runs_of_calls, written::written, levels::levels];

/// Those that this session has.
pub fn extras(session: &Session, rows: &[&CellResult], look: &Look) -> Vec<Extra> {
    let made = ALL.iter().filter_map(|make| make(session, rows, look.unit));
    let safe = |mut extra: Extra| {
        extra.columns.iter_mut().for_each(|column| safe_column(column, look));
        extra
    };
    made.map(safe).collect()
}
