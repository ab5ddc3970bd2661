use super::*;
use crate::stats::random;
use crate::sys::extents::extents;
use crate::sys::{disk, testing};
use std::os::unix::fs::FileExt;

fn options(text: &str) -> Vec<String> {
    text.split(',').map(String::from).collect()
}

#[test]
fn mount_options_reveal_compression() {
    let found = |fs: &str, text: &str| compression(fs, &options(text));
    assert_eq!(
        found("btrfs", "rw,compress-force=zstd:3").as_deref(),
        Some("btrfs compress-force=zstd:3")
    );
    assert_eq!(found("btrfs", "rw,compress=no"), None);
    assert_eq!(found("ext4", "rw,compress=zstd"), None);
    assert_eq!(found("zfs", "rw").as_deref(), Some("zfs"));
    assert_eq!(
        found("f2fs", "compress_algorithm=lz4").as_deref(),
        Some("f2fs compress_algorithm=lz4")
    );
}

#[test]
fn inspects_a_real_file() {
    let file = tempfile::tempfile().unwrap();
    let mut data = vec![0; 1 << 20];
    random::fill(3, 0, &mut data);
    file.write_all_at(&data, 0).unwrap();
    let facts = inspect(&file, Path::new("some/file"), TargetKind::Scratch);
    assert_eq!(
        (facts.path.as_str(), facts.size, facts.kind),
        ("some/file", 1 << 20, TargetKind::Scratch)
    );
    assert!(!facts.fs.is_empty() && facts.space.is_some());
    assert!(facts.used_share().is_some_and(|used| (0.0..=1.0).contains(&used)));
    assert!(facts.resident.is_none_or(|now| (0.0..=1.0).contains(&now.share)));
    let evidence = target_evidence(&facts, 1 << 20, None);
    assert_eq!(evidence.fs, facts.fs);
    if !evidence.hole_method.is_empty() && !facts.memory {
        assert_eq!((evidence.hole_bytes, facts.hole_share()), (Some(0), Some(0.0)));
    }
    assert_eq!(
        target_evidence(&facts, 4096, None).hole_bytes,
        None,
        "holes of a part do not follow from the whole"
    );
}

#[test]
fn a_sparse_file_has_holes() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(8 << 20).unwrap();
    let facts = inspect(&file, Path::new("sparse"), TargetKind::File);
    if facts.stored.is_some_and(|stored| stored.method != ExtentMethod::Assumed) {
        assert_eq!(facts.hole_share(), Some(1.0));
        let walked = extents(&file, 8 << 20).unwrap();
        assert_eq!(target_evidence(&facts, 4096, Some(&walked)).hole_bytes, Some(4096));
    }
}

#[test]
fn odd_targets_never_panic() {
    for path in ["/", "/dev/null", "/proc/self/status", "/dev"] {
        let Ok(file) = File::open(path) else { continue };
        let facts = inspect(&file, Path::new(path), TargetKind::File);
        assert_eq!(facts.size, 0, "{path}");
        assert!(facts.hole_share().is_none());
    }
}

#[test]
fn device_node_is_not_memory() {
    let disks = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut names = disks
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.contains("ram") && !name.starts_with("loop"));
    let opened =
        names.find_map(|name| File::open(format!("/dev/{name}")).ok().map(|file| (file, name)));
    let Some((file, name)) = opened else { return testing::skip("no block device is readable") };
    let facts = inspect(&file, Path::new(&name), TargetKind::File);
    assert_eq!(facts.kind, TargetKind::Device);
    assert!(!facts.memory && facts.fs.is_empty() && facts.space.is_none(), "{facts:?}");
    assert_eq!(facts.devices.first().map(|device| device.name.as_str()), Some(name.as_str()));
    assert_eq!(facts.devices[0].size, Some(facts.size));
}

