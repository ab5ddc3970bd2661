use std::os::unix::fs::symlink;

use super::*;
use crate::testing::names;

fn write(path: &Path, text: &str) -> io::Result<()> {
    to_file(path, |out| out.write_all(text.as_bytes()))
}

#[test]
fn a_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    write(&path, "one").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(&path).unwrap().ino();
    write(&path, "two").unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), after.mode() & 0o777), ("two", 0o640));
    assert_ne!(before, after.ino());
    assert_eq!(names(folder.path()), ["a.json"]);
}

#[test]
fn a_failed_writer_keeps_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    write(&path, "old").unwrap();
    let failed = to_file(&path, |out| {
        out.write_all(b"half")?;
        Err(io::Error::other("no"))
    });
    assert!(failed.is_err());
    assert_eq!(
        (fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()),
        ("old", 1)
    );
}

#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("real")).unwrap();
    let link = folder.path().join("link");
    symlink("real/file", &link).unwrap();
    for text in ["dangling", "existing"] {
        write(&link, text).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("real/file")).unwrap(), text);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
    symlink("loop", folder.path().join("loop")).unwrap();
    assert!(write(&folder.path().join("loop"), "x").is_err());
}

#[test]
fn streams_are_written_in_place() {
    probe(Path::new("/dev/null")).unwrap();
    write(Path::new("/dev/null"), "x").unwrap();
}

/// If the kernel refuses the replacement only after the run, both reports are kept.
#[test]
fn an_irreplaceable_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    fs::write(&path, "old").unwrap();
    let failed = to_file(&path, |out| {
        // No file can be renamed over a folder that is not empty.
        fs::remove_file(&path)?;
        fs::create_dir(&path)?;
        fs::write(path.join("old"), "old")?;
        out.write_all(b"new")
    });
    let message = failed.unwrap_err().to_string();
    assert!(message.contains("a.json.new") && message.contains("is unchanged"), "{message}");
    assert_eq!(fs::read_to_string(folder.path().join("a.json.new")).unwrap(), "new");
    assert_eq!(
        (fs::read_to_string(path.join("old")).unwrap().as_str(), names(folder.path()).len()),
        ("old", 2)
    );
}

#[test]
fn a_file_replaced_the_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let failed = to_file(&path, |out| {
        fs::remove_file(&path)?;
        fs::write(&path, "theirs")?;
        out.write_all(b"ours")
    });
    assert!(failed.unwrap_err().to_string().contains("a regular file has replaced it"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
}

#[test]
fn a_probe_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    probe(&path).unwrap();
    assert!(names(folder.path()).is_empty());
    fs::write(&path, "kept").unwrap();
    probe(&path).unwrap();
    assert_eq!(
        (fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()),
        ("kept", 1)
    );
    for (name, wanted) in [
        ("", "folder; name a file"),
        ("none/a", "folder does not exist"),
        ("a/b", ": not a directory"),
        ("new/", "has no file name"),
    ] {
        let error = probe(&folder.path().join(name)).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.starts_with("cannot write "), "{name}: {error}");
    }
    assert!(probe(Path::new("")).is_err());
    assert!(probe(Path::new("/dev/null\0")).is_err());
}

#[test]
fn a_disk_is_refused() {
    let mut disks = std::fs::read_dir("/dev").unwrap().flatten().map(|entry| entry.path());
    let disk = disks.find(|path| {
        std::fs::metadata(path)
            .is_ok_and(|m| std::os::unix::fs::FileTypeExt::is_block_device(&m.file_type()))
    });
    match disk {
        Some(disk) => assert!(probe(&disk).unwrap_err().to_string().contains("it is a disk")),
        None => crate::testing::skip("no block device here"),
    }
}

#[test]
fn a_new_file_replaces_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new");
    to_new_file(&path, |to| to.write_all(b"one")).unwrap();
    let refused = to_new_file(&path, |to| to.write_all(b"two")).unwrap_err();
    assert_eq!(
        (refused.kind(), fs::read(&path).unwrap()),
        (ErrorKind::AlreadyExists, b"one".to_vec())
    );
    // A file that appears while the data is being produced.
    let late = dir.path().join("late");
    let refused = to_new_file(&late, |to| {
        fs::write(&late, "theirs")?;
        to.write_all(b"ours")
    });
    assert_eq!(
        (refused.unwrap_err().kind(), fs::read(&late).unwrap()),
        (ErrorKind::AlreadyExists, b"theirs".to_vec())
    );
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}
