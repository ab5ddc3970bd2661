//! What a format of a report is.

use std::io::{self, Write};

use super::Look;
use crate::session::Session;

/// One format: how it is asked for, and how it is written.
pub struct Format {
    pub id: &'static str,
    /// One line for lists and help.
    pub about: &'static str,
    /// Without the dot.
    pub extension: &'static str,
    /// No text: nothing for a terminal.
    pub binary: bool,
    pub write: fn(&Session, &Look, &mut dyn Write) -> io::Result<()>,
}
