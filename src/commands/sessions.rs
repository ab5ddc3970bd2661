//! `iotui sessions`: the runs that were kept.

use std::path::Path;

use super::{CompareTo, ExportTo, Sessions};
use anyhow::Context;

use crate::analysis;
use crate::report::{self, Out, When, failed, say};
use crate::runner;
use crate::session::{self, Listed, Session, SessionError};
use crate::text::show_path;
use crate::units;

pub fn run(what: &Sessions) -> anyhow::Result<u8> {
    let dir = session::folder()?;
    match what {
        Sessions::List { out } => {
            let all = session::list(&dir).map_err(failed)?;
            out.text_or_json(|| table(&all, &dir), &all)?;
        }
        Sessions::Show { session, anonymous, out } => show_one(&dir, session, *anonymous, out)?,
        Sessions::Export { session, to } => {
            let ExportTo { format, output, anonymous, ascii, shown } = to;
            let out = Out {
                format: format.clone(),
                output: output.clone(),
                ascii: *ascii,
                color: When::Never,
                shown: *shown,
            };
            show_one(&dir, session, *anonymous, &out)?;
        }
        Sessions::Compare { base, others, anonymous, to } => {
            compare(&dir, [base].into_iter().chain(others), *anonymous, to)?
        }
        Sessions::Rename { session, name } => {
            let path = session::find(&dir, session).map_err(unknown)?;
            let got = session::rename(&dir, &path, name).map_err(failed)?;
            // Only where a number was added: the requested name may have one.
            let taken = if session::checked_name(name).is_ok_and(|asked| asked != got) {
                "that name is in use: "
            } else {
                ""
            };
            say(format!("{taken}now named {got}"));
        }
        Sessions::Delete { session } => {
            let path = session::find(&dir, session).map_err(unknown)?;
            session::delete(&dir, &path).map_err(failed)?;
            say(format!("deleted {}", show_path(&path)));
        }
        Sessions::Import { file } => {
            let imported = session::import(&dir, file).map_err(failed)?;
            let name =
                if imported.renamed { format!(", named {}", imported.name) } else { String::new() };
            say(format!("imported as {}{name}", imported.id));
        }
    }
    Ok(0)
}

fn show_one(dir: &Path, text: &str, anonymous: bool, out: &Out) -> anyhow::Result<()> {
    let format = out.format()?;
    out.refuse_terminal(format)?;
    let (session, _) = session::open(dir, text).map_err(failed)?;
    let session = if anonymous { report::anonymous(&session) } else { session };
    out.write(|to| (format.write)(&session, &out.look(), to))
}

fn compare<'a>(
    dir: &Path,
    texts: impl Iterator<Item = &'a String>,
    anonymous: bool,
    to: &CompareTo,
) -> anyhow::Result<()> {
    let CompareTo { format, output, ascii, color, shown } = to;
    let out = Out {
        format: format.clone(),
        output: output.clone(),
        ascii: *ascii,
        color: *color,
        shown: *shown,
    };
    let format = report::comparison_format(format).context(report::FORMAT_OPTION)?;
    let one = |text: &String| Ok(session::open(dir, text).map_err(failed)?.0);
    let mut sessions: Vec<Session> = texts.map(one).collect::<anyhow::Result<_>>()?;
    let kept = runner::kept(dir, &sessions.iter().collect::<Vec<_>>());
    if anonymous {
        sessions.iter_mut().for_each(|session| *session = report::anonymous(session));
    }
    let Some(comparison) = analysis::compare_with(&sessions, &kept) else { return Ok(()) };
    out.write(|to| (format.write)(&comparison, &out.look(), to))
}

/// Reports a session that cannot be found or opened; the exit code is 1.
fn unknown(error: SessionError) -> anyhow::Error {
    failed(error)
}

fn table(all: &[Listed], dir: &Path) -> String {
    if all.is_empty() {
        return format!("no sessions in {}\n", show_path(dir));
    }
    let head = ["id", "name", "target", "seconds", "cells", "verdict", "state"].map(String::from);
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(all.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(i, (cell, width))| padded(cell, *width, matches!(i, 3 | 4)))
            .collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}

fn padded(cell: &str, width: usize, right: bool) -> String {
    if right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
}

fn row(listed: &Listed) -> [String; 7] {
    let cells = match listed.measured {
        Some(measured) if measured < listed.cells => format!("{measured}/{}", listed.cells),
        _ => listed.cells.to_string(),
    };
    [
        listed.id.clone(),
        if listed.name.is_empty() { "-".into() } else { listed.name.clone() },
        short_path(&listed.target),
        listed.seconds.map_or("-".into(), units::three_digits),
        cells,
        listed.verdict.map_or("-", |v| v.name()).into(),
        match listed.lost_lines {
            Some(lost) if lost > 0 => format!("{}, {lost} lines damaged", listed.state.name()),
            _ => listed.state.name().into(),
        },
    ]
}

/// A long path loses its front, not the file's name.
fn short_path(path: &str) -> String {
    const MAX_WIDTH: usize = 28;
    let count = path.chars().count();
    if count <= MAX_WIDTH {
        path.into()
    } else {
        format!("..{}", path.chars().skip(count - MAX_WIDTH + 2).collect::<String>())
    }
}
