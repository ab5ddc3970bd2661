//! The whole JSON of a session (design §3.6).

use std::collections::BTreeMap;

use serde::Serialize;

use super::answer::{Answer, answer};
use super::why::{Bounds, CurveCost, Limited, Why, why};
use super::{CellResult, Session, results, skipped};
use crate::host::Host;
use crate::plan::{Plan, Skipped};

/// The name and version of the JSON; keys may be added without a new one.
pub const SCHEMA: &str = "iotui/1";

/// A session as one JSON value: every key present, unknown is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document<'a> {
    pub schema: &'static str,
    /// The id; null where the session is not saved.
    pub session: Option<&'a str>,
    pub host: &'a Host,
    pub plan: &'a Plan,
    pub results: Vec<Row>,
    pub skipped: Vec<Skipped>,
    /// What this machine can reach at most, by name, with its unit in the name.
    pub ceilings: BTreeMap<String, f64>,
    pub answer: Answer,
    /// What an operation costs on each curve over the block size.
    pub costs: Vec<CurveCost>,
}

/// One result with the keys that belong to probes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub result: CellResult,
    /// Indexes of trials that stand apart.
    pub outliers: Vec<usize>,
    /// What there was not enough of; null where the figures do not say.
    pub limit: Option<Limited>,
    value: (),
    cycles: (),
    estimate: (),
    reference: (),
}

/// What was measured of the machine, what is known of the way to the disk, and what its vendor names.
fn ceilings(session: &Session) -> BTreeMap<String, f64> {
    let grounds = session.grounds.as_ref();
    let measured = grounds.and_then(|grounds| grounds.machine.ceilings.as_ref());
    let mut all: BTreeMap<String, f64> = measured.into_iter().flat_map(|c| c.named()).map(|(name, value)| (name.into(), value)).collect();
    let link = grounds.and_then(|grounds| grounds.target.link.as_ref()).map(|link| link.bytes_per_second);
    let also = [("link_bytes_per_second", link), ("rated_bytes_per_second", session.plan.rated.map(|rate| rate as f64))];
    all.extend(also.into_iter().filter_map(|(name, value)| Some((name.into(), value?))));
    all
}

/// The JSON of a session, to be serialized as it is written.
pub fn document(session: &Session) -> Document<'_> {
    let results = results(session);
    let answer = answer(&results);
    let Why { costs, limits } = why(&results, &Bounds::of(session));
    let row = |(result, limit): (CellResult, Option<Limited>)| Row {
        limit,
        outliers: result.outliers(),
        result,
        value: (),
        cycles: (),
        estimate: (),
        reference: (),
    };
    Document {
        schema: SCHEMA,
        session: Some(session.id.as_str()).filter(|id| !id.is_empty()),
        host: &session.host,
        plan: &session.plan,
        results: results.into_iter().zip(limits).map(row).collect(),
        skipped: skipped(session),
        ceilings: ceilings(session),
        answer,
        costs,
    }
}
