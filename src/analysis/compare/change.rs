//! A comparison in one figure, for a list of sessions.

use super::{Outcome, compare};
use crate::session::Session;

/// Returns how many times as fast a session is as an earlier one: the geometric mean over all cells
/// that can be judged. `None` unless at least half of them differ, all in the same direction.
pub fn change(earlier: &Session, later: &Session) -> Option<f64> {
    let comparison = compare(&[earlier, later])?;
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
    fn only_a_difference_of_most_cells_in_one_direction_is_a_change() {
        let before = session(&[1000, 1000, 1000, 1000]);
        let change = |rates: &[u64]| change(&before, &session(rates));
        assert_eq!(change(&[1000, 1000, 1000, 1000]), None);
        assert_eq!(change(&[500, 1000, 1000, 1000]), None, "one of four");
        assert_eq!(change(&[500, 2000, 500, 500]), None, "in both directions");
        let halved = change(&[500, 500, 500, 500]).unwrap();
        assert!((halved - 0.5).abs() < 0.02, "{halved}");
        let doubled = change(&[2000, 2000, 2000, 2000]).unwrap();
        assert!((doubled - 2.0).abs() < 0.05, "{doubled}");
    }

    #[test]
    fn nothing_in_common_is_no_change() {
        assert_eq!(change(&session(&[1]), &testing::session(3)), None);
        assert_eq!(change(&testing::session(0), &testing::session(0)), None);
    }
}
