#![allow(clippy::single_range_in_vec_init)] // a list of one range is intended
#![allow(unsafe_code)]

use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use super::*;
use crate::sys::cold::{make_cold, make_warm_within};
use crate::sys::testing;

const MIB: u64 = 1 << 20;

fn preallocate(file: &File, len: u64) -> bool {
    // SAFETY: fallocate(2) takes numbers and touches no memory; the descriptor is open while `file`
    // is borrowed.
    let done = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, len as i64) };
    if done != 0 {
        testing::skip("no fallocate here");
    }
    done == 0
}

/// Returns the answer of FIEMAP; `None` if it is not supported.
fn by_fiemap(file: &File, len: u64) -> Option<Extents> {
    let found = extents(file, len).unwrap();
    if found.method == ExtentMethod::Fiemap {
        return Some(found);
    }
    testing::skip("no FIEMAP here");
    None
}

fn with(len: u64, holes: &[Range<u64>]) -> Extents {
    let mut extents = Extents::new(ExtentMethod::Fiemap, len);
    holes.iter().for_each(|hole| assert!(extents.add_hole(hole.clone())));
    extents
}

#[test]
fn unflushed_files_count_as_stored() {
    let Some(file) = testing::file_on_disk(MIB as usize + 100) else {
        return;
    };
    let found = extents(&file, u64::MAX).unwrap();
    assert_eq!((found.len, found.hole_bytes()), (MIB + 100, 0));
    assert!(!found.truncated);
}

#[test]
fn a_sparse_file_is_a_hole() {
    let Some(file) = testing::file_on_disk(0) else {
        return;
    };
    file.set_len(8 * MIB).unwrap();
    let Some(found) = by_fiemap(&file, 8 * MIB) else {
        return;
    };
    assert_eq!((found.holes(), found.unwritten), (&[0..8 * MIB][..], 0));
    file.write_all_at(&vec![1; MIB as usize], 3 * MIB).unwrap();
    let found = extents(&file, 8 * MIB).unwrap();
    assert_eq!(found.holes(), [0..3 * MIB, 4 * MIB..8 * MIB]);
    assert_eq!(extents(&file, 3 * MIB + 1).unwrap().hole_bytes(), 3 * MIB);
}

#[test]
fn preallocated_space_is_unwritten() {
    let Some(file) = testing::file_on_disk(0) else {
        return;
    };
    if !preallocate(&file, 8 * MIB) {
        return;
    }
    for warm in [false, true] {
        if warm {
            make_warm_within(&file, 0..8 * MIB, &|| false).unwrap();
        } else {
            make_cold(&file, 8 * MIB).unwrap();
        }
        let Some(found) = by_fiemap(&file, 8 * MIB) else {
            return;
        };
        assert_eq!((found.hole_bytes(), found.unwritten), (8 * MIB, 8 * MIB), "warm: {warm}");
    }
}

#[test]
fn seeking_finds_holes() {
    use std::io::{Seek, SeekFrom};
    let Some(mut file) = testing::file_on_disk(MIB as usize) else {
        return;
    };
    file.set_len(4 * MIB).unwrap();
    file.seek(SeekFrom::Start(77)).unwrap();
    let found = extents_by(&file, 4 * MIB, ExtentMethod::SeekData).unwrap();
    assert_eq!(file.stream_position().unwrap(), 77);
    if found.method == ExtentMethod::SeekData && found.count == 1 && found.hole_bytes() > 0 {
        assert_eq!(found.holes(), [MIB..4 * MIB]);
    } else {
        testing::skip("SEEK_HOLE knows no holes here");
    }
}

#[test]
fn tmpfs_answers_by_seeking() {
    let Some(file) = testing::file_in_memory() else {
        return;
    };
    file.set_len(4 * MIB).unwrap();
    file.write_all_at(&[1; 4096], MIB).unwrap();
    let found = extents(&file, 4 * MIB).unwrap();
    assert_ne!(found.method, ExtentMethod::Assumed);
    assert!(found.len - found.hole_bytes() >= 4096 && found.hole_bytes() >= 2 * MIB, "{found:?}");
}

#[test]
fn no_answer_means_stored() {
    let found = extents(&File::open("/dev/zero").unwrap(), 100).unwrap();
    assert_eq!(found.hole_bytes(), 0);
    let Some(file) = testing::file_on_disk(10) else {
        return;
    };
    let found = extents_by(&file, 10, ExtentMethod::Assumed).unwrap();
    assert_eq!((found.method, found.hole_bytes_in(0..10)), (ExtentMethod::Assumed, 0));
}

#[test]
fn bytes_in_holes_are_counted() {
    let found = with(100, &[0..5, 10..12, 12..20, 50..60, 99..200]);
    assert_eq!(found.holes(), [0..5, 10..20, 50..60, 99..100]);
    for start in 0..105 {
        for end in start..105 {
            let want = (start..end).filter(|b| found.holes().iter().any(|h| h.contains(b))).count();
            assert_eq!(found.hole_bytes_in(start..end), want as u64, "{start}..{end}");
        }
    }
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 9..3;
    assert_eq!(found.hole_bytes_in(reversed), 0);
    assert_eq!(found.hole_bytes_in(0..u64::MAX), found.hole_bytes());
}

#[test]
fn the_number_of_ranges_is_bounded() {
    let mut found = Extents::new(ExtentMethod::Fiemap, u64::MAX);
    let mut taken = 0;
    while found.add_hole(taken * 4..taken * 4 + 2) {
        taken += 1;
    }
    assert_eq!(taken, MAX_HOLES as u64);
    assert!(found.truncated && found.hole_bytes() == 2 * taken);
}

fn walked(len: u64, extents: &[(u64, u64, u32)]) -> (Extents, bool) {
    let mut walk = ExtentWalk { found: Extents::new(ExtentMethod::Fiemap, len), at: 0 };
    let ended = extents.iter().try_for_each(|(logical, length, flags)| {
        walk.take(&Extent {
            logical: *logical,
            length: *length,
            flags: *flags,
            ..Extent::default()
        })
    });
    (walk.found, ended.is_break())
}

#[test]
fn the_layout_is_the_kernels() {
    assert_eq!(size_of::<Extent>(), 56);
    assert_eq!(std::mem::offset_of!(FiemapRequest, extents), 32);
}

#[test]
fn gaps_and_unwritten_extents_are_holes() {
    let (found, ended) = walked(
        100,
        &[(10, 10, 0), (20, 20, UNWRITTEN), (50, 10, SHARED | ENCODED), (70, 10, LAST)],
    );
    assert!(ended && found.shared && found.encoded && !found.inline);
    assert_eq!(found.holes(), [0..10, 20..50, 60..70, 80..100]);
    assert_eq!((found.count, found.unwritten, found.hole_bytes()), (4, 20, 70));
}

#[test]
fn odd_answers_do_no_harm() {
    let (found, _) = walked(100, &[(u64::MAX, u64::MAX, 0)]);
    assert_eq!(found.holes(), [0..100]);
    let (found, _) = walked(100, &[(0, u64::MAX, UNWRITTEN), (5, 5, UNWRITTEN | LAST)]);
    assert_eq!((found.holes(), found.unwritten), (&[0..100][..], 100));
    let (found, _) = walked(100, &[(50, 10, 0), (0, 10, UNWRITTEN), (40, 30, UNWRITTEN)]);
    assert_eq!(found.holes(), [0..50, 60..70]);
    assert_eq!(walked(0, &[(0, 1, LAST)]).0.holes(), []);
}
