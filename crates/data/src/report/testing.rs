//! Hand-made sessions with every kind of cell, for the tests of the formats. The figures are those
//! of a small virtual machine.

use std::sync::Arc;

use crate::facts::Host;
use crate::plan::{Cache, Choice, Job, Op, Pattern, Plan, ProbeCell, Skipped, Sync, TargetSpec};
use crate::record::{
    Age, BadBlock, Ceilings, CommitTimes, Durability, End, Estimate, Event, Evidence, Found,
    Grounds, Latency, LatencyLog, LogBuckets, LogEntry, ProbeFindings, ProbeTrial, Reach, Severity,
    Source, Trial, Unit, Verdict, Verified, Warning, Xor,
};
use crate::session::Session;

pub fn job(backend: &str, block: u64, cache: Cache) -> Job {
    Job {
        block,
        count: None,
        span: 512 << 20,
        cache,
        ..Job::plain(Choice::parse(backend).unwrap(), Op::Read)
    }
}

/// Returns `session` on a machine whose ceilings were measured and a disk whose rated speed is
/// known.
pub fn bounded(mut session: Session) -> Session {
    let mut grounds = session.grounds.take().unwrap_or_default();
    let reached = Ceilings {
        syscall_nanos: Some(100.0),
        copy: Some(12e9),
        read: Some(15e9),
        threads: 1,
        over: 1 << 28,
        ..Ceilings::default()
    };
    grounds.machine.ceilings = Some(reached);
    session.grounds = Some(grounds);
    session.plan.rated = Some(3_500_000_000);
    session
}

pub fn session(cells: Vec<Job>) -> Session {
    let plan = Plan {
        presets: vec!["quick".into()],
        cells,
        seed: 42,
        ..Plan::plain(
            "sweep",
            TargetSpec::File { path: "/data/images/ubuntu.iso".into(), size: 512 << 20 },
        )
    };
    let mut host = Host {
        name: "lab-7".into(),
        kernel: "6.18.44".into(),
        architecture: "x86_64".into(),
        ..Host::default()
    };
    (host.cpu.model, host.cpu.allowed, host.memory.total) =
        ("Intel Xeon E5-2680 v4".into(), 2, 23 << 30);
    host.virtualisation = Some("KVM".into());
    let mut session = Session::new(
        "20261121-093011-ubuntu".into(),
        "ubuntu".into(),
        "2026-11-21T09:30:11Z".into(),
        host,
        plan,
    );
    session.grounds = Some(Grounds {
        programs: vec!["iotui 0.1.0".into(), "fio-3.33".into()],
        ..Grounds::default()
    });
    session.end = Some(End::Goal);
    session
}

/// The cost of one operation and the source of its bytes.
#[derive(Clone, Copy)]
pub struct Like {
    pub nanos_per_op: f64,
    pub calls_per_op: f64,
    pub from: Option<Source>,
}

impl Like {
    pub fn new(nanos_per_op: f64, calls_per_op: f64, from: Option<Source>) -> Like {
        Like { nanos_per_op, calls_per_op, from }
    }
}

/// Returns a session with these trials of each cell.
pub fn measured(cells: Vec<Job>, trials: u32, like: Like) -> Session {
    let mut session = session(cells);
    (0..session.plan.cells.len()).for_each(|cell| measure(&mut session, cell, trials, like));
    session
}

pub const DEVICE: Source =
    Source { device: 1.0, page_cache: 0.0, hole: 0.0, unknown: 0.0, below: 0.0 };
pub const CACHE: Source =
    Source { device: 0.0, page_cache: 1.0, hole: 0.0, unknown: 0.0, below: 0.0 };

