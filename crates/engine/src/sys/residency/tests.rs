use std::os::unix::fs::{FileExt, MetadataExt};

use super::*;
use crate::sys::cold::make_cold;
use crate::sys::testing;

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
fn counting_methods_come_first() {
    let Some(file) = testing::file_on_disk(4096) else {
        return;
    };
    let methods = methods(&file);
    assert!(methods.first() != Some(&ResidencyMethod::Sampled));
    let at = |wanted| methods.iter().position(|method| *method == wanted).unwrap_or(usize::MAX);
    assert!(at(ResidencyMethod::Mincore) < at(ResidencyMethod::Sampled), "{methods:?}");
}

#[test]
fn samples_avoid_earlier_samples() {
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
fn a_refused_method_is_unknown() {
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

#[test]
fn refusal_is_noticed() {
    let file = File::open("/proc/self/exe").unwrap();
    let others = File::open("/etc/passwd").unwrap();
    for file in [file, others] {
        // Another test may just have dropped the machine's caches.
        file.read_at(&mut [0; 1], 0).unwrap();
        let meta = file.metadata().unwrap();
        let user = nix::unistd::geteuid();
        let allowed = user.is_root() || meta.uid() == user.as_raw() || meta.mode() & 0o022 != 0;
        let answer = mapped_pages(&file, 0, meta.len().div_ceil(fd::page_size()));
        match answer {
            Ok(cached) => assert!(cached > 0 || !allowed),
            Err(error) => {
                assert!(!allowed || error.raw_os_error() != Some(libc::EPERM), "{error}")
            }
        }
        if !allowed {
            assert_eq!(mapped_pages(&file, 0, 1).unwrap_err().raw_os_error(), Some(libc::EPERM));
        }
    }
}

/// stat(2) reports length 0 for a device, so its first page would be mistaken for the one past
/// its end.
#[test]
fn a_device_has_a_length_too() {
    let names = std::fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    let open = |name| File::open(std::path::Path::new("/dev").join(name)).ok();
    fn read(file: &File) -> bool {
        file.read_at(&mut [0; 1], 0).is_ok_and(|got| got == 1)
    }
    let Some(device) = names.filter_map(open).find(read) else {
        return crate::sys::testing::skip("no block device may be read");
    };
    match mapped_pages(&device, 0, 1) {
        Ok(cached) => assert_eq!(cached, 1),
        Err(error) => assert!(!nix::unistd::geteuid().is_root(), "{error}"),
    }
}

/// Whole pages, since with small blocks a partially written page does not count.
#[test]
fn pages_are_counted_over_chunks() {
    let (file, page) = (tempfile::tempfile().unwrap(), fd::page_size());
    let last = CHUNK + 5;
    file.set_len((last + 1) * page).unwrap();
    let data = vec![1; page as usize];
    for at in [0, 7, last] {
        file.write_all_at(&data, at * page).unwrap();
    }
    let count = |first, pages| mapped_pages(&file, first, pages).unwrap();
    // A large folio may include neighbouring pages.
    assert!((3..=96).contains(&count(0, last + 1)), "{}", count(0, last + 1));
    assert_eq!((count(7, 1), count(last, 1), count(CHUNK / 2, 1), count(7, 0)), (1, 1, 0, 0));
}

#[test]
fn strata_cover_everything_once() {
    for (pages, samples) in [(1, 1), (255, 255), (256, 256), (257, 256), (1 << 50, 256)] {
        assert_eq!(stratum(pages, 0, samples), 0);
        assert_eq!(stratum(pages, samples, samples), pages);
        assert!((0..samples).all(|i| stratum(pages, i, samples) < stratum(pages, i + 1, samples)));
    }
}

#[test]
fn seeds_differ() {
    assert_ne!(fresh_seed(), fresh_seed());
}
