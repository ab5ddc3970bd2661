//! A page: one file for a browser, with charts with read-outs, a sortable table, and the data
//! themselves embedded.
//!
//! It loads nothing and could load nothing: its content security policy forbids every request and
//! allows only the script identified by its hash, so that no file name can become a script. Without
//! scripts it shows the same. It is well-formed as XML too.

mod chart;
mod charts;
mod page;
mod parts;
#[cfg(test)]
mod tests;
mod timeline;
mod top;

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use self::page::HtmlPage;
use super::{Format, Look, text};
use crate::analysis;
use crate::session::Session;

pub const FORMAT: Format = Format {
    id: "html",
    about: "one self-contained page with interactive charts and a sortable table",
    extension: "html",
    binary: false,
    write,
};

pub(super) const STYLE: &str = include_str!("../../../../../assets/html/page.css");
pub(super) const SCRIPT: &str = include_str!("../../../../../assets/html/page.js");

/// SHA-256 of the text between the tags of the style and of the script, as used in the policy; a
/// test recomputes them.
const STYLE_HASH: &str = "sha256-DsP/VNHGF4UD3YDrNPJmnGmwdziozYP0n3iap144oOI=";
const SCRIPT_HASH: &str = "sha256-J/qT7XkZGf1S82rYxOUlTlP+UACWgd95JMKMGFSfbr8=";

type WriteSection = fn(&HtmlPage, &mut dyn Write) -> io::Result<()>;

/// From the top down; a section with nothing to show writes nothing.
const SECTIONS: [WriteSection; 8] = [
    top::write,
    top::presets,
    charts::write,
    parts::tables,
    parts::reasons,
    parts::findings,
    top::conditions,
    parts::ending,
];

fn write(session: &Session, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let results = analysis::results(session);
    let page = HtmlPage::new(session, &results, look);
    let (style, script) = (style(), script());
    writeln!(
        out,
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{STYLE_HASH}'; \
         script-src '{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"generator\" content=\"iotui {}\"/>\n\
         <title>{} · iotui</title>\n<style>{style}</style>\n</head>\n<body>\n<main>",
        env!("CARGO_PKG_VERSION"),
        text::xml(&page.title()),
    )?;
    for section in SECTIONS {
        section(&page, out)?;
    }
    writeln!(out, "</main>")?;
    write_data(session, out)?;
    writeln!(out, "<script>{script}</script>\n</body>\n</html>")
}

/// Returns the text between the tags, from which the hash is computed.
fn style() -> String {
    format!("\n{STYLE}")
}

/// Returns the script as CDATA, because it has characters that XML reads as tags.
fn script() -> String {
    format!("//<![CDATA[\n{SCRIPT}//]]>")
}

/// Writes the data of the page, as in the `json` format, so that they can be extracted again.
fn write_data(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<script type=\"application/json\" id=\"iotui-data\">")?;
    analysis::document(session).serialize(&mut Serializer::with_formatter(&mut *out, Inert))?;
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
