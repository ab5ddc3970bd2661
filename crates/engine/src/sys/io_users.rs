//! Finds the other processes that use disks: /proc/PID/io of all.
//!
//! The kernel charges reads to the process that submits them, and writes to the one that makes
//! memory dirty. What its own threads write, the journal and pages of others, is charged to
//! nobody: of them only the time that they ran is known.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::process_io::ProcessIo;
use super::{child, text};

/// With more processes none is read: the passes would take longer than short trials.
const MAX_PROCESSES: usize = 2048;
/// Bytes below which a process is not worth a name.
const MIN_BYTES: u64 = 64 << 10;
/// How the names of the kernel's threads for storage begin.
const STORAGE: [&str; 9] =
    ["jbd2/", "ext4lazyinit", "xfsaild/", "xfs-", "btrfs-", "txg_sync", "md", "loop", "kswapd"];
/// A worker of the kernel that writes pages back has this in its name, until its next work.
const FLUSH: &str = "flush-";

/// Another process that was charged with bytes, or a thread of the kernel that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoUser {
    pub pid: u32,
    /// /proc/PID/comm, as the process chose it.
    pub name: String,
    pub read: u64,
    pub written: u64,
    /// A thread of the kernel for storage, without bytes.
    pub is_kernel: bool,
}

/// The counters of all other processes at one moment.
#[derive(Clone, Debug, Default)]
pub struct IoUsers {
    root: PathBuf,
    counters: HashMap<u32, Counter>,
    /// Processes whose counters were not read.
    hidden: u32,
}

#[derive(Clone, Copy, Debug)]
enum Counter {
    Process {
        read: u64,
        written: u64,
    },
    /// Nanoseconds that a thread of the kernel ran.
    Kernel {
        ran: u64,
    },
}

impl IoUsers {
    /// Reads the counters of all processes but this one and its neighbour.
    pub fn now() -> IoUsers {
        IoUsers::read(Path::new("/proc"), &[std::process::id(), child::own_process()])
    }

    fn read(root: &Path, own: &[u32]) -> IoUsers {
        let mut users = IoUsers { root: root.into(), ..IoUsers::default() };
        let entries = fs::read_dir(root).into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let pids: Vec<u32> = pids.filter(|pid| !own.contains(pid)).collect();
        if pids.len() > MAX_PROCESSES {
            users.hidden = u32::try_from(pids.len()).unwrap_or(u32::MAX);
            return users;
        }
        for pid in pids {
            match users.read_counter(pid) {
                Some(counter) => drop(users.counters.insert(pid, counter)),
                // It ended, or belongs to someone else.
                None => users.hidden += u32::from(users.path(pid, "comm").exists()),
            }
        }
        users
    }

    fn path(&self, pid: u32, file: &str) -> PathBuf {
        self.root.join(pid.to_string()).join(file)
    }

    fn read_counter(&self, pid: u32) -> Option<Counter> {
        let io = ProcessIo::of(&self.path(pid, "io")).ok()?;
        // Only a thread of the kernel has made no call.
        if io.syscr == 0 && io.syscw == 0 && io.read_bytes == 0 && io.write_bytes == 0 {
            let ran = text::line(self.path(pid, "schedstat"));
            let ran = ran.and_then(|line| line.split(' ').next()?.parse().ok());
            return Some(Counter::Kernel { ran: ran.unwrap_or(0) });
        }
        Some(Counter::Process { read: io.read_bytes, written: io.write_bytes })
    }

    /// Returns how many processes were not read.
    pub fn hidden(&self) -> u32 {
        self.hidden
    }

    /// Lists who did something since `before`, with the names of now. What a process did that ended
    /// in between is its parent's, if that has waited for it.
    pub fn since(&self, before: &IoUsers) -> Vec<IoUser> {
        // One of them was not read for want of time.
        if before.counters.is_empty() && before.hidden > 0 {
            return Vec::new();
        }
        let mut changed: Vec<(u32, [u64; 2], bool)> =
            self.counters.iter().filter_map(|(pid, now)| changed(*pid, *now, before)).collect();
        changed.sort_by_key(|(pid, ..)| *pid);
        self.take_back(before, &mut changed);
        let users = changed.into_iter().filter_map(|(pid, [read, written], is_kernel)| {
            if !is_kernel && read.saturating_add(written) < MIN_BYTES {
                return None;
            }
            let name = text::line(self.path(pid, "comm")).unwrap_or_default();
            let is_storage = STORAGE.iter().any(|start| name.starts_with(start));
            let is_worth_it = !is_kernel || is_storage || name.contains(FLUSH);
            is_worth_it.then_some(IoUser { pid, name, read, written, is_kernel })
        });
        users.collect()
    }

