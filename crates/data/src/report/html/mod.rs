//! A page: one file for a browser, with charts with read-outs, a sortable table, and the data
//! themselves embedded.
//!
//! It loads nothing and could load nothing: its content security policy forbids every request and
//! allows only the script identified by its hash, so that no file name can become a script. Without
//! scripts it shows the same. It is well-formed as XML too.

mod below;
mod chart;
mod charts;
mod data;
mod page;
mod parts;
mod probes;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod top;

use std::io::{self, Write};

use self::page::Page;
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
const STYLE_HASH: &str = "sha256-ZLs3jvWsS8MajBeokr4n5E7HPrDMGa9r3AQE1tXYx9E=";
const SCRIPT_HASH: &str = "sha256-eGT+NLpzDvObdXRMW2NlePbF8srH5+DGsRkrbDCqE+A=";

type Section = fn(&Page, &mut dyn Write) -> io::Result<()>;

/// From the top down; a section with nothing to show writes nothing.
const SECTIONS: [Section; 11] = [
    top::write,
    top::presets,
    charts::write,
    table::write,
    probes::extras,
    probes::write,
    probes::write_reasons,
    below::warnings,
    below::gaps,
    top::conditions,
    below::notes,
];

fn write(session: &Session, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let results = analysis::results(session);
    let page = Page::new(session, &results, look);
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
        text::xml(page.name()),
    )?;
    for section in SECTIONS {
        section(&page, out)?;
    }
    writeln!(out, "</main>")?;
    data::write(&page, out)?;
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
