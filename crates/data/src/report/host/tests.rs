use super::*;
use crate::facts::{
    BlockDevice, ClockSource, Conditions, DeviceKind, DirectAlign, Link, Mitigation, Space,
    Transport,
};
use iotui_core::doctor::examine;

fn cache(level: u8, kind: &str, size: u64, ways: u32, sets: u32, shared_with: &str) -> CacheLevel {
    CacheLevel {
        level,
        kind: kind.into(),
        size,
        ways: Some(ways),
        line: Some(64),
        sets: Some(sets),
        shared_with: shared_with.into(),
    }
}

fn cpu() -> Cpu {
    Cpu {
        model: "AMD Ryzen 7 7840U".into(),
        vendor: "AuthenticAMD".into(),
        online: 16,
        allowed: 16,
        cores: 8,
        sockets: 1,
        smt: Some(true),
        cycle_nanos: Some(0.1955),
        cycle_source: "cpufreq maximum".into(),
        governor: Some("powersave".into()),
        simd: vec!["avx512f".into(), "avx2".into(), "sse2".into()],
        tsc: vec!["constant_tsc".into(), "nonstop_tsc".into()],
        ..Cpu::default()
    }
}

fn host() -> Host {
    Host {
        name: "bench".into(),
        kernel: "6.12.4".into(),
        os: "Debian GNU/Linux 13 (trixie)".into(),
        architecture: "x86_64".into(),
        cpu: cpu(),
        caches: vec![
            cache(1, "data", 32 << 10, 8, 64, "0,8"),
            cache(1, "instruction", 32 << 10, 8, 64, "0,8"),
            cache(2, "unified", 1 << 20, 8, 2048, "0,8"),
            cache(3, "unified", 16 << 20, 16, 16384, "0-15"),
        ],
        memory: Memory {
            total: 32 << 30,
            available: 20 << 30,
            page_size: 4096,
            huge_page: Some(2 << 20),
            huge_pages: Some("madvise".into()),
            nodes: 1,
            swap_total: 8 << 30,
            swap_free: 8 << 30,
            ..Memory::default()
        },
        clock: ClockSource { current: "tsc".into(), available: vec!["tsc".into(), "hpet".into()] },
        network: vec![
            NetworkCard {
                name: "enp1s0".into(),
                speed: Some(2500),
                duplex: Some("full".into()),
                mtu: Some(1500),
                state: "up".into(),
                driver: Some("igc".into()),
                is_virtual: false,
            },
            NetworkCard {
                name: "lo".into(),
                mtu: Some(65536),
                state: "unknown".into(),
                is_virtual: true,
                ..NetworkCard::default()
            },
        ],
        mitigations: vec![Mitigation {
            name: "spectre_v2".into(),
            state: "Mitigation: Enhanced / Automatic IBRS".into(),
        }],
        can_drop_caches: true,
        conditions: Conditions {
            io_pressure: Some(0.0),
            load: Some(0.4),
            steal: Some(0.0),
            on_battery: Some(false),
            ..Conditions::default()
        },
        ..Host::default()
    }
}

fn target() -> TargetFacts {
    let device = |name: &str, depth, kind| {
        BlockDevice {
        size: Some(1 << 40),
        ..serde_json::from_value(serde_json::json!({ "name": name, "kind": kind, "major": 259, "minor": 0, "depth": depth })).unwrap()
    }
    };
    let disk = BlockDevice {
        model: Some("Samsung SSD 990 PRO".into()),
        rotational: Some(false),
        scheduler: Some("none".into()),
        read_ahead_kb: Some(128),
        nr_requests: Some(1023),
        logical_block: Some(512),
        physical_block: Some(512),
        link: Some(Link {
            transport: Transport::Pcie,
            text: "PCIe 4.0 x4".into(),
            bytes_per_second: Some(7_876_923_076),
        }),
        ..device("nvme0n1", 1, DeviceKind::Disk)
    };
    TargetFacts {
        path: "/home/me/videos/a rather long name of a recording that somebody made on holiday.mkv"
            .into(),
        size: 10 << 30,
        fs: "ext4".into(),
        mount_point: Some("/home".into()),
        options: [
            "rw",
            "relatime",
            "errors=remount-ro",
            "stripe=32",
            "data=ordered",
            "commit=30",
            "journal_checksum",
        ]
        .map(String::from)
        .into(),
        source: Some("/dev/nvme0n1p2".into()),
        space: Some(Space { total: 1000 << 30, free: 250 << 30, available: 200 << 30 }),
        devices: vec![device("nvme0n1p2", 0, DeviceKind::Partition), disk],
        direct: Some(DirectSupport::Known(DirectAlign { mem: 4, offset: 512, read_offset: None })),
        resident: Some(Resident { share: 0.983, method: ResidencyMethod::Cachestat }),
        stored: Some(Stored { hole_bytes: 1 << 30, extents: 3, method: ExtentMethod::Fiemap }),
        entropy: Some(7.994),
        ..TargetFacts::default()
    }
}

#[test]
fn the_whole_report() {
    let (host, target) = (host(), target());
    let findings = examine(&host, Some(&target), None);
    insta::assert_snapshot!(
        "the_whole_report",
        text(&HostReport {
            host: &host,
            target: Some(&target),
            findings: &findings,
            xor_loop: Some(crate::facts::XorLoops {
                fastest: "avx512f, prefetching",
                speeds: &[
                    crate::facts::XorSpeed { name: "64 bit", bytes_per_second: 15e9 },
                    crate::facts::XorSpeed { name: "avx512f, prefetching", bytes_per_second: 40e9 },
                ],
                is_doubtful: false,
            }),
        })
    );
}

#[test]
fn every_host_report_fits() {
    for (host, target) in [
        (host(), Some(target())),
        (Host::default(), None),
        (Host::default(), Some(TargetFacts::default())),
    ] {
        let findings = examine(&host, target.as_ref(), None);
        let text = text(&HostReport {
            host: &host,
            target: target.as_ref(),
            findings: &findings,
            xor_loop: None,
        });
        assert!(text.ends_with('\n') && !text.contains("\n\n\n"));
        for line in text.lines() {
            assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line:?}");
        }
    }
}

#[test]
fn the_data_has_three_keys() {
    let host = host();
    let json = serde_json::to_value(HostReport {
        host: &host,
        target: None,
        findings: &[],
        xor_loop: None,
    })
    .unwrap();
    assert_eq!(json["host"]["name"], "bench");
    assert!(json["target"].is_null() && json["findings"].as_array().is_some_and(Vec::is_empty));
}
