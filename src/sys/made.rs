//! A file that gets the user's name only when it is whole.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use nix::sys::stat::Mode;

use super::folder::{Folder, Own};
use super::scratch;

/// A new file without its name yet; dropped so, it leaves nothing.
#[derive(Debug)]
pub struct Unnamed {
    folder: Folder,
    name: OsString,
    file: File,
    /// Under a private name, where the file system has no files without one.
    private: Option<Own>,
}

impl Unnamed {
    /// Makes an empty file for `path`, which nothing may have.
    ///
    /// # Errors
    /// `AlreadyExists`; `Unsupported` where the file system can name a file only by replacing what
    /// is there; the errno of open(2).
    pub fn make(path: &Path) -> io::Result<Unnamed> {
        let (folder, name) = Folder::of(path)?;
        if folder.stat(&name).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let mode = Mode::from_bits_truncate(0o666);
        // A descriptor is linked by its path in /proc, or by root.
        match folder.unnamed(mode).ok().filter(|file| super::fd::own_path(file).exists()) {
            Some(file) => Ok(Unnamed { folder, name, file, private: None }),
            None => Unnamed::private(folder, name, mode),
        }
    }

    fn private(folder: Folder, name: OsString, mode: Mode) -> io::Result<Unnamed> {
        let own = folder.own_file(mode, &scratch::next_name)?;
        let mut made = Unnamed { folder, name, file: own.file.try_clone()?, private: Some(own) };
        // Found out while there is nothing in it to lose.
        let other = OsString::from(scratch::next_name());
        made.give(&other).map_err(|error| match error.raw_os_error() {
            Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP | libc::EPERM | libc::ENOENT) => io::Error::new(
                ErrorKind::Unsupported,
                "its file system can only name a file by replacing what has the name: choose another folder",
            ),
            _ => error,
        })?;
        if let Some(own) = &mut made.private {
            own.name = other;
        }
        Ok(made)
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives it its name, if nothing has got it meanwhile.
    ///
    /// # Errors
    /// `AlreadyExists`; the errno of link(2).
    pub fn finish(mut self) -> io::Result<File> {
        let name = std::mem::take(&mut self.name);
        self.give(&name)?;
        self.private = None;
        self.file.try_clone()
    }

    /// A private name is given up for `name`.
    fn give(&self, name: &OsStr) -> io::Result<()> {
        match (self.folder.link(&self.file, name), &self.private) {
            (Ok(()), Some(own)) => {
                self.folder.remove(&own.name, own.id);
                Ok(())
            }
            (Err(error), Some(own)) if error.kind() != ErrorKind::AlreadyExists => {
                self.folder.rename(&own.name, name)
            }
            (done, _) => done,
        }
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if let Some(own) = &self.private {
            self.folder.remove(&own.name, own.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::{FileExt, PermissionsExt, symlink};

    use super::*;

    type Make = fn(&Path) -> io::Result<Unnamed>;

    /// With and without O_TMPFILE.
    const WAYS: [Make; 2] = [Unnamed::make, |path| {
        let (folder, name) = Folder::of(path)?;
        if folder.stat(&name).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        Unnamed::private(folder, name, Mode::from_bits_truncate(0o666))
    }];

    fn names(dir: &Path) -> Vec<String> {
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn it_has_its_name_when_it_is_whole_and_not_before() {
        for make in WAYS {
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
    fn a_name_that_was_taken_meanwhile_stays_with_who_took_it() {
        for make in WAYS {
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
    fn what_takes_the_place_of_a_private_name_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let made = WAYS[1](&dir.path().join("new.bin")).unwrap();
        let private = dir.path().join(&names(dir.path())[0]);
        fs::write(dir.path().join("precious"), "precious").unwrap();
        fs::rename(dir.path().join("precious"), &private).unwrap();
        drop(made);
        assert_eq!(fs::read(&private).unwrap(), b"precious");
    }

    #[test]
    fn what_names_no_file_is_refused() {
        for path in ["/", "/tmp/..", "/nonexistent/folder/new.bin", "/tmp/new/"] {
            assert!(Unnamed::make(Path::new(path)).is_err(), "{path}");
        }
    }
}
