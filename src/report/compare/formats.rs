//! What a comparison can be written as.

use std::io::{self, Write};

use super::{Look, table};
use crate::session::Comparison;

/// One format of a comparison: how it is asked for, and how it is written.
pub struct ComparisonFormat {
    pub id: &'static str,
    /// One line for lists and help.
    pub about: &'static str,
    /// Without the dot.
    pub extension: &'static str,
    pub write: fn(&Comparison, &Look, &mut dyn Write) -> io::Result<()>,
}

/// Every format, in the order in which lists show them; the first is the default.
pub static COMPARISONS: &[ComparisonFormat] = &[
    ComparisonFormat {
        id: "table",
        about: "what differs, a line per cell, the sum in one line",
        extension: "txt",
        write: |comparison, look, out| out.write_all(table(comparison, look).as_bytes()),
    },
    ComparisonFormat {
        id: "json",
        about: "everything, as one JSON value (iotui-compare/1)",
        extension: "json",
        write: |comparison, _, out| {
            serde_json::to_writer_pretty(&mut *out, comparison)?;
            writeln!(out)
        },
    },
];
