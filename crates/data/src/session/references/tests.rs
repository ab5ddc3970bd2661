use std::collections::HashSet;

use super::*;
use crate::analysis::{CellResult, probes, results};
use crate::plan::{Cache, Job, Op};
use crate::session::Session;

fn of(id: &str) -> Session {
    reference(id).unwrap().session().clone()
}

fn cell(results: &[CellResult], holds: impl Fn(&Job) -> bool) -> &CellResult {
    let found: Vec<&CellResult> = results.iter().filter(|result| holds(&result.cell)).collect();
    assert_eq!(found.len(), 1, "{:?}", found.iter().map(|result| &result.cell).collect::<Vec<_>>());
    found[0]
}

fn rate(result: &CellResult) -> f64 {
    result.throughput.unwrap().summary.median
}

#[test]
fn every_file_is_a_described_reference() {
    for (id, text) in FILES {
        let reference = build::reference(id, text).unwrap_or_else(|why| panic!("{id}: {why}"));
        let session = reference.session();
        assert!(
            session.plan.cells.len() + session.plan.probes.len() > 0 && !reference.about.is_empty(),
            "{id}"
        );
        assert!(
            reference.source.starts_with("course CS") && reference.machine.starts_with("the "),
            "{id}"
        );
        let reached = results(session).len() + probes(session).len();
        assert_eq!(reached, session.plan.cells.len() + session.plan.probes.len(), "{id}");
        let cells: HashSet<&Job> = session.plan.cells.iter().collect();
        assert_eq!(cells.len(), session.plan.cells.len(), "{id}: two cells are equal");
        let probes: HashSet<_> = session.plan.probes.iter().collect();
        assert_eq!(probes.len(), session.plan.probes.len(), "{id}: two probes are equal");
        assert!(
            session.created.is_empty() || crate::text::parse_utc(&session.created).is_some(),
            "{id}"
        );
        assert!(
            session
                .trials
                .iter()
                .all(|trial| trial.device_bytes.is_none() && trial.nanos > 0 && trial.ops > 0),
            "{id}"
        );
        assert!(
            session.probe_trials.iter().all(|trial| trial.is_sound() && trial.value > 0.0),
            "{id}"
        );
        let unknown =
            session.verdicts.iter().flatten().all(|v| {
                v.source.is_none_or(|source| source.unknown == 1.0) && v.latency.is_none()
            });
        assert!(unknown, "{id}");
    }
    assert_eq!(references().len(), FILES.len());
}

#[test]
fn figures_are_those_of_the_reports() {
    let mib = 1_048_576.0;
    let macbook = results(&of("macbook-2017"));
    let cold = |block| {
        cell(&macbook, move |job| {
            job.block == block && job.cache == Cache::Cold && job.count.is_none()
        })
    };
    assert_eq!((rate(cold(512)) / mib, cold(512).trials.len()), (327.0, 4));
    assert_eq!(rate(cold(262_144)) / mib, 618.5);
    let calls = cell(&macbook, |job| job.op == Op::Seek && job.count == Some(134_217_728));
    assert!((calls.operations.unwrap().summary.median - 2_796_035.5).abs() < 1.0);
    assert_eq!((calls.throughput, calls.cell.backend.id.as_str()), (None, "seek"));
    let m1 = results(&of("m1-container"));
    let fast = cell(&m1, |job| job.threads == 20 && job.cache == Cache::Warm);
    assert!((rate(fast) / mib - 6942.001552).abs() < 0.02, "{}", rate(fast) / mib);
    let cloud = results(&of("m5d-metal"));
    assert!((rate(cell(&cloud, |job| job.cache == Cache::Cold)) / mib - 3025.406293).abs() < 0.01);
    let ryzen = of("ryzen-5900hs");
    let table: Vec<&Job> = ryzen.plan.cells.iter().filter(|job| job.count.is_some()).collect();
    assert!(
        table.len() == 28 && table.iter().all(|job| job.count.unwrap() * job.block == job.span)
    );
    let seek = results(&ryzen);
    let seek = cell(&seek, |job| job.op == Op::Seek && job.block == 1);
    assert!((seek.operations.unwrap().summary.median - 15_015_713.94).abs() < 1.0);
}

#[test]
fn slips_and_other_experiments_are_marked() {
    let ryzen = results(&of("ryzen-5900hs"));
    let slip = cell(&ryzen, |job| job.block == 16384);
    assert_eq!(slip.wrong().map(|of| of.id.as_ref()), Some("slip"));
    assert_eq!(ryzen.iter().filter(|of| of.wrong().is_some()).count(), 1);
    let best = crate::analysis::answer(&ryzen).best.unwrap();
    assert_eq!(best.cell.block, 131_072, "{best:?}");
    let listed = crate::session::reference("ryzen-5900hs").unwrap().to_listed().best;
    assert_eq!(listed, Some(best.throughput.unwrap().summary.median), "the slip is not the best");
    // dd is a peer here as in a run, and a write is called as one.
    let m1 = results(&of("m1-container"));
    let dd = cell(&m1, |job| job.backend.peer);
    assert!((rate(dd) / 1e9 - 4.294967296 / 3.4376).abs() < 1e-6 && dd.cell.cache == Cache::Warm);
    let one = cell(&m1, |job| job.count == Some(1_048_576) && !job.backend.peer);
    assert_eq!(one.trials.len(), 1, "two programs are not two trials");
    let written = results(&of("macbook-2017"));
    let written = cell(&written, |job| job.op == Op::Write);
    assert_eq!(written.cell.label(), "write 512 B append");
    let timed = results(&of("macbook-2017"));
    let timed = cell(&timed, |job| job.count == Some(32768) && job.cache == Cache::Cold);
    assert!((rate(timed) / 1_048_576.0 - 4096.0 / 7.217).abs() < 1.0, "{}", rate(timed));
    let cloud = results(&of("m5d-metal"));
    let warm = cell(&cloud, |job| job.cache == Cache::Warm);
    assert!((rate(warm) / 1_073_741_824.0 - 27.8).abs() < 0.05);
    let lab = probes(&of("xeon-os"));
    assert_eq!(lab.iter().filter(|of| of.other_experiment().is_some()).count(), 40);
}

#[test]
fn the_lab_has_cycles_and_estimates() {
    let lab = probes(&of("xeon-os"));
    let find = |name: &str| {
        lab.iter().find(|probe| probe.cell.label() == name).unwrap_or_else(|| panic!("{name}"))
    };
    let clock = find("clock, source counter-ordered");
    assert_eq!((clock.cycles, clock.trials.len()), (Some(64.708), 5));
    assert!((clock.value.unwrap().summary.mean - 64.5622 * 0.4).abs() < 1e-9);
    assert_eq!(clock.estimate.as_ref().map(|of| of.low), Some(12.0));
    assert!((find("fork, way fork").value.unwrap().summary.mean - 585_749.861 * 0.4).abs() < 1e-6);
    let remote = find("net-bandwidth, 1 MiB, to remote");
    // The report states around 98.68 MB/s.
    assert!((remote.value.unwrap().summary.median / 1e6 - 98.68).abs() < 0.1);
    assert_eq!(find("file-read, 890 B, pattern seq").cell.probe, "file-read");
}

#[test]
fn ids_and_their_starts_are_found() {
    assert_eq!(find_by_prefix("macbook-2017").map(|found| found.id), Some("macbook-2017"));
    assert_eq!(find_by_prefix("xeon").map(|found| found.id), Some("xeon-os"));
    assert!(
        find_by_prefix("xeo").is_none()
            && find_by_prefix("").is_none()
            && find_by_prefix("macbook-2018").is_none()
    );
}
