//! Commits in the answer: the cheapest durable one, the gain of grouping writes, and the scaling of
//! writers.

use super::ratio::{Finding, times_as_fast, times_with_interval};
use crate::analysis::CellNames;
use crate::analysis::{CellResult, CommitsOf};
use crate::plan::{FilePer, Job};
use crate::record::{Severity, Warning};
use crate::units::{self, Precision, show_nanos};

/// Describes the commits in one text; `None` if nothing was committed.
pub fn describe_commits(results: &[CellResult]) -> Option<String> {
    let committing = committing(results);
    let names = CellNames::from_jobs(committing.iter().map(|result| &result.cell));
    let cheapest = describe_cheapest(find_cheapest(&committing)?, &names);
    Some([vec![cheapest], more_sentences(&committing)].concat().join(" "))
}

/// Returns the same in sentences, without whether commits are durable and why; none where nothing
/// was committed.
pub fn commit_sentences(results: &[CellResult]) -> Vec<String> {
    let committing = committing(results);
    let names = CellNames::from_jobs(committing.iter().map(|result| &result.cell));
    let Some(cheapest) = find_cheapest(&committing) else { return Vec::new() };
    let kind = match is_durable(cheapest) {
        Some(true) => "durable commit here",
        Some(false) => "commit",
        None => "commit that may be durable",
    };
    let named = format!("The cheapest {kind}: {}.", describe(cheapest, &names));
    [vec![named], more_sentences(&committing)].concat()
}

/// Returns the cells that commit. `not-durable` marks figures wrong, but is itself a result.
fn committing(results: &[CellResult]) -> Vec<&CellResult> {
    let is_wrong = |of: &Warning| of.severity == Severity::Wrong && of.id != "not-durable";
    let is_fit = |of: &&CellResult| of.commits.is_some() && !of.warnings.iter().any(is_wrong);
    results.iter().filter(is_fit).collect()
}

fn more_sentences(committing: &[&CellResult]) -> Vec<String> {
    [describe_groups(committing), describe_writers(committing)].into_iter().flatten().collect()
}

/// Returns whether the commits of a cell are durable; `None` if unknown.
pub fn is_durable(result: &CellResult) -> Option<bool> {
    result.durability.as_ref().and_then(|of| of.reach.is_durable())
}

fn rate(result: &CellResult) -> Option<f64> {
    result.commits?.per_second
}

/// Returns the cell with the most commits per second.
fn fastest<'a>(results: impl Iterator<Item = &'a CellResult>) -> Option<&'a CellResult> {
    results.max_by(|a, b| rate(a).unwrap_or(0.0).total_cmp(&rate(b).unwrap_or(0.0)))
}

/// Returns the cell with the method that commits most often and is durable; if none is, one whose
/// durability is unknown, then any. Methods are compared by one writer that commits each write,
/// where there is such a cell.
fn find_cheapest<'a>(results: &[&'a CellResult]) -> Option<&'a CellResult> {
    let is_single = |job: &Job| job.threads == 1 && job.depth == 1 && job.sync_every <= 1;
    let single: Vec<&CellResult> =
        results.iter().copied().filter(|result| is_single(&result.cell)).collect();
    let group = if single.is_empty() { results } else { &single };
    let judged =
        |durable| fastest(group.iter().copied().filter(|result| is_durable(result) == durable));
    [Some(true), None, Some(false)].into_iter().find_map(judged)
}

/// Names the cheapest method and says whether its commits are durable.
fn describe_cheapest(best: &CellResult, names: &CellNames) -> String {
    let is = describe(best, names);
    let Some(durability) = &best.durability else { return format!("The cheapest commit: {is}.") };
    let reason = &durability.reason;
    match durability.reach.is_durable() {
        Some(true) => format!("The cheapest durable commit here: {is}; {reason}."),
        Some(false) => format!("No commit here reaches stable storage: {reason}."),
        None => {
            format!("Durable? Unknown: {reason}. The cheapest commit that may be durable: {is}.")
        }
    }
}

