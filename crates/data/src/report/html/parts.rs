//! The parts of the page that Markdown and the text table have too: tables and notes.

use std::io::{self, Write};

use super::page::HtmlPage;
use crate::analysis::{CellResult, capitalize, end_sentence};
use crate::record::Source;
use crate::report::notes::{ReportNote, Topic};
use crate::report::table::grid::Table;
use crate::report::table::grid::{Cell, Column, Style, row_count};
use crate::report::table::origin::SOURCES;
use crate::report::text::{squeeze, xml};

/// Begins a section with its heading.
pub fn begin_section(id: &str, title: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>")
}

/// Writes every table, that of the results first.
pub fn tables(page: &HtmlPage, out: &mut dyn Write) -> io::Result<()> {
    for table in &page.content.tables {
        let is_results = table.id == Table::RESULTS;
        write_table(table, if is_results { &page.rows } else { &[] }, out)?;
        if is_results {
            let sources =
                SOURCES.map(|(name, _)| format!("<span class=\"key {name}\"></span> {name}"));
            writeln!(
                out,
                "<p class=\"quiet\">Throughput is the median with the half width of its 95 % \
                 interval. Bytes came from: {}.</p>",
                sources.join(" ")
            )?;
        }
        writeln!(out, "</section>")?;
    }
    Ok(())
}

/// Writes a table with a heading, and the text below it, if any. The marks of `rows` lead to their
/// warnings, and their source is drawn.
fn write_table(table: &Table, rows: &[&CellResult], out: &mut dyn Write) -> io::Result<()> {
    // Ids have no spaces.
    let id = table.id.replace(' ', "-");
    begin_section(&id, table.title, out)?;
    writeln!(
        out,
        "<div class=\"scroll\" role=\"region\" aria-labelledby=\"{id}\" tabindex=\"0\">\n\
         <table>\n<thead>\n<tr>"
    )?;
    for column in &table.columns {
        // The last one has no title in the text table.
        let title = if column.title.is_empty() { "verdict" } else { &column.title };
        let unit = squeeze(&column.unit);
        let unit =
            if unit.is_empty() { String::new() } else { format!(" <small>{}</small>", xml(&unit)) };
        let (class, title) = (class(column), xml(title));
        writeln!(out, "<th scope=\"col\"{class}><span>{title}</span>{unit}</th>")?;
    }
    writeln!(out, "</tr>\n</thead>\n<tbody>")?;
    for at in 0..row_count(&table.columns) {
        let apart = table.breaks.get(at) == Some(&true);
        writeln!(out, "<tr{}>", if apart { " class=\"apart\"" } else { "" })?;
        for column in &table.columns {
            write_cell(column, at, rows.get(at).copied(), out)?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>")?;
    if !table.text.is_empty() {
        let text = capitalize(&end_sentence(&table.text));
        writeln!(out, "<p class=\"quiet\">{}</p>", xml(&text))?;
    }
    Ok(())
}

/// Returns the attribute of the cells of a column.
fn class(column: &Column) -> &'static str {
    if column.right { " class=\"n\"" } else { "" }
}

fn write_cell(
    column: &Column,
    at: usize,
    row: Option<&CellResult>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let key = column.values.get(at).copied().flatten().filter(|key| key.is_finite());
    let key = key.map(|key| format!(" data-key=\"{key:e}\"")).unwrap_or_default();
    let cell = column.cells.get(at).map(|cell| cell_html(cell, row)).unwrap_or_default();
    write!(out, "<td{}{key}>{cell}", class(column))?;
    if column.title == "from"
        && let Some(source) = row.and_then(|row| row.source.as_ref())
    {
        write_bar(source, out)?;
    }
    writeln!(out, "</td>")
}

fn cell_html(cell: &Cell, row: Option<&CellResult>) -> String {
    let mut html = String::new();
    for (style, piece) in cell {
        let piece = xml(&squeeze(piece));
        if piece.is_empty() {
            continue;
        }
        html += &match (class_of(*style), row) {
            ("dim", _) if !html.is_empty() => format!(" <span class=\"dim\">{piece}</span>"),
            ("dim", _) => format!("<span class=\"dim\">{piece}</span>"),
            ("", _) if *style == Style::Bold => format!("<b>{piece}</b>"),
            ("", _) => piece,
            (class, None) => format!("<span class=\"{class}\">{piece}</span>"),
            (class, Some(row)) => {
                let section = if row.error.is_some() { "gaps" } else { "warnings" };
                format!("<a class=\"{class}\" href=\"#{section}\">{piece}</a>")
            }
        };
    }
    html
}

/// Returns the class of text in a style; empty if it has none.
fn class_of(style: Style) -> &'static str {
    match style {
        Style::Plain | Style::Bold => "",
        Style::Dim => "dim",
        Style::Red => "wrong",
        Style::Yellow => "misleading",
    }
}

