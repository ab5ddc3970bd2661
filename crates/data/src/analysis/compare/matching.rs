//! Matches the cells of two sessions by their job.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;

use crate::analysis::{Axis, CellResult, list_skipped};
use crate::plan::{Cache, Job, Op};
use crate::record::Severity;
use crate::session::Session;
use crate::text::clean_text;
use crate::units;

/// A cell that only one of two sessions measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoneCell<Cell = Job> {
    /// The letter of the session that has it.
    pub only_in: String,
    pub cell: Cell,
    /// Why the other session lacks it, if it records a reason.
    pub reason: Option<String>,
}

/// Reduces a job to the settings that identify it in a report, which says little about the data
/// read.
pub fn reported_key(job: &Job) -> Job {
    Key::Reported.reduce(job)
}

pub struct Matched<'a> {
    pub pairs: Vec<(&'a CellResult, &'a CellResult)>,
    pub alone: Vec<LoneCell>,
    /// Ignored settings that differ, by name, with the values of both.
    pub left_out: Vec<(&'static str, [String; 2])>,
}

/// The identity of a cell in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Job,
    /// Files of another size have other spans: where each session has only one, it is not part of
    /// the match.
    AnySpan,
    /// A report does not specify which data was read: span, count and XOR are not part of the
    /// match.
    Reported,
}

/// Settings that a report does not specify.
const UNREPORTED: [Axis; 3] = [Axis::Size, Axis::Count, Axis::Xor];

impl Key {
    fn reduce(self, job: &Job) -> Job {
        let left_out: &[Axis] = match self {
            Key::Job => &[],
            Key::AnySpan => &[Axis::Size],
            Key::Reported => &UNREPORTED,
        };
        left_out.iter().fold(job.clone(), |job, axis| axis.without(&job))
    }
}

/// Returns the pairs in the order of the base. What the match ignores is a difference of the
/// settings.
pub fn match_cells<'a>(
    sessions: [&Session; 2],
    results: [&'a [CellResult]; 2],
    letter: &str,
) -> Matched<'a> {
    if sessions.iter().any(|session| session.reference.is_some()) {
        return with_reference(sessions, results, letter);
    }
    let spans = one_span(results[0])
        .zip(one_span(results[1]))
        .map(<[u64; 2]>::from)
        .filter(|[a, b]| a != b);
    let left_out = spans.map(|spans| (Axis::Size.column(), spans.map(units::show_bytes)));
    let found =
        by_key(sessions, results, letter, if spans.is_some() { Key::AnySpan } else { Key::Job });
    Matched { left_out: left_out.into_iter().collect(), ..found }
}

/// Matches the cells of a run with the cells of a reference. Of several candidates the most
/// reliable wins: one that is not a rough figure, then one of the same count, then the one with the
/// largest count, which is the steadiest.
fn with_reference<'a>(
    sessions: [&Session; 2],
    results: [&'a [CellResult]; 2],
    letter: &str,
) -> Matched<'a> {
    let (run, reported) = if sessions[1].reference.is_some() { (0, 1) } else { (1, 0) };
    let mut free: Vec<&CellResult> = results[reported].iter().collect();
    let mut pairs: Vec<(&CellResult, &CellResult)> = Vec::new();
    // A cache that the report does not state may have been warm.
    let as_reported = |own: &Job| Key::Reported.reduce(own);
    let unstated = |own: &Job| match (own.op, own.cache) {
        (Op::Read, Cache::Warm) => Job { cache: Cache::AsIs, ..Key::Reported.reduce(own) },
        _ => Key::Reported.reduce(own),
    };
    let keys: [&dyn Fn(&Job) -> Job; 2] = [&as_reported, &unstated];
    for (key, own) in keys.iter().flat_map(|key| results[run].iter().map(move |own| (key, own))) {
        if pairs.iter().any(|(a, b)| std::ptr::eq(*a, own) || std::ptr::eq(*b, own)) {
            continue;
        }
        fn rough(other: &CellResult) -> bool {
            other.warnings.iter().any(|warning| warning.severity >= Severity::Misleading)
        }
        let rank = |other: &CellResult| {
            (rough(other), other.cell.count != own.cell.count, Reverse(other.cell.count))
        };
        let same = free
            .iter()
            .enumerate()
            .filter(|(_, other)| Key::Reported.reduce(&other.cell) == key(&own.cell));
        if let Some(at) = same.min_by_key(|(_, other)| rank(other)).map(|(at, _)| at) {
            let other = free.remove(at);
            pairs.push(if run == 0 { (own, other) } else { (other, own) });
        }
    }
    let order = |result: &CellResult| results[0].iter().position(|own| std::ptr::eq(own, result));
    pairs.sort_by_key(|(base, _)| order(base));
    let paired = |result: &&CellResult| {
        pairs.iter().any(|(a, b)| std::ptr::eq(*a, *result) || std::ptr::eq(*b, *result))
    };
    let alone = results.map(|all| all.iter().filter(|result| !paired(result)).collect());
    let alone = describe_alone(sessions, alone, letter, &Job::clone);
    let left_out = differing(&pairs, reported);
    Matched { pairs, alone, left_out }
}

