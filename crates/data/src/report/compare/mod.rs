//! Comparisons of sessions, in each format. A new format is one file and its entry in
//! [`COMPARISONS`].

mod columns;
mod format;
mod markdown;
mod table;
#[cfg(test)]
mod tests;

pub use columns::{INTERVAL_RANK, RatioScale, columns as comparison_columns};
pub use format::ComparisonFormat;

use std::io::{self, Write};

use self::table::MAX_LISTED;
pub use self::table::{describe_beside, describe_unjudged, describe_unmatched};
use crate::analysis::{Comparison, Ruling};
use crate::plan::{Unknown, nearest};
use crate::report::Look;
use crate::report::notes::TextLines;
use crate::report::pretty::pretty;
use crate::report::table::grid::Style;

/// Every format of a comparison, in the order in which lists show them; the first is the default.
pub static COMPARISONS: &[ComparisonFormat] = &[table::FORMAT, JSON, markdown::FORMAT];

/// Returns a comparison as a table.
pub fn comparison_text(comparison: &Comparison, look: &Look) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = (COMPARISONS[0].write)(comparison, look, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the comparison format with this id.
///
/// # Errors
/// The id is unknown.
pub fn find_comparison_format(id: &str) -> Result<&'static ComparisonFormat, Unknown> {
    COMPARISONS
        .iter()
        .find(|f| f.id == id)
        .ok_or_else(|| nearest("format of a comparison", id, COMPARISONS.iter().map(|f| f.id)))
}

const JSON: ComparisonFormat = ComparisonFormat {
    id: "json",
    about: "one document for programs; its schema is in assets/",
    extension: "json",
    write: write_json,
};

fn write_json(comparison: &Comparison, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    pretty(comparison, out)?;
    writeln!(out)
}

/// Returns the ruling as lines.
pub fn ruling_text(ruling: &Ruling, look: &Look) -> String {
    let mut page = TextLines { look, lines: Vec::new() };
    for pair in ruling.slower.iter().take(MAX_LISTED) {
        page.paragraph("slower: ", Style::Yellow, &pair.describe());
    }
    for open in ruling.open.iter().take(MAX_LISTED) {
        page.paragraph("not judged: ", Style::Red, &format!("{}: {}", open.cell.label(), open.why));
    }
    let more = ruling.slower.len().saturating_sub(MAX_LISTED)
        + ruling.open.len().saturating_sub(MAX_LISTED);
    if more > 0 {
        page.plain(&format!("and {more} more"));
    }
    page.paragraph("", Style::Bold, &ruling.text());
    page.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
