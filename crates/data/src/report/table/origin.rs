//! The source of the bytes, as a word and a share.

use crate::analysis::CellResult;
use crate::plan::Op;
use crate::record::Source;
use crate::report::text::squeeze;

/// The share of a source.
type SourceShare = fn(&Source) -> f64;

/// The sources with their words and shares.
pub const SOURCES: [(&str, SourceShare); 5] = [
    ("device", |s| s.device),
    ("cache", |s| s.page_cache),
    ("below", |s| s.below),
    ("hole", |s| s.hole),
    ("unknown", |s| s.unknown),
];

/// Returns the shares with their words, largest first; if equal, the more suspicious first.
pub fn source_shares(source: &Source) -> Vec<(&'static str, f64)> {
    let trusted =
        |name: &str| ["hole", "below", "unknown", "cache"].iter().position(|of| *of == name);
    let mut parts = SOURCES.map(|(name, share)| (name, share(source))).to_vec();
    parts.retain(|(_, share)| *share > 0.0);
    parts.sort_by_key(|(name, _)| trusted(name).unwrap_or(usize::MAX));
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    parts
}

/// Returns whole percent; 100 and 0 only if they are exact.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.round() {
        _ if percent >= 100.0 => "100 %".into(),
        rounded if rounded >= 100.0 => ">99 %".into(),
        rounded if rounded < 1.0 => "<1 %".into(),
        rounded => format!("{rounded:.0} %"),
    }
}

/// Returns whether these bytes were written into the page cache: they came from the program, and no
/// counter shows where they are now.
pub fn is_written(result: &CellResult) -> bool {
    result.cell.op == Op::Write
        && result.cell.mix.is_none()
        && result.source.is_some_and(|source| source.unknown > 0.0)
}

/// Returns the main source: `device 100 %`.
pub fn main_source(result: &CellResult) -> String {
    if is_written(result) {
        return "written".into();
    }
    let first = result.source.as_ref().and_then(|source| source_shares(source).into_iter().next());
    first.map_or("-".into(), |(word, share)| format!("{word:<6} {:>5}", percent(share)))
}

/// Returns the main source in a line of text: `cache 99 %`, `written`; `None` if no counter was
/// read.
pub fn describe_source(result: &CellResult) -> Option<String> {
    result.source.as_ref()?;
    Some(squeeze(&main_source(result)))
}

/// Returns the other sources: `hole 25 %, cache 12 %`.
pub fn other_sources(result: &CellResult) -> String {
    let parts = result
        .source
        .as_ref()
        .filter(|_| !is_written(result))
        .map(source_shares)
        .unwrap_or_default();
    let rest = parts.iter().skip(1).filter(|(_, share)| *share >= 0.005);
    rest.map(|(word, share)| format!("{word} {}", percent(*share))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Cache, Job};
    use crate::report::testing;

    #[test]
    fn buffered_writes_have_a_source() {
        let write = Job { op: Op::Write, ..testing::job("pread", 4096, Cache::AsIs) };
        let unknown = Source { device: 0.0, page_cache: 0.0, hole: 0.0, unknown: 1.0, below: 0.0 };
        let like = testing::Like::new(450.0, 1.0, Some(unknown));
        let session = testing::measured(vec![write], 5, like);
        let mut result = crate::analysis::results(&session).remove(0);
        assert_eq!(
            (main_source(&result), other_sources(&result)),
            ("written".into(), String::new())
        );
        result.source = Some(testing::DEVICE);
        assert_eq!(main_source(&result), "device 100 %");
        result.source = Some(unknown);
        result.cell.op = Op::Read;
        assert_eq!(main_source(&result), "unknown 100 %");
    }

    #[test]
    fn rounded_shares_are_never_whole() {
        assert_eq!(
            [1.0, 0.9999, 0.994, 0.5, 0.001].map(percent),
            ["100 %", ">99 %", "99 %", "50 %", "<1 %"]
        );
        let source = Source { device: 0.5, page_cache: 0.0, hole: 0.5, unknown: 0.0, below: 0.0 };
        assert_eq!(source_shares(&source)[0].0, "hole");
    }
}
