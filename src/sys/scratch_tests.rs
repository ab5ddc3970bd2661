use super::*;
use std::os::unix::fs::{FileExt, symlink};

/// Higher than any process number of Linux (4,194,304).
const DEAD: u32 = 99_999_999;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_scratch_file_is_unseen_and_can_be_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    for scratch in [Scratch::create(dir.path()).unwrap(), Scratch::create_named(dir.path()).unwrap()] {
        assert_eq!(names(dir.path()), [""; 0]);
        scratch.file().write_all_at(b"data", 0).unwrap();
        assert_eq!(fs::read(scratch.path()).unwrap(), b"data");
        OpenOptions::new().write(true).open(scratch.path()).unwrap().write_all_at(b"D", 0).unwrap();
        let path = scratch.path();
        std::thread::spawn(move || assert_eq!(fs::read(path).unwrap(), b"Data")).join().unwrap();
        assert_eq!(scratch.file().metadata().unwrap().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_name_that_must_stay_goes_with_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kept");
    let scratch = Scratch { file: File::create(&path).unwrap(), named: Some(path.clone()), _lock: None };
    assert_eq!(scratch.path(), path);
    drop(scratch);
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn errors_keep_their_meaning() {
    let missing = Scratch::create(Path::new("/nonexistent/folder")).unwrap_err();
    assert_eq!(missing.raw_os_error(), Some(libc::ENOENT));
    assert!(sweep(Path::new("/nonexistent/folder")).is_err());
}

#[test]
fn only_leftovers_are_swept() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let target = at("target");
    for name in [
        "target".to_string(),
        format!("{PREFIX}{DEAD}-0"),
        format!("{PREFIX}{DEAD}-17"),
        format!("{PREFIX}{DEAD}-4"),
        format!("{PREFIX}{}-0", std::process::id()),
        format!("{PREFIX}{DEAD}"),
        format!("{PREFIX}{DEAD}-x"),
        format!("{PREFIX}+{DEAD}-1"),
        format!("{PREFIX}-"),
        format!("x{PREFIX}{DEAD}-0"),
    ] {
        fs::write(at(&name), "x").unwrap();
    }
    fs::create_dir_all(at(&format!("{PREFIX}{DEAD}-1")).join("not ours")).unwrap();
    symlink(&target, at(&format!("{PREFIX}{DEAD}-2"))).unwrap();
    nix::unistd::mkfifo(&at(&format!("{PREFIX}{DEAD}-3")), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let in_use = File::open(at(&format!("{PREFIX}{DEAD}-4"))).unwrap();
    let _lock = Flock::lock(in_use, FlockArg::LockExclusiveNonblock).unwrap();

    let before = names(dir.path());
    assert_eq!(sweep(dir.path()).unwrap(), 2);
    let gone = [format!("{PREFIX}{DEAD}-0"), format!("{PREFIX}{DEAD}-17")];
    let kept: Vec<_> = before.into_iter().filter(|name| !gone.contains(name)).collect();
    assert_eq!(names(dir.path()), kept);
    assert_eq!(fs::read(target).unwrap(), b"x");
    assert_eq!(sweep(dir.path()).unwrap(), 0);
}
