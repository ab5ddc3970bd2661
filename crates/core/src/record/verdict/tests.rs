use super::testing::*;
use super::*;
use crate::plan::{Cache, Choice, CpuCache, DataPath, Depth, Info, Op, Pattern, Sync, Writes};
use crate::record::{CacheFlush, Evidence, Note, Preparation, ReadBack, Residency, Throttle, Xor};

mod properties;

/// A measured trial and its verdict. Sizes in MiB.
struct Row {
    name: &'static str,
    cache: Cache,
    direct: bool,
    bytes: f64,
    unique: f64,
    hole: f64,
    device: f64,
    resident: f64,
    /// device, page cache, hole
    source: [f64; 3],
    amplification: f64,
}

const fn row(
    name: &'static str,
    cache: Cache,
    direct: bool,
    figures: [f64; 5],
    source: [f64; 3],
    amplification: f64,
) -> Row {
    let [bytes, unique, hole, device, resident] = figures;
    Row { name, cache, direct, bytes, unique, hole, device, resident, source, amplification }
}

/// Measured on ext4: bytes read, bytes of one pass, bytes in holes, device bytes, resident before.
const MEASURED: &[Row] = &[
    row("pread cold", Cache::Cold, false, [256.0, 256.0, 0.0, 256.0, 0.0], [1.0, 0.0, 0.0], 1.0),
    row("pread warm", Cache::Warm, false, [256.0, 256.0, 0.0, 0.0, 256.0], [0.0, 1.0, 0.0], 0.0),
    row(
        "pread random cold",
        Cache::Cold,
        false,
        [15.62, 256.0, 0.0, 15.68, 0.0],
        [1.0, 0.0, 0.0],
        1.0038,
    ),
    row(
        "mmap random cold",
        Cache::Cold,
        false,
        [15.62, 256.0, 0.0, 256.0, 0.0],
        [1.0, 0.0, 0.0],
        16.39,
    ),
    row(
        "dontcache cold",
        Cache::Cold,
        false,
        [256.0, 256.0, 0.0, 376.0, 0.0],
        [1.0, 0.0, 0.0],
        1.469,
    ),
    row(
        "dontcache, 6 MiB absent",
        Cache::Warm,
        false,
        [256.0, 256.0, 0.0, 6.0, 250.0],
        [0.0234, 0.9766, 0.0],
        0.0234,
    ),
    row(
        "direct, a cached copy ignored",
        Cache::AsIs,
        true,
        [256.0, 256.0, 0.0, 256.0, 256.0],
        [1.0, 0.0, 0.0],
        1.0,
    ),
    row("direct random", Cache::AsIs, true, [15.62, 256.0, 0.0, 15.62, 0.0], [1.0, 0.0, 0.0], 1.0),
    row("sparse, direct", Cache::AsIs, true, [64.0, 64.0, 64.0, 0.0, 0.0], [0.0, 0.0, 1.0], 0.0),
    row(
        "preallocated and cached",
        Cache::Warm,
        false,
        [64.0, 64.0, 64.0, 0.0, 64.0],
        [0.0, 0.0, 1.0],
        0.0,
    ),
    row("half holes cold", Cache::Cold, false, [64.0, 64.0, 32.0, 32.0, 0.0], [0.5, 0.0, 0.5], 1.0),
    row("half holes warm", Cache::Warm, false, [64.0, 64.0, 32.0, 0.0, 64.0], [0.0, 0.5, 0.5], 0.0),
    row(
        "half holes, direct random",
        Cache::AsIs,
        true,
        [7.81, 64.0, 3.93, 3.88, 0.0],
        [0.4968, 0.0, 0.5032],
        1.0,
    ),
    row(
        "four passes, first one cold",
        Cache::AsIs,
        false,
        [256.0, 64.0, 0.0, 64.0, 0.0],
        [0.25, 0.75, 0.0],
        0.25,
    ),
    row(
        "four passes, read ahead",
        Cache::AsIs,
        false,
        [256.0, 64.0, 0.0, 128.0, 0.0],
        [0.5, 0.5, 0.0],
        0.5,
    ),
    row(
        "four direct passes",
        Cache::AsIs,
        true,
        [256.0, 64.0, 0.0, 256.0, 0.0],
        [1.0, 0.0, 0.0],
        1.0,
    ),
];

