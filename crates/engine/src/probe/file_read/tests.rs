//! Tests of which files are remote, and that they are read like local ones.

use super::*;
use crate::catalog;
use crate::facts::ResidencyMethod;
use crate::probe::cell::list_cells;
use crate::probe::probe;
use crate::probe::testing::{cell, context};
use crate::stats::random;
use crate::sys::testing;

/// Returns the parameters of all default cells of a file of `most` bytes.
fn scans(most: u64) -> impl Iterator<Item = ScanParams> {
    let cells =
        list_cells(&catalog::REMOTE_READ, &context(), |source| ScanParams::ask(source, &|_| most));
    cells.into_iter().map(|(_, params)| params)
}

fn mount(fs: &str) -> Mount {
    let (source, mount_point) = (Some("server:/home".into()), None);
    Mount { fs: fs.into(), magic: 0, source, mount_point, options: vec![], read_only: false }
}

#[test]
fn network_and_fuse_files_are_remote() {
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
fn missing_remote_file_names_the_remedy() {
    let some = cell("remote-read", &[("pattern", "seq".into()), ("bytes", 1890.into())]);
    let why = |file: Option<&Path>| {
        let context = ProbeContext::collect(None, file.map(Path::to_path_buf));
        probe("remote-read").unwrap().check(&some, &context).unwrap_err()
    };
    assert_eq!(why(None), NONE);
    assert!(why(Some(Path::new("/proc/self/stat"))).contains("is local, on proc: name a file"));
    assert!(why(Some(Path::new("/no/such/file"))).contains("No such file"));
    assert_eq!(probe("remote-read").unwrap().cells(&context()).len(), 2);
}

#[test]
fn sizes_are_limited_by_the_file() {
    let sizes = |most| {
        scans(most)
            .filter(|params| !params.random)
            .map(|params| (params.bytes, params.cold))
            .collect::<Vec<_>>()
    };
    assert_eq!(sizes(20), [(20, false)]);
    assert_eq!(sizes(70_000), [(1890, false), (11390, false), (65536, false), (65536, true)]);
    assert_eq!(sizes(u64::MAX).len(), 9);
}

/// Reads a local file in the same way as a remote one.
#[test]
fn scans_read_all_blocks() {
    let Some(dir) = testing::disk_dir() else { return };
    let own = tempfile::NamedTempFile::new_in(dir).unwrap();
    let mut data = vec![0; 100_000];
    random::fill(1, 0, &mut data);
    std::fs::write(own.path(), &data).unwrap();
    for params in scans(70_000) {
        let file = File::open(own.path()).unwrap();
        let source = ScanSource {
            path: own.path().into(),
            ground: describe_file_system(&file),
            file,
            far: true,
            _own: None,
        };
        let mut gauge = FileScan::open(params, source, &context()).unwrap();
        let before = crate::sys::process_io::ProcessIo::thread().unwrap_or_default();
        let batch = gauge.run(3);
        if params.cold && batch.is_err() {
            testing::skip("the file cannot be dropped from the page cache");
            continue;
        }
        assert!(
            batch.as_ref().is_ok_and(|batch| batch.amount == 3.0 && batch.nanos > 0),
            "{params:?}: {batch:?}"
        );
        let moved = crate::sys::process_io::ProcessIo::thread().unwrap_or_default() - before;
        assert!(
            moved.syscr == 0
                || (moved.syscr >= params.blocks() * 3 && moved.rchar >= params.bytes * 3),
            "{params:?}: {moved:?}"
        );
        assert_eq!(gauge.evidence().len(), 2, "{:?}", gauge.evidence());
        let kept = gauge.evidence().iter().any(|line| line.contains("100 % of it stays cached"));
        assert!(params.cold || kept, "files on a disk stay cached: {:?}", gauge.evidence());
        assert_eq!(batch.unwrap().readings, if params.cold { 3 } else { 1 });
    }
    assert_eq!(std::fs::read(own.path()).unwrap(), data);
}

/// Regression test: 52 of 64 MiB once came from the device in a read labelled as cached, because
/// another program had dropped all caches.
#[test]
fn evicted_file_is_warmed_before_timing() {
    let Some(file) = testing::file_on_disk(1 << 20) else { return };
    let params = scans(1 << 20).find(|params| params.bytes == 1 << 20 && !params.cold).unwrap();
    let again = file.try_clone().unwrap();
    let source = ScanSource {
        path: crate::sys::fd::own_path(&file),
        ground: None,
        file,
        far: false,
        _own: None,
    };
    let mut gauge = FileScan::open(params, source, &context()).unwrap();
    if !crate::sys::cold::make_cold(&again, 1 << 20).unwrap().is_cold() {
        return testing::skip("the file cannot be dropped from the page cache");
    }
    gauge.run(1).unwrap();
    assert!(
        gauge.evidence()[0].contains("accounted 0 B of device reads"),
        "{:?}",
        gauge.evidence()
    );
}

/// Regression test: 9p and FUSE without caching keep nothing, so every warm cell failed there.
#[test]
fn only_local_files_must_stay_cached() {
    let left = |cached| {
        Some(Residency {
            pages: 100,
            cached,
            dirty: None,
            writeback: None,
            evicted: None,
            method: ResidencyMethod::Mincore,
        })
    };
    assert!(check_cached(left(0), false).is_err_and(|why| why.contains("0 %")));
    assert_eq!(
        (check_cached(left(0), true), check_cached(left(100), false), check_cached(None, false)),
        (Ok(()), Ok(()), Ok(()))
    );
}
