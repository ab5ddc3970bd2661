//! `--dry-run`: the plan in words.

use std::fmt::{Display, Write};

use crate::analysis::group_by_key;
use crate::engine::Unfillable;
use crate::experiment::{DiskSpeed, estimate, predict_missed};
use crate::plan::{Plan, TargetSpec};
use crate::record::Warning;
use crate::text::{clean_text, show_path};
use crate::units::{show_bytes, show_goal, show_trials, show_wait};

/// Predictions about a plan before its run.
pub(super) struct Outlook {
    /// The layers below each target; empty where unknown.
    pub places: Vec<String>,
    /// The expected results.
    pub expected: String,
    /// Trials and intervals that the budget pays for, if known.
    pub forecast: Option<String>,
    pub disk: DiskSpeed,
    pub unfillable: Option<Unfillable>,
    /// Findings that would disturb or falsify it.
    pub found: Vec<Warning>,
}

/// Adds a line with a label.
fn put(text: &mut String, label: &str, value: impl Display) {
    let _ = writeln!(text, "{label:<7} {value}");
}

/// Formats the plan and the predictions about it.
pub(super) fn text(plan: &Plan, known: &Outlook) -> String {
    let mut text = String::new();
    push_work(plan, &known.places, &mut text);
    if let Some(why) = &known.unfillable {
        put(&mut text, "fills", why.text());
    }
    // The time to reach a goal is unknown.
    let about = if plan.has_goal() { "at least" } else { "about" };
    let (time, budget) = (show_wait(estimate(plan)), show_wait(plan.budget));
    put(&mut text, "time", format!("{about} {time}, at most {budget}"));
    if let Some(missed) = predict_missed(plan, &known.disk) {
        put(&mut text, "reach", missed.text());
    }
    if let Some(forecast) = &known.forecast {
        put(&mut text, "buys", forecast);
    }
    push_needs(plan, &mut text);
    if let Some((name, expected)) = known.expected.split_once(": ") {
        let _ = writeln!(text, "{name} {expected}");
    }
    for Warning { severity, message, evidence, remedy, .. } in &known.found {
        let name = severity.name();
        let _ = writeln!(text, "{name}: {message} ({}); {}", clean_text(evidence), remedy.text);
    }
    text.push('\n');
    push_cells(plan, &mut text);
    push_skipped(plan, &mut text);
    text
}

/// Adds targets, variants, cells and probes.
fn push_work(plan: &Plan, places: &[String], text: &mut String) {
    let rounds = match plan.trials {
        Some(n) if plan.once_uncached => {
            format!("{} of the fastest (1 if the file is not in memory)", show_trials(n as usize))
        }
        Some(n) if plan.pick => format!("{} of the fastest", show_trials(n as usize)),
        Some(n) => format!("{} of each", show_trials(n as usize)),
        None if plan.latency_target.is_some() => {
            "tried one by one until the highest rate is found".into()
        }
        None if plan.settles().is_some() => "rounds until the answer is settled".into(),
        None => format!(
            "rounds until every interval is within {} or the budget ends",
            show_goal(plan.goal)
        ),
    };
    for (at, (name, spec)) in plan.named_targets().enumerate() {
        let name = name.map_or(String::new(), |name| format!("{name}: "));
        put(text, "target", format!("{name}{}", target(plan, spec)));
        if let Some(place) = places.get(at).filter(|place| !place.is_empty()) {
            put(text, "", place);
        }
    }
    for variant in &plan.variants {
        put(text, "variant", variant.describe());
    }
    let files = plan.variants.iter().filter_map(|variant| variant.neighbour.as_deref());
    // All have the same one.
    if let Some(neighbour) = files.map(|of| &of.target).next() {
        put(text, "", format!("for the neighbours: {}", target(plan, neighbour)));
    }
    let (cells, probes) = (plan.cells.len(), plan.probes.len());
    let order = format!("in random order (seed {})", plan.seed);
    if cells > 0 {
        put(text, "cells", format!("{cells}, {rounds}, {order}"));
    }
    if probes > 0 {
        put(text, "probes", format!("{probes}, {} batches of each, {order}", plan.probe_rounds()));
    }
}

