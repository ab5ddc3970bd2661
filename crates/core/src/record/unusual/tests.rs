use super::*;
use crate::record::LogEntry;
use crate::stats::random::mix;

const MS: u64 = 1_000_000;

/// Random numbers from 0 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = mix(self.0.wrapping_add(1));
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal: the sum of twelve.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Returns the log of `seconds` at `rate`: latencies with a long tail around 180 us, which drift by
/// a tenth, one of a thousand ten times as long, and each multiplied by `factor(second)`; none
/// where that is 0.
fn log_of(seed: u64, seconds: u64, rate: u64, factor: impl Fn(u64) -> f64) -> LatencyLog {
    let (mut noise, mut log, mut drift) = (Noise(mix(seed)), LatencyLog::new(1), 0.0f64);
    for index in 0..seconds * 10 {
        let factor = factor(index / 10);
        drift = 0.99 * drift + 0.014 * noise.normal();
        let mut ops = rate / 10;
        let mut entry = LogEntry { index: index as u32, ..LogEntry::default() };
        while ops > 0 && factor > 0.0 {
            let seldom = if noise.next() < 1e-3 { 10.0 } else { 1.0 };
            let nanos = 180e3 * (0.3 * noise.normal() + drift).exp() * seldom * factor;
            let latency = vec![(LogBuckets::of(nanos as u64) as u16, 1)];
            log.add(LogEntry { ops: 1, latency, ..entry.clone() });
            ops -= 1;
        }
        entry.ops = 0;
    }
    log
}

fn find_in(log: &LatencyLog, seconds: u64, rate: u64) -> Vec<(u64, u64)> {
    let found = find(log, seconds * SECOND, (rate as f64, true), &[], &[]);
    found.events.iter().map(|of| (of.start / SECOND, of.nanos / SECOND)).collect()
}

#[test]
fn steady_logs_have_no_events() {
    for seed in 0..100 {
        let rate = [10, 50, 100, 200][seed as usize % 4];
        let log = log_of(seed, 300, rate, |_| 1.0);
        assert_eq!(find_in(&log, 300, rate), [], "seed {seed}, {rate}/s");
    }
}

#[test]
fn planted_bursts_are_found() {
    for (seed, rate, factor) in [(1, 100, 4.0), (2, 50, 8.0), (3, 20, 8.0), (4, 200, 3.0)] {
        // Five seconds of each minute.
        let log = log_of(seed, 600, rate, |second| if second % 60 >= 55 { factor } else { 1.0 });
        let wanted: Vec<(u64, u64)> = (0..10).map(|minute| (minute * 60 + 55, 5)).collect();
        assert_eq!(find_in(&log, 600, rate), wanted, "{rate}/s, {factor} times");
    }
    let log = log_of(5, 600, 100, |second| if second % 60 >= 40 { 5.0 } else { 1.0 });
    let found = find(&log, 600 * SECOND, (100.0, true), &[], &[]);
    assert_eq!(found.events.len(), 10, "a third of the time");
    let usual = found.p50.unwrap();
    assert!((usual / 180e3 - 1.0).abs() < 0.1, "{usual}");
    assert!(found.events.iter().all(|of| (4.0..6.0).contains(&(of.p50.unwrap() / usual))));
}

#[test]
fn empty_seconds_are_events() {
    let log = log_of(6, 120, 100, |second| if (60..63).contains(&second) { 0.0 } else { 1.0 });
    let found = find(&log, 120 * SECOND, (100.0, true), &[], &[]);
    let [event] = &found.events[..] else { panic!("{:?}", found.events) };
    assert_eq!((event.start, event.nanos, event.empty), (60 * SECOND, 3 * SECOND, 3 * SECOND));
    assert_eq!((event.p50, event.max), (None, None));
    // Random arrivals of 5/s may leave a second empty.
    assert_eq!(find(&log, 120 * SECOND, (5.0, false), &[], &[]).events, []);
}

#[test]
fn sleep_is_no_event() {
    // The clock of latencies goes on, and the operation under way took as long.
    let mut log = log_of(7, 60, 100, |second| if second >= 20 { 0.0 } else { 1.0 });
    let slow = vec![(LogBuckets::of(30 * SECOND) as u16, 50)];
    log.add(LogEntry { index: 500, ops: 50, latency: slow, ..LogEntry::default() });
    log.append(log_of(8, 20, 100, |_| 1.0), 51 * SECOND);
    let find = |slept: &[Slept]| find(&log, 71 * SECOND, (100.0, true), &[], slept).events.len();
    assert_eq!((find(&[]), find(&[Slept { at: 20 * SECOND, nanos: 30 * SECOND }])), (1, 0));
}

#[test]
fn wide_intervals_are_their_own_seconds() {
    let mut log =
        log_of(9, 600, 100, |second| if (300..320).contains(&second) { 5.0 } else { 1.0 });
    (0..5).for_each(|_| log.halve());
    let found = find(&log, 600 * SECOND, (100.0, true), &[], &[]).events;
    let [event] = &found[..] else { panic!("{found:?}") };
    let (start, end) = (event.start / MS, (event.start + event.nanos) / MS);
    assert!(
        (296_800..=300_000).contains(&start) && (320_000..=323_200).contains(&end),
        "{event:?}"
    );
}

#[test]
fn busy_times_are_events() {
    let log = log_of(10, 60, 100, |_| 1.0);
    let busy = [(20_500 * MS, 21_500 * MS), (59_000 * MS, 90_000 * MS), (99_000 * MS, 7)];
    let found = find(&log, 60 * SECOND, (100.0, true), &busy, &[]).events;
    let found: Vec<_> = found.iter().map(|of| (of.start / SECOND, of.nanos / SECOND)).collect();
    assert_eq!(found, [(20, 2), (59, 1)]);
}

#[test]
fn nothing_is_found_in_nothing() {
    assert_eq!(find(&LatencyLog::new(1), 600 * SECOND, (100.0, true), &[], &[]), Course::default());
    assert_eq!(find(&log_of(1, 1, 100, |_| 1.0), 0, (100.0, true), &[], &[]), Course::default());
}
