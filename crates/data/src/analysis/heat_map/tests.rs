use proptest::prelude::*;

use super::*;
use crate::record::LogEntry;

const MS: u64 = 1_000_000;

fn entry(index: u32, counts: &[(u64, u32)]) -> LogEntry {
    let latency = counts.iter().map(|(nanos, count)| (LogBuckets::of(*nanos) as u16, *count));
    let mut latency: Vec<_> = latency.collect();
    latency.sort_unstable();
    LogEntry { index, ops: 1, latency, ..LogEntry::default() }
}

fn log(entries: impl IntoIterator<Item = LogEntry>) -> LatencyLog {
    let mut log = LatencyLog::new(1);
    entries.into_iter().for_each(|entry| log.add(entry));
    log
}

/// Two trials: of four intervals, the last one half, and of two, with one operation in two timed.
fn two() -> HeatLog {
    let first = log([entry(0, &[(1000, 10)]), entry(1, &[(1000, 5), (64_000, 1)])]);
    let mut second = log([entry(1, &[(8000, 3)])]);
    second.every = 2;
    HeatLog::new([(1, 350 * MS, first), (2, 200 * MS, second)]).unwrap()
}

#[test]
fn trials_follow_each_other() {
    let log = two();
    assert_eq!((log.nanos(), log.borders().collect::<Vec<_>>()), (550 * MS, vec![350 * MS]));
    let map = log.map(80, 1000);
    let times: Vec<u64> = map.columns.iter().map(|column| column.end / MS).collect();
    assert_eq!(times, [100, 200, 300, 350, 450, 550]);
    let totals: Vec<u64> = map.columns.iter().map(HeatColumn::total).collect();
    assert_eq!(totals, [10, 6, 0, 0, 0, 6]);
    assert_eq!((log.histogram().count(), log.histogram().max()), (19, 64_000));
    let (low, high) = log.range();
    assert!(low <= 1000 && (64_000..66_100).contains(&high), "{low} {high}");
    assert_eq!((map.bounds[0], *map.bounds.last().unwrap()), (low, high));
}

#[test]
fn columns_merge_whole_intervals() {
    let map = two().map(3, 1);
    let times: Vec<_> = map.columns.iter().map(|own| (own.start / MS, own.end / MS)).collect();
    assert_eq!(times, [(0, 200), (200, 350), (350, 550)]);
    let one = two().map(1, 0);
    assert_eq!((one.columns[0].counts.as_slice(), one.columns[0].rounds), (&[22][..], (1, 2)));
}

#[test]
fn cells_read_out_their_place() {
    let map = two().map(80, 6);
    let (column, row) = map.slowest.unwrap();
    assert_eq!((column, row), (1, 5));
    let cell = map.at(column, row).unwrap();
    assert_eq!((cell.time, cell.rounds, cell.count), ((100 * MS, 200 * MS), (1, 1), 1));
    assert!(cell.latency.0 <= 64_000 && 64_000 < cell.latency.1, "{cell:?}");
    assert_eq!((cell.share, cell.up_to), (1.0 / 6.0, (1.0, 1.0)));
    let fast = map.at(column, 0).unwrap();
    assert_eq!((fast.count, fast.up_to), (5, (5.0 / 6.0, 15.0 / 22.0)));
    assert_eq!(map.at(2, 0).map(|cell| (cell.count, cell.share)), Some((0, 0.0)));
    assert_eq!((map.at(6, 0), map.at(0, 6)), (None, None));
    let heat = map.heat();
    assert!(heat(0) == 0.0 && heat(1) > 0.2 && heat(10) == 1.0 && heat(6) < 1.0);
}