fn case_of(row: &Row) -> Case {
    fn mib(mib: f64) -> u64 {
        (mib * MIB as f64) as u64
    }
    let mut case = if row.direct { direct() } else { cold() };
    case.job.cache = row.cache;
    case.job.span = mib(row.unique);
    case.each(|t| {
        t.bytes = mib(row.bytes);
        t.hole_bytes = Some(mib(row.hole));
        t.device_bytes = Some(mib(row.device));
        t.resident_before = Some(mib(row.resident));
        t.evidence.unique_bytes = mib(row.unique);
    });
    case
}

#[test]
fn cached_share_excludes_holes() {
    let message_of = |name: &str| {
        let row = MEASURED.iter().find(|row| row.name == name).unwrap();
        let case = case_of(&Row { cache: Cache::AsIs, ..*row });
        let warnings = judge(&case.evidence()).warnings;
        warnings.into_iter().find(|warning| warning.id == "from-cache").unwrap().message
    };
    assert!(message_of("half holes warm").starts_with("100 % of the stored bytes came from"));
    assert!(message_of("four passes, read ahead").starts_with("50 % of the bytes came from"));
}

#[test]
fn the_source_formula_matches_measurements() {
    for row in MEASURED {
        let verdict = judge(&case_of(row).evidence());
        let source = verdict.source.unwrap();
        for (name, actual, expected) in [
            ("device", source.device, row.source[0]),
            ("page cache", source.page_cache, row.source[1]),
            ("hole", source.hole, row.source[2]),
        ] {
            assert!(
                (actual - expected).abs() < 1e-3,
                "{}: {name} {actual}, expected {expected}",
                row.name
            );
        }
        assert_eq!(source.unknown, 0.0, "{}", row.name);
        let amplification = verdict.amplification.unwrap_or(0.0);
        assert!(
            (amplification - row.amplification).abs() < 1e-2,
            "{}: amplification {amplification}",
            row.name
        );
    }
}

#[test]
fn loose_shares_have_bounds() {
    for row in MEASURED {
        let reason = judge(&case_of(row).evidence()).source_reason;
        let bounds = reason.split_once("between ").map(|(_, bounds)| bounds);
        let expected = (row.name == "four passes, read ahead").then_some("25 % and 50 %");
        assert_eq!(bounds, expected, "{}: {reason}", row.name);
    }
}

#[test]
fn trials_are_summed_in_bytes() {
    let mut case = warm();
    case.trials.truncate(2);
    case.trial(0).bytes = SPAN / 4;
    case.trial(0).device_bytes = Some(SPAN);
    let verdict = judge(&case.evidence());
    assert_eq!(
        verdict.source.map(|s| (s.device, s.page_cache)),
        Some((0.2, 0.8)),
        "the overshoot of one trial must not count for another"
    );
    assert_eq!(verdict.amplification, Some(0.8));
}

#[test]
fn prepared_passes_are_not_repeats() {
    let ids = |case: &Case| case.warnings().into_iter().map(|w| w.id).collect::<Vec<_>>();
    for mut case in [cold(), warm()] {
        let once = judge(&case.evidence());
        case.passes(3);
        case.each(|t| {
            t.evidence.parts = 3;
            t.device_bytes = t.device_bytes.map(|bytes| bytes * 3);
            t.evidence.disk_read_bytes = t.evidence.disk_read_bytes.map(|bytes| bytes * 3);
        });
        assert!(ids(&case).is_empty(), "{:?}", ids(&case));
        assert_eq!(judge(&case.evidence()).source, once.source);
        // With unknown holes the cache can have served at most the resident bytes of each
        // preparation.
        case.target.hole_bytes = None;
        case.each(|t| t.hole_bytes = None);
        assert_eq!(judge(&case.evidence()).source, once.source);
    }
}

