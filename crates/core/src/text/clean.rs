//! Cleaning of text from files and users for one line of a terminal.

use crate::text::{Replacement, is_unsafe_char, safe};

/// Removes control characters; line breaks and tabs become one space each.
pub fn text(text: &str) -> String {
    safe(text, Replacement::Nothing)
}

/// Returns true if there is nothing to remove.
pub fn is_clean(text: &str) -> bool {
    // Most texts are ASCII, which is checked many bytes at a time.
    let is_plain = |bytes: &[u8]| bytes.iter().fold(true, |all, b| all & matches!(b, b' '..=b'~'));
    text.as_bytes().chunks(64).all(is_plain) || !text.chars().any(is_unsafe_char)
}

/// Returns at most `max` characters of the cleaned text, for errors that quote their input.
pub fn brief(value: &str, max: usize) -> String {
    // A hostile text may have megabytes, so only the part to be shown is cleaned.
    let head: String = value.chars().take(max).collect();
    let cut = if head.len() < value.len() { "..." } else { "" };
    text(&head) + cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_terminal_control_characters() {
        assert_eq!(text("a\x1b[31mb\n\tc\u{202e}d\u{9b}e\0"), "a[31mb  cde");
        assert_eq!(text("Größe, 大きさ"), "Größe, 大きさ");
        assert_eq!(brief("abcdef", 3), "abc...");
        assert_eq!(brief("abc", 3), "abc");
    }
}
