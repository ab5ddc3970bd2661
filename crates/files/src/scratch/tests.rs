use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};

use nix::fcntl::{Flock, FlockArg};

use super::*;
use crate::names::PREFIX;

/// Higher than any process id of Linux (4,194,304).
const DEAD: u32 = 99_999_999;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_scratch_file_can_be_reopened() {
    let dir = tempfile::tempdir().unwrap();
    for scratch in [
        Scratch::create(dir.path()).unwrap(),
        Scratch::create_named(Folder::open(dir.path()).unwrap(), can_reopen).unwrap(),
    ] {
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
fn it_keeps_a_name_without_proc() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = Scratch::create_named(Folder::open(dir.path()).unwrap(), |_| false).unwrap();
    assert_eq!(scratch.path(), dir.path().join(&names(dir.path())[0]));
    assert_eq!(scratch.name(), Some(scratch.path()));
    // It is still in use.
    assert_eq!(sweep(dir.path()).unwrap(), 0);
    scratch.file().write_all_at(b"data", 0).unwrap();
    assert_eq!(fs::read(scratch.path()).unwrap(), b"data");
    drop(scratch);
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn commits_may_need_a_name() {
    let dir = tempfile::tempdir().unwrap();
    let keeps = syncs_by_name(&mounts::fs_at(dir.path()).unwrap());
    let scratch = Scratch::create_to_commit(dir.path()).unwrap();
    assert_eq!(scratch.name().is_some(), keeps);
    assert_eq!(names(dir.path()).len(), usize::from(keeps));
    drop(scratch);
    assert_eq!(names(dir.path()), [""; 0]);
    assert!(syncs_by_name("btrfs") && !syncs_by_name("ext4") && !syncs_by_name("xfs"));
}

#[test]
fn names_cannot_be_guessed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    let some: std::collections::BTreeSet<String> = (0..1000).map(|_| next_name()).collect();
    assert!(some.len() == 1000 && some.iter().all(|name| is_leftover_name(name)), "{some:?}");
    fs::write(dir.path().join("0"), "planted").unwrap();
    symlink("nowhere", dir.path().join("1")).unwrap();
    fs::create_dir(dir.path().join("2")).unwrap();
    let tried = std::cell::Cell::new(0);
    let number = || tried.replace(tried.get() + 1).to_string();
    assert_eq!(folder.create_file(OWNER_ONLY, &number).unwrap().name, "3");
    tried.set(0);
    assert_eq!(folder.create_folder(&number).unwrap().name, "4");
    assert_eq!(
        folder.create_file(OWNER_ONLY, &|| "0".into()).unwrap_err().kind(),
        std::io::ErrorKind::AlreadyExists
    );
    assert_eq!(fs::read(dir.path().join("0")).unwrap(), b"planted");
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
        format!("{PREFIX}0123456789abcdef"),
        format!("{PREFIX}fedcba9876543210"),
        format!("{PREFIX}0123456789abcdeF"),
        format!("{PREFIX}0123456789abcdef0"),
        ".iotui-0123456789abcdef.tmp".into(),
        ".iotui-0123456789abcdef.bak".into(),
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

    let used = File::open(at(&format!("{PREFIX}fedcba9876543210"))).unwrap();
    let _used = Flock::lock(used, FlockArg::LockExclusiveNonblock).unwrap();

    let before = names(dir.path());
    assert_eq!(sweep(dir.path()).unwrap(), 4);
    let gone = [
        format!("{PREFIX}{DEAD}-0"),
        format!("{PREFIX}{DEAD}-17"),
        format!("{PREFIX}0123456789abcdef"),
        ".iotui-0123456789abcdef.tmp".into(),
    ];
    let notes = take_leftover_notes();
    assert!(gone.iter().all(|name| notes.iter().any(|line| line.contains(name))), "{notes:?}");
    let kept: Vec<_> = before.into_iter().filter(|name| !gone.contains(name)).collect();
    assert_eq!(names(dir.path()), kept);
    assert_eq!(fs::read(target).unwrap(), b"x");
    assert_eq!(sweep(dir.path()).unwrap(), 0);
}

#[test]
fn a_folder_goes_with_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let entry = ScratchDir::create(dir.path()).unwrap();
    assert_eq!(entry.folder().metadata().unwrap().mode() & 0o777, 0o700);
    (0..300).for_each(|n| fs::write(entry.path().join(format!("f{n}")), "x").unwrap());
    // It is still in use.
    assert_eq!((sweep(dir.path()).unwrap(), fs::read_dir(entry.path()).unwrap().count()), (0, 300));
    drop(entry);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    assert!(ScratchDir::create(&dir.path().join("none")).is_err());
}

#[test]
fn only_leftover_folders_are_swept() {
    let dir = tempfile::tempdir().unwrap();
    // Higher than any process id of Linux.
    let at = |number: u32| dir.path().join(format!(".iotui-scratch-99999999-{number}"));
    (0..5).for_each(|number| fs::create_dir(at(number)).unwrap());
    fs::write(at(0).join("f0"), "x").unwrap();
    fs::create_dir(at(1).join("not ours")).unwrap();
    fs::write(at(1).join("f0"), "x").unwrap();
    let precious = dir.path().join("precious");
    fs::write(&precious, "x").unwrap();
    std::os::unix::fs::symlink(&precious, at(2).join("f0")).unwrap();
    let _lock = Flock::lock(File::open(at(3)).unwrap(), FlockArg::LockExclusiveNonblock).unwrap();
    std::os::unix::fs::symlink(dir.path(), at(5)).unwrap();
    assert_eq!(sweep(dir.path()).unwrap(), 2);
    let left: Vec<bool> = (0..6).map(|number| fs::symlink_metadata(at(number)).is_ok()).collect();
    assert_eq!(left, [false, true, true, true, false, true]);
    assert!(at(1).join("f0").exists() && precious.exists());
}
