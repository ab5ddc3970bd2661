//! The surroundings of a long trial: things that happened besides its own work, by its own time.

use serde::{Deserialize, Serialize};

use super::Others;
use super::others::MAX_NAMED;
use crate::units::{counted, show_bytes, show_nanos, show_share};

#[cfg(test)]
mod tests;

/// Share of one CPU's time that may be lost to steal time or to other tasks.
pub const MAX_LOST_SHARE: f64 = 0.02;

/// The surroundings of a long trial: only steps in which something was notable, and changes of
/// state. A step that is missing was read, and quiet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Surroundings {
    /// Steps that begin in the same such interval of the trial are merged, nanoseconds.
    pub width: u64,
    /// In the order of their time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<AroundStep>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<StateChange>,
}

/// The notable things between two readings; all others are 0 or empty, and absent from JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AroundStep {
    /// Nanoseconds after the start of the trial, and the time that was looked at.
    pub from: u64,
    pub nanos: u64,
    /// The quiet time between its parts, where several steps are merged.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    pub quiet: u64,
    /// Bytes that the disk moved for others than this process.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    pub read: u64,
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    pub written: u64,
    /// The others that were charged with bytes meanwhile, on any disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Box<Others>>,
    /// The other control groups that moved bytes on the target's disk, the most bytes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupBytes>,
    /// Steal time, summed over all CPUs, nanoseconds.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    pub stolen: u64,
    /// Memory that waits to be written, where the kernel holds writers back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<Dirty>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
    /// How often the CPUs were throttled for their heat.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    pub throttled: u64,
    /// Time in which something in the own control group waited for I/O, nanoseconds, where that
    /// rose.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    pub stalled: u64,
    /// The counts of NVMe disks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<DriveCount>,
}

/// The count of an NVMe disk in a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveCount {
    pub device: String,
    pub counter: DriveCounter,
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub times: u64,
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub nanos: u64,
}

/// A counter of an NVMe disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriveCounter {
    /// The time in which demand was over a limit of the volume, or of the virtual machine.
    VolumeIops,
    VolumeThroughput,
    InstanceIops,
    InstanceThroughput,
    /// How often it slowed down to cool, and how long.
    Throttled,
    MediaErrors,
}

/// Bytes that a control group moved on the target's disk.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupBytes {
    /// `/system.slice/backup.service`.
    pub group: String,
    pub read: u64,
    pub written: u64,
}

/// Memory that waits to be written, and how much of it makes the kernel hold writers back, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Dirty {
    pub bytes: u64,
    pub limit: u64,
}

/// The temperature of the hottest sensor of the target's devices.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Heat {
    pub sensor: String,
    pub celsius: i64,
}

/// A setting of the machine, or a warning of a disk, that changed during a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StateChange {
    /// When it was noticed, nanoseconds after the start of the trial.
    pub at: u64,
    /// `io.max of /system.slice`.
    pub of: String,
    pub from: String,
    pub to: String,
}

impl AroundStep {
    /// Returns when it ends, nanoseconds after the start of the trial.
    pub fn end(&self) -> u64 {
        self.from.saturating_add(self.nanos).saturating_add(self.quiet)
    }

    /// Returns the bytes that the disk moved for others.
    pub fn moved(&self) -> u64 {
        self.read.saturating_add(self.written)
    }

    /// Returns whether nothing in it is worth keeping.
    pub fn is_quiet(&self) -> bool {
        let AroundStep { from, nanos, quiet, .. } = *self;
        *self == AroundStep { from, nanos, quiet, ..AroundStep::default() }
    }

    /// Adds a later step.
    fn join(&mut self, more: AroundStep) {
        let end = self.end().max(more.end());
        let sums = [
            (&mut self.nanos, more.nanos),
            (&mut self.read, more.read),
            (&mut self.written, more.written),
            (&mut self.stolen, more.stolen),
            (&mut self.throttled, more.throttled),
            (&mut self.stalled, more.stalled),
        ];
        for (sum, part) in sums {
            *sum = sum.saturating_add(part);
        }
        self.quiet = end.saturating_sub(self.from).saturating_sub(self.nanos);
        match (&mut self.others, more.others) {
            (Some(own), Some(more)) => own.join(&more),
            (own, more) => *own = own.take().or(more),
        }
        join_groups(&mut self.groups, more.groups);
        join_drives(&mut self.drives, more.drives);
        self.dirty = std::cmp::max_by_key(self.dirty, more.dirty, |of| of.map(|of| of.bytes));
        let heat = self.heat.take();
        self.heat = std::cmp::max_by_key(heat, more.heat, |of| of.as_ref().map(|of| of.celsius));
    }

