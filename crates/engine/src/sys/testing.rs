//! Helpers shared by tests.

pub use iotui_files::testing::*;

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use super::residency;

const MAX_ATTEMPTS: u32 = 5;
const WITNESS_LEN: usize = 1 << 16;

/// Runs a test that relies on cached data staying cached. Repeats it if it fails and the page cache
/// was dropped during it, and skips it if that keeps happening. `folder` is on the same disk.
///
/// # Panics
/// If the test fails although nothing was dropped.
pub fn with_page_cache(folder: &Path, test: impl Fn()) {
    for _ in 0..MAX_ATTEMPTS {
        let witness = Witness::new(folder);
        let Err(failure) = catch_unwind(AssertUnwindSafe(&test)) else { return };
        if !witness.was_dropped() {
            resume_unwind(failure);
        }
    }
    skip("the page cache is dropped again and again");
}

/// A cached file that nothing else uses.
struct Witness(File);

impl Witness {
    fn new(folder: &Path) -> Witness {
        let mut file = tempfile::tempfile_in(folder).unwrap();
        file.write_all(&[1; WITNESS_LEN]).unwrap();
        // Dirty pages are not dropped.
        file.sync_all().unwrap();
        Witness(file)
    }

    fn was_dropped(&self) -> bool {
        residency::residency(&self.0, 0, WITNESS_LEN as u64).unwrap().share() < 1.0
    }
}

#[test]
fn a_dropped_cache_repeats_the_test() {
    let Some(folder) = disk_dir() else { return };
    if let Err(why) = super::cold::check_drop_caches() {
        return skip(&why);
    }
    let attempts = std::cell::Cell::new(0);
    with_page_cache(&folder, || {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            super::cold::drop_caches(1).unwrap();
            panic!("nothing is cached");
        }
    });
    assert!(attempts.get() > 1);
}
