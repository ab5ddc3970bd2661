//! The table as Markdown, ready to paste: the answer, conditions, table, warnings, gaps.
//!
//! All characters that GitHub's Markdown would interpret are escaped, whatever their origin.

use std::io::{self, Write};

use super::content::content;
use super::notes::ReportNote;
use super::table::grid::Table;
use super::table::grid::{Column, row_count};
use super::text::{safe, squeeze};
use super::{Format, Look, sparks};
use crate::analysis::{self, capitalize, end_sentence};
use crate::session::Session;

pub const FORMAT: Format = Format {
    id: "markdown",
    about: "the answer, the table and its warnings, ready to paste",
    extension: "md",
    binary: false,
    write,
};

fn write(session: &Session, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Vec::new();
    write_parts(session, look, &mut page)?;
    // A blank line stands between parts.
    out.write_all(page.trim_ascii_end())?;
    writeln!(out)
}

fn write_parts(session: &Session, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let (results, probes) = (analysis::results(session), analysis::probes(session));
    // Renderers wrap the lines of Markdown.
    let look = Look { width: usize::MAX / 2, color: false, ..*look };
    let content = content(session, &results, &probes, &look);
    let glance = analysis::glance(session, &results, &probes, &content.answer);
    let head = content.head(&glance);
    if !head.is_empty() {
        writeln!(out, "**Answer**: {}\n", escape(&safe(&head, &look)))?;
    }
    write_notes(&content.outcomes.iter().collect::<Vec<_>>(), &look, out)?;
    for (what, paragraphs) in &content.presets {
        writeln!(out, "## {}\n", escape(what))?;
        paragraphs.iter().try_for_each(|text| writeln!(out, "{}\n", escape(text)))?;
    }
    for (label, body) in &content.facts {
        writeln!(out, "- **{label}**: {}", escape(&safe(body, &look)))?;
    }
    writeln!(out)?;
    for Table { title, columns, text, .. } in &content.tables {
        if !text.is_empty() {
            writeln!(out, "**{title}**\n")?;
        }
        write_table(columns, out)?;
        writeln!(out)?;
        if !text.is_empty() {
            writeln!(out, "{}\n", escape(&capitalize(&end_sentence(text))))?;
        }
    }
    let chart = sparks::build_lines(session, &results);
    if !chart.is_empty() {
        // Text between fences is not interpreted.
        let lines = chart.iter().map(|line| safe(line, &look).replace("```", "'''"));
        writeln!(out, "```text\n{}\n```\n", lines.collect::<Vec<_>>().join("\n"))?;
    }
    let notes = content.notes.iter().flat_map(|(_, notes)| notes);
    write_notes(&notes.collect::<Vec<_>>(), &look, out)?;
    match content.whole_answer(&glance) {
        Some(whole) => writeln!(out, "**In full**: {}", escape(&safe(whole, &look))),
        None => Ok(()),
    }
}

/// Writes the notes as a list.
fn write_notes(notes: &[&ReportNote], look: &Look, out: &mut dyn Write) -> io::Result<()> {
    for note in notes {
        writeln!(out, "- {}", escape(&safe(&format!("{}{}", note.mark, note.body), look)))?;
        if !note.more.is_empty() {
            writeln!(out, "  {}", escape(safe(&note.more, look).trim()))?;
        }
    }
    if notes.is_empty() { Ok(()) } else { writeln!(out) }
}

/// Writes a table of these columns, with titles and units in its head.
pub fn write_table(columns: &[Column], out: &mut dyn Write) -> io::Result<()> {
    fn title(column: &Column) -> String {
        escape(format!("{} {}", column.title, squeeze(&column.unit)).trim())
    }
    writeln!(out, "{}", format_row(columns.iter().map(title).collect()))?;
    let rules = columns.iter().map(|c| if c.right { "---:" } else { "---" }.into());
    writeln!(out, "{}", format_row(rules.collect()))?;
    for row in 0..row_count(columns) {
        let text = |column: &Column| -> String {
            column.cells.get(row).into_iter().flatten().map(|(_, piece)| piece.as_str()).collect()
        };
        let cell = |column: &Column| escape(&squeeze(&text(column)));
        writeln!(out, "{}", format_row(columns.iter().map(cell).collect()))?;
    }
    Ok(())
}

