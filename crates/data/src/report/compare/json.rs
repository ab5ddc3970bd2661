//! The whole comparison as one JSON document, for programs.

use std::io::{self, Write};

use super::ComparisonFormat;
use crate::analysis::Comparison;
use crate::report::Look;
use crate::report::pretty::pretty;

pub const FORMAT: ComparisonFormat = ComparisonFormat {
    id: "json",
    about: "one document for programs; its schema is in assets/",
    extension: "json",
    write,
};

fn write(comparison: &Comparison, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    pretty(comparison, out)?;
    writeln!(out)
}
