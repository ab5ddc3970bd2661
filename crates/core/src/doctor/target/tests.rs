use crate::doctor::testing::{check, plan};
use crate::facts::ExtentMethod;
use crate::facts::ResidencyMethod;
use crate::facts::Space;
use crate::facts::{DirectAlign, DirectSupport};
use crate::facts::{Host, Resident, Stored, TargetFacts, TargetKind};
use crate::plan::Plan;
use crate::record::Severity::{self, Misleading, Note, Wrong};

fn on_disk() -> TargetFacts {
    TargetFacts { path: "f".into(), size: 1 << 30, fs: "ext4".into(), ..TargetFacts::default() }
}

fn severity(id: &str, target: &TargetFacts, plan: Option<&Plan>) -> Option<Severity> {
    check(id, &Host::default(), Some(target), plan).map(|finding| finding.severity)
}

#[test]
fn memory() {
    assert_eq!(
        severity("memory-target", &TargetFacts { memory: true, ..on_disk() }, None),
        Some(Wrong)
    );
    assert_eq!(severity("memory-target", &on_disk(), None), None);
}

#[test]
fn holes() {
    let target = |hole_bytes, method| TargetFacts {
        stored: Some(Stored { hole_bytes, extents: 1, method }),
        ..on_disk()
    };
    assert_eq!(severity("holes", &target(1 << 29, ExtentMethod::Fiemap), None), Some(Wrong));
    assert_eq!(severity("holes", &target(4096, ExtentMethod::Fiemap), None), Some(Note));
    assert_eq!(severity("holes", &target(0, ExtentMethod::Fiemap), None), None);
    assert_eq!(severity("holes", &target(0, ExtentMethod::Assumed), None), None);
    assert_eq!(severity("holes", &on_disk(), None), None);
}

#[test]
fn direct() {
    let target = |direct| TargetFacts { direct: Some(direct), ..on_disk() };
    let planned = plan(&["direct"]);
    let known = DirectSupport::Known(DirectAlign { mem: 512, offset: 512, read_offset: None });
    assert_eq!(
        severity("not-direct", &target(DirectSupport::Refused), Some(&planned)),
        Some(Wrong)
    );
    assert_eq!(severity("not-direct", &target(DirectSupport::Unknown), Some(&planned)), Some(Note));
    assert_eq!(severity("not-direct", &target(known), Some(&planned)), None);
    assert_eq!(severity("not-direct", &target(DirectSupport::Refused), Some(&plan(&[]))), None);
    assert_eq!(severity("not-direct", &target(DirectSupport::Refused), None), None);
}

#[test]
fn access_time() {
    let target = |noatime| TargetFacts { noatime, ..on_disk() };
    assert_eq!(severity("access-time", &target(Some(false)), None), Some(Note));
    assert_eq!(severity("access-time", &target(Some(true)), None), None);
    assert_eq!(severity("access-time", &on_disk(), None), None);
}

#[test]
fn compression() {
    let target = |entropy| TargetFacts {
        compresses: Some("btrfs compress=zstd".into()),
        entropy,
        ..on_disk()
    };
    assert_eq!(severity("compressed", &target(None), None), Some(Misleading));
    assert_eq!(severity("compressed", &target(Some(4.2)), None), Some(Wrong));
    assert_eq!(severity("compressed", &target(Some(7.99)), None), Some(Note));
    assert_eq!(severity("compressed", &on_disk(), None), None);
}

#[test]
fn servers() {
    let nfs = TargetFacts {
        network: true,
        fuse: false,
        fs: "nfs4".into(),
        source: Some("nas:/x".into()),
        ..on_disk()
    };
    assert!(
        check("network-target", &Host::default(), Some(&nfs), None)
            .is_some_and(|f| f.evidence.contains("nas:/x"))
    );
    assert_eq!(severity("fuse-target", &nfs, None), None);
    let fuse = TargetFacts { fuse: true, ..on_disk() };
    assert_eq!(severity("fuse-target", &fuse, None), Some(Misleading));
    assert_eq!(severity("network-target", &fuse, None), None);
    assert_eq!(
        (severity("network-target", &on_disk(), None), severity("fuse-target", &on_disk(), None)),
        (None, None)
    );
}

#[test]
fn full_file_systems() {
    let target = |free| TargetFacts {
        space: Some(Space { total: 1000, free, available: free }),
        ..on_disk()
    };
    assert_eq!(severity("full", &target(50), Some(&plan(&["write"]))), Some(Misleading));
    assert_eq!(severity("full", &target(50), Some(&plan(&["read"]))), None);
    assert_eq!(severity("full", &target(50), None), Some(Note));
    assert_eq!(severity("full", &TargetFacts { read_only: true, ..target(50) }, None), None);
    assert_eq!(
        severity("full", &TargetFacts { kind: TargetKind::Scratch, ..target(50) }, None),
        Some(Misleading)
    );
    assert_eq!(severity("full", &target(200), None), None);
    assert_eq!(severity("full", &on_disk(), None), None);
}

#[test]
fn cached_targets() {
    let target = |share| TargetFacts {
        resident: Some(Resident { share, method: ResidencyMethod::Cachestat }),
        ..on_disk()
    };
    assert_eq!(severity("cached", &target(0.9), Some(&plan(&["cold"]))), Some(Note));
    assert_eq!(severity("cached", &target(0.9), Some(&plan(&["warm"]))), None);
    assert_eq!(severity("cached", &target(0.1), None), None);
    assert_eq!(severity("cached", &TargetFacts { memory: true, ..target(1.0) }, None), None);
}

#[test]
fn reports_sampled_and_unknown_residency() {
    let with =
        |method| TargetFacts { resident: Some(Resident { share: 0.0, method }), ..on_disk() };
    assert_eq!(severity("residency", &with(ResidencyMethod::Sampled), None), Some(Note));
    assert_eq!(severity("residency", &with(ResidencyMethod::Cachestat), None), None);
    let refused =
        TargetFacts { resident_error: Some("EPERM: Operation not permitted".into()), ..on_disk() };
    assert!(
        check("residency", &Host::default(), Some(&refused), None)
            .is_some_and(|f| f.evidence.contains("EPERM"))
    );
    assert_eq!(severity("residency", &on_disk(), None), None);
}
