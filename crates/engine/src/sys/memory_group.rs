//! A temporary control group that limits the memory, page cache included, of the processes in it.
#![allow(unsafe_code)]

use std::ffi::{CString, OsStr};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::SFlag;
use nix::unistd::geteuid;

use super::folder::{Folder, LockedEntry};
use super::memory::{below_root, group_path};
use super::mounts::{self, MountEntry};
use super::names::{is_random_name, random_name};
use super::scratch;
use super::text;

/// The inode of the initial cgroup namespace (PROC_CGROUP_INIT_INO of the kernel).
const FIRST_SPACE: u64 = 0xEFFF_FFFB;
const PREFIX: &str = "iotui-";

/// A control group that is removed when dropped; its processes must have exited.
#[derive(Debug)]
pub struct MemoryGroup {
    /// Its folder, locked while the group exists.
    entry: LockedEntry,
    parent: Folder,
    /// `cgroup.procs`: a process that writes `0` to it joins the group.
    pub processes: File,
}

/// Where a group can be created, and the names of its control files.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GroupParent {
    parent: PathBuf,
    limit: &'static str,
    /// To disable swap, which would only make room for anonymous memory.
    swap: Option<&'static str>,
}

impl MemoryGroup {
    /// Checks whether [`create`](MemoryGroup::create) may work here.
    ///
    /// # Errors
    /// The reason why not, worded for the user.
    pub fn check_available() -> Result<(), String> {
        find_parent().map(drop)
    }

    /// Creates a group of `limit` bytes if the kernel's groups are delegated to this process or its
    /// user: in a container's own tree, in a session's, in a service that delegates. Nowhere else,
    /// because the managers of other groups rely on controlling them.
    ///
    /// # Errors
    /// The reason why it is not possible, worded for the user.
    pub fn create(limit: u64) -> Result<MemoryGroup, String> {
        create_in(&find_parent()?, limit)
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        self.parent.remove_folder(&self.entry.name, self.entry.id);
    }
}

fn find_parent() -> Result<GroupParent, String> {
    fn read(path: &str) -> Result<String, String> {
        text::read(path).map_err(|error| format!("{path}: {error}"))
    }
    let own_space =
        fs::metadata("/proc/self/ns/cgroup").is_ok_and(|space| space.ino() != FIRST_SPACE);
    let mounts = mounts::parse_table(&read("/proc/self/mountinfo")?);
    let place = choose_parent(&read("/proc/self/cgroup")?, &mounts, &|dir, top| {
        (top && own_space) || is_ours(dir) || is_delegated(dir)
    })?;
    let writable = nix::unistd::access(&place.parent, nix::unistd::AccessFlags::W_OK);
    writable
        .map_err(|errno| format!("{}: {}", place.parent.display(), errno.desc()))
        .map(|()| place)
}

/// Finds the group in which to create groups. `handed_over` returns whether a folder is delegated;
/// its second argument is whether that folder is the root of the mount.
fn choose_parent(
    groups: &str,
    mounts: &[MountEntry],
    handed_over: &dyn Fn(&Path, bool) -> bool,
) -> Result<GroupParent, String> {
    let dir = |mount: &MountEntry, controller| {
        group_path(groups, controller)
            .map(|group| mount.mount_point.join(below_root(&group, &mount.root)))
    };
    let mut why = "no memory cgroup is mounted";
    for mount in mounts.iter().filter(|mount| mount.fs == "cgroup2") {
        let Some(entry) = dir(mount, "") else { continue };
        let above = entry.ancestors().take_while(|dir| dir.starts_with(&mount.mount_point));
        let counts = |dir: &Path, file| {
            text::line(dir.join(file))
                .is_some_and(|all| all.split_ascii_whitespace().any(|one| one == "memory"))
        };
        if counts(&mount.mount_point, "cgroup.controllers") {
            why = "no cgroup around this process delegates the memory controller to its children \
                   (cgroup.subtree_control)";
        }
        // A group with processes cannot have child groups that account memory, so the parent is
        // further up.
        let gives = |dir: &&Path| counts(dir, "cgroup.subtree_control");
        for parent in above.filter(gives) {
            if handed_over(parent, parent == mount.mount_point) {
                return Ok(GroupParent {
                    parent: parent.into(),
                    limit: "memory.max",
                    swap: Some("memory.swap.max"),
                });
            }
            why = "the memory cgroups are not delegated to this process";
        }
    }
    for mount in mounts.iter().filter(|mount| {
        mount.fs == "cgroup" && mount.options.iter().any(|option| option == "memory")
    }) {
        let Some(entry) = dir(mount, "memory") else { continue };
        // Without it a child group would escape the limit of its parent.
        if text::line(entry.join("memory.use_hierarchy")).is_none_or(|on| on != "1") {
            why = "a child of this process's memory cgroup would escape its limit \
                   (memory.use_hierarchy)";
        } else if handed_over(&entry, entry == mount.mount_point) {
            return Ok(GroupParent { parent: entry, limit: "memory.limit_in_bytes", swap: None });
        } else {
            why = "the memory cgroup of this process is not delegated to it";
        }
    }
    Err(why.into())
}

