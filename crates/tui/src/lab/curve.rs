//! The results of a probe as curves over the numeric parameter that varies, one curve for each
//! combination of the other parameters.

use crate::analysis::{ProbeCurve, ProbeCurves, ProbeResult, Step};
use crate::keymap::Action;
use crate::plan::ProbeCell;
use crate::plot::Point;
use crate::record::Unit;
use crate::view::list::move_cursor;

#[derive(Debug, Clone, PartialEq)]
pub struct ParamCurve {
    /// The parameters that distinguish it from the other curves: `stride 64`.
    pub name: String,
    /// Ascending in x.
    pub points: Vec<Point>,
    pub low: Vec<Point>,
    pub high: Vec<Point>,
    /// The cell of each point.
    pub cells: Vec<ProbeCell>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ParamCurves {
    pub probe: String,
    pub axis: String,
    pub unit: Unit,
    pub curves: Vec<ParamCurve>,
}

impl ParamCurves {
    /// Builds the curves of a probe in the first unit that has any; `None` if no parameter varies
    /// along an axis.
    pub fn from_results(probe: &str, results: &[ProbeResult]) -> Option<ParamCurves> {
        let all = ProbeCurves::from_results(probe, results)?;
        let curves = all.curves.iter().map(|curve| build_curve(curve, &all, results)).collect();
        Some(ParamCurves { probe: probe.into(), unit: all.unit, axis: all.axis, curves })
    }

    /// Returns every x of the points, ascending.
    pub fn xs(&self) -> Vec<f64> {
        let mut xs: Vec<f64> =
            self.curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.x)).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        xs
    }

    /// Returns the indexes of the curve and the point of a cell.
    fn position(&self, cell: &ProbeCell) -> Option<(usize, usize)> {
        let point = |curve: &ParamCurve| curve.cells.iter().position(|other| other == cell);
        self.curves.iter().enumerate().find_map(|(at, curve)| Some((at, point(curve)?)))
    }

    /// Returns the cell of a curve that is nearest to `x`.
    fn nearest(&self, curve: usize, x: f64) -> Option<&ProbeCell> {
        let curve = self.curves.get(curve)?;
        let away = |point: &Point| (point.x.max(1.0).ln() - x.max(1.0).ln()).abs();
        let at = (0..curve.points.len())
            .min_by(|a, b| away(&curve.points[*a]).total_cmp(&away(&curve.points[*b])))?;
        curve.cells.get(at)
    }

    /// Returns the cell to start at: the given one if it is on a curve, else the first.
    pub fn start_cell(&self, cell: &ProbeCell) -> Option<&ProbeCell> {
        let (curve, point) = self.position(cell).unwrap_or((0, 0));
        self.curves.get(curve)?.cells.get(point)
    }

    /// Returns the x of a cell.
    pub fn x(&self, cell: &ProbeCell) -> Option<f64> {
        let (curve, point) = self.position(cell)?;
        self.curves.get(curve)?.points.get(point).map(|point| point.x)
    }

    /// Returns the cell that a key leads to: along the curve, or at the same x of the next curve.
    pub fn cell_after(&self, cell: &ProbeCell, action: Action) -> Option<&ProbeCell> {
        let (curve, point) = self.position(cell)?;
        match action {
            Action::Up | Action::Down => {
                self.nearest(move_cursor(curve, self.curves.len(), action, 1), self.x(cell)?)
            }
            _ => self.curves.get(curve).and_then(|curve| {
                curve.cells.get(move_cursor(point, curve.cells.len(), action, 5))
            }),
        }
    }

    /// Returns the cell at `x` on the curve of another cell.
    pub fn cell_at(&self, cell: &ProbeCell, x: f64) -> Option<&ProbeCell> {
        self.nearest(self.position(cell)?.0, x)
    }

    /// Returns the plateaus of this probe's curve.
    pub fn steps<'a>(&self, all: &'a [Step]) -> Vec<&'a Step> {
        all.iter().filter(|step| step.probe == self.probe).collect()
    }
}

fn build_curve(source: &ProbeCurve, all: &ProbeCurves, results: &[ProbeResult]) -> ParamCurve {
    let results: Vec<&ProbeResult> =
        source.results.iter().filter_map(|at| results.get(*at)).collect();
    let x = |result: &ProbeResult| all.value_of(&result.cell);
    let point = |result: &&ProbeResult| {
        let summary = result.value?.summary;
        let (low, high) = (summary.low.unwrap_or(f64::NAN), summary.high.unwrap_or(f64::NAN));
        Some(Point::new(x(result), summary.median).within(low, high))
    };
    let expected = |end: fn(&crate::record::Estimate) -> f64| -> Vec<Point> {
        results
            .iter()
            .map(|result| Point::new(x(result), result.estimate.as_ref().map_or(f64::NAN, end)))
            .collect()
    };
    ParamCurve {
        name: source.name.clone(),
        points: results.iter().filter_map(point).collect(),
        low: expected(|estimate| estimate.low),
        high: expected(|estimate| estimate.high),
        cells: results.iter().map(|result| result.cell.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::probes;
    use crate::lab::tests::session;

    #[test]
    fn other_parameters_make_curves() {
        let results = probes(&session());
        let latency = ParamCurves::from_results("latency", &results).unwrap();
        assert_eq!((latency.axis.as_str(), latency.unit), ("bytes", Unit::Nanos));
        assert_eq!(
            latency.curves.iter().map(|curve| curve.name.as_str()).collect::<Vec<_>>(),
            ["stride 64", "stride 4096"]
        );
        for curve in &latency.curves {
            assert!(
                curve.points.windows(2).all(|pair| pair[0].x < pair[1].x)
                    && curve.points.len() == 15
            );
            assert_eq!(latency.x(&curve.cells[3]), Some(32768.0));
        }
        let (one, two) = (&latency.curves[0].cells, &latency.curves[1].cells);
        for (action, to) in [
            (Action::Right, &one[4]),
            (Action::Left, &one[2]),
            (Action::Down, &two[3]),
            (Action::Up, &one[3]),
            (Action::Bottom, &one[14]),
        ] {
            assert_eq!(latency.cell_after(&one[3], action), Some(to), "{action:?}");
        }
        assert_eq!(
            (latency.cell_at(&two[0], 40_000.0), latency.cell_at(&two[0], f64::NAN)),
            (Some(&two[3]), Some(&two[0]))
        );
        assert_eq!(latency.start_cell(&ProbeCell::new("latency", [])), Some(&one[0]));
        let call = ParamCurves::from_results("call", &results).unwrap();
        assert_eq!((call.axis.as_str(), call.xs()), ("arguments", vec![0.0, 1.0, 2.0, 3.0]));
        for none in ["loop", "clock", "rtt", "fsync", "teleport"] {
            assert_eq!(ParamCurves::from_results(none, &results), None, "{none}");
        }
    }

    #[test]
    fn sizes_share_the_curves_of_times() {
        let mut results = probes(&session());
        let size = results.iter().position(|result| result.cell.probe == "latency").unwrap();
        (results[size].unit, results[size].cell) =
            (Some(Unit::Bytes), ProbeCell::new("latency", []));
        let latency = ParamCurves::from_results("latency", &results).unwrap();
        assert_eq!((latency.axis.as_str(), latency.unit), ("bytes", Unit::Nanos));
        assert_eq!(latency.start_cell(&results[size].cell), Some(&latency.curves[0].cells[0]));
    }
}
