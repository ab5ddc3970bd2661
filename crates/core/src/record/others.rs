//! The others who used disks during a trial.

use serde::{Deserialize, Serialize};

use crate::units::{counted, show_bytes};

/// Names that a message has of each kind.
pub(super) const MAX_NAMED: usize = 3;
/// Share of the bytes that the named processes may lack.
const MAX_REST: f64 = 0.1;
/// Bytes that others may move on the disk.
const MAX_FOREIGN_BYTES: u64 = 1 << 20;
/// Share of this process's bytes that others may move on the disk.
const MAX_FOREIGN_SHARE: f64 = 0.02;
/// The same share for writes: the journal's writes for this process are not charged to it.
const MAX_JOURNAL_SHARE: f64 = 0.1;

/// The others who used disks during a trial, as the kernel charges I/O to processes: reads when
/// they are submitted, writes when they are made dirty in memory, on any disk.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Others {
    /// The most bytes first.
    pub processes: Vec<OtherProcess>,
    /// Threads of the kernel for storage that ran, such as `jbd2/vda1-8`: no bytes are charged to
    /// them.
    pub kernel: Vec<String>,
    /// Processes whose counters were not read, for want of rights or because they were too many;
    /// absent from JSON if none.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    pub hidden: u32,
}

/// Another process that was charged with I/O.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherProcess {
    /// /proc/PID/comm: chosen by the process itself.
    pub name: String,
    pub pid: u32,
    pub read: u64,
    pub written: u64,
}

impl OtherProcess {
    pub fn bytes(&self) -> u64 {
        self.read.saturating_add(self.written)
    }

    /// Returns `rsync (4711)`.
    pub fn label(&self) -> String {
        format!("{} ({})", self.name, self.pid)
    }
}

impl Others {
    /// Most processes and threads of the kernel that a trial keeps.
    pub const MAX: usize = 8;

    /// Returns the bytes that others may move on the disk while this process moves `own`, and
    /// `writes` or not.
    pub fn limit(own: u64, writes: bool) -> u64 {
        let share = if writes { MAX_JOURNAL_SHARE } else { MAX_FOREIGN_SHARE };
        MAX_FOREIGN_BYTES.max((own as f64 * share) as u64)
    }

    /// Adds the processes of another part of a trial, or of another trial.
    pub fn join(&mut self, more: &Others) {
        for other in &more.processes {
            let known = self
                .processes
                .iter_mut()
                .find(|own| own.pid == other.pid && own.name == other.name);
            match known {
                Some(own) => {
                    own.read = own.read.saturating_add(other.read);
                    own.written = own.written.saturating_add(other.written);
                }
                None => self.processes.push(other.clone()),
            }
        }
        for name in &more.kernel {
            if !self.kernel.contains(name) {
                self.kernel.push(name.clone());
            }
        }
        self.hidden = self.hidden.max(more.hidden);
        self.cut();
    }

    /// Puts the most bytes first, and keeps [`Others::MAX`].
    pub fn cut(&mut self) {
        self.processes.sort_by_key(|other| std::cmp::Reverse(other.bytes()));
        self.processes.truncate(Others::MAX);
        self.kernel.truncate(Others::MAX);
    }

    /// Returns the processes that a message names, the most bytes first.
    pub(super) fn named(&self) -> impl Iterator<Item = &OtherProcess> + Clone {
        self.processes.iter().filter(|other| other.bytes() > 0).take(MAX_NAMED)
    }

    /// Returns the bytes of the processes that a message names.
    pub(super) fn named_bytes(&self) -> u64 {
        self.named().map(OtherProcess::bytes).fold(0, u64::saturating_add)
    }

    /// Returns `jbd2/vda1-8 of the kernel ran`; `None` if none did.
    pub(super) fn describe_kernel(&self) -> Option<String> {
        let named = &self.kernel[..self.kernel.len().min(MAX_NAMED)];
        (!named.is_empty()).then(|| format!("{} of the kernel ran", named.join(", ")))
    }

    /// Describes the rest of `bytes` of which `known` are said; `None` if that is little.
    pub(super) fn describe_rest(&self, bytes: u64, known: u64) -> Option<String> {
        let rest = bytes.saturating_sub(known);
        if rest as f64 <= bytes as f64 * MAX_REST {
            return None;
        }
        let what = match known {
            0 => "who moved them is unknown".into(),
            _ => format!("who moved {} is unknown", show_bytes(rest)),
        };
        Some(what + &self.describe_hidden())
    }

    /// Returns ` (counters of 12 processes not read)`; empty if all were.
    pub(super) fn describe_hidden(&self) -> String {
        match self.hidden {
            0 => String::new(),
            hidden => format!(" (counters of {} not read)", counted(hidden as usize, "process")),
        }
    }

    /// Says who moved `bytes`: `rsync (4711) 540 MiB; jbd2/vda1-8 of the kernel ran`.
    pub fn describe(&self, bytes: u64) -> String {
        let show =
            |other: &OtherProcess| format!("{} {}", other.label(), show_bytes(other.bytes()));
        let named: Vec<String> = self.named().map(show).collect();
        let named = (!named.is_empty()).then(|| named.join(", "));
        let rest = self.describe_rest(bytes, self.named_bytes());
        let parts = named.into_iter().chain(self.describe_kernel()).chain(rest);
        parts.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn process(name: &str, pid: u32, read: u64, written: u64) -> OtherProcess {
        OtherProcess { name: name.into(), pid, read, written }
    }

    #[test]
    fn the_rest_is_unknown() {
        let rsync = || vec![process("rsync", 4711, 500 * MIB, 40 * MIB)];
        let jbd2 = || vec!["jbd2/vda1-8".to_string()];
        for (processes, kernel, hidden, bytes, wanted) in [
            (rsync(), vec![], 0, 565 * MIB, "rsync (4711) 540 MiB"),
            (
                rsync(),
                jbd2(),
                0,
                700 * MIB,
                "rsync (4711) 540 MiB; jbd2/vda1-8 of the kernel ran; who moved 160 MiB is unknown",
            ),
            (vec![], vec![], 0, MIB, "who moved them is unknown"),
            (
                vec![],
                vec![],
                12,
                MIB,
                "who moved them is unknown (counters of 12 processes not read)",
            ),
            // More than the disk moved: on another disk, or still in memory.
            (rsync(), vec![], 9, MIB, "rsync (4711) 540 MiB"),
        ] {
            assert_eq!(Others { processes, kernel, hidden }.describe(bytes), wanted);
        }
    }

    #[test]
    fn the_most_bytes_are_kept() {
        let mut all = Others::default();
        for pid in 0..20 {
            let processes = vec![process("a", pid, 1, u64::from(pid)), process("b", 99, MIB, 0)];
            all.join(&Others { processes, kernel: vec!["jbd2/vda1-8".into()], hidden: pid });
        }
        assert_eq!(all.processes.len(), Others::MAX);
        assert_eq!(all.processes[0], process("b", 99, 20 * MIB, 0));
        assert_eq!(all.processes[1], process("a", 19, 1, 19));
        assert_eq!((all.kernel.len(), all.hidden), (1, 19));
    }
}
