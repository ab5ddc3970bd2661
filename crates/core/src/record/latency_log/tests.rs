//! The log of latencies: nothing is lost where it becomes wider or text, it stays small, and no
//! input harms it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::*;
use crate::stats::random::mix;

const SECOND: u64 = 1_000_000_000;

fn log(entries: impl IntoIterator<Item = LogEntry>) -> LatencyLog {
    let mut log = LatencyLog::new(1);
    entries.into_iter().for_each(|entry| log.add(entry));
    log
}

/// Returns what no width changes: operations, bytes, calls, device bytes, held back, and the counts
/// of all buckets.
fn totals(log: &LatencyLog) -> ([u64; 4], Option<u64>, [Vec<LogCount>; 2]) {
    let all = log.entries().iter().cloned().reduce(|mut all, more| {
        all.merge(&more);
        all
    });
    let all = all.unwrap_or_default();
    let sums = [all.ops, all.bytes, all.syscalls, all.held.into()];
    (sums, all.device, [all.latency, all.service])
}

fn counts() -> impl Strategy<Value = Vec<LogCount>> {
    prop::collection::btree_map(0..1000u16, 1..1_000_000u32, 0..20)
        .prop_map(|counts| counts.into_iter().collect())
}

prop_compose! {
    fn entry(most: u32)(
        index in 0..most,
        (ops, bytes, syscalls) in (0..1u64 << 40, 0..1u64 << 50, 0..1u64 << 40),
        device in prop::option::of(0..1u64 << 50),
        held in 0..1000u32,
        latency in counts(),
        service in counts(),
    ) -> LogEntry {
        let further = 0;
        LogEntry { index, further, ops, bytes, syscalls, device, held, latency, service }
    }
}

proptest! {
    #[test]
    fn lines_have_the_whole_log(entries in prop::collection::vec(entry(1 << 20), 1..200)) {
        let log = log(entries);
        let lines = log.encode(3, 7);
        prop_assert!(lines.iter().all(|line| line.is_sound() && (line.cell, line.round) == (3, 7)));
        prop_assert_eq!(LatencyLog::decode(&lines), Some(log));
    }

    #[test]
    fn wider_intervals_lose_nothing(entries in prop::collection::vec(entry(100), 1..100)) {
        let mut log = log(entries);
        let before = totals(&log);
        for width in (1..6).map(|times| LatencyLog::WIDTH << times) {
            log.halve();
            prop_assert_eq!(&totals(&log), &before);
            prop_assert_eq!(log.width, width);
            prop_assert!(log.entries().is_sorted_by(|a, b| a.index < b.index));
        }
    }

    #[test]
    fn long_entries_lose_nothing(
        entries in prop::collection::vec(entry(2000), 1..100),
        (from, nanos) in (0..2000u32, 0..500u32),
        (fine, rest) in (0..3u32, 0..9u32),
    ) {
        let log = log(entries);
        let thinned = log.thinned([1 << fine, 1 << rest], &[(from, from + nanos)]);
        prop_assert_eq!(&totals(&thinned), &totals(&log));
        let lines = thinned.encode(3, 7);
        prop_assert_eq!(LatencyLog::decode(&lines), Some(thinned.clone()));
        let inside = |own: &&LogEntry| own.index >= from && own.last() < from + nanos;
        prop_assert!(thinned.entries().iter().filter(inside).all(|own| own.further < 1 << fine));
        let even = thinned.evened(2000 * LatencyLog::WIDTH);
        prop_assert_eq!(&totals(&even), &totals(&log));
        prop_assert!(even.entries().is_sorted_by(|a, b| a.last() < b.index));
        let (mut rest, all) = (log.clone(), totals(&log).0[0]);
        let first = rest.take_before(1000);
        prop_assert_eq!(totals(&first).0[0] + totals(&rest).0[0], all);
    }

    #[test]
    fn any_text_is_safe(
        raw in prop::collection::vec(any::<u8>(), 0..300),
        (width, every, from, spans) in any::<(u64, u32, u32, bool)>(),
        text in "\\PC*",
    ) {
        for (width, data) in [(width, text), (100_000_000, STANDARD.encode(&raw))] {
            let line = EncodedLog { cell: 0, round: 1, width, every, from, spans, data };
            let Some(mut log) = LatencyLog::decode([&line, &line]) else { continue };
            prop_assert!(log.entries().len() <= raw.len());
            prop_assert!(log.entries().is_sorted_by(|a, b| a.index < b.index));
            log.halve();
            log.append(log.clone(), u64::MAX);
            log.encode(0, 1);
        }
    }
}