/// Adds `trials` trials of a cell that scatter by 1 %, and its verdict.
pub fn measure(session: &mut Session, cell: usize, trials: u32, like: Like) {
    let job = session.plan.cells[cell].clone();
    let moves = job.op != Op::Seek && job.backend.id != "null";
    for round in 1..=trials {
        let scatter = 1.0 + 0.01 * f64::from((round * 7 + cell as u32) % 5) - 0.02;
        let ops = (3e8 / like.nanos_per_op) as u64 + 1;
        let trial = Trial {
            cell: cell as u32,
            round,
            bytes: if moves { ops * job.block } else { 0 },
            ops,
            syscalls: ((ops as f64 * like.calls_per_op) as u64).into(),
            nanos: (ops as f64 * like.nanos_per_op * scatter) as u64,
            passes: 1,
            xor: job.xor.then_some(Xor(0x5eed_0001)),
            user_nanos: 30_000_000,
            system_nanos: 180_000_000,
            device_bytes: moves.then_some(ops * job.block),
            resident_before: moves.then_some(0),
            ..Trial::default()
        };
        session.trials.push(trial.into());
    }
    let latency = Latency {
        count: 50_000,
        unstarted: 0,
        every: 1,
        mean: like.nanos_per_op,
        p50: Some(like.nanos_per_op * 0.9),
        p90: Some(like.nanos_per_op * 1.4),
        p99: Some(like.nanos_per_op * 3.0),
        p999: Some(like.nanos_per_op * 20.0),
        max: like.nanos_per_op * 400.0,
        buckets: Vec::new(),
    };
    let scaled = |share: f64| Latency {
        p50: latency.p50.map(|nanos| nanos * share),
        p99: latency.p99.map(|nanos| nanos * share),
        ..latency.clone()
    };
    let commits = session.plan.cells[cell].commits().then(|| CommitTimes {
        total: latency.clone(),
        write: Some(scaled(0.1)),
        sync: Some(scaled(0.9)),
    });
    session.verdicts[cell] = Some(Arc::new(Verdict {
        source: like.from,
        source_reason: if like.from.is_some() {
            "the process read as much from the device".into()
        } else {
            String::new()
        },
        amplification: like.from.map(|_| 1.02),
        warnings: Vec::new(),
        latency: Some(latency),
        service: None,
        durability: commits.as_ref().map(|_| flushed()),
        commits,
    }));
}

fn flushed() -> Durability {
    Durability {
        reach: Reach::Flushed,
        reason: "nvme0n1 was flushed 1.00 times per commit, 90 us each".into(),
        flushes: Some(1.0),
        flush_nanos: Some(90_000.0),
        amplification: Some(2.5),
    }
}

pub fn warn(
    session: &mut Session,
    cell: usize,
    id: &'static str,
    severity: Severity,
    texts: [&str; 3],
) {
    let [message, evidence, remedy] = texts.map(String::from);
    let verdict = Arc::make_mut(session.verdicts[cell].get_or_insert_default());
    verdict.warnings.push(Warning {
        id: id.into(),
        severity,
        message,
        evidence,
        remedy: remedy.into(),
    });
}

/// Returns the default preset: three backends, four block sizes, cold and warm.
pub fn quick() -> Session {
    let mut cells = Vec::new();
    for cache in [Cache::Cold, Cache::Warm] {
        for backend in ["read", "mmap", "uring"] {
            cells.extend(
                [4u64 << 10, 32 << 10, 256 << 10, 2 << 20].map(|block| job(backend, block, cache)),
            );
        }
    }
    let mut session = session(cells);
    for cell in 0..session.plan.cells.len() {
        let job = session.plan.cells[cell].clone();
        let (call, rate, from) = match job.cache {
            Cache::Cold => (3000.0, 2.7, DEVICE),
            _ => (300.0, if job.backend.id == "mmap" { 30.0 } else { 13.0 }, CACHE),
        };
        let calls_per_op = if job.backend.id == "mmap" { 0.0 } else { 1.0 };
        measure(
            &mut session,
            cell,
            5,
            Like::new(call + job.block as f64 / rate, calls_per_op, Some(from)),
        );
    }
    session
}

