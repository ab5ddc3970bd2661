//! Announces to other processes which disks this one measures, and finds processes that measure the
//! same.
//!
//! A run binds an abstract Unix socket whose name has the disk and the process. The kernel lists
//! such names and removes them with their process, however it ends. Runs in another network
//! namespace, as in most containers, are not seen. Runs of a user
//! in `/etc/passwd` whose home is in no line of it, as in tests, see only each other.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;

use crate::doctor::OTHER_RUN;
use crate::host::Below;
use crate::plan::{Plan, TargetSpec};
use crate::record::{Severity, Warning};
use crate::sys::text;
use crate::units::counted;

const PREFIX: &str = "iotui-measures/";
/// The abstract names of this network namespace.
const NAMES: &str = "/proc/net/unix";
const USERS: &str = "/etc/passwd";

/// Where a plan measures, and how the names of runs there begin.
#[derive(Debug)]
struct Place {
    prefix: String,
    /// As `major:minor`; a file system without one stands for itself.
    disks: BTreeSet<String>,
}

/// The socket names that announce a run, until it is dropped.
#[derive(Debug)]
pub struct Announcement {
    place: Place,
    _sockets: Vec<UnixDatagram>,
}

/// Announces the run of a plan. If the socket is refused, other processes do not see the run.
pub fn announce(plan: &Plan) -> Announcement {
    Place::of(plan).announce(std::process::id())
}

/// Announces a run as another process would; `None`, with a skip, where that is refused.
#[cfg(test)]
pub(super) fn announce_as(plan: &Plan, pid: u32) -> Option<Announcement> {
    let announcement = Place::of(plan).announce(pid);
    if announcement._sockets.is_empty() {
        crate::sys::testing::skip("no abstract socket can be bound here");
        return None;
    }
    Some(announcement)
}

impl Announcement {
    /// Returns a finding if another process measures on a disk of the plan now. Of two runs that
    /// begin at once at least one finds the other, because each was announced before it looked.
    pub fn find_other_run(&self) -> Option<Warning> {
        self.place.find_other_run()
    }
}

/// Returns a finding if another process measures on a disk of this plan now.
pub fn find_other_run(plan: &Plan) -> Option<Warning> {
    Place::of(plan).find_other_run()
}

impl Place {
    fn of(plan: &Plan) -> Place {
        let path = |target: &TargetSpec| match target {
            TargetSpec::None => None,
            TargetSpec::File { path, .. } => Some(path.clone()),
            TargetSpec::Scratch { dir, .. } | TargetSpec::Files { dir, .. } => Some(dir.clone()),
            TargetSpec::New { path, .. } => path.parent().map(Path::to_path_buf),
        };
        let disks: BTreeSet<String> =
            plan.targets().filter_map(path).flat_map(|path| disks_of(&path)).collect();
        let prefix = if disks.is_empty() {
            String::new()
        } else {
            let home = std::env::var_os("HOME").unwrap_or_default();
            let uid = fs::metadata("/proc/self").map_or(0, |own| own.uid());
            prefix_for(&home.to_string_lossy(), uid, &text::read(USERS).unwrap_or_default())
        };
        Place { prefix, disks }
    }

    fn announce(self, pid: u32) -> Announcement {
        let bind = |disk: &String| {
            let name = format!("{}{disk}/{pid}", self.prefix);
            UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name).ok()?).ok()
        };
        let sockets = self.disks.iter().filter_map(bind).collect();
        Announcement { place: self, _sockets: sockets }
    }

    fn find_other_run(&self) -> Option<Warning> {
        if self.disks.is_empty() {
            return None;
        }
        let pids = self.find_processes(&text::read(NAMES).ok()?, std::process::id());
        let pid = pids.first()?;
        Some(Warning {
            id: OTHER_RUN.into(),
            severity: Severity::Misleading,
            message: format!("another iotui (process {pid}) measures on this disk now"),
            evidence: format!("{} found by the name of its socket", counted(pids.len(), "process")),
            remedy: "wait until it is done, or stop it".into(),
        })
    }

    /// Returns the processes other than `own` that measure on one of the disks.
    fn find_processes(&self, names: &str, own: u32) -> BTreeSet<u32> {
        let process = |line: &str| {
            let (_, name) = line.rsplit_once('@')?;
            let (disk, pid) = name.trim_end().strip_prefix(&self.prefix)?.split_once('/')?;
            let pid: u32 = pid.parse().ok()?;
            (pid != own && self.disks.contains(disk)).then_some(pid)
        };
        names.lines().filter_map(process).collect()
    }
}

