//! Cells with clean verdicts, for tests to change.

use std::sync::Arc;

use super::{CellEvidence, MachineEvidence, Spread, TargetEvidence};
use crate::plan::{Cache, Choice, Info, Job, Op, Sync};
use crate::record::{
    CommitDevice, CommitPath, CommitTimes, DeviceCounts, Evidence, Latency, Preparation, Residency,
    Trial, Warning,
};

pub const MIB: u64 = 1 << 20;
pub const SPAN: u64 = 256 * MIB;

pub const PREAD: Info = Info { id: "pread", title: "pread(2)", ..Info::COPIES_BY_CALL };

/// The owned data of a [`CellEvidence`].
#[derive(Debug)]
pub struct Case {
    pub job: Job,
    pub info: Info,
    pub target: TargetEvidence,
    pub machine: MachineEvidence,
    pub trials: Vec<Arc<Trial>>,
    pub spread: Spread,
    pub latency: Option<Latency>,
    pub service: Option<Latency>,
    pub commits: Option<CommitTimes>,
    pub harness_nanos: f64,
    pub once: bool,
}

impl Case {
    pub fn evidence(&self) -> CellEvidence<'_> {
        CellEvidence {
            job: &self.job,
            info: &self.info,
            target: &self.target,
            machine: &self.machine,
            trials: &self.trials,
            spread: self.spread,
            latency: self.latency.as_ref(),
            service: self.service.as_ref(),
            commits: self.commits.as_ref(),
            harness_nanos: self.harness_nanos,
            once: self.once,
            ranks: &[],
        }
    }

    pub fn warnings(&self) -> Vec<Warning> {
        super::judge(&self.evidence()).warnings
    }

    /// Returns one trial for changes.
    pub fn trial(&mut self, index: usize) -> &mut Trial {
        Arc::make_mut(&mut self.trials[index])
    }

    /// Changes every trial.
    pub fn each(&mut self, change: impl Fn(&mut Trial)) {
        self.trials.iter_mut().for_each(|trial| change(Arc::make_mut(trial)));
    }

    /// Multiplies the passes of each trial, with latencies to match.
    pub fn passes(&mut self, passes: u64) {
        self.each(|t| {
            let facts = &mut t.evidence;
            for count in [
                &mut t.bytes,
                &mut t.ops,
                &mut t.passes,
                &mut facts.lane_bytes,
                &mut facts.planned_bytes,
                &mut facts.timed_ops,
            ] {
                *count *= passes;
            }
            t.nanos *= passes;
            facts.timed_nanos *= passes;
            facts.lane_nanos *= passes;
        });
    }
}

fn job() -> Job {
    Job {
        block: MIB,
        span: SPAN,
        cache: Cache::Cold,
        ..Job::plain(Choice::plain("pread"), Op::Read)
    }
}

/// 256 reads of 1 MiB in 300 ms, all of them from the device.
fn trial(round: u32) -> Trial {
    let (ops, nanos) = (SPAN / MIB, 300_000_000);
    Trial {
        round,
        bytes: SPAN,
        ops,
        syscalls: ops.into(),
        nanos,
        passes: 1,
        device_bytes: Some(SPAN),
        hole_bytes: Some(0),
        resident_before: Some(0),
        resident_after: Some(SPAN),
        evidence: Evidence {
            started: 20,
            prepared: 10,
            preparation: Some(Preparation::Cold { left: 0, mapped_by: vec![] }),
            unique_bytes: SPAN,
            lane_bytes: SPAN,
            planned_bytes: SPAN,
            timed_ops: ops,
            timed_nanos: nanos - 10 * ops,
            lane_nanos: nanos,
            write_bytes: 0.into(),
            unwritten_bytes: 0.into(),
            disk_read_bytes: Some(SPAN),
            disk_write_bytes: Some(0),
            disk_requests: ops.into(),
            disk_depth: Some(1.0),
            steal_nanos: 0.into(),
            queued_nanos: 0.into(),
            residency: Some(Residency::Cachestat),
            ..Evidence::default()
        },
        ..Trial::default()
    }
}

