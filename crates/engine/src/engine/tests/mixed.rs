//! Reads and writes mixed in one lane: written blocks are as intended, the rest is unchanged, and
//! both kinds are counted.

use super::*;

fn mixers() -> Vec<Choice> {
    choices().into_iter().filter(|c| info(c).mixes).collect()
}

/// Runs `job` on a new file and compares every byte with the job's shares.
fn mixes_all(job: Job) {
    let label = format!("{} {:?} depth {}", job.label(), job.pattern, job.depth);
    let (file, mut want, target) = testing::file(job.span as usize + 777, 5);
    let spec = spec(job, &target, 1);
    let ran = run(&spec).unwrap_or_else(|error| panic!("{label}: {error}"));
    let after = std::fs::read(file.path()).unwrap();
    let (mut ops, mut bytes, mut written) = (0, 0, 0);
    for (lane, share) in shares(&spec).iter().enumerate() {
        let source = writes::source(&spec.job, lane);
        let mut index = 0;
        share.replay(0, u64::MAX, |offset, len| {
            let range = offset as usize..(offset + len) as usize;
            if share.writes(0, index) {
                let found = &after[range.clone()];
                let mut slots = source.chunks_exact(spec.job.block as usize);
                assert!(
                    slots.any(|slot| &slot[..found.len()] == found),
                    "{label}: block at {offset}"
                );
                want[range].copy_from_slice(found);
                written += len;
            }
            (index, ops, bytes) = (index + 1, ops + 1, bytes + len);
        });
    }
    assert!(after == want, "{label}: bytes changed that were not to be written");
    let all = sums(&ran);
    assert_eq!((all.ops, all.bytes, all.folds), (ops, bytes, [0, 0]), "{label}");
    assert_eq!(
        shares(&spec).iter().map(|share| share.written_bytes(0, u64::MAX)).sum::<u64>(),
        written,
        "{label}"
    );
    calls::assert_counted(&spec, &all, &label);
}

#[test]
fn writes_change_only_the_span() {
    assert!(mixers().iter().any(|c| c.id == "pread") && mixers().iter().any(|c| c.id == "uring"));
    for choice in mixers() {
        for (depth, block) in
            depths(&choice).into_iter().flat_map(|d| [1, 511, 4097].map(|b| (d, b)))
        {
            for (pattern, (threads, mix)) in
                PATTERNS.into_iter().zip([(1, 50), (2, 30), (3, 70), (2, 100)])
            {
                let job = Job {
                    mix: Some(mix),
                    xor: false,
                    ..job(&choice, Op::Write, pattern, block, threads, depth)
                };
                let (_file, _, target) = testing::file(0, 0);
                if supported(&target, &job) {
                    mixes_all(job);
                }
            }
        }
    }
}
