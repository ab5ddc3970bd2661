//! The mount table, and the file system under a file: type, mount options, free space.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::quota::{QuotaType, quotactl_get};
use nix::sys::stat::{major, minor};
use nix::sys::statfs::{fstatfs, statfs};
use nix::sys::statvfs::fstatvfs;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use iotui_core::facts::Space;

use crate::read_text as text;

/// The mount that contains a file. `None`: not found in /proc/self/mountinfo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Type as in the mount table (`ext4`, `fuse.sshfs`), else derived from the magic number of
    /// statfs(2), else that number.
    pub fs: String,
    /// `f_type` of statfs(2).
    pub magic: u64,
    /// The mounted source: a device, a server, or any word.
    pub source: Option<String>,
    pub mount_point: Option<PathBuf>,
    /// Options of the mount and of its superblock, without repetition.
    pub options: Vec<String>,
    pub read_only: bool,
}

impl Mount {
    /// Returns whether its files are in memory and never come from a device.
    pub fn is_memory(&self) -> bool {
        is_memory(&self.fs)
    }

    /// Returns whether its files come from another machine (or the host of this one), with caches
    /// that are invisible here.
    pub fn is_network(&self) -> bool {
        is_network(&self.fs)
    }

    /// Returns whether a user-space program serves it.
    pub fn is_fuse(&self) -> bool {
        self.magic == FUSE || is_fuse(&self.fs)
    }
}

/// Returns whether a file system of this type is in memory.
pub fn is_memory(fs: &str) -> bool {
    matches!(fs, "tmpfs" | "ramfs" | "hugetlbfs" | "devtmpfs" | "rootfs")
}

/// Returns whether a file system of this type is on another machine, or on the host of this one.
pub fn is_network(fs: &str) -> bool {
    const NAMES: [&str; 18] = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "ncpfs",
        "9p",
        "afs",
        "coda",
        "ceph",
        "lustre",
        "beegfs",
        "gpfs",
        "orangefs",
        "virtiofs",
        "fuse.sshfs",
        "fuse.glusterfs",
        "fuse.ceph",
    ];
    NAMES.contains(&fs)
}

/// Returns whether a program serves a file system of this type.
pub fn is_fuse(fs: &str) -> bool {
    matches!(fs, "fuse" | "fuseblk") || fs.starts_with("fuse.")
}

/// BDEVFS_MAGIC.
const BDEVFS: u64 = 0x6264_6576;
/// FUSE_SUPER_MAGIC; virtiofs uses it too.
const FUSE: u64 = 0x6573_5546;

/// Returns the mount that contains `file` (`block` for a block device): by the mount id of the open
/// file, else by its device and path.
///
/// # Errors
/// The errno of fstatfs(2) or fstat(2).
pub fn mount_of(file: &File) -> io::Result<Mount> {
    mount_among(file, mount_table)
}

/// Returns the mount that contains `file`, like [`mount_of`], among mounts that were read.
///
/// # Errors
/// The errno of fstatfs(2) or fstat(2).
pub fn mount_among<M: AsRef<[MountEntry]>>(
    file: &File,
    mounts: impl FnOnce() -> M,
) -> io::Result<Mount> {
    let meta = file.metadata()?;
    if meta.file_type().is_block_device() {
        return Ok(device_mount(file, meta.rdev()));
    }
    let magic = fstatfs(file)?.filesystem_type().0 as u64 & 0xffff_ffff;
    let found = entry_of(file, &meta, mounts().as_ref()).cloned();
    Ok(match found {
        Some(entry) => Mount {
            fs: entry.fs,
            magic,
            source: Some(entry.source),
            mount_point: Some(entry.mount_point),
            read_only: entry.options.iter().any(|o| o == "ro"),
            options: entry.options,
        },
        None => Mount {
            fs: name_of(magic),
            magic,
            source: None,
            mount_point: None,
            options: Vec::new(),
            read_only: fstatvfs(file)?.flags().contains(nix::sys::statvfs::FsFlags::ST_RDONLY),
        },
    })
}

/// Returns the mount of a device; the file system that contains its node does not matter.
fn device_mount(file: &File, device: u64) -> Mount {
    let (major, minor) = (major(device), minor(device));
    Mount {
        fs: "block".to_string(),
        magic: BDEVFS,
        source: Some(path_of(file).to_string_lossy().into_owned()),
        mount_point: None,
        options: Vec::new(),
        read_only: text::line(format!("/sys/dev/block/{major}:{minor}/ro"))
            .is_some_and(|ro| ro == "1"),
    }
}