/// Joins escaped cells into a line of a table.
pub fn format_row(cells: Vec<String>) -> String {
    format!("| {} |", cells.join(" | "))
}

/// Escapes `text` for Markdown, at the start of a line too.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let mut before = ' ';
    let mut chars = text.chars().enumerate().peekable();
    while let Some((at, c)) = chars.next() {
        let inside = before.is_alphanumeric()
            && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        let list = at == 0 && matches!(c, '#' | '+' | '-' | '=') && text.len() > 1
            || at > 0 && at == digits && matches!(c, '.' | ')');
        let list = list && chars.peek().is_none_or(|(_, next)| *next == ' ' || *next == c);
        if list
            || matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '&' | '~' | '$')
            || c == '_' && !inside
        {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing;

    fn show(session: &Session) -> String {
        let mut out = Vec::new();
        write(session, &Look::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Bars of a table that are not text.
    fn bars(line: &str) -> usize {
        line.replace("\\\\", "").replace("\\|", "").matches('|').count()
    }

    #[test]
    fn table_lines_have_equal_columns() {
        for (name, session) in testing::all() {
            let text = show(&session);
            let lines: Vec<&str> = text.lines().collect();
            let tables: Vec<&[&str]> =
                lines.chunk_by(|a, b| a.starts_with("| ") == b.starts_with("| ")).collect();
            let tables: Vec<&&[&str]> =
                tables.iter().filter(|lines| lines[0].starts_with("| ")).collect();
            assert!(
                tables.iter().all(|lines| lines.iter().all(|line| bars(line) == bars(lines[0]))),
                "{name}\n{text}"
            );
            let (results, probes) = (analysis::results(&session), analysis::probes(&session).len());
            let written = results.iter().filter(|result| result.written.is_some()).count();
            let committed = results.iter().filter(|result| result.commits.is_some()).count();
            let verified = results.iter().filter(|result| result.verified.is_some()).count();
            let rows = [results.len(), probes, committed, written, verified]
                .into_iter()
                .filter(|rows| *rows > 0);
            let found: Vec<usize> = tables.iter().map(|lines| lines.len() - 2).collect();
            assert_eq!(found, rows.collect::<Vec<_>>(), "{name}\n{text}");
            assert!(text.starts_with("**Answer**: "), "{name}");
        }
    }

    #[test]
    fn measure_has_a_table_of_counts() {
        let text = show(&testing::measured_session());
        assert!(
            text.contains(
                "| block | count | size | time ms |\n| ---: | ---: | ---: | ---: |\n| 512 B |"
            ),
            "{text}"
        );
        assert!(text.contains("| 1 MiB | 512 | 512 MiB | 20.00 |"), "{text}");
        assert!(!show(&testing::quick()).contains("| count |"));
    }

    #[test]
    fn a_preset_becomes_a_section() {
        let text = show(&testing::bounded(testing::measured_session()));
        let places = [
            "**Answer**",
            "## measure: How many blocks",
            "Doubles the number of blocks",
            "- **target**",
            "| read |",
            "Each row is one trial",
            "```text",
        ];
        let at: Vec<usize> = places
            .iter()
            .map(|part| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}")))
            .collect();
        assert!(at.is_sorted(), "{text}");
        assert!(!show(&testing::quick()).contains("##"), "the default needs no word");
    }

    #[test]
    fn plain_bars_have_plain_heights() {
        let session = testing::bounded(testing::quick());
        let plain = Look { graph: crate::report::Graph::Ascii, ..Look::default() };
        for look in [plain, Look { ascii: true, ..Look::default() }] {
            let mut out = Vec::new();
            write(&session, &look, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(!text.contains(crate::report::BARS) && !text.contains("\\u{258"), "{text}");
            assert!(text.contains("  _") && text.contains('#'), "{text}");
        }
        assert!(show(&session).contains(crate::report::BARS));
    }

    #[test]
    fn hostile_text_is_text() {
        assert_eq!(
            escape("a|b <i>&amp; `c` *d* _e_ f_g [h](i)"),
            "a\\|b \\<i\\>\\&amp; \\`c\\` \\*d\\* \\_e\\_ f_g \\[h\\](i)"
        );
        assert_eq!(
            [escape("# a"), escape("1. a"), escape("- a"), escape("-"), escape("1.5")],
            ["\\# a", "1\\. a", "\\- a", "-", "1.5"]
        );
    }
}
