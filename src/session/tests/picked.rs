use std::sync::Arc;

use super::super::{load, results, skipped, testing};
use super::*;
use crate::plan::Job;
use crate::record::{Ceilings, Event, Found, Grounds, LeftOut, MachineEvidence, Source, Try, Verdict};
use crate::session::{Recorder, answer_with};

fn tried(cell: u32, millis: u64) -> Try {
    Try { cell, offset: 0, bytes: 1 << 30, nanos: millis * 1_000_000, device_bytes: Some(0), minor_faults: 512 }
}

/// Three ways, of which the second was the fastest and ran.
fn events() -> Vec<Event> {
    let mut plan = testing::plan(3);
    let job = |way: &&str| Job { threads: 2, ..testing::job(way, 2 << 20, Cache::AsIs) };
    plan.cells = ["mmap+shared", "pread", "uring"].iter().map(job).collect();
    let tries = vec![tried(0, 100), tried(1, 50)];
    let out = vec![LeftOut { cell: 2, why: "the ring\u{1b}[31m is closed".into() }];
    let found = Found { span: 1 << 30, resident: Some(1 << 30), cpus: 2 };
    let pick = Pick::of(&plan.cells, &[0, 1], found, tries, out, false);
    let mut trial = testing::trial(1, 1, 1 << 30);
    (trial.nanos, trial.xor, trial.passes) = (50_000_000, Some(Xor(0xabc)), 1);
    let ceilings = Ceilings { read: Some(2e10), read_all: Some(43e9), threads: 2, ..Ceilings::default() };
    let machine = MachineEvidence { ceilings: Some(ceilings), ..MachineEvidence::default() };
    let grounds = Arc::new(Grounds { machine, ..Grounds::default() });
    let source = Some(Source { device: 0.0, page_cache: 1.0, hole: 0.0, unknown: 0.0 });
    vec![
        Event::Started { plan: Arc::new(plan), grounds },
        Event::Picked { pick: Arc::new(pick) },
        Event::Trial { trial: Arc::new(trial), samples: Vec::new(), latency: None },
        Event::Verdict { cell: 1, verdict: Arc::new(Verdict { source, ..Verdict::default() }) },
    ]
}

fn session() -> Session {
    let mut session = testing::session(0);
    events().iter().for_each(|event| session.apply(event));
    session
}

#[test]
fn the_answer_is_the_xor_its_time_its_share_of_the_ceiling_and_the_reason() {
    let session = session();
    let results = results(&session);
    let answer = answer_with(&session, &results, &[]);
    assert_eq!(
        answer.text,
        "XOR 00000abc of 1 GiB in 50.0 ms: 20.0 GiB/s, 49.9 % of the 40.0 GiB/s that 2 threads can read from memory. \
         Picked: pread 2 MiB by 2 threads; 100 % of 1 GiB in the page cache, 2 MiB mapped by a page fault, 2 CPUs: tried for a moment, \
         pread 2 MiB by 2 threads 20.0 GiB/s was the fastest, before mmap+shared 2 MiB by 2 threads 10.0 GiB/s."
    );
    let picked = &answer.picked[0];
    assert_eq!((picked.xor, picked.nanos, picked.tried.len()), (Some(Xor(0xabc)), Some(5e7), 2));
    assert!(picked.tried[0].throughput > picked.tried[1].throughput);
}

#[test]
fn as_many_threads_as_read_are_what_a_share_is_of() {
    let of = |threads: u32| {
        let mut session = session();
        session.plan.cells.iter_mut().for_each(|cell| cell.threads = threads);
        let results = results(&session);
        answer_with(&session, &results, &[]).picked[0].ceiling.clone().unwrap()
    };
    assert_eq!((of(1).name.as_str(), of(1).bytes_per_second), ("1 thread can read from memory", 2e10));
    // More than there are CPUs are no faster than one on each.
    assert_eq!((of(20).name.as_str(), of(20).bytes_per_second), ("2 threads can read from memory", 43e9));
}

#[test]
fn of_a_disk_without_a_ceiling_it_says_how_to_name_one() {
    let mut session = session();
    for event in events() {
        if let Event::Verdict { cell, verdict } = event {
            let source = Some(Source { device: 1.0, page_cache: 0.0, hole: 0.0, unknown: 0.0 });
            session.apply(&Event::Verdict { cell, verdict: Arc::new(Verdict { source, ..Verdict::clone(&verdict) }) });
        }
    }
    let text = |session: &Session| answer_with(session, &results(session), &[]).text;
    assert!(text(&session).contains("20.0 GiB/s (what this disk can give is not known: --rated SPEED says it)"), "{}", text(&session));
    session.plan.rated = Some(42_949_672_960);
    assert!(text(&session).contains("50 % of the 40.0 GiB/s that the disk's vendor names"), "{}", text(&session));
}

#[test]
fn the_others_are_skipped_with_what_they_gave_or_why_they_were_not_tried() {
    let reasons: Vec<String> = skipped(&session()).into_iter().map(|skipped| skipped.reason).collect();
    assert_eq!(reasons.len(), 2);
    assert_eq!(reasons[0], "tried for a moment it gave 10.0 GiB/s, less than what was picked");
    assert!(reasons[1].contains("is closed"));
}

#[test]
fn a_file_keeps_the_pick_safe_to_show_and_refuses_one_of_cells_it_does_not_have() {
    let dir = tempfile::tempdir().unwrap();
    let mut recorder =
        Recorder::create(dir.path(), None, "x", &Default::default(), &testing::plan(3), std::time::UNIX_EPOCH + testing::CREATED).unwrap();
    events().iter().for_each(|event| recorder.event(event));
    recorder.finish(crate::record::End::Finished);
    let loaded = load(recorder.path()).unwrap();
    let text = |session: &Session| answer_with(session, &results(session), &[]).text;
    assert_eq!(text(&loaded), text(&session()));
    assert!(!loaded.picks[0].left_out[0].why.contains('\u{1b}'));
    let written = std::fs::read_to_string(recorder.path()).unwrap();
    std::fs::write(recorder.path(), written.replace("\"kind\":\"pick\",\"cell\":1", "\"kind\":\"pick\",\"cell\":9")).unwrap();
    assert!(load(recorder.path()).unwrap_err().to_string().contains("cell 9 is none of the plan's 3"));
}
