//! The table for people: conditions above, a line per cell, then warnings, gaps and the answer.

pub mod axes;
pub(super) mod below;
pub mod columns;
mod commits;
pub(super) mod conditions;
mod counts;
pub(super) mod extra;
pub(super) mod extras;
pub(super) mod findings;
pub mod grid;
mod levels;
pub mod origin;
pub(super) mod page_faults;
pub(super) mod probes;
mod ranks;
pub mod runs;
#[cfg(test)]
mod tests;
mod tried;
mod verified;
mod writes;

use std::io::{self, Write};

pub use self::extra::Extra;
pub use self::extras::extras;

use self::below::Page;
use self::findings::Findings;
use self::grid::Style;
use super::{Format, Look, text};
use crate::analysis;
use crate::analysis::{CellResult, ProbeResult};
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
    let answer = analysis::answer_with(session, &results, &probes).text;
    for line in page(session, &results, &probes, &answer, look) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns the lines of the whole report.
fn page(
    session: &Session,
    results: &[CellResult],
    probes: &[ProbeResult],
    answer: &str,
    look: &Look,
) -> Vec<String> {
    let (rows, breaks) = axes::sort_rows(results);
    let findings = Findings::from_rows(&rows);
    let mut page = Page { look, lines: Vec::new() };
    let mut columns = columns::columns(&rows, &findings, look, false);
    let tight = !grid::fits(&columns, look.width);
    if tight {
        columns = columns::columns(&rows, &findings, look, true);
    }
    let above = conditions::conditions(session, &rows, tight);
    let wide = above.iter().map(|(label, _)| label.len()).max().unwrap_or(0) + 2;
    for (label, body) in above {
        page.paragraph(&text::pad_right(label, wide), Style::Dim, &body);
    }
    page.gap();
    if !rows.is_empty() {
        let columns = grid::fit(columns, look.width);
        page.lines.extend(grid::format_lines(&columns, &breaks, look.width, look.color));
    }
    if !probes.is_empty() {
        page.gap();
        page.lines.extend(probes::format_lines(probes, look));
    }
    for extra in extras(session, &rows, look) {
        page.gap();
        page.lines.extend(grid::format_rows(&grid::fit(extra.columns, look.width), look));
        page.gap();
        page.paragraph(&format!("{}: ", extra.id), Style::Dim, &below::end_sentence(&extra.text));
    }
    add_notes(&mut page, session, &rows, probes, &findings, false);
    page.gap();
    page.plain(answer);
    below::add_outcomes(&mut page, &analysis::expected_with(session, results));
    while page.lines.last().is_some_and(String::is_empty) {
        page.lines.pop();
    }
    page.lines
}

/// Adds everything between the tables and the answer; `all`: also the reasons of estimates.
pub(super) fn add_notes(
    page: &mut Page,
    session: &Session,
    rows: &[&CellResult],
    probes: &[ProbeResult],
    findings: &Findings,
    all: bool,
) {
    below::add_warnings(page, findings, rows.len());
    below::add_missing(page, rows, &analysis::list_skipped(session));
    probes::add_notes(page, probes, &analysis::skipped_probes(session));
    probes::add_estimates(page, probes, all);
    below::add_whole_file(page, session, rows);
    page_faults::add_page_faults(page, rows);
    below::add_xor_coverage(page, rows);
    below::add_xor_padding(page, rows);
    below::add_ending(page, session);
    below::add_expected(page, session, rows);
    below::add_why(page, session, rows);
}
