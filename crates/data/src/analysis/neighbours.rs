//! The cost of a neighbour: each cell alone and next to it, by the pairs of their trials.

use crate::analysis::answer::times_with_interval;
use crate::analysis::compare::results_in;
use crate::analysis::{CellNames, CellResult, capitalize};
use crate::plan::{Job, Metric, Variant};
use crate::record::{Visit, histogram_of};
use crate::session::{CellLogs, Session};
use crate::stats::paired::{self, Series};
use crate::stats::{Histogram, Ratio, Summary};
use crate::units::{join_range, show_nanos, show_rate, show_share};

/// The percentiles that are compared.
const WAITS: [Metric; 2] = [Metric::P50, Metric::P99];

/// A percentile of a cell.
struct Wait {
    /// Of all trials together, nanoseconds; its interval takes latencies for independent.
    whole: Summary,
    /// Of each trial that has enough operations, with its round.
    each: Series,
}

/// A cell alone and next to each neighbour.
pub struct Neighboured {
    pub alone: NextTo,
    pub next_to: Vec<NextTo>,
}

/// A cell in one variant.
pub struct NextTo {
    pub variant: Variant,
    /// Its cell has no variant.
    pub result: CellResult,
    /// Its speed as a multiple of that alone; `None` for the cell alone, and with too few trials.
    pub ratio: Option<Ratio>,
    /// [`WAITS`] of its latencies.
    waits: [Option<Wait>; 2],
}

impl Neighboured {
    /// Returns each cell that was measured alone, with itself next to the neighbours of the plan.
    pub fn all(session: &Session, results: &[CellResult]) -> Vec<Neighboured> {
        let Some((alone, neighbours)) = session.plan.variants.split_first() else {
            return Vec::new();
        };
        if neighbours.iter().any(|variant| variant.neighbour.is_none()) {
            return Vec::new();
        }
        let logs = session.logs_by_cell();
        let of = |variant: &Variant, result: CellResult, base: Option<&CellResult>| NextTo {
            variant: variant.clone(),
            ratio: base.and_then(|base| result.ratio_to(base)),
            waits: find_waits(session, &logs, variant, &result.cell),
            result,
        };
        let others: Vec<(&Variant, Vec<CellResult>)> =
            neighbours.iter().map(|variant| (variant, results_in(variant, results))).collect();
        let cell = |base: CellResult| {
            let same = |all: &[CellResult]| all.iter().find(|of| of.cell == base.cell).cloned();
            let next_to = others.iter().filter_map(|(variant, all)| {
                let result = same(all).filter(|result| !result.trials.is_empty())?;
                Some(of(variant, result, Some(&base)))
            });
            let next_to = next_to.collect();
            Neighboured { alone: of(alone, base, None), next_to }
        };
        let alone = results_in(alone, results).into_iter();
        alone.filter(|base| !base.trials.is_empty()).map(cell).collect()
    }

    /// Describes what the last neighbour, of several that with the highest rate, costs.
    pub fn describe(&self, names: &CellNames) -> Option<String> {
        let name = names.full(&self.alone.result.cell);
        let last = self.next_to.last()?;
        let job = &last.variant.neighbour.as_ref()?.job;
        let rate = last.neighbour_rate().map(|rate| format!(" at {}", show_rate(rate)));
        let at = rate.unwrap_or_default();
        let said: Vec<String> =
            std::iter::once(last.describe_speed()).chain(self.describe_waits(last)).collect();
        Some(format!("next to {}{at}, {name} {}", job.label(), said.join("; ")))
    }

    /// Describes what the neighbour does to the latencies that are known.
    pub fn describe_waits(&self, next_to: &NextTo) -> Vec<String> {
        let pairs = WAITS.into_iter().zip(self.alone.waits.iter().zip(&next_to.waits));
        let known = pairs.filter_map(|(of, (alone, with))| {
            Some(describe_change(of.name(), alone.as_ref()?, with.as_ref()?))
        });
        known.collect()
    }
}

impl NextTo {
    /// Returns the bytes per second that the neighbour moved during the trials together, as those
    /// of each are known to a tenth of a second; `None` without one.
    pub fn neighbour_rate(&self) -> Option<f64> {
        let counted = self.result.counted_trials().into_iter();
        let work = counted.filter_map(|at| self.result.trials.get(at)?.evidence.neighbour.as_ref());
        let mut all = Visit::default();
        work.for_each(|work| all.join(work));
        all.throughput()
    }

