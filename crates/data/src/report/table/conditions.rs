//! The text above the table: target, machine, run, and what all cells have in common.

use super::axes;
use crate::analysis;
use crate::analysis::{CellResult, group_by_key};
use crate::plan::{self, Layout, Op, Plan, TargetSpec};
use crate::record::{End, HostSummary, TargetEvidence};
use crate::report::text::{join_nonempty, squeeze};
use crate::session::Session;
use crate::text::clean_text;
use crate::units;

/// Returns labels with their lines, without unknown parts.
pub fn conditions(
    session: &Session,
    rows: &[&CellResult],
    tight: bool,
) -> Vec<(&'static str, String)> {
    vec![
        ("target", describe_targets(session)),
        ("host", session.host.summary().line()),
        ("remote", session.far().map(HostSummary::line).unwrap_or_default()),
        ("ranks", describe_ranks(session)),
        ("by", session.programs().join(", ")),
        ("run", describe_run(session, rows)),
        ("cells", axes::constants(rows, tight)),
    ]
}

/// Describes what was done: each preset that ships with iotui, except the default, as its name with
/// a summary, and its paragraphs.
pub fn preset_descriptions(session: &Session) -> Vec<(String, Vec<String>)> {
    let known = session
        .plan
        .presets
        .iter()
        .filter(|id| *id != "quick")
        .filter_map(|id| crate::plan::preset(id).ok());
    let paragraphs = |doc: &str| doc.trim().split("\n\n").map(squeeze).collect();
    known
        .map(|preset| (format!("{}: {}", preset.id, preset.about), paragraphs(&preset.doc)))
        .collect()
}

/// Returns `4, each with a file of its own: 2 on node1, 2 on node2`; empty for a single
/// process.
fn describe_ranks(session: &Session) -> String {
    let ranks = session.grounds.as_ref().map_or(&[][..], |grounds| &grounds.ranks);
    if ranks.len() < 2 {
        return String::new();
    }
    let nodes = group_by_key(ranks.iter().enumerate(), |(_, name)| name.as_str());
    let mut machines = vec![0; ranks.len()];
    for (machine, (_, own)) in (0..).zip(&nodes) {
        own.iter().for_each(|(rank, _)| machines[*rank] = machine);
    }
    let describe = |(name, own): &(&str, Vec<_>)| format!("{} on {}", own.len(), clean_text(name));
    let nodes: Vec<String> = nodes.iter().map(describe).collect();
    let bound = session.grounds.as_ref().and_then(|grounds| grounds.machine.rank_cpus);
    let bound = bound.map_or(String::new(), |cpus| {
        format!("; each bound to {}", units::counted(cpus as usize, "CPU"))
    });
    let layout = describe_layout(&session.plan, &machines);
    format!("{}, {layout}: {}{bound}", ranks.len(), nodes.join(", "))
}

/// Describes the data that the ranks of a plan use, by their machines.
fn describe_layout(plan: &Plan, machines: &[u32]) -> String {
    let layout = plan.cells.first().map_or(Layout::PerRank, |cell| cell.layout);
    let files = match layout {
        Layout::PerRank => "each with a file of its own",
        Layout::Segmented => "each with one piece of a shared file",
        Layout::Strided => "each with every n-th block of a shared file",
    };
    let reads = plan.cells.iter().any(|cell| cell.op == Op::Read);
    // The writer of a named file is unknown.
    if !plan.shift || !reads || !plan.target.is_ours() {
        return files.into();
    }
    let count = (plan.processes() as usize).min(machines.len());
    let sources = plan::shifted(&machines[..count]);
    let of_other = |(rank, of): &(usize, &u32)| machines[*rank] != machines[**of as usize];
    match sources.iter().enumerate().filter(of_other).count() {
        0 => files.into(),
        all if all == count => format!("{files}, reading what another machine wrote"),
        some => format!("{files}, {some} of {count} reading what another machine wrote"),
    }
}

/// Returns the targets, each with its letter where there are several.
fn describe_targets(session: &Session) -> String {
    let mut facts = session.grounds.iter().flat_map(|grounds| grounds.targets());
    let describe = |(name, target): (Option<String>, &TargetSpec)| {
        let name = name.map_or(String::new(), |name| format!("{name}: "));
        name + &describe_target(session, target, facts.next())
    };
    session.plan.named_targets().map(describe).collect::<Vec<_>>().join("; ")
}

