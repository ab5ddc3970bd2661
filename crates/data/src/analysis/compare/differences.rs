//! Differences of two runs other than figures: settings, host, kernel, file and warnings.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::analysis::CellResult;
use crate::plan::{CpuList, Plan, TargetSpec};
use crate::record::{End, TargetEvidence};
use crate::session::Session;
use crate::text;
use crate::text::clean_text;
use crate::units;

/// One difference between the two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `settings`, `host`, `kernel`, `file` or `warnings`.
    pub about: &'static str,
    pub what: String,
    /// `-` if unknown.
    pub base: String,
    pub other: String,
}

const ORDER: [&str; 4] = ["settings", "host", "kernel", "file"];

type Facts = Vec<(&'static str, String, String)>;

/// Returns everything that differs, in the order of [`Difference::about`].
pub fn between(
    sessions: [&Session; 2],
    results: [&[CellResult]; 2],
    left_out: Vec<(&'static str, [String; 2])>,
) -> Vec<Difference> {
    let [base, other] = [0, 1].map(|side| {
        let mut facts = settings(sessions[side], results[side]);
        facts.extend(
            left_out
                .iter()
                .map(|(what, values)| ("settings", (*what).to_string(), values[side].clone())),
        );
        facts.extend(host(sessions[side]).into_iter().chain(files(sessions[side])));
        facts
    });
    let mut found = by_name(base, other);
    found.extend(mitigations(sessions));
    if let Some(side) = sessions.iter().position(|session| session.reference.is_some()) {
        let silent = |one: &Difference| [&one.base, &one.other][side] == "-";
        // A report may not state it although it differs.
        found.retain(|one| !silent(one));
    }
    found.sort_by_key(|difference| ORDER.iter().position(|about| *about == difference.about));
    found.extend(warnings(results));
    found
}

/// Returns the facts that differ, matched by name; a fact that one side lacks is `-` there.
fn by_name(base: Facts, mut other: Facts) -> Vec<Difference> {
    let mut found = Vec::new();
    for (about, what, value) in base {
        let same = other.iter().position(|(of, named, _)| *of == about && *named == what);
        let partner = same.map(|at| other.remove(at).2).unwrap_or_default();
        if value != partner {
            found.push(difference(about, what, [&value, &partner]));
        }
    }
    let left = other.into_iter().filter(|(.., value)| !value.is_empty());
    found.extend(left.map(|(about, what, value)| difference(about, what, ["", &value])));
    found
}

fn difference(about: &'static str, what: String, sides: [&str; 2]) -> Difference {
    let [base, other] =
        sides.map(|text| if text.is_empty() { "-".into() } else { clean_text(text) });
    Difference { about, what, base, other }
}

/// Returns the differences between the machines and kernels of two sessions; needs no results.
pub fn machine_differences(sessions: [&Session; 2]) -> Vec<Difference> {
    by_name(host(sessions[0]), host(sessions[1])).into_iter().chain(mitigations(sessions)).collect()
}

fn settings(session: &Session, results: &[CellResult]) -> Facts {
    let plan = &session.plan;
    if session.reference.is_some() {
        return vec![("settings", "trial time".into(), "as reported".into())];
    }
    fn trials(results: &[CellResult]) -> String {
        let counts = results.iter().filter(|r| r.error.is_none()).map(|r| r.trials.len());
        match (counts.clone().min(), counts.max()) {
            (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
            (_, most) => most.unwrap_or(0).to_string(),
        }
    }
    let time = [plan.trial_time.low, plan.trial_time.high].map(units::short_time);
    let ended = match session.end {
        Some(End::Interrupted) | None => "interrupted",
        Some(End::Failed) => "failed",
        Some(End::Finished | End::Goal | End::Budget) => "done",
    };
    let facts = [
        (
            "preset",
            if plan.presets.is_empty() { plan.experiment.clone() } else { plan.presets.join(", ") },
        ),
        ("trial time", if time[0] == time[1] { time[0].clone() } else { time.join(" to ") }),
        ("trials per cell", trials(results)),
        ("--trials", trials_setting(plan)),
        ("--cold", plan.cold.to_string()),
        ("--cpus", plan.cpus.as_ref().map_or("not set".into(), CpuList::to_string)),
        ("--fresh", if plan.fresh.is_some() { "yes".into() } else { String::new() }),
        ("--verify", if plan.verify { "yes".into() } else { String::new() }),
        ("--compressible", percent_setting(plan.compressible)),
        ("--dedupe", percent_setting(plan.dedupe)),
        ("--precondition", plan.fillings().to_string()),
        ("programs", session.programs().join(", ")),
        ("run", ended.into()),
    ];
    facts.into_iter().map(|(what, value)| ("settings", what.into(), value)).collect()
}

fn percent_setting(asked: Option<u8>) -> String {
    asked.map_or("not set".into(), |percent| format!("{percent} %"))
}

fn trials_setting(plan: &Plan) -> String {
    plan.trials.map_or("not set".into(), |trials| trials.to_string())
}

fn host(session: &Session) -> Facts {
    let host = &session.host;
    fn number(n: u64) -> String {
        if n == 0 { String::new() } else { n.to_string() }
    }
    let memory = host.memory.usable();
    [
        ("host", "name", host.name.clone()),
        ("host", "CPU", host.cpu.model.clone()),
        ("host", "CPUs", number(host.cpu.allowed.into())),
        ("host", "memory", if memory == 0 { String::new() } else { units::show_bytes(memory) }),
        ("host", "architecture", host.architecture.clone()),
        ("host", "hypervisor", host.virtualisation.clone().unwrap_or_default()),
        ("host", "container", host.container.clone().unwrap_or_default()),
        ("host", "governor", host.cpu.governor.clone().unwrap_or_default()),
        ("host", "system", host.os.clone()),
        ("kernel", "release", host.kernel.clone()),
        ("kernel", "clock", host.clock.current.clone()),
    ]
    .into_iter()
    .map(|(about, what, value)| (about, what.into(), value))
    .collect()
}

/// Returns the facts about each target, with its letter where there are several.
fn files(session: &Session) -> Facts {
    let mut known = session.grounds.iter().flat_map(|grounds| grounds.targets());
    let facts = |(name, target): (Option<String>, &TargetSpec)| {
        let letter = name.map_or(String::new(), |name| format!(" {name}"));
        file(target, known.next().cloned().unwrap_or_default(), &letter)
    };
    session.plan.named_targets().flat_map(facts).collect()
}

fn file(target: &TargetSpec, facts: TargetEvidence, letter: &str) -> Facts {
    let kind = match target {
        TargetSpec::Scratch { .. } => "scratch file",
        TargetSpec::File { .. } => "existing file",
        TargetSpec::Files { .. } => "existing files, read as one",
        TargetSpec::New { .. } => "created by the run",
        TargetSpec::None => "",
    };
    [
        ("kind", kind.into()),
        ("path", path(target)),
        ("size", if target.size() == 0 { String::new() } else { units::show_bytes(target.size()) }),
        ("file system", facts.fs),
        ("device", facts.device),
        (
            "access time",
            facts.noatime.map_or(String::new(), |noatime| {
                if noatime { "not updated" } else { "updated" }.into()
            }),
        ),
        ("holes", facts.hole_bytes.map_or(String::new(), units::show_bytes)),
    ]
    .into_iter()
    .map(|(what, value)| ("file", format!("{what}{letter}"), value))
    .collect()
}

/// Returns the file, or the folder of a scratch file.
pub fn path(target: &TargetSpec) -> String {
    match target {
        TargetSpec::Scratch { dir, .. } => format!("scratch file in {}", text::show_path(dir)),
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => text::show_path(path),
        list @ TargetSpec::Files { .. } => list.describe_list(),
        TargetSpec::None => String::new(),
    }
}

/// Compares the mitigations of CPU vulnerabilities, which cost time at each system call.
fn mitigations(sessions: [&Session; 2]) -> Vec<Difference> {
    let mut states: BTreeMap<&str, [&str; 2]> = BTreeMap::new();
    for (side, session) in sessions.into_iter().enumerate() {
        for mitigation in &session.host.mitigations {
            states.entry(&mitigation.name).or_default()[side] = &mitigation.state;
        }
    }
    let differing = states.into_iter().filter(|(_, [base, other])| base != other);
    differing.map(|(what, sides)| difference("kernel", clean_text(what), sides)).collect()
}

/// Returns the warnings that affect a different share of the cells.
fn warnings(results: [&[CellResult]; 2]) -> Vec<Difference> {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for (side, results) in results.into_iter().enumerate() {
        for result in results {
            let mut ids: Vec<&str> =
                result.warnings.iter().map(|warning| warning.id.as_ref()).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.into_iter()
                .filter(|id| *id != "reported")
                .for_each(|id| counts.entry(clean_text(id)).or_default()[side] += 1);
        }
    }
    fn cells(count: usize, of: usize) -> String {
        match count {
            0 => "no cell".into(),
            count => format!("{count} of {of} cells"),
        }
    }
    let share = |[a, b]: [usize; 2]| a * results[1].len() != b * results[0].len();
    let differing = counts.into_iter().filter(|(_, both)| share(*both));
    let told = |(what, [a, b]): (String, [usize; 2])| Difference {
        about: "warnings",
        what,
        base: cells(a, results[0].len()),
        other: cells(b, results[1].len()),
    };
    differing.map(told).collect()
}