/// Returns the beginning of names. All users share one, also users of a directory service, whom
/// `users` lacks; a user in `users` whose home is in no line of it has another.
fn prefix_for(home: &str, uid: u32, users: &str) -> String {
    let has = |field: usize, text: &str| {
        users.lines().any(|line| line.split(':').nth(field) == Some(text))
    };
    if home.is_empty() || has(5, home) || !has(2, &uid.to_string()) {
        PREFIX.into()
    } else {
        format!("{PREFIX}{:08x}/", crc32fast::hash(home.as_bytes()))
    }
}

fn disks_of(path: &Path) -> Vec<String> {
    // Only folders and what is known to be a file or a disk: a pipe would block.
    let Ok(meta) = fs::metadata(path) else { return Vec::new() };
    let device = if meta.is_dir() || meta.is_file() {
        split(meta.dev())
    } else if meta.file_type().is_block_device() {
        split(meta.rdev())
    } else {
        return Vec::new();
    };
    // Without reading it: that takes rights.
    let file = File::options().read(true).custom_flags(libc::O_PATH).open(path);
    let lowest = file.map(|file| Below::of(&file).lowest()).unwrap_or_default();
    let disks = if lowest.is_empty() { BTreeSet::from([device]) } else { lowest };
    disks.into_iter().map(|(major, minor)| format!("{major}:{minor}")).collect()
}

fn split(device: u64) -> (u64, u64) {
    (nix::sys::stat::major(device), nix::sys::stat::minor(device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing;

    #[test]
    fn other_run_is_found_once() {
        let names = "Num RefCount Protocol Flags Type St Inode Path\n\
             0: 00000002 00000000 00000000 0002 01 1 @iotui-measures/254:0/17\n\
             0: 00000002 00000000 00000000 0002 01 1 @iotui-measures/254:32/17\n\
             0: 00000002 00000000 00000000 0002 01 2 @iotui-measures/254:16/18\n\
             0: 00000002 00000000 00000000 0002 01 3 @iotui-measures/254:0/99\n\
             0: 00000002 00000000 00000000 0002 01 4 @iotui-measures/254:0/x\n\
             0: 00000002 00000000 00000000 0002 01 5 /run/@iotui\n\
             0: 00000002 00000000 00000000 0002 01 5 @\u{fffd}\n\
             0: 00000002 00000000 00000000 0002 01 6\n";
        let place =
            Place { prefix: PREFIX.into(), disks: ["254:0", "254:32"].map(String::from).into() };
        assert_eq!(place.find_processes(names, 99), BTreeSet::from([17]));
        assert_eq!(place.find_processes("", 99), BTreeSet::new());
    }

    #[test]
    fn all_users_see_a_run() {
        let users = "root:x:0:0:root:/root:/bin/bash\nbad\nme:x:1000:1000::/home/me:/bin/sh\n";
        for (home, uid) in [
            ("/root", 0),
            ("/home/me", 1000),
            ("", 0),
            // `sudo` may keep the home.
            ("/home/me", 0),
            // A user of a directory service, and one without a name.
            ("/net/homes/someone", 71234),
            ("/", 4242),
        ] {
            assert_eq!(prefix_for(home, uid, users), PREFIX, "{home} {uid}");
        }
        let apart = prefix_for("/tmp/test", 0, users);
        assert!(apart != PREFIX && apart != prefix_for("/tmp/other", 0, users));
    }

    #[test]
    fn run_is_announced_until_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let target = TargetSpec::Scratch { dir: dir.path().into(), size: 1, keep: false };
        let plan = Plan { target, ..testing::plan(0) };
        let Some(announcement) = announce_as(&plan, std::process::id()) else { return };
        let disk = announcement.place.disks.first().expect("a folder has a file system");
        let name = format!("@{}{disk}/{}", announcement.place.prefix, std::process::id());
        let is_announced = || text::read(NAMES).is_ok_and(|names| names.contains(&name));
        assert!(is_announced());
        let own = std::process::id();
        let names = text::read(NAMES).unwrap();
        assert!(!announcement.place.find_processes(&names, own).contains(&own));
        assert!(announcement.place.find_processes(&names, 0).contains(&own), "others find it");
        drop(announcement);
        assert!(!is_announced());
        let none = Plan { target: TargetSpec::None, ..plan };
        assert_eq!(find_other_run(&none), None, "probes measure no disk");
    }
}