fn describe_target(
    session: &Session,
    target: &TargetSpec,
    facts: Option<&TargetEvidence>,
) -> String {
    let size = units::show_bytes(target.size());
    let file = match target {
        TargetSpec::Scratch { dir, size: 0, .. } => {
            format!("the probes' own files in {}", dir.display())
        }
        // Each pass creates it again, as large as its count.
        TargetSpec::New { path, .. } if session.plan.makes_every_file() => {
            format!("{}, created by this run", path.display())
        }
        TargetSpec::Scratch { dir, .. } if session.plan.processes() > 1 => {
            format!("scratch file in {}, {size} for each rank", dir.display())
        }
        TargetSpec::Scratch { dir, .. } => format!("scratch file in {}, {size}", dir.display()),
        TargetSpec::File { path, size: 0 } => path.display().to_string(),
        TargetSpec::File { path, .. } => format!("{}, {size}", path.display()),
        list @ TargetSpec::Files { .. } => format!("{}, {size}, read as one", list.describe_list()),
        TargetSpec::New { path, .. } => format!("{}, {size}, created by this run", path.display()),
        TargetSpec::None => String::new(),
    };
    join_nonempty([file, facts.map(TargetEvidence::describe_place).unwrap_or_default()])
}

fn describe_run(session: &Session, rows: &[&CellResult]) -> String {
    let plan = &session.plan;
    let name =
        if plan.presets.is_empty() { plan.experiment.clone() } else { plan.presets.join(", ") };
    let probes = analysis::probes(session);
    let of_probes = probes.iter().filter(|p| p.error.is_none()).map(|p| p.trials.len());
    let unreached = rows.len() < plan.cells.len()
        && matches!(session.end, Some(End::Budget | End::Interrupted) | None);
    let counts = rows
        .iter()
        .filter(|r| r.error.is_none())
        .map(|r| r.trials.len())
        .chain(of_probes)
        .chain(unreached.then_some(0));
    let trials = match (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0)) {
        (_, 0) => "no trials".into(),
        (least, most) if least == most => format!("{} of each cell", units::show_trials(most)),
        (least, most) => format!("{least} to {} of each cell", units::show_trials(most)),
    };
    let cold = if plan.cold.is_data() { String::new() } else { format!("cold {}", plan.cold) };
    match session.reference {
        Some(_) => join_nonempty([
            "as reported".into(),
            trials.replace("trial", "figure"),
            session.created.clone(),
        ]),
        None => join_nonempty([
            name,
            trials,
            cold,
            plan.cpus.as_ref().map_or(String::new(), |cpus| format!("pinned to CPU {cpus}")),
            plan.written_data().map_or(String::new(), |data| format!("writes {data}")),
            describe_end(session.end, plan).into(),
            format!("seed {}", plan.seed),
            session.created.clone(),
        ]),
    }
}

/// Explains why there are no more trials.
fn describe_end(end: Option<End>, plan: &Plan) -> &'static str {
    match end {
        Some(End::Finished) if plan.trials.is_some() => "as requested",
        Some(End::Finished) => "finished",
        Some(End::Budget) => "budget used up",
        Some(End::Goal) if plan.settles().is_some() => "its answer is settled",
        Some(End::Goal) => "every interval is narrow enough",
        Some(End::Failed) => "failed",
        Some(End::Interrupted) | None => "interrupted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Grounds, MachineEvidence};
    use crate::session::testing;

    #[test]
    fn shifted_reads_are_described() {
        let mut session = testing::session(1);
        session.plan.shift = true;
        session.plan.cells.iter_mut().for_each(|cell| cell.ranks = Some(3));
        session.plan.target = TargetSpec::File { path: "/data/named".into(), size: 1 << 20 };
        let mut told = |nodes: [&str; 3], rank_cpus| {
            let machine = MachineEvidence { rank_cpus, ..MachineEvidence::default() };
            let ranks = nodes.map(String::from).to_vec();
            session.grounds = Some(Grounds { machine, ranks, ..Grounds::default() });
            let named = describe_ranks(&session);
            let own = TargetSpec::Scratch { dir: "/data".into(), size: 1 << 20, keep: false };
            let named_file = std::mem::replace(&mut session.plan.target, own);
            let ours = describe_ranks(&session);
            session.plan.target = named_file;
            (named, ours)
        };
        let (named, ours) = told(["a", "a", "b"], None);
        assert_eq!(named, "3, each with a file of its own: 2 on a, 1 on b");
        let some = "3, each with a file of its own, 2 of 3 reading what another machine wrote: \
                    2 on a, 1 on b";
        assert_eq!(ours, some);
        let (_, ours) = told(["a", "b", "c"], Some(1));
        let all = "3, each with a file of its own, reading what another machine wrote: 1 on a, \
                   1 on b, 1 on c; each bound to 1 CPU";
        assert_eq!(ours, all);
        assert_eq!(told(["a", "a", "a"], None).1, "3, each with a file of its own: 3 on a");
    }
}
