//! Short runs of every probe: its description, that each of its cells can be measured, and that
//! operations that must be slower are.

use std::collections::HashSet;

use super::testing::{cell, context, least, open};
use super::*;
use crate::catalog;
use crate::plan::ProbeCell;
use crate::sys::threads::Affinity;
use crate::sys::usage::Usage;

#[test]
fn probes_are_described_with_unique_ids() {
    let mut seen = HashSet::new();
    let infos: Vec<_> = PROBES.iter().map(|probe| probe.info()).collect();
    assert_eq!(infos, catalog::PROBES);
    for info in infos {
        assert!(seen.insert(info.id), "{}", info.id);
        assert!(
            !info.title.is_empty() && info.doc.len() > 100 && info.about.len() < 120,
            "{}",
            info.id
        );
        assert!(!info.doc.contains("  "), "{}", info.id);
    }
    let groups: Vec<_> = catalog::PROBES.iter().map(|info| info.group).collect();
    assert!(groups.is_sorted(), "group by group: {groups:?}");
    assert!(probe("cal").err().unwrap().to_string().contains("did you mean call"));
}

#[test]
fn cells_are_unique_with_reasoned_estimates() {
    let mut context = context();
    context.host.cpu.cycle_nanos = Some(0.4);
    for probe in PROBES {
        let cells = probe.cells(&context);
        assert_eq!(cells.iter().collect::<HashSet<_>>().len(), cells.len());
        for cell in cells {
            assert_eq!(cell.probe, probe.info().id);
            if let Some(estimate) = probe.estimate(&cell, &context) {
                let sound = estimate.low > 0.0
                    && estimate.low <= estimate.high
                    && estimate.high.is_finite();
                assert!(sound && !estimate.reason.is_empty(), "{}: {estimate:?}", cell.label());
            }
        }
    }
}

/// Sessions are compared by their cells: neither the parameters nor the order may change.
#[test]
fn cells_keep_their_parameters_and_order() {
    let mut context = ProbeContext::default();
    context.cpus = vec![0, 1, 2, 3];
    let sets: Vec<_> = "contention.processes=1,3 file-cache.bytes=1m,2g file-read.bytes=1,5000 \
                        fsync.bytes=0,5 latency.bytes=512,4k latency.stride=0,8,1k mprotect.pages=3 \
                        net-bandwidth.bytes=1,1m pipe.bytes=64k,5 remote-read.bytes=7 \
                        rtt.bytes=1,16,64k tlb.pages=2,9"
        .split_whitespace()
        .map(|set| set.parse().unwrap())
        .collect();
    let mut lines = String::new();
    for context in [context.clone(), context.with_sets(Some(&sets))] {
        for cell in PROBES.iter().flat_map(|probe| probe.cells(&context)) {
            lines += &serde_json::to_string(&cell).unwrap();
            lines += "\n";
        }
        lines += "\n";
    }
    assert_eq!(lines, include_str!("tests/cells.jsonl"));
}

#[test]
fn requested_values_appear_in_cells() {
    let mut here = context();
    here.host.cpu.cycle_nanos = Some(0.4);
    for probe in PROBES {
        let info = probe.info();
        for param in info.params {
            assert!(
                !param.about.is_empty() && !param.usual.is_empty(),
                "{} {}",
                info.id,
                param.name
            );
            let mut values = vec![param.least, param.most / param.step * param.step];
            values.dedup();
            let mut settings = crate::plan::Settings::default();
            settings
                .set("set", &format!("{}.{}={},{}", info.id, param.name, values[0], values[1]))
                .unwrap();
            assert_eq!(
                crate::plan::check_sets(settings.sets.as_deref().unwrap(), &[info]),
                Ok(()),
                "{} {}",
                info.id,
                param.name
            );
            let cells = probe.cells(&here.clone().with_sets(settings.sets.as_deref()));
            assert_eq!(cells.iter().collect::<HashSet<_>>().len(), cells.len());
            let has =
                |cell: &ProbeCell, value: u64| cell.params.get(param.name) == Some(&value.into());
            assert!(
                cells.iter().any(|cell| has(cell, values[1])),
                "{} {}: {cells:?}",
                info.id,
                param.name
            );
            for cell in &cells {
                let chosen = !cell.params.contains_key(param.name)
                    || values.iter().any(|value| has(cell, *value));
                // Only a known cell has an estimate.
                let far = cell.is_far();
                assert!(
                    chosen && (far || probe.estimate(cell, &here).is_some()),
                    "{} {}: {}",
                    info.id,
                    param.name,
                    cell.label()
                );
            }
        }
    }
}

