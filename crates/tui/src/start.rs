//! The guided start: what a user may want to know, then every preset. A question is that of a
//! preset or a [`Task`]; an example comes last.

use std::time::Duration;

use super::lab::is_probe_preset;
use super::setup::Setup;
use crate::plan::{Op, Plan, Preset, Settings};
use crate::text::show_path;
use crate::units::{show_bytes, show_wait};
use iotui_core::doctor::OTHER_RUN;

/// A row of the guided start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry<'a> {
    Preset(&'a Preset),
    Task(Task),
    /// A finished run, replayed without measuring anything.
    Example,
    /// The title of the presets below.
    Heading,
    /// A preset that is taken to Setup or Lab.
    Listed(&'a Preset),
}

/// A question that no preset alone answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Whether commits are as fast as the makers of a program ask for.
    Profile,
    TwoDisks,
    /// Whether a disk is slower than in an earlier run.
    Slower,
}

impl Task {
    const ALL: [Task; 3] = [Task::Profile, Task::TwoDisks, Task::Slower];

    fn question(self) -> &'static str {
        match self {
            Task::Profile => "Is this disk fast enough for etcd?",
            Task::TwoDisks => "Which of two disks is faster?",
            Task::Slower => "Is it slower than before?",
        }
    }

    /// Returns the option that does the same, or what it uses.
    fn id(self) -> &'static str {
        match self {
            Task::Profile => "--expect",
            Task::TwoDisks => "--dir, --dir",
            Task::Slower => "--baseline",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Task::Profile => {
                "The makers of etcd ask that 99 of 100 commits of its log take less than 10 ms. \
                 Setup has the bounds of other programs, and yours, in its row Expect."
            }
            Task::TwoDisks => {
                "Mark a folder on each disk. A scratch file in each is measured in the same \
                 rounds, so that what disturbs one run disturbs both."
            }
            Task::Slower => {
                "Runs the plan of a saved session again and compares both, cell by cell, as far \
                 as the machine's own variation allows."
            }
        }
    }
}

/// The profile of [`Task::Profile`].
pub const PROFILE: &str = "etcd";
/// The preset of [`Task::TwoDisks`].
pub const DISKS: &str = "peak";

/// The target that a question needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A scratch file.
    Scratch,
    /// A folder on each of two disks.
    Folders,
    /// A session of this machine.
    Session,
    /// A file that the user picks.
    File,
    /// Neither a file nor a disk.
    NoFile,
    /// Nothing is measured.
    Nothing,
}

/// Moves the presets with a question to the front.
pub fn sort_by_question(presets: &mut [Preset]) {
    presets.sort_by_key(|preset| preset.question.is_empty());
}

/// Returns the rows of the guided start that contain a text: the questions, then all presets.
pub fn entries<'a>(presets: &'a [Preset], wanted: &str) -> Vec<Entry<'a>> {
    let asked = presets.iter().filter(|preset| !preset.question.is_empty()).map(Entry::Preset);
    let tasks = Task::ALL.into_iter().map(Entry::Task);
    let listed = presets.iter().map(Entry::Listed);
    let wanted = wanted.to_lowercase();
    let found = |text: &str| text.to_lowercase().contains(&wanted);
    asked
        .chain(tasks)
        .chain([Entry::Example, Entry::Heading])
        .chain(listed)
        .filter(|entry| wanted.is_empty() || found(entry.question()) || found(entry.id()))
        .collect()
}

