//! OSC 52: the terminal puts a text on its own clipboard, over ssh too.

use crossterm::Command;
use crossterm::clipboard::CopyToClipboard;

/// Bytes of a text whose sequence is no longer than the 100,000 that hterm and those after it take.
pub const MAX_TEXT_BYTES: usize = 74_991;

/// Returns what makes the terminal copy `text`.
pub fn osc52(text: &str) -> impl Command {
    CopyToClipboard::to_clipboard_from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(text: &str) -> String {
        let mut sequence = String::new();
        osc52(text).write_ansi(&mut sequence).unwrap();
        sequence
    }

    #[test]
    fn a_text_goes_to_the_clipboard_in_base64() {
        for (text, wanted) in [
            ("", ""),
            ("f", "Zg=="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("\u{fc}\u{1b}", "w7wb"),
        ] {
            assert_eq!(sequence(text), format!("\x1b]52;c;{wanted}\x1b\\"));
        }
    }

    #[test]
    fn a_safe_text_is_the_longest_whose_sequence_is_taken_everywhere() {
        assert!(sequence(&"x".repeat(MAX_TEXT_BYTES)).len() <= 100_000);
        assert!(sequence(&"x".repeat(MAX_TEXT_BYTES + 1)).len() > 100_000);
    }
}
