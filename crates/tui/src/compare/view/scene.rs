//! The data that every part of the screen is drawn from.

use crate::compare::data::LoadedComparison;
use crate::compare::state::Compare;
use crate::theme::Look;

/// The input of every part of the screen.
#[derive(Clone, Copy)]
pub struct CompareScene<'a> {
    pub look: &'a Look,
    pub compare: &'a Compare,
    pub got: &'a LoadedComparison,
}
