//! For each rule, a cell that triggers it and one that nearly does: cache, target, work.

use crate::plan::{Cache, Depth, Pattern, Sync};
use crate::record::Severity::{self, Misleading, Note, Wrong};
use crate::record::verdict::testing::*;
use crate::record::{Note as Noted, Preparation, Residency};

/// A change to a clean cell that a rule must detect, and a similar one that it must ignore.
pub struct Example {
    pub id: &'static str,
    pub severity: Severity,
    pub clean: fn() -> Case,
    pub fires: fn(&mut Case),
    pub spares: fn(&mut Case),
}

/// Creates an example: the change that fires the rule, then the change that does not.
pub const fn example(
    id: &'static str,
    severity: Severity,
    clean: fn() -> Case,
    fires: fn(&mut Case),
    spares: fn(&mut Case),
) -> Example {
    Example { id, severity, clean, fires, spares }
}

fn leave_cached(case: &mut Case, bytes: u64, mapped_by: &[&str]) {
    let names: Vec<String> = mapped_by.iter().map(|n| n.to_string()).collect();
    case.each(|t| {
        t.evidence.preparation = Some(Preparation::Cold { left: bytes, mapped_by: names.clone() })
    });
}

pub fn queue(case: &mut Case, depth: u32, seen: Option<f64>) {
    (case.info.depth, case.job.depth) = (Depth::UpTo(256), depth);
    case.each(|t| t.evidence.disk_depth = seen);
    case.each(|t| t.evidence.achieved_depth = Some(1.0));
}

/// Sets direct blocks of 1 MiB at depth 8, with an average of `requests` in the disk's queue, of
/// `blocks` blocks each.
fn merged(case: &mut Case, requests: f64, blocks: u64) {
    queue(case, 8, Some(requests));
    case.each(|t| t.evidence.disk_requests = (SPAN / MIB / blocks).into());
}

fn populated(case: &mut Case, pattern: Pattern, visited: u64) {
    (case.job.pattern, case.job.backend.options) = (pattern, vec![("populate".into(), None)]);
    case.each(|t| t.evidence.unique_bytes = visited);
}

fn shrunk(case: &mut Case, entropy: Option<f64>) {
    (case.target.compresses, case.target.entropy) = (Some("btrfs compress=zstd".into()), entropy);
}

fn fetched(case: &mut Case, bytes: u64) {
    case.each(|t| (t.device_bytes, t.evidence.disk_read_bytes) = (Some(bytes), Some(bytes)));
}

/// A trial of drawn blocks that visits a quarter of them, each four times.
fn drawn(case: &mut Case, device: u64) {
    case.job.pattern = Pattern::Zipf(990);
    case.each(|t| t.evidence.unique_bytes = SPAN / 4);
    fetched(case, device);
}

pub static CACHE: &[Example] = &[
    example("from-cache", Note, cold, |c| drawn(c, SPAN / 4), |c| drawn(c, SPAN)),
    example("from-cache", Wrong, cold, |c| drawn(c, SPAN / 8), |c| drawn(c, SPAN)),
    example(
        "wrapped",
        Wrong,
        cold,
        |c| {
            drawn(c, SPAN / 4);
            c.job.pattern = Pattern::Random
        },
        |c| drawn(c, SPAN / 4),
    ),
    example("from-cache", Wrong, cold, |c| fetched(c, SPAN / 2), |c| fetched(c, SPAN * 99 / 100)),
    example(
        "from-cache",
        Note,
        asis,
        |c| fetched(c, SPAN / 4),
        |c| {
            fetched(c, SPAN);
            c.job.cache = Cache::Cold
        },
    ),
    example(
        "from-cache",
        Note,
        asis,
        |c| fetched(c, 0),
        |c| {
            c.info.cached = false;
            fetched(c, 0)
        },
    ),
    example(
        "not-cold",
        Wrong,
        cold,
        |c| leave_cached(c, 16 * MIB, &[]),
        |c| leave_cached(c, 2 * MIB, &[]),
    ),
    example(
        "not-cold",
        Wrong,
        cold,
        |c| leave_cached(c, 16 * MIB, &["editor (812)"]),
        |c| leave_cached(c, 0, &["editor (812)"]),
    ),
    example(
        "not-cold",
        Wrong,
        cold,
        |c| {
            c.each(|t| {
                (t.evidence.residency, t.resident_before) =
                    (Some(Residency::Sampled), Some(9 * MIB))
            })
        },
        |c| {
            c.each(|t| {
                (t.evidence.residency, t.resident_before) =
                    (Some(Residency::Sampled), Some(7 * MIB))
            })
        },
    ),
    example(
        "previous-trial",
        Wrong,
        cold,
        |c| c.each(|t| (t.evidence.preparation, t.resident_before) = (None, Some(SPAN))),
        |c| c.each(|t| t.evidence.preparation = None),
    ),
    example(
        "previous-trial",
        Misleading,
        asis,
        |c| c.trial(1).resident_before = Some(SPAN),
        |c| c.trial(1).resident_before = Some(SPAN / 2 + SPAN / 20),
    ),
    example("not-warm", Wrong, warm, |c| fetched(c, SPAN / 50), |c| fetched(c, SPAN / 2000)),
    example("not-warm", Misleading, warm, |c| fetched(c, SPAN / 200), |c| fetched(c, 0)),
    example(
        "not-warm",
        Misleading,
        warm,
        |c| c.each(|t| (t.device_bytes, t.resident_before) = (None, Some(SPAN / 2))),
        |c| c.each(|t| (t.device_bytes, t.resident_before) = (None, Some(SPAN - 2 * MIB))),
    ),
    example("wrapped", Wrong, cold, |c| c.passes(4), |c| c.passes(1)),
    example(
        "wrapped",
        Misleading,
        asis,
        |c| c.passes(4),
        |c| {
            c.passes(4);
            fetched(c, 0)
        },
    ),
    example(
        "wrapped",
        Misleading,
        asis,
        |c| c.passes(2),
        |c| {
            c.passes(2);
            c.job.cache = Cache::Warm;
            fetched(c, 0)
        },
    ),
];