/// Returns a session with everything that can go wrong: warnings, a failed cell, skipped ones, a
/// cut trial, an interrupted run, hostile names.
pub fn troubled() -> Session {
    let mut session = quick();
    session.plan.target = TargetSpec::File {
        path: "/data/\u{1b}[31mdünne/文書/sparse\n.img".into(),
        size: 512 << 20,
    };
    let holes = Source { device: 0.5, page_cache: 0.0, hole: 0.5, unknown: 0.0, below: 0.0 };
    for cell in 0..4 {
        Arc::make_mut(session.verdicts[cell].as_mut().unwrap()).source = Some(holes);
        let texts = [
            "half of these bytes were never stored",
            "256 MiB in holes (fiemap)",
            "copy the file with cp --sparse=never",
        ];
        warn(&mut session, cell, "holes", Severity::Wrong, texts);
    }
    for cell in [2, 5, 6, 20] {
        let texts = [
            "another program used the disk meanwhile",
            "disk 812 MiB, this run 790 MiB",
            "stop it and run again",
        ];
        warn(&mut session, cell, "others-used-disk", Severity::Misleading, texts);
    }
    warn(
        &mut session,
        12,
        "slow-clock",
        Severity::Note,
        ["latencies include 20 ns of the clock", "clocksource hpet", ""],
    );
    session.errors[11] =
        Some("io_uring: ENOMEM; raise the limit of locked memory (ulimit -l)".into());
    session.trials.retain(|t| t.cell != 11 && t.cell != 23);
    let last = session.trials.iter_mut().rfind(|t| t.cell == 19).unwrap();
    let last = std::sync::Arc::make_mut(last);
    (last.short, last.bytes, last.ops) = (true, last.bytes / 2, last.ops / 2);
    for block in [4 << 10, 32 << 10] {
        let reason = "aio: not in this kernel (ENOSYS)".into();
        session.plan.skipped.push(Skipped { cell: job("aio", block, Cache::Cold), reason });
    }
    session.notes.push("the scratch file was filled at 1.3 GiB/s".into());
    session.end = Some(End::Interrupted);
    session
}

/// Returns one trial of one cell, without intervals and without latencies, and with the source of
/// its bytes unknown.
pub fn single() -> Session {
    let mut session =
        session(vec![Job { count: Some(0), xor: true, ..job("read", 512, Cache::AsIs) }]);
    measure(&mut session, 0, 1, Like::new(450.0, 1.0, None));
    session.verdicts[0] = None;
    std::sync::Arc::make_mut(&mut session.trials[0]).device_bytes = None;
    session.plan.trials = Some(1);
    session.end = Some(End::Finished);
    session
}

/// Returns a result of `measure`: one count fills the trial time, and one ends with the file and is
/// repeated.
pub fn measured_session() -> Session {
    let mut session = session(vec![
        job("read", 512, Cache::Warm),
        job("read", 1 << 20, Cache::Warm),
        job("read", 1 << 21, Cache::Warm),
    ]);
    (session.plan.experiment, session.plan.presets) = ("measure".into(), vec!["measure".into()]);
    measure(&mut session, 0, 5, Like::new(450.0, 1.0, Some(CACHE)));
    measure(&mut session, 1, 5, Like::new(40_000.0, 1.0, Some(CACHE)));
    for trial in
        session.trials.iter_mut().map(std::sync::Arc::make_mut).filter(|trial| trial.cell == 1)
    {
        // The file has 512 operations.
        (trial.ops, trial.bytes, trial.passes, trial.nanos) =
            (512 * 15, 15 << 29, 15, 15 * 20_000_000);
    }
    session
}

/// Calls that move nothing next to calls that do, by count: the system-call preset.
pub fn calls() -> Session {
    let mut cells = Vec::new();
    for (backend, op) in [("pread", Op::Read), ("read", Op::Seek), ("null", Op::Read)] {
        cells.extend([1, 2, 4, 8].map(|block| Job {
            op,
            count: Some(1 << 20),
            ..job(backend, block, Cache::Warm)
        }));
    }
    let mut session = session(cells);
    for cell in 0..12 {
        let like = |nanos, from| Like {
            nanos_per_op: nanos,
            calls_per_op: if cell < 8 { 1.0 } else { 0.0 },
            from,
        };
        measure(
            &mut session,
            cell,
            6,
            [like(302.0, Some(CACHE)), like(104.0, None), like(1.3, None)][cell / 4],
        );
    }
    session
}

/// Cells that differ in everything else: threads, depth, pattern, options, direct, writes and their
/// mix.
pub fn axes() -> Session {
    let wide = job("uring+sqpoll+fixed", 4 << 10, Cache::AsIs);
    let random = Job { pattern: Pattern::Random, direct: true, ..wide };
    let write = Job { op: Op::Write, sync: Sync::Dsync, ..random.clone() };
    let cells = vec![
        Job { depth: 32, threads: 16, ..random.clone() },
        Job { depth: 1, ..random.clone() },
        Job { pattern: Pattern::Stride(16), span: 100 << 20, ..random.clone() },
        Job { depth: 32, ..write.clone() },
        Job { mix: Some(70), depth: 8, ..write },
    ];
    let mut session = session(cells);
    for cell in 0..5 {
        let like = Like::new(90_000.0 / (cell + 1) as f64, 0.2, Some(DEVICE));
        measure(&mut session, cell, 5 + cell as u32, like);
    }
    session.plan.verify = true;
    verify(&mut session, 3, &[]);
    let bad = [Found::Older { written: Age::Trial }, Found::Elsewhere { of: 8192, of_file: None }];
    verify(&mut session, 4, &bad);
    session
}

