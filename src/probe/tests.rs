//! Every probe in a short form: what it says of itself, that each of its cells can be measured, and
//! that what must cost more does.

use std::collections::HashSet;

use super::testing::{cell, least, open, site};
use super::*;
use crate::sys::threads::Affinity;
use crate::sys::usage::Usage;

#[test]
fn every_probe_says_what_it_is_and_no_id_is_twice() {
    let mut seen = HashSet::new();
    for info in infos() {
        assert!(seen.insert(info.id), "{}", info.id);
        assert!(
            !info.title.is_empty() && info.doc.len() > 100 && info.about.len() < 120,
            "{}",
            info.id
        );
        assert!(!info.doc.contains("  "), "{}", info.id);
    }
    let groups: Vec<_> = infos().iter().map(|info| info.group).collect();
    assert!(groups.is_sorted(), "group by group: {groups:?}");
    assert!(probe("cal").err().unwrap().to_string().contains("did you mean call"));
}

#[test]
fn no_two_cells_are_equal_and_each_has_an_estimate_with_its_reason() {
    let mut site = site();
    site.host.cpu.cycle_nanos = Some(0.4);
    for probe in PROBES {
        let cells = probe.cells(&site);
        assert_eq!(cells.iter().collect::<HashSet<_>>().len(), cells.len());
        for cell in cells {
            assert_eq!(cell.probe, probe.info().id);
            if let Some(estimate) = probe.estimate(&cell, &site) {
                let sound = estimate.low > 0.0
                    && estimate.low <= estimate.high
                    && estimate.high.is_finite();
                assert!(sound && !estimate.reason.is_empty(), "{}: {estimate:?}", cell.label());
            }
        }
    }
}

#[test]
fn what_is_set_of_a_parameter_is_in_cells_that_the_probe_knows() {
    let mut here = site();
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
            let cells = probe.cells(&here.clone().choosing(settings.sets.as_deref()));
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
                // An estimate is made of a cell that is known.
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
fn a_cell_of_another_iotui_is_refused_in_words() {
    for probe in PROBES {
        let strange = cell(probe.info().id, &[("color", "blue".into())]);
        let refused = probe.open(&strange, &site()).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|why| why.contains("blue")), "{}", probe.info().id);
        assert_eq!(probe.estimate(&strange, &site()).filter(|_| probe.info().id != "loop"), None);
    }
}

#[test]
fn what_must_cost_more_does() {
    let turn = least(&cell("loop", &[]), 200_000);
    let call = least(&cell("call", &[("arguments", 0.into())]), 100_000);
    let syscall = |path: &str| {
        least(&cell("syscall", &[("call", "getpid".into()), ("path", path.into())]), 5_000)
    };
    let open =
        least(&cell("syscall", &[("call", "open-close".into()), ("path", "inline".into())]), 500);
    let coarse = least(&cell("clock", &[("source", "coarse".into())]), 5_000);
    assert!(turn > 0.0 && turn < 100.0, "{turn}");
    assert!(call < syscall("inline") && call < syscall("libc"), "{call}");
    assert!(syscall("inline") < open && coarse < open, "{open}");
}

#[test]
fn a_clock_shows_steps_of_its_resolution() {
    let step = |source: &str| {
        least(&cell("clock", &[("source", source.into()), ("part", "resolution".into())]), 3)
    };
    let coarse = step("coarse");
    assert!((500_000.0..=20_000_000.0).contains(&coarse), "{coarse}");
    assert!(step("monotonic") < coarse / 10.0);
}

#[test]
fn a_process_costs_more_than_a_thread_and_both_more_than_a_system_call() {
    let syscall =
        least(&cell("syscall", &[("call", "getpid".into()), ("path", "inline".into())]), 5_000);
    let thread = least(&cell("thread", &[]), 20);
    let fork = least(&cell("fork", &[("way", "fork".into())]), 5);
    assert!(syscall < thread && thread < fork, "{syscall} {thread} {fork}");
    assert!(least(&cell("fork", &[("way", "vfork".into())]), 5) > syscall);
}

