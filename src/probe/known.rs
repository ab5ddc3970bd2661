//! One value of a probe's main parameter, with what is expected of it.

use crate::plan::{Param, ProbeCell};
use crate::record::Estimate;

use super::Site;

/// A row of a probe's own table.
pub(super) struct Known<T: 'static> {
    /// As in the cell.
    pub name: &'static str,
    pub what: T,
    /// Least and most that is expected, in the unit of `why`'s method.
    pub range: (f64, f64),
    pub why: &'static str,
}

impl<T> Known<T> {
    /// The row that `param` of `cell` names.
    pub fn of<'a>(table: &'a [Known<T>], cell: &ProbeCell, param: &str) -> Option<&'a Known<T>> {
        let name = text(cell, param)?;
        table.iter().find(|known| known.name == name)
    }

    /// The range as cycles of this machine.
    pub fn in_cycles(&self, site: &Site) -> Option<Estimate> {
        site.cycles(self.range.0, self.range.1, self.why)
    }

    /// The range as it is: nanoseconds, or whatever the unit of the cell is.
    pub fn as_it_is(&self) -> Option<Estimate> {
        Some(Estimate { low: self.range.0, high: self.range.1, reason: self.why.into() })
    }
}

/// The value of a parameter that is a word.
pub(super) fn text<'a>(cell: &'a ProbeCell, param: &str) -> Option<&'a str> {
    match cell.params.get(param) {
        Some(Param::Text(text)) => Some(text),
        _ => None,
    }
}

/// The value of a parameter that is a number.
pub(super) fn number(cell: &ProbeCell, param: &str) -> Option<u64> {
    match cell.params.get(param) {
        Some(Param::Number(number)) => Some(*number),
        _ => None,
    }
}

/// Whether the cell has these parameters and no others: one that another iotui made may have more.
pub(super) fn has_only(cell: &ProbeCell, params: &[&str]) -> bool {
    cell.params.len() == params.len() && params.iter().all(|param| cell.params.contains_key(*param))
}
