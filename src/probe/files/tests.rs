//! The file probes in a short form: what they read, write and leave behind.

use super::*;
use crate::plan::{Group, ProbeCell};
use crate::probe::testing::cell;
use crate::probe::{Costs, Gauge, PROBES, Probe, probe};
use crate::record::Unit;
use crate::sys::disk::DiskStats;
use crate::sys::testing;

/// A folder on a disk, and a site that has it with little memory, so that files are small.
fn place() -> Option<(tempfile::TempDir, Site)> {
    let dir = tempfile::tempdir_in(testing::disk_dir()?).unwrap();
    let mut site = Site::here(Some(dir.path().into()), None);
    site.memory = 16 << 20;
    Some((dir, site))
}

fn opened(cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
    probe(&cell.probe).unwrap().open(cell, site)
}

fn measured() -> impl Iterator<Item = &'static &'static dyn Probe> {
    PROBES
        .iter()
        .filter(|probe| probe.info().group == Group::Files && probe.info().id != "remote-read")
}

#[test]
fn every_cell_that_there_is_room_for_is_measured_and_nothing_is_left() {
    let Some((dir, site)) = place() else { return };
    let costs = Costs::measure();
    for probe in measured() {
        let cells: Vec<ProbeCell> = probe
            .cells(&site)
            .into_iter()
            .filter(|cell| probe.check(cell, &site).is_ok())
            .collect();
        assert!(!cells.is_empty(), "{}", probe.info().id);
        for cell in cells {
            let done =
                opened(&cell, &site).and_then(|mut gauge| Ok((gauge.run(2)?, gauge.evidence())));
            match done {
                Ok((took, evidence)) => {
                    assert!(
                        took.value(probe.unit(&cell), &costs).is_some_and(|value| value >= 0.0),
                        "{}: {took:?}",
                        cell.label()
                    );
                    assert!(!evidence.is_empty(), "{}", cell.label());
                }
                Err(ProbeError::Missing(why)) => {
                    assert!(why.contains("cold"), "{}: {why}", cell.label())
                }
                Err(error) => panic!("{}: {error}", cell.label()),
            }
        }
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn without_a_folder_or_room_each_says_so() {
    let Some((_dir, site)) = place() else { return };
    let mut nowhere = site.again();
    nowhere.dir = None;
    for probe in measured() {
        for cell in probe.cells(&site) {
            assert!(
                probe.check(&cell, &nowhere).unwrap_err().contains("--dir"),
                "{}",
                cell.label()
            );
        }
    }
    assert!(has_room(&site, 1 << 60).unwrap_err().contains("half of what is free"));
    let mut gone = site.again();
    gone.dir = Some("/no/such/folder".into());
    assert!(
        opened(&cell("metadata", &[("op", "stat".into())]), &gone)
            .is_err_and(|error| error.to_string().contains("No such file"))
    );
}

#[test]
fn a_stop_ends_all_of_them_and_leaves_nothing() {
    let Some((dir, site)) = place() else { return };
    let cells = [
        cell("file-read", &[("pattern", "seq".into()), ("bytes", (1u64 << 20).into())]),
        cell(
            "file-read",
            &[("pattern", "random".into()), ("bytes", (1u64 << 20).into()), ("cold", true.into())],
        ),
        cell("contention", &[("processes", 1.into())]),
        cell("metadata", &[("op", "create".into())]),
        cell("fsync", &[("call", "fsync".into()), ("bytes", 4096.into())]),
        cell("file-cache", &[]),
        cell("file-cache", &[("bytes", (4u64 << 20).into())]),
    ];
    for cell in cells {
        let own = site.again();
        let mut gauge = opened(&cell, &own).unwrap();
        own.end();
        match gauge.run(1 << 30) {
            Err(ProbeError::Stopped) => {}
            Err(ProbeError::Missing(why)) if why.contains("cold") => {}
            other => panic!("{}: {other:?}", cell.label()),
        }
        assert!(matches!(
            opened(&cell, &own).map(|mut gauge| gauge.run(1)),
            Err(ProbeError::Stopped) | Ok(Err(ProbeError::Stopped))
        ));
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_small_file_stays_cached_whole() {
    let Some((_dir, site)) = place() else { return };
    let mut gauge = opened(&cell("file-cache", &[]), &site).unwrap();
    match gauge.run(1) {
        Ok(took) => assert!(took.amount > 0.9 * site.memory as f64, "{took:?}"),
        Err(ProbeError::Missing(why)) => return assert!(why.contains("cold"), "{why}"),
        Err(error) => panic!("{error}"),
    }
    // 16 MiB are less than a control group needs, so it is a lower bound.
    assert!(
        gauge.evidence()[0].contains("at least")
            && gauge.evidence().iter().any(|line| line.contains("read again, 0 B"))
    );
    // Not only for who reads the evidence.
    assert_eq!(
        gauge.warnings().iter().map(|warning| warning.id.as_ref()).collect::<Vec<_>>(),
        ["at-least"]
    );
}

#[test]
fn what_is_cached_is_read_again_from_memory() {
    let Some((_dir, site)) = place() else { return };
    let mut gauge = opened(&cell("file-cache", &[("bytes", (4u64 << 20).into())]), &site).unwrap();
    match gauge.run(1) {
        Ok(took) => assert!(took.amount == 1024.0 && took.nanos > 0, "{took:?}"),
        Err(ProbeError::Missing(why)) => return assert!(why.contains("cold"), "{why}"),
        Err(error) => panic!("{error}"),
    }
    let evidence = gauge.evidence();
    assert!(
        evidence[0].contains("bounded by no control group")
            && evidence.iter().any(|line| line.contains("read again, 0 B")),
        "{evidence:?}"
    );
    assert!(gauge.warnings().is_empty(), "it is no bound of anything: {:?}", gauge.warnings());
    for bytes in [0u64, 4097, 1 << 31] {
        assert!(opened(&cell("file-cache", &[("bytes", bytes.into())]), &site).is_err(), "{bytes}");
    }
}

#[test]
fn metadata_is_of_as_many_files_as_it_says() {
    let Some((dir, site)) = place() else { return };
    for op in ["create", "stat", "rename", "delete"] {
        let mut gauge = opened(&cell("metadata", &[("op", op.into())]), &site).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        for count in [1, 7, gauge.most(), 3] {
            assert_eq!(gauge.run(count).unwrap().amount, count as f64);
        }
        let own = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        assert_eq!(std::fs::read_dir(own).unwrap().count(), 0);
        assert!(
            gauge
                .evidence()
                .iter()
                .any(|line| line.contains(&format!("{} files", 11 + gauge.most())))
        );
    }
}

#[test]
fn what_is_waited_for_is_written() {
    let Some((dir, site)) = place() else { return };
    let device = disk::device_of(&File::open(dir.path()).unwrap());
    for call in ["fsync", "fdatasync"] {
        Affinity::only(site.cpu().unwrap()).apply().unwrap();
        let mut gauge =
            opened(&cell("fsync", &[("call", call.into()), ("bytes", (1u64 << 20).into())]), &site)
                .unwrap();
        let written = || {
            device
                .and_then(|(major, minor)| DiskStats::read(major, minor).ok())
                .map(|stats| stats.write_bytes)
        };
        let before = written();
        assert_eq!(gauge.run(5).unwrap().amount, 5.0);
        assert_eq!(
            Affinity::current().unwrap().cpus(),
            site.cpus,
            "it waits for kernel threads, so it may leave its CPU"
        );
        if let Some((before, after)) = before.zip(written()) {
            assert!(after - before >= 5 << 20, "{call}: {}", after - before);
        }
    }
}

#[test]
fn the_unit_and_the_estimate_fit_what_is_measured() {
    let Some((_dir, site)) = place() else { return };
    for probe in measured() {
        for cell in probe.cells(&site) {
            let estimate = probe.estimate(&cell, &site).unwrap();
            assert!(
                estimate.low <= estimate.high && !estimate.reason.is_empty(),
                "{}: {estimate:?}",
                cell.label()
            );
            assert_eq!(
                probe.unit(&cell) == Unit::Bytes,
                probe.info().id == "file-cache" && cell.params.is_empty()
            );
        }
    }
}

#[test]
fn a_virtual_disk_is_not_believed_that_it_turns() {
    assert_eq!(
        (sort(&[], true), sort(&[false, false], true), sort(&[true], false)),
        (UNKNOWN, SOLID, TURNING)
    );
    assert_eq!((sort(&[true], true), sort(&[false, true], false)), (VIRTUAL, TURNING));
    for device in [UNKNOWN, SOLID, TURNING, VIRTUAL] {
        assert!(
            [device.request, device.byte, device.flush]
                .iter()
                .all(|(low, high)| 0.0 < *low && low < high),
            "{}",
            device.why
        );
    }
}
