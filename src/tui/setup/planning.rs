//! The plan of the choices on Setup, and the requests for it.

use std::time::Duration;

use super::budget;
use crate::engine::Proposed;
use crate::record::Warning;
use crate::runner::OTHER_RUN;
use crate::tui::question::{Outlook, Refusal};

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

    /// Returns what is known of another iotui that measures on the same disk now.
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
            self.better_budget = budget::find_better(&proposed.plan, &outlook.disk);
        }
        self.answered = number;
        self.proposed = Some(result);
        self.findings = Some(findings);
        self.outlook = outlook;
        true
    }
}