pub static TARGET: &[Example] = &[
    example(
        "holes",
        Wrong,
        cold,
        |c| c.each(|t| (t.hole_bytes, t.device_bytes) = (Some(SPAN / 2), Some(SPAN / 2))),
        |c| c.each(|t| t.hole_bytes = None),
    ),
    example(
        "holes",
        Misleading,
        warm,
        |c| c.each(|t| t.hole_bytes = Some(SPAN)),
        |c| c.target.hole_bytes = None,
    ),
    example(
        "holes",
        Note,
        cold,
        |c| c.each(|t| t.hole_bytes = Some(MIB)),
        |c| c.target.hole_method.clear(),
    ),
    example(
        "holes",
        Wrong,
        cold,
        |c| {
            c.trials.clear();
            c.target.hole_bytes = Some(SPAN)
        },
        |c| c.trials.clear(),
    ),
    example("not-direct", Wrong, direct, |c| fetched(c, SPAN / 2), |c| fetched(c, SPAN - MIB)),
    example(
        "not-direct",
        Wrong,
        direct,
        |c| c.each(|t| t.resident_after = Some(SPAN)),
        |c| c.each(|t| (t.resident_before, t.resident_after) = (Some(SPAN), Some(SPAN))),
    ),
    example(
        "not-direct",
        Wrong,
        direct,
        |c| {
            c.target.direct = Some(false);
            c.each(|t| t.resident_after = None)
        },
        |c| c.target.direct = Some(false),
    ),
    example(
        "not-direct",
        Wrong,
        direct_write,
        |c| c.each(|t| t.evidence.unwritten_bytes = SPAN.into()),
        |c| c.each(|t| t.evidence.unwritten_bytes = 4096.into()),
    ),
    example("memory", Wrong, cold, |c| c.target.memory = true, |c| c.target.fs = "tmpfs".into()),
    example("memory", Misleading, warm, |c| c.target.memory = true, |c| c.target.remote = true),
    example(
        "compressible",
        Wrong,
        cold,
        |c| {
            shrunk(c, Some(4.5));
            fetched(c, SPAN / 4)
        },
        |c| {
            shrunk(c, Some(7.99));
            fetched(c, SPAN / 4)
        },
    ),
    // The device read as many bytes as were returned: this file is not compressed.
    example(
        "compressible",
        Wrong,
        direct,
        |c| {
            shrunk(c, Some(4.5));
            fetched(c, SPAN / 4)
        },
        |c| shrunk(c, Some(4.5)),
    ),
    example(
        "compressible",
        Misleading,
        cold,
        |c| {
            shrunk(c, None);
            c.target.ours = false;
            c.each(|t| t.device_bytes = None)
        },
        |c| c.target.entropy = None,
    ),
    // iotui knows the data of its own file: random, unless an option changes it.
    example(
        "compressible",
        Note,
        cold,
        |c| {
            shrunk(c, None);
            c.target.compressible = Some(50);
        },
        |c| shrunk(c, None),
    ),
    example(
        "compressible",
        Misleading,
        direct_write,
        |c| shrunk(c, None),
        |c| {
            shrunk(c, None);
            c.target.compressible = Some(0);
        },
    ),
    example(
        "compressible",
        Note,
        cold,
        |c| c.target.entropy = Some(0.1),
        |c| c.target.entropy = Some(4.5),
    ),
    example(
        "nearly-full",
        Misleading,
        cold,
        |c| c.target.fs_used = Some(0.97),
        |c| c.target.fs_used = Some(0.95),
    ),
    example(
        "nearly-full",
        Misleading,
        cold,
        |c| c.target.fs_used = Some(0.99),
        |c| (c.target.ours, c.target.fs_used) = (false, Some(0.99)),
    ),
];