/// Returns `pwrite at 4 KiB, append, fdatasync, 820 µs at p50 and 1.90 ms at p99, 1.2 k/s`.
fn describe(result: &CellResult, names: &CellNames) -> String {
    let Some(CommitsOf { per_second, total, .. }) = &result.commits else {
        return names.full(&result.cell);
    };
    let at = |name: &str, nanos: Option<f64>| {
        nanos.map(|nanos| format!("{} at {name}", show_nanos(nanos)))
    };
    let times: Vec<String> =
        [at("p50", total.p50), at("p99", total.p99)].into_iter().flatten().collect();
    let precision = Precision::of(result.commit_rate().and_then(|rate| rate.half_width()));
    let rate = per_second.map(|rate| format!("{}/s", precision.count(rate)));
    let parts = [Some(names.full(&result.cell)), Some(times.join(" and ")), rate];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// Compares how fast data becomes durable with several writes per commit and with one, for the
/// first job that was measured with both.
fn describe_groups(results: &[&CellResult]) -> Option<String> {
    let alone = |job: &Job| Job { sync_every: 1, ..job.clone() };
    let grouped = || results.iter().filter(|result| result.cell.sync_every > 1);
    let base = grouped()
        .find_map(|result| results.iter().find(|other| other.cell == alone(&result.cell)))?;
    let own = grouped().filter(|result| alone(&result.cell) == base.cell);
    let largest = own.max_by_key(|result| result.cell.sync_every)?;
    let writes = units::counted(largest.cell.sync_every as usize, "write");
    let said = times_as_fast(
        (&format!("syncing after every {writes}"), "syncing each one"),
        &largest.ratio_to(base)?,
        ["is", "was"],
        true,
    );
    Some(format!("Grouping: {said}, per byte."))
}

/// Compares several writers with one, for the job that was measured with the most writer counts.
fn describe_writers(results: &[&CellResult]) -> Option<String> {
    let alone = |job: &Job| Job { threads: 1, file_per: FilePer::Run, ..job.clone() };
    let of = |base: &CellResult| -> Vec<&CellResult> {
        let own = results.iter().copied();
        own.filter(|result| result.cell.threads > 1 && alone(&result.cell) == base.cell).collect()
    };
    let bases = results.iter().copied().filter(|result| result.cell.threads == 1);
    // The first one with the most.
    let base = bases.rev().max_by_key(|base| of(base).len())?;
    let mut more = of(base);
    more.sort_by_key(|result| result.cell.threads);
    let (last, best) = (*more.last()?, fastest(more.iter().copied())?);
    let ratio = last.ratio_to(base)?;
    let (all, by) = (writers(last), times_with_interval(&ratio));
    let said = match Finding::of(&ratio) {
        Finding::Differs if ratio.interval().is_none() => {
            format!("In these few trials {all} committed {by} as much per second as one")
        }
        Finding::Differs => format!("{all} commit {by} as much per second as one"),
        Finding::Alike => format!("{all} commit as much per second as one"),
        Finding::Open => format!("No difference shows between {all} and one"),
    };
    let p99 = |result: &CellResult| result.commits.as_ref()?.total.p99.map(show_nanos);
    let tail = p99(last).zip(p99(base));
    let tail = tail.map_or(String::new(), |(of, one)| format!(" (p99 {of} instead of {one})"));
    let peak = if best.cell.threads < last.cell.threads {
        format!("; most are made by {}", writers(best))
    } else {
        String::new()
    };
    Some(format!("{said}{tail}{peak}."))
}

fn writers(result: &CellResult) -> String {
    units::counted(result.cell.threads as usize, "writer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::answer::testing::committed;
    use crate::plan::{Sync, Writes};
    use crate::record::Reach;

    #[test]
    fn the_fastest_durable_commit_is_cheapest() {
        let cells = [
            committed(|_| {}, 900, Reach::Flushed),
            committed(|job| job.sync = Sync::Fsync, 1200, Reach::Flushed),
            committed(|job| job.sync = Sync::Dsync, 10, Reach::NotReached),
            committed(|job| job.threads = 8, 2000, Reach::Flushed),
        ];
        let text = describe_commits(&cells).unwrap();
        assert!(
            text.starts_with(
                "The cheapest durable commit here: pwrite at 4 KiB, fdatasync, \
                 900 µs at p50 and 1.80 ms at p99, 1.11 k/s; sda was flushed once."
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "8 writers commit 3.6x [3.6-3.6] as much per second as one (p99 4.00 ms instead of \
                 1.80 ms)."
            ),
            "{text}"
        );
    }

    #[test]
    fn unknown_durability_is_not_claimed() {
        let unknown = describe_commits(&[committed(|_| {}, 900, Reach::Unknown)]).unwrap();
        assert!(unknown.starts_with("Durable? Unknown: "), "{unknown}");
        assert!(unknown.contains("The cheapest commit that may be durable: pwrite"), "{unknown}");
        let not = describe_commits(&[committed(|_| {}, 9, Reach::NotReached)]).unwrap();
        assert_eq!(not, "No commit here reaches stable storage: sda was flushed once.");
        let mut kept = committed(|_| {}, 9, Reach::NotReached);
        for (id, is_described) in [("not-durable", true), ("holes", false)] {
            let text = format!(
                r#"{{"id":"{id}","severity":"wrong","message":"","evidence":"","remedy":""}}"#
            );
            kept.warnings = vec![serde_json::from_str(&text).unwrap()];
            assert_eq!(describe_commits(&[kept.clone()]).is_some(), is_described, "{id}");
        }
        assert_eq!(describe_commits(&[]), None);
    }

    #[test]
    fn groups_are_compared_per_byte() {
        let cells = [
            committed(|_| {}, 900, Reach::Flushed),
            committed(|job| job.sync_every = 8, 1000, Reach::Flushed),
            committed(|job| job.sync_every = 64, 1800, Reach::Flushed),
            committed(|job| job.writes = Writes::Append, 950, Reach::Flushed),
        ];
        let text = describe_commits(&cells).unwrap();
        assert!(
            text.contains(
                "Grouping: syncing after every 64 writes is 32x [32-32] as fast as syncing each \
                 one, per byte."
            ),
            "{text}"
        );
        assert!(!text.contains("Writers"), "{text}");
    }
}