    /// Returns about how many bytes of JSON it takes.
    fn weight(&self) -> usize {
        const PART: usize = 64;
        let others = self.others.as_ref().map_or(0, |others| {
            let names = others.processes.iter().map(|of| of.name.len());
            names.chain(others.kernel.iter().map(String::len)).map(|len| PART + len).sum()
        });
        let groups: usize = self.groups.iter().map(|of| PART + of.group.len()).sum();
        let drives: usize = self.drives.iter().map(|of| 2 * PART + of.device.len()).sum();
        3 * PART + others + groups + drives + self.heat.as_ref().map_or(0, |heat| heat.sensor.len())
    }
}

/// Adds bytes of control groups, and keeps the most.
fn join_groups(all: &mut Vec<GroupBytes>, more: Vec<GroupBytes>) {
    for more in more {
        match all.iter_mut().find(|own| own.group == more.group) {
            Some(own) => {
                own.read = own.read.saturating_add(more.read);
                own.written = own.written.saturating_add(more.written);
            }
            None => all.push(more),
        }
    }
    all.sort_by_key(|of| std::cmp::Reverse(of.bytes()));
    all.truncate(Others::MAX);
}

fn join_drives(all: &mut Vec<DriveCount>, more: Vec<DriveCount>) {
    for more in more {
        match all.iter_mut().find(|own| own.is_as(&more)) {
            Some(own) => {
                own.times = own.times.saturating_add(more.times);
                own.nanos = own.nanos.saturating_add(more.nanos);
            }
            None => all.push(more),
        }
    }
}

impl DriveCount {
    /// Returns whether another one is of the same counter.
    pub fn is_as(&self, of: &DriveCount) -> bool {
        (&self.device, self.counter) == (&of.device, of.counter)
    }

    /// Describes what it counted in `watched` nanoseconds: `nvme1n1 was over the volume's limit of
    /// throughput for 8.20 s of 10.0 s`.
    pub fn describe(&self, watched: u64) -> String {
        let what = match self.counter {
            DriveCounter::VolumeIops => "was over the volume's limit of IOPS".into(),
            DriveCounter::VolumeThroughput => "was over the volume's limit of throughput".into(),
            DriveCounter::InstanceIops => "was over the instance's limit of IOPS".into(),
            DriveCounter::InstanceThroughput => {
                "was over the instance's limit of throughput".into()
            }
            DriveCounter::Throttled => match self.times {
                0 => "was slowed down by its heat".to_string(),
                times => format!("was slowed down by its heat {}", counted(times as usize, "time")),
            },
            DriveCounter::MediaErrors => {
                format!("counted {}", counted(self.times as usize, "media error"))
            }
        };
        let nanos = self.nanos.min(watched);
        let time = |nanos: u64| show_nanos(nanos as f64);
        let long = (nanos > 0).then(|| format!(" for {} of {}", time(nanos), time(watched)));
        format!("{} {what}{}", self.device, long.unwrap_or_default())
    }
}

impl GroupBytes {
    pub fn bytes(&self) -> u64 {
        self.read.saturating_add(self.written)
    }
}

impl Heat {
    /// A temperature at which devices slow down, degrees Celsius.
    pub const HOT: i64 = 70;
}

impl StateChange {
    /// Returns `io.max of /system.slice changed from max to wbps=33554432`; of a state that is
    /// worth a line from the start, `critical warning of nvme0n1 from the start: read-only`.
    pub fn describe(&self) -> String {
        if self.from == self.to {
            return format!("{} from the start: {}", self.of, self.to);
        }
        format!("{} changed from {} to {}", self.of, self.from, self.to)
    }
}

