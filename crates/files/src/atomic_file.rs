//! Replaces files atomically: the name always refers to either the old file or the complete new
//! one, which is written next to it, flushed, and renamed over it.
//!
//! A file that cannot be replaced this way is refused, before the run and after it: writing in
//! place would truncate it first, and on a full disk both reports would be lost. Pipes and
//! terminals have nothing to lose and are written in place.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::ops::{Deref, DerefMut};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::sys::stat::Mode;
use nix::unistd::{AccessFlags, faccessat, geteuid};

use super::folder::{Folder, LockedEntry};
use super::names::random_name;
use crate::mounts;
use crate::scratch::sweep;
use iotui_core::text;

/// Writes the file at `path`. The output of `write` is collected first, so a failure leaves the old
/// file unchanged.
pub fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let place = place(path).map_err(|error| with_path(path, error))?;
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    place.put(&bytes).map_err(|error| with_path(path, error))
}

/// Writes `bytes` to the file at `path`, which need not exist; an old one is replaced atomically or
/// left unchanged. For iotui's own files: a pipe of that name is replaced, as it may have no
/// reader.
///
/// # Errors
/// System errors, which do not name the file.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let place = match place(path)? {
        Destination::Stream { path } => {
            Destination::Name { folder: folder_of(&path)?, path, old: None }
        }
        place => place,
    };
    place.put(bytes)
}

/// Creates the file at `path` with `bytes` in it.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if the file exists, and system errors, which do not name the file.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    free_name(path)?.put_new(bytes)
}

/// Writes a new file like [`to_file`].
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if the file exists or appears before the end: it is left unchanged.
pub fn to_new_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let place = free_name(path).map_err(|error| with_path(path, error))?;
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    place.put_new(&bytes).map_err(|error| with_path(path, error))
}

/// Checks whether [`to_file`] could write there. Called before a run; changes nothing.
pub fn probe(path: &Path) -> io::Result<()> {
    // Permissions are not enough (nobody can create a file in /proc), so a file is created.
    let tried = place(path).and_then(|place| match place {
        Destination::Name { folder, .. } => {
            // Removes and records files left by killed runs; errors are ignored.
            let _ = sweep(&folder);
            create_temporary(&folder, None).and_then(Temporary::remove)
        }
        Destination::Stream { .. } => Ok(()),
    });
    tried.map_err(|error| with_path(path, error))
}

/// Names the file in an error.
pub fn with_path(path: &Path, error: io::Error) -> io::Error {
    let (path, why) = (text::show_path(path), text::describe_io_error(&error));
    io::Error::new(error.kind(), format!("cannot write {path}: {why}"))
}

/// Where the bytes go, after following links.
enum Destination {
    /// The new file gets this name; `old` is the file that has it now.
    Name { path: PathBuf, folder: PathBuf, old: Option<Metadata> },
    /// A pipe, a terminal or a device: writing to it loses nothing.
    Stream { path: PathBuf },
}

fn place(path: &Path) -> io::Result<Destination> {
    let old = match follow(path).and_then(fs::metadata) {
        Ok(old) => old,
        Err(error) if error.kind() == ErrorKind::NotFound => return new_name(path),
        Err(error) => return Err(error),
    };
    check_kind(&old)?;
    check_access(path, AccessFlags::W_OK)?;
    if !old.is_file() {
        return Ok(Destination::Stream { path: path.into() });
    }
    let real = fs::canonicalize(path)?;
    let folder = folder_of(&real)
        .and_then(|folder| check_replaceable(&real, &folder).map(|()| folder))
        .map_err(irreplaceable)?;
    Ok(Destination::Name { path: real, folder, old: Some(old) })
}

/// Refuses folders and disks.
///
/// # Errors
/// `IsADirectory`, `InvalidInput`.
pub fn check_kind(old: &Metadata) -> io::Result<()> {
    if old.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder; name a file in it"));
    }
    if old.file_type().is_block_device() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is a disk; name a file"));
    }
    Ok(())
}

/// Checks whether a new file may replace `path`, as far as the kernel can tell in advance.
fn check_replaceable(path: &Path, folder: &Path) -> io::Result<()> {
    if mounts::is_other_mount(path, folder) {
        return Err(io::Error::new(ErrorKind::ResourceBusy, "it is a mount point"));
    }
    // rmdir(2) checks the permission to remove a name (a sticky folder, an immutable file) before
    // it finds that a file is not a folder.
    match fs::remove_dir(path) {
        Err(error) if error.kind() != ErrorKind::NotADirectory => Err(error),
        _ => Ok(()),
    }
}

fn irreplaceable(error: io::Error) -> io::Error {
    let text = format!(
        "it cannot be replaced atomically ({}), and iotui does not overwrite files in place: name a \
         file in another folder, or write to stdout",
        text::describe_io_error(&error)
    );
    io::Error::new(error.kind(), text)
}

/// Returns the place of a new file; an error if the file exists.
fn free_name(path: &Path) -> io::Result<Destination> {
    // A dangling link exists too.
    if fs::symlink_metadata(path).is_ok() {
        place(path)?;
        return Err(ErrorKind::AlreadyExists.into());
    }
    new_name(path)
}

/// Follows links at the end of a path, dangling ones too. Links that another user may have planted
/// are refused, as the kernel does with `fs.protected_symlinks`.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        let found = fs::symlink_metadata(&path).ok();
        let Some(link) = found.filter(Metadata::is_symlink) else { break };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        let around = fs::metadata(&folder)?;
        let is_shared = around.mode() & 0o1002 == 0o1002;
        if is_shared && ![geteuid().as_raw(), around.uid()].contains(&link.uid()) {
            return Err(io::Error::new(
                ErrorKind::PermissionDenied,
                "it is another user's link in a world-writable folder; name the file it points to",
            ));
        }
        path = folder.join(fs::read_link(&path)?);
    }
    Ok(path)
}

