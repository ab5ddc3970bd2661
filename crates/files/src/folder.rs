//! A folder held by its descriptor, and iotui's own files in it: created, named and removed
//! reliably even if something is renamed.
//!
//! Their names are random. Each file is locked by its owner while it exists, and the kernel drops
//! that lock however the owner ends: a file with such a name and no lock was left by a killed run.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, geteuid, linkat, unlinkat};
use rustix::fs::{RenameFlags, renameat_with};

use super::fd::{self, FileId};

/// Number of names to try before giving up on a folder.
const MAX_TRIES: u32 = 100;
/// Maximum number of entries read from a folder.
const MAX_ENTRIES: usize = 100_000;

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    file: File,
    path: PathBuf,
}

/// A file or folder with one of iotui's names, locked by this process until it is dropped; not on a
/// file system without locks.
#[derive(Debug)]
pub struct LockedEntry {
    pub file: File,
    pub name: OsString,
    pub id: FileId,
}

impl Drop for LockedEntry {
    fn drop(&mut self) {
        // Closing is not enough: a child that was just forked has a copy of the handle.
        let _ = self.file.unlock();
    }
}

impl Folder {
    /// # Errors
    /// The errno of open(2).
    pub fn open(path: &Path) -> io::Result<Folder> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
            .open(path)?;
        Ok(Folder { file, path: path.into() })
    }

    /// Opens the folder that contains `path`, and returns the name of `path` in it.
    ///
    /// # Errors
    /// `InvalidInput` if it has no file name; the errno of open(2).
    pub fn open_parent(path: &Path) -> io::Result<(Folder, OsString)> {
        let name = path.file_name().filter(|_| !path.as_os_str().as_bytes().ends_with(b"/"));
        let name =
            name.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "it has no file name"))?;
        Ok((Folder::open(path.parent().unwrap_or(Path::new("")))?, name.into()))
    }

    pub fn path(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns the attributes of a name, without following a link.
    pub fn stat(&self, name: &OsStr) -> io::Result<FileStat> {
        Ok(fstatat(self.fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW)?)
    }

    fn is_same(&self, name: &OsStr, id: FileId) -> bool {
        self.stat(name).is_ok_and(|stat| FileId::of_stat(&stat) == id)
    }

    /// Creates an unnamed file.
    ///
    /// # Errors
    /// The errno of open(2) with O_TMPFILE: EOPNOTSUPP, EISDIR ...
    pub fn unnamed(&self, mode: Mode) -> io::Result<File> {
        Ok(openat(self.fd(), ".", OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC, mode)?
            .into())
    }

    /// Creates a file with a name from `name`, which is called again if that name exists.
    ///
    /// # Errors
    /// The errno of open(2).
    pub fn create_file(&self, mode: Mode, name: &dyn Fn() -> String) -> io::Result<LockedEntry> {
        let flags =
            OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        self.create_entry(name, &|name| openat(self.fd(), name, flags, mode))
    }

    /// Creates a folder that only this user can enter, in the same way as
    /// [`create_file`](Folder::create_file).
    ///
    /// # Errors
    /// The errno of mkdir(2) or open(2).
    pub fn create_folder(&self, name: &dyn Fn() -> String) -> io::Result<LockedEntry> {
        self.create_entry(name, &|name| {
            mkdirat(self.fd(), name, Mode::S_IRWXU)?;
            let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            openat(self.fd(), name, flags, Mode::empty()).inspect_err(|_| {
                // Where no descriptor is left, it must not stay.
                let _ = unlinkat(self.fd(), name, UnlinkatFlags::RemoveDir);
            })
        })
    }

    fn create_entry(
        &self,
        name: &dyn Fn() -> String,
        make: &dyn Fn(&OsStr) -> nix::Result<std::os::fd::OwnedFd>,
    ) -> io::Result<LockedEntry> {
        for _ in 0..MAX_TRIES {
            let name = OsString::from(name());
            let file = match make(&name) {
                Err(Errno::EEXIST) => continue,
                made => File::from(made?),
            };
            let id = FileId::from_metadata(&file.metadata()?);
            // Another process is cleaning up, was faster, and removes it.
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                continue;
            }
            if self.is_same(&name, id) {
                return Ok(LockedEntry { file, name, id });
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Links an open file to a new name; never replaces anything.
    ///
    /// # Errors
    /// `AlreadyExists`; if the file system has no links, or no descriptor can be linked, their
    /// errno.
    pub fn link(&self, file: &File, name: &OsStr) -> io::Result<()> {
        let by_proc =
            linkat(AT_FDCWD, &fd::own_path(file), self.fd(), name, AtFlags::AT_SYMLINK_FOLLOW);
        match by_proc {
            // No /proc: on a new kernel, root and the opener of the file need none.
            Err(Errno::ENOENT | Errno::ENOTDIR) => {
                Ok(linkat(file.as_fd(), "", self.fd(), name, AtFlags::AT_EMPTY_PATH)?)
            }
            done => Ok(done?),
        }
    }

    /// Renames `from` to a new name; never replaces anything.
    ///
    /// # Errors
    /// `AlreadyExists`; EINVAL if the file system can only rename by replacing.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        renameat_with(&self.file, from, &self.file, to, RenameFlags::NOREPLACE)?;
        Ok(())
    }

    /// Removes the random name of one of our files, if it still refers to that file.
    ///
    /// Linux has no call that unlinks only a certain file: between the check and the unlink another
    /// file could be moved to this name. Only a process that may remove files here and targets this
    /// very name can do that, and then only what it moved there is lost. For a predictable name,
    /// such as the user's FILE, this would not be safe enough, so none is ever removed.
    pub fn remove(&self, name: &OsStr, id: FileId) -> bool {
        self.is_same(name, id) && unlinkat(self.fd(), name, UnlinkatFlags::NoRemoveDir).is_ok()
    }

    /// Removes one of our folders, which must be empty, like [`remove`](Folder::remove) removes a
    /// file.
    pub fn remove_folder(&self, name: &OsStr, id: FileId) -> bool {
        self.is_same(name, id) && unlinkat(self.fd(), name, UnlinkatFlags::RemoveDir).is_ok()
    }

    /// Returns the names in the folder, up to [`MAX_ENTRIES`].
    ///
    /// # Errors
    /// The errno of open(2): EACCES ...
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        names(self.fd())
    }

    /// Takes over a file or folder of this name and type if it belongs to this user and is not
    /// locked.
    pub fn take_over(&self, name: &OsStr, kind: SFlag) -> Option<LockedEntry> {
        let is_ours = |stat: &FileStat| {
            stat.st_mode & libc::S_IFMT == kind.bits() && stat.st_uid == geteuid().as_raw()
        };
        // Checked before it is opened, because opening a pipe or a device has side effects.
        let stat = self.stat(name).ok().filter(is_ours)?;
        let flags = OFlag::O_RDONLY
            | OFlag::O_NOFOLLOW
            | OFlag::O_NONBLOCK
            | OFlag::O_NOCTTY
            | OFlag::O_CLOEXEC;
        let file = File::from(openat(self.fd(), name, flags, Mode::empty()).ok()?);
        let id = FileId::from_metadata(&file.metadata().ok()?);
        file.try_lock().ok()?;
        // Checked under the lock: if another process took it over, the name is gone or refers to
        // another file.
        (id == FileId::of_stat(&stat) && self.is_same(name, id)).then(|| LockedEntry {
            file,
            name: name.into(),
            id,
        })
    }
}

/// Returns the names in an open folder, up to [`MAX_ENTRIES`].
pub fn names(folder: BorrowedFd) -> io::Result<Vec<OsString>> {
    let mut dir = Dir::openat(
        folder,
        ".",
        OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
        Mode::empty(),
    )?;
    let mut names = Vec::new();
    for entry in dir.iter().take(MAX_ENTRIES) {
        // A folder that cannot be read fails each time: it is not asked again.
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_os_string();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}
