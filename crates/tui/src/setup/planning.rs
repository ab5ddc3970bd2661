//! The plan of the choices on Setup, and the requests for it.

use std::time::Duration;

use crate::experiment::{DiskSpeed, Proposed, expected_trials, predict_missed, round_time};
use crate::msg::{Outlook, Refusal};
use crate::plan::Plan;
use crate::record::Warning;
use iotui_core::doctor::OTHER_RUN;

/// Time after which the screen shows that it is planning.
const LATE_AFTER: Duration = Duration::from_millis(250);

/// The plan of the choices, and the requests for it.
#[derive(Debug, Default)]
pub struct Planning {
    /// Number of the newest request.
    pub number: u64,
    pub answered: u64,
    pub pending: Vec<u64>,
    pub since: Duration,
    pub proposed: Option<Result<Box<Proposed>, Refusal>>,
    pub findings: Option<Vec<Warning>>,
    pub outlook: Outlook,
    pub unavailable: Vec<(&'static str, String)>,
    /// A budget that the plan needs, where its own is too short.
    pub better_budget: Option<Duration>,
    /// Starts the run when the plan arrives: `r` was pressed before.
    pub run_when_ready: bool,
}

impl Planning {
    /// Largest number of plan requests in flight; the newest is sent when one is answered.
    pub const MAX_PENDING: usize = 2;

    /// Returns whether the newest request has been answered.
    pub fn is_settled(&self) -> bool {
        self.answered == self.number && self.proposed.is_some()
    }

    /// Returns whether the answer has been pending for a visible time.
    pub fn is_late(&self, now: Duration) -> bool {
        !self.is_settled() && now.saturating_sub(self.since) >= LATE_AFTER
    }

    /// Returns the last plan, which may be of choices that have changed since.
    pub fn last_proposal(&self) -> Option<&Proposed> {
        self.proposed.as_ref()?.as_ref().ok().map(|proposed| &**proposed)
    }

    /// Returns the finding about another iotui that measures on the same disk.
    pub fn other_run(&self) -> Option<&str> {
        let found = self.findings.iter().flatten().find(|finding| finding.id == OTHER_RUN);
        found.map(|finding| finding.message.as_str())
    }

    /// Takes in what measures on the same disk by now.
    pub fn set_other_run(&mut self, found: Option<String>) {
        let Some(findings) = &mut self.findings else { return };
        match (found, findings.iter_mut().find(|finding| finding.id == OTHER_RUN)) {
            (Some(message), Some(finding)) => finding.message = message,
            _ => findings.retain(|finding| finding.id != OTHER_RUN),
        }
    }

    /// Takes an answer; returns whether it answers the newest request.
    pub fn accept_answer(
        &mut self,
        number: u64,
        result: Result<Box<Proposed>, Refusal>,
        findings: Vec<Warning>,
        outlook: Outlook,
    ) -> bool {
        self.pending.retain(|sent| *sent != number);
        if number != self.number {
            return false;
        }
        self.better_budget = None;
        if let Ok(proposed) = &result {
            self.unavailable.clone_from(&proposed.unavailable);
            self.better_budget = find_better(&proposed.plan, &outlook.disk);
        }
        self.answered = number;
        self.proposed = Some(result);
        self.findings = Some(findings);
        self.outlook = outlook;
        true
    }
}

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
    use crate::testing;

    fn better(plan: &Plan) -> Option<Duration> {
        find_better(plan, &DiskSpeed::default())
    }

    #[test]
    fn short_budgets_have_a_better_one() {
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