/// Returns the place of a file that does not exist; dangling links are followed.
fn new_name(path: &Path) -> io::Result<Destination> {
    let path = follow(path)?;
    if path.as_os_str().as_bytes().ends_with(b"/") || path.file_name().is_none() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it has no file name"));
    }
    Ok(Destination::Name { folder: folder_of(&path)?, path, old: None })
}

/// Returns the folder of `path`, which must be writable.
fn folder_of(path: &Path) -> io::Result<PathBuf> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match fs::metadata(folder) {
        Ok(found) if !found.is_dir() => {
            return Err(io::Error::new(ErrorKind::NotADirectory, "its folder is a file"));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(io::Error::new(ErrorKind::NotFound, "its folder does not exist"));
        }
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    check_access(folder, AccessFlags::W_OK | AccessFlags::X_OK)?;
    Ok(folder.into())
}

fn check_access(path: &Path, access: AccessFlags) -> io::Result<()> {
    Ok(faccessat(AT_FDCWD, path, access, AtFlags::AT_EACCESS)?)
}

impl Destination {
    fn put(self, bytes: &[u8]) -> io::Result<()> {
        let (path, folder, old) = match self {
            Destination::Stream { path } => return write_stream(&path, bytes),
            Destination::Name { path, folder, old } => (path, folder, old),
        };
        let mut file = create_temporary(&folder, old.as_ref())?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        match written.and_then(|()| {
            fs::rename(file.path(), &path).map_err(|error| save_beside(file.path(), &path, error))
        }) {
            Ok(()) => {
                // Makes the new name durable too, if the folder can be flushed.
                let _ = File::open(&folder).and_then(|folder| folder.sync_all());
                Ok(())
            }
            Err(error) => {
                let _ = file.remove();
                Err(error)
            }
        }
    }
}

/// Keeps both files if the old one has become irreplaceable: saves the new one under a free name.
fn save_beside(temporary: &Path, path: &Path, error: io::Error) -> io::Error {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".new{}", if number > 1 { number.to_string() } else { String::new() }));
        PathBuf::from(name)
    };
    match (1..100).map(numbered).find(|name| fs::hard_link(temporary, name).is_ok()) {
        Some(name) => {
            let name = text::show_path(&name);
            io::Error::new(
                error.kind(),
                format!("{error}: it is unchanged, and the new report was saved as {name}"),
            )
        }
        None => error,
    }
}

impl Destination {
    /// Creates the name with link(2), which fails if the name exists; rename(2) would not.
    fn put_new(self, bytes: &[u8]) -> io::Result<()> {
        let Destination::Name { path, folder, .. } = self else {
            return Err(ErrorKind::AlreadyExists.into());
        };
        let mut file = create_temporary(&folder, None)?;
        let linked =
            file.write_all(bytes).and_then(|()| file.sync_all()).and_then(
                |()| match fs::hard_link(file.path(), &path) {
                    // A file system without hard links can only be checked.
                    Err(error)
                        if error.kind() != ErrorKind::AlreadyExists
                            && fs::symlink_metadata(&path).is_err() =>
                    {
                        fs::rename(file.path(), &path)
                    }
                    linked => linked,
                },
            );
        let _ = file.remove();
        linked?;
        let _ = File::open(&folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Writes to a pipe or device. Does not truncate: what was a pipe a moment ago may be a file now.
fn write_stream(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).custom_flags(libc::O_NOCTTY).open(path)?;
    if file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::AlreadyExists, "a regular file has replaced it"));
    }
    file.write_all(bytes)
}

/// Creates a temporary file in `folder`, with the permissions and, if permitted, the owner of
/// `old`.
fn create_temporary(folder: &Path, old: Option<&Metadata>) -> io::Result<Temporary> {
    let mode = old.map_or(0o666, |old| old.mode() & 0o777);
    let file = Temporary::beside(folder, mode)?;
    if let Some(old) = old {
        let _ = fchown(&*file, Some(old.uid()), Some(old.gid()));
        let _ = file.set_permissions(Permissions::from_mode(mode));
    }
    Ok(file)
}

/// A temporary file, locked until it is dropped; its creator removes or renames it.
#[derive(Debug)]
pub struct Temporary {
    entry: LockedEntry,
    path: PathBuf,
}

impl Temporary {
    /// Creates an empty file with a random name in `dir`. A file left by a killed run is removed by
    /// [`sweep`].
    ///
    /// # Errors
    /// The errno of open(2).
    pub fn beside(dir: &Path, mode: u32) -> io::Result<Temporary> {
        let folder = Folder::open(dir)?;
        let entry = folder.create_file(Mode::from_bits_truncate(mode), &|| {
            format!(".iotui-{}.tmp", random_name())
        })?;
        Ok(Temporary { path: folder.path(&entry.name), entry })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it. A FUSE file system may refuse that while the file is open.
    ///
    /// # Errors
    /// The errno of unlink(2).
    pub fn remove(self) -> io::Result<()> {
        let path = self.path.clone();
        fs::remove_file(&path).or_else(|_| {
            drop(self);
            fs::remove_file(&path)
        })
    }
}

impl Deref for Temporary {
    type Target = File;

    fn deref(&self) -> &File {
        &self.entry.file
    }
}

impl DerefMut for Temporary {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.entry.file
    }
}

#[cfg(test)]
mod tests;
