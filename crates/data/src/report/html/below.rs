//! The part below the table: warnings with evidence and remedy, cells that failed or were not
//! measured, and how the run ended.

use std::io::{self, Write};

use super::page::Page;
use super::parts::{begin_section, write_list};
use crate::record::Severity;
use crate::report::table::below::{self, describe_cells, end_sentence, group_by_text};
use crate::report::table::findings::{Finding, sign};
use crate::report::table::page_faults;
use crate::report::text::xml;

pub fn warnings(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    if page.findings.0.is_empty() {
        return Ok(());
    }
    begin_section("warnings", "Warnings", out)?;
    writeln!(out, "<ol class=\"findings\">")?;
    for (index, Finding { warning, cells: affected, message }) in page.findings.0.iter().enumerate()
    {
        let name = warning.severity.name();
        let about = match warning.severity {
            Severity::Wrong => "wrong: the number is not what its label says",
            Severity::Misleading => "misleading: the number is right but easily misread",
            Severity::Note => "note: the number is valid",
        };
        let mark = match warning.severity {
            Severity::Note => "note".into(),
            severity => format!("{}{}", sign(severity, false).0, index + 1),
        };
        let message = xml(&end_sentence(message));
        writeln!(
            out,
            "<li class=\"{name}\"><h3><span class=\"mark\" title=\"{about}\">{mark}</span> {message}</h3>"
        )?;
        let cells = describe_cells(affected.iter().map(|row| &row.cell), page.rows.len());
        let (id, cells) = (xml(&warning.id), xml(&cells));
        writeln!(out, "<p class=\"quiet\"><code>{id}</code> {cells}</p>\n<dl>")?;
        let evidence = if affected.len() > 1 { "Evidence (first cell)" } else { "Evidence" };
        for (label, body) in [(evidence, &warning.evidence), ("Remedy", &warning.remedy.text)] {
            if !body.trim().is_empty() {
                writeln!(out, "<dt>{label}</dt><dd>{}</dd>", xml(&end_sentence(body)))?;
            }
        }
        writeln!(out, "</dl></li>")?;
    }
    writeln!(out, "</ol>\n</section>")
}

/// Returns the cells that failed or were not measured, grouped by reason.
pub fn gaps(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let failed = group_by_text(
        page.rows.iter().filter_map(|row| row.error.as_deref().map(|error| (error, &row.cell))),
    );
    let skipped =
        group_by_text(page.skipped.iter().map(|skipped| (skipped.reason.as_str(), &skipped.cell)));
    if failed.is_empty() && skipped.is_empty() {
        return Ok(());
    }
    begin_section("gaps", "Not measured", out)?;
    writeln!(out, "<ul class=\"findings\">")?;
    for (class, mark, all, list) in
        [("wrong", "× failed", page.rows.len(), failed), ("note", "skipped", usize::MAX, skipped)]
    {
        for (reason, jobs) in list {
            let which = xml(&describe_cells(jobs.into_iter(), all));
            writeln!(
                out,
                "<li class=\"{class}\"><h3><span class=\"mark\">{mark}</span> {which}</h3><p>{}</p></li>",
                xml(&end_sentence(reason))
            )?;
        }
    }
    writeln!(out, "</ul>\n</section>")
}

/// Returns how the run ended, its notes, and what the page is.
pub fn notes(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = below::Page { look: &page.look, lines: Vec::new() };
    below::add_cut(&mut lines, &page.rows);
    below::add_whole_file(&mut lines, page.session, &page.rows);
    page_faults::add_page_faults(&mut lines, &page.rows);
    below::add_xor_coverage(&mut lines, &page.rows);
    below::add_ending(&mut lines, page.session);
    write_list("notes", "Notes", &lines.lines, out)?;
    writeln!(
        out,
        "<footer>\n<p>Measured and written by iotui {}. This page is self-contained: it loads nothing and holds every trial as JSON \
         (<code>#iotui-data</code>, as <code>--format json</code> writes it).</p>\n</footer>",
        env!("CARGO_PKG_VERSION")
    )
}
