use super::*;
use crate::analysis::{describe_lines, result};
use crate::plan::{Cache, CpuCache, Job, Op, Pattern, Plan, Sync};
use crate::record::{Latency, Severity, Source, Trial, Verdict, Warning};
use crate::session::testing::job;

fn explain_limits(results: &[CellResult], bounds: &Bounds) -> Why {
    super::explain_limits(results, |_| bounds.clone())
}

mod estimates;
mod held_back;

const SECOND: f64 = 1e9;

/// The cost of one operation, and where its bytes come from.
struct Op1 {
    nanos: f64,
    device: f64,
    busy: f64,
    calls: f64,
    /// p99 over p50.
    waits: f64,
}

const MEMORY: Op1 = Op1 { nanos: 0.0, device: 0.0, busy: 0.99, calls: 1.0, waits: 2.0 };
const DISK: Op1 = Op1 { nanos: 0.0, device: 1.0, busy: 0.1, calls: 1.0, waits: 2.0 };

/// Seven trials of a second that scatter by `spread`.
fn cell(job: Job, op: Op1, spread: f64) -> CellResult {
    let threads = f64::from(job.threads);
    let trials = (0..7).map(|n| {
        let ops =
            (threads * SECOND / op.nanos * (1.0 + spread * (f64::from(n) - 3.0) / 3.0)) as u64;
        let cpu = (SECOND * threads * op.busy) as u64;
        Trial {
            round: n as u32 + 1,
            bytes: ops * job.block,
            ops,
            syscalls: ((ops as f64 * op.calls) as u64).into(),
            nanos: SECOND as u64,
            system_nanos: cpu,
            ..Trial::default()
        }
    });
    let source = Source {
        device: op.device,
        page_cache: 1.0 - op.device,
        hole: 0.0,
        unknown: 0.0,
        below: 0.0,
    };
    let latency = Latency {
        count: 1000,
        every: 1,
        p50: Some(op.nanos),
        p99: Some(op.nanos * op.waits),
        ..Latency::default()
    };
    let verdict = Verdict { source: Some(source), latency: Some(latency), ..Verdict::default() };
    result(&job, trials.map(Into::into).collect(), Some(&verdict), None)
}

/// Returns warm reads that take 300 ns and 0.08 ns per byte (12.5 GB/s) each.
fn warm(backend: &str) -> Vec<CellResult> {
    let blocks = (0..=20).step_by(2).map(|k| 1u64 << k);
    blocks
        .map(|block| {
            cell(
                job(backend, block, Cache::Warm),
                Op1 { nanos: 300.0 + 0.08 * block as f64, ..MEMORY },
                0.01,
            )
        })
        .collect()
}

fn bounds() -> Bounds {
    let ceilings = Ceilings {
        syscall_nanos: Some(100.0),
        clock_nanos: Some(10.0),
        copy: Some(13e9),
        read: Some(15e9),
        copy_all: Some(20e9),
        read_all: Some(25e9),
        threads: 2,
        over: 1 << 28,
    };
    Bounds { ceilings, ..Bounds::default() }
}

fn limits(results: &[CellResult], bounds: &Bounds) -> Vec<Option<Limit>> {
    explain_limits(results, bounds)
        .limits
        .into_iter()
        .map(|limit| limit.map(|limit| limit.by))
        .collect()
}

#[test]
fn a_curve_has_two_costs() {
    let why = explain_limits(&warm("pread"), &bounds());
    let [curve] = &why.costs[..] else { panic!("{why:?}") };
    assert_eq!(curve.text, "300 ns per operation + 11.6 GiB/s, equal at 3.66 KiB");
    assert_eq!(curve.name, "pread warm");
    assert!(
        curve.cost.misfit < 0.01 && curve.half.is_some_and(|half| (half - 3750.0).abs() < 20.0),
        "{curve:?}"
    );
}

#[test]
fn read_ahead_does_not_shape_curves() {
    let sizes = [(4096, 2000.0), (65536, 40_000.0), (262_144, 90_000.0), (1 << 20, 800_000.0)];
    let cold = sizes.map(|(block, nanos)| {
        let mut cold = cell(job("read", block, Cache::Cold), Op1 { nanos, ..DISK }, 0.01);
        // Half of the operations find what was read ahead, at 10 GB/s.
        cold.latency.as_mut().unwrap().p50 = Some(block as f64 / 10.0);
        cold
    });
    let why = explain_limits(&cold, &bounds());
    let [curve] = &why.costs[..] else { panic!("{why:?}") };
    assert!(curve.text.ends_with("take 400 times as long"), "{}", curve.text);
}

