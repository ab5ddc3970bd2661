//! For each rule, a cell that triggers it and one that nearly does: whether the figures can be
//! trusted.

use super::cells::{Example, example, queue};
use crate::plan::{CpuCache, Sync, Writes};
use crate::record::Severity::{Misleading, Note, Wrong};
use crate::record::verdict::testing::*;
use crate::record::{
    BadBlock, CacheFlush, Found, MachineEvidence, Note as Noted, ReadBack, Rounds, Verified, Xor,
};

/// Writes of `block` bytes to a cached file on a kernel that scans its folios, with `nanos` of
/// system time each.
fn small_writes(case: &mut Case, nanos: u64, block: u64) {
    (case.target.walks_folios, case.job.block) = (Some("ext4 on Linux 6.18".into()), block);
    case.each(|t| {
        t.resident_before = Some(SPAN);
        t.ops = SPAN / block;
        t.system_nanos = nanos * t.ops;
        (t.evidence.timed_ops, t.syscalls) = (0, t.ops.into());
    });
}

/// Cuts the last trial after ten times its time, at a twentieth of the rate.
fn overrun(case: &mut Case) {
    let trial = case.trial(4);
    (trial.short, trial.evidence.overran) = (true, trial.nanos);
    (trial.nanos, trial.bytes) = (trial.nanos * 10, trial.bytes / 2);
}

/// Gives the only trial rounds of these bytes.
fn look_for_steady_state(case: &mut Case, bytes: [u64; 5]) {
    case.trials.truncate(1);
    let mut rounds = Rounds { planned: 1_000_000_000, ..Rounds::default() };
    bytes.iter().for_each(|bytes| rounds.push(1_000_000_000, bytes << 20, 100));
    case.trial(0).evidence.rounds = Some(Box::new(rounds));
}

fn read(xor: u32, other_blocks: u64) -> Option<ReadBack> {
    Some(ReadBack { xor: Xor(xor), other_blocks })
}

