//! A folder held by its descriptor, and files of iotui's own in it: made, named and removed
//! whatever is renamed meanwhile.
//!
//! Their names cannot be guessed. Each is locked by its owner from its making to its end, and the
//! kernel drops that lock however the owner ends: what has such a name and no lock was left by a
//! run that was killed.
#![allow(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::NixPath;
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, Flock, FlockArg, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, geteuid, linkat, unlinkat};

use super::fd;
use super::held::Id;
use super::nonce;

/// Names that are tried before a folder counts as one that takes none.
const TRIES: u32 = 100;
/// Entries of a folder that are looked at.
const MAX_ENTRIES: usize = 100_000;

/// Sixteen hexadecimal digits that nobody can guess.
pub fn unguessable() -> String {
    // Refused: the keys of std's hash maps are random too.
    let number = nonce::random()
        .map_or_else(|_| RandomState::new().build_hasher().finish(), u64::from_ne_bytes);
    format!("{number:016x}")
}

/// Whether `text` is what [`unguessable`] makes.
pub fn is_unguessable(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    file: File,
    path: PathBuf,
}

/// A file or folder under a name of its own, in use by this process until it is dropped.
#[derive(Debug)]
pub struct Own {
    pub file: File,
    pub name: OsString,
    pub id: Id,
    /// `None` where the file system has no locks.
    _lock: Option<Flock<File>>,
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

