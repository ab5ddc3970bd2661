//! The table for people: the answer and the conditions above, a line per cell, then warnings and
//! gaps.

pub mod axes;
pub(super) mod column_parts;
pub mod columns;
pub(super) mod conditions;
mod extras;
pub(super) mod findings;
pub mod grid;
pub mod origin;
pub(super) mod probes;
pub mod runs;
#[cfg(test)]
mod tests;
mod tried;
mod writes;

use std::io::{self, Write};

pub use self::extras::extras;
pub use self::grid::Table;

use self::grid::Style;
use super::brief;
use super::content::{ReportContent, content};
use super::notes::{TextLines, Topic};
use super::text;
use super::{Format, Look};
use crate::analysis;
use crate::session::Session;

pub const FORMAT: Format = Format {
    id: "table",
    about: "aligned columns for people, with warnings and the answer",
    extension: "txt",
    binary: false,
    write,
};

fn write(session: &Session, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let (results, probes) = (analysis::results(session), analysis::probes(session));
    let content = content(session, &results, &probes, look);
    let lines = match look.details {
        true => format_lines(content, look),
        false => brief::format_lines(session, &results, &probes, content, look),
    };
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Returns the lines of the whole report, the answer first.
fn format_lines(content: ReportContent, look: &Look) -> Vec<String> {
    let mut page = TextLines { look, lines: Vec::new() };
    page.plain(&content.answer.text);
    page.gap();
    page.add_notes(&content.outcomes);
    page.gap();
    let wide = content.facts.iter().map(|(label, _)| label.len()).max().unwrap_or(0) + 2;
    for (label, body) in &content.facts {
        page.paragraph(&text::pad_right(label, wide), Style::Dim, body);
    }
    for table in content.tables {
        page.gap();
        page.add_table(table);
    }
    for (topic, notes) in &content.notes {
        page.gap();
        if *topic == Topic::Estimates {
            let body = "the Lab screen and the markdown, html and json formats show their reasons.";
            page.paragraph("estimates: ", Style::Dim, body);
        } else {
            page.add_notes(notes);
        }
    }
    while page.lines.last().is_some_and(String::is_empty) {
        page.lines.pop();
    }
    page.lines
}
