//! Helpers shared by the tests of all crates.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use iotui_core::stats::random;

use super::mounts;

/// Prints why a test (or part of it) did not run; also appends it to the file named by
/// `IOTUI_SKIPPED`, because the output of passing tests is hidden.
pub fn skip(why: &str) {
    let why = why.trim();
    eprintln!("skipped: {why}");
    if let Some(list) = std::env::var_os("IOTUI_SKIPPED") {
        let thread = std::thread::current();
        let line =
            format!("{}\t{}\n", thread.name().unwrap_or("a thread"), why.replace('\n', "; "));
        let list = File::options().create(true).append(true).open(list);
        list.and_then(|mut list| list.write_all(line.as_bytes()))
            .expect("the list of what is skipped can be written");
    }
}

/// Skips a test because a program is missing; `.ci/run` matches this text, and fails if the program
/// is installed after all.
pub fn without(program: &str) {
    skip(&format!("{program} is not installed"));
}

/// Returns a folder on a real file system: the temporary folder, else that of the test binary.
pub fn disk_dir() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|exe| exe.parent().map(PathBuf::from));
    let candidates = [Some(std::env::temp_dir()), beside, Some(PathBuf::from("/var/tmp"))];
    let found = candidates.into_iter().flatten().find(|dir| {
        let file = tempfile::tempfile_in(dir);
        file.is_ok_and(|file| {
            mounts::mount_of(&file).is_ok_and(|m| !m.is_memory() && !m.is_network() && !m.is_fuse())
        })
    });
    if found.is_none() {
        skip("no writable folder on a disk");
    }
    found
}

/// Returns the names in a folder, sorted; empty without the folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

/// Creates an unnamed empty file on tmpfs.
pub fn file_in_memory() -> Option<File> {
    let file = tempfile::tempfile_in("/dev/shm").ok()?;
    if mounts::mount_of(&file).is_ok_and(|m| m.is_memory()) {
        return Some(file);
    }
    skip("/dev/shm is not tmpfs");
    None
}

/// Runs one test of this binary again, alone in its own process, with `IOTUI_CHILD` set to `role`.
///
/// # Panics
/// If no test has that name.
pub fn child(test: &str, role: &str) -> std::process::Output {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("IOTUI_CHILD", role)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("running 1 test"), "no test has the name {test}: {stdout}");
    output
}

/// Returns whether this process is the child with this `role`.
pub fn is_child(role: &str) -> bool {
    std::env::var("IOTUI_CHILD").is_ok_and(|r| r == role)
}

/// Returns true in the child with this `role`, where the test goes on; otherwise runs `test` in
/// that child.
///
/// # Panics
/// If it fails there, or no test has that name.
pub fn is_alone(test: &str, role: &str) -> bool {
    if is_child(role) {
        return true;
    }
    let output = child(test, role);
    assert!(output.status.success(), "{output:?}");
    false
}

/// Creates an unnamed file of `len` random bytes on a disk, not yet written back.
pub fn file_on_disk(len: usize) -> Option<File> {
    let mut file = tempfile::tempfile_in(disk_dir()?).ok()?;
    let mut data = vec![0u8; len];
    random::fill(1, 0, &mut data);
    file.write_all(&data).ok()?;
    Some(file)
}
