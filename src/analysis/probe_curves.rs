//! A probe as curves: over the parameter that is a number and varies, one curve for each of the
//! others.

use crate::analysis::ProbeResult;
use crate::plan::{Param, ProbeCell};
use crate::probe::PROBES;
use crate::record::Unit;

/// What is looked for first as an axis.
const FIRST: [&str; 2] = ["bytes", "threads"];

/// One curve of a probe.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeCurve {
    /// What its cells share and others do not: `stride 64`; empty where it is the only one and has
    /// nothing to share.
    pub name: String,
    /// Indexes into the results, ascending along the axis.
    pub results: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProbeCurves {
    pub probe: String,
    /// What is measured, in a few words; the id of a probe that this version does not know.
    pub title: String,
    /// The parameter along which the curves run.
    pub axis: String,
    pub unit: Unit,
    pub curves: Vec<ProbeCurve>,
}

impl ProbeCurves {
    /// The curves of a probe, in the first unit of its values that has some; `None` where nothing
    /// varies along an axis.
    pub fn of(probe: &str, results: &[ProbeResult]) -> Option<ProbeCurves> {
        let own: Vec<usize> = (0..results.len())
            .filter(|at| results[*at].cell.probe == probe && results[*at].value.is_some())
            .collect();
        let of = |unit: Unit| own.iter().copied().filter(move |at| results[*at].unit == Some(unit));
        let along = |unit: Unit| Some((unit, axis(of(unit).map(|at| &results[at].cell))?));
        let (unit, axis) = own.iter().filter_map(|at| results[*at].unit).find_map(along)?;
        let mut curves: Vec<(ProbeCell, Vec<usize>)> = Vec::new();
        for at in of(unit).filter(|at| number(&results[*at].cell, &axis).is_some()) {
            let mut rest = results[at].cell.clone();
            rest.params.remove(&axis);
            match curves.iter_mut().find(|(known, _)| *known == rest) {
                Some((_, points)) => points.push(at),
                None => curves.push((rest, vec![at])),
            }
        }
        let alone = curves.len() == 1;
        let curve = |(rest, mut own): (ProbeCell, Vec<usize>)| {
            own.sort_by_key(|at| number(&results[*at].cell, &axis));
            let name = if rest.params.is_empty() && !alone {
                bare(probe).into()
            } else {
                rest.words().join(", ")
            };
            ProbeCurve { name, results: own }
        };
        let curves = curves.into_iter().map(curve).collect();
        let info = PROBES.iter().map(|probe| probe.info()).find(|info| info.id == probe);
        let title = info.map_or(probe, |info| info.title).into();
        Some(ProbeCurves { probe: probe.into(), title, axis, unit, curves })
    }

    /// The place of a cell on the axis.
    pub fn at(&self, cell: &ProbeCell) -> f64 {
        number(cell, &self.axis).unwrap_or(0) as f64
    }
}

/// What cells without a parameter are called beside those that have one.
fn bare(probe: &str) -> &'static str {
    if probe == "latency" { "random order" } else { "usual" }
}

/// The number that varies: a size, threads, else the first.
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
