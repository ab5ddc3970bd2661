//! Where a target is: the user's path looked at, or a folder for a scratch file chosen.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::plan::TargetSpec;
use crate::sys::fd;
use crate::sys::mounts::{self, Mount};
use crate::sys::scratch::Scratch;
use crate::units::show_bytes;

/// Why a target cannot be used; each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("{}: no such file; to write a new file there add --op write", .0.display())]
    Missing(PathBuf),
    #[error("{}: {error}", .path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{} is a directory: name a file in it, or make a scratch file there with --dir", .0.display())]
    Directory(PathBuf),
    #[error("{} is a {what}: iotui measures regular files and block devices", .path.display())]
    Kind { path: PathBuf, what: &'static str },
    #[error("{} is empty: there is nothing to measure", .0.display())]
    Empty(PathBuf),
    #[error("{} exists: iotui writes only to files that it makes itself; name a file that does not exist, or none", .0.display())]
    Exists(PathBuf),
    #[error(
        "no folder for a scratch file: neither here nor TMPDIR, /var/tmp, HOME is a writable folder on a disk; name one with --dir, or a file"
    )]
    Nowhere,
    #[error("{}: {error}; choose another folder, for a scratch file with --dir", .dir.display())]
    Folder { dir: PathBuf, error: std::io::Error },
    #[error("{} are to be written and {} has {} free: use a smaller --size or another folder (scratch files: --dir)", show_bytes(*.need), .dir.display(), show_bytes(*.free))]
    Full { dir: PathBuf, need: u64, free: u64 },
}

/// What a scratch or written file has where no size is said.
const SIZE: u64 = 512 << 20;

/// The target that was named, or a scratch file. `size` is the largest `--size`. The plan can be
/// run again from any folder, so its path is absolute; links in it stay as they were named.
pub fn place(
    file: Option<&Path>,
    dir: Option<&Path>,
    size: Option<u64>,
    write: bool,
    keep: bool,
) -> Result<TargetSpec, PlaceError> {
    match file {
        None => {
            let dir = scratch_dir(dir)?;
            let size = room(&dir, size)?;
            Ok(TargetSpec::Scratch { dir: absolute(&dir), size, keep })
        }
        Some(path) => match fs::metadata(path) {
            Ok(_) if write => Err(PlaceError::Exists(path.into())),
            Ok(_) => existing(path),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(PlaceError::Unreadable { path: path.into(), error })
            }
            Err(_) if !write => Err(PlaceError::Missing(path.into())),
            Err(_) => {
                let dir =
                    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let size = room(&scratch_dir(Some(dir))?, size)?;
                Ok(TargetSpec::New { path: absolute(path), size })
            }
        },
    }
}

/// Whether `path` is the target's own file, under this or another name.
pub fn is_target(spec: &TargetSpec, path: &Path) -> bool {
    let (TargetSpec::File { path: own, .. } | TargetSpec::New { path: own, .. }) = spec else {
        return false;
    };
    let file = |path: &Path| fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
    // A new file has only its name yet, in a folder that may have several.
    let folder = |path: &Path| {
        file(path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))
    };
    match (file(own), file(path)) {
        (Some(own), Some(other)) => own == other,
        (None, None) => own.file_name() == path.file_name() && folder(own) == folder(path),
        _ => false,
    }
}

fn existing(path: &Path) -> Result<TargetSpec, PlaceError> {
    let unreadable = |error| PlaceError::Unreadable { path: path.into(), error };
    let kind = fs::metadata(path).map_err(unreadable)?.file_type();
    let what = |what| PlaceError::Kind { path: path.into(), what };
    match () {
        () if kind.is_dir() => return Err(PlaceError::Directory(path.into())),
        () if kind.is_fifo() => return Err(what("pipe (FIFO)")),
        () if kind.is_socket() => return Err(what("socket")),
        () if kind.is_char_device() => return Err(what("character device")),
        () => {}
    }
    let file = fd::open_named(path).map_err(unreadable)?;
    match fd::size(&file).map_err(unreadable)? {
        0 => Err(PlaceError::Empty(path.into())),
        size => Ok(TargetSpec::File { path: absolute(path), size }),
    }
}

/// As it was named where this folder is gone: it can still be opened.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

/// The folder that was named, else the first of here, TMPDIR, /var/tmp, HOME that can be written
/// and is on a disk.
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
    places().find(|dir| on_disk(dir, |_| true)).ok_or(PlaceError::Nowhere)
}

/// As [`scratch_dir`] where none is named, on no network and served by no program.
pub(super) fn local_dir() -> Option<PathBuf> {
    places()
        .find(|dir| on_disk(dir, |mount| !mount.is_network() && !mount.is_fuse()))
        .map(|dir| absolute(&dir))
}

fn places() -> impl Iterator<Item = PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    [Some(PathBuf::from(".")), from("TMPDIR"), Some("/var/tmp".into()), from("HOME")]
        .into_iter()
        .flatten()
}

fn on_disk(dir: &Path, also: impl Fn(&Mount) -> bool) -> bool {
    let writable = access(dir, AccessFlags::W_OK | AccessFlags::X_OK).is_ok();
    let disk = || {
        File::open(dir)
            .is_ok_and(|d| mounts::of(&d).is_ok_and(|m| !m.is_memory() && !m.read_only && also(&m)))
    };
    // A folder that was removed, or one of /proc, takes no file whatever its permissions say.
    writable && disk() && Scratch::create(dir).is_ok()
}

/// The size of a file of ours in `dir`: as said, where it fits; else 512 MiB, or a quarter of what
/// is free where under a tenth of the disk is.
fn room(dir: &Path, said: Option<u64>) -> Result<u64, PlaceError> {
    let folder = |error| PlaceError::Folder { dir: dir.into(), error };
    let space = File::open(dir).and_then(|d| mounts::space(&d)).map_err(folder)?;
    let nearly_full = space.total > 0 && space.available < space.total / 10;
    let wanted = said.unwrap_or(if nearly_full {
        SIZE.min(space.available / 4 / 4096 * 4096)
    } else {
        SIZE
    });
    // Some is left for metadata, and for others.
    let free = space.available.saturating_sub(space.available / 50);
    if wanted > free || (said.is_none() && wanted == 0) {
        return Err(PlaceError::Full {
            dir: dir.into(),
            need: wanted.max(4096),
            free: space.available,
        });
    }
    Ok(wanted)
}
