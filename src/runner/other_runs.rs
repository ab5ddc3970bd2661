//! Tells other processes which disks this one measures, and finds those that measure the same.
//!
//! A run binds an abstract Unix socket whose name has the session folder, the disk and the process.
//! The kernel lists such names and removes them with their process, however it ends. Runs that save
//! to another folder, as those of other users do, and those in another network namespace, as in most
//! containers, are not seen.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;

use crate::plan::{Plan, TargetSpec};
use crate::record::{Severity, Warning};
use crate::session::folder;
use crate::sys::disk::{device_of, whole_disk};

/// Id of the finding that another iotui measures on a disk of the plan.
pub const OTHER_RUN: &str = "other-run";

const PREFIX: &str = "iotui-measures/";
/// The abstract names of this network namespace.
const NAMES: &str = "/proc/net/unix";

/// The names that tell others of a run, until it is dropped.
#[derive(Debug, Default)]
pub struct Announcement {
    _sockets: Vec<UnixDatagram>,
}

/// Returns how the names of runs begin that save to the same folder.
fn prefix() -> String {
    let folder = folder().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    format!("{PREFIX}{:08x}/", crc32fast::hash(folder.as_bytes()))
}

/// Announces a run of a plan. Where that is refused, no other process learns of it.
pub fn announce(plan: &Plan) -> Announcement {
    let (pid, own) = (std::process::id(), prefix());
    let bind = |disk: &String| {
        let address = SocketAddr::from_abstract_name(format!("{own}{disk}/{pid}")).ok()?;
        UnixDatagram::bind_addr(&address).ok()
    };
    Announcement { _sockets: disks_of(plan).iter().filter_map(bind).collect() }
}

/// Returns a finding if another process measures on a disk of this plan now.
pub fn find_other_run(plan: &Plan) -> Option<Warning> {
    let names = fs::read_to_string(NAMES).ok()?;
    let pids = find_processes(&names, &prefix(), &disks_of(plan), std::process::id());
    let pid = pids.first()?;
    Some(Warning {
        id: OTHER_RUN.into(),
        severity: Severity::Misleading,
        message: format!("another iotui (process {pid}) measures on this disk now"),
        evidence: format!("{} found by the name of its socket", count_processes(pids.len())),
        remedy: "wait until it is done, or stop it".into(),
    })
}

fn count_processes(count: usize) -> String {
    if count == 1 { "1 process".into() } else { format!("{count} processes") }
}

/// Returns the processes other than `own` that measure on one of these disks.
fn find_processes(names: &str, prefix: &str, disks: &BTreeSet<String>, own: u32) -> Vec<u32> {
    let process = |line: &str| {
        let (_, name) = line.rsplit_once('@')?;
        let (disk, pid) = name.trim_end().strip_prefix(prefix)?.split_once('/')?;
        let pid: u32 = pid.parse().ok()?;
        (pid != own && disks.contains(disk)).then_some(pid)
    };
    names.lines().filter_map(process).collect()
}

/// Returns the disks of a plan as `major:minor`. A file system without one stands for itself.
fn disks_of(plan: &Plan) -> BTreeSet<String> {
    let path = |target: &TargetSpec| match target {
        TargetSpec::None => None,
        TargetSpec::File { path, .. } => Some(path.clone()),
        TargetSpec::Scratch { dir, .. } => Some(dir.clone()),
        TargetSpec::New { path, .. } => path.parent().map(Path::to_path_buf),
    };
    plan.targets().filter_map(path).filter_map(|path| disk_of(&path)).collect()
}

fn disk_of(path: &Path) -> Option<String> {
    // Only folders and what is known to be a file or a disk: a pipe would block.
    let meta = fs::metadata(path).ok()?;
    let is_special = !meta.is_dir() && !meta.is_file();
    let device = if is_special {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        meta.file_type().is_block_device().then(|| split(meta.rdev()))
    } else {
        use std::os::unix::fs::MetadataExt;
        File::open(path).ok().and_then(|file| device_of(&file)).or_else(|| Some(split(meta.dev())))
    };
    let (major, minor) = whole_disk(device?);
    Some(format!("{major}:{minor}"))
}

fn split(device: u64) -> (u64, u64) {
    (nix::sys::stat::major(device), nix::sys::stat::minor(device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing;

    #[test]
    fn other_processes_on_the_same_disk_are_found_and_nothing_else() {
        let names = "Num RefCount Protocol Flags Type St Inode Path\n\
             0: 00000002 00000000 00000000 0002 01 1 @iotui-measures/254:0/17\n\
             0: 00000002 00000000 00000000 0002 01 2 @iotui-measures/254:16/18\n\
             0: 00000002 00000000 00000000 0002 01 3 @iotui-measures/254:0/99\n\
             0: 00000002 00000000 00000000 0002 01 4 @iotui-measures/254:0/x\n\
             0: 00000002 00000000 00000000 0002 01 5 /run/@iotui\n\
             0: 00000002 00000000 00000000 0002 01 6\n";
        let disks = BTreeSet::from(["254:0".to_string()]);
        assert_eq!(find_processes(names, PREFIX, &disks, 99), [17]);
        assert_eq!(find_processes("", PREFIX, &disks, 99), [0; 0]);
    }

    #[test]
    fn a_run_is_announced_until_it_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let target = TargetSpec::Scratch { dir: dir.path().into(), size: 1, keep: false };
        let plan = Plan { target, ..testing::plan(0) };
        let disk = disks_of(&plan).pop_first().expect("a folder has a file system");
        let name = format!("@{}{disk}/{}", prefix(), std::process::id());
        let is_announced = || fs::read_to_string(NAMES).is_ok_and(|names| names.contains(&name));
        let announcement = announce(&plan);
        if announcement._sockets.is_empty() {
            return;
        }
        assert!(is_announced());
        assert_eq!(find_other_run(&plan), None, "one does not disturb oneself");
        drop(announcement);
        assert!(!is_announced());
        assert_eq!(disks_of(&Plan { target: TargetSpec::None, ..plan }), BTreeSet::new());
    }
}
