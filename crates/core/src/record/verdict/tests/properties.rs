//! Any evidence, however odd, produces a well-formed verdict.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::plan::{FilePer, Job, Layout, Opened};
use crate::record::{
    BadBlock, BelowCounts, CacheBelow, Ceilings, CommitDevice, CommitPath, CommitTimes,
    DeviceCounts, FirstVisits, Found, Ground, Layer, LayerKind, LinkCeiling, Medium, OtherProcess,
    Others, Paced, Trial, Verified, Visit,
};

/// Strategies are boxed because a whole case would not fit on a test's stack.
fn number() -> BoxedStrategy<u64> {
    prop_oneof![Just(0), 1..10_000u64, Just(SPAN), any::<u64>()].boxed()
}

fn maybe() -> BoxedStrategy<Option<u64>> {
    proptest::option::weighted(0.8, number()).boxed()
}

/// Names of processes and files may hold anything.
fn text() -> BoxedStrategy<String> {
    "[\\x00-\\x7fµ]{0,12}".boxed()
}

fn real() -> BoxedStrategy<f64> {
    prop_oneof![0.0..10.0, proptest::num::f64::ANY].boxed()
}

fn any_preparation() -> impl Strategy<Value = Option<Preparation>> {
    prop_oneof![
        Just(None),
        Just(Some(Preparation::AsIs)),
        number().prop_map(|resident| Some(Preparation::Warm { resident })),
        (number(), vec(text(), 0..6))
            .prop_map(|(left, mapped_by)| Some(Preparation::Cold { left, mapped_by })),
    ]
}

fn any_others(name: &str, n: &[u64; 14]) -> Others {
    let (name, pid) = (name.to_string(), n[0] as u32);
    let process = OtherProcess { name: name.clone(), pid, read: n[1], written: n[2] };
    Others { processes: vec![process], kernel: vec![name], hidden: n[3] as u32 }
}

prop_compose! {
    fn any_evidence()(
        n in proptest::array::uniform14(number()), o in proptest::array::uniform8(maybe()),
        f in proptest::option::of(real()), depth in proptest::option::of(real()),
        preparation in any_preparation(), sampled: Option<bool>, note in text(), kind in 0..7u8,
    ) -> Evidence {
        Evidence {
            turn_nanos: 0,
            overran: 0,
            started: n[0], prepared: n[1], prepare_nanos: n[2], preparation, parts: n[13],
            unique_bytes: n[3], lane_bytes: n[4], planned_bytes: n[5], overlap_bytes: n[6],
            written: o[0],
            timed_ops: n[7], timed_nanos: n[8], lane_nanos: n[9], xor_nanos: o[1].into(),
            achieved_depth: f, skew_nanos: n[10],
            write_bytes: o[2].into(), unwritten_bytes: o[3].into(), cached_nanos: o[1].into(),
            disk_read_bytes: o[4], disk_write_bytes: o[5],
            devices: vec![DeviceCounts { device: "sda".into(), written: o[5].into(),
            flushes: o[6].into(), flush_nanos: o[7].into() }],
            disk_requests: o[7].into(), disk_depth: depth, steal_nanos: o[6].into(),
            queued_nanos: o[1].into(), huge_page_cache: n[12].into(), ended_by_time: kind == 0,
            residency: sampled.map(|s| if s { Residency::Sampled } else { Residency::Cachestat }),
            cpu_cache: f.map(|f| CacheFlush { before_nanos: f, after_nanos: 3.0,
            flushed_bytes: n[0] }),
            read_back: sampled.map(|_| ReadBack { xor: Xor(n[1] as u32), other_blocks: n[0] }),
            verified: sampled.map(|direct| Box::new(any_verified(direct, n[2], o[2]))),
            below: (kind < 5).then(|| Box::new(any_below(n[3], &o))),
            others: (kind > 2).then(|| Box::new(any_others(&note, &n))),
            surroundings: None,
            clock: None,
            stopped: None,
            visited: o[0].map(|end| (0, end)),
            paced: (kind < 4).then(|| Box::new(any_pace(&n, &o))),
            rounds: None,
            neighbour: None,
            first: o[1].map(|bytes| Box::new(Visit { bytes, ops: n[0], nanos: n[1] })),
            notes: match kind {
                0 => vec![Note::SharedDescriptors, Note::SmallPages],
                1 => vec![Note::SlowClock],
                2 => vec![Note::UringPlain(note)],
                3 => vec![Note::FileChanged(note)],
                4 => vec![Note::HelperUncounted],
                5 => vec![Note::Cloned],
                6 => vec![Note::ClockJumped(n[0])],
                _ => vec![],
            },
        }
    }
}

