//! Helpers shared by tests.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use super::{mounts, residency};
use crate::stats::random;

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

/// Returns the names in a folder, sorted; empty if there is no such folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into()).collect();
    names.sort();
    names
}

/// Creates an unnamed file of `len` random bytes on a disk, not yet written back.
pub fn file_on_disk(len: usize) -> Option<File> {
    let mut file = tempfile::tempfile_in(disk_dir()?).ok()?;
    let mut data = vec![0u8; len];
    random::fill(1, 0, &mut data);
    file.write_all(&data).ok()?;
    Some(file)
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

const MAX_ATTEMPTS: u32 = 5;
const WITNESS_LEN: usize = 1 << 16;

/// Runs a test that relies on cached data staying cached. Repeats it if it fails and the page cache
/// was dropped meanwhile, and skips it if that keeps happening. `folder` is on the same disk.
///
/// # Panics
/// If the test fails although nothing was dropped.
pub fn with_page_cache(folder: &Path, test: impl Fn()) {
    for _ in 0..MAX_ATTEMPTS {
        let witness = Witness::new(folder);
        let Err(failure) = catch_unwind(AssertUnwindSafe(&test)) else { return };
        if !witness.was_dropped() {
            resume_unwind(failure);
        }
    }
    skip("the page cache is dropped again and again");
}

/// A cached file that nothing else uses.
struct Witness(File);

impl Witness {
    fn new(folder: &Path) -> Witness {
        let mut file = tempfile::tempfile_in(folder).unwrap();
        file.write_all(&[1; WITNESS_LEN]).unwrap();
        // Dirty pages are not dropped.
        file.sync_all().unwrap();
        Witness(file)
    }

    fn was_dropped(&self) -> bool {
        residency::residency(&self.0, 0, WITNESS_LEN as u64).unwrap().share() < 1.0
    }
}

#[test]
fn a_dropped_page_cache_repeats_the_test() {
    let Some(folder) = disk_dir() else { return };
    if let Err(why) = super::cold::check_drop_caches() {
        return skip(&why);
    }
    let attempts = std::cell::Cell::new(0);
    with_page_cache(&folder, || {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            super::cold::drop_caches(1).unwrap();
            panic!("nothing is cached");
        }
    });
    assert!(attempts.get() > 1);
}
