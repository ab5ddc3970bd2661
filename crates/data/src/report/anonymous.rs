//! Sessions without private names: host name, user, folders, file names and names chosen by the
//! user.
//!
//! Structured fields are cleared or get a neutral word. In every other text each known name is
//! replaced, and so is every path outside /proc and /sys.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::facts::Host;
use crate::plan::{ExpectedBy, Param, Plan, Presets, Profiles, TargetSpec, Variant, VariantName};
use crate::record::{
    Event, Grounds, LayerKind, OtherProcess, Preparation, ProbeFindings, TargetEvidence, Trial,
    Verdict, Warning,
};
use crate::session::{Session, finite_findings, finite_verdict};
use crate::text::change_texts;

/// Names that must not appear, with their replacements; the longest first.
pub struct PrivateNames(Vec<(String, String)>);

/// Shorter names of machines and images are letters and words of texts: they stay in these.
const MIN_NAME: usize = 3;

/// The name of another program.
const PROGRAM: &str = "a program";

/// Folders that exist on every machine, and destinations of network probes: they identify no one.
const COMMON: [&str; 16] = [
    "data", "home", "tmp", "var", "mnt", "srv", "media", "opt", "usr", "root", "run", "dev",
    "file", ".", "remote", "loopback",
];

fn hide_target(target: &mut TargetSpec) {
    match target {
        TargetSpec::Scratch { dir, .. } => *dir = ".".into(),
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => *path = "file".into(),
        TargetSpec::Files { dir, files, .. } => {
            *dir = ".".into();
            for (number, file) in (1..).zip(files) {
                file.path = format!("file {number}").into();
            }
        }
        TargetSpec::None => {}
    }
}

/// Names the variants by letters, and hides their commands; the names of neighbours are rates.
fn anonymize_variants(plan: &mut Plan) {
    let neighbours = plan.variants.iter_mut().filter_map(|variant| variant.neighbour.as_mut());
    neighbours.for_each(|neighbour| hide_target(&mut neighbour.target));
    if !Variant::are_set_by_commands(&plan.variants) {
        return;
    }
    let letters: Vec<VariantName> = (b'A'..=b'Z')
        .filter_map(|letter| char::from(letter).to_string().parse().ok())
        .take(plan.variants.len())
        .collect();
    for job in &mut plan.cells {
        let at = plan.variants.iter().position(|of| Some(&of.name) == job.variant.as_ref());
        job.variant = at.and_then(|at| letters.get(at).cloned());
    }
    for (variant, letter) in plan.variants.iter_mut().zip(letters) {
        *variant = Variant { name: letter, command: "COMMAND".into(), neighbour: None };
    }
}

