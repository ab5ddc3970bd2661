//! A fake sysfs, for tests.

use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A fake sysfs.
pub struct Sysfs(TempDir);

impl Sysfs {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn root(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap()
    }

    /// Creates a device folder with its files, and its entry in dev/block.
    pub fn device(&self, place: &str, number: &str, files: &[(&str, &str)]) -> PathBuf {
        let dir = self.files(place, files);
        fs::write(dir.join("dev"), format!("{number}\n")).unwrap();
        fs::create_dir_all(self.root().join("dev/block")).unwrap();
        symlink(&dir, self.root().join("dev/block").join(number)).unwrap();
        dir
    }

    pub fn files(&self, place: &str, files: &[(&str, &str)]) -> PathBuf {
        let dir = self.root().join("devices").join(place);
        fs::create_dir_all(&dir).unwrap();
        for (name, text) in files {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        dir
    }
}