/// A cold pread of 256 MiB of stored data, as claimed.
pub fn cold() -> Case {
    let target = TargetEvidence {
        fs: "ext4".into(),
        ours: true,
        device_counted: Some(true),
        entropy: Some(7.99),
        hole_bytes: Some(0),
        hole_method: "fiemap".into(),
        direct: Some(true),
        read_ahead: Some(128 << 10),
        fs_used: Some(0.5),
        ..TargetEvidence::default()
    };
    Case {
        job: job(),
        info: PREAD,
        target,
        machine: MachineEvidence {
            governor: Some("performance".into()),
            on_battery: Some(false),
            ..MachineEvidence::default()
        },
        trials: (1..=5).map(trial).map(Arc::new).collect(),
        spread: Spread { half_width: Some(0.01), two_modes: None, outliers: 0 },
        latency: Some(Latency {
            count: 1280,
            every: 1,
            p50: Some(1e6),
            p99: Some(2e6),
            ..Latency::default()
        }),
        service: None,
        commits: None,
        harness_nanos: 10.0,
        once: false,
    }
}

pub fn warm() -> Case {
    let mut case = cold();
    case.job.cache = Cache::Warm;
    case.each(|t| {
        t.device_bytes = Some(0);
        t.resident_before = Some(SPAN);
        t.evidence.preparation = Some(Preparation::Warm { resident: SPAN });
        t.evidence.disk_read_bytes = Some(0);
    });
    case
}

/// Half of the file is cached before each trial.
pub fn asis() -> Case {
    let mut case = warm();
    case.job.cache = Cache::AsIs;
    case.each(|t| t.evidence.preparation = Some(Preparation::AsIs));
    case.each(|t| t.device_bytes = Some(SPAN / 2));
    case.each(|t| t.resident_before = Some(SPAN / 2));
    case.each(|t| t.evidence.disk_read_bytes = Some(SPAN / 2));
    case
}

pub fn direct() -> Case {
    let mut case = cold();
    case.job.cache = Cache::AsIs;
    case.job.direct = true;
    case.each(|t| t.resident_after = Some(0));
    case.each(|t| t.evidence.preparation = Some(Preparation::AsIs));
    case
}

/// Buffered writes that are synced inside the timed window.
pub fn write() -> Case {
    let mut case = asis();
    case.job.op = Op::Write;
    case.job.sync = Sync::End;
    case.each(|t| {
        t.device_bytes = Some(0);
        t.resident_before = Some(0);
        t.evidence.write_bytes = SPAN.into();
        t.evidence.disk_read_bytes = Some(0);
        t.evidence.disk_write_bytes = Some(SPAN + 4096);
    });
    case
}

pub fn direct_write() -> Case {
    let mut case = write();
    case.job.direct = true;
    case.job.sync = Sync::None;
    case.each(|t| t.resident_after = Some(0));
    case
}

const COMMITS: u64 = 1000;

pub fn device(name: &str, lowest: bool) -> CommitDevice {
    CommitDevice {
        device: name.into(),
        lowest,
        volatile_cache: Some(true),
        fua: Some(false),
        rotational: Some(false),
        ..CommitDevice::default()
    }
}

fn counts(device: &str, written: u64, flushes: u64) -> DeviceCounts {
    DeviceCounts {
        device: device.into(),
        written: written.into(),
        flushes: flushes.into(),
        flush_nanos: (flushes * 300_000).into(),
    }
}

/// 1000 commits over five trials by fdatasync, each with a flush of 0.3 ms, on a disk of a physical
/// machine.
pub fn committed() -> Case {
    let mut case = write();
    case.job.sync = Sync::Fdatasync;
    case.target.commit_path = Some(CommitPath {
        // A partition has no queue of its own.
        devices: vec![
            CommitDevice { volatile_cache: None, fua: None, ..device("sda1", false) },
            device("sda", true),
        ],
        fastest_write_nanos: Some(50_000),
        ..CommitPath::default()
    });
    let mean = 400_000.0;
    let total = Latency { count: COMMITS, every: 1, mean, p50: Some(mean), ..Latency::default() };
    case.commits = Some(CommitTimes { total, write: None, sync: None });
    count_devices(&mut case, &[("sda", 1.1, 1.0)]);
    case
}

/// Gives every trial these counts: bytes per byte, and flushes per commit.
pub fn count_devices(case: &mut Case, devices: &[(&str, f64, f64)]) {
    case.each(|trial| {
        let of = |(name, bytes, flushes): &(&str, f64, f64)| {
            counts(name, (SPAN as f64 * bytes) as u64, (COMMITS as f64 / 5.0 * flushes) as u64)
        };
        trial.evidence.devices = devices.iter().map(of).collect();
    });
}