#[test]
fn entries_of_lanes_share_intervals() {
    let entry = |index, ops, bucket| LogEntry {
        index,
        ops,
        device: (index == 2).then_some(4096),
        latency: vec![(bucket, 1), (900, 2)],
        ..LogEntry::default()
    };
    // A lane may be ahead of another one.
    let log = log([entry(0, 1, 5), entry(2, 1, 7), entry(0, 1, 4), entry(1, 1, 9), entry(2, 5, 7)]);
    let found: Vec<_> = log.entries().iter().map(|own| (own.index, own.ops, own.device)).collect();
    assert_eq!(found, [(0, 2, None), (1, 1, None), (2, 6, Some(8192))]);
    assert_eq!(log.entries()[0].latency, [(4, 1), (5, 1), (900, 4)]);
    assert_eq!((log.entries()[2].timed(), log.start_of(&log.entries()[2])), (6, 200_000_000));
}

#[test]
fn parts_follow_each_other() {
    let part = || log((0..3).map(|index| LogEntry { index, ops: 1, ..LogEntry::default() }));
    let mut all = part();
    all.append(part(), 250_000_000);
    let found: Vec<_> = all.entries().iter().map(|own| (own.index, own.ops)).collect();
    assert_eq!(found, [(0, 1), (1, 1), (2, 2), (3, 1), (4, 1)]);
    let mut wide = part();
    wide.halve();
    all.append(wide, 500_000_000);
    assert_eq!((all.width, totals(&all).0[0]), (200_000_000, 9));
}

#[test]
fn long_logs_become_wider() {
    let most = LatencyLog::MAX_ENTRIES as u32;
    let log = log((0..5 * most).map(|index| LogEntry { index, ops: 1, ..LogEntry::default() }));
    assert_eq!(log.width, 8 * LatencyLog::WIDTH);
    assert_eq!(
        (log.entries().len(), totals(&log).0[0]),
        (5 * most as usize / 8, 5 * u64::from(most))
    );
    assert!(log.entries().iter().all(|own| own.ops == 8));
}

/// Lines that claim what no log has: later lines must follow, counts must be there.
#[test]
fn hostile_lines_are_left_out() {
    let sound = log([LogEntry { index: 9, ops: 1, ..LogEntry::default() }]).encode(0, 1).remove(0);
    let with = |raw: &[u8]| EncodedLog { data: STANDARD.encode(raw), ..sound.clone() };
    let alone = |line: &EncodedLog| LatencyLog::decode([line]).map(|log| log.entries().len());
    assert_eq!(alone(&sound), Some(1));
    let refused = [
        EncodedLog { width: 999_999, ..sound.clone() },
        EncodedLog { width: u64::MAX, ..sound.clone() },
        EncodedLog { data: "no base64".into(), ..sound.clone() },
        EncodedLog { data: "A".repeat(EncodedLog::MAX_DATA + 4), ..sound.clone() },
        // Ten years are over.
        EncodedLog { from: u32::MAX, ..sound.clone() },
        // A number without end, one of 70 bits, and 2^63 buckets.
        with(&[0x80; 3]),
        with(&[0xff; 11]),
        with(&[0, 0, 0, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]),
        // A bucket without an operation, one above the last, and a count of 33 bits.
        with(&[0, 0, 0, 0, 0, 0, 1, 0, 0]),
        with(&[0, 0, 0, 0, 0, 0, 1, 3, 0xff, 0xff, 3, 0]),
        with(&[0, 0, 0, 0, 0, 0, 1, 0x80, 0x80, 0x80, 0x80, 0x20, 0]),
    ];
    for line in &refused {
        assert_eq!(alone(line), None, "{line:?}");
        let beside = LatencyLog::decode([&sound, line]).unwrap();
        assert_eq!(beside.entries().len(), 1, "{line:?}");
    }
    let other = EncodedLog { width: 200_000_000, from: 50, ..sound.clone() };
    let repeated = LatencyLog::decode([&sound, &sound, &other]).unwrap();
    assert_eq!(repeated.entries().len(), 1);
    // An interval far away, as often as fits: the log becomes wider.
    let far: Vec<u8> = [0xff, 0xff, 3, 0, 0, 0, 0, 0, 0, 0].repeat(4000);
    let lines: Vec<EncodedLog> =
        (0..8).map(|n| EncodedLog { from: n << 28, width: 1_000_000, ..with(&far) }).collect();
    let log = LatencyLog::decode(&lines).unwrap();
    assert!(log.entries().len() <= LatencyLog::MAX_ENTRIES && log.width > 1_000_000);
}

