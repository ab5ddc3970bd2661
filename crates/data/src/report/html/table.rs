//! The table: the columns of the text table, each with its sort key, and the source of the bytes as
//! a drawing.

use std::io::{self, Write};

use super::page::Page;
use super::parts::{begin_table, class};
use crate::analysis::CellResult;
use crate::record::Source;
use crate::report::table::columns;
use crate::report::table::grid::{Column, Style};
use crate::report::text::{squeeze, xml};

pub fn write(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    if page.rows.is_empty() {
        return Ok(());
    }
    let columns = columns::columns(&page.rows, &page.findings, &page.look, false);
    begin_table("results", "Results", &columns, out)?;
    for (at, (row, apart)) in page.rows.iter().zip(&page.breaks).enumerate() {
        writeln!(out, "<tr{}>", if *apart { " class=\"apart\"" } else { "" })?;
        for column in &columns {
            write_cell(column, at, row, out)?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>")?;
    let sources = SOURCES.map(|(name, _)| format!("<span class=\"key {name}\"></span> {name}"));
    let sources = sources.join(" ");
    writeln!(
        out,
        "<p class=\"quiet\">Throughput is the median with the half width of its 95 % interval. Bytes came from: {sources}.</p>\n</section>"
    )
}

fn write_cell(column: &Column, at: usize, row: &CellResult, out: &mut dyn Write) -> io::Result<()> {
    let pieces = column.cells.get(at).map(Vec::as_slice).unwrap_or_default();
    let key = column.values.get(at).copied().flatten().filter(|key| key.is_finite());
    let key = key.map(|key| format!(" data-key=\"{key:e}\"")).unwrap_or_default();
    write!(out, "<td{}{key}>", class(column))?;
    for (style, piece) in pieces {
        let piece = xml(&squeeze(piece));
        match style {
            _ if piece.is_empty() => {}
            Style::Plain => write!(out, "{piece}")?,
            Style::Bold => write!(out, "<b>{piece}</b>")?,
            Style::Dim => write!(out, " <span class=\"dim\">{piece}</span>")?,
            Style::Red if row.error.is_some() => {
                write!(out, "<a class=\"wrong\" href=\"#gaps\">{piece}</a>")?
            }
            Style::Red => write!(out, "<a class=\"wrong\" href=\"#warnings\">{piece}</a>")?,
            Style::Yellow => write!(out, "<a class=\"misleading\" href=\"#warnings\">{piece}</a>")?,
        }
    }
    if column.title == "from"
        && let Some(source) = &row.source
    {
        write_bar(source, out)?;
    }
    writeln!(out, "</td>")
}

type Share = fn(&Source) -> f64;
const SOURCES: [(&str, Share); 5] = [
    ("device", |s| s.device),
    ("cache", |s| s.page_cache),
    ("below", |s| s.below),
    ("hole", |s| s.hole),
    ("unknown", |s| s.unknown),
];

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