fn any_pace(n: &[u64; 14], o: &[Option<u64>; 8]) -> Paced {
    Paced {
        intended: n[0],
        unstarted: n[1],
        held: n[2],
        held_nanos: n[3],
        most_late: n[4],
        start_lag: n[5],
        response_nanos: n[6],
        spin_nanos: n[7],
        waits: n[8],
        wake_p50: o[0],
        wake_p99: o[1],
    }
}

fn any_below(bytes: u64, o: &[Option<u64>; 8]) -> BelowCounts {
    let cache = CacheBelow {
        name: "~/img".into(),
        bytes,
        direct: bytes == 0,
        resident_before: o[3].into(),
        resident_after: o[4].into(),
        evicted: o[5].into(),
        hole_bytes: o[6].into(),
        unwritten_bytes: o[7].into(),
        left: o[0].into(),
    };
    BelowCounts {
        read_bytes: o[0].into(),
        write_bytes: o[1].into(),
        received_bytes: o[2].into(),
        caches: vec![cache],
    }
}

fn any_ground() -> impl Strategy<Value = Option<Ground>> {
    let media = [Medium::Disk, Medium::Memory, Medium::Program, Medium::Server, Medium::Unknown];
    let layer = |kind, depth, cached| Layer {
        name: "~/img".into(),
        kind,
        depth,
        cached,
        ..Layer::default()
    };
    (0..6usize, text(), any::<bool>()).prop_map(move |(at, reason, cached)| {
        Some(Ground {
            medium: *media.get(at)?,
            reason,
            layers: vec![layer(LayerKind::Loop, 0, false), layer(LayerKind::Image, 1, cached)],
        })
    })
}

/// Returns a read-back with bad blocks of one kind.
fn any_verified(direct: bool, bytes: u64, left: Option<u64>) -> Verified {
    let mut verified = Verified { bytes, left, direct, device_bytes: left, ..Verified::default() };
    let found = if direct { Found::Zeros } else { Found::Elsewhere { of: bytes, of_file: None } };
    (0..bytes % 40).for_each(|offset| verified.add(BadBlock::new(offset, None, found)));
    verified
}

prop_compose! {
    fn any_trial()(n in proptest::array::uniform6(number()),
    o in proptest::array::uniform4(maybe()), evidence in any_evidence().boxed(),
    short: bool) -> Trial {
        Trial {
            bytes: n[0], ops: n[1], syscalls: n[2].into(), nanos: n[3], passes: n[4],
            device_bytes: o[0], hole_bytes: o[1], resident_before: o[2], resident_after: o[3],
            short, evidence, ..Trial::default()
        }
    }
}

prop_compose! {
    fn any_job()(
        op in proptest::sample::select(Op::ALL), cache in proptest::sample::select(Cache::ALL),
        sync in proptest::sample::select(Sync::ALL),
        block in number(), span in number(), threads: u32, depth: u32, direct: bool, xor: bool,
        mix: Option<u8>, random: bool,
    ) -> Job {
        Job {
            backend: Choice::plain("pread"),
            pattern: if random { Pattern::Random } else { Pattern::Seq },
            op, block, count: None, span, threads, depth, cache, direct, xor, sync, sync_every: 1, mix,
            cpu_cache: CpuCache::Keep,
            writes: if direct { Writes::Append } else { Writes::Overwrite },
            file_per: if xor { FilePer::Thread } else { FilePer::Run },
            opened: if xor { Opened::Timed } else { Opened::Before },
            target: None,
            variant: None,
            ranks: None,
            layout: Layout::PerRank,
            rate: None,
            arrival: Default::default(),
            think: 0,
        }
    }
}

