//! Sessions without private names: host name, user, folders, file names and names chosen by the
//! user.
//!
//! Structured fields are cleared or get a neutral word. In free text every known name is replaced,
//! and so is every path outside /proc and /sys.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use crate::host::Host;
use crate::plan::{ExpectedBy, Param, Plan, Presets, Profiles, TargetSpec, Variant, VariantName};
use crate::record::{
    Grounds, LayerKind, Note, Preparation, ProbeFindings, Trial, Verdict, Warning,
};
use crate::session::Session;

/// Names that must not appear, with their replacements; the longest first.
pub struct PrivateNames(Vec<(String, &'static str)>);

/// Folders that exist on every machine, and destinations of network probes: they identify no one.
const COMMON: [&str; 16] = [
    "data", "home", "tmp", "var", "mnt", "srv", "media", "opt", "usr", "root", "run", "dev",
    "file", ".", "remote", "loopback",
];

/// Names the variants by letters, and hides their commands.
fn anonymize_variants(plan: &mut Plan) {
    let letters: Vec<VariantName> = (b'A'..=b'Z')
        .filter_map(|letter| char::from(letter).to_string().try_into().ok())
        .take(plan.variants.len())
        .collect();
    for job in &mut plan.cells {
        let at = plan.variants.iter().position(|of| Some(&of.name) == job.variant.as_ref());
        job.variant = at.and_then(|at| letters.get(at).cloned());
    }
    for (variant, letter) in plan.variants.iter_mut().zip(letters) {
        *variant = Variant { name: letter, command: "COMMAND".into() };
    }
}

impl PrivateNames {
    pub fn new(host: &Host, plan: &Plan) -> PrivateNames {
        fn path(target: &TargetSpec) -> &Path {
            match target {
                TargetSpec::Scratch { dir, .. } => dir,
                TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => path,
                TargetSpec::None => Path::new(""),
            }
        }
        fn text(path: &Path) -> String {
            path.to_string_lossy().into_owned()
        }
        let mut names: Vec<(String, &str)> = Vec::new();
        for path in plan.targets().map(path) {
            names.extend(path.ancestors().skip(1).map(|folder| (text(folder), "FOLDER")));
            names.push((text(path), "FILE"));
            names.extend(
                path.components()
                    .map(|part| (part.as_os_str().to_string_lossy().into_owned(), "NAME")),
            );
        }
        names.push((host.name.clone(), "HOST"));
        names.extend(plan.remote.iter().map(|remote| (remote.host.clone(), "HOST")));
        // `lab-7.example.org` is also called `lab-7`.
        names.extend(host.name.split('.').next().map(|short| (short.to_string(), "HOST")));
        names.retain(|(name, _)| {
            !matches!(name.as_str(), "" | "/") && !COMMON.contains(&name.trim_matches('/'))
        });
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        PrivateNames(names)
    }

    /// Replaces the names in free text.
    fn anonymize_text(&self, text: &str) -> String {
        let known = self
            .0
            .iter()
            .fold(text.to_string(), |text, (name, word)| replace_name(&text, name, word));
        let words: Vec<String> = known.split(' ').map(hide_path).collect();
        words.join(" ")
    }

    fn anonymize_in_place(&self, text: &mut String) {
        *text = self.anonymize_text(text);
    }

    pub fn anonymize_trial(&self, trial: &Trial) -> Trial {
        let mut trial = trial.clone();
        if let Some(Preparation::Cold { mapped_by, .. }) = &mut trial.evidence.preparation {
            mapped_by.iter_mut().for_each(|by| *by = "a program".into());
        }
        for note in &mut trial.evidence.notes {
            if let Note::UringPlain(why) | Note::FileChanged(why) = note {
                self.anonymize_in_place(why);
            }
        }
        trial
    }

    fn anonymize_verdict(&self, verdict: &mut Verdict) {
        self.anonymize_in_place(&mut verdict.source_reason);
        verdict.warnings.iter_mut().for_each(|warning| self.anonymize_warning(warning));
    }

    /// Hides a parameter of a probe that is an address.
    fn anonymize_param(&self, value: &mut Param) {
        if let Param::Text(text) = value {
            let address = text.parse::<IpAddr>().is_ok() || text.parse::<SocketAddr>().is_ok();
            *text = if address { "ADDRESS".into() } else { self.anonymize_text(text) };
        }
    }

    fn anonymize_findings(&self, findings: &mut ProbeFindings) {
        findings.warnings.iter_mut().for_each(|warning| self.anonymize_warning(warning));
        findings.evidence.iter_mut().for_each(|text| self.anonymize_in_place(text));
        findings.far.iter_mut().for_each(|far| far.name = String::new());
        findings
            .error
            .iter_mut()
            .chain(findings.estimate.as_mut().map(|of| &mut of.reason))
            .for_each(|text| self.anonymize_in_place(text));
    }

    fn anonymize_warning(&self, warning: &mut Warning) {
        [&mut warning.message, &mut warning.evidence, &mut warning.remedy]
            .into_iter()
            .for_each(|text| self.anonymize_in_place(text));
    }

    pub fn anonymize_plan(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        for target in std::iter::once(&mut plan.target).chain(&mut plan.others) {
            match target {
                TargetSpec::Scratch { dir, .. } => *dir = ".".into(),
                TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => {
                    *path = "file".into();
                }
                TargetSpec::None => {}
            }
        }
        anonymize_variants(&mut plan);
        // The name by which the user knows it, or its address.
        plan.remote.iter_mut().for_each(|remote| remote.host = "HOST".into());
        plan.presets
            .iter_mut()
            .filter(|id| !Presets::is_built_in(id) && !Profiles::is_built_in(id))
            .for_each(|id| *id = "own".into());
        plan.expect
            .iter_mut()
            .filter_map(|expectation| expectation.by.as_mut())
            .filter(|by| !Profiles::is_built_in(&by.profile))
            .for_each(|by| {
                let cells = std::mem::take(&mut by.cells);
                *by = ExpectedBy { profile: "own".into(), cells, ..ExpectedBy::default() };
            });
        plan.skipped.iter_mut().for_each(|skipped| self.anonymize_in_place(&mut skipped.reason));
        plan.skipped_probes
            .iter_mut()
            .for_each(|skipped| self.anonymize_in_place(&mut skipped.reason));
        let skipped = plan.skipped_probes.iter_mut().map(|skipped| &mut skipped.cell);
        plan.probes
            .iter_mut()
            .chain(skipped)
            .flat_map(|cell| cell.params.values_mut())
            .for_each(|value| self.anonymize_param(value));
        plan
    }
}

/// Returns the session without private names. Measurements stay as they are.
pub fn anonymize(session: &Session) -> Session {
    let names = PrivateNames::new(&session.host, &session.plan);
    let mut out = session.clone();
    // The id ends in the name of the file: only the time remains.
    out.id = session
        .id
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '-')
        .collect::<String>()
        .trim_end_matches('-')
        .into();
    out.name = "anonymous".into();
    out.plan = names.anonymize_plan(&session.plan);
    (out.host.name, out.host.boot_id) = (String::new(), String::new());
    [&mut out.host.kernel, &mut out.host.os]
        .into_iter()
        .for_each(|text| names.anonymize_in_place(text));
    out.host.network.iter_mut().for_each(|card| card.name = "card".into());
    for target in out.grounds.iter_mut().flat_map(Grounds::targets_mut) {
        if !is_kernel_name(&target.device) {
            target.device = String::new();
        }
        let layers = target.ground.iter_mut().flat_map(|ground| &mut ground.layers);
        layers
            .filter(|layer| layer.kind == LayerKind::Image)
            .for_each(|layer| layer.name = "image".into());
    }
    out.trials =
        session.trials.iter().map(|trial| Arc::new(names.anonymize_trial(trial))).collect();
    out.verdicts
        .iter_mut()
        .flatten()
        .for_each(|verdict| names.anonymize_verdict(Arc::make_mut(verdict)));
    out.probe_findings.iter_mut().for_each(|findings| names.anonymize_findings(findings));
    let whys = out
        .picks
        .iter_mut()
        .flat_map(|pick| pick.left_out.iter_mut().map(|out| &mut out.why).chain([&mut pick.why]));
    whys.for_each(|text| names.anonymize_in_place(text));
    out.errors
        .iter_mut()
        .flatten()
        .chain(&mut out.notes)
        .for_each(|text| names.anonymize_in_place(text));
    out
}

/// Returns whether the kernel named the device, not a user (`vg-anna`) or server (`host:/export`).
fn is_kernel_name(device: &str) -> bool {
    let known =
        ["sd", "vd", "xvd", "nvme", "mmcblk", "md", "dm-", "loop", "sr", "ram", "zram", "nbd"];
    known.iter().any(|start| device.strip_prefix(start).is_some_and(|rest| rest.len() <= 8))
        && device.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Replaces `name` wherever it is a whole word.
fn replace_name(text: &str, name: &str, word: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(at) = rest.find(name) {
        let (head, tail) = (&rest[..at], &rest[at + name.len()..]);
        fn part(c: Option<char>) -> bool {
            c.is_some_and(char::is_alphanumeric)
        }
        let inside = part(head.chars().last().or(before)) || part(tail.chars().next());
        out += head;
        out += if inside && name.chars().all(char::is_alphanumeric) { name } else { word };
        (rest, before) = (tail, name.chars().last());
    }
    out + rest
}

/// Replaces a path in a word, from its first `/`; paths in /proc and /sys stay.
fn hide_path(word: &str) -> String {
    let Some(at) = word.find('/').filter(|at| !word[..*at].ends_with(char::is_alphanumeric)) else {
        return word.into();
    };
    let path = &word[at..];
    let kernels =
        ["/proc/", "/sys/"].iter().any(|start| path.starts_with(start)) || path.len() == 1;
    if kernels { word.into() } else { format!("{}PATH", &word[..at]) }
}

#[cfg(test)]
mod tests;