/// Returns the source as device, page cache, hole, unknown; and the reason.
fn source(case: &Case) -> ([f64; 4], String) {
    let verdict = judge(&case.evidence());
    (
        verdict.source.map_or([-1.0; 4], |s| [s.device, s.page_cache, s.hole, s.unknown]),
        verdict.source_reason,
    )
}

#[track_caller]
fn expect(case: &Case, expected: [f64; 4], reason_part: &str) {
    let (shares, reason) = source(case);
    assert_eq!(shares, expected, "{reason}");
    assert!(reason.contains(reason_part) && !reason.contains('\n'), "{reason}");
}

#[test]
fn unknown_sources_have_a_reason() {
    const UNKNOWN: [f64; 4] = [0.0, 0.0, 0.0, 1.0];
    let changed = |mut case: Case, change: fn(&mut Case)| {
        change(&mut case);
        case
    };
    expect(&changed(cold(), |c| c.target.remote = true), UNKNOWN, "a server moves the bytes");
    expect(
        &changed(cold(), |c| c.target.device_counted = Some(false)),
        UNKNOWN,
        "not charged to this process",
    );
    expect(&changed(cold(), |c| c.each(|t| t.device_bytes = None)), UNKNOWN, "does not report");
    let blind = changed(cold(), |c| {
        c.target.device_counted = None;
        c.each(|t| t.device_bytes = Some(0));
    });
    expect(&blind, UNKNOWN, "not charged to this process");
    assert!(!blind.warnings().iter().any(|w| w.id == "from-cache"));
    let guessed = changed(cold(), |c| {
        c.target.device_counted = None;
        c.each(|t| (t.device_bytes, t.evidence.residency) = (Some(0), Some(Residency::Sampled)));
    });
    expect(&guessed, [0.0, 1.0, 0.0, 0.0], "sampled");
    let sparse = changed(cold(), |c| {
        c.target.device_counted = None;
        c.each(|t| (t.hole_bytes, t.device_bytes) = (Some(SPAN), Some(0)));
    });
    expect(&sparse, [0.0, 0.0, 1.0, 0.0], "0 B from the device for 0 B");
    let some = changed(cold(), |c| c.trial(0).device_bytes = None);
    expect(&some, [0.8, 0.0, 0.0, 0.2], "some trials have no device byte count");
    let no_map = changed(asis(), |c| {
        c.target.hole_bytes = None;
        c.each(|t| (t.hole_bytes, t.resident_before) = (None, Some(SPAN / 4)));
    });
    expect(&no_map, [0.5, 0.25, 0.0, 0.25], "holes could not be detected");
    let small = changed(cold(), |c| {
        c.target.compresses = Some("btrfs compress=zstd".into());
        c.each(|t| t.device_bytes = Some(SPAN / 4));
    });
    expect(&small, [0.25, 0.0, 0.0, 0.75], "btrfs compress=zstd");
    let mixed = changed(cold(), |c| c.job.mix = Some(50));
    expect(&mixed, UNKNOWN, "not counted separately");
}

#[test]
fn memory_targets_serve_from_memory() {
    let mut case = cold();
    case.target.memory = true;
    case.target.fs = "tmpfs".into();
    case.each(|t| t.device_bytes = Some(0));
    expect(&case, [0.0, 1.0, 0.0, 0.0], "tmpfs is memory");
    case.job.op = Op::Write;
    expect(&case, [0.0, 1.0, 0.0, 0.0], "tmpfs is memory");
}

