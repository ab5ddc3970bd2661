//! The ruling of a gate, for people: the cells that are slower, those without a verdict, and the
//! summary.

use super::table::MAX_LISTED;
use crate::analysis::Ruling;
use crate::report::Look;
use crate::report::notes::TextLines;
use crate::report::table::grid::Style;

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