/// A share of a log-normal distribution, in the buckets of a log: (bucket, probability).
fn log_normal(median: f64, sigma: f64, share: f64) -> Vec<(u16, f64)> {
    // The error function of Abramowitz and Stegun 7.1.26, within 1.5e-7.
    let below = |nanos: f64| {
        let x = (nanos / median).ln() / sigma / 2f64.sqrt();
        let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
        let poly = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
        let erf = 1.0 - poly.iter().fold(0.0, |sum, of| sum * t + of) * t * (-x * x).exp();
        0.5 * (1.0 + erf.copysign(x))
    };
    let of = |bucket: u16| {
        let [low, next] = [bucket, bucket + 1].map(|of| LogBuckets::lowest(of.into()) as f64);
        (bucket, share * (below(next.max(1.0)) - below(low.max(1.0))).max(0.0))
    };
    (0..1000).map(of).collect()
}

/// Intervals of `ops` operations each, drawn from distributions as they are measured: each bucket
/// has its expected count and a deviation of its root.
fn intervals(shapes: &[Vec<(u16, f64)>], ops: f64) -> Vec<LogEntry> {
    let uniform = |seed: u64| mix(seed) as f64 / u64::MAX as f64;
    let entry = |number: u64| {
        let count = |&(bucket, share): &(u16, f64)| {
            let seed = number << 20 | u64::from(bucket) << 4;
            let spread = (0..3).map(|n| uniform(seed + n)).sum::<f64>() * 2.0 - 3.0;
            let expected = share * ops;
            (bucket, (expected + spread * expected.sqrt() + uniform(seed + 9)).max(0.0) as u32)
        };
        let mut latency = Vec::new();
        for shape in shapes {
            let counts: Vec<LogCount> =
                shape.iter().map(count).filter(|(_, count)| *count > 0).collect();
            merge_counts(&mut latency, &counts);
        }
        let timed = latency.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
        let device = Some(timed * 4096);
        LogEntry {
            ops: timed,
            bytes: timed * 4096,
            syscalls: timed,
            device,
            latency,
            ..LogEntry::default()
        }
    };
    (0..64).map(entry).collect()
}

/// Returns the width that a trial of this many seconds is kept with, and the bytes of its lines.
fn kept(intervals: &[LogEntry], seconds: u32) -> (u64, u64) {
    let entry = |index: u32| LogEntry { index, ..intervals[index as usize % 64].clone() };
    let log = log((0..seconds * 10).map(entry));
    let lines = LogSpace::default().keep(log.clone(), (0, 1), u64::from(seconds) * SECOND);
    let back = LatencyLog::decode(&lines).unwrap();
    assert_eq!(totals(&back), totals(&log));
    (back.width, lines.iter().map(EncodedLog::size).sum())
}

