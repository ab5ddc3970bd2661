//! Which cell of one session is which of the other: the one with the same job.

use std::collections::HashMap;

use serde::Serialize;

use crate::plan::Job;
use crate::session::{CellResult, Session, clean_text, skipped};

/// A cell that only one of two sessions measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alone<Cell = Job> {
    /// The letter of the session that has it.
    pub only_in: String,
    pub cell: Cell,
    /// Why the other has not, where its session says it.
    pub reason: Option<String>,
}

pub struct Matched<'a> {
    pub pairs: Vec<(&'a CellResult, &'a CellResult)>,
    pub alone: Vec<Alone>,
    /// The spans of the two, where they differ and were left out of the match.
    pub spans: Option<[u64; 2]>,
}

/// The pairs in the order of the base. Files of another size have other spans: where each session has only one, it is no
/// part of the match but a difference of the settings.
pub fn matched<'a>(sessions: [&Session; 2], results: [&'a [CellResult]; 2], letter: &str) -> Matched<'a> {
    let spans = one_span(results[0]).zip(one_span(results[1])).map(<[u64; 2]>::from).filter(|[a, b]| a != b);
    let key = |job: &Job| {
        let mut job = job.clone();
        if spans.is_some() {
            job.span = 0;
        }
        job
    };
    let mut waiting: HashMap<Job, &CellResult> = HashMap::new();
    for result in results[1] {
        waiting.entry(key(&result.cell)).or_insert(result);
    }
    let mut found = Matched { pairs: Vec::new(), alone: Vec::new(), spans };
    let mut alone = Vec::new();
    for result in results[0] {
        match waiting.remove(&key(&result.cell)) {
            Some(partner) => found.pairs.push((result, partner)),
            None => alone.push(("A", result)),
        }
    }
    let left = |result: &&CellResult| waiting.get(&key(&result.cell)).is_some_and(|left| std::ptr::eq(*left, *result));
    alone.extend(results[1].iter().filter(left).map(|result| (letter, result)));
    let why = [reasons(sessions[1], &key), reasons(sessions[0], &key)];
    let told = |(only_in, result): (&str, &CellResult)| Alone {
        only_in: only_in.into(),
        cell: result.cell.clone(),
        reason: why[usize::from(only_in != "A")].get(&key(&result.cell)).cloned(),
    };
    found.alone = alone.into_iter().map(told).collect();
    found
}

fn one_span(results: &[CellResult]) -> Option<u64> {
    let first = results.first()?.cell.span;
    results.iter().all(|result| result.cell.span == first).then_some(first)
}

/// Why a session did not measure what it might have.
fn reasons(session: &Session, key: &impl Fn(&Job) -> Job) -> HashMap<Job, String> {
    skipped(session).into_iter().map(|skipped| (key(&skipped.cell), clean_text(&skipped.reason))).collect()
}
