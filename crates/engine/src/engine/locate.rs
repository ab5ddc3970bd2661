//! Locates the target: inspects the user's path, or chooses a folder for a scratch file.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use super::ranks::Started;
use crate::host::Below;
use crate::plan::{ListedFile, Range, TargetSpec};
use crate::record::Medium;
use crate::sys::scratch::Scratch;
use crate::sys::{fd, mounts};
use crate::text::describe_io_error;
use crate::units::show_bytes;

/// Why a target cannot be used, in one line that names the remedy.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("{}: no such file; add --op write to create it", .0.display())]
    Missing(PathBuf),
    #[error("{}: no such device; lsblk lists them", .0.display())]
    NoDevice(PathBuf),
    #[error("{}", describe_unreadable(.path, .error))]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error(
        "{} is a directory; name a file in it, use --as-one to read all of its files, or --dir to \
         create a scratch file there",
        .0.display()
    )]
    Directory(PathBuf),
    #[error("{} is a {what}; iotui measures only regular files and block devices", .path.display())]
    Kind { path: PathBuf, what: &'static str },
    #[error("{} is empty; there is nothing to measure", .0.display())]
    Empty(PathBuf),
    #[error("{}: no such file or folder", .0.display())]
    MissingListed(PathBuf),
    #[error("--as-one reads files; name them, or a folder of files")]
    NoList,
    #[error("{}: there is no file with data; there is nothing to measure", .0.display())]
    NoneListed(PathBuf),
    #[error(
        "{} has more than {} files, which is the limit of --as-one; name a smaller folder",
        .0.display(),
        TargetSpec::MAX_FILES
    )]
    TooManyListed(PathBuf),
    #[error(
        "{} exists, and iotui writes only to files it creates; name a new file, or none for a \
         scratch file",
        .0.display()
    )]
    Exists(PathBuf),
    #[error(
        "{} is a link to a file that does not exist; name that file, or another",
        .0.display()
    )]
    Dangling(PathBuf),
    #[error(
        "no folder for a scratch file: none of the current folder, TMPDIR, /var/tmp and HOME is a \
         writable folder on a disk; name one with --dir, or name a file"
    )]
    Nowhere,
    #[error(
        "{}: {}; choose another folder (scratch files: --dir)",
        .dir.display(),
        describe_io_error(.error)
    )]
    Folder { dir: PathBuf, error: std::io::Error },
    #[error(
        "not enough space in {}: {} needed{}, {}; use a smaller --size or another folder \
         (scratch files: --dir)",
        .dir.display(),
        show_bytes(*.need),
        if *.files > 1 { format!(" for {} ranks", .files) } else { String::new() },
        show_free(*.free, *.by_quota)
    )]
    Full { dir: PathBuf, need: u64, files: u64, free: u64, by_quota: bool },
    #[error(
        "{}: its file system has no inode left for another file; remove files, or choose another \
         folder (scratch files: --dir)",
        .0.display()
    )]
    NoInodes(PathBuf),
}

/// Describes the space that this user may still take: `3.00 MiB free`.
pub fn show_free(bytes: u64, by_quota: bool) -> String {
    let what = if by_quota { "left by the disk quota of this user" } else { "free" };
    format!("{} {what}", show_bytes(bytes))
}

/// Describes why a file cannot be opened, and who may open it, if known.
pub fn describe_unreadable(path: &Path, error: &std::io::Error) -> String {
    let is_device = fs::metadata(path).is_ok_and(|meta| meta.file_type().is_block_device());
    let remedy = remedy(error.raw_os_error(), is_device);
    format!("{}: {}{remedy}", path.display(), describe_io_error(error))
}

/// Returns who may open a file that this user may not, if known.
fn remedy(errno: Option<i32>, is_device: bool) -> &'static str {
    match (errno, is_device) {
        (Some(libc::EACCES), true) => "; root and members of the group disk may read block devices",
        (Some(libc::EPERM), true) => "; this container or sandbox does not allow the device",
        (Some(libc::EACCES), false) => "; choose a file that this user may read",
        _ => "",
    }
}

/// Files that take what is free have a multiple of this: every common block size divides it.
const FREE_UNIT: u64 = 2 << 20;
/// Default size of a scratch or new file.
const DEFAULT_SIZE: u64 = 512 << 20;

