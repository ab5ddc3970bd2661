//! The budget that a plan needs.

use std::time::Duration;

use crate::engine::{DiskSpeed, expected_trials, predict_missed, round_time};
use crate::plan::Plan;

/// Returns a longer budget if that of the plan is too short for some of its cells, or for as many
/// trials of each as an interval needs.
pub fn find_better(plan: &Plan, disk: &DiskSpeed) -> Option<Duration> {
    if plan.pick || plan.cells.is_empty() {
        return None;
    }
    let covers = predict_missed(plan, disk).map(|missed| missed.needs);
    let is_few = plan.trials.is_none() && expected_trials(plan) < Plan::ROUNDS;
    let certain = is_few.then(|| find_certain(plan));
    let needed = covers.max(certain)?;
    Some(round_up(needed)).filter(|time| *time > plan.budget)
}

/// Returns a budget for as many trials of each cell as an interval needs.
fn find_certain(plan: &Plan) -> Duration {
    let round = round_time(plan).max(Duration::from_millis(100));
    let mut plan = Plan { budget: round * (Plan::ROUNDS + 1), ..plan.clone() };
    // The first round also calibrates, which takes some rounds more.
    for _ in 0..20 {
        if expected_trials(&plan) >= Plan::ROUNDS {
            break;
        }
        plan.budget += round;
    }
    plan.budget
}

/// Rounds a time up to one that a person would type.
fn round_up(time: Duration) -> Duration {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let step = match seconds {
        0..60 => 5,
        60..600 => 30,
        600..7200 => 300,
        _ => 3600,
    };
    Duration::from_secs(seconds.div_ceil(step) * step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::TrialTime;
    use crate::tui::testing;

    fn better(plan: &Plan) -> Option<Duration> {
        find_better(plan, &DiskSpeed::default())
    }

    #[test]
    fn a_plan_that_cannot_work_has_a_better_budget_that_can() {
        let plan = |seconds| Plan {
            budget: Duration::from_secs(seconds),
            trial_time: TrialTime::from_duration(Duration::from_millis(300)),
            ..testing::plan()
        };
        let long = better(&plan(2)).expect("24 cells in 2 s");
        assert!(long > Duration::from_secs(10), "{long:?}");
        assert_eq!(better(&Plan { budget: long, ..plan(2) }), None, "{long:?}");
        assert_eq!(better(&plan(3600)), None);
        assert_eq!(better(&Plan { cells: Vec::new(), ..plan(2) }), None);
    }

    #[test]
    fn times_are_rounded_up() {
        for (seconds, wanted) in [(1, 5), (50, 50), (61, 90), (601, 900), (7201, 10_800)] {
            assert_eq!(round_up(Duration::from_secs(seconds)), Duration::from_secs(wanted));
        }
    }
}
