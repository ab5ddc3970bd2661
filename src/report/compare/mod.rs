//! Sessions against each other, in each format. A new one is one file and its entry in
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

pub use columns::columns as comparison_columns;
pub use format::ComparisonFormat;
pub use gate::ruling_text;

use super::Look;
use crate::analysis::Comparison;
use crate::plan::{Unknown, nearest};

/// Every format of a comparison, in the order in which lists show them; the first is the default.
pub static COMPARISONS: &[ComparisonFormat] = &[table::FORMAT, json::FORMAT, markdown::FORMAT];

/// A comparison as people read it.
pub fn comparison_text(comparison: &Comparison, look: &Look) -> String {
    let mut out = Vec::new();
    // Memory takes every byte.
    let _ = (COMPARISONS[0].write)(comparison, look, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The format of a comparison of that name.
///
/// # Errors
/// There is none of that name.
pub fn find_comparison_format(id: &str) -> Result<&'static ComparisonFormat, Unknown> {
    COMPARISONS
        .iter()
        .find(|f| f.id == id)
        .ok_or_else(|| nearest("format of a comparison", id, COMPARISONS.iter().map(|f| f.id)))
}
