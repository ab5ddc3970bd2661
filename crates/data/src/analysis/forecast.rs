//! Forecasts what the budget of a plan buys: trials, intervals, and the time to a certain answer.

use std::time::Duration;

use crate::analysis::{CellResult, results};
use crate::experiment::{expected_trials, round_time};
use crate::plan::{Job, Op, Plan};
use crate::session::Session;
use crate::units::{counted, show_about, show_goal, show_percent, show_trials, show_wait};

/// How much trials scatter on this machine, by its saved runs: reads and writes apart, for commits
/// scatter far more than reads.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Noise {
    pub reads: Option<Scatter>,
    pub writes: Option<Scatter>,
}

/// How much the trials of cells scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scatter {
    pub runs: usize,
    /// The half width of an interval times the square root of its number of trials, of the median
    /// cell and of the 90th percentile. An interval narrows by that root.
    pub median: f64,
    pub high: f64,
}

fn is_write(job: &Job) -> bool {
    job.op == Op::Write
}

impl Noise {
    /// Measures the noise of these runs; a kind without a cell of 5 trials or more has none.
    pub fn from_sessions<'a>(sessions: impl Iterator<Item = &'a Session>) -> Noise {
        let of_runs: Vec<[Vec<f64>; 2]> = sessions
            .map(|session| {
                let mut by_kind = [Vec::new(), Vec::new()];
                for result in results(session) {
                    by_kind[usize::from(is_write(&result.cell))].extend(scatter_of(&result));
                }
                by_kind
            })
            .collect();
        let of = |kind: usize| Scatter::from_runs(of_runs.iter().map(|run| run[kind].as_slice()));
        Noise { reads: of(0), writes: of(1) }
    }

    /// Returns the scatter to expect of a plan: of writes if it has any, else of reads.
    pub fn of_plan(&self, plan: &Plan) -> Option<Scatter> {
        if plan.cells.iter().any(is_write) { self.writes } else { self.reads }
    }
}

/// Returns the scatter of a cell's trials; `None` if they are too few, or wrong.
fn scatter_of(result: &CellResult) -> Option<f64> {
    let summary = result.throughput.or(result.operations)?.summary;
    let at_full_speed = !result.cell.is_paced();
    let width = summary.half_width().filter(|_| at_full_speed && result.is_sound())?;
    Some(width * (result.trials.len() as f64).sqrt())
}

impl Scatter {
    fn from_runs<'a>(runs: impl Iterator<Item = &'a [f64]> + Clone) -> Option<Scatter> {
        let mut all: Vec<f64> = runs.clone().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let last = all.len().checked_sub(1)?;
            all.get(((last as f64 * share).round() as usize).min(last)).copied()
        };
        let runs = runs.filter(|run| !run.is_empty()).count();
        Some(Scatter { runs, median: at(0.5)?, high: at(0.9)? })
    }

    /// Returns `from 5 earlier runs`.
    fn describe_basis(&self) -> String {
        format!("from {}", counted(self.runs, "earlier run"))
    }

    /// Describes the interval of the median cell after `trials` trials: `±9 %`.
    fn describe_interval(&self, trials: u32) -> String {
        let width = self.median / f64::from(trials).sqrt();
        // A wider one says no more than that the figure is not known.
        let more = if width > 1.0 { "more than " } else { "" };
        format!("{more}\u{b1}{} %", show_percent(100.0 * width.min(1.0)))
    }
}

/// Describes what the budget buys, as in `50 s: about 6 trials per cell, ±17 % (from 1 earlier
/// run); for ±2 %: about 1 h`. `None` for a plan without cells of a file.
pub fn describe_forecast(plan: &Plan, noise: &Noise) -> Option<String> {
    if plan.cells.is_empty() || plan.pick || plan.latency_target.is_some() {
        return None;
    }
    if plan.until && plan.trials.is_none() {
        return Some(describe_until(plan, noise.of_plan(plan)));
    }
    let trials = expected_trials(plan).max(1);
    let count = show_trials(trials as usize);
    let mut text = match plan.trials {
        Some(_) => format!("{count} per cell"),
        None => format!("{}: about {count} per cell", show_wait(plan.budget)),
    };
    if trials < Plan::ROUNDS {
        return Some(if plan.trials.is_none() { text + ", too few to be sure" } else { text });
    }
    let Some(noise) = noise.of_plan(plan).filter(|noise| noise.median > 0.0) else {
        return Some(text);
    };
    text += &format!(", {} ({})", noise.describe_interval(trials), noise.describe_basis());
    let needed = (noise.median / plan.goal.max(1e-4)).powi(2).ceil().max(f64::from(Plan::ROUNDS));
    if needed > f64::from(trials) && plan.trials.is_none() && plan.settles().is_none() {
        let time = round_time(plan).mul_f64(needed.min(1e6));
        let goal = show_goal(plan.goal);
        text += &if time > LONG {
            format!("; \u{b1}{goal} is out of reach here")
        } else {
            format!("; for \u{b1}{goal}: about {}", show_about(time))
        };
    }
    Some(text)
}