fn write_bar(source: &Source, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "<svg class=\"bar\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
    )?;
    let mut x = 0.0;
    for (name, share) in SOURCES {
        let wide = 100.0 * share(source).clamp(0.0, 1.0);
        if wide > 0.0 {
            write!(out, "<rect class=\"{name}\" x=\"{x:.1}\" width=\"{wide:.1}\" height=\"1\"/>")?;
            x += wide;
        }
    }
    write!(out, "</svg>")
}

/// Writes the notes on probes, estimates, expectations and limits.
pub fn reasons(page: &HtmlPage, out: &mut dyn Write) -> io::Result<()> {
    write_notes(page, Topic::Probes, "about-probes", "About the probes", out)?;
    write_notes(page, Topic::Estimates, "estimates", "Estimates and their reasons", out)?;
    write_notes(page, Topic::Expectations, "expectations", "Expectations", out)?;
    write_notes(page, Topic::Why, "why", "Why", out)
}

/// Writes the warnings, and the cells that failed or were not measured.
pub fn findings(page: &HtmlPage, out: &mut dyn Write) -> io::Result<()> {
    write_notes(page, Topic::Warnings, "warnings", "Warnings", out)?;
    write_notes(page, Topic::Gaps, "gaps", "Not measured", out)
}

/// Writes the notes on the run and the footer.
pub fn ending(page: &HtmlPage, out: &mut dyn Write) -> io::Result<()> {
    write_notes(page, Topic::Run, "notes", "Notes", out)?;
    writeln!(
        out,
        "<footer>\n<p>Measured and written by iotui {}. This page is self-contained: it loads \
         nothing and holds every trial as JSON (<code>#iotui-data</code>, as <code>--format \
         json</code> writes it).</p>\n</footer>",
        env!("CARGO_PKG_VERSION")
    )
}

/// Writes a section with the notes on a topic; nothing without notes.
fn write_notes(
    page: &HtmlPage,
    topic: Topic,
    id: &str,
    title: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut notes: Vec<&ReportNote> = Vec::new();
    for (_, own) in page.content.notes.iter().filter(|(own, _)| *own == topic) {
        notes.extend(own);
    }
    if topic == Topic::Expectations {
        notes.extend(&page.content.outcomes);
    }
    if notes.is_empty() {
        return Ok(());
    }
    begin_section(id, title, out)?;
    let is_finding = matches!(topic, Topic::Warnings | Topic::Gaps);
    writeln!(out, "<ul class=\"{}\">", if is_finding { "findings" } else { "notes" })?;
    for ReportNote { mark, style, body, more } in notes {
        let class = match style {
            Style::Plain | Style::Bold | Style::Dim => "note",
            Style::Red | Style::Yellow => class_of(*style),
        };
        let about = match *style {
            _ if topic != Topic::Warnings => "",
            Style::Red => " title=\"wrong: the number is not what its label says\"",
            Style::Yellow => " title=\"misleading: the number is right but easily misread\"",
            _ => " title=\"note: the number is valid\"",
        };
        write!(out, "<li class=\"{class}\"><p>")?;
        if !mark.is_empty() {
            write!(out, "<b class=\"mark\"{about}>{}</b> ", xml(mark.trim_end()))?;
        }
        write!(out, "{}</p>", xml(body))?;
        if !more.is_empty() {
            write!(out, "<p class=\"quiet\">{}</p>", xml(more))?;
        }
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ul>\n</section>")
}