#[test]
fn holes_are_estimated_from_the_span() {
    let mut case = cold();
    case.target.hole_bytes = Some(SPAN / 4);
    case.each(|t| (t.hole_bytes, t.device_bytes) = (None, Some(SPAN * 3 / 4)));
    expect(&case, [0.75, 0.0, 0.25, 0.0], "spread evenly");
}

#[test]
fn the_reason_mentions_sampled_residency() {
    let mut case = cold();
    case.each(|t| t.evidence.residency = Some(Residency::Sampled));
    expect(&case, [1.0, 0.0, 0.0, 0.0], "sampled");
}

#[test]
fn direct_writes_are_device_bytes() {
    expect(&write(), [0.0, 0.0, 0.0, 1.0], "charged when dirtied");
    let mut case = direct_write();
    expect(&case, [1.0, 0.0, 0.0, 0.0], "direct writes");
    case.each(|t| t.evidence.disk_write_bytes = Some(SPAN / 2));
    expect(&case, [0.5, 0.0, 0.0, 0.5], "reached the disk");
    case.each(|t| t.evidence.disk_write_bytes = None);
    expect(&case, [1.0, 0.0, 0.0, 0.0], "reached the disk");
    case.each(|t| t.evidence.unwritten_bytes = None.into());
    expect(&case, [0.0, 0.0, 0.0, 1.0], "no counter");
    case.target.direct = Some(false);
    expect(&case, [0.0, 0.0, 0.0, 1.0], "charged when dirtied");
}

#[test]
fn mixes_sum_reads_and_writes() {
    let mut case = direct();
    case.job.mix = Some(75);
    case.each(|t| {
        t.device_bytes = Some(SPAN * 3 / 4);
        t.evidence.written = Some(SPAN / 4);
        t.evidence.write_bytes = (SPAN / 4).into();
        t.evidence.disk_write_bytes = Some(SPAN / 4);
    });
    expect(&case, [1.0, 0.0, 0.0, 0.0], "; ");
    case.job.direct = false;
    expect(&case, [0.75, 0.0, 0.0, 0.25], "charged when dirtied");
}

#[test]
fn calls_have_no_source() {
    let mut null = cold();
    null.info.data_path = DataPath::LoopOnly;
    let mut seek = cold();
    seek.job.op = Op::Seek;
    for case in [null, seek] {
        assert_eq!(
            source(&case),
            ([-1.0; 4], "the cell moves no bytes, it only makes calls".into())
        );
        assert_eq!(case.warnings(), []);
    }
    let mut none = cold();
    none.trials.clear();
    assert_eq!(source(&none), ([-1.0; 4], "no trial moved any bytes".into()));
    assert_eq!(none.warnings(), []);
}

#[test]
fn the_most_severe_warning_comes_first() {
    let mut case = cold();
    case.target.hole_bytes = Some(SPAN);
    case.each(|t| t.hole_bytes = Some(SPAN));
    case.each(|t| t.evidence.notes.push(Note::SlowClock));
    case.spread.half_width = Some(0.5);
    let order: Vec<_> = case.warnings().into_iter().map(|w| w.id).collect();
    assert_eq!(order, ["holes", "wide", "slow-clock"]);
}

#[test]
fn residency_explains_uncounted_reads() {
    fn part(before: u64, after: u64) -> String {
        let mut case = cold();
        case.target.remote = true;
        case.each(|t| (t.resident_before, t.resident_after) = (Some(before), Some(after)));
        source(&case).1
    }
    assert!(part(0, SPAN).contains(
        "the page cache was empty at first and then filled: it held 0 % before a trial and 100 % \
         after"
    ));
    assert!(part(0, 0).contains("the page cache took no part"), "{}", part(0, 0));
    assert!(part(SPAN, SPAN).contains("the page cache could serve all of it"));
    assert!(part(SPAN / 2, SPAN).contains("part of it: it held 50"));
    let mut blind = cold();
    blind.target.remote = true;
    blind.each(|t| t.resident_before = None);
    assert!(source(&blind).1.contains("whether the page cache took part is unknown"));
}
