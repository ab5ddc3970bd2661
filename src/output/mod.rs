//! The destination of data (stdout or a file), and what it can display.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, ValueEnum};

mod message;

pub use message::{print_message, report_if_slow};

use crate::report::pretty::pretty;
use crate::report::{COMPARISONS, FORMATS, Format, Graph, Look, Spread, format_of_file};
use crate::sys::output::{self, probe, to_file};
use crate::text::{Replacement, safe_lines, show_path};
use crate::units::Rates;

/// The heading of these options in the help text.
const HEADING: &str = "Output";

/// The formats of lists.
pub const LIST_FORMATS: [&str; 2] = ["table", "json"];

/// The option that names a format, for errors.
pub const FORMAT_OPTION: &str = "--format";

/// The format and destination of data.
#[derive(Debug, Clone, clap::Args)]
pub struct Out {
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = formats(), help_heading = HEADING)]
    pub format: String,

    /// Write to FILE, atomically
    #[arg(short, long, value_name = "FILE", help_heading = HEADING)]
    pub output: Option<PathBuf>,

    /// Use only ASCII characters
    #[arg(long, help_heading = HEADING)]
    pub ascii: bool,

    /// When to use colors
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = HEADING)]
    pub color: When,

    #[command(flatten)]
    pub shown: DisplayArgs,
}

/// Units and scales of figures.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct DisplayArgs {
    /// Unit of throughput: auto, MiB/s, GiB/s .., MB/s, GB/s ..; on screen, in tables, HTML and
    /// pictures; machine-readable formats use B/s
    #[arg(long, value_name = "UNIT", default_value = "auto", help_heading = HEADING)]
    pub unit: Rates,

    /// Scale of the values on screen, in HTML and pictures
    #[arg(long, value_name = "SCALE", default_value = "auto", help_heading = HEADING)]
    pub scale: Spread,

    /// Characters for charts on screen and bars in tables
    #[arg(long, value_name = "WITH", default_value = "braille", help_heading = HEADING)]
    pub graph: Graph,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// Offers the ids of a registry to help and completion. An unknown id is rejected later, with the
