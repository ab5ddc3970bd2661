//! A file that is opened again by its descriptor, not by its name: whatever is renamed meanwhile,
//! it is the same file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fd;

/// Tells one file of this machine from all others, for as long as it is open: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Id(u64, u64);

impl Id {
    pub fn of(meta: &Metadata) -> Id {
        Id(meta.dev(), meta.ino())
    }

    pub(super) fn of_stat(stat: &libc::stat) -> Id {
        Id(stat.st_dev, stat.st_ino)
    }
}

/// An open file. Every clone keeps its descriptor, so a thread that is left behind cannot reach
/// another file by its number.
#[derive(Debug, Clone)]
pub struct Held {
    file: Arc<File>,
    id: Id,
    /// Tried where there is no /proc to open a descriptor by.
    name: Option<PathBuf>,
}

impl Held {
    /// # Errors
    /// The errno of fstat(2).
    pub fn new(file: File, name: Option<PathBuf>) -> io::Result<Held> {
        let id = Id::of(&file.metadata()?);
        Ok(Held { file: Arc::new(file), id, name })
    }

    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    pub fn id(&self) -> Id {
        self.id
    }

    /// A new description of this file. `writes` says whether `options` do.
    ///
    /// # Errors
    /// The errno of open(2); where there is no /proc, that another file has the name.
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
        let mut open = |path: &Path, flags: i32| match noatime {
            true => fd::open_noatime(path, options, flags),
            false => options.custom_flags(flags).open(path),
        };
        let opened = match (open(descriptor, flags), &self.name) {
            (Err(error), Some(name))
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                // Looked at first: even opening does something to a pipe or a device.
                self.same(&fs::metadata(name)?)?;
                // Iotui's own file is no link; the user's may be named by one.
                open(name, if writes { flags | libc::O_NOFOLLOW } else { flags })?
            }
            (opened, _) => opened?,
        };
        self.same(&opened.metadata()?)?;
        Ok(opened)
    }

    fn same(&self, found: &Metadata) -> io::Result<()> {
        if Id::of(found) == self.id {
            Ok(())
        } else {
            Err(io::Error::other("another file has its name now: run again"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    const NO_PROC: &str = "/nonexistent/proc/fd/3";

    fn write(held: &Held, descriptor: &Path) -> io::Result<()> {
        held.open_by(descriptor, File::options().read(true).write(true), 0, true, true)?
            .write_all(b"new")
    }

    #[test]
    fn writing_reaches_the_held_file_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let held = Held::new(File::create(at("own")).unwrap(), Some(at("own"))).unwrap();
        let proc = fd::own_path(held.file());
        write(&held, Path::new(NO_PROC)).unwrap();
        assert_eq!(fs::read(at("own")).unwrap(), b"new");
        fs::rename(at("own"), at("moved")).unwrap();
        fs::write(at("precious"), "mine").unwrap();
        let swaps: [&dyn Fn(); 3] = [
            &|| fs::hard_link(at("precious"), at("own")).unwrap(),
            &|| symlink(at("precious"), at("own")).unwrap(),
            // Its own file, but by a link that may lead elsewhere a moment later.
            &|| symlink(at("moved"), at("own")).unwrap(),
        ];
        for swap in swaps {
            swap();
            assert!(write(&held, Path::new(NO_PROC)).is_err());
            write(&held, &proc).unwrap();
            // A /proc that leads elsewhere is no excuse.
            assert!(write(&held, &at("precious")).is_err());
            assert_eq!(
                (fs::read(at("precious")).unwrap(), fs::read(at("moved")).unwrap()),
                (b"mine".into(), b"new".into())
            );
            fs::remove_file(at("own")).unwrap();
        }
        assert_eq!(write(&held, Path::new(NO_PROC)).unwrap_err().kind(), ErrorKind::NotFound);
        let unnamed = Held { name: None, ..held };
        assert_eq!(write(&unnamed, Path::new(NO_PROC)).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
