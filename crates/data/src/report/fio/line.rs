//! Lines of a job file.

use crate::report::text;

/// Returns a line with a comment.
pub fn comment(text: &str) -> String {
    format!("; {}", text::clean(text))
}
