use std::sync::Arc;

use super::*;
use crate::analysis::answer_with;
use crate::analysis::{list_skipped, results};
use crate::record::{Event, Source, Verdict};
use crate::session::{load, testing};

fn session() -> Session {
    let mut session = testing::session(0);
    testing::picked().iter().for_each(|event| session.apply(event));
    session
}

#[test]
fn a_pick_names_result_and_reason() {
    let session = session();
    let results = results(&session);
    let answer = answer_with(&session, &results, &[]);
    assert_eq!(
        answer.text,
        "XOR 00000abc of 1 GiB in 50.0 ms: 20.0 GiB/s, 49.9 % of the 40.0 GiB/s that 2 threads can read from memory. \
         Picked: pread 2 MiB 2 threads; 100 % of 1 GiB in the page cache, 2 MiB mapped per page fault, 2 CPUs: in brief tries \
         pread 2 MiB 2 threads 20.0 GiB/s was the fastest, ahead of mmap+shared 2 MiB 2 threads 10.0 GiB/s."
    );
    let picked = &answer.picked[0];
    assert_eq!((picked.xor, picked.nanos, picked.tried.len()), (Some(Xor(0xabc)), Some(5e7), 2));
    let [first, second] = &picked.tried[..] else { panic!("{:?}", picked.tried) };
    assert!(first.throughput > second.throughput && !second.no_difference);
    assert_eq!((first.tries, first.low, first.high), (5, Some(first.min), Some(first.max)));
    assert!(first.min < first.throughput && first.throughput < first.max);
}

#[test]
fn overlapping_tries_do_not_rank_methods() {
    let tied = |change: &dyn Fn(&mut Pick)| {
        let mut session = session();
        change(&mut session.picks[0]);
        let results = results(&session);
        let picked = answer_with(&session, &results, &[]).picked.remove(0);
        let said = picked.text.contains("no difference from mmap+shared 2 MiB 2 threads.");
        assert_eq!(said, picked.tried[1].no_difference, "{}", picked.text);
        let reason = &list_skipped(&session)[0].reason;
        assert_eq!(said, reason.contains("no difference"), "{reason}");
        (said, picked.tried[1].low.is_some())
    };
    assert_eq!(tied(&|_| {}), (false, true));
    assert_eq!(tied(&|pick| pick.tries[0].nanos = 51_000_000), (true, true));
    // Three tries each, without and with an overlap; then two each.
    assert_eq!(tied(&|pick| pick.tries.truncate(6)), (false, false));
    assert_eq!(
        tied(&|pick| {
            pick.tries.truncate(6);
            pick.tries[0].nanos = 49_000_000;
        }),
        (true, false)
    );
    assert_eq!(tied(&|pick| pick.tries.truncate(4)), (true, false));
    // Parts that differ in what is cached have no common median.
    let half = |pick: &mut Pick| pick.conditions.resident = Some(1 << 29);
    assert_eq!(tied(&half), (false, false));
}

#[test]
fn several_trials_have_an_interval() {
    let mut session = session();
    for nanos in [51_000_000, 52_000_000, 53_000_000, 54_000_000] {
        let mut trial = Trial::clone(&session.trials[0]);
        trial.nanos = nanos;
        let (trial, samples) = (Arc::new(trial), Vec::new());
        session.apply(&Event::Trial { trial, samples, latency: None });
    }
    let text = answer_with(&session, &results(&session), &[]).text;
    assert!(
        text.contains("(median of 5 trials, 95 % interval 18.5 GiB/s to 20.0 GiB/s)."),
        "{text}"
    );
}

#[test]
fn shares_use_matching_thread_counts() {
    fn of(threads: u32) -> PickedCeiling {
        let mut session = session();
        session.plan.cells.iter_mut().for_each(|cell| cell.threads = threads);
        let results = results(&session);
        answer_with(&session, &results, &[]).picked[0].ceiling.clone().unwrap()
    }
    assert_eq!(
        (of(1).name.as_str(), of(1).bytes_per_second),
        ("1 thread can read from memory", 2e10)
    );
    // More threads than CPUs are no faster than one on each CPU.
    assert_eq!(
        (of(20).name.as_str(), of(20).bytes_per_second),
        ("2 threads can read from memory", 43e9)
    );
}

#[test]
fn disks_without_ceiling_get_a_hint() {
    let mut session = session();
    for event in testing::picked() {
        if let Event::Verdict { cell, verdict } = event {
            let source =
                Some(Source { device: 1.0, page_cache: 0.0, hole: 0.0, unknown: 0.0, below: 0.0 });
            session.apply(&Event::Verdict {
                cell,
                verdict: Arc::new(Verdict { source, ..Verdict::clone(&verdict) }),
            });
        }
    }
    fn text(session: &Session) -> String {
        answer_with(session, &results(session), &[]).text
    }
    assert!(
        text(&session)
            .contains("20.0 GiB/s (the disk's rated speed is unknown; set it with --rated SPEED)"),
        "{}",
        text(&session)
    );
    session.plan.rated = Some(42_949_672_960);
    assert!(
        text(&session).contains("50 % of the 40.0 GiB/s that the disk is rated for"),
        "{}",
        text(&session)
    );
}

#[test]
fn other_methods_are_skipped_with_reasons() {
    let reasons: Vec<String> =
        list_skipped(&session()).into_iter().map(|skipped| skipped.reason).collect();
    assert_eq!(reasons.len(), 2);
    assert_eq!(reasons[0], "a short try reached 10.0 GiB/s, less than the picked method");
    assert!(reasons[1].contains("is closed"));
}

#[test]
fn picks_of_unknown_cells_are_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder = testing::recorder(dir.path(), &testing::plan(3));
    testing::picked().iter().for_each(|event| recorder.record(event));
    recorder.finish(crate::record::End::Finished);
    let loaded = load(recorder.path()).unwrap();
    fn text(session: &Session) -> String {
        answer_with(session, &results(session), &[]).text
    }
    assert_eq!(text(&loaded), text(&session()));
    assert!(!loaded.picks[0].left_out[0].why.contains('\u{1b}'));
    let written = std::fs::read_to_string(recorder.path()).unwrap();
    std::fs::write(
        recorder.path(),
        written.replace("\"kind\":\"pick\",\"cell\":1", "\"kind\":\"pick\",\"cell\":9"),
    )
    .unwrap();
    let damaged = load(recorder.path()).unwrap();
    assert_eq!((damaged.picks.len(), damaged.lost), (0, 1));
}