/// Returns the named target, or a scratch file. `size` is the largest `--size`. The path becomes
/// absolute so that the plan can be rerun from any folder; symbolic links in it stay. Of several
/// ranks, each makes a file of that size, or a part of one.
pub fn locate_target(
    file: Option<&Path>,
    dir: Option<&Path>,
    size: Option<u64>,
    write: bool,
    keep: bool,
    ranks: Option<Started>,
) -> Result<TargetSpec, PlaceError> {
    match file {
        None => {
            let dir = scratch_dir(dir)?;
            let size = choose_size(&dir, size, ranks)?;
            Ok(TargetSpec::Scratch { dir: absolute(&dir), size, keep })
        }
        Some(path) => match fs::metadata(path) {
            Ok(_) if write => Err(PlaceError::Exists(path.into())),
            Ok(_) => existing_target(path),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(PlaceError::Unreadable { path: path.into(), error })
            }
            Err(_) if is_in_dev(path) => Err(PlaceError::NoDevice(path.into())),
            Err(_) if !write => Err(PlaceError::Missing(path.into())),
            Err(_) if path.is_symlink() => Err(PlaceError::Dangling(path.into())),
            Err(_) => {
                let dir =
                    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let size = choose_size(&scratch_dir(Some(dir))?, size, ranks)?;
                Ok(TargetSpec::New { path: absolute(path), size })
            }
        },
    }
}

/// Returns whether a path can only name a device: it is in /dev, but on no other file system there,
/// as that of /dev/shm.
fn is_in_dev(path: &Path) -> bool {
    let path = absolute(path);
    let disk = |of: &Path| fs::metadata(of).map(|meta| meta.dev()).ok();
    let folder = || path.parent().and_then(disk);
    path.starts_with("/dev") && folder().is_none_or(|folder| Some(folder) == disk("/dev".as_ref()))
}

/// Returns whether `path` is the target's own file, under this or another name.
pub fn is_target(spec: &TargetSpec, path: &Path) -> bool {
    let (TargetSpec::File { path: target, .. } | TargetSpec::New { path: target, .. }) = spec
    else {
        return false;
    };
    fn inode(path: &Path) -> Option<(u64, u64)> {
        fs::metadata(path).map(|m| (m.dev(), m.ino())).ok()
    }
    // A new file has only a name so far, in a folder that may have several names.
    let folder = |path: &Path| {
        inode(path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))
    };
    match (inode(target), inode(path)) {
        (Some(target), Some(other)) => target == other,
        (None, None) => target.file_name() == path.file_name() && folder(target) == folder(path),
        _ => false,
    }
}

/// Returns the files that are read as one: the named ones in their order, and for a folder all
/// files with data in it and below, in the order of their names. Links to files are followed, and a
/// file with several names is read once.
pub fn locate_list<'a>(
    paths: impl Iterator<Item = &'a Path> + Clone,
) -> Result<TargetSpec, PlaceError> {
    let mut found = FoundFiles::default();
    for path in paths.clone() {
        let unreadable = |error| PlaceError::Unreadable { path: path.into(), error };
        let meta = fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => PlaceError::MissingListed(path.into()),
            _ => unreadable(error),
        })?;
        match meta.is_dir() {
            true => found.add_folder(&absolute(path))?,
            false => {
                check_kind(path, meta.file_type())?;
                if meta.file_type().is_block_device() {
                    return Err(PlaceError::Kind { path: path.into(), what: "block device" });
                }
                found.add(absolute(path), &meta);
            }
        }
        if found.files.len() > TargetSpec::MAX_FILES {
            return Err(PlaceError::TooManyListed(path.into()));
        }
    }
    let first = paths.clone().next().ok_or(PlaceError::NoList)?;
    if found.files.is_empty() {
        return Err(PlaceError::NoneListed(first.into()));
    }
    let only = paths.clone().count() == 1 && first.is_dir();
    let dir = if only { absolute(first) } else { common_folder(&found.files) };
    let relative = |(path, size): (PathBuf, u64)| {
        let path = path.strip_prefix(&dir).map_or_else(|_| path.clone(), Path::to_path_buf);
        ListedFile { path, size }
    };
    let size = found.files.iter().fold(0u64, |all, (_, size)| all.saturating_add(*size));
    let files = found.files.into_iter().map(relative).collect();
    Ok(TargetSpec::Files { dir, files, size })
}

