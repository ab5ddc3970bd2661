//! A job file for fio that repeats the plan: one section per cell, one after the other.
//!
//! Comments at a section name the settings that fio lacks and the equivalent `dd` command, if any.
//! Running the job changes no file of the user: a file that was read must exist, and writes go to a
//! new file.

mod dd;
mod line;
#[cfg(test)]
mod round_trip;
mod section;
mod target;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use self::line::comment;
use self::target::FioTarget;
use super::{Format, Look};
use crate::analysis::{self, CellResult};
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
    build_lines(session).iter().try_for_each(|line| writeln!(out, "{line}"))
}

fn build_lines(session: &Session) -> Vec<String> {
    let plan = &session.plan;
    let targets: Vec<FioTarget> = plan.targets().map(FioTarget::from_spec).collect();
    let mut lines = vec![
        comment(
            "An iotui plan as fio jobs, one after the other: fio --readonly FILE, or without --readonly if jobs write.",
        ),
        comment(
            "Each job runs once; iotui ran its cells several times, in random order, and verified where the bytes came from.",
        ),
        "[global]".into(),
    ];
    let shared = targets.first().filter(|_| targets.len() == 1);
    lines.extend(shared.into_iter().flat_map(FioTarget::to_lines));
    let options = ["thread=1", "group_reporting=1", "fallocate=none", "refill_buffers=1"];
    lines.extend(options.map(String::from));
    lines.extend(describe_content(plan));
    lines.push(format!("randseed={}", plan.seed));
    lines.extend(plan.variants.iter().map(|variant| match variant.is_set_by_command() {
        true => comment(&format!("variant {}, run this before its jobs", variant.describe())),
        false => comment(&format!("variant {}", variant.describe())),
    }));
    let results = analysis::results(session);
    for (index, cell) in plan.cells.iter().enumerate() {
        lines.push(String::new());
        lines.extend(cell.variant.iter().map(|variant| comment(&format!("with {variant}"))));
        // A cell is in the plan once; one that was never reached has no result.
        let result = results.iter().find(|result| result.cell == *cell);
        lines.extend(result.map(|result| comment(&describe_result(result))));
        let Some(target) = targets.get(cell.target_index()) else { continue };
        lines.extend(section::build_lines(index + 1, cell, target, plan.trial_time.low));
        if shared.is_none() {
            lines.extend(target.to_lines());
        }
    }
    let probes = plan.probes.iter();
    let probes = probes.map(|probe| format!("probe {}: fio has no such job", probe.label()));
    let skipped = plan.skipped.iter();
    let skipped = skipped.map(|of| format!("skipped: {}: {}", of.cell.label(), of.reason));
    lines.extend(probes.chain(skipped).flat_map(|text| [String::new(), comment(&text)]));
    lines
}

/// Describes how far the written data compresses and repeats, and how fio imitates it.
fn describe_content(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.verify {
        let what = "iotui read back what it wrote, and compared it; fio's verify= marks its own";
        lines.push(comment(what));
    }
    let above_none = |percent: &u8| *percent > 0;
    if let Some(percent) = plan.compressible.filter(above_none) {
        lines.push(format!("buffer_compress_percentage={}", percent.min(100)));
        // By default these are 512 bytes.
        lines.push("buffer_compress_chunk=4k".into());
    }
    let repeated = plan.dedupe.filter(above_none);
    lines.extend(repeated.map(|percent| format!("dedupe_percentage={}", percent.min(100))));
    lines
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
