//! Blocks that are drawn with replacement.

use super::*;
use crate::engine::coverage::{Coverage, trial_coverage};
use crate::plan::Moves;
use std::collections::HashMap;

/// Returns all bytes of `passes` passes, and the bytes of different blocks.
fn drawn_bytes(spec: &Spec, passes: u64) -> (u64, u64) {
    let all: Vec<(u64, u64)> = (0..passes).flat_map(|pass| blocks(spec, pass).concat()).collect();
    let different: HashMap<u64, u64> = all.iter().copied().collect();
    (all.iter().map(|(_, len)| len).sum(), different.values().sum())
}

#[test]
fn backends_read_the_drawn_blocks() {
    let (_file, data, target) = testing::file(span(4097) as usize + 5, 2);
    for choice in choices().into_iter().filter(|c| info(c).ops.contains(&Op::Read)) {
        for (pattern, depth) in
            DRAWN.into_iter().flat_map(|p| depths(&choice).into_iter().map(move |d| (p, d)))
        {
            let job = job(&choice, Op::Read, pattern, 511, 2, depth);
            if !supported(&target, &job) {
                continue;
            }
            let spec = spec(job.clone(), &target, 3);
            let (ops, bytes, xor) = expected(&spec, &data);
            let ran = run(&spec).unwrap();
            let sums = sums(&ran);
            let label = format!("{} {depth}", spec.job.label());
            assert_eq!(sums.ops, 3 * ops, "{label}");
            if info(&choice).moves() == Moves::Data {
                assert_eq!((sums.bytes, sums.folds[0]), (3 * bytes, xor), "{label}");
            }
            let covered = trial_coverage(&ran.lanes, &spec);
            let covered = covered.iter().map(Coverage::bytes);
            let covered = covered.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
            assert_eq!(covered, drawn_bytes(&spec, 3), "{label}");
        }
    }
}