/// The files of a list, and which they are.
#[derive(Default)]
struct FoundFiles {
    files: Vec<(PathBuf, u64)>,
    known: HashSet<(u64, u64)>,
}

impl FoundFiles {
    fn add(&mut self, path: PathBuf, meta: &fs::Metadata) {
        if meta.is_file() && meta.len() > 0 && self.known.insert((meta.dev(), meta.ino())) {
            self.files.push((path, meta.len()));
        }
    }

    /// Adds the files of a folder and of those in it. Links to folders are not followed: they may
    /// lead in circles.
    fn add_folder(&mut self, folder: &Path) -> Result<(), PlaceError> {
        let unreadable = |path: &Path, error| PlaceError::Unreadable { path: path.into(), error };
        let names = fs::read_dir(folder).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<Vec<_>, _>>()
        });
        let mut names = names.map_err(|error| unreadable(folder, error))?;
        names.sort_unstable();
        for path in names.into_iter().map(|name| folder.join(name)) {
            let meta = match fs::metadata(&path) {
                Ok(meta) => meta,
                Err(error) if leads_nowhere(&error) => continue,
                Err(error) => return Err(unreadable(&path, error)),
            };
            if meta.is_dir() && !path.is_symlink() {
                self.add_folder(&path)?;
            } else {
                self.add(path, &meta);
            }
            if self.files.len() > TargetSpec::MAX_FILES {
                break;
            }
        }
        Ok(())
    }
}

/// Returns whether a name is gone by now, or that of a link to nothing or in circles.
fn leads_nowhere(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ELOOP)
}

/// Returns the innermost folder that all files are in.
fn common_folder(files: &[(PathBuf, u64)]) -> PathBuf {
    let folders = files.iter().filter_map(|(path, _)| path.parent());
    let common = |all: PathBuf, one: &Path| {
        let same = all.components().zip(one.components()).take_while(|(a, b)| a == b);
        same.map(|(component, _)| component).collect()
    };
    folders.clone().next().map_or_else(PathBuf::new, |first| folders.fold(first.into(), common))
}

/// Refuses what can be neither read at offsets nor again.
fn check_kind(path: &Path, kind: fs::FileType) -> Result<(), PlaceError> {
    let unsupported = [
        (kind.is_fifo(), "pipe (FIFO)"),
        (kind.is_socket(), "socket"),
        (kind.is_char_device(), "character device"),
    ];
    match unsupported.into_iter().find(|(matches, _)| *matches) {
        Some((_, what)) => Err(PlaceError::Kind { path: path.into(), what }),
        None => Ok(()),
    }
}

fn existing_target(path: &Path) -> Result<TargetSpec, PlaceError> {
    let unreadable = |error| PlaceError::Unreadable { path: path.into(), error };
    let kind = fs::metadata(path).map_err(unreadable)?.file_type();
    if kind.is_dir() {
        return Err(PlaceError::Directory(path.into()));
    }
    check_kind(path, kind)?;
    let file = fd::open_named(path).map_err(unreadable)?;
    match fd::size(&file).map_err(unreadable)? {
        0 => Err(PlaceError::Empty(path.into())),
        size => Ok(TargetSpec::File { path: absolute(path), size }),
    }
}

/// Makes a path absolute; returns it unchanged if the current folder is gone.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

/// Returns the named folder, else the first of the current folder, TMPDIR, /var/tmp and HOME that
/// is writable and on a disk.
pub fn scratch_dir(named: Option<&Path>) -> Result<PathBuf, PlaceError> {
    if let Some(dir) = named {
        let is_dir = fs::metadata(dir)
            .map_err(|error| PlaceError::Folder { dir: dir.into(), error })?
            .is_dir();
        let error = if is_dir {
            access(dir, AccessFlags::W_OK | AccessFlags::X_OK).err().map(Into::into)
        } else {
            Some(std::io::ErrorKind::NotADirectory.into())
        };
        return error.map_or_else(
            || Ok(dir.into()),
            |error| Err(PlaceError::Folder { dir: dir.into(), error }),
        );
    }
    candidate_dirs().find(|dir| is_usable(dir, |_| true)).ok_or(PlaceError::Nowhere)
}

