//! A job file for fio that repeats the plan: one section per cell, one after the other.
//!
//! What fio cannot express is a comment at its section, and so is the equivalent `dd` command,
//! if there is one. Running it changes no file of the user: a file that was read must exist,
//! and what is written goes to a new name.

mod dd;
mod line;
#[cfg(test)]
mod round_trip;
mod section;
mod target;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use self::line::write_comment;
use self::target::Target;
use super::{Format, Look};
use crate::analysis;
use crate::analysis::CellResult;
use crate::plan::Plan;
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
    let targets: Vec<Target> = plan.targets().map(Target::from_spec).collect();
    write_comment(
        out,
        "An iotui plan as fio jobs, one after the other: fio --readonly FILE, or without --readonly if jobs write.",
    )?;
    write_comment(
        out,
        "Each job runs once; iotui ran its cells several times, in random order, and verified where the bytes came from.",
    )?;
    writeln!(out, "[global]")?;
    let shared = targets.first().filter(|_| targets.len() == 1);
    for line in shared.into_iter().flat_map(Target::to_lines) {
        line.write(out)?;
    }
    for option in ["thread=1", "group_reporting=1", "fallocate=none", "refill_buffers=1"] {
        writeln!(out, "{option}")?;
    }
    write_content(plan, out)?;
    writeln!(out, "randseed={}", plan.seed)?;
    let results = analysis::results(session);
    for variant in &plan.variants {
        let name = &variant.name;
        let line = format!("variant {name}: run this before its jobs: {}", variant.command);
        write_comment(out, &line)?;
    }
    for (index, cell) in plan.cells.iter().enumerate() {
        writeln!(out)?;
        if let Some(variant) = &cell.variant {
            write_comment(out, &format!("with {variant}"))?;
        }
        // A cell is in the plan once; one that was never reached has no result.
        let result = results.iter().find(|result| result.cell == *cell);
        if let Some(line) = result.map(describe_result) {
            write_comment(out, &line)?;
        }
        let Some(target) = targets.get(cell.target_index()) else { continue };
        let mut lines = section::build_lines(index + 1, cell, target, plan.trial_time.low);
        if shared.is_none() {
            lines.extend(target.to_lines());
        }
        for line in lines {
            line.write(out)?;
        }
    }
    for probe in &plan.probes {
        writeln!(out)?;
        write_comment(out, &format!("probe {}: fio has no such job", probe.label()))?;
    }
    for skipped in &plan.skipped {
        writeln!(out)?;
        write_comment(out, &format!("skipped: {}: {}", skipped.cell.label(), skipped.reason))?;
    }
    Ok(())
}

/// Writes how far the written data compresses and repeats, and what became of it.
fn write_content(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    if plan.verify {
        let what = "iotui read back what it wrote, and compared it; fio's verify= marks its own";
        write_comment(out, what)?;
    }
    let above_none = |percent: &u8| *percent > 0;
    if let Some(percent) = plan.compressible.filter(above_none) {
        writeln!(out, "buffer_compress_percentage={}", percent.min(100))?;
        // By default these are 512 bytes.
        writeln!(out, "buffer_compress_chunk=4k")?;
    }
    match plan.dedupe.filter(above_none) {
        Some(percent) => writeln!(out, "dedupe_percentage={}", percent.min(100)),
        None => Ok(()),
    }
}

/// Describes iotui's result for the cell.
fn describe_result(result: &CellResult) -> String {
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
