//! Where the bytes of the figures came from, and whether all of them are accounted for.

use super::columns::GlanceColumn;
use super::model::{Grade, Statement};
use crate::analysis::CellResult;
use crate::plan::Cache;
use crate::record::Source;
use crate::session::Session;
use crate::units::show_share;

/// A smaller share of another source is not worth a warning.
const NEGLIGIBLE: f64 = 0.01;

/// Returns `every byte accounted for: device 100 %, page cache 100 %`, or what is known instead.
pub fn origin(session: &Session, results: &[CellResult], columns: &[GlanceColumn]) -> Statement {
    let nothing = Statement { grade: Grade::Good, text: String::new() };
    if session.reference.is_some() {
        let text = "as reported: where the bytes came from is not known".into();
        return Statement { grade: Grade::Unfinished, text };
    }
    let sources: Vec<(&GlanceColumn, Option<Source>)> = columns
        .iter()
        .filter(|column| column.bytes)
        .map(|column| (column, source_of(column, results)))
        .collect();
    // What was written into memory came from the program: no counter shows where it is.
    let counted: Vec<(&GlanceColumn, Source)> = sources
        .iter()
        .filter(|(column, source)| {
            column.access.is_read() || source.is_some_and(|source| source.unknown == 0.0)
        })
        .filter_map(|(column, source)| Some((*column, (*source)?)))
        .collect();
    if sources.is_empty() {
        return nothing;
    }
    if counted.is_empty() {
        let written = sources.iter().all(|(column, _)| column.access.is_write());
        let text = match written {
            true => "written through the page cache: no counter shows what reached the device",
            false => "where the bytes came from is not known",
        };
        return Statement { grade: Grade::Unfinished, text: text.into() };
    }
    let complete = counted.iter().all(|(_, source)| source.unknown == 0.0);
    let parts: Vec<String> = counted.iter().map(|(column, of)| describe(column, of)).collect();
    let text = match complete {
        true => format!("every byte accounted for: {}", join(parts)),
        false => format!("the bytes: {}", join(parts)),
    };
    let pure = counted.iter().all(|(column, of)| is_as_asked(column, of));
    let grade = match (complete, pure) {
        (_, false) => Grade::Misleading,
        (false, true) => Grade::Unfinished,
        (true, true) => Grade::Good,
    };
    Statement { grade, text }
}

/// Joins parts; what two columns share is said once.
fn join(parts: Vec<String>) -> String {
    let mut said: Vec<String> = Vec::new();
    for part in parts {
        if !said.contains(&part) {
            said.push(part);
        }
    }
    said.join(", ")
}

/// Returns whether cold bytes came from the device and warm ones from the page cache.
fn is_as_asked(column: &GlanceColumn, of: &Source) -> bool {
    let other = match column.cache {
        _ if !column.access.is_read() => of.hole + of.unknown,
        Cache::Cold => 1.0 - of.device,
        // Direct I/O goes to the device, whatever is in the page cache.
        Cache::Warm => 1.0 - of.page_cache.max(of.device),
        Cache::AsIs => of.hole + of.unknown,
    };
    other < NEGLIGIBLE
}

/// Returns the sources of all results of a column, weighted by their bytes; `None` if none is
/// known.
fn source_of(column: &GlanceColumn, results: &[CellResult]) -> Option<Source> {
    let own = results.iter().filter(|result| column.holds(&result.cell));
    let mut sum = Source { device: 0.0, page_cache: 0.0, hole: 0.0, unknown: 0.0 };
    let mut all = 0.0;
    for result in own {
        let bytes: f64 = result.trials.iter().map(|trial| trial.bytes as f64).sum();
        let Some(of) = result.source.filter(|_| bytes > 0.0) else { continue };
        all += bytes;
        sum.device += of.device * bytes;
        sum.page_cache += of.page_cache * bytes;
        sum.hole += of.hole * bytes;
        sum.unknown += of.unknown * bytes;
    }
    let share = |bytes: f64| bytes / all;
    (all > 0.0).then(|| Source {
        device: share(sum.device),
        page_cache: share(sum.page_cache),
        hole: share(sum.hole),
        unknown: share(sum.unknown),
    })
}

/// Returns `device 100 %`, or `cold: device 92 %, page cache 8 %`.
fn describe(column: &GlanceColumn, of: &Source) -> String {
    let all = [
        ("device", of.device),
        ("page cache", of.page_cache),
        ("hole", of.hole),
        ("unknown", of.unknown),
    ];
    let mut parts: Vec<(&str, f64)> = all.into_iter().filter(|(_, share)| *share > 0.0).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let main = parts.first().copied();
    // What is below a tenth of a percent is in the figure of the largest: `>99.9 %`.
    parts.retain(|part| Some(*part) == main || part.1 >= 0.001);
    let said: Vec<String> =
        parts.iter().map(|(name, share)| format!("{name} {}", show_share(*share))).collect();
    let (all, name) = (said.join(", "), column.access.name());
    match (said.len(), column.access.is_read()) {
        (0 | 1, true) => all,
        (0 | 1, false) if column.access.is_write() => format!("{name} to the {all}"),
        (_, true) => format!("{}: {all}", column.cache),
        (_, false) => format!("{name}: {all}"),
    }
}