/// Returns the first usable folder as [`scratch_dir`] does, but not on a network or FUSE mount.
pub(super) fn local_dir() -> Option<PathBuf> {
    candidate_dirs()
        .find(|dir| is_usable(dir, |medium| !matches!(medium, Medium::Server | Medium::Program)))
        .map(|dir| absolute(&dir))
}

fn candidate_dirs() -> impl Iterator<Item = PathBuf> {
    fn from_env(name: &str) -> Option<PathBuf> {
        std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
    }
    [Some(PathBuf::from(".")), from_env("TMPDIR"), Some("/var/tmp".into()), from_env("HOME")]
        .into_iter()
        .flatten()
}

/// Returns whether files can be created in `dir` and its mount is a disk that `accepts` approves.
fn is_usable(dir: &Path, accepts: impl Fn(Medium) -> bool) -> bool {
    let writable = access(dir, AccessFlags::W_OK | AccessFlags::X_OK).is_ok();
    let disk = || {
        File::open(dir).is_ok_and(|d| {
            let below = Below::of(&d);
            let medium = below.ground.medium;
            let is_writable = below.mount.is_some_and(|mount| !mount.read_only);
            is_writable && medium != Medium::Memory && accepts(medium)
        })
    };
    // A removed folder, or one in /proc, takes no file whatever its permissions are.
    writable && disk() && Scratch::create(dir).is_ok()
}

/// Returns the size of a file to create in `dir`: the requested one, or nine tenths of the free
/// space, if it fits, once for each rank that makes one there; else 512 MiB, or a quarter of the
/// free space if that does not fit or less than a tenth of the disk is free.
fn choose_size(
    dir: &Path,
    requested: Option<u64>,
    ranks: Option<Started>,
) -> Result<u64, PlaceError> {
    let folder = |error| PlaceError::Folder { dir: dir.into(), error };
    let opened = File::open(dir).map_err(folder)?;
    let space = mounts::space(&opened).map_err(folder)?;
    if !mounts::has_inodes(&opened) {
        return Err(PlaceError::NoInodes(dir.into()));
    }
    let quota = mounts::quota_left(&opened).filter(|left| *left < space.available);
    let available = quota.unwrap_or(space.available);
    // Ranks of other machines use no disk of this one.
    let is_network = || mounts::mount_of(&opened).is_ok_and(|mount| mount.is_network());
    let files = ranks.map_or(1, |of| if is_network() { of.ranks } else { of.here }).max(1).into();
    let free = usable(available);
    let is_scarce = quota.is_some() && DEFAULT_SIZE > free;
    let nearly_full = is_scarce || space.total > 0 && space.available < space.total / 10;
    let named = requested.filter(|size| *size != Range::FREE);
    let size = named.unwrap_or(if requested.is_some() {
        available / 10 * 9 / files / FREE_UNIT * FREE_UNIT
    } else if nearly_full || files > 1 && DEFAULT_SIZE * files > free {
        DEFAULT_SIZE.min(available / 4 / files / 4096 * 4096)
    } else {
        DEFAULT_SIZE
    });
    let need = size.saturating_mul(files);
    if need > free || (named.is_none() && size == 0) {
        let (dir, need, by_quota) = (dir.into(), need.max(4096), quota.is_some());
        return Err(PlaceError::Full { dir, need, files, free: available, by_quota });
    }
    Ok(size)
}

/// Returns the part of the free space that a run may take: the rest is for metadata and other
/// programs.
pub(super) fn usable(available: u64) -> u64 {
    available.saturating_sub(available / 50)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_file_names_who_may_open() {
        for (errno, is_device, wanted) in [
            (libc::EACCES, true, "; root and members of the group disk may read block devices"),
            (libc::EPERM, true, "; this container or sandbox does not allow the device"),
            (libc::EACCES, false, "; choose a file that this user may read"),
            (libc::EPERM, false, ""),
            (libc::EIO, true, ""),
        ] {
            assert_eq!(remedy(Some(errno), is_device), wanted, "{errno} {is_device}");
        }
        let denied = std::io::Error::from_raw_os_error(libc::EACCES);
        let message = describe_unreadable(Path::new("/proc/self/stat"), &denied);
        assert!(message.ends_with("; choose a file that this user may read"), "{message}");
        assert!(!message.contains("os error"), "{message}");
    }
}
