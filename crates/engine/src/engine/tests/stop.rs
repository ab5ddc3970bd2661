//! A run that is cut short: every operation in flight completes, and the tally records its
//! progress.

use std::cell::Cell;

use super::*;
use crate::engine::coverage::trial_coverage;
use crate::plan::Moves;

/// Returns (operations, bytes, XOR of the first pass) of the blocks that a lane's tally covers.
fn replayed(share: &Share, tally: &crate::backend::work::Tally, data: &[u8]) -> (u64, u64, u32) {
    let (mut ops, mut bytes, mut xor) = (0, 0, 0);
    let mut add = |pass: u64, most: u64| {
        share.replay(pass, most, |offset, len| {
            ops += 1;
            bytes += len;
            xor ^= if pass == 0 { xor_at(data, offset, len) } else { 0 };
        });
    };
    add(0, if tally.passes > 0 { u64::MAX } else { tally.rest });
    if tally.passes > 0 {
        add(tally.passes, tally.rest);
        ops += (tally.passes - 1) * share.quota;
        bytes += (tally.passes - 1) * (share.range().end - share.range().start);
    }
    (ops, bytes, xor)
}

/// Returns the same for all lanes together that share their blocks: every claim up to the last,
/// minus the part that its lane left.
fn claimed(spec: &Spec, ran: &LaneResults, data: &[u8]) -> (u64, u64, u32) {
    let (claims, share) = (spec.claims().unwrap(), spec.share(0));
    let lanes = || ran.lanes.iter().map(|lane| &lane.tally.claimed);
    let (mut ops, mut bytes, mut xor) = (0, 0, 0);
    for number in 0..lanes().map(|lane| lane.claims).max().unwrap() {
        let (pass, indexes) = claims.claim(number).unwrap();
        let order = share.order(pass);
        for index in indexes
            .filter(|index| !lanes().any(|lane| lane.pass == pass && lane.left.contains(index)))
        {
            let offset = order.offset(index);
            ops += 1;
            bytes += share.len_at(offset);
            xor ^= if pass == 0 { xor_at(data, offset, share.len_at(offset)) } else { 0 };
        }
    }
    (ops, bytes, xor)
}

#[test]
fn cut_runs_are_consistent_at_depth() {
    let (_file, data, target) = testing::file(span(4096) as usize, 9);
    for job in random_jobs(&target, 2) {
        let label = job.label();
        // Cut at the first check after the start.
        let gone = Cell::new(false);
        let spec = spec(job, &target, u64::MAX);
        let ran = run_with(&spec, &mut || gone.set(true), &|| gone.get());
        let ran = ran.unwrap_or_else(|error| panic!("{label}: {error}"));
        if spec.claims().is_some() {
            let (sums, coverage) = (sums(&ran), trial_coverage(&ran.lanes, &spec));
            let want = claimed(&spec, &ran, &data);
            assert_eq!((sums.ops, sums.bytes, sums.folds[0]), want, "{label}");
            assert_eq!(coverage.iter().map(|v| v.bytes().0).sum::<u64>(), want.1, "{label}");
            assert!(
                coverage.iter().all(|v| v.passes().is_some_and(|passes| passes < u64::MAX)),
                "{label}: not short"
            );
            continue;
        }
        for lane in &ran.lanes {
            let (ops, bytes, xor) = replayed(&lane.share, &lane.tally, &data);
            let want = match spec.info().moves() {
                Moves::Data => (ops, bytes, xor),
                Moves::Inside | Moves::Elsewhere => (ops, bytes, 0),
                Moves::Nothing => (ops, 0, 0),
            };
            assert_eq!((lane.tally.ops, lane.tally.bytes, lane.tally.folds[0]), want, "{label}");
            assert!(
                lane.tally.passes < u64::MAX && lane.tally.rest <= lane.share.quota,
                "{label}: not short"
            );
        }
    }
}

#[test]
fn early_stop_starts_nothing() {
    use super::faulty::{Act, Faulty, OPENING};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
    let (asked, ops) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (seen, count) = (Arc::clone(&asked), Arc::clone(&ops));
    // Lane 0 is still opening when the stop arrives.
    let script = move |lane, request| {
        while lane == 0 && request == OPENING && !seen.load(Relaxed) {
            std::thread::yield_now();
        }
        count.fetch_add(u64::from(request != OPENING), Relaxed);
        Act::Whole
    };
    let spec = Faulty::over(&[7; 65536], Box::new(script)).spec(2, 1);
    let cut = || {
        asked.store(true, Relaxed);
        true
    };
    assert_eq!(run_with(&spec, &mut || {}, &cut).err().unwrap(), "stopped");
    assert_eq!(ops.load(Relaxed), 0);
}
