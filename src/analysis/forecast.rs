//! What the budget of a plan buys: trials, expected intervals, and the time to a certain answer.

use std::time::Duration;

use crate::analysis::results;
use crate::experiment::{expected_trials, round_time};
use crate::plan::Plan;
use crate::session::Session;
use crate::units::{counted, show_goal, show_share, show_trials, show_wait};

/// How much trials scatter on this machine, by its saved runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    pub runs: usize,
    pub cells: usize,
    /// The half width of an interval times the square root of its number of trials, of the median
    /// cell and of the one that nine in ten do not exceed. An interval narrows by that root.
    pub median: f64,
    pub high: f64,
}

impl Noise {
    /// Measures the noise of these runs; `None` without a cell of 5 trials or more.
    pub fn from_sessions<'a>(sessions: impl Iterator<Item = &'a Session>) -> Option<Noise> {
        let (mut scatter, mut runs) = (Vec::new(), 0);
        for session in sessions {
            let before = scatter.len();
            let of_cell = |result: &crate::analysis::CellResult| {
                let summary = result.throughput.or(result.operations)?.summary;
                let sound = result.error.is_none() && result.wrong().is_none();
                let width = summary.half_width().filter(|_| sound)?;
                Some(width * (result.trials.len() as f64).sqrt())
            };
            scatter.extend(results(session).iter().filter_map(of_cell));
            runs += usize::from(scatter.len() > before);
        }
        scatter.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let last = scatter.len().checked_sub(1)?;
            scatter.get(((last as f64 * share).round() as usize).min(last)).copied()
        };
        Some(Noise { runs, cells: scatter.len(), median: at(0.5)?, high: at(0.9)? })
    }
}

/// Describes what the budget buys, as in `about 5 trials of each; intervals of about ±9 %, of one
/// cell in ten more than ±22 % (as in 120 cells of 5 saved runs here); ±2 % in half of the cells
/// would take about 8 min`. `None` for a plan without cells of a file.
pub fn describe_forecast(plan: &Plan, noise: Option<Noise>) -> Option<String> {
    if plan.cells.is_empty() || plan.pick {
        return None;
    }
    if plan.until && plan.trials.is_none() {
        return Some(describe_until(plan, noise));
    }
    let trials = expected_trials(plan).max(1);
    let about = if plan.trials.is_none() { "about " } else { "" };
    let mut text = format!("{about}{} of each", show_trials(trials as usize));
    let Some(noise) = noise.filter(|noise| noise.median > 0.0) else { return Some(text) };
    if trials >= Plan::ROUNDS {
        let width = |scatter: f64| show_share(scatter / f64::from(trials).sqrt());
        text += &format!(
            "; intervals of about \u{b1}{}, of one cell in ten more than \u{b1}{} (as in {} of {} here)",
            width(noise.median),
            width(noise.high),
            counted(noise.cells, "cell"),
            counted(noise.runs, "saved run")
        );
    }
    let needed = (noise.median / plan.goal.max(1e-4)).powi(2).ceil().max(f64::from(Plan::ROUNDS));
    if needed > f64::from(trials) && plan.trials.is_none() {
        let time = round_time(plan).mul_f64(needed.min(1e6));
        let goal = show_goal(plan.goal);
        text += &if time > LONG {
            format!("; \u{b1}{goal} is out of reach here")
        } else {
            format!("; \u{b1}{goal} in half of the cells would take about {}", show_wait(time))
        };
    }
    Some(text)
}