#[test]
fn every_round_trip_on_one_cpu_switches_once_on_each_side() {
    let site = site();
    for probe_id in ["switch-process", "switch-thread"] {
        for by in ["pipe", "futex"] {
            let cell = cell(probe_id, &[("by", by.into()), ("cpus", "same".into())]);
            let counted = std::thread::scope(|scope| {
                let measured = scope.spawn(|| {
                    Affinity::only(site.cpu().unwrap()).apply().unwrap();
                    let mut gauge = open(&cell);
                    let before = Usage::thread().unwrap();
                    let took = gauge.run(500).unwrap();
                    assert!(took.amount == 1000.0 && took.nanos > 0);
                    let used = Usage::thread().unwrap() - before;
                    // The woken side may go first at once: then the one that woke it was taken off
                    // and did not sleep.
                    used.voluntary_switches + used.involuntary_switches
                });
                measured.join().unwrap()
            });
            // Others that use the CPU add some.
            assert!((450..=1000).contains(&counted), "{probe_id} by {by}: {counted}");
        }
    }
}

#[test]
fn no_child_and_no_descriptor_is_left() {
    let open_files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let mine = || {
        let children = format!("/proc/self/task/{}/children", nix::unistd::gettid());
        std::fs::read_to_string(children).map(|text| text.split_whitespace().count()).unwrap_or(0)
    };
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
    // Other tests open and close files meanwhile.
    assert!(open_files() < before + 12);
}

#[test]
fn the_handler_of_before_is_put_back() {
    let found = || {
        let masks = std::fs::read_to_string("/proc/self/status").unwrap();
        masks.lines().find(|line| line.starts_with("SigCgt")).unwrap().to_string()
    };
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
fn a_pipe_carries_what_it_says() {
    for kind in ["pipe", "unix"] {
        let mut gauge = open(&cell("pipe", &[("kind", kind.into()), ("cpus", "same".into())]));
        let took = gauge.run(16).unwrap();
        assert_eq!(took.amount, f64::from(16 << 16));
    }
}

#[test]
fn what_is_stopped_ends_within_its_batch() {
    let site = site();
    site.end();
    for probe_id in ["fork", "switch-thread", "pipe", "thread"] {
        let probe = probe(probe_id).unwrap();
        let cell = probe.cells(&site).remove(0);
        let ended = probe.open(&cell, &site).unwrap().run(1 << 40);
        assert!(matches!(ended, Err(ProbeError::Stopped)), "{probe_id}");
    }
}

#[test]
fn the_first_cache_is_faster_than_the_second_and_that_than_memory() {
    let load = |bytes: u64| least(&cell("latency", &[("bytes", bytes.into())]), 200_000);
    let (first, second, memory) = (load(8 << 10), load(256 << 10), load(128 << 20));
    assert!(first < second && second < memory, "{first} {second} {memory}");
    let (few, many) = (
        least(&cell("tlb", &[("pages", 8.into())]), 50_000),
        least(&cell("tlb", &[("pages", 32768.into())]), 50_000),
    );
    assert!(few < many, "{few} {many}");
}

#[test]
fn a_stride_that_is_none_is_refused() {
    for (bytes, stride) in [(4096, 0), (4096, 12), (4096, 8192), (0, 64), (7, 8)] {
        let strange = cell("latency", &[("bytes", bytes.into()), ("stride", stride.into())]);
        assert!(probe("latency").unwrap().open(&strange, &site()).is_err(), "{bytes} {stride}");
    }
    let huge = cell("latency", &[("bytes", (1u64 << 40).into())]);
    assert!(
        probe("latency")
            .unwrap()
            .check(&huge, &site())
            .unwrap_err()
            .contains("a quarter of what is free")
    );
}

#[test]
fn every_kind_of_page_fault_is_counted_by_the_kernel() {
    let dir = tempfile::tempdir_in(".").unwrap();
    let site = Site::here(Some(dir.path().into()), None);
    let probe = probe("page-fault").unwrap();
    for cell in probe.cells(&site) {
        let mut gauge = probe.open(&cell, &site).unwrap();
        match gauge.run(16) {
            Ok(took) => assert!(took.amount >= 8.0 && took.nanos > 0, "{}: {took:?}", cell.label()),
            // A machine without huge pages, or a folder in memory.
            Err(ProbeError::Missing(why)) => assert!(
                why.contains("huge pages") || why.contains("made cold"),
                "{}: {why}",
                cell.label()
            ),
            Err(error) => panic!("{}: {error}", cell.label()),
        }
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn memory_is_read_written_copied_and_protected() {
    let mut site = site();
    site.host.caches.clear();
    for id in ["bandwidth", "mprotect"] {
        let probe = probe(id).unwrap();
        for cell in probe.cells(&site) {
            assert!(
                probe.open(&cell, &site).unwrap().run(2).unwrap().amount >= 2.0,
                "{}",
                cell.label()
            );
        }
    }
}