#[test]
fn unknown_cells_are_refused_with_reason() {
    for probe in PROBES {
        let strange = cell(probe.info().id, &[("color", "blue".into())]);
        let refused = probe.open(&strange, &context()).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|why| why.contains("blue")), "{}", probe.info().id);
        assert_eq!(
            probe.estimate(&strange, &context()).filter(|_| probe.info().id != "loop"),
            None
        );
    }
}

#[test]
fn what_must_cost_more_does() {
    let turn = least(&cell("loop", &[]), 200_000);
    let call = least(&cell("call", &[("arguments", 0.into())]), 100_000);
    fn syscall(path: &str) -> f64 {
        least(&cell("syscall", &[("call", "getpid".into()), ("path", path.into())]), 5_000)
    }
    let open =
        least(&cell("syscall", &[("call", "open-close".into()), ("path", "inline".into())]), 500);
    let coarse = least(&cell("clock", &[("source", "coarse".into())]), 5_000);
    assert!(turn > 0.0 && turn < 100.0, "{turn}");
    assert!(call < syscall("inline") && call < syscall("libc"), "{call}");
    assert!(syscall("inline") < open && coarse < open, "{open}");
}

#[test]
fn clocks_step_by_their_resolution() {
    fn step(source: &str) -> f64 {
        least(&cell("clock", &[("source", source.into()), ("part", "resolution".into())]), 3)
    }
    let coarse = step("coarse");
    assert!((500_000.0..=20_000_000.0).contains(&coarse), "{coarse}");
    assert!(step("monotonic") < coarse / 10.0);
}

#[test]
fn processes_cost_more_than_threads() {
    let syscall =
        least(&cell("syscall", &[("call", "getpid".into()), ("path", "inline".into())]), 5_000);
    let thread = least(&cell("thread", &[]), 20);
    let fork = least(&cell("fork", &[("way", "fork".into())]), 5);
    assert!(syscall < thread && thread < fork, "{syscall} {thread} {fork}");
    assert!(least(&cell("fork", &[("way", "vfork".into())]), 5) > syscall);
}

#[test]
fn round_trips_switch_once_per_side() {
    let context = context();
    for probe_id in ["switch-process", "switch-thread"] {
        for by in ["pipe", "futex"] {
            let cell = cell(probe_id, &[("by", by.into()), ("cpus", "same".into())]);
            let counted = std::thread::scope(|scope| {
                let measured = scope.spawn(|| {
                    Affinity::only(context.cpu().unwrap()).apply().unwrap();
                    let mut gauge = open(&cell);
                    let before = Usage::thread().unwrap();
                    let batch = gauge.run(500).unwrap();
                    assert!(batch.amount == 1000.0 && batch.nanos > 0);
                    let used = Usage::thread().unwrap() - before;
                    // The woken side may run first: the side that woke it was then preempted and
                    // did not sleep.
                    used.voluntary_switches + used.involuntary_switches
                });
                measured.join().unwrap()
            });
            // Other tasks on the CPU add some.
            assert!((450..=1000).contains(&counted), "{probe_id} by {by}: {counted}");
        }
    }
}

#[test]
fn no_child_or_descriptor_remains() {
    // Runs in its own process, because other tests open and close files.
    const NAME: &str = "probe::tests::no_child_or_descriptor_remains";
    if !crate::sys::testing::is_alone(NAME, "probes") {
        return;
    }
    fn open_files() -> usize {
        std::fs::read_dir("/proc/self/fd").unwrap().count()
    }
    fn mine() -> usize {
        let children = format!("/proc/self/task/{}/children", nix::unistd::gettid());
        std::fs::read_to_string(children).map(|text| text.split_whitespace().count()).unwrap_or(0)
    }
    let before = open_files();
    for (probe_id, params) in [
        ("switch-process", [("by", "pipe".into()), ("cpus", "same".into())]),
        ("switch-process", [("by", "futex".into()), ("cpus", "same".into())]),
        ("pipe", [("kind", "unix".into()), ("cpus", "same".into())]),
        ("pipe", [("kind", "pipe".into()), ("cpus", "same".into())]),
    ] {
        let mut gauge = open(&cell(probe_id, &params));
        assert_eq!(mine(), 1);
        gauge.run(3).unwrap();
    }
    assert_eq!(mine(), 0);
    assert_eq!(open_files(), before);
}