/// Returns what the match with a reference ignored: each value of the paired cells, or that there
/// are several. `reported` is the side of the reference.
fn differing(
    pairs: &[(&CellResult, &CellResult)],
    reported: usize,
) -> Vec<(&'static str, [String; 2])> {
    fn join_values(mut values: Vec<String>) -> String {
        values.dedup();
        if values.len() > 1 { "several".into() } else { values.pop().unwrap_or_default() }
    }
    let of = |axis: Axis| {
        let differs = pairs.iter().any(|(a, b)| axis.value(&a.cell) != axis.value(&b.cell));
        let both = [
            pairs.iter().map(|(a, _)| axis.value(&a.cell)).collect(),
            pairs.iter().map(|(_, b)| axis.value(&b.cell)).collect(),
        ];
        differs.then(|| (axis.column(), both.map(join_values)))
    };
    let ignored = UNREPORTED.into_iter().filter_map(of);
    let cells = |side: usize| pairs.iter().map(move |pair| &[pair.0, pair.1][side].cell);
    let unstated = cells(0).zip(cells(1)).any(|(a, b)| a.cache != b.cache).then(|| {
        let mut both = [Cache::Warm, Cache::Warm].map(|cache| cache.to_string());
        both[reported] = "not stated".into();
        (Axis::Cache.column(), both)
    });
    ignored.chain(unstated).collect()
}

/// Pairs cells with the same key.
fn by_key<'a>(
    sessions: [&Session; 2],
    results: [&'a [CellResult]; 2],
    letter: &str,
    key: Key,
) -> Matched<'a> {
    let key = |job: &Job| key.reduce(job);
    let (pairs, alone) = pair_up(results, |result| key(&result.cell));
    let alone = describe_alone(sessions, alone, letter, &key);
    Matched { pairs, alone, left_out: Vec::new() }
}

/// The pairs of results, and what is left on either side.
pub type Paired<'a, T> = (Vec<(&'a T, &'a T)>, [Vec<&'a T>; 2]);

/// Pairs results with the same key, in the order of the base; of several, the first.
pub fn pair_up<'a, T, K: Hash + Eq>(
    [base, other]: [&'a [T]; 2],
    key: impl Fn(&T) -> K,
) -> Paired<'a, T> {
    let mut waiting: HashMap<K, &T> = HashMap::new();
    for result in other {
        waiting.entry(key(result)).or_insert(result);
    }
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for result in base {
        match waiting.remove(&key(result)) {
            Some(partner) => pairs.push((result, partner)),
            None => alone.push(result),
        }
    }
    let is_left =
        |result: &&T| waiting.get(&key(result)).is_some_and(|left| std::ptr::eq(*left, *result));
    (pairs, [alone, other.iter().filter(is_left).collect()])
}

/// Returns the cells that only one side has, with the reason of the other by its index.
pub fn list_alone<Cell: Clone>(
    cells: [Vec<&Cell>; 2],
    letter: &str,
    reason: impl Fn(usize, &Cell) -> Option<String>,
) -> Vec<LoneCell<Cell>> {
    let mut all = Vec::new();
    for ((cells, only_in), other) in cells.into_iter().zip(["A", letter]).zip([1, 0]) {
        all.extend(cells.into_iter().map(|cell| LoneCell {
            only_in: only_in.into(),
            cell: cell.clone(),
            reason: reason(other, cell),
        }));
    }
    all
}

/// Returns the jobs that only one side has, with the reasons of the other.
fn describe_alone(
    sessions: [&Session; 2],
    alone: [Vec<&CellResult>; 2],
    letter: &str,
    key: &impl Fn(&Job) -> Job,
) -> Vec<LoneCell> {
    let why = sessions.map(|session| reasons(session, key));
    let cells = alone.map(|results| results.into_iter().map(|result| &result.cell).collect());
    list_alone(cells, letter, |side, cell| why[side].get(&key(cell)).cloned())
}

fn one_span(results: &[CellResult]) -> Option<u64> {
    let first = results.first()?.cell.span;
    results.iter().all(|result| result.cell.span == first).then_some(first)
}

/// Returns why a session did not measure the cells it skipped.
fn reasons(session: &Session, key: &impl Fn(&Job) -> Job) -> HashMap<Job, String> {
    list_skipped(session)
        .into_iter()
        .map(|skipped| (key(&skipped.cell), clean_text(&skipped.reason)))
        .collect()
}
