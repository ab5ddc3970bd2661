use std::sync::Arc;

use super::*;
use crate::plan::{Cache, Expect, Op, Profiles, Settings, Sync};
use crate::record::{
    Durability, Event, Ground, Grounds, Latency, Medium, Reach, TargetEvidence, Verdict, Warning,
};
use crate::session::testing::{job, session, trial, trial_event};
use crate::stats::Histogram;

/// Returns a session of one cell with these latencies (nanoseconds, operations).
fn measured(job: Job, latencies: &[(u64, u64)], rates: &[u64], expect: &str) -> Session {
    let mut session = session(1);
    session.plan.cells = vec![job];
    let words = {
        let mut settings = Settings::default();
        settings.set("expect", expect).unwrap();
        settings.expect.unwrap()
    };
    session.plan.expect = Profiles::built_in().expectations(&words).unwrap();
    let rounds = 1..=rates.len() as u32;
    session.trials =
        rounds.zip(rates).map(|(round, rate)| Arc::new(trial(0, round, *rate))).collect();
    let latency = Latency::from_histogram(&Histogram::from_pairs(latencies), 1);
    let verdict = Verdict { latency, ..Verdict::default() };
    session.verdicts = vec![Some(Arc::new(verdict))];
    session
}

fn commits() -> Job {
    Job { op: Op::Write, block: 2300, sync: Sync::Fdatasync, ..job("pread", 2300, Cache::AsIs) }
}

/// Returns the outcome and the text of the only expectation.
fn told(session: &Session) -> (Holds, String) {
    let [one] = &expected(session)[..] else { panic!("one expectation") };
    (one.outcome, one.text())
}

const RATES: [u64; 5] = [100 << 20, 101 << 20, 102 << 20, 103 << 20, 104 << 20];

#[test]
fn percentiles_are_judged_by_interval() {
    let of = |slow: u64, all: u64| {
        measured(commits(), &[(1_000_000, all - slow), (20_000_000, slow)], &RATES, "etcd")
    };
    let (outcome, text) = told(&of(3, 1000));
    assert_eq!(outcome, Holds::Pass, "{text}");
    assert!(text.starts_with("etcd (p99<10ms): pass: pwrite 2.25 KiB fdatasync p99 1"), "{text}");
    // 4 to 17 of 1,000 beyond the bound may be chance, 18 are not.
    assert_eq!(told(&of(18, 1000)).0, Holds::Fail);
    for slow in [4, 10, 17] {
        let (outcome, text) = told(&of(slow, 1000));
        assert_eq!(outcome, Holds::CannotTell, "{slow}: {text}");
        assert!(text.contains("the bound lies within the 95 % interval"), "{text}");
    }
    // Fewer operations than the percentile needs never pass, but they may fail.
    let (outcome, text) = told(&of(0, 999));
    assert_eq!(outcome, Holds::CannotTell);
    assert!(text.contains("999 operations timed, and p99 needs 1000"), "{text}");
    let (outcome, text) = told(&of(10, 50));
    assert_eq!(outcome, Holds::Fail, "{text}");
    assert!(text.contains("p99 at least 19.9 ms"), "{text}");
}

#[test]
fn buckets_at_the_bound_decide_nothing() {
    let session = measured(commits(), &[(10_000_000, 5000)], &RATES, "p99<10ms,p99<=10ms");
    let all = &expected(&session)[0].cells;
    // The exact value lies anywhere within the bucket, but not above the longest.
    assert_eq!(all[0].outcome, Holds::CannotTell, "{all:?}");
    assert_eq!(all[1].outcome, Holds::Pass, "{all:?}");
}

#[test]
fn rates_need_five_trials() {
    let of = |rates: &[u64], expect: &str| {
        told(&measured(job("pread", 4096, Cache::Warm), &[(1000, 10)], rates, expect))
    };
    assert_eq!(of(&RATES, ">=100MiB/s").0, Holds::Pass);
    assert_eq!(of(&RATES, ">104MiB/s").0, Holds::Fail);
    assert_eq!(of(&RATES, ">=102MiB/s").0, Holds::CannotTell);
    let (outcome, text) = of(&RATES[..3], ">=1MB/s");
    assert_eq!(outcome, Holds::CannotTell);
    assert!(text.contains("3 trials of the 5 that an interval needs"), "{text}");
    assert_eq!((of(&RATES, "max<1us").0, of(&RATES, "max<=1us").0), (Holds::Fail, Holds::Pass));
    let mut sampled = measured(job("pread", 4096, Cache::Warm), &[(1000, 10)], &RATES, "max<1ms");
    let mut verdict = sampled.verdicts[0].as_deref().unwrap().clone();
    verdict.latency.as_mut().unwrap().every = 64;
    sampled.verdicts[0] = Some(Arc::new(verdict));
    let (outcome, text) = told(&sampled);
    assert_eq!(outcome, Holds::CannotTell);
    assert!(text.contains("only one in 64 operations was timed"), "{text}");
}