impl Entry<'_> {
    pub fn question(&self) -> &str {
        match self {
            Entry::Preset(preset) => &preset.question,
            Entry::Task(task) => task.question(),
            Entry::Example => "Show me an example",
            Entry::Heading => "",
            Entry::Listed(preset) => &preset.about,
        }
    }

    /// Returns the id of the preset, or the option that does the same.
    pub fn id(&self) -> &str {
        match self {
            Entry::Preset(preset) | Entry::Listed(preset) => &preset.id,
            Entry::Task(task) => task.id(),
            Entry::Example | Entry::Heading => "",
        }
    }

    pub fn needs(&self) -> Needs {
        match self {
            Entry::Example | Entry::Heading => Needs::Nothing,
            Entry::Task(Task::TwoDisks) => Needs::Folders,
            Entry::Task(Task::Slower) => Needs::Session,
            Entry::Preset(preset) | Entry::Listed(preset) if is_probe_preset(preset) => {
                Needs::NoFile
            }
            Entry::Preset(preset) | Entry::Listed(preset) if preset.needs_file => Needs::File,
            Entry::Task(Task::Profile) | Entry::Preset(_) | Entry::Listed(_) => Needs::Scratch,
        }
    }

    /// Returns the longest time it takes; empty if nothing is measured.
    pub fn time(&self) -> String {
        match self.budget() {
            Duration::ZERO => String::new(),
            budget => show_wait(budget),
        }
    }

    /// Returns the longest time that it takes; zero if nothing is measured.
    fn budget(&self) -> Duration {
        match self {
            Entry::Preset(preset) | Entry::Listed(preset) => {
                let usual = Plan::usual_budget(preset.settings.until, 1);
                preset.settings.watch.or(preset.settings.budget).unwrap_or(usual)
            }
            Entry::Task(Task::Profile | Task::TwoDisks) => Plan::BUDGET,
            Entry::Task(Task::Slower) | Entry::Example | Entry::Heading => Duration::ZERO,
        }
    }

    /// Says how long the scratch file is written to after it was filled; empty if it is only read.
    fn overwriting(&self) -> String {
        let (Entry::Preset(preset) | Entry::Listed(preset)) = self else { return String::new() };
        let parts = preset.parts();
        let writing = parts.iter().filter(|part| part.op == Some(Op::Write)).count();
        if writing == 0 {
            return String::new();
        }
        let time = self.budget().mul_f64(writing as f64 / parts.len() as f64);
        format!(", then overwrites it for up to {}", show_wait(time))
    }

    /// Returns the size that it asks for, if any.
    fn size(&self) -> Option<u64> {
        match self {
            Entry::Preset(preset) | Entry::Listed(preset) => largest_size(preset),
            Entry::Task(_) | Entry::Example | Entry::Heading => None,
        }
    }

    /// Names what is measured, in a few words.
    pub fn target(&self) -> &'static str {
        match self.needs() {
            Needs::Scratch => "a scratch file here",
            Needs::Folders => "a folder on each",
            Needs::Session => "a session of yours",
            Needs::File => "a file that you pick",
            Needs::NoFile => "no file, no disk",
            Needs::Nothing => "a finished run",
        }
    }

    /// Describes what is read and written, from what Setup has found about the scratch file.
    pub fn describe(&self, setup: &Setup) -> String {
        match self.needs() {
            Needs::Scratch => describe_scratch(setup, self.size(), &self.overwriting()),
            Needs::Folders => "writes a file without a name in each folder; gone afterwards".into(),
            Needs::Session => "opens the list of sessions; measures nothing yet".into(),
            Needs::File => "reads a file that you pick next; writes nothing".into(),
            Needs::NoFile => "reads and writes no file".into(),
            Needs::Nothing => "replays a run that was measured elsewhere; measures nothing".into(),
        }
    }

    /// Describes the measurement.
    pub fn about(&self) -> &str {
        match self {
            Entry::Preset(preset) | Entry::Listed(preset) => &preset.doc,
            Entry::Task(task) => task.about(),
            Entry::Heading => "",
            Entry::Example => {
                "A run as it looks while it measures, and its results, to look around in. A run of \
                 your own is saved, so you can return to it later."
            }
        }
    }
}

fn largest_size(preset: &Preset) -> Option<u64> {
    preset.parts().iter().filter_map(Settings::largest_size).max()
}

/// Describes a scratch file of this size, or of the usual one. The plan of Setup gives the folder,
/// and the size where Setup asks for the same.
fn describe_scratch(setup: &Setup, size: Option<u64>, overwriting: &str) -> String {
    let gone = "gone afterwards";
    let is_same = size == largest_size(&setup.preset.over(&setup.settings));
    match (setup.plan().filter(|_| is_same), setup.scratch_folder()) {
        (Some(plan), Some(folder)) => {
            let size = plan.target.size();
            let left = setup.facts().and_then(|facts| facts.space).map(|space| {
                let left = space.available.saturating_sub(size);
                format!("; leaves {} free", show_bytes(left))
            });
            format!(
                "writes {} to a file without a name in {}{overwriting}; {gone}{}",
                plan.describe_filling(size),
                show_path(&folder),
                left.unwrap_or_default()
            )
        }
        _ => {
            let size = size.map_or_else(|| "512 MiB or less".into(), show_bytes);
            format!("writes {size} to a file without a name{overwriting}; {gone}")
        }
    }
}

/// Findings of the doctor that a user should know before any question.
const FIRST_FINDINGS: &[&str] = &["busy", "other-io", OTHER_RUN, "steal", "cpu-quota", "battery"];

/// Returns what would disturb every measurement here.
pub fn disturbances(setup: &Setup) -> Vec<String> {
    let found = setup.findings().unwrap_or_default().iter();
    found
        .filter(|finding| FIRST_FINDINGS.contains(&finding.id.as_ref()))
        .map(|finding| match finding.evidence.as_str() {
            "" => finding.message.clone(),
            evidence => format!("{} ({evidence})", finding.message),
        })
        .collect()
}

#[cfg(test)]
mod tests;
