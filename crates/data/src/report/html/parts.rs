//! The parts that the sections of a page share: headings, lists and tables.

use std::io::{self, Write};

use crate::report::table::grid::Column;
use crate::report::text::{squeeze, xml};

/// Begins a section with its heading.
pub fn begin_section(id: &str, title: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>")
}

/// Writes a section with these lines; nothing without lines.
pub fn write_list(id: &str, title: &str, lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    if lines.iter().all(String::is_empty) {
        return Ok(());
    }
    begin_section(id, title, out)?;
    writeln!(out, "<ul class=\"notes\">")?;
    for line in lines.iter().filter(|line| !line.is_empty()) {
        writeln!(out, "<li>{}</li>", xml(line))?;
    }
    writeln!(out, "</ul>\n</section>")
}

/// Begins a section with a table of these columns: its heading and the titles.
pub fn begin_table(
    id: &str,
    title: &str,
    columns: &[Column],
    out: &mut dyn Write,
) -> io::Result<()> {
    begin_section(id, title, out)?;
    writeln!(
        out,
        "<div class=\"scroll\" role=\"region\" aria-labelledby=\"{id}\" tabindex=\"0\">\n<table>\n<thead>\n<tr>"
    )?;
    for column in columns {
        // The last one has no title in the text table.
        let title = if column.title.is_empty() { "verdict" } else { &column.title };
        let unit = squeeze(&column.unit);
        let unit =
            if unit.is_empty() { String::new() } else { format!(" <small>{}</small>", xml(&unit)) };
        let (class, title) = (class(column), xml(title));
        writeln!(out, "<th scope=\"col\"{class}><span>{title}</span>{unit}</th>")?;
    }
    writeln!(out, "</tr>\n</thead>\n<tbody>")
}

/// Returns the attribute of the cells of a column.
pub fn class(column: &Column) -> &'static str {
    if column.right { " class=\"n\"" } else { "" }
}
