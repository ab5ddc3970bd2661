//! The lines of a job file.

use std::io::{self, Write};

use crate::report::text;

/// One line of the file.
pub enum Line {
    Option(String),
    Comment(String),
}

impl Line {
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Line::Option(text) => writeln!(out, "{text}"),
            Line::Comment(text) => write_comment(out, text),
        }
    }
}

/// Writes a comment line.
pub fn write_comment(out: &mut dyn Write, line: &str) -> io::Result<()> {
    writeln!(out, "; {}", text::clean(line))
}
