//! A job file for fio that repeats the plan: one section per cell, one after the other.
//!
//! What fio cannot say is a comment at its section, and so is the line of `dd` that does the same,
//! where there is one. Running it changes no file of the user's: a file that was read must exist,
//! and what is written goes to a new name.

mod dd;
#[cfg(test)]
mod round_trip;
mod section;
mod target;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use self::target::Target;
use super::{Format, Look, text};
use crate::analysis;
use crate::analysis::CellResult;
use crate::session::Session;
use crate::units;

pub const FORMAT: Format = Format {
    id: "fio",
    about: "a fio job file that repeats the plan",
    extension: "fio",
    binary: false,
    write,
};

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let plan = &session.plan;
    let target = Target::of(&plan.target);
    comment(
        out,
        "An iotui plan as fio jobs, one after the other: fio --readonly FILE, or without --readonly if jobs write.",
    )?;
    comment(
        out,
        "Each job runs once; iotui ran its cells several times, in random order, and verified where the bytes came from.",
    )?;
    writeln!(out, "[global]")?;
    for line in target.lines() {
        line.write(out)?;
    }
    for option in ["thread=1", "group_reporting=1", "fallocate=none", "refill_buffers=1"] {
        writeln!(out, "{option}")?;
    }
    writeln!(out, "randseed={}", plan.seed)?;
    let results = analysis::results(session);
    for (index, cell) in plan.cells.iter().enumerate() {
        writeln!(out)?;
        // A cell is in the plan once; one that was never reached has no result.
        let result = results.iter().find(|result| result.cell == *cell);
        if let Some(line) = result.map(measured) {
            comment(out, &line)?;
        }
        for line in section::lines(index + 1, cell, &target, plan.trial_time.low) {
            line.write(out)?;
        }
    }
    for probe in &plan.probes {
        writeln!(out)?;
        comment(out, &format!("probe {}: fio has no such job", probe.label()))?;
    }
    for skipped in &plan.skipped {
        writeln!(out)?;
        comment(out, &format!("skipped: {}: {}", skipped.cell.label(), skipped.reason))?;
    }
    Ok(())
}

/// One line of the file.
enum Line {
    Option(String),
    Comment(String),
}

impl Line {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Line::Option(text) => writeln!(out, "{text}"),
            Line::Comment(text) => comment(out, text),
        }
    }
}

fn comment(out: &mut dyn Write, line: &str) -> io::Result<()> {
    writeln!(out, "; {}", text::clean(line))
}

/// What iotui found for the cell.
fn measured(result: &CellResult) -> String {
    let rate = match (&result.error, result.throughput, result.operations) {
        (Some(error), ..) => format!("failed: {error}"),
        (_, Some(of), _) => units::show_rate(of.summary.median),
        (_, None, Some(of)) => format!("{} operations/s", units::show_count(of.summary.median)),
        _ => "nothing".into(),
    };
    let wrong = result
        .wrong()
        .map_or(String::new(), |warning| format!(", which is wrong: {}", warning.message));
    format!("iotui measured: {rate}{wrong}")
}
