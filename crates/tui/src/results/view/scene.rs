//! The data that every part of the screen is drawn from.

use crate::results::data::Data;
use crate::results::state::Results;
use crate::theme::Look;

/// The input of every part of the screen.
#[derive(Clone, Copy)]
pub struct ResultsScene<'a> {
    pub look: &'a Look,
    pub results: &'a Results,
    pub data: &'a Data,
}
