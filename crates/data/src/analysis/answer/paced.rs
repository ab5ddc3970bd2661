//! Cells under a rate: whether they keep it, and how long operations take then.

use std::borrow::Cow;

use crate::analysis::groups::group_by_key;
use crate::analysis::{CellNames, CellResult};
use crate::plan::{Axis, Job};
use crate::record::Paced;
use crate::units::{self, show_nanos};

/// A share of the response times from which waking up has words of its own.
const MIN_WAKING: f64 = 0.1;
/// A ratio of times from which low rates are slower than high ones.
const MIN_IDLING: f64 = 1.3;
/// Curves that have a sentence of their own.
const MAX_NAMED: usize = 3;

/// Results that differ only in their rate, the lowest first.
pub struct RateCurve<'a> {
    /// Their job without its rate.
    pub job: Job,
    pub results: Vec<&'a CellResult>,
}

impl<'a> RateCurve<'a> {
    /// Returns the curves of the cells under a rate.
    pub fn all(results: &'a [CellResult]) -> Vec<RateCurve<'a>> {
        let own = results.iter().filter(|result| result.cell.rate.is_some());
        let curves = group_by_key(own, |result| Axis::Rate.without(&result.cell));
        let curve = |(job, mut results): (Job, Vec<&'a CellResult>)| {
            results.sort_by_key(|result| Axis::Rate.value_of(&result.cell));
            RateCurve { job, results }
        };
        curves.into_iter().map(curve).collect()
    }

    fn sound(&self) -> impl Iterator<Item = &'a CellResult> {
        let measured = |result: &&CellResult| keeps_rate(result).is_some();
        self.results.iter().copied().filter(measured).filter(|of| of.wrong().is_none())
    }

    /// Returns the cell of the highest rate that is kept, as are all lower ones.
    pub fn highest_kept(&self) -> Option<&'a CellResult> {
        self.sound().take_while(|result| keeps_rate(result) == Some(true)).last()
    }

    /// Returns the cell of the lowest rate that is not kept.
    pub fn lowest_missed(&self) -> Option<&'a CellResult> {
        self.sound().find(|result| keeps_rate(result) == Some(false))
    }

    /// Describes how much slower operations are at the lowest rate than at a higher one, between
    /// which nothing has time to sleep; `None` where they are not.
    pub fn describe_idling(&self) -> Option<String> {
        let p50 = |of: &CellResult| of.latency?.p50;
        let kept = || self.sound().filter(|of| keeps_rate(of) == Some(true));
        let (slow, least) = kept().next().and_then(|of| Some((of, p50(of)?)))?;
        let timed = kept().filter_map(|of| Some((of, p50(of)?)));
        let (fast, best) = timed.min_by(|a, b| a.1.total_cmp(&b.1))?;
        if least < MIN_IDLING * best {
            return None;
        }
        let waking = waking_nanos(slow).map_or(String::new(), |nanos| {
            format!(" (waking the CPU takes {} on average)", show_nanos(nanos))
        });
        let [rate, other] = [slow, fast].map(|of| Axis::Rate.value(&of.cell));
        let [time, least] = [least, best].map(show_nanos);
        Some(format!(
            "at {rate} half of the operations take up to {time}{waking}, at {other} {least}: \
             between rare operations CPU and device sleep"
        ))
    }

    /// Describes the cells in a sentence; `None` where nothing sound was measured.
    pub fn describe(&self, name: &str) -> Option<String> {
        let missed = self.lowest_missed().map(|result| describe_missed(result, true));
        let idling = self.describe_idling().map_or(String::new(), |said| format!("; {said}"));
        match self.highest_kept() {
            Some(kept) => {
                let waits = describe_waits(kept).join(", ");
                let kept = Axis::Rate.value(&kept.cell);
                let missed = missed.map_or(String::new(), |missed| format!("; {missed}"));
                Some(format!("{name} keeps {kept}: {waits}{missed}{idling}"))
            }
            None => Some(format!("{name}: {}", missed?)),
        }
    }
}

/// Returns the results of cells without a rate: a rate that was asked for says nothing of what is
/// possible.
pub fn at_full_speed(results: &[CellResult]) -> Cow<'_, [CellResult]> {
    if results.iter().all(|result| result.cell.rate.is_none()) {
        return Cow::Borrowed(results);
    }
    results.iter().filter(|result| result.cell.rate.is_none()).cloned().collect()
}

/// Returns names that leave rates out.
pub fn names_without_rates(results: &[CellResult]) -> CellNames {
    let jobs: Vec<Job> = results.iter().map(|of| Axis::Rate.without(&of.cell)).collect();
    CellNames::from_jobs(jobs.iter())
}

/// Returns whether a cell keeps its rate; `None` without a rate or without a figure.
pub fn keeps_rate(result: &CellResult) -> Option<bool> {
    result.cell.keeps_rate(result.operations?.summary.median)
}

/// Returns how late an operation began on average, nanoseconds, though no other held it back: what
/// it takes until a CPU that slept runs the thread. `None` without a rate.
pub fn waking_nanos(result: &CellResult) -> Option<f64> {
    let counted = result.counted();
    let paced = || counted.iter().filter_map(|trial| trial.evidence.paced.as_deref());
    let late: u64 = paced().map(|paced| paced.start_lag).sum();
    let begun = |paced: &Paced| paced.intended.saturating_sub(paced.unstarted);
    let operations: u64 = paced().map(begun).sum();
    (result.cell.rate.is_some() && operations > 0).then(|| late as f64 / operations as f64)
}

/// Returns the share of the response times that is waking up, if it is worth a word: `19 µs of the
/// mean of 63 µs is waking up`.
fn describe_waking(result: &CellResult) -> Option<String> {
    let (waking, mean) = (waking_nanos(result)?, result.latency?.mean);
    let [waking_time, mean_time] = [waking, mean].map(show_nanos);
    (waking >= MIN_WAKING * mean)
        .then(|| format!("{waking_time} of the mean of {mean_time} is waking up"))
}

/// Returns the waits of a cell: `half of the operations up to 63 µs`, `1 in 100 over 120 µs`,
/// and how much of it is waking up.
pub fn describe_waits(result: &CellResult) -> Vec<String> {
    let Some(latency) = &result.latency else { return Vec::new() };
    let half =
        latency.p50.map(|p50| format!("half of the operations take up to {}", show_nanos(p50)));
    let slow = latency.p99.map(|p99| format!("1 in 100 over {}", show_nanos(p99)));
    half.into_iter().chain(slow).chain(describe_waking(result)).collect()
}

/// Returns how far a cell stays below its rate: `of 16k/s it reaches 12.3 k/s`.
pub fn describe_missed(result: &CellResult, is_sentence: bool) -> String {
    let reached = result.operations.map_or(0.0, |of| of.summary.median);
    let verb = if is_sentence { "it reaches" } else { "only" };
    let (asked, reached) = (Axis::Rate.value(&result.cell), units::show_count(reached));
    format!("of {asked} {verb} {reached}/s")
}

/// Describes every curve over rates; `None` without one.
pub fn describe_rates(results: &[CellResult]) -> Option<String> {
    let names = names_without_rates(results);
    let curves = RateCurve::all(results);
    let said = curves.iter().filter_map(|curve| curve.describe(&names.full(&curve.job)));
    let said: Vec<String> = said.take(MAX_NAMED).map(|said| said + ".").collect();
    (!said.is_empty()).then(|| said.join(" "))
}