/// nearest one as a suggestion.
#[derive(Debug, Clone, Copy)]
pub struct Ids(fn() -> Vec<&'static str>);

/// Returns the ids of [`FORMATS`].
pub fn formats() -> Ids {
    Ids(|| FORMATS.iter().map(|format| format.id).collect())
}

/// Returns the ids of [`COMPARISONS`].
pub fn comparisons() -> Ids {
    Ids(|| COMPARISONS.iter().map(|format| format.id).collect())
}

impl TypedValueParser for Ids {
    type Value = String;

    fn parse_ref(
        &self,
        _: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        Ok(value.to_string_lossy().into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// An error other than wrong usage: the program exits with this code.
#[derive(Debug, thiserror::Error)]
#[error("{1}")]
pub struct Failure(pub u8, pub String);

/// Returns an error that exits with code 1 and this message.
pub fn failure(error: impl std::fmt::Display) -> anyhow::Error {
    Failure(1, error.to_string()).into()
}

impl Out {
    /// Returns the capabilities of the destination.
    pub fn look(&self) -> Look {
        let terminal = self.output.is_none() && io::stdout().is_terminal();
        fn set(name: &str) -> bool {
            std::env::var_os(name).is_some_and(|v| !v.is_empty())
        }
        let dumb = std::env::var("TERM").is_ok_and(|t| t == "dumb");
        Look {
            width: if terminal {
                terminal_columns()
            } else {
                parse_columns(std::env::var("COLUMNS").ok().as_deref())
            },
            color: match self.color {
                When::Always => true,
                When::Never => false,
                When::Auto => terminal && !set("NO_COLOR") && !dumb,
            },
            ascii: self.ascii || is_ascii_only(&|name| std::env::var(name).ok()),
            unit: self.shown.unit,
            scale: self.shown.scale,
            graph: self.shown.graph,
            details: false,
        }
    }

    /// Returns the requested format.
    pub fn format(&self) -> anyhow::Result<&'static Format> {
        let format = crate::report::find_format(&self.format).context(FORMAT_OPTION)?;
        Ok(self.output.as_ref().map_or(format, |path| format_of_file(format, path)))
    }

    /// Rejects a binary format that would be written to a terminal.
    pub fn refuse_terminal(&self, format: &Format) -> anyhow::Result<()> {
        if format.binary && self.output.is_none() && io::stdout().is_terminal() {
            anyhow::bail!(
                "{0} is binary: write it to a file with -o run.{1}, or pipe it",
                format.id,
                format.extension
            );
        }
        Ok(())
    }

    /// Writes data to `-o` atomically, else to stdout. A closed pipe is not an error.
    pub fn write(&self, data: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
        match &self.output {
            Some(path) => {
                let mut bytes = Vec::new();
                data(&mut bytes).map_err(failure)?;
                let write = || to_file(path, |to| to.write_all(&bytes));
                report_if_slow(&format!("writing {}", show_path(path)), write).map_err(failure)
            }
            None => {
                let mut stdout = io::BufWriter::new(stdout()?);
                ignore_broken_pipe(data(&mut stdout).and_then(|()| stdout.flush()))
            }
        }
    }

    /// Checks before a run that the output can be written.
    pub fn check(&self) -> anyhow::Result<()> {
        match &self.output {
            Some(path) => {
                let doing = format!("checking whether {} can be written", show_path(path));
                report_if_slow(&doing, || probe(path)).context("--output")
            }
            None => stdout().map(drop),
        }
    }

    /// Writes escaped text, or JSON with `--format json`; other
    /// formats are for results only.
    pub fn text_or_json(
        &self,
        text: impl FnOnce() -> String,
        json: &impl serde::Serialize,
    ) -> anyhow::Result<()> {
        match self.format.as_str() {
            "table" => {
                let text = safe_lines(&text(), Replacement::Escape);
                self.write(|to| to.write_all(text.as_bytes()))
            }
            "json" => self.write(|to| {
                pretty(json, to)?;
                writeln!(to)
            }),
            other => {
                Err(crate::plan::nearest("format", other, LIST_FORMATS)).context(FORMAT_OPTION)
            }
        }
    }
}

/// Opens stdout without std, which does not report that it is closed.
pub fn stdout() -> anyhow::Result<File> {
    output::open_stdout().map_err(|error| stdout_error(&error))
}

/// Turns a broken pipe into success: the reader closed it early.
pub fn ignore_broken_pipe(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(stdout_error(&error)),
        _ => Ok(()),
    }
}

fn stdout_error(error: &io::Error) -> anyhow::Error {
    failure(format!("cannot write to stdout: {error}"))
}

/// Narrower reports are hard to read.
const MIN_COLUMNS: usize = 40;

/// Returns the width of the terminal; a reported width of 0, as on a serial line, counts as 80.
fn terminal_columns() -> usize {
    let reported = crossterm::terminal::window_size()
        .ok()
        .map(|size| usize::from(size.columns))
        .filter(|columns| *columns > 0);
    reported.map_or(80, |columns| columns.max(MIN_COLUMNS))
}

/// Parses the width in COLUMNS; 80 if it is missing or not a number.
fn parse_columns(variable: Option<&str>) -> usize {
    let reported =
        variable.and_then(|text| text.trim().parse::<u16>().ok()).filter(|columns| *columns > 0);
    reported.map_or(80, |columns| usize::from(columns).max(MIN_COLUMNS))
}

/// Returns whether the locale is not UTF-8 or the terminal is the Linux console; a locale without
/// an encoding counts as UTF-8.
pub fn is_ascii_only(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let reported = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| set(name));
    let names_another =
        |l: &str| l.contains('.') && !l.to_lowercase().replace('-', "").contains("utf8");
    set("TERM").as_deref() == Some("linux")
        || reported.is_some_and(|l| matches!(l.as_str(), "C" | "POSIX") || names_another(&l))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_columns_mean_80() {
        let widths = [
            None,
            Some(""),
            Some("wide"),
            Some("0"),
            Some("-3"),
            Some("99999"),
            Some(" 132 "),
            Some("20"),
        ]
        .map(parse_columns);
        assert_eq!(widths, [80, 80, 80, 80, 80, 80, 132, 40]);
    }
}
