//! Facts about a machine and a target, as data: the engine collects them, a session stores them,
//! and reports and screens show them.

mod machine;
mod target;

pub use machine::*;
pub use target::*;

use crate::text::is_unsafe_char;

/// Longest one-line value, in characters: it ends up in session files and on terminals.
pub const MAX_LINE: usize = 300;

/// Makes a value safe to display: trimmed, at most 300 characters, and without control characters,
/// because an attacker may choose the name of a disk.
pub fn clean(text: &str) -> String {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0')
        .chars()
        .take(MAX_LINE)
        .map(|c| if is_unsafe_char(c) || c == char::REPLACEMENT_CHARACTER { '?' } else { c })
        .collect()
}