#[test]
fn small_blocks_wait_for_calls() {
    let found = limits(&warm("pread"), &bounds());
    // At 3.66 KiB both cost the same: 1 B to 1 KiB are below it.
    assert_eq!(found[..6], [Some(Limit::SystemCall); 6]);
    assert_eq!(found[7..], [Some(Limit::CopyBandwidth); 4]);
    let one = explain_limits(&warm("pread")[..1], &bounds()).limits[0].clone().unwrap();
    // A single point is not a curve: only the call itself is known to be fixed.
    assert_eq!(one.text, "CPU: busy for 99 % of the time");
}

#[test]
fn missing_ceilings_limit_nothing() {
    let found = limits(&warm("pread"), &Bounds::default());
    assert_eq!(found[0], Some(Limit::SystemCall));
    assert_eq!(found[10], Some(Limit::OneCpu));
}

#[test]
fn mapped_data_waits_for_memory() {
    fn mapped(rate: f64, faults: u64) -> LimitCause {
        let mut result = cell(
            job("mmap", 1 << 20, Cache::Warm),
            Op1 { nanos: 1048576.0 / rate * SECOND, calls: 0.0, ..MEMORY },
            0.01,
        );
        for trial in &mut result.trials {
            std::sync::Arc::make_mut(trial).minor_faults = faults * trial.ops;
        }
        explain_limits(&[result], &bounds()).limits[0].clone().unwrap()
    }
    assert_eq!(
        mapped(14e9, 0).text,
        "memory bandwidth: 13.0 GiB/s of the 14.0 GiB/s that one thread can read here"
    );
    assert_eq!(mapped(4e9, 256).text, "CPU: busy for 99 % of the time, 256 page faults per MiB");
}

#[test]
fn cached_data_ignores_the_memory_limit() {
    let text_of = |cpu_cache, backend: &str, calls: f64, span: u64, rate: f64| {
        let small = Job { span, cpu_cache, ..job(backend, 1 << 20, Cache::Warm) };
        let result = cell(small, Op1 { nanos: 1048576.0 / rate * SECOND, calls, ..MEMORY }, 0.01);
        explain_limits(&[result], &Bounds { cache: 8 << 20, ..bounds() }).limits[0]
            .clone()
            .unwrap()
            .text
    };
    let text =
        |backend: &str, calls, span, rate| text_of(CpuCache::Keep, backend, calls, span, rate);
    // Emptied before each trial, the caches hold nothing: so the ceiling was measured too low.
    assert!(
        text_of(CpuCache::Flush, "mmap", 0.0, 8 << 20, 30e9)
            .starts_with("memory bandwidth: 27.9 GiB/s above the")
    );
    assert_eq!(
        text("mmap", 0.0, 8 << 20, 30e9),
        "CPU caches: 27.9 GiB/s, because 8 MiB fit in them; one thread can read 14.0 GiB/s beyond them"
    );
    assert_eq!(
        text("pread", 1.0, 8 << 20, 26e9),
        "CPU caches: 24.2 GiB/s, because 8 MiB fit in them; one thread can copy 12.1 GiB/s beyond them"
    );
    assert!(
        text("mmap", 0.0, 8 << 20, 16e9)
            .starts_with("memory bandwidth: 14.9 GiB/s above the 14.0 GiB/s")
    );
    assert!(
        text("mmap", 0.0, 9 << 20, 30e9)
            .starts_with("memory bandwidth: 27.9 GiB/s above the 14.0 GiB/s")
    );
}

#[test]
fn all_threads_share_the_memory() {
    let many = Job { threads: 2, ..job("pread", 1 << 20, Cache::Warm) };
    let result = cell(many, Op1 { nanos: 1048576.0 / 12e9 * SECOND, ..MEMORY }, 0.01);
    assert_eq!(limits(&[result], &bounds()), [Some(Limit::MemoryBandwidth)]);
}

