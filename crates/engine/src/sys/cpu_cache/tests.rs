//! Loads of flushed lines are slower than loads of lines just used, and no byte changes.

use std::collections::HashSet;
use std::io::Write;

use super::*;

/// Returns the best of several flushes: loads are timed, so other tasks on the same CPUs can spoil
/// one.
fn best(flush: impl Fn() -> FlushResult) -> FlushResult {
    fn ratio(f: &FlushResult) -> f64 {
        f.after / f.before
    }
    (0..10).map(|_| flush()).max_by(|a, b| ratio(a).total_cmp(&ratio(b))).unwrap()
}

#[test]
fn a_flushed_file_comes_from_memory() {
    let mut file = tempfile::tempfile().unwrap();
    let data: Vec<u8> = (0..8 << 20).map(|i: u64| mix(i) as u8).collect();
    file.write_all(&data).unwrap();
    let found = best(|| flush(Some((&file, data.len() as u64))).unwrap());
    assert_eq!(found.bytes, data.len() as u64);
    assert!(found.before > 0.0 && found.after >= 2.0 * found.before, "{found:?}");
    let mut back = vec![0; data.len()];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut back, 0).unwrap();
    assert!(back == data);
}

#[test]
fn flushed_lines_are_not_prefetched() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![7; 8 << 20]).unwrap();
    let slower = (0..20)
        .map(|_| flush(Some((&file, 8 << 20))).unwrap())
        .filter(|f| f.after >= 2.0 * f.before)
        .count();
    // With a fixed line per page, a CPU that learns the pattern had most of them cached.
    assert!(slower >= 15, "{slower} of 20");
}

#[test]
fn every_page_is_sampled_once() {
    let page = page_size() as usize;
    for pages in [1, 2, 31, 32, 33, 100, 512, 513, 5000] {
        let start = std::ptr::without_provenance::<u8>(1 << 30);
        let sample = LoadSample::take(start, pages * page + 77);
        let mut found: Vec<usize> =
            sample.chains.iter().flatten().map(|at| (at.addr() - start.addr()) / page).collect();
        assert!(!found.is_empty() && found.iter().all(|at| *at < pages), "{pages}");
        let within: HashSet<usize> =
            sample.chains.iter().flatten().map(|at| at.addr() % page).collect();
        assert!(
            within.iter().all(|at| (page / 8..page * 7 / 8).contains(at))
                && (within.len() > 1 || pages < 3),
            "{pages}: {within:?}"
        );
        let count = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), count, "{pages}");
    }
}

#[test]
fn loads_without_a_flush_are_fast() {
    let buffer = Buffer::new(1 << 20).unwrap();
    let sample = LoadSample::take(buffer.ptr(), buffer.len());
    let best =
        (0..10).map(|_| sample.nanos_after_use() / sample.nanos()).fold(f64::INFINITY, f64::min);
    assert!(best < 2.0, "{best}");
}

#[test]
fn uncached_files_evict_everything() {
    let found = best(|| flush(None).unwrap());
    assert!(found.bytes == 0 && found.before > 0.0 && found.after > found.before, "{found:?}");
}

#[test]
fn the_last_cache_has_a_size() {
    assert!((8 << 20..=256 << 20).contains(&last_cache()));
}

#[test]
fn eviction_spares_small_machines() {
    assert_eq!(eviction_bytes(32 << 20, 16 << 30), 128 << 20);
    assert_eq!(
        (eviction_bytes(256 << 20, 16 << 30), eviction_bytes(u64::MAX, u64::MAX)),
        (MAX_EVICTION_BYTES, MAX_EVICTION_BYTES)
    );
    assert_eq!(
        (eviction_bytes(256 << 20, 400 << 20), eviction_bytes(32 << 20, 0)),
        (100 << 20, 1 << 20)
    );
}
