//! Plans, trials and sessions for the tests of this layer.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use super::{NewSession, Recorder, Session};
use crate::plan::{Cache, Choice, Job, Op, Plan, TargetSpec};
use crate::record::{
    Ceilings, EncodedLog, End, Event, Grounds, LatencyLog, LogEntry, MachineEvidence, Pick,
    PickConditions, Sample, SkippedMethod, Source, Trial, Try, Verdict, Xor,
};

/// 2026-11-21T09:30:11Z.
pub const CREATED: Duration = Duration::from_secs(1_795_253_411);

pub fn job(backend: &str, block: u64, cache: Cache) -> Job {
    Job {
        block,
        count: None,
        span: 1 << 30,
        cache,
        ..Job::plain(Choice::parse(backend).unwrap(), Op::Read)
    }
}

/// Returns a plan of this many cells: `read` at 4 KiB, 8 KiB and so on.
pub fn plan(cells: u32) -> Plan {
    Plan {
        presets: vec!["quick".into()],
        cells: (0..cells).map(|n| job("read", 4096 << (n % 16), Cache::Warm)).collect(),
        trials: Some(5),
        seed: 7,
        ..Plan::plain("sweep", TargetSpec::File { path: "/data/file".into(), size: 1 << 30 })
    }
}

pub fn session(cells: u32) -> Session {
    let created = crate::text::utc(UNIX_EPOCH + CREATED);
    Session::new(
        "20261121-093011-x".into(),
        String::new(),
        created,
        Default::default(),
        plan(cells),
    )
}

/// A trial of 1 s in 4 KiB operations.
pub fn trial(cell: u32, round: u32, bytes: u64) -> Trial {
    Trial {
        cell,
        round,
        bytes,
        ops: bytes / 4096,
        syscalls: (bytes / 4096 + 1).into(),
        nanos: 1_000_000_000,
        ..Trial::default()
    }
}

pub fn trial_event(cell: u32, round: u32, bytes: u64) -> Event {
    let sample =
        |n: u64| Sample { at: n * 100, nanos: 100, bytes: bytes / 10, ops: 1, syscalls: 1 };
    Event::Trial {
        trial: Arc::new(trial(cell, round, bytes)),
        samples: (1..=10).map(sample).collect(),
        latency: None,
    }
}

/// Returns latencies of a trial over time: an operation in each of some intervals.
pub fn latencies(cell: u32, round: u32) -> Arc<EncodedLog> {
    let mut log = LatencyLog::new(1);
    for index in [0, 1, 9] {
        log.add(LogEntry { index, ops: 1, latency: vec![(500, 1)], ..LogEntry::default() });
    }
    Arc::new(log.encode(cell, round).remove(0))
}

/// Begins to record a session without a name.
pub fn recorder(dir: &Path, plan: &Plan) -> Recorder {
    let (host, created) = (Default::default(), UNIX_EPOCH + CREATED);
    let new = NewSession { name: None, slug: "x", host: &host, plan, created };
    Recorder::create(dir, &new).unwrap()
}

/// Records a session of two trials and returns its id.
pub fn recorded(dir: &Path, name: Option<&str>, slug: &str) -> String {
    let mut recorder = Recorder::create(
        dir,
        &NewSession {
            name,
            slug,
            host: &Default::default(),
            plan: &plan(2),
            created: UNIX_EPOCH + CREATED,
        },
    )
    .unwrap();
    for cell in [0, 1] {
        recorder.record(&trial_event(cell, 1, 1 << 20));
    }
    recorder.finish(End::Finished);
    recorder.id().into()
}

fn tried(cell: u32, millis: u64) -> Try {
    Try {
        cell,
        offset: 0,
        bytes: 1 << 30,
        nanos: millis * 1_000_000,
        device_bytes: Some(0),
        minor_faults: 512,
    }
}

/// Returns three methods, of which the second was the fastest and was run.
pub fn picked() -> Vec<Event> {
    let mut plan = plan(3);
    let job = |way: &&str| Job { threads: 2, ..job(way, 2 << 20, Cache::AsIs) };
    plan.cells = ["mmap+shared", "pread", "uring"].iter().map(job).collect();
    let tries = (0..5).flat_map(|turn| [tried(0, 98 + turn), tried(1, 48 + turn)]).collect();
    let out = vec![SkippedMethod { cell: 2, why: "the ring\u{1b}[31m is closed".into() }];
    let found = PickConditions { span: 1 << 30, resident: Some(1 << 30), cpus: 2 };
    let pick = Pick::choose(&plan.cells, &[0, 1], found, tries, out, false, |job| {
        job.backend.id == "mmap"
    });
    let mut trial = trial(1, 1, 1 << 30);
    (trial.nanos, trial.xor, trial.passes) = (50_000_000, Some(Xor(0xabc)), 1);
    let ceilings =
        Ceilings { read: Some(2e10), read_all: Some(43e9), threads: 2, ..Ceilings::default() };
    let machine = MachineEvidence { ceilings: Some(ceilings), ..MachineEvidence::default() };
    let grounds = Arc::new(Grounds { machine, ..Grounds::default() });
    let source = Some(Source { device: 0.0, page_cache: 1.0, hole: 0.0, unknown: 0.0, below: 0.0 });
    vec![
        Event::Plan { plan: Arc::new(plan) },
        Event::Grounds { grounds },
        Event::Picked { pick: Arc::new(pick) },
        Event::Trial { trial: Arc::new(trial), samples: Vec::new(), latency: None },
        Event::Verdict { cell: 1, verdict: Arc::new(Verdict { source, ..Verdict::default() }) },
    ]
}
