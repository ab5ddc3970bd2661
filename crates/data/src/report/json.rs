//! The whole session as one JSON document, for programs and archives.

use std::io::{self, Write};

use super::pretty::pretty;
use super::{Format, Look};
use crate::analysis;
use crate::session::Session;

pub const FORMAT: Format = Format {
    id: "json",
    about: "one document with every trial, described by assets/schema/iotui-1.schema.json",
    extension: "json",
    binary: false,
    write,
};

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    pretty(&analysis::document(session), out)?;
    writeln!(out)
}

#[cfg(test)]
mod tests;