    /// Takes from the parents what ended processes had done before: the kernel adds the counters of
    /// a process to its parent's when that has waited for it. Its number is not known any more, so
    /// the smallest counts that hold them are taken for the parent's.
    fn take_back(&self, before: &IoUsers, changed: &mut [(u32, [u64; 2], bool)]) {
        for (pid, counter) in &before.counters {
            let Counter::Process { read, written } = *counter else { continue };
            if self.counters.contains_key(pid) || read.saturating_add(written) < MIN_BYTES {
                continue;
            }
            let holders = changed.iter_mut().filter(|(_, [r, w], _)| *r >= read && *w >= written);
            if let Some((_, [r, w], _)) = holders.min_by_key(|(_, [r, w], _)| r.saturating_add(*w))
            {
                (*r, *w) = (*r - read, *w - written);
            }
        }
    }
}

/// Returns what a process or thread did since `before`: the bytes that it read and wrote, and
/// whether it is of the kernel; `None` = nothing.
fn changed(pid: u32, now: Counter, before: &IoUsers) -> Option<(u32, [u64; 2], bool)> {
    match (now, before.counters.get(&pid)) {
        // A smaller count is one of an earlier process.
        (Counter::Process { read, written }, Some(Counter::Process { read: r, written: w }))
            if *r <= read && *w <= written =>
        {
            let bytes = [read - r, written - w];
            (bytes != [0, 0]).then_some((pid, bytes, false))
        }
        (Counter::Process { read, written }, _) => Some((pid, [read, written], false)),
        (Counter::Kernel { ran }, Some(Counter::Kernel { ran: then })) if ran > *then => {
            Some((pid, [0, 0], true))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the files of a process; `io` has calls, bytes read and written, `None` = unreadable.
    fn process(root: &Path, pid: u32, name: &str, io: Option<[u64; 3]>, ran: u64) {
        let dir = root.join(pid.to_string());
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("comm"), format!("{name}\n")).unwrap();
        fs::write(dir.join("schedstat"), format!("{ran} 7 3\n")).unwrap();
        if let Some([calls, read, written]) = io {
            let text = format!("syscr: {calls}\nread_bytes: {read}\nwrite_bytes: {written}\n");
            fs::write(dir.join("io"), text).unwrap();
        }
    }

    #[test]
    fn users_are_named_with_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        const MIB: u64 = 1 << 20;
        let put = |pid, name: &str, io, ran| process(root, pid, name, io, ran);
        put(1, "iotui", Some([9, MIB, 0]), 0);
        put(2, "rsync", Some([9, MIB, MIB]), 0);
        put(3, "idle", Some([9, 5 * MIB, 0]), 0);
        put(4, "secret", None, 0);
        put(5, "jbd2/vda1-8", Some([0, 0, 0]), 100);
        put(6, "kworker/u8:2-flush-254:0", Some([0, 0, 0]), 100);
        put(7, "kcompactd0", Some([0, 0, 0]), 100);
        put(8, "ext4lazyinit", Some([0, 0, 0]), 100);
        put(9, "old", Some([9, 9 * MIB, 0]), 0);
        put(11, "sh", Some([9, 0, 0]), 0);
        put(12, "ends", Some([9, 256 * MIB, MIB]), 0);
        fs::create_dir(root.join("sys")).unwrap();
        let before = IoUsers::read(root, &[1]);
        put(1, "iotui", Some([9, 90 * MIB, 0]), 0);
        put(2, "rsync", Some([10, 4 * MIB, 3 * MIB]), 0);
        put(3, "idle", Some([9, 5 * MIB + 4096, 0]), 0);
        put(5, "jbd2/vda1-8", Some([0, 0, 0]), 101);
        put(6, "kworker/u8:2-flush-254:0", Some([0, 0, 0]), 101);
        put(7, "kcompactd0", Some([0, 0, 0]), 101);
        put(9, "new of the same number", Some([1, 2 * MIB, 0]), 0);
        put(10, "began", Some([1, 0, MIB]), 0);
        // Its parent gets all that it did.
        fs::remove_dir_all(root.join("12")).unwrap();
        put(11, "sh", Some([9, 258 * MIB, MIB]), 0);
        let after = IoUsers::read(root, &[1]);
        let user = |pid, name: &str, read, written, is_kernel| IoUser {
            pid,
            name: name.into(),
            read,
            written,
            is_kernel,
        };
        assert_eq!(
            after.since(&before),
            [
                user(2, "rsync", 3 * MIB, 2 * MIB, false),
                user(5, "jbd2/vda1-8", 0, 0, true),
                user(6, "kworker/u8:2-flush-254:0", 0, 0, true),
                user(9, "new of the same number", 2 * MIB, 0, false),
                user(10, "began", 0, MIB, false),
                user(11, "sh", 2 * MIB, 0, false),
            ]
        );
        assert_eq!((before.hidden(), after.hidden()), (1, 1));
    }

    #[test]
    fn too_many_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let count = MAX_PROCESSES as u32 + 1;
        (1..=count).for_each(|pid| fs::create_dir(dir.path().join(pid.to_string())).unwrap());
        let users = IoUsers::read(dir.path(), &[]);
        assert_eq!((users.hidden(), users.since(&users)), (count, vec![]));
        assert_eq!(IoUsers::read(Path::new("/nothing"), &[]).hidden(), 0);
    }
}
