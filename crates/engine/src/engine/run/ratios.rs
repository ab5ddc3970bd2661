//! The precision of the ratios between the variants of the machine.
//!
//! The scatter of each variant alone contains what the machine does by itself, which a ratio of
//! alternating trials does not. So the ratio decides when a cell has enough trials.

use super::precision::{GoalMeasure, Precision};
use crate::engine::cells::{Amount, Cell};
use crate::experiment::twins;
use crate::plan::Plan;
use crate::stats::paired;

/// The same cell in each variant.
struct Twins {
    /// Their indexes, in the order of the variants.
    cells: Vec<usize>,
    /// Pairs of trials, of the ratio with the fewest, when the half width was last computed.
    pairs: usize,
    /// The relative half width of the widest ratio; `None` while there are too few pairs.
    half_width: Option<f64>,
    /// The first of the cells that did not fail; `None` if no two of them are left.
    first: Option<usize>,
}

/// The ratios of a run; none in a plan without variants.
pub(super) struct Ratios {
    all: Vec<Twins>,
    /// The index in `all` of each cell.
    of_cell: Vec<usize>,
}

impl Ratios {
    pub fn new(plan: &Plan) -> Ratios {
        let (groups, of_cell) =
            if plan.variants.is_empty() { Default::default() } else { twins(plan) };
        let twins = |cells: Vec<usize>| {
            let first = cells.first().copied();
            Twins { cells, pairs: 0, half_width: None, first }
        };
        Ratios { all: groups.into_iter().map(twins).collect(), of_cell }
    }

    /// Returns the indexes of the cells that one is compared with; none in a plan without variants.
    fn twins(&self, index: usize) -> impl Iterator<Item = usize> {
        let twins = self.of_cell.get(index).map(|of| &self.all[*of].cells);
        twins.into_iter().flatten().copied().filter(move |twin| *twin != index)
    }

    /// Returns the precision of a cell, of its ratio if it is compared with another one; `None` if
    /// it is excluded.
    pub fn measured_at<'a>(
        &self,
        cells: &'a [Option<Cell>],
        index: usize,
    ) -> Option<GoalMeasure<'a>> {
        let cell = cells[index].as_ref().filter(|cell| !cell.out)?;
        Some(match self.of(index) {
            None => GoalMeasure::of_cell(cell),
            Some((_, trials, half_width)) => {
                GoalMeasure { cell, trials, half_width, is_ratio: true }
            }
        })
    }

    /// Returns whether a cell skips its turn in a round, together with the cells that it is
    /// compared with.
    pub fn let_rest(
        &self,
        precision: Precision,
        cells: &[Option<Cell>],
        index: usize,
        round: u32,
    ) -> bool {
        let first = self.of(index).map_or(index, |(first, ..)| first);
        let measured = self.measured_at(cells, index);
        measured.is_some_and(|measured| precision.lets_rest(&measured, first as u32 + round))
    }

    /// Returns the precision of all cells and ratios, each ratio once.
    pub fn measured<'a>(&self, cells: &'a [Option<Cell>]) -> impl Iterator<Item = GoalMeasure<'a>> {
        let is_first = |index: &usize| self.of(*index).is_none_or(|(first, ..)| first == *index);
        (0..cells.len()).filter(is_first).filter_map(|index| self.measured_at(cells, index))
    }

    /// Returns the work of a trial of a cell that this one is compared with, where it is known.
    pub fn amount_of_twin(&self, cells: &[Option<Cell>], index: usize) -> Option<Amount> {
        self.twins(index).find_map(|twin| cells[twin].as_ref()?.amount)
    }

    /// Computes the half widths again, after a round.
    pub fn update(&mut self, cells: &[Option<Cell>]) {
        self.all.iter_mut().for_each(|twins| twins.update(cells));
    }

    /// Returns the first of the cells that are compared with this one, the pairs of their trials
    /// and the half width of their ratio; `None` if the cell is compared with none.
    pub fn of(&self, index: usize) -> Option<(usize, usize, Option<f64>)> {
        let twins = self.all.get(*self.of_cell.get(index)?)?;
        Some((twins.first?, twins.pairs, twins.half_width))
    }
}