/// Describes the cost of a run until every interval is narrow enough. Its budget is only a limit.
fn describe_until(plan: &Plan, noise: Option<Scatter>) -> String {
    let goal = show_goal(plan.goal);
    let what = format!("trials until every interval is within \u{b1}{goal}");
    let Some(noise) = noise.filter(|_| plan.variants.is_empty()) else {
        return format!("{what}; how long that takes is unknown");
    };
    let needed = (noise.high / plan.goal.max(1e-4)).powi(2).ceil();
    let needed = needed.clamp(f64::from(Plan::ROUNDS), 1e6);
    let time = round_time(plan).mul_f64(needed);
    let seen = noise.describe_basis();
    if time > plan.budget {
        format!("{what}; that takes longer than {} ({seen})", show_wait(plan.budget))
    } else {
        let (trials, time) = (show_trials(needed as usize), show_about(time));
        format!("{what}: for nine cells in ten {trials} or fewer, about {time} ({seen})")
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

    fn of_reads(median: f64, high: f64) -> Noise {
        let reads = Some(Scatter { runs: 3, median, high });
        Noise { reads, writes: None }
    }

    #[test]
    fn reads_are_not_forecast_from_commits() {
        let writes = Some(Scatter { runs: 2, median: 2.0, high: 30.0 });
        let noise = Noise { reads: None, writes };
        assert_eq!(describe_forecast(&plan(Some(9)), &noise).unwrap(), "9 trials per cell");
        let mut plan = plan(Some(9));
        plan.cells.iter_mut().for_each(|job| job.op = Op::Write);
        let text = describe_forecast(&plan, &noise).unwrap();
        assert_eq!(text, "9 trials per cell, \u{b1}67 % (from 2 earlier runs)");
        let writes = Some(Scatter { runs: 2, median: 9.0, high: 30.0 });
        let text = describe_forecast(&plan, &Noise { reads: None, writes }).unwrap();
        assert!(text.contains(", more than \u{b1}100 % ("), "{text}");
    }

    #[test]
    fn the_forecast_follows_the_noise() {
        let noise = |median| of_reads(median, 2.0 * median);
        let said = |plan: &Plan, noise| describe_forecast(plan, &noise).unwrap();
        let few = plan(Some(7));
        assert_eq!(said(&few, Noise::default()), "7 trials per cell");
        let text = said(&plan(Some(9)), noise(0.3));
        assert_eq!(text, "9 trials per cell, \u{b1}10 % (from 3 earlier runs)");
        let text = said(&plan(None), noise(0.3));
        assert!(
            text.starts_with("10 s: about ") && text.contains("; for \u{b1}2 %: about "),
            "{text}"
        );
        let settling = Plan { settle: Some(0.1), ..plan(None) };
        let text = said(&settling, noise(0.3));
        assert!(text.ends_with("% (from 3 earlier runs)"), "{text}");
        let short = Plan { budget: Duration::from_millis(500), ..settling };
        let text = said(&short, noise(0.3));
        assert_eq!(text, "0.5 s: about 1 trial per cell, too few to be sure");
        assert!(!said(&plan(None), noise(0.001)).contains("; for"));
        assert!(said(&plan(None), noise(50.0)).contains("out of reach"));
        let empty = Plan { cells: vec![], ..plan(None) };
        assert_eq!(describe_forecast(&empty, &Noise::default()), None);
    }

    #[test]
    fn goals_ignore_the_budget_limit() {
        let budget = Plan::UNTIL_BUDGET;
        let plan = Plan { until: true, goal: 0.2, budget, ..plan(None) };
        let unknown = describe_forecast(&plan, &Noise::default()).unwrap();
        assert_eq!(
            unknown,
            "trials until every interval is within \u{b1}20 %; how long that takes is unknown"
        );
        let noise = |high| of_reads(high / 2.0, high);
        let text = describe_forecast(&plan, &noise(0.6)).unwrap();
        assert!(text.contains("for nine cells in ten 9 trials or fewer, about "), "{text}");
        let hopeless = describe_forecast(&plan, &noise(900.0)).unwrap();
        assert!(hopeless.contains("takes longer than 60 min"), "{hopeless}");
    }

    #[test]
    fn noise_needs_cells_with_intervals() {
        assert_eq!(Noise::from_sessions(std::iter::empty()), Noise::default());
        let run = |rounds| {
            let mut session = testing::session(3);
            for (round, cell) in (1..=rounds).flat_map(|round| [0, 1, 2].map(|cell| (round, cell)))
            {
                let trial = testing::trial(cell, round, (1 << 20) + (u64::from(round % 3) << 12));
                session.trials.push(trial.into());
            }
            session
        };
        assert_eq!(Noise::from_sessions([run(4)].iter()), Noise::default(), "too few trials");
        let noise = Noise::from_sessions([run(9), run(4)].iter());
        assert_eq!(noise.writes, None);
        let noise = noise.reads.expect("nine trials suffice");
        assert!(noise.runs == 1 && noise.median <= noise.high, "{noise:?}");
    }
}
