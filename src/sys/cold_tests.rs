#![allow(unsafe_code)]
use super::*;
use crate::sys::testing;
use std::hint::black_box;

const LEN: u64 = 4 << 20;
static GO: AtomicBool = AtomicBool::new(false);

/// Whether cachestat works on `file`: only it tells exactly.
fn counted(file: &File) -> bool {
    residency_by(file, 0, LEN, Some(Method::Cachestat))
        .map_err(|e| testing::skip(&format!("cachestat: {e}")))
        .is_ok()
}

#[test]
fn dirty_becomes_cold_and_warm_and_cold_again() {
    let Some(file) = testing::file_on_disk(LEN as usize) else {
        return;
    };
    if !counted(&file) {
        return;
    }
    let cold = make_cold(&file, LEN).unwrap();
    assert!(cold.is_cold(), "{cold:?}");
    assert!(cold.nanos > 0 && cold.passes >= 1);
    assert!(make_warm(&file, LEN, &GO).unwrap().share() >= WARM);
    assert!(make_cold(&file, LEN).unwrap().is_cold());
}

#[test]
fn part_of_a_file_becomes_cold_although_folios_cross_its_end() {
    let Some(file) = testing::file_on_disk(LEN as usize) else {
        return;
    };
    if counted(&file) {
        make_warm(&file, LEN, &GO).unwrap();
        assert!(make_cold(&file, LEN / 3).unwrap().is_cold());
    }
}

#[test]
fn sampled_cold() {
    let Some(file) = testing::file_on_disk(LEN as usize) else {
        return;
    };
    match make_cold_by(&file, LEN, Some(Method::Sampled)) {
        Ok(cold) => {
            assert!(cold.is_cold() && cold.passes == 2, "{cold:?}");
            if counted(&file) {
                let after = residency_by(&file, 0, LEN, Some(Method::Cachestat)).unwrap();
                // A read that sampling started may still be under way during the last drop.
                assert!(after.share() < 0.3, "{after:?}");
            }
        }
        Err(error) => testing::skip(&format!("sampling: {error}")),
    }
}

#[test]
fn mapped_and_touched_pages_stay_until_unmapped() {
    let Some(file) = testing::file_on_disk(LEN as usize) else {
        return;
    };
    if !counted(&file) || !make_cold(&file, LEN).unwrap().is_cold() {
        return;
    }
    // SAFETY: nobody else knows this unnamed file, so nothing changes or truncates it.
    let map = unsafe { memmap2::Mmap::map(&file).unwrap() };
    map.chunks(4096).for_each(|page| {
        black_box(page[0]);
    });
    let cold = make_cold(&file, LEN).unwrap();
    assert!(!cold.is_cold() && cold.left.share() > 0.9, "{cold:?}");
    assert!(cold.nanos >= PATIENCE.as_nanos() as u64);
    drop(map);
    assert!(make_cold(&file, LEN).unwrap().is_cold());
}

#[test]
fn tmpfs_stays() {
    let Some(file) = testing::file_in_memory() else {
        return;
    };
    file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
    if counted(&file) {
        assert_eq!(make_cold(&file, 1 << 20).unwrap().left.share(), 1.0);
    }
    let sampled = make_cold_by(&file, 1 << 20, Some(Method::Sampled));
    assert!(sampled.is_ok_and(|c| !c.is_cold()) || !counted(&file) || sampled_is_refused(&file));
}

fn sampled_is_refused(file: &File) -> bool {
    let error = residency_by(file, 0, 1, Some(Method::Sampled)).unwrap_err();
    error.raw_os_error() == Some(libc::EOPNOTSUPP)
}

#[test]
fn an_empty_file_is_cold_and_warming_it_ends() {
    let Some(file) = testing::file_on_disk(0) else {
        return;
    };
    assert!(make_cold(&file, u64::MAX).unwrap().is_cold());
    assert_eq!(make_warm(&file, u64::MAX, &GO).unwrap().pages, 0);
}

#[test]
fn warming_stops_on_request() {
    let Some(file) = testing::file_on_disk(4096) else {
        return;
    };
    let error = make_warm(&file, 4096, &AtomicBool::new(true)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Interrupted);
}