impl Surroundings {
    /// The narrowest steps, nanoseconds.
    pub const WIDTH: u64 = 1_000_000_000;
    /// Most changes that are kept: the first.
    const MAX_CHANGES: usize = 256;
    /// Bytes of JSON from which steps are merged.
    const MAX_WEIGHT: usize = 512 << 10;
    /// Their weight is looked at after as many more steps.
    const CHECKED_EVERY: usize = 64;
    /// The widest steps: of trials beyond any day.
    const MAX_WIDTH: u64 = u64::MAX / 4;

    /// Returns whether nothing was notable.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.changes.is_empty()
    }

    /// Adds a step that follows those before, unless it is quiet.
    pub fn push(&mut self, step: AroundStep) {
        if !step.is_quiet() {
            self.width = self.width.max(Surroundings::WIDTH);
            self.append(step);
            if self.steps.len().is_multiple_of(Surroundings::CHECKED_EVERY) {
                self.cut();
            }
        }
    }

    /// Adds a change of a setting.
    pub fn push_change(&mut self, change: StateChange) {
        self.width = self.width.max(Surroundings::WIDTH);
        self.changes.push(change);
        self.changes.truncate(Surroundings::MAX_CHANGES);
    }

    /// Adds what a later part of the trial has, which began `offset` nanoseconds later.
    pub fn join(&mut self, more: Surroundings, offset: u64) {
        self.width = self.width.max(more.width);
        self.steps.extend(more.steps.into_iter().map(|mut step| {
            step.from = step.from.saturating_add(offset);
            step
        }));
        for mut change in more.changes {
            change.at = change.at.saturating_add(offset);
            self.push_change(change);
        }
        self.cut();
    }

    /// Merges neighbours until they take little enough space.
    pub fn cut(&mut self) {
        self.width = self.width.clamp(Surroundings::WIDTH, Surroundings::MAX_WIDTH);
        self.changes.truncate(Surroundings::MAX_CHANGES);
        let weight = |of: &Surroundings| of.steps.iter().map(AroundStep::weight).sum::<usize>();
        while weight(self) > Surroundings::MAX_WEIGHT && self.width < Surroundings::MAX_WIDTH {
            self.width *= 2;
            for step in std::mem::take(&mut self.steps) {
                self.append(step);
            }
        }
    }

    /// Adds a step to the last one if they begin in the same interval, else after it.
    fn append(&mut self, step: AroundStep) {
        match self.steps.last_mut() {
            Some(last) if last.from / self.width == step.from / self.width => last.join(step),
            _ => self.steps.push(step),
        }
    }

    /// Returns what touches a time of the trial, nanoseconds after its start.
    pub fn between(&self, from: u64, to: u64) -> Surroundings {
        let steps = self.steps.iter().filter(|step| step.from < to && step.end() > from);
        let changes = self.changes.iter().filter(|change| (from..to).contains(&change.at));
        Surroundings {
            width: self.width,
            steps: steps.cloned().collect(),
            changes: changes.cloned().collect(),
        }
    }

    /// Describes what happened when, in the order of time: steps that follow each other together,
    /// `8 s to 11 s: backup (4711) wrote 200 MiB`.
    pub fn lines(&self) -> Vec<String> {
        let mut episodes: Vec<Surroundings> = Vec::new();
        for step in &self.steps {
            let follows =
                |last: &AroundStep| step.from <= last.end().saturating_add(self.width / 2);
            match episodes.last_mut() {
                Some(own) if own.steps.last().is_some_and(follows) => own.steps.push(step.clone()),
                _ => {
                    episodes.push(Surroundings { steps: vec![step.clone()], ..Default::default() })
                }
            }
        }
        let seconds = |nanos: u64| format!("{} s", nanos.div_ceil(Surroundings::WIDTH / 2) / 2);
        let of_steps = episodes.iter().filter_map(|own| {
            let (first, last) = (own.steps.first()?, own.steps.last()?);
            let time = format!("{} to {}", seconds(first.from), seconds(last.end()));
            Some((first.from, format!("{time}: {}", own.describe()?)))
        });
        let of_changes =
            self.changes.iter().map(|of| (of.at, format!("{}: {}", seconds(of.at), of.describe())));
        let mut lines: Vec<(u64, String)> = of_steps.chain(of_changes).collect();
        lines.sort_by_key(|(at, _)| *at);
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// Returns all its steps as one; `None` without any.
    pub fn total(&self) -> Option<AroundStep> {
        let mut steps = self.steps.iter().cloned();
        let mut all = steps.next()?;
        steps.for_each(|step| all.join(step));
        Some(all)
    }

    /// Returns the time of the steps in which the same counter rose, nanoseconds.
    fn watched_by(&self, count: &DriveCount) -> u64 {
        let steps = self.steps.iter().filter(|step| step.drives.iter().any(|of| of.is_as(count)));
        steps.map(|step| step.nanos).fold(0, u64::saturating_add)
    }

    /// Describes in one line who did what: `backup (4711) wrote 200 MiB; stolen time 12.0 % of
    /// 1.00 s`; `None` if nothing was notable.
    pub fn describe(&self) -> Option<String> {
        let mut parts: Vec<String> =
            self.changes.iter().take(MAX_NAMED).map(StateChange::describe).collect();
        if self.changes.len() > MAX_NAMED {
            parts.push(counted(self.changes.len() - MAX_NAMED, "more change"));
        }
        if let Some(all) = self.total() {
            parts.extend(all.describe_others());
            let stolen = self.steps.iter().filter(|step| step.stolen > 0);
            let nanos: u64 = stolen.map(|step| step.nanos).fold(0, u64::saturating_add);
            parts.extend(describe_share("stolen time", all.stolen, nanos));
            parts.extend(all.dirty.map(|dirty| dirty.describe()));
            if let Some(heat) = &all.heat {
                parts.push(format!("{} at {} C", heat.sensor, heat.celsius));
            }
            if all.throttled > 0 {
                parts.push(format!("CPUs throttled for heat {} times", all.throttled));
            }
            parts.extend(all.drives.iter().map(|of| of.describe(self.watched_by(of))));
            let stalled = self.steps.iter().filter(|step| step.stalled > 0);
            let nanos: u64 = stalled.map(|step| step.nanos).fold(0, u64::saturating_add);
            parts.extend(describe_share("io.pressure", all.stalled, nanos));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Returns `stolen time 12.0 % of 1.00 s`; `None` without any.
fn describe_share(of: &str, part: u64, nanos: u64) -> Option<String> {
    let share = part as f64 / nanos.max(1) as f64;
    (part > 0).then(|| format!("{of} {} of {}", show_share(share), show_nanos(nanos as f64)))
}

/// Returns `wrote 200 MiB`, or `read 1 MiB and wrote 2 MiB`.
fn describe_bytes(read: u64, written: u64) -> String {
    let r = (read > 0).then(|| format!("read {}", show_bytes(read)));
    let w = (written > 0).then(|| format!("wrote {}", show_bytes(written)));
    match (r, w) {
        (Some(r), Some(w)) => format!("{r} and {w}"),
        (r, w) => r.or(w).unwrap_or_default(),
    }
}

impl Dirty {
    /// Describes that writers wait.
    pub fn describe(&self) -> String {
        let (bytes, limit) = (show_bytes(self.bytes), show_bytes(self.limit));
        format!("the kernel holds writers back: {bytes} of dirty memory, its limit {limit}")
    }
}

impl AroundStep {
    /// Describes who used disks: processes, else control groups, else nobody who is known.
    pub fn describe_others(&self) -> Option<String> {
        let none = Others::default();
        let others = self.others.as_deref().unwrap_or(&none);
        let (moved, known) = (self.moved(), others.named_bytes());
        let mut parts: Vec<String> = others
            .named()
            .map(|of| format!("{} {}", of.label(), describe_bytes(of.read, of.written)))
            .collect();
        if others.describe_rest(moved, known).is_some() {
            let groups = self.groups.iter().take(MAX_NAMED);
            let of_groups = groups.clone().map(GroupBytes::bytes).fold(0, u64::saturating_add);
            parts.extend(groups.map(|of| {
                format!("control group {} {}", of.group, describe_bytes(of.read, of.written))
            }));
            parts.extend(others.describe_kernel());
            // The group of a process that is named has its bytes, too.
            let rest = others.describe_rest(moved, known.max(of_groups));
            let is_alone = parts.is_empty();
            parts.extend(rest.map(|rest| match is_alone {
                true => format!(
                    "others moved {} on the disk, and who is unknown{}",
                    show_bytes(moved),
                    others.describe_hidden()
                ),
                false => rest,
            }));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