impl Twins {
    fn update(&mut self, cells: &[Option<Cell>]) {
        let mut left = self.cells.iter().filter_map(|index| {
            let cell = cells[*index].as_ref()?;
            (!cell.out).then_some((*index, cell))
        });
        let base = left.next();
        let others: Vec<&Cell> = left.map(|(_, cell)| cell).collect();
        self.first = if others.is_empty() { None } else { base.map(|(index, _)| index) };
        let Some((_, base)) = base else { return };
        let of_each: Vec<Vec<(f64, f64)>> =
            others.iter().map(|other| base.pair_rates(other)).collect();
        let pairs = of_each.iter().map(Vec::len).min().unwrap_or(0);
        // The time for a ratio grows with the square of the pairs, and few more change little.
        if pairs <= self.pairs + self.pairs / 10 {
            return;
        }
        self.pairs = pairs;
        let width = |pairs: &Vec<(f64, f64)>| paired::from_pairs(pairs)?.half_width();
        let widths: Option<Vec<f64>> = of_each.iter().map(width).collect();
        self.half_width = widths.and_then(|widths| widths.into_iter().reduce(f64::max));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::testing;
    use crate::plan::{Job, TargetSpec, Variant};
    use crate::record::Trial;

    /// Two cells in two variants, in the wrong order of the variants; `other` is as fast as `base`
    /// times its factor of each round.
    fn cells(factors: &[f64]) -> (Plan, Vec<Option<Cell>>) {
        let job = |variant: &str, block| Job {
            variant: Some(format!("{variant}:true").parse::<Variant>().unwrap().name),
            block,
            ..testing::job()
        };
        let plan = Plan {
            variants: ["A:true", "B:true"].map(|text| text.parse().unwrap()).to_vec(),
            cells: vec![job("B", 4096), job("A", 8192), job("A", 4096), job("B", 8192)],
            ..Plan::plain("sweep", TargetSpec::File { path: "/".into(), size: 0 })
        };
        let mut cells: Vec<Option<Cell>> =
            Cell::from_plan(&plan).into_iter().map(Result::ok).collect();
        for (round, factor) in (1..).zip(factors) {
            // The machine is half as fast in every other round.
            let drift = 1e6 * f64::from(1 + round % 2);
            for (index, nanos) in [(2, drift), (0, drift / factor)] {
                let trial =
                    Trial { bytes: 1 << 20, nanos: nanos as u64, round, ..Trial::default() };
                cells[index].as_mut().unwrap().keep(&Arc::new(trial));
            }
        }
        (plan, cells)
    }

    #[test]
    fn shared_drift_does_not_widen_ratio() {
        let (plan, all) = cells(&[1.1; 8]);
        let mut ratios = Ratios::new(&plan);
        assert_eq!(ratios.of(0), Some((2, 0, None)));
        ratios.update(&all);
        let (first, pairs, half_width) = ratios.of(0).unwrap();
        assert_eq!((first, pairs, ratios.of(2).unwrap().0), (2, 8, 2));
        assert!(half_width.unwrap() < 0.001, "{half_width:?}");
        assert!(all[0].as_ref().unwrap().half_width().unwrap() > 0.2);
        assert_eq!(ratios.of(3), Some((1, 0, None)), "another block size");
    }

    #[test]
    fn lone_cells_have_no_ratio() {
        let (plan, mut all) = cells(&[1.1; 8]);
        let mut ratios = Ratios::new(&plan);
        ratios.update(&all);
        all[2].as_mut().unwrap().out = true;
        ratios.update(&all);
        assert_eq!(ratios.of(0), None);
        assert!(ratios.of(1).is_some());
        let ratios = Ratios::new(&Plan { variants: Vec::new(), ..plan });
        assert_eq!(ratios.of(0), None);
    }
}
