use std::collections::HashSet;

use super::*;
use crate::plan::{Cache, Choice, FilePer, Layout, Op, Pattern, Writes};
use crate::report::testing;

fn show(session: &Session) -> Value {
    let mut out = Vec::new();
    write(session, &Look::default(), &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn list(document: &Value) -> &Vec<Value> {
    document["benchmarks"].as_array().unwrap()
}

#[test]
fn entries_have_all_required_keys() {
    for (name, session) in testing::all() {
        let document = show(&session);
        for key in ["date", "host_name", "executable", "library_build_type"] {
            assert!(document["context"][key].is_string(), "{name} {key}");
        }
        for entry in list(&document) {
            assert!(
                entry["name"].as_str().unwrap().starts_with(entry["run_name"].as_str().unwrap()),
                "{entry}"
            );
            assert_eq!(entry["time_unit"], "ns");
            assert!(
                entry["real_time"].is_f64()
                    && entry["cpu_time"].is_f64()
                    && entry["iterations"].is_u64(),
                "{entry}"
            );
            assert!(
                entry["threads"].is_u64()
                    && entry["repetitions"].is_u64()
                    && entry["items_per_second"].is_f64(),
                "{entry}"
            );
            // An entry of 0 ns would be the fastest ever.
            assert!(
                entry["real_time"].as_f64().unwrap() > 0.0
                    && entry["iterations"].as_u64().unwrap() > 0,
                "{entry}"
            );
            match entry["run_type"].as_str().unwrap() {
                "iteration" => assert!(
                    entry["repetition_index"].is_u64() && entry.get("aggregate_name").is_none()
                ),
                "aggregate" => assert!(
                    ["mean", "median", "stddev"]
                        .contains(&entry["aggregate_name"].as_str().unwrap())
                ),
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn names_are_those_of_one_cell() {
    for (name, session) in testing::all() {
        let names = BenchmarkNames::for_cells(&session.plan.cells);
        let all: HashSet<String> = session.plan.cells.iter().map(|cell| names.name(cell)).collect();
        assert_eq!(all.len(), session.plan.cells.len(), "{name}");
    }
    let axes = testing::axes();
    assert_eq!(
        BenchmarkNames::for_cells(&axes.plan.cells).name(&axes.plan.cells[0]),
        "uring+sqpoll+fixed/read/random/block:4096/depth:32/direct/span:536870912/threads:16"
    );
}

/// compare.py takes results of one name for repetitions of one benchmark.
#[test]
fn different_cells_have_different_names() {
    let plain = Job {
        op: Op::Write,
        threads: 2,
        count: Some(1),
        ..Job::plain(Choice::plain("pread"), Op::Write)
    };
    let changes: [fn(&mut Job); 17] = [
        |job| job.backend = Choice::plain("uring"),
        |job| job.block *= 2,
        |job| job.cache = Cache::Warm,
        |job| job.op = Op::Read,
        |job| job.mix = Some(30),
        |job| job.pattern = Pattern::Random,
        |job| job.threads = 3,
        |job| job.depth = 2,
        |job| job.direct = true,
        |job| job.sync = Sync::End,
        |job| job.sync_every = 4,
        |job| job.file_per = FilePer::Thread,
        |job| job.xor = true,
        |job| job.cpu_cache = CpuCache::Flush,
        |job| job.writes = Writes::Append,
        |job| job.ranks = Some(4),
        |job| job.layout = Layout::Strided,
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut other = plain.clone();
        change(&mut other);
        let names = BenchmarkNames::for_cells(&[plain.clone(), other.clone()]);
        assert_ne!(names.name(&plain), names.name(&other), "change {at}");
    }
}

#[test]
fn the_median_is_per_operation() {
    let document = show(&testing::quick());
    let median = list(&document)
        .iter()
        .find(|e| e["name"] == "read/read/seq/block:4096/cold_median")
        .unwrap();
    let time = median["real_time"].as_f64().unwrap();
    assert!((time - 4517.0).abs() < 60.0, "{time}");
    assert!(
        (median["bytes_per_second"].as_f64().unwrap() * time / 1e9 - 4096.0).abs() < 1.0,
        "{median}"
    );
}

#[test]
fn failed_cells_have_no_entry() {
    let document = show(&testing::troubled());
    let listed = |key: &str| {
        document["context"][key]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t.as_str().unwrap())
            .collect::<Vec<_>>()
    };
    let (failed, skipped) = (listed("failed"), listed("skipped"));
    assert!(
        failed.len() == 1
            && failed[0].starts_with("uring/read/seq/block:2097152/cold: io_uring: ENOMEM"),
        "{failed:?}"
    );
    assert!(
        skipped.len() == 3 && skipped[0].starts_with("aio/read/seq/block:4096/cold: aio: not"),
        "{skipped:?}"
    );
    let begins = |start: &str| {
        list(&document).iter().any(|e| e["name"].as_str().unwrap().starts_with(start))
    };
    assert!(
        !begins("aio")
            && !begins("uring/read/seq/block:2097152/cold")
            && begins("uring/read/seq/block:4096/cold")
    );
    let wrong =
        list(&document).iter().find(|e| e["name"] == "read/read/seq/block:4096/cold").unwrap();
    assert_eq!(wrong["label"], "wrong: holes");
    assert!(list(&show(&testing::single())).iter().all(|e| e["run_type"] == "iteration"));
}