    /// Returns the highest of [`WAITS`] that is known.
    pub fn waits(&self) -> Option<(Metric, Summary)> {
        let known = WAITS.into_iter().zip(&self.waits).rev();
        known.filter_map(|(of, wait)| Some((of, wait.as_ref()?.whole))).next()
    }

    /// Returns its cell in the plan.
    pub fn job(&self) -> Job {
        in_variant(&self.variant, &self.result.cell)
    }

    /// Describes the speed that is left: `keeps 62 % [60-64 %] of its speed`.
    fn describe_speed(&self) -> String {
        let Some(ratio) = self.ratio else { return "has too few trials".into() };
        let Some((low, high)) = ratio.interval() else {
            return format!("had {} of its speed in these few trials", show_share(ratio.ratio));
        };
        if ratio.is_alike() {
            let what = if self.result.cell.rate.is_some() { "rate" } else { "speed" };
            return format!("keeps its {what}");
        }
        if low <= 1.0 && high >= 1.0 {
            return "shows no difference of its speed".into();
        }
        let ends = join_range(&show_share(low), &show_share(high));
        format!("keeps {} [{ends}] of its speed", show_share(ratio.ratio))
    }
}

/// Returns `p99 rises from 120 us [118 to 125 us] to 2.1 ms [1.9 to 2.4 ms] (18x [15-21])`: by the
/// pairs of the trials of the same rounds, as what the machine does moves all latencies of a trial.
fn describe_change(name: &str, alone: &Wait, with: &Wait) -> String {
    let [was, is] = [&alone.whole, &with.whole].map(describe_percentile);
    let ratio = paired::ratio(&with.each, &alone.each);
    let Some((ratio, (low, high))) = ratio.and_then(|of| Some((of, of.interval()?))) else {
        return format!("{name} {was} alone, {is} with it");
    };
    let verb = match (low > 1.0, high < 1.0) {
        (true, _) => "rises",
        (_, true) => "falls",
        // The intervals of all operations are narrower than what the machine does to a trial.
        _ => {
            let [was, is] = [&alone.whole, &with.whole].map(|of| show_nanos(of.median));
            let ratio = times_with_interval(&ratio);
            return format!("{name} {was} alone, {is} with it ({ratio}): no difference shows");
        }
    };
    format!("{name} {verb} from {was} to {is} ({})", times_with_interval(&ratio))
}

/// Returns `2.1 ms [1.9 to 2.4 ms]`.
fn describe_percentile(of: &Summary) -> String {
    let ends = of.low.zip(of.high);
    let ends = ends.map(|(low, high)| join_range(&show_nanos(low), &show_nanos(high)));
    show_nanos(of.median) + &ends.map_or(String::new(), |ends| format!(" [{ends}]"))
}

fn in_variant(variant: &Variant, cell: &Job) -> Job {
    Job { variant: Some(variant.name.clone()), ..cell.clone() }
}

/// Returns [`WAITS`] of a cell in a variant.
fn find_waits(
    session: &Session,
    logs: &CellLogs,
    variant: &Variant,
    cell: &Job,
) -> [Option<Wait>; 2] {
    let own = in_variant(variant, cell);
    let Some(at) = session.plan.cells.iter().position(|job| *job == own) else {
        return [None, None];
    };
    let trials: Vec<(u32, Histogram)> = logs
        .decode(at as u32)
        .map(|(trial, log)| {
            (trial.round, histogram_of(log.entries().iter().flat_map(|entry| &entry.latency)))
        })
        .collect();
    let verdict = session.verdicts.get(at).and_then(Option::as_ref);
    WAITS.map(|of| {
        let whole = verdict?.latency.as_ref()?.percentile(of)?;
        let value = |times: &Histogram| Some(times.quantile(of.quantile()?)? as f64);
        let each = trials.iter().filter_map(|(round, times)| Some((*round, value(times)?)));
        Some(Wait { whole, each: each.collect() })
    })
}