/// Direct reads of 4 KiB at 80 us each, and of 1 MiB that use the device fully.
#[test]
fn devices_are_idle_or_saturated() {
    let direct = |block, depth, nanos| {
        Job { direct: true, depth, ..job("uring", block, Cache::AsIs) }.with(nanos)
    };
    let results = [direct(4096, 1, 80e3), direct(4096, 32, 10e3), direct(1 << 20, 8, 400e3)];
    let why = explain_limits(&results, &bounds());
    let text: Vec<&str> =
        why.limits.iter().map(|limit| limit.as_ref().unwrap().text.as_str()).collect();
    assert_eq!(
        text[0],
        "latency: one operation at a time, 80.0 µs each; another cell reached 2.44 GiB/s"
    );
    assert!(text[1].starts_with("device queue: 32 operations at once, 320 µs each"), "{}", text[1]);
    assert_eq!(text[2], "device: 2.44 GiB/s, the device's highest rate in this run");
}

/// 30 % less than another cell, with trials that scatter by more or by less than that.
#[test]
fn slower_devices_need_sure_intervals() {
    fn told(spread: f64) -> String {
        let direct = |block: u64, rate: f64| {
            let job = Job { direct: true, depth: 2, ..job("uring", block, Cache::AsIs) };
            cell(job, Op1 { nanos: block as f64 / rate * SECOND, ..DISK }, spread)
        };
        let why = explain_limits(&[direct(1 << 20, 0.7e9), direct(2 << 20, 1e9)], &bounds());
        why.limits[0].clone().unwrap().text
    }
    assert!(told(0.01).starts_with("device queue: 2 operations at once"), "{}", told(0.01));
    assert_eq!(
        told(0.6),
        "device: 667 MiB/s; no difference shows from the device's highest rate in this run, 952 MiB/s"
    );
}

/// A read of 1 B takes part of a microsecond: no device answers so fast, so the blocks were read
/// ahead.
#[test]
fn readahead_is_not_one_operation() {
    let cold = |block: u64, nanos: f64| {
        cell(job("read", block, Cache::Cold), Op1 { nanos, busy: 0.3, ..DISK }, 0.03)
    };
    let why = explain_limits(&[cold(1, 750.0), cold(1 << 20, 400e3)], &bounds());
    let told = why.limits[0].clone().unwrap();
    assert_eq!(
        (told.by, told.text.as_str()),
        (
            Limit::Device,
            "device: 1.27 MiB/s, and the program waited for 70 % of the time; another cell reached 2.44 GiB/s"
        )
    );
}

#[test]
fn busy_cpus_limit_cold_reads() {
    let cold = |block: u64, nanos: f64, busy: f64| {
        cell(job("read", block, Cache::Cold), Op1 { nanos, busy, ..DISK }, 0.03)
    };
    let results = [cold(2, 500.0, 0.6), cold(1 << 20, 400e3, 0.15)];
    let why = explain_limits(&results, &bounds());
    let text: Vec<&str> =
        why.limits.iter().map(|limit| limit.as_ref().unwrap().text.as_str()).collect();
    assert_eq!(text[0], "CPU: busy for 60 % of the time, longer than it waited for the device");
    assert_eq!(text[1], "device: 2.44 GiB/s, the device's highest rate in this run");
    // One cell that hardly used the device does not show the device's best.
    assert_eq!(limits(&[cold(512, 600.0, 0.6)], &bounds()), [Some(Limit::OneCpu)]);
}

/// On a busy machine cold and warm reads of 512 B were equally slow, and the device was reported as
/// the limit of the cold ones.
#[test]
fn slow_memory_clears_the_device() {
    let read = |cache, nanos: f64, busy, device| {
        cell(job("read", 512, cache), Op1 { nanos, busy, device, ..DISK }, 0.03)
    };
    let (cold, warm) = (read(Cache::Cold, 9700.0, 0.3, 1.0), read(Cache::Warm, 9500.0, 0.3, 0.0));
    let told = explain_limits(&[cold.clone(), warm], &bounds()).limits[0].clone().unwrap();
    assert_eq!(
        (told.by, told.text.as_str()),
        (
            Limit::OneCpu,
            "CPU: 50.3 MiB/s from the device, 51.4 MiB/s from memory: it does not wait for the device"
        )
    );
    let fast = read(Cache::Warm, 800.0, 0.99, 0.0);
    let told = explain_limits(&[cold, fast], &bounds()).limits[0].clone().unwrap();
    assert_eq!(
        (told.by, told.text.as_str()),
        (Limit::Device, "device: 50.3 MiB/s, and the CPU was busy for only 30 % of the time")
    );
}