#[test]
fn the_previous_signal_handler_is_restored() {
    fn found() -> String {
        let masks = std::fs::read_to_string("/proc/self/status").unwrap();
        masks.lines().find(|line| line.starts_with("SigCgt")).unwrap().to_string()
    }
    let before = found();
    for part in ["install", "deliver", "send"] {
        let mut gauge = open(&cell("signal", &[("part", part.into())]));
        gauge.run(10).unwrap();
        assert_ne!(found(), before);
        drop(gauge);
        assert_eq!(found(), before);
    }
}

#[test]
fn a_pipe_carries_the_stated_bytes() {
    for kind in ["pipe", "unix"] {
        let mut gauge = open(&cell("pipe", &[("kind", kind.into()), ("cpus", "same".into())]));
        let batch = gauge.run(16).unwrap();
        assert_eq!(batch.amount, f64::from(16 << 16));
    }
}

#[test]
fn a_stop_ends_a_running_batch() {
    let context = context();
    context.request_stop();
    for probe_id in ["fork", "switch-thread", "pipe", "thread"] {
        let probe = probe(probe_id).unwrap();
        let cell = probe.cells(&context).remove(0);
        let ended = probe.open(&cell, &context).unwrap().run(1 << 40);
        assert!(matches!(ended, Err(ProbeError::Stopped)), "{probe_id}");
    }
}

#[test]
fn caches_are_faster_than_memory() {
    fn load(bytes: u64) -> f64 {
        least(&cell("latency", &[("bytes", bytes.into())]), 200_000)
    }
    let (first, second, memory) = (load(8 << 10), load(256 << 10), load(128 << 20));
    assert!(first < second && second < memory, "{first} {second} {memory}");
    let (few, many) = (
        least(&cell("tlb", &[("pages", 8.into())]), 50_000),
        least(&cell("tlb", &[("pages", 32768.into())]), 50_000),
    );
    assert!(few < many, "{few} {many}");
}

#[test]
fn an_invalid_stride_is_refused() {
    for (bytes, stride) in [(4096, 0), (4096, 12), (4096, 8192), (0, 64), (7, 8)] {
        let strange = cell("latency", &[("bytes", bytes.into()), ("stride", stride.into())]);
        assert!(probe("latency").unwrap().open(&strange, &context()).is_err(), "{bytes} {stride}");
    }
    let huge = cell("latency", &[("bytes", (1u64 << 40).into())]);
    assert!(
        probe("latency")
            .unwrap()
            .check(&huge, &context())
            .unwrap_err()
            .contains("a quarter of what is free")
    );
}

#[test]
fn kernel_counts_every_page_fault() {
    let dir = tempfile::tempdir_in(".").unwrap();
    let context = ProbeContext::collect(Some(dir.path().into()), None);
    let probe = probe("page-fault").unwrap();
    for cell in probe.cells(&context) {
        let mut gauge = probe.open(&cell, &context).unwrap();
        match gauge.run(16) {
            Ok(batch) => {
                assert!(batch.amount >= 8.0 && batch.nanos > 0, "{}: {batch:?}", cell.label())
            }
            // The machine has no huge pages, or the folder is in memory.
            Err(ProbeError::Missing(why)) => assert!(
                why.contains("huge pages") || why.contains("page cache"),
                "{}: {why}",
                cell.label()
            ),
            Err(error) => panic!("{}: {error}", cell.label()),
        }
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn memory_probes_run() {
    let mut context = context();
    context.host.caches.clear();
    for id in ["bandwidth", "mprotect"] {
        let probe = probe(id).unwrap();
        for cell in probe.cells(&context) {
            assert!(
                probe.open(&cell, &context).unwrap().run(2).unwrap().amount >= 2.0,
                "{}",
                cell.label()
            );
        }
    }
}
