//! The description of a report format.

use std::io::{self, Write};

use super::Look;
use crate::session::Session;

/// A report format: its id for `--format`, and its writer.
pub struct Format {
    pub id: &'static str,
    /// One line for lists and help.
    pub about: &'static str,
    /// Without the dot.
    pub extension: &'static str,
    /// Whether the output is not text and must not reach a terminal.
    pub binary: bool,
    pub write: fn(&Session, &Look, &mut dyn Write) -> io::Result<()>,
}