/// A thread that others keep off its CPU does not wait for the device.
#[test]
fn stolen_cpu_time_is_not_waiting() {
    let mut cold =
        cell(job("read", 512, Cache::Cold), Op1 { nanos: 9700.0, busy: 0.3, ..DISK }, 0.03);
    for trial in &mut cold.trials {
        let trial = std::sync::Arc::make_mut(trial);
        trial.evidence.queued_nanos = (trial.nanos * 2 / 3).into();
    }
    let told = explain_limits(&[cold], &bounds()).limits[0].clone().unwrap();
    assert_eq!(
        (told.by, told.text.as_str()),
        (Limit::OneCpu, "CPU: busy for 30 % of the time; others held it for another 66.7 %")
    );
}

fn warning(id: &'static str, message: &str, evidence: &str) -> Warning {
    let (severity, remedy) = (Severity::Misleading, "stop it".into());
    Warning { id: id.into(), severity, message: message.into(), evidence: evidence.into(), remedy }
}

#[test]
fn tiny_blocks_show_no_bandwidth() {
    let nanos = [480.0, 470.0, 495.0, 505.0];
    let results: Vec<CellResult> = (0..4)
        .map(|k| cell(job("pread", 1 << k, Cache::Warm), Op1 { nanos: nanos[k], ..MEMORY }, 0.01))
        .collect();
    let curve = &explain_limits(&results, &bounds()).costs[0];
    assert!(
        curve.text.contains(
            "per operation at all sizes from 1 B to 8 B; they do not show the cost per byte"
        ) || curve.text.starts_with("cannot be separated"),
        "{curve:?}"
    );
    assert_eq!((curve.bandwidth, curve.half), (None, None));
}

#[test]
fn curve_names_have_the_difference() {
    fn flushed(cell: Job) -> Job {
        Job { cpu_cache: crate::plan::CpuCache::Flush, ..cell }
    }
    fn counted(cell: Job) -> Job {
        Job { count: Some(8192), ..cell }
    }
    let of = |put: &dyn Fn(Job) -> Job| -> Vec<CellResult> {
        (0..4)
            .map(|k| {
                cell(
                    put(job("read", 1 << (4 * k), Cache::Warm)),
                    Op1 { nanos: 300.0, ..MEMORY },
                    0.01,
                )
            })
            .collect()
    };
    let results = [of(&|job| job), of(&flushed), of(&counted)].concat();
    let names: Vec<String> =
        explain_limits(&results, &bounds()).costs.into_iter().map(|curve| curve.name).collect();
    assert_eq!(
        names,
        [
            "read warm (calibrated)",
            "read warm (CPU caches flushed, calibrated)",
            "read warm (8192 operations)"
        ]
    );
}

trait With {
    fn with(self, nanos: f64) -> CellResult;
}

impl With for Job {
    fn with(self, nanos: f64) -> CellResult {
        cell(self, Op1 { nanos, ..DISK }, 0.03)
    }
}

#[test]
fn reached_links_and_ratings_are_named() {
    let result = job("pread", 1 << 20, Cache::Cold).with(1048576.0 / 560e6 * SECOND);
    let link = Bounds { link: Some(600e6), ..bounds() };
    assert_eq!(limits(std::slice::from_ref(&result), &link), [Some(Limit::Link)]);
    let told = |rated| {
        let bounds = Bounds { rated: Some(rated), ..bounds() };
        let result = std::slice::from_ref(&result);
        explain_limits(result, &bounds).limits[0].clone().unwrap().text
    };
    assert_eq!(told(560e6), "device: 534 MiB/s of the rated 534 MiB/s");
    // Ten times the rated speed is not that of the rated disk.
    assert!(!told(56e6).contains("rated"), "{}", told(56e6));
}

