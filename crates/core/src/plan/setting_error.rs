//! Why the text of a setting is refused.

use super::kinds::PatternError;
use super::{ChoiceError, RangeError, Unknown};
use crate::units::UnitError;

/// Why the text of a setting is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    #[error(transparent)]
    Unit(#[from] UnitError),
    #[error(transparent)]
    Range(#[from] RangeError),
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("{0}")]
    Value(String),
}
