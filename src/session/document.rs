//! The whole JSON of a session (design §3.6).

use std::collections::BTreeMap;

use serde::Serialize;

use super::answer::{Answer, answer};
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
}

/// One result with the keys that belong to probes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub result: CellResult,
    /// Indexes of trials that stand apart.
    pub outliers: Vec<usize>,
    value: (),
    cycles: (),
    estimate: (),
    reference: (),
}

/// The JSON of a session, to be serialized as it is written.
pub fn document(session: &Session) -> Document<'_> {
    let results = results(session);
    let answer = answer(&results);
    let row = |result: CellResult| Row { outliers: result.outliers(), result, value: (), cycles: (), estimate: (), reference: () };
    Document {
        schema: SCHEMA,
        session: Some(session.id.as_str()).filter(|id| !id.is_empty()),
        host: &session.host,
        plan: &session.plan,
        results: results.into_iter().map(row).collect(),
        skipped: skipped(session),
        ceilings: BTreeMap::new(),
        answer,
    }
}
