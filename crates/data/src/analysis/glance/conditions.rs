//! The target, machine and time of a session in short words, without folders or names of machines.

use std::collections::HashSet;

use crate::plan::{Layout, Plan, TargetSpec};
use crate::session::Session;
use crate::text::time::to_minute;
use crate::text::{clean_text, show_path};
use crate::units;

/// The conditions of a session; unknown ones are empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conditions {
    /// `big.iso`, `scratch file`, `3 files`.
    pub target: String,
    /// `64 MiB`.
    pub size: String,
    /// `4 ranks on 2 machines`; empty where one process measured.
    pub ranks: String,
    /// `ext4 on vda`.
    pub storage: String,
    pub cpu: String,
    /// `Linux 6.18.44`.
    pub kernel: String,
    /// `2026-11-22 13:02 UTC`; of a reference what the report says.
    pub date: String,
    /// `iotui 0.1.0`.
    pub program: String,
    /// The presets, or the experiment.
    pub preset: String,
}

impl Conditions {
    pub fn of(session: &Session) -> Conditions {
        let (plan, host) = (&session.plan, &session.host);
        let size = plan.targets().map(TargetSpec::size).sum::<u64>();
        let storage = session.grounds.as_ref().map(|grounds| grounds.target.describe_place());
        let storage = storage.unwrap_or_default();
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let date = match session.reference {
            Some(machine) => machine.to_string(),
            None if session.created.is_empty() => String::new(),
            None => format!("{} UTC", to_minute(&session.created)),
        };
        let kernel = match host.kernel.as_str() {
            "" => String::new(),
            release => format!("Linux {release}"),
        };
        let own = session.programs().iter().find(|program| program.starts_with("iotui"));
        let preset = match plan.presets.as_slice() {
            [] => plan.experiment.clone(),
            presets => presets.join(", "),
        };
        let clean = |text: String| clean_text(&text);
        Conditions {
            target: clean(describe_target(plan)),
            size: if size > 0 { units::show_bytes(size) } else { String::new() },
            ranks: describe_ranks(session),
            storage: clean(storage),
            cpu: clean(squeeze(&host.cpu.model)),
            kernel: clean(kernel),
            date: clean(date),
            program: clean(own.cloned().unwrap_or_default()),
            preset: clean(preset),
        }
    }

    /// Returns target, size, ranks and storage: `big.iso`, `64 MiB`, `ext4 on vda`.
    pub fn place(&self) -> Vec<&str> {
        keep_known([&self.target, &self.size, &self.ranks, &self.storage])
    }

    /// Returns CPU, kernel, date and program.
    pub fn machine(&self) -> Vec<&str> {
        keep_known([&self.cpu, &self.kernel, &self.date, &self.program])
    }
}

fn keep_known<const N: usize>(parts: [&String; N]) -> Vec<&str> {
    parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect()
}

fn describe_ranks(session: &Session) -> String {
    let names = session.grounds.as_ref().map_or(&[][..], |grounds| &grounds.ranks);
    let nodes: HashSet<&String> = names.iter().collect();
    match names.len() {
        0 | 1 => String::new(),
        ranks => {
            let layout = session.plan.cells.first().map_or(Layout::PerRank, |cell| cell.layout);
            let machines = units::counted(nodes.len(), "machine");
            format!("{ranks} ranks on {machines}, {layout}")
        }
    }
}

/// Returns the name of the file without its folders.
fn describe_target(plan: &Plan) -> String {
    if !plan.others.is_empty() {
        return format!("{} files", plan.targets().count());
    }
    match &plan.target {
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => {
            path.file_name().map_or_else(String::new, |name| show_path(name.as_ref()))
        }
        TargetSpec::Files { dir, files, .. } => {
            let folder = dir.file_name().unwrap_or(dir.as_os_str());
            format!("{} in {}", units::counted(files.len(), "file"), show_path(folder.as_ref()))
        }
        TargetSpec::Scratch { .. } => "scratch file".into(),
        TargetSpec::None => String::new(),
    }
}
