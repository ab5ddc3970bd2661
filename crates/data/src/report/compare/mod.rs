//! Comparisons of sessions, in each format. A new format is one file and its entry in
//! [`COMPARISONS`].

mod bar;
mod columns;
mod format;
mod gate;
mod json;
mod markdown;
mod table;
#[cfg(test)]
mod tests;

pub use bar::Scale as RatioScale;
pub use columns::columns as comparison_columns;
pub use format::ComparisonFormat;
pub use gate::ruling_text;

use super::Look;
use crate::analysis::Comparison;
use crate::plan::{Unknown, nearest};

/// Every format of a comparison, in the order in which lists show them; the first is the default.
pub static COMPARISONS: &[ComparisonFormat] = &[table::FORMAT, json::FORMAT, markdown::FORMAT];

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