#[test]
fn memory_does_not_support_direct_io() {
    let Ok(file) = tempfile::tempfile_in("/dev/shm") else { return testing::skip("no /dev/shm") };
    let facts = inspect(&file, Path::new("x"), TargetKind::File);
    if facts.memory {
        assert_eq!(
            (facts.direct_is_real(), target_evidence(&facts, 0, None).memory),
            (Some(false), true)
        );
    }
}

#[test]
fn layers_are_described_in_order() {
    let device = |name: &str, depth: usize| -> BlockDevice {
        serde_json::from_value(serde_json::json!({
            "name": name, "kind": "disk", "major": 8, "minor": 0, "depth": depth
        }))
        .unwrap()
    };
    let line = |devices: &[(&str, usize)]| {
        let devices = devices.iter().map(|(name, depth)| device(name, *depth)).collect();
        TargetFacts { devices, ..TargetFacts::default() }.device_line()
    };
    assert_eq!(line(&[]), "");
    assert_eq!(line(&[("dm-0", 0), ("sda1", 1), ("sda", 2)]), "dm-0 on sda1 on sda");
    assert_eq!(line(&[("md0", 0), ("sda", 1), ("sdb", 1)]), "md0 on sda and sdb");
    assert_eq!(line(&[("sda", 0), ("sdb", 0)]), "sda and sdb");
}

#[test]
fn old_sessions_load() {
    let facts: TargetFacts = serde_json::from_str(r#"{"path":"x","later":1}"#).unwrap();
    assert_eq!(facts, TargetFacts { path: "x".into(), ..TargetFacts::default() });
    let whole = inspect(&tempfile::tempfile().unwrap(), Path::new("t"), TargetKind::File);
    assert_eq!(
        serde_json::from_str::<TargetFacts>(&serde_json::to_string(&whole).unwrap()).unwrap(),
        whole
    );
}

#[test]
fn newer_ext4_scans_large_folios() {
    let walks = |fs: &str, options: &[&str], release: &str| {
        super::walks_folios(
            fs,
            &options.iter().map(|option| option.to_string()).collect::<Vec<_>>(),
            release,
        )
    };
    assert_eq!(
        walks("ext4", &["rw", "data=ordered"], "6.18.44-cloud").as_deref(),
        Some("ext4 on Linux 6.18")
    );
    let others = [
        ("ext4", "data=ordered", "6.15.9"),
        ("ext4", "data=journal", "6.18.1"),
        ("xfs", "rw", "6.18.1"),
        ("ext4", "rw", ""),
    ];
    for (fs, option, release) in others {
        assert_eq!(walks(fs, &[option], release), None, "{fs} {option} {release}");
    }
}

#[test]
fn file_reads_count_on_its_disk() {
    const LEN: u64 = 4 << 20;
    let Some(file) = testing::file_on_disk(LEN as usize) else {
        return;
    };
    let Some((major, minor)) = Below::of(&file).first_device() else {
        return testing::skip("no block device below");
    };
    let cold = crate::sys::cold::make_cold(&file, LEN).unwrap().is_cold();
    let before = disk::DiskStats::read(major, minor).unwrap();
    crate::sys::cold::make_warm_within(&file, 0..LEN, &|| false).unwrap();
    let moved = disk::DiskStats::read(major, minor).unwrap() - before;
    assert!(!cold || moved.read_bytes >= LEN && moved.reads > 0, "{moved:?}");
}

#[test]
fn memory_has_no_device() {
    if let Some(file) = testing::file_in_memory() {
        let below = Below::of(&file);
        assert_eq!((below.first_device(), below.ground.medium), (None, Medium::Memory));
    }
}

#[test]
fn this_machines_devices_are_described() {
    let Some(file) = testing::file_on_disk(1) else {
        return;
    };
    let below = Below::of(&file);
    let devices = below.devices();
    if devices.is_empty() {
        return testing::skip("no block device below");
    }
    assert!(devices.iter().any(|d| d.size.is_some_and(|n| n > 0)), "{devices:?}");
    assert!(devices.iter().all(|d| !d.name.is_empty()));
    assert!(below.ground.stack().contains(&devices[0].name), "{}", below.ground.stack());
}