/// Describes what a run until every interval is narrow enough takes. Its budget is a limit, and
/// says nothing about that.
fn describe_until(plan: &Plan, noise: Option<Noise>) -> String {
    let goal = show_goal(plan.goal);
    let what = format!("trials until every interval is within \u{b1}{goal}");
    let Some(noise) = noise.filter(|_| plan.variants.is_empty()) else {
        return format!("{what}; how long that takes is unknown");
    };
    let needed = (noise.high / plan.goal.max(1e-4)).powi(2).ceil();
    let needed = needed.clamp(f64::from(Plan::ROUNDS), 1e6);
    let time = round_time(plan).mul_f64(needed);
    let seen = format!(
        "as in {} of {} here",
        counted(noise.cells, "cell"),
        counted(noise.runs, "saved run")
    );
    if time > plan.budget {
        format!("{what}; that takes longer than {} ({seen})", show_wait(plan.budget))
    } else {
        let trials = show_trials(needed as usize);
        format!(
            "{what}: for nine cells in ten {trials} or fewer, about {} ({seen})",
            show_wait(time)
        )
    }
}

/// Nobody waits longer for an answer.
const LONG: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::TrialTime;
    use crate::session::testing;

    fn plan(trials: Option<u32>) -> Plan {
        let session = testing::session(1);
        Plan {
            trials,
            trial_time: TrialTime::from_duration(Duration::from_millis(200)),
            budget: Duration::from_secs(10),
            ..session.plan
        }
    }

    #[test]
    fn the_forecast_follows_the_noise() {
        let noise = |median| Some(Noise { runs: 3, cells: 40, median, high: 2.0 * median });
        assert_eq!(describe_forecast(&plan(Some(7)), None).unwrap(), "7 trials of each");
        let text = describe_forecast(&plan(Some(9)), noise(0.3)).unwrap();
        assert!(
            text.contains(
                "about \u{b1}10 %, of one cell in ten more than \u{b1}20 % (as in 40 cells of 3 saved runs here)"
            ),
            "{text}"
        );
        assert!(!text.contains("would take"), "{text}");
        let text = describe_forecast(&plan(None), noise(0.3)).unwrap();
        assert!(
            text.starts_with("about ")
                && text.contains("\u{b1}2 % in half of the cells would take about "),
            "{text}"
        );
        let quiet = describe_forecast(&plan(None), noise(0.001)).unwrap();
        assert!(!quiet.contains("would take"), "{quiet}");
        let hopeless = describe_forecast(&plan(None), noise(50.0)).unwrap();
        assert!(hopeless.contains("out of reach"), "{hopeless}");
        assert_eq!(describe_forecast(&Plan { cells: vec![], ..plan(None) }, None), None);
    }

    #[test]
    fn a_goal_is_not_forecast_from_the_limit_of_its_budget() {
        let budget = Plan::UNTIL_BUDGET;
        let plan = Plan { until: true, goal: 0.2, budget, ..plan(None) };
        let unknown = describe_forecast(&plan, None).unwrap();
        assert_eq!(
            unknown,
            "trials until every interval is within \u{b1}20 %; how long that takes is unknown"
        );
        let noise = |high| Some(Noise { runs: 3, cells: 40, median: high / 2.0, high });
        let text = describe_forecast(&plan, noise(0.6)).unwrap();
        assert!(text.contains("for nine cells in ten 9 trials or fewer, about "), "{text}");
        let hopeless = describe_forecast(&plan, noise(900.0)).unwrap();
        assert!(hopeless.contains("takes longer than 60 min 00 s"), "{hopeless}");
    }

    #[test]
    fn noise_is_that_of_cells_with_intervals() {
        assert_eq!(Noise::from_sessions(std::iter::empty()), None);
        let run = |rounds| {
            let mut session = testing::session(3);
            for (round, cell) in (1..=rounds).flat_map(|round| [0, 1, 2].map(|cell| (round, cell)))
            {
                let trial = testing::trial(cell, round, (1 << 20) + (u64::from(round % 3) << 12));
                session.trials.push(trial.into());
            }
            session
        };
        assert_eq!(Noise::from_sessions([run(4)].iter()), None, "too few trials");
        let noise = Noise::from_sessions([run(9), run(4)].iter()).expect("nine trials suffice");
        assert!((noise.runs, noise.cells) == (1, 3) && noise.median <= noise.high, "{noise:?}");
    }
}