/// Returns whether the folder belongs to this user, like the groups of a session. Root owns all,
/// which proves nothing.
fn is_ours(dir: &Path) -> bool {
    !geteuid().is_root() && fs::metadata(dir).is_ok_and(|meta| meta.uid() == geteuid().as_raw())
}

/// Returns whether systemd marked the folder as delegated (CGROUP_DELEGATION.md).
fn is_delegated(dir: &Path) -> bool {
    ["user.delegate", "trusted.delegate"]
        .into_iter()
        .any(|name| attribute(dir, name).is_some_and(|value| value == b"1"))
}

fn attribute(dir: &Path, name: &str) -> Option<Vec<u8>> {
    let (dir, name) = (CString::new(dir.as_os_str().as_bytes()).ok()?, CString::new(name).ok()?);
    let mut value = vec![0u8; 16];
    // SAFETY: both strings are nul-terminated, and the kernel writes at most the given number of
    // bytes.
    let len = unsafe {
        libc::getxattr(dir.as_ptr(), name.as_ptr(), value.as_mut_ptr().cast(), value.len())
    };
    value.truncate(usize::try_from(len).ok()?);
    Some(value)
}

fn create_in(place: &GroupParent, limit: u64) -> Result<MemoryGroup, String> {
    sweep(&place.parent);
    fn with_path(what: &Path, error: io::Error) -> String {
        format!("{}: {error}", what.display())
    }
    let parent = Folder::open(&place.parent).map_err(|error| with_path(&place.parent, error))?;
    let entry = parent
        .create_folder(&|| format!("{PREFIX}{}", random_name()))
        .map_err(|error| with_path(&place.parent, error))?;
    let dir = parent.path(&entry.name);
    let ready = || {
        fs::write(dir.join(place.limit), limit.to_string())
            .map_err(|error| with_path(&dir.join(place.limit), error))?;
        if let Some(swap) = place.swap {
            // A kernel without swap accounting has no such file.
            let _ = fs::write(dir.join(swap), "0");
        }
        let processes = dir.join("cgroup.procs");
        OpenOptions::new()
            .write(true)
            .open(&processes)
            .map_err(|error| with_path(&processes, error))
    };
    match ready() {
        Ok(processes) => Ok(MemoryGroup { entry, parent, processes }),
        Err(why) => {
            parent.remove_folder(&entry.name, entry.id);
            Err(why)
        }
    }
}

/// Removes groups left by killed runs; a group with processes stays.
fn sweep(parent: &Path) {
    let Ok(folder) = Folder::open(parent) else { return };
    for name in folder.names().unwrap_or_default().iter().filter(|name| is_name(name)) {
        let entry = folder.take_over(name, SFlag::S_IFDIR);
        if entry.is_some_and(|entry| folder.remove_folder(name, entry.id)) {
            scratch::record_leftover(&folder.path(name));
        }
    }
}

/// Returns whether `name` is that of a leftover group; older versions used `iotui-PID-N`, which
/// counts if that process has ended.
fn is_name(name: &OsStr) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { return false };
    let old = || rest.split_once('-').and_then(|(pid, _)| pid.parse::<u32>().ok());
    is_random_name(rest)
        || old().is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
}

#[cfg(test)]
mod tests;
