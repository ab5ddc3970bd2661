//! Text for people, and the escaping of what must not reach a terminal or a page.

use super::Look;
use crate::text::{self, Replacement};
pub use crate::text::{find_cut, pad_right, width, wrap, wrap_where};

/// Escapes everything in `text` that could control a terminal: names and paths may come from
/// anyone.
pub fn clean(text: &str) -> String {
    text::safe(text, Replacement::Escape)
}

/// Makes text safe for the destination.
pub fn safe(text: &str, look: &Look) -> String {
    show_with(&clean(text), look)
}

/// Escapes `text` for XML and HTML, between tags or in an attribute; drops the noncharacters that
/// XML does not allow.
pub fn xml(text: &str) -> String {
    let text: String =
        clean(text).chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns the words of a text with one space between them.
pub fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Joins the parts that are not empty by commas.
pub fn join_nonempty(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Bars of one to eight eighths of a line.
pub const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The same, in characters of ASCII.
pub const PLAIN_BARS: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// Replaces characters that the destination cannot show: all beyond ASCII, or only bars.
pub fn show_with(text: &str, look: &Look) -> String {
    match look {
        Look { ascii: true, .. } => ascii(text),
        _ if look.has_plain_bars() => text.chars().map(|c| plain_bar(c).unwrap_or(c)).collect(),
        _ => text.to_string(),
    }
}

/// Returns the ASCII character for a part of a bar; `None` for any other character.
fn plain_bar(part: char) -> Option<char> {
    match part {
        '▓' => Some('='),
        '░' => Some('-'),
        _ => BARS.iter().zip(PLAIN_BARS).find(|(bar, _)| **bar == part).map(|(_, plain)| plain),
    }
}

/// Converts `text` to ASCII: a similar character where there is one, else an escape.
pub fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'µ' | 'μ' => out.push('u'),
            '±' => out.push_str("+-"),
            '×' => out.push('x'),
            '·' | '–' | '—' | '−' => out.push('-'),
            '…' => out.push_str("..."),
            '≤' => out.push_str("<="),
            '≥' => out.push_str(">="),
            '’' | '‘' => out.push('\''),
            '“' | '”' => out.push('"'),
            '→' => out.push_str("->"),
            '\u{a0}' | '\u{202f}' => out.push(' '),
            _ if c.is_ascii() => out.push(c),
            _ => match plain_bar(c) {
                Some(part) => out.push(part),
                None => out.extend(c.escape_default()),
            },
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Graph;
    use proptest::prelude::*;

    #[test]
    fn plain_bars_leave_the_words() {
        let look = Look { graph: Graph::Ascii, ..Look::default() };
        assert_eq!(show_with("8 µs ██▓░", &look), "8 µs ##=-");
        assert_eq!(show_with("8 µs ██▓░", &Look { ascii: true, ..look }), "8 us ##=-");
        assert_eq!(show_with("8 µs ██▓░", &Look::default()), "8 µs ██▓░");
    }

    #[test]
    fn terminal_control_is_escaped() {
        assert_eq!(clean("a\x1b[31mb\nc\u{202e}d\u{85}"), "a\\u{1b}[31mb\\nc\\u{202e}d\\u{85}");
        assert_eq!(clean("Müller/文.iso"), "Müller/文.iso");
    }

    #[test]
    fn ascii_keeps_the_meaning() {
        assert_eq!(ascii("3 µs ±2 %, 4×, ü"), "3 us +-2 %, 4x, \\u{fc}");
    }

    proptest! {
        #[test]
        fn ascii_is_ascii(text in "\\PC{0,60}") {
            prop_assert!(ascii(&text).is_ascii());
        }
    }
}
