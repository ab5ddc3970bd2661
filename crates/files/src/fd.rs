//! Open descriptors, and files that are reopened by them, not by their names: a renamed file
//! remains the same.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::fcntl::{FcntlArg, fcntl};
use nix::unistd::{SysconfVar, sysconf};

/// Returns the page size of this kernel in bytes: the unit of the page cache. 4096 if it is
/// unknown.
pub fn page_size() -> u64 {
    match sysconf(SysconfVar::PAGE_SIZE) {
        Ok(Some(n)) if n > 0 => n.unsigned_abs(),
        _ => 4096,
    }
}

/// Returns the path by which any thread or permitted process can reopen `file`, even if it has no
/// name.
pub fn path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
}

/// Returns the path by which the calling thread can reopen `file`, even if the thread has its own
/// descriptor table: `/proc/self` shows that of the main thread.
pub fn own_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/thread-self/fd/{}", file.as_raw_fd()))
}

/// Opens a file without updating its access time (`O_NOATIME`) if that is permitted, which it is
/// for its owner and root. Otherwise opens it like ordinary programs do.
///
/// # Errors
/// The errno of open(2).
pub fn open_noatime(path: &Path, options: &mut OpenOptions, flags: i32) -> io::Result<File> {
    match options.custom_flags(flags | libc::O_NOATIME).open(path) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            options.custom_flags(flags).open(path)
        }
        opened => opened,
    }
}

/// Returns whether `file` was opened with `O_NOATIME`.
///
/// # Errors
/// The errno of fcntl(2).
pub fn is_noatime(file: &File) -> io::Result<bool> {
    Ok(fcntl(file, FcntlArg::F_GETFL)? & libc::O_NOATIME != 0)
}

/// Opens a second, read-only, buffered description of `file`: with its own position and readahead
/// state, without `O_DIRECT`, and with `O_NOATIME` if permitted. Without /proc it is a duplicate of
/// `file`, which returns the same bytes to reads at offsets.
///
/// # Errors
/// The errno of open(2): EACCES without read permission.
pub fn reopen(file: &File) -> io::Result<File> {
    match open_noatime(&own_path(file), File::options().read(true), 0) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            file.try_clone()
        }
        opened => opened,
    }
}

/// Opens the user's file for reading, whatever its type, without blocking: opening a FIFO that has
/// no writer would block forever.
///
/// # Errors
/// The errno of open(2).
pub fn open_named(path: &Path) -> io::Result<File> {
    open_noatime(path, File::options().read(true), libc::O_NONBLOCK)
}

/// Returns options to open `path` repeatedly like [`open_named`]: if `O_NOATIME` is refused, trying
/// it each time would cost an extra open.
///
/// # Errors
/// The errno of open(2) or fcntl(2).
pub fn named_options(path: &Path) -> io::Result<OpenOptions> {
    let granted = if is_noatime(&open_named(path)?)? { libc::O_NOATIME } else { 0 };
    Ok(File::options().read(true).custom_flags(libc::O_NONBLOCK | granted).clone())
}

/// Opens a regular file for reading.
///
/// # Errors
/// The errno of open(2) or fstat(2); `InvalidInput` for anything else: a pipe may block, a device
/// may be endless.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Neither waits for a writer nor makes a terminal the controlling one.
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    check_regular(file)
}

/// Returns the descriptor of this process that `path` names, following links: 1 for `/dev/stdout`,
/// 3 for `/proc/self/fd/3`.
pub fn named_descriptor(path: &Path) -> Option<RawFd> {
    let folders = [
        "/dev/fd".into(),
        "/proc/self/fd".into(),
        "/proc/thread-self/fd".into(),
        format!("/proc/{}/fd", std::process::id()),
    ];
    let mut path = path.to_path_buf();
    // The kernel follows up to 40 links too.
    for _ in 0..40 {
        let in_folder = path
            .parent()
            .is_some_and(|parent| folders.iter().any(|folder| parent == Path::new(folder)));
        if in_folder {
            return path.file_name()?.to_str()?.parse().ok().filter(|number| *number >= 0);
        }
        let next = std::fs::read_link(&path).ok()?;
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    None
}

/// Returns the bytes that can be read from `file`: its length, or the capacity of a block device
/// (which stat does not report).
///
/// # Errors
/// The errno of fstat(2), and for a device of open(2) or lseek(2).
pub fn size(file: &File) -> io::Result<u64> {
    let meta = file.metadata()?;
    if meta.file_type().is_block_device() {
        return reopen(file)?.seek(SeekFrom::End(0));
    }
    Ok(meta.len())
}

/// Returns the bytes of `[offset, offset + len)` that exist.
///
/// # Errors
/// Same as [`size`].
pub fn clip(file: &File, offset: u64, len: u64) -> io::Result<u64> {
    Ok(len.min(size(file)?.saturating_sub(offset)))
}

/// Returns the error of an interruptible call that was stopped.
pub fn stop_error() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "stopped on request")
}

/// Opens a regular file as [`open_named`] does.
///
/// # Errors
/// As of [`open_regular`].
pub fn open_regular_noatime(path: &Path) -> io::Result<File> {
    check_regular(open_named(path)?)
}

fn check_regular(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Identifies a file on this machine while it is open: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    pub fn from_metadata(meta: &Metadata) -> FileId {
        FileId(meta.dev(), meta.ino())
    }

    /// Returns the number of the file system that it is on.
    pub fn device(self) -> u64 {
        self.0
    }

    pub fn of_stat(stat: &libc::stat) -> FileId {
        FileId(stat.st_dev, stat.st_ino)
    }
}