/// Adds that the blocks of a cell were read back: the first ones of its last trial hold `bad`.
fn verify(session: &mut Session, cell: u32, bad: &[Found]) {
    let mut bad = Some(bad);
    for trial in session.trials.iter_mut().rev().filter(|trial| trial.cell == cell) {
        let trial = Arc::make_mut(trial);
        let (bytes, blocks) = (trial.bytes, trial.ops);
        let mut verified = Verified {
            written: bytes,
            bytes,
            blocks,
            left: Some(0),
            direct: true,
            device_bytes: Some(bytes),
            nanos: 90_000_000,
            stamp_nanos: 30_000 * blocks / 1000,
            ..Verified::default()
        };
        for (offset, found) in (0u64..).step_by(4096).zip(bad.take().unwrap_or_default()) {
            verified.add(BadBlock::new(offset, None, *found));
        }
        trial.evidence.lane_nanos = trial.nanos;
        trial.evidence.verified = Some(Box::new(verified));
    }
}

/// Returns a run that was stopped before its first trial.
pub fn empty() -> Session {
    let mut session = session(vec![job("read", 4 << 10, Cache::Cold)]);
    session.end = None;
    session
}

/// Returns one cell of every kind, with few trials: wrong, misleading, failed, cut, without
/// latency, moving nothing, skipped, never reached.
pub fn every() -> Session {
    let mut cells: Vec<Job> =
        [4u64 << 10, 64 << 10, 1 << 20].map(|block| job("read", block, Cache::Cold)).to_vec();
    cells.extend(["mmap", "uring+sqpoll"].map(|backend| job(backend, 64 << 10, Cache::Warm)));
    cells.push(Job { op: Op::Seek, count: Some(1 << 20), ..job("seek", 1, Cache::AsIs) });
    cells.push(job("pread", 64 << 10, Cache::Cold));
    let mut session = session(cells);
    for (cell, trials) in [(0, 5), (1, 2), (2, 1), (3, 2), (5, 2)] {
        let nanos_per_op = [3000.0, 26_000.0, 380_000.0, 2500.0, 0.0, 104.0][cell];
        measure(
            &mut session,
            cell,
            trials,
            Like::new(nanos_per_op, 1.0, (cell < 4).then_some(DEVICE)),
        );
    }
    warn(
        &mut session,
        0,
        "holes",
        Severity::Wrong,
        ["half was never stored", "256 MiB | <b>&", "cp --sparse=never"],
    );
    warn(
        &mut session,
        1,
        "others-used-disk",
        Severity::Misleading,
        ["another used the disk", "\u{1b}[31m`x`\nnext", ""],
    );
    Arc::make_mut(session.verdicts[3].as_mut().unwrap()).latency = None;
    session.errors[4] =
        Some("io_uring: ENOMEM; raise the limit <of> locked \"memory\" | ulimit -l".into());
    let cut = std::sync::Arc::make_mut(session.trials.last_mut().unwrap());
    cut.short = true;
    session.plan.skipped.push(Skipped {
        cell: job("aio", 4 << 10, Cache::Cold),
        reason: "aio: not in this kernel (ENOSYS)".into(),
    });
    session.plan.target =
        TargetSpec::File { path: "/data/\u{1b}[31ma|b <c>&\n.img".into(), size: 512 << 20 };
    session.notes.push("a note with | and <b>".into());
    probes(&mut session);
    session.end = Some(End::Interrupted);
    session
}

/// Probes only, without a file.
pub fn lab() -> Session {
    let mut session = session(Vec::new());
    probes(&mut session);
    session.plan.target = TargetSpec::None;
    (session.plan.experiment, session.plan.presets) = ("lab".into(), vec!["lab".into()]);
    session
}