/// Returns the type of the file system at `path`, by its magic number.
///
/// # Errors
/// The errno of statfs(2).
pub fn fs_at(path: &Path) -> io::Result<String> {
    Ok(name_of(statfs(path)?.filesystem_type().0 as u64 & 0xffff_ffff))
}

/// Returns the total and free bytes of the file system that contains `file`.
///
/// # Errors
/// The errno of fstatvfs(3).
pub fn space(file: &File) -> io::Result<Space> {
    let stat = fstatvfs(file)?;
    let unit = stat.fragment_size();
    let bytes = |blocks: u64| blocks.saturating_mul(unit);
    Ok(Space {
        total: bytes(stat.blocks()),
        free: bytes(stat.blocks_free()),
        available: bytes(stat.blocks_available()),
    })
}

/// Returns the bytes that the disk quota leaves to this user on the file system of `file`; `None`
/// without one, or where root may exceed it.
pub fn quota_left(file: &File) -> Option<u64> {
    let (user, mount) = (geteuid(), mount_of(file).ok()?);
    // Without such an option, quotas are counted and not enforced.
    let enforces = |option: &String| {
        ["quota", "usrquota", "uquota"].contains(&option.as_str())
            || option.starts_with("usrjquota=")
    };
    if user.is_root() || !mount.options.iter().any(enforces) {
        return None;
    }
    let id = i32::try_from(user.as_raw()).ok()?;
    let quota = quotactl_get(QuotaType::USRQUOTA, mount.source?.as_str(), id).ok()?;
    left_by(quota.blocks_hard_limit()?, quota.occupied_space()?)
}

/// Returns the bytes that are left of a limit in units of 1 KiB; `None` for 0: no limit.
fn left_by(limit: u64, used: u64) -> Option<u64> {
    (limit > 0).then(|| limit.saturating_mul(1024).saturating_sub(used))
}

/// Returns whether the file system of `file` has an inode for another file, as far as it counts
/// them.
pub fn has_inodes(file: &File) -> bool {
    fstatvfs(file).map_or(true, |stat| stat.files() == 0 || stat.files_available() > 0)
}

/// Returns whether `path` is on a different mount than `folder`: a mount point can be written to,
/// but not replaced.
pub fn is_other_mount(path: &Path, folder: &Path) -> bool {
    fn id(path: &Path) -> Option<u64> {
        fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH)
            .open(path)
            .ok()
            .and_then(|file| mount_id(&file))
    }
    id(path) != id(folder)
}

/// Returns the mount id, which is exact even for bind mounts and for Btrfs, whose files report a
/// different device than their mount.
fn mount_id(file: &File) -> Option<u64> {
    let info = text::read(format!("/proc/thread-self/fdinfo/{}", file.as_raw_fd())).ok()?;
    info.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok())
}

/// Returns the path of an open file, as /proc shows it; empty without /proc.
pub fn path_of(file: &File) -> PathBuf {
    fs::read_link(format!("/proc/thread-self/fd/{}", file.as_raw_fd())).unwrap_or_default()
}

/// Returns the mount of an open file.
pub fn entry_of<'a>(
    file: &File,
    meta: &fs::Metadata,
    table: &'a [MountEntry],
) -> Option<&'a MountEntry> {
    find(table, mount_id(file), (major(meta.dev()), minor(meta.dev())), &path_of(file))
}

fn find<'a>(
    table: &'a [MountEntry],
    id: Option<u64>,
    device: (u64, u64),
    path: &Path,
) -> Option<&'a MountEntry> {
    let by_id = table.iter().find(|e| Some(e.id) == id);
    // Among equal mount points the last line is on top.
    let by_device = || {
        table
            .iter()
            .filter(|e| e.device == device && path.starts_with(&e.mount_point))
            .max_by_key(|e| e.mount_point.as_os_str().len())
    };
    by_id.or_else(by_device)
}

/// Returns whether the kernel keeps the files of this device (st_dev) in memory although it is
/// mounted nowhere: files of memfd_create(2).
pub fn is_unnamed_memory(device: u64) -> bool {
    let own = memfd_create(c"", MFdFlags::MFD_CLOEXEC).map(File::from);
    own.is_ok_and(|own| own.metadata().is_ok_and(|meta| meta.dev() == device))
}