/// An open file. Every clone keeps the descriptor open, so an abandoned thread cannot reach another
/// file by a reused number.
#[derive(Debug, Clone)]
pub struct HeldFile {
    file: Arc<File>,
    id: FileId,
    /// Used without /proc, which is needed to reopen a descriptor.
    name: Option<PathBuf>,
}

impl HeldFile {
    /// # Errors
    /// The errno of fstat(2).
    pub fn new(file: File, name: Option<PathBuf>) -> io::Result<HeldFile> {
        let id = FileId::from_metadata(&file.metadata()?);
        Ok(HeldFile { file: Arc::new(file), id, name })
    }

    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    pub fn id(&self) -> FileId {
        self.id
    }

    /// Opens a new description of this file. `writes`: whether `options` request write access.
    ///
    /// # Errors
    /// The errno of open(2); without /proc, an error if another file now has the name.
    pub fn open(
        &self,
        options: &mut OpenOptions,
        flags: i32,
        noatime: bool,
        writes: bool,
    ) -> io::Result<File> {
        self.open_by(&own_path(&self.file), options, flags, noatime, writes)
    }

    fn open_by(
        &self,
        descriptor: &Path,
        options: &mut OpenOptions,
        flags: i32,
        noatime: bool,
        writes: bool,
    ) -> io::Result<File> {
        let mut open = |path: &Path, flags: i32| {
            if noatime {
                open_noatime(path, options, flags)
            } else {
                options.custom_flags(flags).open(path)
            }
        };
        let opened = match (open(descriptor, flags), &self.name) {
            (Err(error), Some(name))
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                // Checked first, because opening a pipe or a device has side effects.
                self.check_same(&fs::metadata(name)?)?;
                // Our own file is not a link; the user may name one by a link.
                open(name, if writes { flags | libc::O_NOFOLLOW } else { flags })?
            }
            (opened, _) => opened?,
        };
        self.check_same(&opened.metadata()?)?;
        Ok(opened)
    }

    fn check_same(&self, found: &Metadata) -> io::Result<()> {
        if FileId::from_metadata(found) == self.id {
            Ok(())
        } else {
            Err(io::Error::other("another file has its name now; run again"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;

    #[test]
    fn a_reopened_file_has_another_position() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"hello").unwrap();
        let mut text = String::new();
        reopen(&file).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
        assert_eq!(file.stream_position().unwrap(), 5);
        assert_eq!(std::fs::read(path(&file)).unwrap(), b"hello");
    }

    #[test]
    fn clip_ends_with_the_file() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1000).unwrap();
        assert_eq!(clip(&file, 0, u64::MAX).unwrap(), 1000);
        assert_eq!(clip(&file, 990, 5).unwrap(), 5);
        assert_eq!(clip(&file, 990, 50).unwrap(), 10);
        assert_eq!(clip(&file, u64::MAX, u64::MAX).unwrap(), 0);
    }
    #[test]
    fn options_to_reopen_fit_strangers() {
        use nix::unistd::{Uid, setfsuid};
        use std::os::unix::fs::PermissionsExt;
        let own = tempfile::NamedTempFile::new().unwrap();
        let granted =
            |options: OpenOptions| is_noatime(&options.open(own.path()).unwrap()).unwrap();
        assert!(granted(named_options(own.path()).unwrap()));
        if !nix::unistd::geteuid().is_root() {
            return crate::testing::skip("only root can be somebody else");
        }
        own.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).unwrap();
        // Drops root's override of file permissions, for this thread only.
        let stranger = || {
            setfsuid(Uid::from_raw(65534));
            named_options(own.path()).map(|options| {
                (
                    options.open(own.path()).is_ok(),
                    is_noatime(&options.open(own.path()).unwrap()).unwrap(),
                )
            })
        };
        let found = std::thread::scope(|scope| scope.spawn(stranger).join().unwrap());
        assert_eq!(found.unwrap(), (true, false));
        assert!(matches!(
            named_options(Path::new("/no/such/file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound
        ));
    }

    const NO_PROC: &str = "/nonexistent/proc/fd/3";

    fn write(held: &HeldFile, descriptor: &Path) -> io::Result<()> {
        held.open_by(descriptor, File::options().read(true).write(true), 0, true, true)?
            .write_all(b"new")
    }

    #[test]
    fn writes_reach_only_the_held_file() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let held = HeldFile::new(File::create(at("own")).unwrap(), Some(at("own"))).unwrap();
        let proc = own_path(held.file());
        write(&held, Path::new(NO_PROC)).unwrap();
        assert_eq!(fs::read(at("own")).unwrap(), b"new");
        fs::rename(at("own"), at("moved")).unwrap();
        fs::write(at("precious"), "mine").unwrap();
        let swaps: [&dyn Fn(); 3] = [
            &|| fs::hard_link(at("precious"), at("own")).unwrap(),
            &|| symlink(at("precious"), at("own")).unwrap(),
            // The same file, but through a link that may change a moment later.
            &|| symlink(at("moved"), at("own")).unwrap(),
        ];
        for swap in swaps {
            swap();
            assert!(write(&held, Path::new(NO_PROC)).is_err());
            write(&held, &proc).unwrap();
            // A /proc that leads elsewhere is refused too.
            assert!(write(&held, &at("precious")).is_err());
            assert_eq!(
                (fs::read(at("precious")).unwrap(), fs::read(at("moved")).unwrap()),
                (b"mine".into(), b"new".into())
            );
            fs::remove_file(at("own")).unwrap();
        }
        assert_eq!(write(&held, Path::new(NO_PROC)).unwrap_err().kind(), ErrorKind::NotFound);
        let unnamed = HeldFile { name: None, ..held };
        assert_eq!(write(&unnamed, Path::new(NO_PROC)).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
