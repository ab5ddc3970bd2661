//! A file that gets the user's name only once it is complete.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use nix::sys::stat::Mode;

use super::folder::{Folder, LockedEntry};
use super::names::next_name;

/// A new file without its final name. If it is dropped in this state, nothing remains.
#[derive(Debug)]
pub struct UnnamedFile {
    folder: Folder,
    name: OsString,
    file: File,
    /// Its private name, if the file system has no unnamed files.
    private: Option<LockedEntry>,
}

impl UnnamedFile {
    /// Creates an empty file for `path`, which must not exist.
    ///
    /// # Errors
    /// `AlreadyExists`; `Unsupported` if the file system can name a file only by replacing an
    /// existing one; the errno of open(2).
    pub fn create(path: &Path) -> io::Result<UnnamedFile> {
        let (folder, name) = Folder::open_parent(path)?;
        if folder.stat(&name).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let mode = Mode::from_bits_truncate(0o666);
        // Linking a descriptor needs its path in /proc, or root.
        match folder.unnamed(mode).ok().filter(|file| super::fd::own_path(file).exists()) {
            Some(file) => Ok(UnnamedFile { folder, name, file, private: None }),
            None => UnnamedFile::private(folder, name, mode),
        }
    }

    fn private(folder: Folder, name: OsString, mode: Mode) -> io::Result<UnnamedFile> {
        let entry = folder.create_file(mode, &next_name)?;
        let mut made =
            UnnamedFile { folder, name, file: entry.file.try_clone()?, private: Some(entry) };
        // Tested now, before there is data to lose.
        let other = OsString::from(next_name());
        made.set_name(&other).map_err(|error| match error.raw_os_error() {
            Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP | libc::EPERM | libc::ENOENT) => {
                io::Error::new(
                    ErrorKind::Unsupported,
                    "its file system cannot create a file without the risk of replacing another; \
                 choose another folder",
                )
            }
            _ => error,
        })?;
        if let Some(entry) = &mut made.private {
            entry.name = other;
        }
        Ok(made)
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, unless another file has it by now.
    ///
    /// # Errors
    /// `AlreadyExists`; the errno of link(2).
    pub fn finish(mut self) -> io::Result<File> {
        let name = std::mem::take(&mut self.name);
        self.set_name(&name)?;
        self.private = None;
        self.file.try_clone()
    }

    /// Links or renames the file to `name`, and removes its private name.
    fn set_name(&self, name: &OsStr) -> io::Result<()> {
        match (self.folder.link(&self.file, name), &self.private) {
            (Ok(()), Some(entry)) => {
                self.folder.remove(&entry.name, entry.id);
                Ok(())
            }
            (Err(error), Some(entry)) if error.kind() != ErrorKind::AlreadyExists => {
                self.folder.rename(&entry.name, name)
            }
            (done, _) => done,
        }
    }
}

impl Drop for UnnamedFile {
    fn drop(&mut self) {
        if let Some(entry) = &self.private {
            self.folder.remove(&entry.name, entry.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::{FileExt, PermissionsExt, symlink};

    use super::*;

    type Make = fn(&Path) -> io::Result<UnnamedFile>;

    /// With and without O_TMPFILE.
    const METHODS: [Make; 2] = [UnnamedFile::create, |path| {
        let (folder, name) = Folder::open_parent(path)?;
        if folder.stat(&name).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        UnnamedFile::private(folder, name, Mode::from_bits_truncate(0o666))
    }];

    fn names(dir: &Path) -> Vec<String> {
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn only_a_complete_file_is_named() {
        for make in METHODS {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("new.bin");
            let made = make(&path).unwrap();
            made.file().write_all_at(b"whole", 0).unwrap();
            assert!(!path.exists());
            let file = made.finish().unwrap();
            assert_eq!(names(dir.path()), ["new.bin"]);
            assert_eq!(fs::read(&path).unwrap(), b"whole");
            let ordinary = File::create(dir.path().join("ordinary"))
                .unwrap()
                .metadata()
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(file.metadata().unwrap().permissions().mode(), ordinary);
            drop(make(&dir.path().join("dropped")).unwrap());
            assert_eq!(names(dir.path()).len(), 2);
        }
    }

    #[test]
    fn a_taken_name_is_not_replaced() {
        for make in METHODS {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("new.bin");
            let takes: [&dyn Fn(); 3] = [
                &|| fs::write(&path, "precious").unwrap(),
                &|| symlink(dir.path().join("nowhere"), &path).unwrap(),
                &|| fs::create_dir(&path).unwrap(),
            ];
            for take in takes {
                let made = make(&path).unwrap();
                made.file().write_all(b"mine").unwrap();
                take();
                let before = fs::symlink_metadata(&path).unwrap();
                assert_eq!(made.finish().unwrap_err().kind(), ErrorKind::AlreadyExists);
                assert_eq!(make(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
                let after = fs::symlink_metadata(&path).unwrap();
                assert_eq!(
                    (before.len(), before.modified().unwrap()),
                    (after.len(), after.modified().unwrap())
                );
                assert_eq!(names(dir.path()), ["new.bin"]);
                if after.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) }
                    .unwrap();
            }
        }
    }

    #[test]
    fn another_private_name_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let made = METHODS[1](&dir.path().join("new.bin")).unwrap();
        let private = dir.path().join(&names(dir.path())[0]);
        fs::write(dir.path().join("precious"), "precious").unwrap();
        fs::rename(dir.path().join("precious"), &private).unwrap();
        drop(made);
        assert_eq!(fs::read(&private).unwrap(), b"precious");
    }

    #[test]
    fn paths_without_names_are_refused() {
        for path in ["/", "/tmp/..", "/nonexistent/folder/new.bin", "/tmp/new/"] {
            assert!(UnnamedFile::create(Path::new(path)).is_err(), "{path}");
        }
    }
}
