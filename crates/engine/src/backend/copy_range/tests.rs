//! The copy equals the file, is next to it, and takes no more space than the span.

use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::AtomicBool;

use super::*;
use crate::backend::access_pattern::Share;
use crate::backend::testing;
use crate::backend::work::{Assignment, Published};
use crate::plan::{Choice, Pattern};
use crate::sys::testing as child;

#[test]
fn passes_leave_one_copy() {
    const LEN: usize = 100_001;
    let (file, data, target) = testing::file(LEN + 5000, 8);
    let backend = Choice::parse("copy-range").unwrap();
    let job =
        Job { backend, block: 4097, span: LEN as u64, pattern: Pattern::Random, ..testing::job() };
    if let Err(why) = CopyRange.check(&target, &job) {
        return child::skip(&why.0);
    }
    let (stop, published) = (AtomicBool::new(false), Published::default());
    let mut work = Work::new(Assignment {
        passes: 3,
        ..CopyRange.assignment(&job, Share::for_lane(&job, 0, u64::MAX, 7), &stop, &published)
    });
    let copy = create_copy(&folder_of(&target.path)).unwrap();
    assert_eq!(
        copy.file().metadata().unwrap().dev(),
        file.as_file().metadata().unwrap().dev(),
        "on the same file system"
    );
    let lane = CopyLane { file: target.open(&job).unwrap().into(), copy, clones: false };
    lane.run_loop::<false>(&mut work).unwrap();
    let mut copied = vec![0; LEN];
    lane.copy.file().read_exact_at(&mut copied, 0).unwrap();
    assert!(copied == data[..LEN]);
    assert_eq!(lane.copy.file().metadata().unwrap().len(), LEN as u64);
    assert_eq!(work.tally().bytes, 3 * LEN as u64);
}

#[test]
fn an_unnamed_file_has_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(dir.path()).unwrap();
    assert_eq!(folder_of(&scratch.path()), dir.path().canonicalize().unwrap());
    assert_eq!(folder_of("/a/b".as_ref()), PathBuf::from("/a"));
    assert_eq!(folder_of("b".as_ref()), PathBuf::from("."));
}

#[test]
fn impossible_copies_are_refused() {
    let (_file, _, target) = testing::file(4096, 1);
    let job =
        Job { backend: Choice::parse("copy-range").unwrap(), span: u64::MAX, ..testing::job() };
    assert!(CopyRange.check(&target, &job).unwrap_err().0.contains("use a smaller --size"));
    let device = Target { path: "/dev/null".into(), held: None, ..target };
    assert!(CopyRange.check(&device, &testing::job()).unwrap_err().0.contains("regular files"));
}
