//! The table of probes with remarks on them, and the explanations of the results of jobs.

use std::io::{self, Write};

use super::page::Page;
use super::parts::{begin_table, class, write_list};
use crate::analysis::{self, capitalize};
use crate::report::table::below;
use crate::report::table::below::Page as Lines;
use crate::report::table::grid::{Cell, Column, Style};
use crate::report::table::{extras as tables, probes};
use crate::report::text::{squeeze, xml};

pub fn write(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    if !page.probes.is_empty() {
        let columns = probes::columns(&page.probes, &page.look);
        write_section("probes", "Probes", &columns, page.probes.len(), "", out)?;
    }
    let mut lines = Lines { look: &page.look, lines: Vec::new() };
    probes::add_notes(&mut lines, &page.probes, &analysis::skipped_probes(page.session));
    write_list("about-probes", "About the probes", &lines.lines, out)?;
    let mut lines = Lines { look: &page.look, lines: Vec::new() };
    probes::add_estimates(&mut lines, &page.probes, true);
    write_list("estimates", "Estimates and their reasons", &lines.lines, out)
}

/// Writes the small tables that only some sessions have.
pub fn extras(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let mut extras = tables(page.session, &page.rows, &page.look).into_iter();
    extras.try_for_each(|extra| {
        let text = capitalize(&below::end_sentence(&extra.text));
        write_section(extra.id, extra.title, &extra.columns, extra.rows, &text, out)
    })
}

/// Returns a table with a heading, and the text below it, if any.
fn write_section(
    id: &str,
    title: &str,
    columns: &[Column],
    rows: usize,
    text: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    begin_table(id, title, columns, out)?;
    for row in 0..rows {
        writeln!(out, "<tr>")?;
        for column in columns {
            let cell = column.cells.get(row).map(cell_html).unwrap_or_default();
            writeln!(out, "<td{}>{cell}</td>", class(column))?;
        }
        writeln!(out, "</tr>")?;
    }
    let text = match text {
        "" => String::new(),
        text => format!("\n<p class=\"quiet\">{}</p>", xml(text)),
    };
    writeln!(out, "</tbody>\n</table>\n</div>{text}\n</section>")
}

fn cell_html(cell: &Cell) -> String {
    let piece = |(style, piece): &(Style, String)| {
        let piece = xml(&squeeze(piece));
        match style {
            _ if piece.is_empty() => piece.to_string(),
            Style::Plain => piece.to_string(),
            Style::Bold => format!("<b>{piece}</b>"),
            Style::Dim => format!("<span class=\"dim\">{piece}</span>"),
            Style::Red => format!("<span class=\"wrong\">{piece}</span>"),
            Style::Yellow => format!("<span class=\"misleading\">{piece}</span>"),
        }
    };
    cell.iter().map(piece).collect()
}

/// Writes the cost of an operation on each curve, and the limits of the cells.
pub fn write_reasons(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Lines { look: &page.look, lines: Vec::new() };
    below::add_why(&mut lines, page.session, &page.rows);
    write_list("why", "Why", &lines.lines, out)
}