    /// The folder that `path` lies in, and its name there.
    ///
    /// # Errors
    /// `InvalidInput` where it ends in no name; the errno of open(2).
    pub fn of(path: &Path) -> io::Result<(Folder, OsString)> {
        let name = path.file_name().filter(|_| !path.as_os_str().as_bytes().ends_with(b"/"));
        let name =
            name.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "it names no file"))?;
        Ok((Folder::open(path.parent().unwrap_or(Path::new("")))?, name.into()))
    }

    pub fn path(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// What has the name; a link is not followed.
    pub fn stat(&self, name: &OsStr) -> io::Result<FileStat> {
        Ok(fstatat(self.fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW)?)
    }

    fn has(&self, name: &OsStr, id: Id) -> bool {
        self.stat(name).is_ok_and(|stat| Id::of_stat(&stat) == id)
    }

    /// A file without a name.
    ///
    /// # Errors
    /// The errno of open(2) with O_TMPFILE: EOPNOTSUPP, EISDIR ...
    pub fn unnamed(&self, mode: Mode) -> io::Result<File> {
        Ok(openat(self.fd(), ".", OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC, mode)?
            .into())
    }

    /// A new file with a name of `name`, which is asked again where it is taken.
    ///
    /// # Errors
    /// The errno of open(2).
    pub fn own_file(&self, mode: Mode, name: &dyn Fn() -> String) -> io::Result<Own> {
        let flags =
            OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        self.own(name, &|name| openat(self.fd(), name, flags, mode))
    }

    /// As [`own_file`](Folder::own_file), a folder that only this user enters.
    ///
    /// # Errors
    /// The errno of mkdir(2) or open(2).
    pub fn own_folder(&self, name: &dyn Fn() -> String) -> io::Result<Own> {
        self.own(name, &|name| {
            mkdirat(self.fd(), name, Mode::S_IRWXU)?;
            openat(
                self.fd(),
                name,
                OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC,
                Mode::empty(),
            )
        })
    }

    fn own(
        &self,
        name: &dyn Fn() -> String,
        make: &dyn Fn(&OsStr) -> nix::Result<std::os::fd::OwnedFd>,
    ) -> io::Result<Own> {
        for _ in 0..TRIES {
            let name = OsString::from(name());
            let file = match make(&name) {
                Err(Errno::EEXIST) => continue,
                made => File::from(made?),
            };
            let id = Id::of(&file.metadata()?);
            let lock = match Flock::lock(file.try_clone()?, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => Some(lock),
                // Somebody who cleans up was faster, and removes it.
                Err((_, Errno::EWOULDBLOCK)) => continue,
                Err(_) => None,
            };
            if self.has(&name, id) {
                return Ok(Own { file, name, id, _lock: lock });
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Gives an open file a name that nothing has; never replaces anything.
    ///
    /// # Errors
    /// `AlreadyExists`; where the file system has no links, or no descriptor can be linked, their
    /// errno.
    pub fn link(&self, file: &File, name: &OsStr) -> io::Result<()> {
        let by_proc =
            linkat(AT_FDCWD, &fd::own_path(file), self.fd(), name, AtFlags::AT_SYMLINK_FOLLOW);
        match by_proc {
            // No /proc: root, and who opened the file on a new kernel, may do without.
            Err(Errno::ENOENT | Errno::ENOTDIR) => {
                Ok(linkat(file.as_fd(), "", self.fd(), name, AtFlags::AT_EMPTY_PATH)?)
            }
            done => Ok(done?),
        }
    }

    /// Gives what is named `from` a name that nothing has; never replaces anything.
    ///
    /// # Errors
    /// `AlreadyExists`; where the file system can only replace, EINVAL.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let folder = self.file.as_raw_fd();
        let call = |from: *const libc::c_char, to: *const libc::c_char| {
            // SAFETY: both names end with a zero and live until the call is over.
            unsafe {
                libc::syscall(libc::SYS_renameat2, folder, from, folder, to, libc::RENAME_NOREPLACE)
            }
        };
        let done =
            from.with_nix_path(|from| to.with_nix_path(|to| call(from.as_ptr(), to.as_ptr())))??;
        Ok(Errno::result(done).map(drop)?)
    }

    /// Takes an own file's unguessable name away, if it still names that file.
    ///
    /// Linux has no call that unlinks only a certain file: between the look and the unlink another
    /// could be put under this name. Only somebody who may remove files here, and aims at this very
    /// name, can do that, and then only what they moved there is lost. For a name that others know,
    /// such as the user's FILE, this would not be enough, so none is ever removed.
    pub fn remove(&self, name: &OsStr, id: Id) -> bool {
        self.has(name, id) && unlinkat(self.fd(), name, UnlinkatFlags::NoRemoveDir).is_ok()
    }

    /// As [`remove`](Folder::remove), an own folder, which must be empty.
    pub fn remove_folder(&self, name: &OsStr, id: Id) -> bool {
        self.has(name, id) && unlinkat(self.fd(), name, UnlinkatFlags::RemoveDir).is_ok()
    }

    /// The names in it, as far as it is not endless.
    ///
    /// # Errors
    /// The errno of open(2): EACCES ...
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        names(self.fd())
    }

    /// Takes over what has this name and the type: of this user and in nobody's use.
    pub fn take_over(&self, name: &OsStr, kind: SFlag) -> Option<Own> {
        let ours = |stat: &FileStat| {
            stat.st_mode & libc::S_IFMT == kind.bits() && stat.st_uid == geteuid().as_raw()
        };
        // Before it is opened: opening does something to a pipe or a device.
        let stat = self.stat(name).ok().filter(ours)?;
        let flags = OFlag::O_RDONLY
            | OFlag::O_NOFOLLOW
            | OFlag::O_NONBLOCK
            | OFlag::O_NOCTTY
            | OFlag::O_CLOEXEC;
        let file = File::from(openat(self.fd(), name, flags, Mode::empty()).ok()?);
        let id = Id::of(&file.metadata().ok()?);
        let lock = Flock::lock(file.try_clone().ok()?, FlockArg::LockExclusiveNonblock).ok()?;
        // Under the lock: what another took over meanwhile has no name any more, or it is another
        // file.
        (id == Id::of_stat(&stat) && self.has(name, id)).then(|| Own {
            file,
            name: name.into(),
            id,
            _lock: Some(lock),
        })
    }
}

/// The names in an open folder, as far as it is not endless.
pub(super) fn names(folder: BorrowedFd) -> io::Result<Vec<OsString>> {
    let mut dir = Dir::openat(
        folder,
        ".",
        OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
        Mode::empty(),
    )?;
    let entries = dir.iter().take(MAX_ENTRIES).flatten();
    let names = entries.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_os_string());
    Ok(names.filter(|name| name != "." && name != "..").collect())
}