/// Describes what the neighbours of a run cost each cell; `None` without neighbours.
pub fn describe_neighbours(session: &Session, results: &[CellResult]) -> Option<String> {
    /// Cells that are described.
    const MAX_NAMED: usize = 3;
    let all = Neighboured::all(session, results);
    let names = CellNames::from_jobs(all.iter().map(|of| &of.alone.result.cell));
    let said: Vec<String> =
        all.iter().filter_map(|of| of.describe(&names)).take(MAX_NAMED).collect();
    let said: Vec<String> = said.iter().map(|said| capitalize(said)).collect();
    (!said.is_empty()).then(|| said.join(". "))
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::plan::{Neighbour, TargetSpec};
    use crate::record::{Latency, LatencyLog, LogBuckets, LogEntry, Verdict};
    use crate::session::testing;
    use crate::stats::Histogram;

    /// Returns a session with a cell alone and next to a neighbour at 25 and at 100 % of its speed,
    /// with the speed, MiB/s, and the latency of all but 3 % of its operations.
    pub fn session(speeds: [u64; 3], micros: [u64; 3]) -> Session {
        let mut session = testing::session(3);
        let job = session.plan.cells[0].clone();
        let neighbour = |share| Neighbour {
            options: String::new(),
            job: job.clone(),
            target: TargetSpec::None,
            share: Some(share),
            compressible: None,
            dedupe: None,
        };
        session.plan.variants = Variant::next_to(vec![neighbour(25), neighbour(100)]);
        for (at, variant) in session.plan.variants.iter().enumerate() {
            session.plan.cells[at] = Job { variant: Some(variant.name.clone()), ..job.clone() };
            for round in 1..=7 {
                let speed = (speeds[at] << 20) + (u64::from(round) << 14);
                let mut trial = testing::trial(at as u32, round, speed);
                let bytes = at as u64 * 100_000_000;
                let work = Visit { bytes, ops: 1, nanos: 1_000_000_000 };
                trial.evidence.neighbour = (at > 0).then(|| Box::new(work));
                session.trials.push(trial.into());
            }
            let nanos = micros[at] * 1000;
            let times = Histogram::from_pairs(&[(nanos, 9700), (nanos * 10, 300)]);
            for round in 1..=7 {
                let mut log = LatencyLog::new(1);
                let counts = [(nanos, 970), (nanos * 10, 30 + round)];
                let latency = counts.map(|(nanos, count)| (LogBuckets::of(nanos) as u16, count));
                let latency = latency.to_vec();
                log.add(LogEntry { ops: 1000, latency, ..LogEntry::default() });
                session.latencies.extend(log.encode(at as u32, round).into_iter().map(Into::into));
            }
            let latency = Latency::from_histogram(&times, 1);
            session.verdicts[at] = Some(Verdict { latency, ..Verdict::default() }.into());
        }
        session
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::results;

    #[test]
    fn the_highest_rate_is_described() {
        let session = testing::session([100, 80, 50], [100, 100, 300]);
        let results = results(&session);
        let all = Neighboured::all(&session, &results);
        assert_eq!(all.len(), 1);
        let rates: Vec<_> = all[0].next_to.iter().map(NextTo::neighbour_rate).collect();
        assert_eq!(rates, [Some(100e6), Some(200e6)]);
        assert_eq!(all[0].alone.neighbour_rate(), None);
        let said = describe_neighbours(&session, &results).unwrap();
        assert!(said.starts_with("Next to read ") && said.contains(" at 191 MiB/s, "), "{said}");
        assert!(said.contains("keeps 50 % [50 to 50.1 %] of its speed"), "{said}");
        assert!(said.contains("p50 rises from 100 µs [") && said.contains("(3.0x ["), "{said}");
        assert!(said.contains("p99 rises from 1.00 ms ["), "{said}");
    }

    #[test]
    fn few_pairs_have_no_direction() {
        let mut session = testing::session([100, 80, 50], [100, 100, 300]);
        session.latencies.clear();
        let said = describe_neighbours(&session, &results(&session)).unwrap();
        assert!(said.contains("; p50 100 µs [") && said.contains(" with it"), "{said}");
    }

    #[test]
    fn equal_cells_show_no_difference() {
        let session = testing::session([100; 3], [100; 3]);
        let said = describe_neighbours(&session, &results(&session)).unwrap();
        assert!(said.contains("keeps its speed; p50 100 µs alone, "), "{said}");
        assert_eq!(said.matches("): no difference shows").count(), 2, "{said}");
    }

    #[test]
    fn commands_have_no_neighbours() {
        let mut session = testing::session([100; 3], [100; 3]);
        session.plan.variants.iter_mut().for_each(|variant| variant.neighbour = None);
        assert_eq!(describe_neighbours(&session, &results(&session)), None);
    }
}
