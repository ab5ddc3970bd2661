//! The effects of the flags: both calls of a miss are counted, and the page cache is unchanged.

use super::*;
use crate::backend::testing;
use crate::plan::{Choice, Pattern};
use crate::sys::{cold, residency, testing as child};

const LEN: usize = 1 << 20;

fn job(options: &str) -> Job {
    Job {
        backend: Choice::parse(&format!("preadv2{options}")).unwrap(),
        span: LEN as u64,
        pattern: Pattern::Random,
        ..testing::job()
    }
}

/// Returns an uncached file; `None`, with the reason printed, if that is impossible.
fn cold_file(job: &Job) -> Option<(tempfile::NamedTempFile, Vec<u8>, Target)> {
    let (file, data, target) = testing::file(LEN, 3);
    if let Err(why) = Preadv2.check(&target, job) {
        child::skip(&why.0);
        return None;
    }
    if !cold::make_cold(file.as_file(), LEN as u64).is_ok_and(|c| c.is_cold()) {
        child::skip("the file cannot be made cold");
        return None;
    }
    Some((file, data, target))
}

#[test]
fn uncached_blocks_cost_another_call() {
    let Some(folder) = child::disk_dir() else { return };
    child::with_page_cache(&folder, reads_uncached_blocks_twice);
}

fn reads_uncached_blocks_twice() {
    // Without readahead, so that every block misses once.
    let job = job("+nowait+random");
    // The first call of a miss starts the read: a lane that is preempted for that long finds the
    // block cached, so it is tried again.
    for tries in (0..5).rev() {
        let Some((_file, data, target)) = cold_file(&job) else { return };
        let tally = testing::read_all(&Preadv2, &target, &job);
        assert_eq!((tally.bytes, tally.folds[0]), (LEN as u64, testing::xor(&data)));
        assert!(
            (tally.ops..=2 * tally.ops).contains(&tally.syscalls),
            "{} calls of {}",
            tally.syscalls,
            tally.ops
        );
        let again = testing::read_all(&Preadv2, &target, &job);
        assert_eq!((again.syscalls, again.folds), (again.ops, tally.folds));
        if tally.syscalls > tally.ops {
            return;
        }
        assert!(tries > 0, "no block was missing");
    }
}

#[test]
fn dontcache_leaves_the_page_cache() {
    let job = job("+dontcache");
    let Some((file, data, target)) = cold_file(&job) else { return };
    let tally = testing::read_all(&Preadv2, &target, &job);
    assert_eq!(
        (tally.bytes, tally.folds[0], tally.syscalls),
        (LEN as u64, testing::xor(&data), tally.ops)
    );
    let cached = residency::residency(file.as_file(), 0, LEN as u64).unwrap().cached;
    // Pages that another read holds at that moment stay cached.
    assert!(cached < 256 / 4, "{cached} of 256 pages are cached");
}

#[test]
fn flags_without_effect_are_refused() {
    let (_file, _, target) = testing::file(4096, 1);
    let says = |job: Job| Preadv2.check(&target, &job).unwrap_err().0;
    assert!(says(Job { op: Op::Write, ..job("+nowait") }).contains("only to reads"));
    assert!(says(Job { direct: true, ..job("+dontcache") }).contains("bypasses"));
    assert!(says(job("+sequential+random")).contains("contradicts"));
    assert!(says(Job { direct: true, ..job("+willneed") }).contains("bypasses"));
}
