#![allow(unsafe_code)]
use super::*;
use crate::sys::residency::residency;
use crate::sys::testing;
use std::hint::black_box;

const LEN: u64 = 4 << 20;

/// Returns whether any method counts the cached pages of `file` exactly.
fn counted(file: &File) -> bool {
    let state = residency_if_known(file, 0..LEN, None).unwrap();
    let exact = state.is_some_and(|s| s.method != ResidencyMethod::Sampled);
    if !exact {
        testing::skip("nothing counts the cached pages");
    }
    exact
}

#[test]
fn dirty_files_become_cold_and_warm() {
    let Some(file) = testing::file_on_disk(LEN as usize) else {
        return;
    };
    if !counted(&file) {
        return;
    }
    let cold = make_cold(&file, LEN).unwrap();
    assert!(cold.is_cold(), "{cold:?}");
    assert!(cold.nanos > 0 && cold.passes >= 1);
    assert!(make_warm_within(&file, 0..LEN, &|| false).unwrap().unwrap().share() >= WARM);
    assert!(make_cold(&file, LEN).unwrap().is_cold());
}

#[test]
fn cached_files_are_read_at_ends() {
    let state = |cached, method| {
        Some(Residency { pages: 100, cached, dirty: None, writeback: None, evicted: None, method })
    };
    let from = |state| first_read_offset(state, 1000, 150);
    assert_eq!(
        [from(state(100, ResidencyMethod::Cachestat)), from(state(100, ResidencyMethod::Mincore))],
        [700, 700]
    );
    assert_eq!(
        [
            from(state(99, ResidencyMethod::Cachestat)),
            from(state(100, ResidencyMethod::Sampled)),
            from(None)
        ],
        [0; 3]
    );
    assert_eq!(
        first_read_offset(state(100, ResidencyMethod::Cachestat), 1000, 600),
        0,
        "a small file is read whole"
    );
}

#[test]
fn parts_become_cold_despite_large_folios() {
    let Some(file) = testing::file_on_disk(LEN as usize) else {
        return;
    };
    if counted(&file) {
        make_warm_within(&file, 0..LEN, &|| false).unwrap();
        assert!(make_cold(&file, LEN / 3).unwrap().is_cold());
    }
}

#[test]
fn sampled_cold() {
    let Some(file) = testing::file_on_disk(LEN as usize) else {
        return;
    };
    let cold = make_cold_by(&file, 0..LEN, Some(ResidencyMethod::Sampled), &|| false).unwrap();
    if cold.left.is_none() {
        return testing::skip("sampling is refused");
    }
    assert!(cold.is_cold() && cold.passes == 2, "{cold:?}");
    if counted(&file) {
        let after = residency(&file, 0, LEN).unwrap();
        assert!(after.is_cold(), "{after:?}");
    }
}

#[test]
fn touched_pages_stay_until_unmapped() {
    let Some(file) = testing::file_on_disk(LEN as usize) else {
        return;
    };
    if !counted(&file) || !make_cold(&file, LEN).unwrap().is_cold() {
        return;
    }
    // SAFETY: no one else has access to this unnamed file, so nothing changes or truncates it.
    let map = unsafe { memmap2::Mmap::map(&file).unwrap() };
    map.chunks(4096).for_each(|page| {
        black_box(page[0]);
    });
    let cold = make_cold(&file, LEN).unwrap();
    assert!(!cold.is_cold() && cold.left.unwrap().share() > 0.9, "{cold:?}");
    assert!(cold.passes > 1 && cold.passes <= 2 * MAX_UNCHANGED, "no hope, or too much: {cold:?}");
    let stopped = make_cold_within(&file, 0..LEN, &|| true).unwrap_err();
    assert_eq!(stopped.kind(), io::ErrorKind::Interrupted);
    drop(map);
    assert!(make_cold(&file, LEN).unwrap().is_cold());
}

#[test]
fn pages_being_read_are_awaited() {
    let ms = Duration::from_millis;
    let mut patience = Patience { unchanged: MAX_UNCHANGED, all_read: false };
    assert!(!patience.ends(ms(31), || true), "readahead of the trial before");
    assert!(!patience.ends(ms(900), || true));
    assert!(!patience.ends(ms(950), || false), "read since: one more drop");
    assert!(patience.ends(ms(970), || panic!("known already")), "it did not help");
    assert!(Patience::default().ends(READ_TIMEOUT, || true), "a device that hangs");
    assert!(!Patience::default().ends(ms(31), || panic!("something changed just now")));
}

#[test]
fn tmpfs_stays() {
    let Some(file) = testing::file_in_memory() else {
        return;
    };
    file.write_all_at(&vec![1; 1 << 20], 0).unwrap();
    if counted(&file) {
        let cold = make_cold(&file, 1 << 20).unwrap();
        assert!(cold.left.unwrap().share() == 1.0 && cold.passes <= 2 + MAX_UNCHANGED, "{cold:?}");
    }
    let sampled =
        make_cold_by(&file, 0..1 << 20, Some(ResidencyMethod::Sampled), &|| false).unwrap();
    assert!(!sampled.is_cold(), "{sampled:?}");
}

#[test]
fn an_empty_file_is_cold() {
    let Some(file) = testing::file_on_disk(0) else {
        return;
    };
    if counted(&file) {
        assert!(make_cold(&file, u64::MAX).unwrap().is_cold());
    }
    let warm = make_warm_within(&file, 0..u64::MAX, &|| false).unwrap();
    assert_eq!(warm.map_or(0, |state| state.pages), 0);
}

#[test]
fn warming_stops_on_request() {
    let Some(file) = testing::file_on_disk(4096) else {
        return;
    };
    let error = make_warm_within(&file, 0..4096, &|| true).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Interrupted);
}