/// Adds the conditions of the results, and the memory and space that the plan takes.
fn push_needs(plan: &Plan, text: &mut String) {
    for expectation in &plan.expect {
        put(text, "expect", clean_text(&expectation.describe()));
    }
    if let Some(cpus) = &plan.cpus {
        put(text, "cpus", format!("{cpus}: each thread is pinned to one, in turn"));
    }
    if let Some(fresh) = &plan.fresh {
        let visited = fresh.visited.iter().map(|(start, end)| end.saturating_sub(*start));
        let visited = show_bytes(visited.sum());
        let since = "runs since this machine started have read";
        put(text, "fresh", format!("each block is read once; {since} {visited}"));
    }
    if plan.verify {
        put(
            text,
            "verify",
            "each trial reads its writes back and compares them, outside the timed part",
        );
    }
    if !plan.cells.is_empty() {
        let each = if plan.processes() > 1 { " in each rank" } else { "" };
        put(text, "memory", format!("up to {} of buffers{each}", show_bytes(plan.buffer_bytes())));
    }
    let made = plan.made();
    if made > 0 {
        let size = show_bytes(plan.filled());
        let more =
            if plan.stored() > made { ", and as much to files created for the trials" } else { "" };
        let text_of = if plan.makes_every_file() {
            format!("up to {size} in each pass")
        } else {
            let files = match plan.processes() > 1 && plan.whole_of(&plan.target).is_none() {
                true => "files",
                false => "file",
            };
            format!("{size} to make the {files}{more}")
        };
        put(text, "writes", text_of);
    }
}

/// Adds a line for each cell.
fn push_cells(plan: &Plan, text: &mut String) {
    for cell in &plan.cells {
        let count = match cell.count {
            None => String::new(),
            Some(0) => ", one pass".into(),
            Some(n) => format!(", {n} operations"),
        };
        let _ = writeln!(text, "  {}{count}", cell.label());
    }
    for probe in &plan.probes {
        let _ = writeln!(text, "  {}", probe.label());
    }
}

/// Adds a line for each reason why cells are skipped.
fn push_skipped(plan: &Plan, text: &mut String) {
    let jobs = plan.skipped.iter().map(|skipped| (skipped.reason.as_str(), skipped.cell.label()));
    let probes =
        plan.skipped_probes.iter().map(|skipped| (skipped.reason.as_str(), skipped.cell.label()));
    let mut reasons = group_by_key(jobs.chain(probes), |(reason, _)| *reason);
    reasons.sort_unstable_by_key(|(reason, _)| *reason);
    for (reason, cells) in reasons {
        let more = match cells.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(text, "  skipped: {}{more}: {reason}", cells[0].1);
    }
}

/// Describes a file, and whether it is kept.
fn target(plan: &Plan, target: &TargetSpec) -> String {
    let size = show_bytes(target.size());
    let data = plan.written_data();
    let of = data.as_ref().map_or(String::new(), |data| format!(" of {data}"));
    match target {
        TargetSpec::Scratch { dir, size: 0, .. } => {
            format!("the probes' own files in {}, removed afterwards", show_path(dir))
        }
        TargetSpec::Scratch { dir, .. } if plan.makes_every_file() => {
            format!(
                "scratch files of up to {size}{of} in {}, created for the trials, removed afterwards",
                show_path(dir)
            )
        }
        TargetSpec::Scratch { dir, .. } => {
            let data = data.unwrap_or("random data".into());
            let (ranks, all) = (plan.processes(), show_bytes(plan.made()));
            let file = match plan.whole_of(target) {
                _ if ranks == 1 => format!("a scratch file of {size}"),
                None => format!("{ranks} scratch files of {size}, one of each rank,"),
                Some(_) => format!("a scratch file of {all}, {size} of each of {ranks} ranks,"),
            };
            format!("{file} in {}, filled with {data}, removed afterwards", show_path(dir))
        }
        TargetSpec::File { path, .. } => format!("{}, {size}, read-only", show_path(path)),
        list @ TargetSpec::Files { .. } => {
            format!("{}, {size}, read as one, read-only", list.describe_list())
        }
        TargetSpec::New { path, .. } if plan.makes_every_file() => {
            format!(
                "{}, a new file of up to {size}{of}, created again for each pass; kept as the last trial wrote it",
                show_path(path)
            )
        }
        TargetSpec::New { path, .. } => {
            format!("{}, a new file of {size}{of}, kept", show_path(path))
        }
        TargetSpec::None => "no file".into(),
    }
}
