//! A process that removes a file or folder after this one has ended in any way: a named file would
//! outlive a SIGKILL, or an abort without memory.

use std::ffi::OsStr;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::folder::Folder;

/// Waits for the end of its input, which ends with the process at the other end. The name is in the
/// environment, so that killing every process with `iotui` in its command line spares this one.
const REMOVE_FILE: &str = "read -r _; rm -f -- \"$NAME\"";

/// Removes the same as a `ScratchDir`: files with names of iotui, and the folder if it is empty
/// then.
const REMOVE_FOLDER: &str = "read -r _; find \"./$NAME\" -mindepth 1 -maxdepth 1 -type f \
                             -name '[a-z]?*' ! -name '?*[!0-9]*' -delete; rmdir -- \"./$NAME\"";

/// Removes a file if this process ends before the caretaker is dropped.
#[derive(Debug)]
pub struct Caretaker(Child);

impl Caretaker {
    /// Returns `None` if no shell can be started: the next run removes what is left then.
    pub fn of_file(folder: &Folder, name: &OsStr) -> Option<Caretaker> {
        Caretaker::start(REMOVE_FILE, folder, name)
    }

    /// Starts one for a folder, as [`of_file`](Caretaker::of_file) does for a file.
    pub fn of_folder(folder: &Folder, name: &OsStr) -> Option<Caretaker> {
        Caretaker::start(REMOVE_FOLDER, folder, name)
    }

    fn start(script: &str, folder: &Folder, name: &OsStr) -> Option<Caretaker> {
        let child = Command::new("/bin/sh")
            .args(["-c", script])
            .env_clear()
            .env("LC_ALL", "C")
            .env("PATH", "/usr/bin:/bin")
            .env("NAME", name)
            // The folder itself, wherever it is moved.
            .current_dir(format!("/proc/self/fd/{}", folder.fd().as_raw_fd()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Signals from the keyboard are meant for this program only.
            .process_group(0)
            .spawn();
        child.ok().map(Caretaker)
    }
}

impl Drop for Caretaker {
    fn drop(&mut self) {
        // It may have ended by itself; nothing else can go wrong.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_outlives_no_process() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let [kept, left] = [".kept it's", ".left $HOME"].map(|name| dir.path().join(name));
        for path in [&kept, &left] {
            fs::write(path, "data").unwrap();
        }
        let of = |path: &std::path::Path| Caretaker::of_file(&folder, path.file_name().unwrap());
        drop(of(&kept).expect("a shell"));
        assert!(kept.exists());
        let mut caretaker = of(&left).expect("a shell");
        // As the kernel does when this process ends.
        drop(caretaker.0.stdin.take());
        assert!(caretaker.0.wait().unwrap().success());
        assert!(kept.exists() && !left.exists());
    }

    #[test]
    fn only_own_files_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let make = |name: &str, files: &[&str]| {
            fs::create_dir(dir.path().join(name)).unwrap();
            files.iter().for_each(|file| fs::write(dir.path().join(name).join(file), "x").unwrap());
        };
        make("own", &["f0", "g17", "h123"]);
        make("other", &["f0", "F1", "f", "f1x", "12"]);
        std::os::unix::fs::symlink("other", dir.path().join("link")).unwrap();
        for name in ["own", "other", "link"] {
            let mut caretaker = Caretaker::of_folder(&folder, OsStr::new(name)).expect("a shell");
            drop(caretaker.0.stdin.take());
            caretaker.0.wait().unwrap();
        }
        let mut left: Vec<_> = fs::read_dir(dir.path().join("other")).unwrap().flatten().collect();
        left.sort_by_key(fs::DirEntry::file_name);
        let left: Vec<_> = left.iter().map(fs::DirEntry::file_name).collect();
        assert_eq!(left, ["12", "F1", "f", "f1x"]);
        assert!(!dir.path().join("own").exists() && dir.path().join("link").is_symlink());
    }
}
