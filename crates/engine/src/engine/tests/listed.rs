//! Files that are read as one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::append::trials;
use super::*;
use crate::engine::OpenTarget;
use crate::engine::locate::locate_list;
use crate::plan::{Cache, FilePer, Moves, Opened, TargetSpec};
use crate::record::Preparation;

const SIZES: [usize; 5] = [300_001, 4096, 1, 70_000, 196_608];
const BLOCK: u64 = 4096;

/// Returns a folder of files, the list of them, and the XOR of their data.
fn list() -> (tempfile::TempDir, TargetSpec, u32) {
    // The file system of the build folder, which is rarely a tmpfs.
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut xor = 0;
    for (number, size) in SIZES.into_iter().enumerate() {
        let (_, data, _) = testing::file(size, number as u64);
        xor ^= testing::xor(&data);
        fs::write(dir.path().join(format!("{number}.bin")), data).unwrap();
    }
    let target = locate_list(std::iter::once(dir.path())).unwrap();
    (dir, target, xor)
}

fn reads(choice: &Choice) -> bool {
    info(choice).ops.contains(&Op::Read) && !choice.has("shared")
}

/// Returns a pass over the list.
fn pass(backend: Choice) -> Job {
    let span = SIZES.iter().sum::<usize>() as u64;
    let xor = info(&backend).moves() == Moves::Data;
    Job { backend, span, xor, count: Some(0), block: BLOCK, ..testing::job() }
}

#[test]
fn every_backend_reads_a_list() {
    let (_dir, target, xor) = list();
    let open_target = OpenTarget::probe(&target).unwrap();
    let blocks = SIZES.iter().map(|size| size.div_ceil(BLOCK as usize) as u64).sum::<u64>();
    let shapes = [
        (FilePer::Run, Opened::Before, 1, Pattern::Seq),
        (FilePer::Run, Opened::Timed, 3, Pattern::Random),
        (FilePer::Thread, Opened::Before, 2, Pattern::Reverse),
        (FilePer::Thread, Opened::Timed, 7, Pattern::Seq),
    ];
    for choice in choices().into_iter().filter(reads) {
        let depth = info(&choice).max_depth().min(4);
        for (file_per, opened, threads, pattern) in shapes {
            let job = Job { file_per, opened, threads, pattern, depth, ..pass(choice.clone()) };
            if !supported(&open_target.target, &job) {
                break;
            }
            for trial in trials(&target, std::slice::from_ref(&job)) {
                let label = job.label();
                assert_eq!(trial.ops, blocks, "{label}");
                assert_eq!(trial.bytes, if info(&choice).moves_bytes() { job.span } else { 0 });
                assert_eq!(trial.xor.map(|xor| xor.0), job.xor.then_some(xor), "{label}");
                if info(&choice).moves_bytes() {
                    assert_eq!(trial.evidence.unique_bytes, job.span, "{label}");
                    assert_eq!(trial.evidence.planned_bytes, job.span, "{label}");
                }
                assert_eq!((trial.passes, trial.short), (1, false), "{label}");
            }
        }
    }
}

#[test]
fn caches_of_lists_are_prepared_whole() {
    let (_dir, target, _) = list();
    let job = pass(Choice::plain("pread"));
    for (cache, cached) in [(Cache::Cold, 0), (Cache::Warm, job.span)] {
        let job = Job { cache, ..job.clone() };
        for trial in trials(&target, &[job]) {
            assert_eq!(trial.resident_before, Some(cached), "{cache}");
            match trial.evidence.preparation {
                Some(Preparation::Cold { left, .. }) => assert_eq!((left, cached), (0, 0)),
                Some(Preparation::Warm { resident }) => assert_eq!(resident, cached),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn opening_is_counted_where_timed() {
    let (_dir, target, _) = list();
    let calls = |opened, backend: &str| {
        let job = Job { opened, ..pass(Choice::plain(backend)) };
        let found: Vec<_> = trials(&target, &[job]).iter().map(|of| of.syscalls.get()).collect();
        assert_eq!(found[0], found[1]);
        found[0].unwrap()
    };
    let files = SIZES.len() as u64;
    let blocks = calls(Opened::Before, "pread");
    assert_eq!(calls(Opened::Timed, "pread"), blocks + 2 * files);
    // The first file is mapped before, and each is mapped after it was opened.
    assert_eq!(calls(Opened::Before, "mmap"), files - 1);
    assert_eq!(calls(Opened::Timed, "mmap"), 3 * files);
}

#[test]
fn counts_read_each_files_beginning() {
    let (_dir, target, _) = list();
    // Half of 74, 1, 1, 18 and 48 blocks: 37, 0, 1 of one byte, 9 and 24.
    for (count, bytes) in [(71, 70 * 4096 + 1), (1, 4096)] {
        for (file_per, threads) in [(FilePer::Run, 2), (FilePer::Thread, 3)] {
            let job = pass(Choice::plain("pread"));
            let job = Job { count: Some(count), xor: false, file_per, threads, ..job };
            for trial in trials(&target, &[job]) {
                assert_eq!((trial.ops, trial.bytes), (count, bytes), "{file_per}");
                assert_eq!(trial.evidence.planned_bytes, bytes, "{file_per}");
            }
        }
    }
}

fn names(target: &TargetSpec) -> Vec<String> {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    target.listed().iter().map(|file| shown(&file.path)).collect()
}

#[test]
fn folders_list_files_with_data() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("b/deep")).unwrap();
    for name in ["c", "b/deep/x", "b/y", "a"] {
        fs::write(at(name), name).unwrap();
    }
    fs::write(at("empty"), "").unwrap();
    nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    for (to, name) in [("c", "d"), (".", "b/loop"), ("nowhere", "dangling"), ("b", "z")] {
        symlink(at(to), at(name)).unwrap();
    }
    let target = locate_list(std::iter::once(dir.path())).unwrap();
    assert_eq!(names(&target), ["a", "b/deep/x", "b/y", "c"]);
    assert_eq!(target.size(), 1 + 8 + 3 + 1);
    // A link to a file is followed, and its file is read once.
    let paths = [at("d"), at("b/deep"), at("c"), at("a")];
    let target = locate_list(paths.iter().map(|path| &**path)).unwrap();
    assert_eq!(names(&target), ["d", "b/deep/x", "a"]);
    assert_eq!(target.path(), Some(dir.path()));
}

#[test]
fn lists_of_nothing_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let said = |path: &str| locate_list(std::iter::once(Path::new(path))).unwrap_err().to_string();
    let folder = dir.path().to_str().unwrap();
    assert!(said(folder).ends_with(": there is no file with data; there is nothing to measure"));
    assert!(said("/dev/null").contains("is a character device"));
    assert!(said("/no/such").ends_with(": no such file or folder"));
    assert_eq!(
        locate_list(std::iter::empty()).unwrap_err().to_string(),
        "--as-one reads files; name them, or a folder of files"
    );
    fs::write(dir.path().join("a"), "data").unwrap();
    let target = locate_list(std::iter::once(dir.path())).unwrap();
    fs::write(dir.path().join("a"), "more data").unwrap();
    let error = OpenTarget::probe(&target).unwrap_err().to_string();
    assert!(error.contains("/a has another size"), "{error}");
}
