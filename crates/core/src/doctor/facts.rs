//! The facts that checks use.

use crate::facts::{Host, TargetFacts};
use crate::plan::{Info, Plan};

/// The facts that a check may use.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub host: &'a Host,
    pub target: Option<&'a TargetFacts>,
    pub plan: Option<Planned<'a>>,
}

/// A plan with the descriptions of the backends that it may use.
#[derive(Debug, Clone, Copy)]
pub struct Planned<'a> {
    pub plan: &'a Plan,
    pub infos: &'a [&'static Info],
}
