//! Short runs of the file probes, checking what they read, write and leave behind.

use super::*;
use crate::plan::{Group, ProbeCell};
use crate::probe::testing::cell;
use crate::probe::{Opened, Overhead, PROBES, Probe, probe};
use crate::record::Unit;
use crate::sys::disk::DiskStats;
use crate::sys::testing;

/// Returns a folder on a disk and a context that uses it, with little memory so that files are
/// small.
fn place() -> Option<(tempfile::TempDir, ProbeContext)> {
    let dir = tempfile::tempdir_in(testing::disk_dir()?).unwrap();
    let mut context = ProbeContext::collect(Some(dir.path().into()), None);
    context.memory = 16 << 20;
    Some((dir, context))
}

fn opened(cell: &ProbeCell, context: &ProbeContext) -> Opened {
    probe(&cell.probe).unwrap().open(cell, context)
}

fn measured() -> impl Iterator<Item = &'static Probe> {
    PROBES
        .iter()
        .filter(|probe| probe.info().group == Group::Files && probe.info().id != "remote-read")
}

#[test]
fn fitting_cells_leave_no_files() {
    let Some((dir, context)) = place() else { return };
    let costs = Overhead::measure();
    for probe in measured() {
        let cells: Vec<ProbeCell> = probe
            .cells(&context)
            .into_iter()
            .filter(|cell| probe.check(cell, &context).is_ok())
            .collect();
        assert!(!cells.is_empty(), "{}", probe.info().id);
        for cell in cells {
            let done =
                opened(&cell, &context).and_then(|mut gauge| Ok((gauge.run(2)?, gauge.evidence())));
            match done {
                Ok((batch, evidence)) => {
                    assert!(
                        batch.value(probe.unit(&cell), &costs).is_some_and(|value| value >= 0.0),
                        "{}: {batch:?}",
                        cell.label()
                    );
                    assert!(!evidence.is_empty(), "{}", cell.label());
                }
                Err(ProbeError::Missing(why)) => {
                    assert!(why.contains("cache"), "{}: {why}", cell.label())
                }
                Err(error) => panic!("{}: {error}", cell.label()),
            }
        }
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn missing_folder_or_space_is_reported() {
    let Some((_dir, context)) = place() else { return };
    let mut nowhere = context.with_own_stop();
    nowhere.dir = None;
    for probe in measured() {
        for cell in probe.cells(&context) {
            assert!(
                probe.check(&cell, &nowhere).unwrap_err().contains("--dir"),
                "{}",
                cell.label()
            );
        }
    }
    assert!(check_disk_space(&context, 1 << 60).unwrap_err().contains("more than half"));
    let mut gone = context.with_own_stop();
    gone.dir = Some("/no/such/folder".into());
    assert!(
        opened(&cell("metadata", &[("op", "stat".into())]), &gone)
            .is_err_and(|error| error.to_string().contains("No such file"))
    );
}

#[test]
fn stop_leaves_no_files() {
    let Some((dir, context)) = place() else { return };
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
        let own = context.with_own_stop();
        let mut gauge = opened(&cell, &own).unwrap();
        own.request_stop();
        match gauge.run(1 << 30) {
            Err(ProbeError::Stopped) => {}
            Err(ProbeError::Missing(why)) if why.contains("cache") => {}
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
    let Some((_dir, context)) = place() else { return };
    let mut gauge = opened(&cell("file-cache", &[]), &context).unwrap();
    match gauge.run(1) {
        Ok(batch) => assert!(batch.amount > 0.9 * context.memory as f64, "{batch:?}"),
        Err(ProbeError::Missing(why)) => return assert!(why.contains("cache"), "{why}"),
        Err(error) => panic!("{error}"),
    }
    // 16 MiB is less than a control group needs, so the value is a lower bound.
    assert!(
        gauge.evidence()[0].contains("lower bound")
            && gauge.evidence().iter().any(|line| line.contains("second read: 0 B"))
    );
    // Reported as a warning too, not only as evidence.
    assert_eq!(
        gauge.warnings().iter().map(|warning| warning.id.as_ref()).collect::<Vec<_>>(),
        ["at-least"]
    );
}

#[test]
fn cached_data_is_reread_from_memory() {
    let Some((_dir, context)) = place() else { return };
    let mut gauge =
        opened(&cell("file-cache", &[("bytes", (4u64 << 20).into())]), &context).unwrap();
    match gauge.run(1) {
        Ok(batch) => assert!(batch.amount == 1024.0 && batch.nanos > 0, "{batch:?}"),
        Err(ProbeError::Missing(why)) => return assert!(why.contains("cache"), "{why}"),
        Err(error) => panic!("{error}"),
    }
    let evidence = gauge.evidence();
    assert!(
        evidence[0].contains("not limited by a control group")
            && evidence.iter().any(|line| line.contains("second read: 0 B")),
        "{evidence:?}"
    );
    assert!(gauge.warnings().is_empty(), "an exact value: {:?}", gauge.warnings());
    for bytes in [0u64, 4097, 1 << 31] {
        assert!(
            opened(&cell("file-cache", &[("bytes", bytes.into())]), &context).is_err(),
            "{bytes}"
        );
    }
}

#[test]
fn metadata_uses_the_stated_files() {
    let Some((dir, context)) = place() else { return };
    for op in ["create", "stat", "rename", "delete"] {
        let mut gauge = opened(&cell("metadata", &[("op", op.into())]), &context).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        for count in [1, 7, gauge.max_batch(), 3] {
            assert_eq!(gauge.run(count).unwrap().amount, count as f64);
        }
        let own = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        assert_eq!(std::fs::read_dir(own).unwrap().count(), 0);
        assert!(
            gauge
                .evidence()
                .iter()
                .any(|line| line.contains(&format!("{} files", 11 + gauge.max_batch())))
        );
    }
}

#[test]
fn synced_data_reaches_the_device() {
    let Some((dir, context)) = place() else { return };
    let device = Below::of(&File::open(dir.path()).unwrap()).first_device();
    for call in ["fsync", "fdatasync"] {
        Affinity::only(context.cpu().unwrap()).apply().unwrap();
        let mut gauge = opened(
            &cell("fsync", &[("call", call.into()), ("bytes", (1u64 << 20).into())]),
            &context,
        )
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
            context.cpus,
            "it waits for kernel threads, so it is not pinned"
        );
        if let Some((before, after)) = before.zip(written()) {
            assert!(after - before >= 5 << 20, "{call}: {}", after - before);
        }
    }
}

#[test]
fn units_and_estimates_fit_their_cells() {
    let Some((_dir, context)) = place() else { return };
    for probe in measured() {
        for cell in probe.cells(&context) {
            let estimate = probe.estimate(&cell, &context).unwrap();
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
fn virtual_rotational_flag_is_ignored() {
    assert_eq!(
        (classify(&[], true), classify(&[false, false], true), classify(&[true], false)),
        (UNKNOWN, SOLID_STATE, ROTATIONAL)
    );
    assert_eq!((classify(&[true], true), classify(&[false, true], false)), (VIRTUAL, ROTATIONAL));
    for device in [UNKNOWN, SOLID_STATE, ROTATIONAL, VIRTUAL] {
        assert!(
            [device.request, device.byte, device.flush]
                .iter()
                .all(|(low, high)| 0.0 < *low && low < high),
            "{}",
            device.why
        );
    }
}
