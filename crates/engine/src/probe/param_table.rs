//! The table of a probe's main parameter, with the expected range of each value, and readers for
//! the parameters of a cell.

use crate::plan::{Param, ProbeCell};
use crate::record::Estimate;

use super::context::ProbeContext;

/// One value of a probe's main parameter.
pub(super) struct ParamRow<T: 'static> {
    /// The value's name in a cell.
    pub name: &'static str,
    pub value: T,
    /// Expected minimum and maximum: cycles or the unit of the cell, depending on the probe.
    pub range: (f64, f64),
    pub why: &'static str,
}

impl<T> ParamRow<T> {
    /// Finds the row that `param` of `cell` names.
    pub fn find<'a>(
        table: &'a [ParamRow<T>],
        cell: &ProbeCell,
        param: &str,
    ) -> Option<&'a ParamRow<T>> {
        let name = text(cell, param)?;
        table.iter().find(|known| known.name == name)
    }

    /// Returns the range, in cycles of this machine, as an estimate in nanoseconds.
    pub fn in_cycles(&self, context: &ProbeContext) -> Option<Estimate> {
        context.estimate_cycles(self.range.0, self.range.1, self.why)
    }

    /// Returns the range, in the unit of the cell, as an estimate.
    pub fn as_estimate(&self) -> Option<Estimate> {
        Some(Estimate { low: self.range.0, high: self.range.1, reason: self.why.into() })
    }
}

/// Returns the value of a text parameter.
pub(super) fn text<'a>(cell: &'a ProbeCell, param: &str) -> Option<&'a str> {
    match cell.params.get(param) {
        Some(Param::Text(text)) => Some(text),
        _ => None,
    }
}

/// Returns the value of a numeric parameter.
pub(super) fn number(cell: &ProbeCell, param: &str) -> Option<u64> {
    match cell.params.get(param) {
        Some(Param::Number(number)) => Some(*number),
        _ => None,
    }
}

/// Returns whether the cell has exactly these parameters; a cell from another version may have
/// more.
pub(super) fn has_only(cell: &ProbeCell, params: &[&str]) -> bool {
    cell.params.len() == params.len() && params.iter().all(|param| cell.params.contains_key(*param))
}
