//! The guided start: what a user may want to know. Each question is one of a preset, and the last
//! shows an example.

use std::time::Duration;

use super::lab::is_probe_preset;
use super::setup::Setup;
use crate::plan::{Op, Plan, Preset};
use crate::text::show_path;
use crate::units::{show_bytes, show_wait};
use iotui_core::doctor::OTHER_RUN;

/// A row of the guided start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry<'a> {
    Preset(&'a Preset),
    /// A finished run, replayed without measuring anything.
    Example,
}

/// The target that a question needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A scratch file.
    Scratch,
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

/// Returns the rows of the guided start.
pub fn entries(presets: &[Preset]) -> Vec<Entry<'_>> {
    let asked = presets.iter().filter(|preset| !preset.question.is_empty());
    asked.map(Entry::Preset).chain([Entry::Example]).collect()
}

impl Entry<'_> {
    pub fn question(&self) -> &str {
        match self {
            Entry::Preset(preset) => &preset.question,
            Entry::Example => "Show me an example",
        }
    }

    /// Returns the id of the preset.
    pub fn id(&self) -> &str {
        match self {
            Entry::Preset(preset) => &preset.id,
            Entry::Example => "",
        }
    }

    pub fn needs(&self) -> Needs {
        match self {
            Entry::Example => Needs::Nothing,
            Entry::Preset(preset) if is_probe_preset(preset) => Needs::NoFile,
            Entry::Preset(preset) if preset.needs_file => Needs::File,
            Entry::Preset(_) => Needs::Scratch,
        }
    }

    /// Returns the longest time it takes; empty if nothing is measured.
    pub fn time(&self) -> String {
        match self {
            Entry::Preset(_) => show_wait(self.budget()),
            Entry::Example => String::new(),
        }
    }

    /// Returns the longest time that it takes; zero if nothing is measured.
    fn budget(&self) -> Duration {
        match self {
            Entry::Preset(preset) => preset.settings.budget.unwrap_or(Plan::BUDGET),
            Entry::Example => Duration::ZERO,
        }
    }

    /// Says how long the scratch file is written to after it was filled; empty if it is only read.
    fn overwriting(&self) -> String {
        let Entry::Preset(preset) = self else { return String::new() };
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
            Entry::Preset(preset) => largest_size(preset),
            Entry::Example => None,
        }
    }

    /// Names what is measured, in a few words.
    pub fn target(&self) -> &'static str {
        match self.needs() {
            Needs::Scratch => "a scratch file here",
            Needs::File => "a file that you pick",
            Needs::NoFile => "no file, no disk",
            Needs::Nothing => "a finished run",
        }
    }

    /// Describes what is read and written, from what Setup has found about the scratch file.
    pub fn describe(&self, setup: &Setup) -> String {
        match self.needs() {
            Needs::Scratch => describe_scratch(setup, self.size(), &self.overwriting()),
            Needs::File => "reads a file that you pick next; writes nothing".into(),
            Needs::NoFile => "reads and writes no file".into(),
            Needs::Nothing => "replays a run that was measured elsewhere; measures nothing".into(),
        }
    }

    /// Describes the measurement.
    pub fn about(&self) -> &str {
        match self {
            Entry::Preset(preset) => &preset.doc,
            Entry::Example => {
                "A run as it looks while it measures, and its results, to look around in. A run of \
                 your own is saved, so you can return to it later."
            }
        }
    }
}

fn largest_size(preset: &Preset) -> Option<u64> {
    let parts = preset.parts();
    parts.iter().filter_map(|part| part.size.as_ref()?.values.iter().max().copied()).max()
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
                show_bytes(size),
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
