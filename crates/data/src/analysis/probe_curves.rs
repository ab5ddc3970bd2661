//! The results of a probe as curves over one varying numeric parameter, one curve for each
//! combination of the others.

use crate::analysis::ProbeResult;
use crate::analysis::groups::group_by_key;
use crate::catalog::PROBES;
use crate::plan::{Param, ProbeCell};
use crate::record::Unit;

/// The parameters that are preferred as an axis.
const FIRST: [&str; 2] = ["bytes", "threads"];

/// One curve of a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeCurve {
    /// The parameters that its cells share and other curves do not have: `stride 64`; empty if it
    /// is the only curve and there is nothing to name.
    pub name: String,
    /// Indexes into the results, ascending along the axis.
    pub results: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProbeCurves {
    pub probe: String,
    /// A short description; the id of a probe unknown to this version.
    pub title: String,
    /// The parameter along which the curves run.
    pub axis: String,
    pub unit: Unit,
    pub curves: Vec<ProbeCurve>,
}

impl ProbeCurves {
    /// Returns the curves of a probe, in the first unit of its values that has any; `None` if
    /// nothing varies along an axis.
    pub fn from_results(probe: &str, results: &[ProbeResult]) -> Option<ProbeCurves> {
        let own: Vec<usize> = (0..results.len())
            .filter(|at| results[*at].cell.probe == probe && results[*at].value.is_some())
            .collect();
        let of = |unit: Unit| own.iter().copied().filter(move |at| results[*at].unit == Some(unit));
        let along = |unit: Unit| Some((unit, axis(of(unit).map(|at| &results[at].cell))?));
        let (unit, axis) = own.iter().filter_map(|at| results[*at].unit).find_map(along)?;
        let points = of(unit).filter(|at| number(&results[*at].cell, &axis).is_some());
        let curves = group_by_key(points, |at| {
            let mut rest = results[*at].cell.clone();
            rest.params.remove(&axis);
            rest
        });
        let alone = curves.len() == 1;
        let curve = |(rest, mut own): (ProbeCell, Vec<usize>)| {
            own.sort_by_key(|at| number(&results[*at].cell, &axis));
            let name = if rest.params.is_empty() && !alone {
                bare(probe).into()
            } else {
                rest.short_words().join(", ")
            };
            ProbeCurve { name, results: own }
        };
        let curves = curves.into_iter().map(curve).collect();
        let info = PROBES.iter().find(|info| info.id == probe);
        let title = info.map_or(probe, |info| info.title).into();
        Some(ProbeCurves { probe: probe.into(), title, axis, unit, curves })
    }

    /// Returns the place of a cell on the axis.
    pub fn value_of(&self, cell: &ProbeCell) -> f64 {
        number(cell, &self.axis).unwrap_or(0) as f64
    }
}

/// Returns the name of cells without a parameter next to cells with one.
fn bare(probe: &str) -> &'static str {
    if probe == "latency" { "random order" } else { "usual" }
}

/// Returns the numeric parameter that varies: a size, threads, or else the first.
fn axis<'a>(cells: impl Iterator<Item = &'a ProbeCell> + Clone) -> Option<String> {
    let varies = |name: &str| {
        let mut values = cells.clone().filter_map(|cell| number(cell, name));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let first = FIRST.iter().find(|name| varies(name)).map(|name| name.to_string());
    first.or_else(|| {
        cells.clone().flat_map(|cell| cell.params.keys()).find(|name| varies(name)).cloned()
    })
}

fn number(cell: &ProbeCell, name: &str) -> Option<u64> {
    match cell.params.get(name) {
        Some(Param::Number(number)) => Some(*number),
        _ => None,
    }
}
