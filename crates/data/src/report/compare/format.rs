//! The description of a comparison format.

use std::io::{self, Write};

use crate::analysis::Comparison;
use crate::report::Look;

/// A comparison format: its id for `--format`, and its writer.
pub struct ComparisonFormat {
    pub id: &'static str,
    /// One line for lists and help.
    pub about: &'static str,
    /// Without the dot.
    pub extension: &'static str,
    pub write: fn(&Comparison, &Look, &mut dyn Write) -> io::Result<()>,
}