prop_compose! {
    fn any_target()(
        fs in text(), method in text(), compresses in proptest::option::of(text()),
        flags in proptest::array::uniform3(any::<bool>()),
        counted: Option<bool>, direct: Option<bool>, hole_bytes in maybe(), read_ahead in maybe(),
        entropy in proptest::option::of(real()), fs_used in proptest::option::of(real()),
        link in proptest::option::of((text(), real())), ground in any_ground(),
    ) -> TargetEvidence {
        let link = link.map(|(name, bytes_per_second)| LinkCeiling { name, bytes_per_second });
        TargetEvidence {
            device: fs.clone(), fs, ours: flags[0], memory: flags[1], remote: flags[2],
            device_counted: counted, compresses, entropy, queue: read_ahead,
            yields: counted.map(|_| "I/O class idle (ionice)".into()),
            walks_folios: counted.map(|_| "ext4 on Linux 6.18".into()), hole_bytes,
            hole_method: method, direct, noatime: counted, read_ahead, fs_used, link,
            compressible: counted.map(|_| 50), dedupe: direct.map(|_| 20),
            throttle: direct.map(|direct| Throttle { by: "io.max".into(), read_bytes: read_ahead,
            reads: Some(u64::from(direct)), ..Throttle::default() }),
            commit_path: flags[2].then(|| CommitPath {
            no_barrier: counted.filter(|on| *on).map(|_| "nobarrier".into()),
            devices: vec![CommitDevice { device: "sda".into(), lowest: flags[0],
            volatile_cache: counted, fua: direct, ..CommitDevice::default() }],
            fastest_write_nanos: read_ahead, median_write_nanos: read_ahead.filter(|_| flags[0]),
            ..CommitPath::default() }),
            ground,
            first_visits: read_ahead.map(|nanos| FirstVisits { pairs: 512, slower: 50,
            first_nanos: nanos, again_nanos: 7, ..FirstVisits::default() }),
        }
    }
}

prop_compose! {
    fn any_case()(
        job in any_job().boxed(), target in any_target().boxed(),
        trials in vec(any_trial().boxed(), 0..7),
        nothing: bool, many: bool, cached: bool, governor in proptest::option::of(text()),
        on_battery: Option<bool>,
        ceilings in proptest::option::of(proptest::array::uniform4(proptest::option::of(real()))),
        cpus: u32,
        memory in proptest::option::of(number()),
        half_width in proptest::option::of(real()),
        two_modes in proptest::option::of((real(), real())), outliers: usize,
        count in number(), p in proptest::array::uniform4(proptest::option::of(real())),
        timed: bool, harness_nanos in real(),
    ) -> Case {
        let data_path = if nothing { DataPath::CallOnly } else { DataPath::CopiedByCall };
        let depth = if many { Depth::UpTo(256) } else { Depth::Synchronous };
        let ceilings = ceilings.map(|[syscall_nanos, clock_nanos, copy, read]| Ceilings {
            syscall_nanos, clock_nanos, copy, read, threads: cpus, ..Ceilings::default()
        });
        let latency = Latency { count, p50: p[0], p90: p[1], p99: p[2], p999: p[3],
        ..Latency::default() };
        Case {
            job, target, trials: trials.into_iter().map(Into::into).collect(),
            info: Info { data_path, depth, cached, ..PREAD },
            machine: MachineEvidence { governor, on_battery, memory, ceilings,
            cpu_quota: half_width, rank_cpus: many.then_some(1),
            hypervisor: many.then(|| "KVM".into()) },
            commits: cached.then(|| CommitTimes { total: latency.clone(), ..CommitTimes::default() }),
            spread: Spread { half_width, two_modes, outliers }, latency: timed.then_some(latency),
            service: cached.then(|| Latency { count, ..Latency::default() }),
            harness_nanos, once: false,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn shares_add_up_for_any_evidence(case in any_case()) {
        let verdict = judge(&case.evidence());
        if let Some(source) = verdict.source {
            let shares = [source.device, source.page_cache, source.hole, source.unknown,
            source.below];
            prop_assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{:?}", source);
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", source);
        }
        prop_assert!(verdict.amplification.is_none_or(f64::is_finite));
        if let Some(of) = &verdict.durability {
            let figures = [of.flushes, of.flush_nanos, of.amplification];
            prop_assert!(figures.iter().flatten().all(|figure| figure.is_finite()), "{:?}", of);
            prop_assert!(!of.reason.is_empty() && !of.reason.contains(char::is_control));
        }
        prop_assert!(!verdict.source_reason.is_empty());
        prop_assert!(!verdict.source_reason.contains(char::is_control));
        for warning in verdict.warnings {
            prop_assert!(!warning.message.is_empty() && !warning.remedy.text.is_empty(), "{:?}",
            warning);
            let text = warning.message + &warning.evidence + &warning.remedy.text;
            prop_assert!(!text.contains(char::is_control));
        }
    }
}
