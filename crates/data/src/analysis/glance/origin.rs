//! Where the bytes of the figures came from, and whether all of them are accounted for.

use super::access::Access;
use super::columns::GlanceColumn;
use super::model::{Grade, Statement};
use crate::analysis::CellResult;
use crate::analysis::answer::is_durable;
use crate::analysis::cell_result::mean_source;
use crate::plan::{Cache, Job, Op};
use crate::record::Source;
use crate::session::Session;
use crate::units::{counted, show_share};

/// A smaller share of another source is not worth a warning.
const NEGLIGIBLE: f64 = 0.01;

/// The bytes of a column by where they came from.
struct Account<'a> {
    column: &'a GlanceColumn,
    /// Shares of all its bytes; `unknown` includes results without a source.
    of: Source,
    /// Shares of all its bytes that came from another place than requested.
    other: Source,
}

/// Returns `every byte accounted for (cold: device, warm: page cache)`, or what is known instead;
/// of commits alone, whether they are durable.
pub fn origin(session: &Session, results: &[CellResult], columns: &[GlanceColumn]) -> Statement {
    if session.reference.is_some() {
        let text = "as reported: where the bytes came from is not known".into();
        return Statement { grade: Grade::Unfinished, text };
    }
    let of_bytes = columns.iter().filter(|column| column.bytes);
    let all: Vec<Account> = of_bytes.filter_map(|column| Account::new(column, results)).collect();
    if all.is_empty() {
        let commits = || columns.iter().filter(|column| column.access.is_commits());
        // The reason is that of the best.
        let best: Vec<usize> =
            commits().filter_map(|column| Some(column.best_bar()?.result)).collect();
        let others = commits().flat_map(|column| &column.results).filter(|of| !best.contains(of));
        let own: Vec<&CellResult> =
            best.iter().chain(others).filter_map(|of| results.get(*of)).collect();
        return describe_durable(&own);
    }
    if all.iter().all(|account| account.of.unknown >= 1.0) {
        let written = all.iter().all(|account| account.column.access.is_write());
        let text = match written {
            true => "written through the page cache: no counter shows what reached the device",
            false => "where the bytes came from is not known",
        };
        return Statement { grade: Grade::Unfinished, text: text.into() };
    }
    let others: Vec<String> = all.iter().filter_map(Account::describe_other).collect();
    let complete = all.iter().all(|account| account.of.unknown == 0.0);
    if !others.is_empty() {
        let open = if complete { "" } else { "; not every byte accounted for" };
        return Statement { grade: Grade::Misleading, text: others.join("; ") + open };
    }
    let head = if complete { "every byte accounted for" } else { "not every byte accounted for" };
    let grade = if complete { Grade::Good } else { Grade::Unfinished };
    Statement { grade, text: format!("{head} ({})", describe(&all)) }
}

impl<'a> Account<'a> {
    /// Sums the bytes of all results of a column; `None` if none were moved.
    fn new(column: &'a GlanceColumn, results: &[CellResult]) -> Option<Account<'a>> {
        let (mut sources, mut others, mut all) = (Vec::new(), Vec::new(), 0.0);
        for result in column.results.iter().filter_map(|of| results.get(*of)) {
            let bytes: f64 = result.trials.iter().map(|trial| trial.bytes as f64).sum();
            all += bytes;
            let of = result.source.unwrap_or(Source { unknown: 1.0, ..Source::default() });
            others.push((other_than_asked(&result.cell, &of), bytes));
            sources.push((of, bytes));
        }
        (all > 0.0).then(|| Account {
            column,
            of: mean_source(&sources),
            other: mean_source(&others),
        })
    }

    /// Returns `of the cold bytes, 40 % came from the page cache`; `None` if that is negligible.
    fn describe_other(&self) -> Option<String> {
        let what = match self.column.access {
            Access::Read(Cache::Cold | Cache::Warm) => self.column.cache.to_string(),
            access => access.name().into(),
        };
        let parts: Vec<String> = parts(&self.other)
            .into_iter()
            .filter(|(_, share)| *share >= NEGLIGIBLE)
            .map(|(name, share)| (if name == "hole" { "holes" } else { name }, show_share(share)))
            .map(|(name, share)| format!("{share} came from {name}"))
            .collect();
        (!parts.is_empty()).then(|| format!("of the {what} bytes, {}", parts.join(" and ")))
    }

    /// Returns the sources with their shares, the largest first.
    fn parts(&self) -> Vec<(&'static str, f64)> {
        let mut parts = parts(&self.of);
        let main = parts.first().copied();
        // Shares below a tenth of a percent are in the figure of the largest: `>99.9 %`.
        parts.retain(|part| Some(*part) == main || part.1 >= 0.001);
        parts
    }
}

/// Returns the sources of a share above 0, the largest first.
fn parts(of: &Source) -> Vec<(&'static str, f64)> {
    let all = [
        ("device", of.device),
        ("page cache", of.page_cache),
        ("caches below", of.below),
        ("hole", of.hole),
        ("unknown", of.unknown),
    ];
    let mut parts: Vec<(&'static str, f64)> =
        all.into_iter().filter(|(_, share)| *share > 0.0).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts
}

/// Returns the bytes that came from another place than the job asked for: cold and direct ones come
/// from the device, warm ones from the page cache. Unknown ones do not count.
fn other_than_asked(job: &Job, of: &Source) -> Source {
    let known = Source { unknown: 0.0, ..*of };
    match job.cache {
        _ if job.op == Op::Write || job.mix.is_some() => {
            Source { hole: of.hole, ..Source::default() }
        }
        Cache::Warm if !job.direct => Source { page_cache: 0.0, ..known },
        Cache::AsIs if !job.direct => Source { hole: of.hole, ..Source::default() },
        _ => Source { device: 0.0, ..known },
    }
}

/// Returns `cold: device, warm: page cache`; with the shares where one of them has several sources,
/// or another one than requested: `cold: device 92 %, page cache 8 %; warm: page cache 100 %`.
fn describe(all: &[Account]) -> String {
    let is_plain =
        all.iter().all(|account| account.parts().len() == 1 && account.of.unknown == 0.0);
    let mut said: Vec<String> = Vec::new();
    for account in all {
        let parts = account.parts();
        let sources: Vec<String> = match is_plain {
            true => parts.iter().map(|(name, _)| name.to_string()).collect(),
            false => parts.iter().map(|(name, of)| format!("{name} {}", show_share(*of))).collect(),
        };
        let what = match account.column.access {
            Access::Read(Cache::AsIs) => account.column.access.name().into(),
            Access::Read(cache) => cache.to_string(),
            access if is_plain => access.name().into(),
            _ => account.column.title(),
        };
        let part = format!("{what}: {}", sources.join(", "));
        // Two columns may share it.
        if !said.contains(&part) {
            said.push(part);
        }
    }
    said.join(if is_plain { ", " } else { "; " })
}

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
            (Grade::Unfinished, format!("whether commits are durable is unknown: {unknown}"))
        }
        (_, 0, _) => (
            Grade::Unfinished,
            format!(
                "commits are durable in {yes} of {cells}; in the others it is unknown: {unknown}"
            ),
        ),
        (_, _, _) => {
            let why = reason(Some(false));
            (Grade::Misleading, format!("commits are not durable in {no} of {cells}: {why}"))
        }
    };
    Statement { grade, text }
}
