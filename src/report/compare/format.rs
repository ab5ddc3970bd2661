//! What a format of a comparison is.

use std::io::{self, Write};

use crate::analysis::Comparison;
use crate::report::Look;

/// One format of a comparison: how it is asked for, and how it is written.
pub struct ComparisonFormat {
    pub id: &'static str,
    /// One line for lists and help.
    pub about: &'static str,
    /// Without the dot.
    pub extension: &'static str,
    pub write: fn(&Comparison, &Look, &mut dyn Write) -> io::Result<()>,
}
