//! A process that removes a file once this one is gone, however it ended: a scratch file that keeps
//! its name would outlive a SIGKILL.

use std::ffi::OsStr;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::folder::Folder;

/// Waits for the end of its input, which is that of the process that holds the other end. The name
/// is in the environment, so that who kills every process with `iotui` in its command line does not
/// kill this one.
const SCRIPT: &str = "read -r _; rm -f -- \"$NAME\"";

/// Removes a file if this process ends before the caretaker is dropped.
#[derive(Debug)]
pub(super) struct Caretaker(Child);

impl Caretaker {
    /// Returns `None` if no shell can be started: the next run removes what is left then.
    pub fn of(folder: &Folder, name: &OsStr) -> Option<Caretaker> {
        let child = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("NAME", name)
            // The folder itself, wherever it is moved.
            .current_dir(format!("/proc/self/fd/{}", folder.fd().as_raw_fd()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What stops this program from the keyboard is not meant for it.
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
    fn a_file_is_removed_when_its_process_is_gone_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let [kept, left] = [".kept it's", ".left $HOME"].map(|name| dir.path().join(name));
        for path in [&kept, &left] {
            fs::write(path, "data").unwrap();
        }
        let of = |path: &std::path::Path| Caretaker::of(&folder, path.file_name().unwrap());
        drop(of(&kept).expect("a shell"));
        assert!(kept.exists());
        let mut caretaker = of(&left).expect("a shell");
        // As the kernel does when this process ends.
        drop(caretaker.0.stdin.take());
        assert!(caretaker.0.wait().unwrap().success());
        assert!(kept.exists() && !left.exists());
    }
}
