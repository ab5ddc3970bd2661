//! When the bytes of a write reached the page cache, and when the device.

use crate::analysis::cell_result::{CellResult, SummaryOf, WriteTimes};
use crate::plan::{Op, Sync};
use crate::record::Trial;
use crate::stats::{Summary, median};

/// Returns the write times of a cell; `None` for cells that do not write, that also read, or that
/// were not measured.
pub fn write_times(result: &CellResult) -> Option<WriteTimes> {
    let job = &result.cell;
    let counted = result.counted();
    if job.op != Op::Write || job.mix.is_some() || counted.is_empty() {
        return None;
    }
    let summary = |of: &dyn Fn(&Trial) -> Option<u64>| {
        let values: Option<Vec<f64>> =
            counted.iter().map(|trial| of(trial).map(|nanos| nanos as f64)).collect();
        Summary::from_values(&values?)
    };
    let nanos = |summary| SummaryOf { summary, unit: "ns" };
    let cached = |trial: &Trial| {
        if job.sync == Sync::End { trial.evidence.cached_nanos.get() } else { Some(trial.nanos) }
    };
    let rate = |of: &dyn Fn(&Trial) -> Option<u64>| {
        let rate = |trial: &&Trial| {
            Some(trial.bytes as f64 * 1e9 / of(trial).filter(|nanos| *nanos > 0)? as f64)
        };
        median(&counted.iter().map(rate).collect::<Option<Vec<f64>>>()?)
    };
    let waited = job.direct || job.sync != Sync::None;
    Some(WriteTimes {
        page_cache: summary(&cached).filter(|_| !job.direct).map(nanos),
        device: summary(&|trial| Some(trial.nanos)).filter(|_| waited).map(nanos),
        page_cache_rate: rate(&cached).filter(|_| !job.direct),
        device_rate: rate(&|trial| Some(trial.nanos)).filter(|_| waited),
        // A trial of several parts adds up what each left, and the next began by writing that back.
        left: summary(&|trial| {
            Some(trial.evidence.unwritten_bytes.get()? / trial.evidence.parts.max(1))
        })
        .map(|left| left.median),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::result;
    use crate::plan::{Cache, Job};
    use crate::record::Evidence;
    use crate::session::testing::job;

    fn cell(sync: Sync, direct: bool, cached: Option<u64>) -> Option<WriteTimes> {
        let job = Job { op: Op::Write, sync, direct, ..job("pread", 4096, Cache::AsIs) };
        let trial = |nanos: u64| {
            let evidence = Evidence {
                cached_nanos: cached.into(),
                unwritten_bytes: 4096.into(),
                ..Evidence::default()
            };
            Trial { nanos, bytes: 1 << 20, ops: 256, evidence, ..Trial::default() }.into()
        };
        result(&job, [300, 100, 200].map(trial).into(), None, None).written
    }

    #[test]
    fn leftover_bytes_are_per_part() {
        let job = Job { op: Op::Write, ..job("pread", 4096, Cache::AsIs) };
        let evidence =
            Evidence { unwritten_bytes: (4 << 20).into(), parts: 4, ..Evidence::default() };
        let trial = Trial { nanos: 100, bytes: 4 << 20, ops: 1024, evidence, ..Trial::default() };
        let left = result(&job, vec![trial.into()], None, None).written.unwrap().left;
        assert_eq!(left, Some(f64::from(1 << 20)));
    }

    #[test]
    fn device_rates_match_the_cell() {
        let job = Job { op: Op::Write, sync: Sync::Dsync, ..job("pread", 4096, Cache::AsIs) };
        // Rates of 1 and 3, a median time of 250 ns.
        let trial = |nanos| Trial { nanos, bytes: 300, ops: 1, ..Trial::default() }.into();
        let result = result(&job, [100, 300].map(trial).into(), None, None);
        let rate = result.written.unwrap().device_rate;
        assert!(
            rate.is_some() && rate == result.throughput.map(|of| of.summary.median),
            "{rate:?}"
        );
    }

    #[test]
    fn final_syncs_give_both_times() {
        fn times(written: Option<WriteTimes>) -> Option<(Option<f64>, Option<f64>, Option<f64>)> {
            let median = |of: Option<SummaryOf>| of.map(|of| of.summary.median);
            written.map(|w| (median(w.page_cache), median(w.device), w.left))
        }
        assert_eq!(
            times(cell(Sync::End, false, Some(50))),
            Some((Some(50.0), Some(200.0), Some(4096.0)))
        );
        // An older session records only the total.
        assert_eq!(times(cell(Sync::End, false, None)), Some((None, Some(200.0), Some(4096.0))));
        assert_eq!(times(cell(Sync::None, false, None)), Some((Some(200.0), None, Some(4096.0))));
        assert_eq!(
            times(cell(Sync::Dsync, false, None)),
            Some((Some(200.0), Some(200.0), Some(4096.0)))
        );
        assert_eq!(times(cell(Sync::None, true, None)), Some((None, Some(200.0), Some(4096.0))));
        assert_eq!(
            result(&job("pread", 4096, Cache::Cold), vec![Trial::default().into()], None, None)
                .written,
            None
        );
    }
}
