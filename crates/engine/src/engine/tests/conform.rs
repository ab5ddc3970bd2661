//! Reads: every block exactly once, for any order, block size, number of threads and depth.

use super::*;
use crate::engine::coverage::trial_coverage;
use crate::plan::Moves;

const BLOCKS: [u64; 7] = [1, 3, 511, 512, 4096, 4097, 65536];

/// Runs `job` for one pass and for three, and compares the results with `data`.
fn reads_all(job: Job, data: &[u8], target: &Target) {
    let label = format!("{} count {:?}", job.label(), job.count);
    let (moves, shows) =
        (info(&job.backend).moves_bytes(), info(&job.backend).moves() == Moves::Data);
    let spec = spec(job, target, 1);
    let (ops, bytes, xor) = expected(&spec, data);
    let sums = sums(&run(&spec).unwrap_or_else(|error| panic!("{label}: {error}")));
    let want =
        if moves { (ops, bytes, [if shows { xor } else { 0 }, 0]) } else { (ops, 0, [0, 0]) };
    assert_eq!((sums.ops, sums.bytes, sums.folds), want, "{label}");
    // Compared once more with the plain definition, which ignores blocks.
    if spec.job.count == Some(0) && shows && spec.job.pattern == Pattern::Random {
        assert_eq!(
            (sums.bytes, sums.folds[0]),
            (spec.job.span, testing::xor(&data[..spec.job.span as usize])),
            "{label}"
        );
    }
    calls::assert_counted(&spec, &sums, &label);
}

/// Returns the operation that a backend supports without a new file.
fn op(choice: &Choice) -> Op {
    if info(choice).ops.contains(&Op::Read) { Op::Read } else { Op::Seek }
}

fn conforms(block_sizes: &[u64]) {
    let (_file, data, target) = testing::file(span(65536) as usize + 1234, 1);
    for choice in choices() {
        for depth in depths(&choice) {
            let probe = job(&choice, op(&choice), Pattern::Seq, 4096, 1, depth);
            if !supported(&target, &probe) {
                break;
            }
            for (block, (pattern, threads)) in
                block_sizes.iter().flat_map(|b| mixed(&choice, *b).into_iter().map(move |m| (b, m)))
            {
                let whole = job(&choice, op(&choice), pattern, *block, threads, depth);
                let part = Job { count: Some(whole.blocks() * 2 / 3), ..whole.clone() };
                reads_all(whole, &data, &target);
                reads_all(part, &data, &target);
            }
        }
    }
}

/// Returns every pattern with every number of threads for odd and page-sized blocks; otherwise each
/// pattern once, to save time.
fn mixed(choice: &Choice, block: u64) -> Vec<(Pattern, u32)> {
    if choice.options.is_empty() && [511, 4096].contains(&block) {
        return PATTERNS
            .into_iter()
            .flat_map(|pattern| (1..=3).map(move |threads| (pattern, threads)))
            .collect();
    }
    PATTERNS.into_iter().zip([1, 3, 2, 2]).collect()
}

#[test]
fn small_blocks_are_read_once() {
    conforms(&BLOCKS[..4]);
}

#[test]
fn large_blocks_are_read_once() {
    conforms(&BLOCKS[4..]);
}

#[test]
fn passes_add_up_to_one_checksum() {
    let (_file, data, target) = testing::file(span(4097) as usize + 5, 2);
    for choice in choices()
        .into_iter()
        .filter(|c| info(c).ops.contains(&Op::Read) && info(c).moves() == Moves::Data)
    {
        for (pattern, depth) in
            PATTERNS.into_iter().flat_map(|p| depths(&choice).into_iter().map(move |d| (p, d)))
        {
            let job = job(&choice, Op::Read, pattern, 511, 2, depth);
            if !supported(&target, &job) {
                continue;
            }
            for (passes, later) in [(2, true), (3, false)] {
                let spec = spec(job.clone(), &target, passes);
                let (ops, bytes, xor) = expected(&spec, &data);
                let ran = run(&spec).unwrap();
                let sums = sums(&ran);
                let want = (passes * ops, passes * bytes, [xor, if later { xor } else { 0 }]);
                assert_eq!(
                    (sums.ops, sums.bytes, sums.folds),
                    want,
                    "{} passes {passes}",
                    spec.job.label()
                );
                assert!(
                    trial_coverage(&ran.lanes, &spec).iter().all(|v| v.passes() == Some(passes))
                );
            }
        }
    }
}

#[test]
fn surplus_threads_have_no_work() {
    let (_file, data, target) = testing::file(9000, 3);
    for choice in choices() {
        let job = Job { span: 8193, ..job(&choice, op(&choice), Pattern::Seq, 4096, 7, 1) };
        if supported(&target, &job) {
            reads_all(job, &data, &target);
        }
    }
}