/// Returns the name for a magic number of linux/magic.h.
fn name_of(magic: u64) -> String {
    let name = match magic {
        0xef53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0xf2f5_2010 => "f2fs",
        0xca45_1a4e => "bcachefs",
        0x2fc1_2fc1 => "zfs",
        0x0102_1994 => "tmpfs",
        0x8584_58f6 => "ramfs",
        0x9584_58f6 => "hugetlbfs",
        0x794c_7630 => "overlay",
        0x6969 => "nfs",
        0xff53_4d42 => "cifs",
        0xfe53_4d42 => "smb3",
        0x0102_1997 => "9p",
        0x00c3_6400 => "ceph",
        FUSE => "fuse",
        0x4d44 => "vfat",
        0x2011_bab0 => "exfat",
        0x7366_746e => "ntfs3",
        _ => return format!("{magic:#x}"),
    };
    name.to_string()
}

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountEntry {
    pub id: u64,
    /// The id of the mount that it is on.
    pub parent: u64,
    /// (major, minor) of the superblock.
    pub device: (u64, u64),
    /// The folder of the file system that is mounted.
    pub root: PathBuf,
    pub mount_point: PathBuf,
    pub fs: String,
    pub source: String,
    /// Options of the mount, then of the superblock, without repetition.
    pub options: Vec<String>,
}

/// Returns the mounts of this thread.
pub fn mount_table() -> Vec<MountEntry> {
    parse_table(&text::read("/proc/thread-self/mountinfo").unwrap_or_default())
}

/// Returns the mounts that the kernel goes through from the root folder to an absolute path without
/// symbolic links; the path is on the last.
pub fn on_the_way<'a>(table: &'a [MountEntry], path: &Path) -> Vec<&'a MountEntry> {
    let is_known = |id: u64| table.iter().any(|entry| entry.id == id);
    let is_root = |entry: &&MountEntry| {
        entry.mount_point == Path::new("/") && (entry.parent == entry.id || !is_known(entry.parent))
    };
    let mut way: Vec<&MountEntry> = table.iter().find(is_root).into_iter().collect();
    while let Some(last) = way.last().filter(|_| way.len() < table.len()) {
        let next = table.iter().filter(|entry| {
            entry.parent == last.id && entry.id != last.id && path.starts_with(&entry.mount_point)
        });
        // The mount that the kernel meets first hides the others.
        match next.min_by_key(|entry| entry.mount_point.as_os_str().len()) {
            Some(next) => way.push(next),
            None => break,
        }
    }
    way
}

/// Parses all lines that have the documented form.
pub fn parse_table(table: &str) -> Vec<MountEntry> {
    table.lines().filter_map(parse_entry).collect()
}

/// Parses `36 35 98:0 /root /mnt/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
fn parse_entry(line: &str) -> Option<MountEntry> {
    let mut words = line.split(' ');
    let id = words.next()?.parse().ok()?;
    let parent = words.next()?.parse().ok()?;
    let (major, minor) = words.next()?.split_once(':')?;
    let root = unescaped_path(words.next()?);
    let mount_point = unescaped_path(words.next()?);
    let mut options: Vec<String> = words.next()?.split(',').map(String::from).collect();
    words.by_ref().find(|w| *w == "-")?;
    let fs = unescape(words.next()?);
    let source = unescape(words.next()?);
    for option in words.next().unwrap_or("").split(',').filter(|o| !o.is_empty()) {
        if !options.iter().any(|o| o == option) {
            options.push(option.to_string());
        }
    }
    fn lossy(bytes: Vec<u8>) -> String {
        String::from_utf8_lossy(&bytes).into_owned()
    }
    Some(MountEntry {
        id,
        parent,
        device: (major.parse().ok()?, minor.parse().ok()?),
        root,
        mount_point,
        fs: lossy(fs),
        source: lossy(source),
        options,
    })
}

fn unescaped_path(word: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(word)))
}

/// Decodes `\040` (space) and other octal escapes.
pub fn unescape(word: &str) -> Vec<u8> {
    let bytes = word.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let digits = bytes
            .get(i + 1..i + 4)
            .filter(|d| bytes[i] == b'\\' && d.iter().all(|c| (b'0'..b'8').contains(c)));
        match digits.map(|d| d.iter().fold(0u32, |n, c| n * 8 + u32::from(c - b'0'))) {
            Some(code @ 0..256) => {
                out.push(code as u8);
                i += 4;
            }
            _ => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
