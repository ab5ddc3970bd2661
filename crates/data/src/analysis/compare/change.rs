//! A comparison in one figure, for a list of sessions.

use std::collections::HashSet;
use std::hash::Hash;

use super::pair::{MeasuredSides, Pair};
use super::{Outcome, SavedRuns, compare, compare_with};
use crate::session::Session;

/// Returns how many times as fast a session is as an earlier one of the same cells: the geometric
/// mean over all cells that can be judged. `None` unless at least half of them differ, all in the
/// same direction, by the same rule as a comparison; `saved` loads what that needs, if any does.
pub fn change(
    earlier: &Session,
    later: &Session,
    saved: impl FnOnce() -> SavedRuns,
) -> Option<f64> {
    let (a, b) = (&earlier.plan, &later.plan);
    if !is_same_set(&a.cells, &b.cells) || !is_same_set(&a.probes, &b.probes) {
        return None;
    }
    let narrow = compare(&[earlier, later])?;
    let narrow = narrow.others.first()?;
    if !narrow.cells.iter().any(may_differ) && !narrow.probes.iter().any(may_differ) {
        return None;
    }
    let comparison = compare_with(&[earlier, later], &saved())?;
    let versus = comparison.others.first()?;
    let cells = versus.cells.iter().map(|pair| (pair.outcome, pair.ratio));
    let probes = versus.probes.iter().map(|pair| (pair.outcome, pair.ratio));
    let (mut faster, mut slower, mut judged, mut logarithms) = (0, 0, 0, 0.0);
    for (outcome, ratio) in cells.chain(probes) {
        let Some(ratio) = ratio else { continue };
        match outcome {
            Outcome::Faster => faster += 1,
            Outcome::Slower => slower += 1,
            Outcome::Same | Outcome::Unclear => {}
            _ => continue,
        }
        judged += 1;
        logarithms += ratio.ratio.ln();
    }
    let differing = if slower == 0 { faster } else { slower };
    let one_way = faster == 0 || slower == 0;
    let mean = f64::exp(logarithms / f64::from(judged.max(1)));
    (one_way && differing > 0 && differing * 2 >= judged && mean.is_finite()).then_some(mean)
}

fn is_same_set<Cell: Hash + Eq>(a: &[Cell], b: &[Cell]) -> bool {
    a.iter().collect::<HashSet<_>>() == b.iter().collect()
}

/// Returns whether the trials alone would call it a difference: what saved runs show only widens
/// their interval.
fn may_differ<Cell>(pair: &Pair<Cell>) -> bool {
    let sides = pair.other.zip(pair.base);
    let ratio = sides.and_then(|(b, a)| MeasuredSides::Both.ratio(&b.summary, &a.summary));
    ratio.and_then(|ratio| ratio.verdict()).is_some_and(|verdict| verdict.is_ne())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::Trial;
    use crate::session::testing;

    /// A session whose cells have these rates, MiB/s, in nine trials that scatter by 1 %.
    fn session(rates: &[u64]) -> Session {
        let mut session = testing::session(rates.len() as u32);
        for round in 1..=9 {
            for (cell, rate) in (0..).zip(rates) {
                let bytes = (rate << 20) * (1000 + u64::from(round % 3) * 10) / 1000;
                session.trials.push(Arc::new(Trial { ..testing::trial(cell, round, bytes) }));
            }
        }
        session
    }

    #[test]
    fn change_needs_most_cells_one_way() {
        let before = session(&[1000, 1000, 1000, 1000]);
        let change = |rates: &[u64]| change(&before, &session(rates), SavedRuns::default);
        assert_eq!(change(&[1000, 1000, 1000, 1000]), None);
        assert_eq!(change(&[500, 1000, 1000, 1000]), None, "one of four");
        assert_eq!(change(&[500, 2000, 500, 500]), None, "in both directions");
        let halved = change(&[500, 500, 500, 500]).unwrap();
        assert!((halved - 0.5).abs() < 0.02, "{halved}");
        let doubled = change(&[2000, 2000, 2000, 2000]).unwrap();
        assert!((doubled - 2.0).abs() < 0.05, "{doubled}");
    }

    #[test]
    fn saved_variation_is_not_a_change() {
        let (before, after) = (session(&[1000]), session(&[800]));
        assert!(change(&before, &after, SavedRuns::default).is_some());
        let mut saved = SavedRuns::default();
        for rate in [700, 1300, 900, 1100, 800, 1200, 750, 1250, 1000, 950] {
            assert!(saved.add(&session(&[rate]), &before.plan.cells, &[]));
        }
        let compared = compare_with(&[&before, &after], &saved).unwrap();
        assert_eq!(compared.others[0].cells[0].outcome, Outcome::Unclear);
        assert_eq!(change(&before, &after, || saved.clone()), None);
        let slow = change(&before, &session(&[100]), || saved);
        assert!(slow.is_some_and(|ratio| ratio < 0.2), "{slow:?}");
    }

    #[test]
    fn change_needs_the_same_cells() {
        let none = || -> SavedRuns { unreachable!("nothing is loaded for it") };
        assert_eq!(change(&session(&[1; 4]), &session(&[9; 8]), none), None);
        assert_eq!(change(&session(&[1]), &testing::session(3), none), None);
        assert_eq!(change(&testing::session(0), &testing::session(0), none), None);
        assert_eq!(change(&session(&[7, 9]), &session(&[7, 9]), none), None, "all alike");
    }
}
