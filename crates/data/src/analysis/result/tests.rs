use super::*;
use crate::plan::Cache;
use crate::plan::Op;
use crate::record::{Event, Verdict};
use crate::session::testing::{job, session, trial, trial_event};

fn read(trials: Vec<Trial>) -> CellResult {
    result(
        &job("read", 4096, Cache::Warm),
        trials.into_iter().map(Into::into).collect(),
        None,
        None,
    )
}

#[test]
fn cut_trials_count_only_alone() {
    let mut trials: Vec<Trial> = (1..=5).map(|n| trial(0, n, u64::from(n) * 4096)).collect();
    trials[4].short = true;
    let four = read(trials.clone());
    assert_eq!(four.counted_trials(), [0, 1, 2, 3]);
    let throughput = four.throughput.unwrap();
    assert_eq!(
        (throughput.summary.median, throughput.summary.low, throughput.unit),
        (2.5 * 4096.0, None, "B/s")
    );
    assert_eq!(
        (four.operations.unwrap().summary.max, four.syscalls.unwrap().summary.min),
        (4.0, 2.0)
    );
    for trial in &mut trials {
        trial.short = true;
    }
    assert_eq!(read(trials).throughput.unwrap().summary.median, 3.0 * 4096.0);
}

#[test]
fn flagged_outliers_stay_in_the_summary() {
    let mut trials: Vec<Trial> =
        [100, 101, 7, 99, 100, 250].iter().map(|n| trial(0, 1, n << 20)).collect();
    trials[2].short = true;
    let result = read(trials);
    assert_eq!(result.outliers(), [5]);
    assert_eq!(result.throughput.unwrap().summary.max, 250.0 * 1048576.0);
}

#[test]
fn calls_have_no_throughput() {
    let seek = Job { op: Op::Seek, ..job("seek", 1, Cache::AsIs) };
    for cell in [seek, job("null", 4096, Cache::AsIs)] {
        let result = result(&cell, vec![trial(0, 1, 4096).into()], None, None);
        assert!(result.throughput.is_none() && result.operations.is_some(), "{cell:?}");
    }
    assert!(read(vec![trial(0, 1, 0)]).throughput.is_none());
    assert!(read(vec![]).operations.is_none());
}

#[test]
fn unreached_cells_say_why() {
    let mut session = session(3);
    session.apply(&trial_event(2, 1, 1 << 20));
    session.apply(&Event::Failed { cell: 0, error: "EIO".into() });
    session.plan.skipped.push(Skipped { cell: job("mmap", 1, Cache::AsIs), reason: "no".into() });
    let errors: Vec<_> =
        results(&session).into_iter().map(|result| (result.cell.block, result.error)).collect();
    assert_eq!(errors, [(4096, Some("EIO".into())), (16384, None)]);
    for (end, reason) in [
        (None, "stopped"),
        (Some(End::Budget), "budget"),
        (Some(End::Failed), "failed"),
        (Some(End::Goal), "skipped"),
    ] {
        session.end = end;
        let skipped = list_skipped(&session);
        assert_eq!(
            (skipped.len(), skipped[0].reason.as_str(), skipped[1].cell.block),
            (2, "no", 8192)
        );
        assert!(skipped[1].reason.contains(reason), "{}", skipped[1].reason);
    }
}

#[test]
fn cells_skipped_by_users_say_so() {
    let mut session = session(3);
    session.apply(&trial_event(0, 1, 1 << 20));
    for cell in [0, 1] {
        session.apply(&Event::Skipped { cell });
    }
    session.end = Some(End::Finished);
    let told: Vec<_> = results(&session).iter().map(CellResult::describe_skip).collect();
    assert_eq!(told, [Some("skipped by the user after 1 trial".to_string())]);
    let reasons: Vec<_> = list_skipped(&session).into_iter().map(|one| one.reason).collect();
    assert_eq!(reasons, ["it was skipped by the user", "it was skipped during the run"]);
    let rows = serde_json::to_value(crate::analysis::document(&session)).unwrap();
    assert_eq!(rows["results"][0]["skipped"], true);
}

#[test]
fn the_document_has_every_key() {
    let mut session = session(1);
    session.apply(&trial_event(0, 1, 1 << 20));
    let value = serde_json::to_value(crate::analysis::document(&session)).unwrap();
    assert_eq!(
        keys(&value),
        [
            "answer",
            "ceilings",
            "costs",
            "far",
            "host",
            "levels",
            "lost_lines",
            "plan",
            "programs",
            "results",
            "schema",
            "session",
            "skipped",
            "time"
        ]
    );
    assert_result(&value["results"][0]);
    session.id.clear();
    assert!(
        serde_json::to_value(crate::analysis::document(&session)).unwrap()["session"].is_null()
    );
}

fn keys(value: &serde_json::Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// Asserts that a result of one trial has every key, also keys with an unknown value.
fn assert_result(row: &serde_json::Value) {
    let expected = "amplification cell cycles error estimate evidence latency level_change limit operations outliers reference skipped source source_reason syscalls throughput trials \
                    value warnings written";
    assert_eq!(keys(row).join(" "), expected);
    for key in [
        "amplification",
        "cycles",
        "error",
        "estimate",
        "evidence",
        "latency",
        "level_change",
        "reference",
        "source",
        "source_reason",
        "value",
    ] {
        assert!(row[key].is_null(), "{key}");
    }
    assert_eq!(
        keys(&row["throughput"]),
        ["high", "low", "max", "mean", "median", "min", "stddev", "unit"]
    );
    for key in
        "backend op pattern block count span threads depth cache direct xor sync mix cpu_cache"
            .split(' ')
    {
        assert!(row["cell"].get(key).is_some(), "{key}");
    }
    for key in
        "bytes ops syscalls nanos passes xor user_nanos system_nanos device_bytes hole_bytes resident_before resident_after minor_faults \
                major_faults voluntary_switches involuntary_switches short"
            .split_whitespace()
    {
        assert!(row["trials"][0].get(key).is_some(), "{key}");
    }
}

#[test]
fn verdicts_supply_latency_and_source() {
    let latency =
        Latency { count: 9, every: 1, mean: 5.0, max: 7.0, p50: Some(5.0), ..Latency::default() };
    let verdict = Verdict {
        latency: Some(latency),
        source_reason: "resident".into(),
        amplification: Some(1.5),
        ..Verdict::default()
    };
    let of = |verdict: &Verdict| result(&job("read", 1, Cache::Warm), vec![], Some(verdict), None);
    let result = of(&verdict);
    assert_eq!((result.latency.unwrap().mean, result.latency.unwrap().unit), (5.0, "ns"));
    assert_eq!((result.source_reason.as_str(), result.amplification), ("resident", Some(1.5)));
    let none = Verdict { latency: Some(Latency::default()), ..verdict };
    assert_eq!(of(&none).latency, None);
}