/// Probes of every unit: with and without parameters, estimates and cycles, warned, failed,
/// skipped, never reached.
fn probes(session: &mut Session) {
    let mut plan = session.plan.clone();
    plan.probes = vec![
        ProbeCell::new("clock", []),
        ProbeCell::new("call", [("arguments", 3.into())]),
        ProbeCell::new("bandwidth", [("op", "read".into()), ("huge", true.into())]),
        ProbeCell::new("metadata", [("op", "create|<b>&\u{1b}[31m".into())]),
        ProbeCell::new("file-cache", []),
        ProbeCell::new("switch-thread", []),
        ProbeCell::new("fork", []),
    ];
    let missing = ProbeCell::new("rtt", [("to", "remote".into())]);
    plan.skipped_probes
        .push(Skipped { cell: missing, reason: "no other machine was named".into() });
    session.probe_findings = vec![ProbeFindings::default(); plan.probes.len()];
    session.plan = plan;
    let figures = [
        (Unit::Nanos, 25.82, 5),
        (Unit::Nanos, 1.4, 6),
        (Unit::BytesPerSecond, 7.7e9, 2),
        (Unit::PerSecond, 51_000.0, 1),
        (Unit::Bytes, 3.8e10, 1),
    ];
    for (cell, (unit, value, trials)) in (0..).zip(figures) {
        for round in 1..=trials {
            let value = value * (1.0 + 0.01 * f64::from(round % 3));
            let cycles = (cell < 2).then_some(value * 2.5);
            session.probe_trials.push(ProbeTrial {
                cell,
                round,
                value,
                unit,
                cycles,
                short: cell == 2 && round == 2,
            });
        }
    }
    let estimate = |low, high, reason: &str| Some(Estimate { low, high, reason: reason.into() });
    session.probe_findings[0].estimate = estimate(12.0, 12.0, "30 cycles of 0.4 ns");
    session.probe_findings[2].estimate = estimate(9e9, 1.1e10, "one channel | <b>");
    let [message, evidence, remedy] =
        ["the CPU changed its frequency", "1.2 to 2.6 GHz", "set the governor"].map(String::from);
    session.probe_findings[1].warnings.push(Warning {
        id: "frequency".into(),
        severity: Severity::Misleading,
        message,
        evidence,
        remedy: remedy.into(),
    });
    session.probe_findings[5].error = Some("sched_setaffinity: EPERM <b> |".into());
}

/// Returns two trials of one cell with their latencies over time, the second with a pace.
pub fn timed() -> Session {
    let mut session = crate::session::testing::session(1);
    let entry = |index, ops: u64, nanos| LogEntry {
        index,
        ops,
        bytes: ops * 4096,
        latency: vec![(LogBuckets::of(nanos) as u16, ops as u32 * 9 / 10)],
        ..LogEntry::default()
    };
    let slow =
        LogEntry { latency: vec![(LogBuckets::of(1_000_000) as u16, 10)], ..entry(1, 50, 0) };
    let paced = LogEntry {
        latency: vec![(LogBuckets::of(64_000) as u16, 5)],
        service: vec![(LogBuckets::of(1000) as u16, 5)],
        ..entry(0, 25, 0)
    };
    let trials = [
        (2_500_000_000, 150_000_000, vec![entry(0, 100, 1000), slow]),
        (9_000_000_000, 100_000_000, vec![paced]),
    ];
    for (round, (started, nanos, entries)) in (1..).zip(trials) {
        let evidence = Evidence { started, ..Evidence::default() };
        let trial = crate::session::testing::trial(0, round, 1 << 20);
        let trial = Arc::new(Trial { nanos, evidence, ..trial });
        session.apply(&Event::Trial { trial, samples: Vec::new(), latency: None });
        let mut log = LatencyLog::new(1);
        entries.into_iter().for_each(|entry| log.add(entry));
        for log in log.encode(0, round) {
            session.apply(&Event::Latencies { log: Arc::new(log) });
        }
    }
    session
}

/// Returns every sample, with its name.
pub fn all() -> Vec<(&'static str, Session)> {
    vec![
        ("every", every()),
        ("lab", lab()),
        ("quick", quick()),
        ("troubled", troubled()),
        ("single", single()),
        ("calls", calls()),
        ("axes", axes()),
        ("empty", empty()),
    ]
}
