//! Whether the commits of a run are durable, in one sentence.

use super::model::{Grade, Statement};
use crate::analysis::CellResult;
use crate::analysis::answer::is_durable;
use crate::units::counted;

/// Returns `every commit is durable: vda was flushed once per commit`, or how many are not; empty
/// if nothing was committed.
pub fn describe_durable(results: &[&CellResult]) -> Statement {
    let first = |durable: Option<bool>| results.iter().find(|of| is_durable(of) == durable);
    let count = |durable| results.iter().filter(|of| is_durable(of) == durable).count();
    let reason = |durable: Option<bool>| {
        let of = first(durable).and_then(|result| result.durability.as_ref());
        of.map_or("not measured", |of| of.reason.as_str())
    };
    let (yes, no, open) = (count(Some(true)), count(Some(false)), count(None));
    let (cells, unknown) = (counted(results.len(), "cell"), reason(None));
    let (grade, text) = match (yes, no, open) {
        (0, 0, 0) => (Grade::Good, String::new()),
        (_, 0, 0) => (Grade::Good, format!("every commit is durable: {}", reason(Some(true)))),
        (0, _, 0) => {
            (Grade::Misleading, format!("no commit here is durable: {}", reason(Some(false))))
        }
        (0, 0, _) => {
            (Grade::Unfinished, format!("whether commits are durable cannot be told: {unknown}"))
        }
        (_, 0, _) => (
            Grade::Unfinished,
            format!(
                "commits are durable in {yes} of {cells}; in the others it cannot be told: {unknown}"
            ),
        ),
        (_, _, _) => {
            let why = reason(Some(false));
            (Grade::Misleading, format!("commits are not durable in {no} of {cells}: {why}"))
        }
    };
    Statement { grade, text }
}