impl PrivateNames {
    pub fn new(host: &Host, plan: &Plan) -> PrivateNames {
        fn text(path: &Path) -> String {
            path.to_string_lossy().into_owned()
        }
        let mut names: Vec<(String, &str)> = Vec::new();
        let listed = plan.targets().flat_map(TargetSpec::listed).map(|file| &*file.path);
        for path in plan.targets().filter_map(TargetSpec::path).chain(listed) {
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
        let mut own = PrivateNames(Vec::new());
        own.add(names.into_iter().map(|(name, word)| (name, word.to_string())));
        own
    }

    fn add(&mut self, names: impl Iterator<Item = (String, String)>) {
        self.0.extend(names);
        self.0.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    }

    /// Adds the names of what is below the targets, and of the machines of ranks with their number.
    fn add_grounds(&mut self, grounds: &Grounds) {
        let layers = grounds.targets().flat_map(|target| &target.ground).flat_map(|of| &of.layers);
        let layers: Vec<(String, String)> = layers
            .filter_map(|layer| match layer.kind {
                LayerKind::Image => Some((&layer.name, "image")),
                LayerKind::Server => Some((&layer.name, "server")),
                _ => None,
            })
            .flat_map(|(name, word)| {
                let file = name.rsplit('/').next().unwrap_or(name).to_string();
                [(name.clone(), word.to_string()), (file, word.to_string())]
            })
            .filter(|(name, word)| name.len() >= MIN_NAME && name != word)
            .collect();
        self.add(layers.into_iter());
        let machines = number_machines(&grounds.ranks).into_iter();
        // `lab-7.example.org` is also called `lab-7`.
        let machines = machines.flat_map(|(name, word)| {
            let short = name.split('.').next().unwrap_or(&name).to_string();
            [(name, word.clone()), (short, word)]
        });
        // Before texts of the same length: the name of this machine may be such a text.
        let others = std::mem::take(&mut self.0);
        self.add(machines.filter(|(name, _)| name.len() >= MIN_NAME).chain(others));
    }

    /// Adds the programs that evidence names, as warnings name them too.
    fn add_programs(&mut self, trial: &Trial) {
        let steps = trial.evidence.surroundings.iter().flat_map(|around| &around.steps);
        let others = steps.flat_map(|step| &step.others).chain(&trial.evidence.others);
        let others = others.flat_map(|others| &others.processes);
        let mut labels: Vec<String> = others.map(OtherProcess::label).collect();
        if let Some(Preparation::Cold { mapped_by, .. }) = &trial.evidence.preparation {
            labels.extend(mapped_by.iter().cloned());
        }
        labels.sort();
        labels.dedup();
        labels.retain(|label| !label.is_empty() && self.0.iter().all(|(name, _)| name != label));
        if !labels.is_empty() {
            self.add(labels.into_iter().map(|label| (label, PROGRAM.into())));
        }
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

    /// Replaces the names in every text of a record.
    fn anonymize_texts<T: Serialize + DeserializeOwned>(&self, record: &mut T) {
        change_texts(record, |own| Some(self.anonymize_text(own)).filter(|text| text != own));
    }

    pub fn anonymize_host(&self, host: &Host) -> Host {
        let mut host = host.clone();
        (host.name, host.boot_id) = (String::new(), String::new());
        host.network.iter_mut().for_each(|card| card.name = "card".into());
        self.anonymize_texts(&mut host);
        host
    }

    fn anonymize_grounds(&self, grounds: &mut Grounds) {
        let machines = number_machines(&grounds.ranks);
        for name in &mut grounds.ranks {
            if let Some((_, word)) = machines.iter().find(|(own, _)| own == name) {
                name.clone_from(word);
            }
        }
        grounds.targets_mut().for_each(anonymize_target);
        self.anonymize_texts(grounds);
    }

    /// Returns an event of a run as its file shows it.
    pub fn anonymize_event(&mut self, event: &Event) -> Event {
        let mut event = event.clone();
        match &mut event {
            Event::Plan { plan } => *plan = Arc::new(self.anonymize_plan(plan)),
            Event::Grounds { grounds } => {
                self.add_grounds(grounds);
                self.anonymize_grounds(Arc::make_mut(grounds));
            }
            Event::Trial { trial, .. } => {
                self.add_programs(trial);
                *trial = Arc::new(self.anonymize_trial(trial));
            }
            Event::Failed { error: text, .. } | Event::Note { text } => {
                self.anonymize_in_place(text);
            }
            Event::Verdict { verdict, .. } => self.anonymize_verdict(verdict),
            Event::Findings { findings, .. } => self.anonymize_findings(Arc::make_mut(findings)),
            Event::Levels { levels } => self.anonymize_texts(levels),
            Event::Picked { pick } => self.anonymize_texts(Arc::make_mut(pick)),
            _ => {}
        }
        event
    }

    fn anonymize_in_place(&self, text: &mut String) {
        *text = self.anonymize_text(text);
    }

    pub fn anonymize_trial(&self, trial: &Trial) -> Trial {
        let mut trial = trial.clone();
        if let Some(Preparation::Cold { mapped_by, .. }) = &mut trial.evidence.preparation {
            mapped_by.iter_mut().for_each(|by| *by = PROGRAM.into());
        }
        let steps = trial.evidence.surroundings.iter_mut().flat_map(|around| &mut around.steps);
        let others = steps.flat_map(|step| &mut step.others).chain(&mut trial.evidence.others);
        let others = others.flat_map(|others| &mut others.processes);
        others.for_each(|other| other.name = PROGRAM.into());
        for counts in &mut trial.evidence.devices {
            keep_kernel_name(&mut counts.device);
        }
        self.anonymize_texts(&mut trial);
        trial
    }

    fn anonymize_verdict(&self, verdict: &mut Arc<Verdict>) {
        *verdict = finite_verdict(verdict);
        self.anonymize_texts(Arc::make_mut(verdict));
    }

    fn anonymize_findings(&self, findings: &mut ProbeFindings) {
        *findings = finite_findings(findings);
        findings.far.iter_mut().for_each(|far| far.name = String::new());
        self.anonymize_texts(findings);
    }

    pub fn anonymize_warning(&self, warning: &mut Warning) {
        self.anonymize_texts(warning);
    }

    pub fn anonymize_plan(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        for target in std::iter::once(&mut plan.target).chain(&mut plan.others) {
            hide_target(target);
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
        let skipped = plan.skipped_probes.iter_mut().map(|skipped| &mut skipped.cell);
        let cells = plan.probes.iter_mut().chain(skipped);
        cells.flat_map(|cell| cell.params.values_mut()).for_each(hide_address);
        self.anonymize_texts(&mut plan);
        plan.anonymous = true;
        plan
    }
}

/// Returns the machines of ranks in their order, with a word for each.
fn number_machines(ranks: &[String]) -> Vec<(String, String)> {
    let mut machines: Vec<(String, String)> = Vec::new();
    for name in ranks.iter().filter(|name| !name.is_empty()) {
        if machines.iter().all(|(own, _)| own != name) {
            machines.push((name.clone(), format!("machine {}", machines.len() + 1)));
        }
    }
    machines
}

/// Hides a parameter of a probe that is an address.
fn hide_address(value: &mut Param) {
    if let Param::Text(text) = value
        && (text.parse::<IpAddr>().is_ok() || text.parse::<SocketAddr>().is_ok())
    {
        *text = "ADDRESS".into();
    }
}

fn anonymize_target(target: &mut TargetEvidence) {
    keep_kernel_name(&mut target.device);
    for layer in target.ground.iter_mut().flat_map(|ground| &mut ground.layers) {
        match layer.kind {
            LayerKind::Image => layer.name = "image".into(),
            LayerKind::Server => layer.name = "server".into(),
            _ => {}
        }
    }
    for device in target.commit_path.iter_mut().flat_map(|path| &mut path.devices) {
        keep_kernel_name(&mut device.device);
        device.path_of.iter_mut().for_each(keep_kernel_name);
    }
}

/// Returns the session without private names. Measurements stay as they are.
pub fn anonymize(session: &Session) -> Session {
    let mut names = PrivateNames::new(&session.host, &session.plan);
    session.grounds.iter().for_each(|grounds| names.add_grounds(grounds));
    session.trials.iter().for_each(|trial| names.add_programs(trial));
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
    out.host = names.anonymize_host(&session.host);
    out.grounds.iter_mut().for_each(|grounds| names.anonymize_grounds(grounds));
    names.anonymize_texts(&mut out.levels);
    out.trials =
        session.trials.iter().map(|trial| Arc::new(names.anonymize_trial(trial))).collect();
    out.verdicts.iter_mut().flatten().for_each(|verdict| names.anonymize_verdict(verdict));
    out.probe_findings.iter_mut().for_each(|findings| names.anonymize_findings(findings));
    out.picks.iter_mut().for_each(|pick| names.anonymize_texts(pick));
    out.errors
        .iter_mut()
        .flatten()
        .chain(&mut out.notes)
        .for_each(|text| names.anonymize_in_place(text));
    out
}

/// Clears the name of a device that the kernel did not give; `dm-0 on sda` has two.
fn keep_kernel_name(device: &mut String) {
    if !device.split(" on ").all(is_kernel_name) {
        device.clear();
    }
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
