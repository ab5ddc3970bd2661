//! Direct I/O where the file system supports it: the odd last block, and a span that ends inside
//! the file.

use std::ops::ControlFlow;

use super::*;
use crate::engine::OpenTarget;
use crate::plan::{Plan, TargetSpec};

/// Creates a file of `len` bytes and the target that the engine builds from it; `None` without
/// direct I/O.
fn file(len: usize) -> Option<(tempfile::NamedTempFile, Vec<u8>, Target)> {
    let (file, data, _) = testing::file(len, 8);
    file.as_file().sync_all().unwrap();
    let spec = TargetSpec::File { path: file.path().into(), size: len as u64 };
    let plan = Plan::plain("sweep", spec.clone());
    let open_target =
        OpenTarget::open(&plan, &spec, &|| false, &mut |_| ControlFlow::Continue(())).unwrap();
    let target = Target { writable: true, ..open_target.target };
    if let Some(why) = &target.direct_refused {
        crate::sys::testing::skip(&format!("no direct I/O: {why}"));
        return None;
    }
    Some((file, data, target))
}

fn direct(op: Op, target: &Target) -> Vec<Job> {
    let mut jobs = Vec::new();
    for choice in choices().into_iter().filter(|c| info(c).direct && info(c).ops.contains(&op)) {
        for (depth, pattern) in depths(&choice).into_iter().flat_map(|d| PATTERNS.map(|p| (d, p))) {
            let job =
                Job { direct: true, span: 8192 * 7, ..job(&choice, op, pattern, 8192, 2, depth) };
            if supported(target, &job) {
                jobs.push(job);
            }
        }
    }
    assert!(!jobs.is_empty(), "no backend takes direct I/O");
    jobs
}

#[test]
fn direct_reads_take_the_odd_end() {
    let len = 8192 * 9 + 4096 + 777;
    let Some((_file, data, target)) = file(len) else { return };
    for job in direct(Op::Read, &target) {
        // The file's own end; a span that ends inside a sector; inside a block; at a block's end.
        for span in [len, len - 100, 8192 * 5 + 1, 8192 * 4] {
            let spec = spec(Job { span: span as u64, ..job.clone() }, &target, 2);
            let (ops, bytes, xor) = expected(&spec, &data);
            let sums = sums(
                &run(&spec).unwrap_or_else(|error| panic!("{} span {span}: {error}", job.label())),
            );
            assert_eq!(
                (sums.ops, sums.bytes, sums.folds),
                (2 * ops, 2 * bytes, [xor, xor]),
                "{} span {span}",
                job.label()
            );
        }
    }
}

#[test]
fn direct_writes_stay_in_the_span() {
    let len = 8192 * 9 + 777;
    let Some((file, _, target)) = file(len) else { return };
    for job in direct(Op::Write, &target) {
        let before = std::fs::read(file.path()).unwrap();
        let spec = spec(Job { span: 8192 * 7, ..job.clone() }, &target, 1);
        let ran = run(&spec).unwrap_or_else(|error| panic!("{}: {error}", job.label()));
        let after = std::fs::read(file.path()).unwrap();
        assert!(after.len() == len && after[8192 * 7..] == before[8192 * 7..], "{}", job.label());
        assert_first_pass(&spec, &ran, &after, &job.label());
    }
}

#[test]
fn cut_file_fails_only_its_cell() {
    for size in [0, 4096, 8192 * 2 + 100, 8192 * 3 + 4096 + 100] {
        let Some((file, _, target)) = file(8192 * 16) else { return };
        for job in direct(Op::Read, &target) {
            let _ = file.as_file().set_len(8192 * 16);
            let spec = spec(Job { span: 8192 * 16, ..job.clone() }, &target, 1);
            let error =
                run_with(&spec, &mut || file.as_file().set_len(size).unwrap(), &|| false).err();
            let error = error.unwrap_or_else(|| panic!("{} cut to {size}: no error", job.label()));
            assert!(
                error.contains("it shrank during the measurement"),
                "{} cut to {size}: {error}",
                job.label()
            );
        }
    }
}