pub static TRUST: &[Example] = &[
    example("few", Misleading, cold, |c| c.trials.truncate(4), |c| c.trials.clear()),
    example(
        "few",
        Misleading,
        cold,
        |c| c.trials.truncate(1),
        |c| {
            c.trials.truncate(1);
            c.each(|trial| trial.evidence.clock = Some(0));
        },
    ),
    example(
        "few",
        Note,
        cold,
        |c| {
            c.trials.truncate(1);
            c.once = true
        },
        |c| c.once = true,
    ),
    example(
        "not-steady",
        Misleading,
        cold,
        |c| look_for_steady_state(c, [500, 400, 300, 200, 100]),
        |c| look_for_steady_state(c, [100; 5]),
    ),
    // The interval covers only the complete trials.
    example(
        "few",
        Misleading,
        cold,
        |c| c.trial(4).short = true,
        |c| {
            c.trials.push(c.trials[0].clone());
            c.trial(5).short = true
        },
    ),
    example(
        "not-durable",
        Wrong,
        committed,
        |c| count_devices(c, &[("sda", 1.1, 0.9)]),
        |c| count_devices(c, &[("sda", 1.1, 0.96)]),
    ),
    example("cut", Note, cold, |c| c.trial(4).short = true, |c| c.trials.truncate(5)),
    // Cut after ten times its time, at a twentieth of the rate.
    example("cut", Misleading, cold, overrun, |c| c.trials.truncate(5)),
    example("level-change", Misleading, cold, overrun, |c| c.trial(4).short = true),
    example(
        "cut",
        Misleading,
        cold,
        |c| c.each(|t| t.short = true),
        |c| (0..4).for_each(|i| c.trial(i).short = true),
    ),
    example(
        "short-trial",
        Misleading,
        cold,
        |c| {
            c.spread.half_width = Some(0.1);
            c.each(|t| t.nanos = 4_000_000)
        },
        |c| c.each(|t| t.nanos = 4_000_000),
    ),
    example(
        "short-trial",
        Note,
        cold,
        |c| c.each(|t| t.nanos = 4_000_000),
        |c| c.trial(0).nanos = 4_000_000,
    ),
    example(
        "few-operations",
        Misleading,
        cold,
        |c| c.latency.iter_mut().for_each(|l| l.count = 19),
        |c| c.latency = None,
    ),
    example(
        "few-for-percentile",
        Misleading,
        cold,
        |c| c.latency.iter_mut().for_each(|l| l.p999 = Some(3e6)),
        |c| c.latency.iter_mut().for_each(|l| (l.p999, l.count) = (Some(3e6), 10_000)),
    ),
    example(
        "few-for-percentile",
        Note,
        cold,
        |c| c.latency.iter_mut().for_each(|l| (l.p99, l.count) = (None, 999)),
        |c| c.latency.iter_mut().for_each(|l| (l.p99, l.count) = (None, 1000)),
    ),
    example(
        "wide",
        Note,
        cold,
        |c| c.spread.half_width = Some(0.08),
        |c| c.spread.half_width = Some(0.04),
    ),
    example(
        "wide",
        Misleading,
        cold,
        |c| c.spread.half_width = Some(0.4),
        |c| c.spread.half_width = Some(0.3),
    ),
    example("level-change", Misleading, cold, |c| steps(c, 10), |c| steps(c, 1)),
    example(
        "level-change",
        Note,
        cold,
        |c| c.each(|t| t.nanos += u64::from(t.round) * 10_000_000),
        |c| steps(c, 1),
    ),
    example(
        "two-modes",
        Misleading,
        cold,
        |c| c.spread.two_modes = Some((2e9, 1e9)),
        |c| c.spread.outliers = 2,
    ),
    example(
        "unsteady-host",
        Misleading,
        cold,
        |c| c.each(|t| t.evidence.steal_nanos = 24_000_000.into()),
        |c| {
            c.spread.half_width = Some(0.1);
            c.each(|t| t.evidence.steal_nanos = 24_000_000.into())
        },
    ),
    example(
        "unsteady-host",
        Note,
        cold,
        |c| c.each(|t| t.evidence.steal_nanos = 9_000_000.into()),
        |c| c.each(|t| t.evidence.steal_nanos = 5_000_000.into()),
    ),
    example(
        "unsteady-host",
        Misleading,
        cold,
        |c| c.each(|t| t.evidence.queued_nanos = (t.nanos / 5).into()),
        |c| c.each(|t| t.evidence.queued_nanos = (t.nanos / 100).into()),
    ),
    example(
        "unsteady-host",
        Note,
        cold,
        |c| c.each(|t| t.evidence.queued_nanos = (t.nanos / 25).into()),
        // With more threads than CPUs, they wait for each other.
        |c| {
            c.job.threads = 64;
            c.each(|t| t.evidence.queued_nanos = (t.nanos / 25).into())
        },
    ),
    // Steal time is unknown for trials shorter in total than two ticks of its clock.
    example(
        "unsteady-host",
        Misleading,
        cold,
        |c| c.each(|t| (t.nanos, t.evidence.steal_nanos) = (10_000_000, 1_000_000.into())),
        |c| c.each(|t| (t.nanos, t.evidence.steal_nanos) = (1_000_000, 1_000_000.into())),
    ),
    example(
        "unsteady-host",
        Misleading,
        cold,
        |c| c.machine.on_battery = Some(true),
        |c| c.machine.on_battery = None,
    ),
    example(
        "unsteady-host",
        Misleading,
        warm,
        |c| {
            c.machine = MachineEvidence {
                governor: Some("powersave".into()),
                on_battery: Some(true),
                ..MachineEvidence::default()
            }
        },
        |c| {
            c.machine = MachineEvidence {
                governor: Some("powersave".into()),
                on_battery: None,
                ..MachineEvidence::default()
            }
        },
    ),
    example(
        "unsteady-host",
        Note,
        cold,
        |c| c.machine.governor = Some("powersave".into()),
        |c| c.machine.governor = Some("schedutil".into()),
    ),
    example(
        "disturbed",
        Misleading,
        cold,
        |c| c.each(|t| t.evidence.disk_read_bytes = Some(SPAN + SPAN / 10)),
        |c| {
            c.spread.half_width = Some(0.2);
            c.each(|t| t.evidence.disk_read_bytes = Some(SPAN + SPAN / 10))
        },
    ),
    example(
        "disturbed",
        Note,
        cold,
        |c| c.trial(3).evidence.disk_read_bytes = Some(SPAN + SPAN / 25),
        |c| c.trial(3).evidence.disk_read_bytes = Some(SPAN + SPAN / 100),
    ),
    example(
        "disturbed",
        Note,
        warm,
        |c| c.trial(3).evidence.disk_write_bytes = Some(4 * MIB),
        |c| c.trial(3).evidence.disk_write_bytes = Some(MIB),
    ),
    example(
        "disturbed",
        Misleading,
        write,
        |c| c.each(|t| t.evidence.disk_write_bytes = Some(2 * SPAN)),
        |c| {
            c.job.sync = Sync::Dsync;
            c.each(|t| t.evidence.disk_write_bytes = Some(2 * SPAN))
        },
    ),
    example(
        "inconsistent",
        Wrong,
        cold,
        |c| c.trial(0).evidence.lane_bytes -= 1,
        |c| c.trial(0).evidence = Default::default(),
    ),
    example(
        "inconsistent",
        Wrong,
        cold,
        |c| c.trial(0).evidence.planned_bytes += MIB,
        |c| {
            c.trial(0).short = true;
            c.trial(0).evidence.planned_bytes += MIB
        },
    ),
    example("inconsistent", Wrong, cold, |c| c.each(|t| t.ops -= 1), |c| c.each(|t| t.ops += 0)),
    example(
        "inconsistent-time",
        Misleading,
        cold,
        |c| c.each(|t| t.evidence.timed_nanos = t.evidence.lane_nanos * 108 / 100),
        |c| c.each(|t| t.evidence.timed_nanos = t.evidence.lane_nanos * 104 / 100),
    ),
    example(
        "inconsistent-time",
        Misleading,
        cold,
        |c| c.each(|t| t.evidence.timed_nanos /= 2),
        |c| {
            c.each(|t| {
                (t.evidence.timed_nanos, t.evidence.xor_nanos) =
                    (t.evidence.lane_nanos / 2, (t.evidence.lane_nanos / 2).into())
            })
        },
    ),
    example(
        "inconsistent-time",
        Misleading,
        direct,
        |c| {
            queue(c, 4, Some(4.0));
            c.each(|t| t.evidence.timed_nanos = 4 * t.evidence.lane_nanos * 108 / 100)
        },
        // The depth that is seen at each wait may be less than that in between.
        |c| {
            queue(c, 4, Some(4.0));
            c.each(|t| {
                (t.evidence.achieved_depth, t.evidence.timed_nanos) =
                    (Some(1.5), 4 * t.evidence.lane_nanos)
            })
        },
    ),
    // If only some operations are timed, missing time proves nothing.
    example(
        "inconsistent-time",
        Misleading,
        cold,
        |c| c.each(|t| t.evidence.timed_nanos *= 2),
        |c| c.each(|t| (t.evidence.timed_ops, t.evidence.timed_nanos) = (16, t.nanos / 16)),
    ),
    // Nor does it in lanes that ran only briefly.
    example(
        "inconsistent-time",
        Misleading,
        cold,
        |c| {
            c.each(|t| (t.evidence.timed_nanos, t.evidence.lane_nanos, t.ops) = (15_000, 20_000, 1))
        },
        |c| {
            c.job.threads = 256;
            c.each(|t| {
                (t.evidence.timed_nanos, t.evidence.lane_nanos, t.ops) =
                    (15_000, 256 * 20_000 - 1, 1)
            })
        },
    ),
    example("slow-clock", Note, cold, slow_clock, |c| c.trials.truncate(5)),
    example(
        "shared-descriptors",
        Note,
        cold,
        |c| c.each(|t| t.evidence.notes.push(Noted::SharedDescriptors)),
        |c| c.each(|t| t.evidence.notes.push(Noted::SmallPages)),
    ),
    example(
        "small-pages",
        Note,
        direct,
        |c| c.each(|t| t.evidence.notes.push(Noted::SmallPages)),
        |c| c.each(|t| t.evidence.notes.push(Noted::SharedDescriptors)),
    ),
    example(
        "file-changed",
        Wrong,
        cold,
        |c| trials_with_note(c, Noted::FileChanged("size 5 -> 6".into())),
        slow_clock,
    ),
    example(
        "helper-uncounted",
        Note,
        cold,
        |c| trials_with_note(c, Noted::HelperUncounted),
        slow_clock,
    ),
    example("clock-jumped", Note, cold, |c| trials_with_note(c, Noted::ClockJumped(7)), slow_clock),
    example("cloned", Misleading, cold, |c| trials_with_note(c, Noted::Cloned), slow_clock),
    example("calls-unknown", Note, cold, |c| trials_with_note(c, Noted::CallsUnknown), slow_clock),
    example(
        "coarse-clock",
        Note,
        cold,
        |c| c.each(|t| t.evidence.notes.push(Noted::CoarseClock(t.nanos / 50))),
        slow_clock,
    ),
    example(
        "coarse-clock",
        Misleading,
        cold,
        |c| trials_with_note(c, Noted::CoarseClock(u64::MAX / 2)),
        slow_clock,
    ),
    example(
        "not-flushed",
        Misleading,
        cold,
        |c| {
            c.job.cpu_cache = CpuCache::Flush;
            c.each(|t| t.evidence.cpu_cache = flush(3.0, 100.0));
            c.trial(1).evidence.cpu_cache = flush(3.0, 5.0);
        },
        |c| {
            c.job.cpu_cache = CpuCache::Flush;
            c.each(|t| t.evidence.cpu_cache = flush(3.0, 6.0));
        },
    ),
    example(
        "not-read-back",
        Wrong,
        write,
        |c| c.each(|t| (t.xor, t.evidence.read_back) = (Some(Xor(1)), read(1, 1))),
        |c| c.each(|t| (t.xor, t.evidence.read_back) = (Some(Xor(1)), read(1, 0))),
    ),
    example(
        "not-read-back",
        Wrong,
        write,
        |c| (c.trial(3).xor, c.trial(3).evidence.read_back) = (Some(Xor(1)), read(2, 0)),
        |c| c.trial(3).evidence.read_back = None,
    ),
    example(
        "not-read-back",
        Wrong,
        write,
        |c| c.trial(3).evidence.verified = verified(1),
        |c| c.each(|t| t.evidence.verified = verified(0)),
    ),
    example(
        "large-folios",
        Note,
        write,
        |c| small_writes(c, 5_000, 4096),
        |c| small_writes(c, 1_500, 4096),
    ),
    example(
        "large-folios",
        Note,
        write,
        |c| small_writes(c, 5_000, 512),
        |c| small_writes(c, 5_000, 16384),
    ),
    example(
        "large-folios",
        Note,
        write,
        |c| small_writes(c, 5_000, 512),
        |c| {
            small_writes(c, 5_000, 512);
            c.job.writes = Writes::Append
        },
    ),
    example(
        "not-flushed",
        Misleading,
        cold,
        |c| c.job.cpu_cache = CpuCache::Flush,
        |c| c.each(|t| t.evidence.cpu_cache = flush(3.0, 3.0)),
    ),
    example(
        "uneven-start",
        Note,
        cold,
        |c| c.trial(0).evidence.skew_nanos = 9_000_000,
        |c| c.trial(0).evidence.skew_nanos = 5_000_000,
    ),
    // However wide the interval, as such starts make it wide.
    example(
        "uneven-start",
        Note,
        cold,
        |c| (c.spread.half_width, c.trial(0).evidence.skew_nanos) = (Some(1.1), 60_000_000),
        |c| (c.spread.half_width, c.trial(0).evidence.skew_nanos) = (Some(1.1), 29_000_000),
    ),
];

/// Adds the note to the second trial.
fn trials_with_note(case: &mut Case, note: Noted) {
    case.trial(1).evidence.notes.push(note);
}

/// Adds a note that only one rule checks.
fn slow_clock(case: &mut Case) {
    trials_with_note(case, Noted::SlowClock);
}

/// Returns a read-back with `bad` bad blocks.
fn verified(bad: u64) -> Option<Box<Verified>> {
    let mut verified = Verified::default();
    (0..bad).for_each(|offset| verified.add(BadBlock::new(offset, None, Found::Zeros)));
    Some(Box::new(verified))
}

fn flush(before_nanos: f64, after_nanos: f64) -> Option<CacheFlush> {
    Some(CacheFlush { before_nanos, after_nanos, flushed_bytes: 0 })
}

/// Sets twelve trials, the last six of which take `factor` times as long.
fn steps(case: &mut Case, factor: u64) {
    while case.trials.len() < 12 {
        case.trials.push(case.trials[0].clone());
    }
    for index in 0..12 {
        let trial = case.trial(index);
        trial.nanos = (300_000_000 + index as u64 % 3 * 1000) * if index < 6 { 1 } else { factor };
    }
}
