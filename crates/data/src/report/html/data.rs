//! The data of the page, as in the `json` format, so that they can be extracted again.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::page::Page;
use crate::analysis;

pub fn write(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<script type=\"application/json\" id=\"iotui-data\">")?;
    analysis::document(page.session)
        .serialize(&mut Serializer::with_formatter(&mut *out, Inert))?;
    writeln!(out, "</script>")
}

/// JSON that no HTML parser can misread: texts contain only letters, digits and characters that
/// cannot begin a tag.
struct Inert;

impl Formatter for Inert {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| {
            !c.is_ascii() && !c.is_alphanumeric() || matches!(c, '<' | '>' | '&' | '\u{7f}')
        }) {
            out.write_all(&fragment.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        out.write_all(&fragment.as_bytes()[plain..])
    }
}
