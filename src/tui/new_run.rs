//! A run that is to begin.

use std::sync::Arc;

use crate::engine::Earlier;
use crate::plan::Plan;

/// A plan to run, and what its session begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    pub plan: Arc<Plan>,
    /// The name of its session, and the trials of the session that it continues.
    pub name: Option<String>,
    pub earlier: Arc<Earlier>,
    /// Another iotui that measured on the same disk when this was planned.
    pub other_run: Option<String>,
}

impl From<Arc<Plan>> for NewRun {
    fn from(plan: Arc<Plan>) -> NewRun {
        NewRun { plan, name: None, earlier: Arc::default(), other_run: None }
    }
}

impl From<Plan> for NewRun {
    fn from(plan: Plan) -> NewRun {
        Arc::new(plan).into()
    }
}

/// A run that another one is in the way of.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldRun {
    pub run: NewRun,
    /// What is in its way.
    pub why: String,
    /// The number of the plan if it is that of Setup, which then plans again: files may have
    /// changed.
    pub setup: Option<u64>,
}
