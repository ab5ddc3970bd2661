//! Which files are remote, and that one is read like a local one.

use super::*;
use crate::probe::testing::{cell, site};
use crate::sys::{random, testing};

fn mount(fs: &str) -> Mount {
    let (source, mount_point) = (Some("server:/home".into()), None);
    Mount {
        fs: fs.into(),
        magic: 0,
        source,
        mount_point,
        options: vec![],
        read_only: false,
        memory_device: false,
    }
}

#[test]
fn files_of_other_machines_and_of_programs_are_remote() {
    for fs in [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "9p",
        "ceph",
        "afs",
        "virtiofs",
        "fuse",
        "fuseblk",
        "fuse.sshfs",
        "fuse.s3fs",
        "fuse.rclone",
    ] {
        assert_eq!(far(&mount(fs)), Ok(()), "{fs}");
    }
    for fs in ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fusectl", "nfsd", "block"] {
        assert_eq!(far(&mount(fs)), Err(fs));
    }
}

#[test]
fn without_a_remote_file_it_says_what_to_do() {
    let some = cell("remote-read", &[("pattern", "seq".into()), ("bytes", 1890.into())]);
    let why = |file: Option<&Path>| {
        RemoteRead.check(&some, &Site::here(None, file.map(Path::to_path_buf))).unwrap_err()
    };
    assert_eq!(why(None), NONE);
    assert!(why(Some(Path::new("/proc/self/stat"))).contains("is local, on proc: name a file"));
    assert!(why(Some(Path::new("/no/such/file"))).contains("No such file"));
    assert_eq!(RemoteRead.cells(&site()).len(), 2);
}

#[test]
fn sizes_are_those_that_the_file_has() {
    let sizes = |most| {
        let all = reading::cells("remote-read", most, None)
            .into_iter()
            .map(|cell| What::of(&cell).unwrap());
        all.filter(|what| !what.random).map(|what| (what.bytes, what.cold)).collect::<Vec<_>>()
    };
    assert_eq!(sizes(20), [(20, false)]);
    assert_eq!(sizes(70_000), [(1890, false), (11390, false), (65536, false), (65536, true)]);
    assert_eq!(sizes(u64::MAX).len(), 9);
}

/// The way a remote file is read, on a file that is none.
#[test]
fn all_blocks_are_read_by_their_calls_cached_and_from_the_device() {
    let Some(dir) = testing::disk_dir() else { return };
    let own = tempfile::NamedTempFile::new_in(dir).unwrap();
    let mut data = vec![0; 100_000];
    random::fill(1, 0, &mut data);
    std::fs::write(own.path(), &data).unwrap();
    for what in
        reading::cells("remote-read", 70_000, None).into_iter().map(|cell| What::of(&cell).unwrap())
    {
        let file = File::open(own.path()).unwrap();
        let source =
            Source { path: own.path().into(), ground: ground(&file), file, far: true, _own: None };
        let mut gauge = Reading::open(what, source, &site()).unwrap();
        let before = crate::sys::process_io::ProcessIo::thread().unwrap_or_default();
        let took = gauge.run(3);
        if what.cold && took.is_err() {
            testing::skip("cannot be made cold");
            continue;
        }
        assert!(
            took.as_ref().is_ok_and(|took| took.amount == 3.0 && took.nanos > 0),
            "{what:?}: {took:?}"
        );
        let moved = crate::sys::process_io::ProcessIo::thread().unwrap_or_default() - before;
        assert!(
            moved.syscr == 0 || (moved.syscr >= what.blocks() * 3 && moved.rchar >= what.bytes * 3),
            "{what:?}: {moved:?}"
        );
        assert_eq!(gauge.evidence().len(), 2, "{:?}", gauge.evidence());
        let kept = gauge.evidence().iter().any(|line| line.contains("leaves 100 %"));
        assert!(what.cold || kept, "a disk's files stay cached: {:?}", gauge.evidence());
        assert_eq!(took.unwrap().readings, if what.cold { 3 } else { 1 });
    }
    assert_eq!(std::fs::read(own.path()).unwrap(), data);
}

/// Seen: 52 MiB of 64 came from the device in a read that was called cached, as another program
/// emptied all caches.
#[test]
fn a_file_that_was_thrown_out_is_read_in_again_before_it_is_timed() {
    let Some(file) = testing::file_on_disk(1 << 20) else { return };
    let what = reading::cells("file-read", 1 << 20, None)
        .iter()
        .filter_map(What::of)
        .find(|what| what.bytes == 1 << 20 && !what.cold)
        .unwrap();
    let again = file.try_clone().unwrap();
    let source = Source {
        path: crate::sys::fd::own_path(&file),
        ground: None,
        file,
        far: false,
        _own: None,
    };
    let mut gauge = Reading::open(what, source, &site()).unwrap();
    if !crate::sys::cold::make_cold(&again, 1 << 20).unwrap().is_cold() {
        return testing::skip("cannot be made cold");
    }
    gauge.run(1).unwrap();
    assert!(gauge.evidence()[0].contains("charged 0 B of the device"), "{:?}", gauge.evidence());
}
