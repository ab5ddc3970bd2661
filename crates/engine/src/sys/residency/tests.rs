use super::*;
use crate::sys::cold::make_cold;
use crate::sys::testing;
use std::os::unix::fs::FileExt;

const METHODS: [ResidencyMethod; 3] =
    [ResidencyMethod::Cachestat, ResidencyMethod::Sampled, ResidencyMethod::Mincore];

/// Returns the result of one method; `None` if it is refused or sees nothing here.
fn by(method: ResidencyMethod, file: &File, offset: u64, len: u64) -> Option<Residency> {
    if !methods(file).contains(&method) {
        testing::skip(&format!("{method:?} is blind here"));
        return None;
    }
    let answer = residency_by(file, offset, len, Some(method));
    answer.map_err(|error| testing::skip(&format!("{method:?}: {error}"))).ok()
}

#[test]
fn a_file_just_written_is_dirty() {
    let Some(file) = testing::file_on_disk(1 << 20) else {
        return;
    };
    // Three attempts: another process may call sync(2) at any time.
    for _ in 0..3 {
        file.write_all_at(&[7; 1 << 20], 0).unwrap();
        let Some(state) = by(ResidencyMethod::Cachestat, &file, 0, u64::MAX) else {
            return;
        };
        assert_eq!(state.pages, (1 << 20) / fd::page_size());
        if state.dirty.unwrap() + state.writeback.unwrap() > 0 {
            return;
        }
    }
    panic!("never dirty");
}

#[test]
fn both_methods_see_all_and_nothing() {
    let Some(file) = testing::file_on_disk(8 << 20) else {
        return;
    };
    // Not quite all of it: a kernel may evict a little at any time.
    let full = METHODS.iter().filter_map(|m| by(*m, &file, 0, 8 << 20));
    full.for_each(|state| assert!(state.share() > 0.9 && state.share() <= 1.0, "{state:?}"));
    for method in METHODS {
        if !make_cold(&file, 8 << 20).unwrap().is_cold() {
            return testing::skip("the cache of this file cannot be emptied");
        }
        if let Some(state) = by(method, &file, 0, 8 << 20) {
            assert!(state.is_cold() && state.share() == 0.0 && state.method == method, "{state:?}");
        }
    }
}

/// Sampling estimates from 256 pages and causes reads: for our own files a kernel without cachestat
/// (before 6.5) must be queried by another method.
#[test]
fn what_counts_is_asked_before_what_guesses() {
    let Some(file) = testing::file_on_disk(4096) else {
        return;
    };
    let methods = methods(&file);
    assert!(methods.first() != Some(&ResidencyMethod::Sampled));
    let at = |wanted| methods.iter().position(|method| *method == wanted).unwrap_or(usize::MAX);
    assert!(at(ResidencyMethod::Mincore) < at(ResidencyMethod::Sampled), "{methods:?}");
}

#[test]
fn sampling_twice_does_not_meet_its_own_pages() {
    let Some(file) = testing::file_on_disk(16 << 20) else {
        return;
    };
    if !make_cold(&file, 16 << 20).unwrap().is_cold() {
        return testing::skip("the cache of this file cannot be emptied");
    }
    for _ in 0..2 {
        let state = by(ResidencyMethod::Sampled, &file, 0, 16 << 20);
        assert!(state.is_none_or(|s| s.share() < 0.5), "{state:?}");
    }
}

#[test]
fn odd_ranges() {
    let Some(file) = testing::file_on_disk(10_000) else {
        return;
    };
    let page = fd::page_size();
    for method in METHODS {
        let pages = |offset, len| by(method, &file, offset, len).map(|state| state.pages);
        let Some(all) = pages(0, u64::MAX) else {
            continue;
        };
        assert_eq!(all, 10_000u64.div_ceil(page));
        assert_eq!(pages(page - 1, 2), Some(2.min(all)));
        for (offset, len) in [(0, 0), (20_000, 5), (10_000, 1), (u64::MAX, u64::MAX)] {
            let state = by(method, &file, offset, len).unwrap();
            assert_eq!((state.pages, state.cached, state.share()), (0, 0, 0.0));
        }
    }
}

#[test]
fn a_method_that_is_refused_is_no_error_when_asked_so() {
    let Some(file) = testing::file_in_memory() else {
        return;
    };
    file.set_len(1 << 20).unwrap();
    // tmpfs does not support RWF_NOWAIT.
    let sampled = residency_by(&file, 0, 1 << 20, Some(ResidencyMethod::Sampled));
    if sampled.is_err_and(|e| e.raw_os_error() == Some(libc::EOPNOTSUPP)) {
        assert_eq!(
            residency_if_known(&file, 0..1 << 20, Some(ResidencyMethod::Sampled)).unwrap(),
            None
        );
    }
}

#[test]
fn methods_are_lower_case() {
    assert_eq!(serde_json::to_string(&ResidencyMethod::Cachestat).unwrap(), "\"cachestat\"");
}
