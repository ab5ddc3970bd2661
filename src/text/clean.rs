//! Text from a file or a user, made safe for one line of a terminal.

use crate::text::{Instead, safe, steers};

/// The text without control characters: line breaks and tabs become one space, the others go.
pub fn text(text: &str) -> String {
    safe(text, Instead::Nothing)
}

/// Whether there is nothing to clean.
pub fn is_clean(text: &str) -> bool {
    !text.chars().any(steers)
}

/// As [`text`], in place and only where there is something to do.
pub fn in_place(value: &mut String) {
    if value.chars().any(steers) {
        *value = text(value);
    }
}

/// At most `most` characters of the cleaned text, for an error that quotes what it found.
pub fn brief(value: &str, most: usize) -> String {
    // A hostile text may have megabytes: cleaned are only the characters that can be shown.
    let head: String = value.chars().take(most).collect();
    let cut = if head.len() < value.len() { "..." } else { "" };
    text(&head) + cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left() {
        assert_eq!(text("a\x1b[31mb\n\tc\u{202e}d\u{9b}e\0"), "a[31mb  cde");
        assert_eq!(text("Größe, 大きさ"), "Größe, 大きさ");
        assert_eq!(brief("abcdef", 3), "abc...");
        assert_eq!(brief("abc", 3), "abc");
    }
}