#[test]
fn reached_cgroup_limits_are_named() {
    let result = job("pread", 1 << 20, Cache::Cold).with(1048576.0 / 100e6 * SECOND);
    let granted = |reads| {
        let throttle = Throttle { read_bytes: Some(reads), ..Throttle::default() };
        Bounds { throttle, rated: Some(100e6), ..bounds() }
    };
    let limited = |result: &CellResult, reads| {
        explain_limits(std::slice::from_ref(result), &granted(reads)).limits[0].clone().unwrap()
    };
    // The verdict says whether it is reached.
    assert_eq!(limited(&result, 104_000_000).by, Limit::Device);
    let mut reached = result.clone();
    let evidence = "blkio.throttle of this process's control group allows 99.2 MiB/s";
    reached.warnings.push(warning("rate-limited", "", evidence));
    assert_eq!(limited(&reached, 104_000_000).text, format!("rate limit: 95.0 MiB/s; {evidence}"));
    let basis = |job: &Job, bounds: &Bounds| estimate(job, bounds).map(|of| of.basis);
    assert_eq!(basis(&result.cell, &granted(50_000_000)), Some(Basis::Granted));
    // Operations are requests only with direct I/O: 50 of 1 MiB are less than the rated speed.
    let throttle = Throttle { reads: Some(50), ..Throttle::default() };
    let operations = Bounds { throttle, rated: Some(100e6), ..bounds() };
    assert_eq!(basis(&result.cell, &operations), Some(Basis::Rated));
    let direct = Job { direct: true, ..result.cell };
    assert_eq!(basis(&direct, &operations), Some(Basis::Granted));
}

#[test]
fn mixes_have_their_scarcer_limit() {
    let throttle = Throttle {
        read_bytes: Some(1_000_000_000),
        write_bytes: Some(90_000_000),
        ..Throttle::default()
    };
    let bounds = Bounds { throttle, ..bounds() };
    let mixed =
        |reads| Job { mix: Some(reads), direct: true, ..job("pread", 1 << 20, Cache::AsIs) };
    for (job, rate) in [
        (mixed(70), 300e6),
        (mixed(100), 1e9),
        (mixed(0), 90e6),
        (Job { mix: None, ..mixed(70) }, 1e9),
    ] {
        let found = estimate(&job, &bounds).filter(|of| of.basis == Basis::Granted).unwrap().rate;
        assert!((found / rate - 1.0).abs() < 1e-9, "{:?}: {found}", job.mix);
    }
}

#[test]
fn rate_limits_hold_several_block_sizes() {
    fn cells(waits: f64, spread: f64) -> Vec<CellResult> {
        let blocks = [64 << 10, 256 << 10, 1 << 20];
        let at = |block: u64| Op1 { nanos: block as f64 / 200e6 * SECOND, waits, ..DISK };
        blocks
            .into_iter()
            .map(|block| cell(job("pread", block, Cache::Cold), at(block), spread))
            .collect()
    }
    assert_eq!(limits(&cells(50.0, 0.002), &bounds()), [Some(Limit::RateLimit); 3]);
    // A disk at its own best looks similar, but no operation waits for its turn, or it scatters.
    assert_eq!(limits(&cells(2.0, 0.002), &bounds()), [Some(Limit::Device); 3]);
    assert_eq!(limits(&cells(50.0, 0.05), &bounds()), [Some(Limit::Device); 3]);
}

#[test]
fn empty_calls_are_system_calls() {
    let seek = Job { op: Op::Seek, ..job("seek", 1, Cache::AsIs) };
    let why = explain_limits(&[cell(seek, Op1 { nanos: 120.0, ..MEMORY }, 0.01)], &bounds());
    assert_eq!(
        why.limits[0].as_ref().unwrap().text,
        "system-call cost: 120 ns each; the cheapest takes 100 ns"
    );
    let ring = |calls| {
        let ring = Job { op: Op::Seek, ..job("uring", 1, Cache::AsIs) };
        let cell = cell(ring, Op1 { nanos: 73.0, calls, ..MEMORY }, 0.01);
        explain_limits(&[cell], &bounds()).limits[0].as_ref().unwrap().text.clone()
    };
    assert_eq!(ring(1.0 / 32.0), "CPU: 73.0 ns for each operation; one system call for about 32");
    assert_eq!(ring(0.0), "CPU: 73.0 ns for each operation");
    assert_eq!(
        limits(&[cell(job("null", 1, Cache::AsIs), Op1 { nanos: 3.0, ..MEMORY }, 0.0)], &bounds()),
        [None]
    );
}

#[test]
fn failed_cells_have_no_limit() {
    let mut failed = job("pread", 4096, Cache::Warm).with(1e3);
    failed.error = Some("EIO".into());
    let mut unknown = job("pread", 4096, Cache::Warm).with(1e3);
    unknown.source =
        Some(Source { device: 0.0, page_cache: 0.0, hole: 0.0, unknown: 1.0, below: 0.0 });
    let empty = result(&job("pread", 4096, Cache::Warm), Vec::new(), None, None);
    assert_eq!(limits(&[failed, unknown, empty], &bounds()), [None; 3]);
}