/// Cached reads at full speed: most within some percent, interrupts, and a tail.
fn cached() -> Vec<LogEntry> {
    let shapes = [
        log_normal(900.0, 0.05, 0.95),
        log_normal(1300.0, 0.2, 0.049),
        log_normal(9000.0, 0.8, 0.001),
    ];
    intervals(&shapes, 100_000.0)
}

/// An SSD with a queue: wide, with a long tail.
fn device() -> Vec<LogEntry> {
    intervals(&[log_normal(90e3, 0.35, 0.98), log_normal(1e6, 1.0, 0.02)], 20_000.0)
}

#[test]
fn ten_minutes_are_kept_in_full() {
    for (name, intervals, most) in [("cached", cached(), 1), ("device", device(), 2)] {
        let (width, bytes) = kept(&intervals, 600);
        assert!(width <= most * LatencyLog::WIDTH && bytes <= 2 << 20, "{name}: {width}, {bytes}");
    }
}

#[test]
fn coarse_reads_lose_no_operation() {
    let intervals = cached();
    let log =
        log((0..6000).map(|index| LogEntry { index, ..intervals[index as usize % 64].clone() }));
    let lines = log.encode(0, 1);
    let coarse = LatencyLog::decode_within(&lines, 1024).unwrap();
    assert_eq!(totals(&coarse), totals(&log));
    assert_eq!((coarse.width, coarse.entries().len()), (8 * LatencyLog::WIDTH, 750));
}

#[test]
fn a_day_stays_small() {
    for (name, intervals) in [("cached", cached()), ("device", device())] {
        let (width, bytes) = kept(&intervals, 86_400);
        assert!(bytes <= 20 << 20, "{name}: {bytes}");
        assert!(width <= 128 * LatencyLog::WIDTH, "{name}: {width}");
    }
}

#[test]
fn every_shape_is_bounded() {
    // Every bucket in every interval, with response and service times.
    let all: Vec<LogCount> = (0..1000).map(|bucket| (bucket, 70_000)).collect();
    let entry = LogEntry { latency: all.clone(), service: all, ..LogEntry::default() };
    let (width, bytes) = kept(&vec![entry; 64], 600);
    assert!(bytes <= 2 << 20 && width < 60 * SECOND, "{bytes}, {width}");
}

#[test]
fn many_trials_share_the_space() {
    let intervals = device();
    let mut space = LogSpace::default();
    let (mut bytes, mut kept) = (0, 0);
    for _ in 0..20_000u32 {
        let entry = |index: u32| LogEntry { index, ..intervals[index as usize].clone() };
        let lines = space.keep(log((0..3).map(entry)), (0, 1), 300_000_000);
        bytes += lines.iter().map(EncodedLog::size).sum::<u64>();
        kept += u32::from(!lines.is_empty());
    }
    // 6,000 s: ten minutes, and the rest at the lower rate.
    assert!(bytes <= (64 << 10) + 600 * 3300 + 5400 * 215, "{bytes}");
    assert!(kept > 2000, "{kept}");
}

#[test]
fn kept_lines_count_later() {
    let lines = log(device()).encode(0, 1);
    let size = |lines: &[EncodedLog]| lines.iter().map(EncodedLog::size).sum::<u64>();
    let mut space = LogSpace::default();
    space.count_trial(SECOND);
    (0..1000).for_each(|_| space.count_line(&lines[0]));
    assert_eq!(space.keep(log(device()), (0, 2), SECOND), []);
    // A later trial has room again.
    let later = space.keep(log(device()), (0, 3), 10_000 * SECOND);
    assert!(!later.is_empty() && size(&later) < 4 << 20);
}

#[test]
fn size_is_that_of_the_line() {
    let line =
        EncodedLog { round: u32::MAX, from: u32::MAX, ..log(device()).encode(7, 1).remove(0) };
    let written = serde_json::to_string(&line).unwrap().len() as u64;
    // With its kind, its number and its checksum.
    let sealed = written + r#""kind":"latencies",,"line":1234567,"crc":"01234567""#.len() as u64;
    assert!(sealed <= line.size(), "{sealed} > {}", line.size());
    assert!(line.size() - sealed < 40, "{sealed}");
}