pub static WORK: &[Example] = &[
    example(
        "shared-offsets",
        Wrong,
        cold,
        |c| {
            c.job.threads = 2;
            c.each(|t| t.evidence.overlap_bytes = MIB)
        },
        |c| c.job.threads = 2,
    ),
    example(
        "shared-offsets",
        Wrong,
        cold,
        |c| {
            c.job.threads = 4;
            fetched(c, SPAN / 4)
        },
        // Another process read the rest.
        |c| {
            c.job.threads = 4;
            fetched(c, SPAN / 4);
            c.each(|t| t.evidence.disk_read_bytes = Some(SPAN))
        },
    ),
    // A second pass explains the bytes that did not come from the device.
    example(
        "shared-offsets",
        Wrong,
        cold,
        |c| {
            c.job.threads = 2;
            fetched(c, SPAN / 2)
        },
        |c| {
            c.job.threads = 2;
            c.passes(2);
            fetched(c, SPAN)
        },
    ),
    example(
        "not-on-device",
        Wrong,
        write,
        |c| c.each(|t| t.evidence.unwritten_bytes = (SPAN / 2).into()),
        |c| c.each(|t| t.evidence.unwritten_bytes = 4096.into()),
    ),
    example(
        "not-on-device",
        Wrong,
        write,
        |c| c.each(|t| t.evidence.disk_write_bytes = Some(SPAN / 2)),
        |c| {
            c.target.compresses = Some("zfs".into());
            c.each(|t| t.evidence.disk_write_bytes = Some(SPAN / 2))
        },
    ),
    example(
        "not-on-device",
        Note,
        write,
        |c| {
            c.job.sync = Sync::None;
            c.each(|t| t.evidence.unwritten_bytes = (SPAN / 2).into())
        },
        |c| c.job.sync = Sync::None,
    ),
    example(
        "not-on-device",
        Note,
        write,
        |c| {
            c.job.sync = Sync::None;
            c.each(|t| {
                (t.evidence.disk_write_bytes, t.evidence.unwritten_bytes) = (None, None.into())
            })
        },
        |c| c.job.sync = Sync::None,
    ),
    example("not-ours", Wrong, write, |c| c.target.ours = false, |c| c.target.ours = true),
    example(
        "not-ours",
        Wrong,
        direct_write,
        |c| c.target.ours = false,
        |c| {
            c.target.ours = false;
            c.job.mix = Some(100)
        },
    ),
    example("depth-unused", Misleading, cold, |c| c.job.depth = 32, |c| c.job.depth = 1),
    example(
        "depth-unused",
        Misleading,
        cold,
        |c| queue(c, 32, Some(1.3)),
        |c| queue(c, 32, Some(20.0)),
    ),
    // Operations merged into one request are in flight all the same; single small requests are not.
    example("depth-unused", Misleading, direct, |c| merged(c, 1.93, 1), |c| merged(c, 1.93, 4)),
    example("depth-unused", Misleading, direct, |c| merged(c, 1.0, 3), |c| merged(c, 1.0, 4)),
    // Readahead requests are large at any depth.
    example("depth-unused", Misleading, cold, |c| merged(c, 1.93, 4), |c| merged(c, 4.0, 4)),
    example(
        "depth-unused",
        Misleading,
        direct,
        |c| {
            merged(c, 1.93, 4);
            c.each(|t| t.evidence.disk_requests = None.into())
        },
        |c| merged(c, 7.9, 1),
    ),
    example(
        "depth-unused",
        Misleading,
        cold,
        |c| queue(c, 32, None),
        |c| {
            queue(c, 32, None);
            c.job.direct = true
        },
    ),
    example("read-ahead", Misleading, cold, |c| fetched(c, SPAN * 2), |c| fetched(c, SPAN * 3 / 2)),
    example("read-ahead", Note, cold, |c| fetched(c, SPAN * 3 / 2), |c| fetched(c, SPAN + 4096)),
    example(
        "read-ahead",
        Note,
        cold,
        |c| c.target.read_ahead = Some(8 * MIB),
        |c| {
            c.target.read_ahead = Some(8 * MIB);
            c.job.pattern = Pattern::Random
        },
    ),
    example(
        "populated-more",
        Misleading,
        warm,
        |c| populated(c, Pattern::Random, SPAN / 4),
        |c| populated(c, Pattern::Random, SPAN),
    ),
    example(
        "populated-more",
        Misleading,
        warm,
        |c| populated(c, Pattern::Stride(4), MIB),
        |c| populated(c, Pattern::Reverse, MIB),
    ),
    example(
        "populated-more",
        Misleading,
        warm,
        |c| populated(c, Pattern::Zipf(990), SPAN / 4),
        |c| populated(c, Pattern::Zipf(990), SPAN),
    ),
    example(
        "other-path",
        Note,
        cold,
        |c| c.trial(2).evidence.notes.push(Noted::UringPlain("ENOMEM".into())),
        |c| c.trial(2).evidence.notes.push(Noted::SlowClock),
    ),
    example(
        "preparation-timed",
        Wrong,
        cold,
        |c| c.trial(0).evidence.prepared = 21,
        |c| c.trial(0).evidence.prepared = 20,
    ),
];