#[test]
fn untrusted_figures_are_not_judged() {
    let warn = |id: &'static str, severity: &str| {
        let mut session = measured(commits(), &[(1000, 9000)], &RATES, "etcd");
        let text = format!(
            r#"{{"id":"{id}","severity":"{severity}","message":"no good","evidence":"","remedy":""}}"#
        );
        let warning: Warning = serde_json::from_str(&text).unwrap();
        let verdict = session.verdicts[0].as_deref().unwrap().clone();
        session.verdicts[0] = Some(Arc::new(Verdict { warnings: vec![warning], ..verdict }));
        told(&session)
    };
    assert_eq!(warn("wide", "misleading").0, Holds::Pass);
    for (id, severity) in [("memory", "wrong"), ("not-on-device", "misleading")] {
        let (outcome, text) = warn(id, severity);
        assert_eq!(outcome, Holds::CannotTell, "{id}");
        assert!(text.contains(&format!("no good ({id})")), "{text}");
    }
    let mut failed = measured(commits(), &[(1000, 9000)], &RATES, "etcd");
    failed.apply(&Event::Failed { cell: 0, error: "fdatasync: EIO".into() });
    assert!(told(&failed).1.contains("it failed: fdatasync: EIO"), "{}", told(&failed).1);
    let never = measured(commits(), &[], &[], "etcd");
    let (outcome, text) = told(&never);
    assert_eq!(outcome, Holds::CannotTell);
    assert!(text.contains("the run was stopped before its first trial"), "{text}");
}

#[test]
fn commits_pass_only_on_real_disks() {
    let of = |reach: Reach, ground: Option<Medium>| {
        let mut session = measured(commits(), &[(1000, 9000)], &RATES, "etcd");
        let durability = Durability {
            reach,
            reason: "this is why".into(),
            flushes: None,
            flush_nanos: None,
            amplification: None,
        };
        let verdict = session.verdicts[0].as_deref().unwrap().clone();
        session.verdicts[0] = Some(Verdict { durability: Some(durability), ..verdict }.into());
        let ground = ground.map(|medium| Ground { medium, ..Ground::default() });
        let target = TargetEvidence { ground, ..TargetEvidence::default() };
        session.grounds = Some(Grounds { target, ..Grounds::default() });
        told(&session)
    };
    for medium in [Medium::Disk, Medium::Memory, Medium::Program, Medium::Server, Medium::Unknown] {
        // A virtual machine sees no further than its disk.
        let (outcome, text) = of(Reach::Unknown, Some(medium));
        let is_disk = medium == Medium::Disk;
        assert_eq!(outcome == Holds::Pass, is_disk, "{medium:?}: {text}");
        assert_eq!(text.contains("is unknown: this is why"), !is_disk, "{text}");
    }
    assert_eq!(of(Reach::Flushed, Some(Medium::Disk)).0, Holds::Pass);
    // An older session does not say what it lay on.
    assert_eq!(of(Reach::Unknown, None).0, Holds::Pass);
}

#[test]
fn one_failing_cell_fails_a_profile() {
    let mut session = measured(commits(), &[(1_000_000, 5000)], &RATES, "etcd");
    session.plan.cells.push(job("pread", 4096, Cache::Warm));
    session.verdicts.push(None);
    session.errors.push(None);
    session.apply(&trial_event(1, 1, 1 << 20));
    assert_eq!(told(&session).0, Holds::Pass);
    let words = "p99<10ms,iops>=1".split(',').map(|word| word.parse::<Expect>().unwrap());
    session.plan.expect = Profiles::built_in().expectations(&words.collect::<Vec<_>>()).unwrap();
    let (outcome, text) = told(&session);
    assert_eq!(outcome, Holds::CannotTell, "{text}");
    assert!(text.contains("read 4 KiB") && text.contains("2 of 4 figures pass"), "{text}");
    // Where the plan has none of its cells, as a session that was damaged, nothing is claimed.
    session.plan.expect = Profiles::built_in().expectations(&["etcd".parse().unwrap()]).unwrap();
    session.plan.cells.remove(0);
    assert_eq!(told(&session).0, Holds::CannotTell);
}

#[test]
fn expectations_are_saved_and_exported() {
    let session = measured(commits(), &[(1_000_000, 5000)], &RATES, "etcd,p50<2ms");
    let value = serde_json::to_value(crate::analysis::document(&session)).unwrap();
    let outcomes: Vec<&serde_json::Value> =
        value["expected"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["pass", "pass"]);
    assert_eq!(value["expected"][1]["expectation"]["profile"], "etcd");
    assert_eq!(value["expected"][1]["cells"][0]["condition"], "p99<10ms");
    let plan: Plan = serde_json::from_value(value["plan"].clone()).unwrap();
    assert_eq!(plan.expect, session.plan.expect);
    let none = crate::session::testing::session(1);
    let value = serde_json::to_value(crate::analysis::document(&none)).unwrap();
    assert!(value.get("expected").is_none() && value["plan"].get("expect").is_none());
}
