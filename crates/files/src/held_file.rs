//! A file that is reopened by its descriptor, not by its name: it remains the same file even if
//! something is renamed.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fd;

/// Identifies a file on this machine while it is open: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    pub fn from_metadata(meta: &Metadata) -> FileId {
        FileId(meta.dev(), meta.ino())
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
        self.open_by(&fd::own_path(&self.file), options, flags, noatime, writes)
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
                fd::open_noatime(path, options, flags)
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
    use std::io::Write;
    use std::os::unix::fs::symlink;

    const NO_PROC: &str = "/nonexistent/proc/fd/3";

    fn write(held: &HeldFile, descriptor: &Path) -> io::Result<()> {
        held.open_by(descriptor, File::options().read(true).write(true), 0, true, true)?
            .write_all(b"new")
    }

    #[test]
    fn writing_reaches_the_held_file_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let held = HeldFile::new(File::create(at("own")).unwrap(), Some(at("own"))).unwrap();
        let proc = fd::own_path(held.file());
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