#[test]
fn a_day_has_bounded_intervals() {
    let day = 86_400_000 * MS;
    let long = log((0..864_000).step_by(9).map(|index| entry(index, &[(80_000, 7)])));
    let count = long.entries().len();
    let all = HeatLog::new([(1, day, long), (2, day, log([entry(5, &[(90_000, 2)])]))]).unwrap();
    assert!((MAX_INTERVALS / 2..=MAX_INTERVALS).contains(&all.intervals()), "{}", all.intervals());
    let map = all.map(200, 20);
    let total: u64 = map.columns.iter().map(HeatColumn::total).sum();
    assert_eq!((total, all.nanos()), (96_000 * 7 + 2, 2 * day));
    assert!(count > 1000 && map.columns.len() > 100, "{count} {}", map.columns.len());
}

#[test]
fn nothing_timed_has_no_map() {
    assert_eq!(HeatLog::new([]), None);
    assert_eq!(HeatLog::new([(1, 0, LatencyLog::new(1)), (2, 5, log([entry(1, &[])]))]), None);
    let many = (0..5000).map(|round| (round, 50 * MS, log([entry(0, &[(500, 1)])])));
    let many = HeatLog::new(many).unwrap();
    assert_eq!((many.intervals(), many.map(60, 24).columns.len()), (5000, 60));
}

#[test]
fn buckets_without_operations_are_skipped() {
    let empty = log([entry(0, &[(1000, 0), (64_000, 5), (900_000, 0)]), entry(3, &[(2000, 0)])]);
    let all = HeatLog::new([(1, 400 * MS, empty)]).unwrap();
    let map = all.map(10, 10);
    assert_eq!(map.columns.iter().map(HeatColumn::total).sum::<u64>(), 5);
    assert!((64_000..66_100).contains(&all.slowest().unwrap().1));
}

/// In a coarse row there are slower and faster operations.
#[test]
fn the_slowest_are_the_slowest() {
    let own = [(0, 1000), (7, 11_000_000), (30, 11_400_000), (60, 11_100_000), (73, 10_900_000)];
    let own = own.map(|(index, nanos)| entry(index, &[(nanos, 1)]));
    let all =
        HeatLog::new([(1, 100 * MS, log([entry(0, &[(1000, 1)])])), (2, 8000 * MS, log(own))]);
    let all = all.unwrap();
    let (time, bound) = all.slowest().unwrap();
    assert_eq!(time, 3100 * MS);
    assert!((11_400_000..11_800_000).contains(&bound), "{bound}");
    assert_eq!(all.map(81, 4).slowest, Some((31, 3)));
}

proptest! {
    #[test]
    fn no_operation_is_lost(
        trials in prop::collection::vec((any::<u64>(), 0u32..20, prop::collection::vec((any::<u32>(), any::<u64>(), 0u32..99), 0..9)), 0..9),
        columns in 0usize..99,
        rows in 0usize..99,
    ) {
        let last = LogBuckets::of(crate::stats::histogram::MAX_VALUE);
        let mut wanted = 0;
        let logs = trials.into_iter().map(|(nanos, halves, entries)| {
            let timed: u64 = entries.iter().map(|(.., count)| u64::from(*count)).sum();
            wanted += timed;
            let of = |(index, nanos, count): (u32, u64, u32)| {
                let bucket = LogBuckets::of(nanos).min(last);
                entry(index, &[(LogBuckets::lowest(bucket), count)])
            };
            let mut log = log(entries.into_iter().map(of));
            (0..halves).for_each(|_| log.halve());
            (1, nanos, log)
        });
        let logs: Vec<_> = logs.collect();
        let Some(log) = HeatLog::new(logs) else { prop_assert_eq!(wanted, 0); return Ok(()) };
        let map = log.map(columns, rows);
        prop_assert!(map.columns.len() <= columns.max(1) && map.rows() <= rows.max(1));
        prop_assert!(map.columns.iter().map(HeatColumn::total).sum::<u64>() == wanted);
        prop_assert!(map.bounds.is_sorted() && map.columns.iter().all(|own| own.start <= own.end));
        let (column, row) = map.slowest.unwrap();
        let (time, bound) = log.slowest().unwrap();
        prop_assert!(time <= log.nanos());
        prop_assert!(bound > map.bounds[row] && bound <= map.bounds[row + 1]);
        prop_assert!(map.at(column, row).unwrap().count > 0);
    }
}
