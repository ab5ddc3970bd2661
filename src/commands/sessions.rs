//! `iotui sessions`: the runs that were kept.

use std::path::Path;

use super::{ExportTo, Sessions};
use anyhow::Context;

use crate::analysis;
use crate::output::{self, Out, When, failure, print_message, report_if_slow};
use crate::plan::Settings;
use crate::report::{self, Look};
use crate::runner;
use crate::session::{self, Listed, Session};
use crate::text::table::{Align, Cell, lay_out};
use crate::text::{cut_front, show_path};
use crate::units;

const READING: &str = "reading the sessions";

/// Columns of a target in the list: a longer path loses its front, not the name of the file.
const MAX_TARGET_COLUMNS: usize = 28;

pub fn run(what: &Sessions) -> anyhow::Result<u8> {
    let dir = session::folder()?;
    if let Some(text) = runner::describe_unrestored() {
        print_message(format!("iotui: {text}"));
    }
    match what {
        Sessions::List { out } => {
            let all = report_if_slow(READING, || session::list(&dir)).map_err(failure)?;
            out.text_or_json(|| table(&all, &dir), &all)?;
        }
        Sessions::Show { session, expect, details, anonymous, out } => {
            let look = Look { details: *details, ..out.look() };
            return show_one(&dir, session, expect.as_deref(), *anonymous, (out, look));
        }
        Sessions::Export { session, to } => {
            let ExportTo { format, output, expect, anonymous, ascii, shown } = to;
            let out = Out {
                format: format.clone(),
                output: output.clone(),
                ascii: *ascii,
                color: When::Never,
                shown: *shown,
            };
            let look = out.look();
            return show_one(&dir, session, expect.as_deref(), *anonymous, (&out, look));
        }
        Sessions::Compare { base, others, anonymous, out } => {
            compare(&dir, [base].into_iter().chain(others), *anonymous, out)?
        }
        Sessions::Rename { session, name } => {
            let path = session::find(&dir, session).map_err(failure)?;
            let got = session::rename(&dir, &path, name).map_err(failure)?;
            // Only where a number was added: the requested name may have one.
            let taken = if session::check_name(name).is_ok_and(|asked| asked != got) {
                "that name is in use: "
            } else {
                ""
            };
            let hides = if session::reference(&got).is_some() {
                "; it hides the built-in reference of that name"
            } else {
                ""
            };
            print_message(format!("{taken}now named {got}{hides}"));
        }
        Sessions::Delete { session } => {
            let path = session::find(&dir, session).map_err(failure)?;
            session::delete(&dir, &path).map_err(failure)?;
            print_message(format!("deleted {}", show_path(&path)));
        }
        Sessions::Import { file } => {
            let imported = session::import(&dir, file).map_err(failure)?;
            let name =
                if imported.renamed { format!(", named {}", imported.name) } else { String::new() };
            print_message(format!("imported as {}{name}", imported.id));
        }
    }
    Ok(0)
}

/// Shows a session; returns the exit code, which is not 0 if it is not as `expect` requests.
fn show_one(
    dir: &Path,
    text: &str,
    expect: Option<&str>,
    anonymous: bool,
    (out, look): (&Out, Look),
) -> anyhow::Result<u8> {
    let format = out.format()?;
    out.refuse_terminal(format)?;
    let mut settings = Settings::default();
    if let Some(expect) = expect {
        settings.set("expect", expect).context("--expect")?;
    }
    let (mut session, _) = report_if_slow(READING, || session::open(dir, text)).map_err(failure)?;
    runner::expect(&mut session.plan, &settings, &[]).context("--expect")?;
    let expected = expect.map_or_else(Vec::new, |_| analysis::expected(&session));
    let session = if anonymous { report::anonymize(&session) } else { session };
    out.write(|to| (format.write)(&session, &look, to))?;
    Ok(expected.iter().map(|one| one.outcome.exit_code()).max().unwrap_or(0))
}

const NOTHING_TO_COMPARE: &str =
    "one session has nothing to compare unless it was measured with --between: name another one";

fn compare<'a>(
    dir: &Path,
    texts: impl Iterator<Item = &'a String>,
    anonymous: bool,
    out: &Out,
) -> anyhow::Result<()> {
    let format = report::find_comparison_format(&out.format).context(output::FORMAT_OPTION)?;
    let open = |text: &String| report_if_slow(READING, || session::open(dir, text));
    let one = |text: &String| Ok(open(text).map_err(failure)?.0);
    let mut sessions: Vec<Session> = texts.map(one).collect::<anyhow::Result<_>>()?;
    let kept = runner::saved_runs(dir, &sessions.iter().collect::<Vec<_>>());
    if anonymous {
        sessions.iter_mut().for_each(|session| *session = report::anonymize(session));
    }
    let comparison = match &sessions[..] {
        [alone] => Some(analysis::compare_variants(alone).context(NOTHING_TO_COMPARE)?),
        sessions => analysis::compare_with(sessions, &kept),
    };
    let Some(comparison) = comparison else { return Ok(()) };
    out.write(|to| (format.write)(&comparison, &out.look(), to))
}

fn table(all: &[Listed], dir: &Path) -> String {
    if all.is_empty() {
        return format!("no sessions in {}\n", show_path(dir));
    }
    let head = ["id", "name", "target", "seconds", "cells", "verdict", "state"].map(String::from);
    let rows: Vec<[String; 7]> = std::iter::once(head).chain(all.iter().map(row)).collect();
    let cells: Vec<Vec<Cell>> =
        rows.iter().map(|row| row.iter().map(Cell::new).collect()).collect();
    const ALIGN: [Align; 5] = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right];
    lay_out(&cells, &ALIGN, 2).into_iter().map(|line| line + "\n").collect()
}

fn row(listed: &Listed) -> [String; 7] {
    let cells = match listed.measured {
        Some(measured) if measured < listed.cells => format!("{measured}/{}", listed.cells),
        _ => listed.cells.to_string(),
    };
    [
        listed.id.clone(),
        Some(listed.name_or_label()).filter(|name| !name.is_empty()).unwrap_or("-").into(),
        cut_front(&listed.target, MAX_TARGET_COLUMNS, ".."),
        listed.seconds.map_or("-".into(), units::three_digits),
        cells,
        listed.verdict.map_or("-", |v| v.name()).into(),
        match listed.lost_lines.unwrap_or(0) {
            0 => listed.state.name().into(),
            lost => {
                let lines = units::counted(lost as usize, "line");
                format!("{}, {lines} damaged", listed.state.name())
            }
        },
    ]
}
