//! Text for people: what may not reach a terminal, how wide it is there, and where its lines break.

use unicode_width::UnicodeWidthStr;

use crate::text::{Replacement, safe};

/// Returns the columns that `text` takes on a terminal.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Escapes everything in `text` that could control a terminal: names and paths may come from
/// anyone.
pub fn clean(text: &str) -> String {
    safe(text, Replacement::Escape)
}

/// Escapes `text` for XML and HTML, between tags or in an attribute; drops the noncharacters that
/// XML does not allow.
pub fn xml(text: &str) -> String {
    let text: String =
        clean(text).chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
            _ => out.extend(c.escape_default()),
        }
    }
    out
}

/// Pads `text` with spaces on the right to `columns` columns.
pub fn pad_right(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Wraps `text` into lines of at most `most` columns; a longer word is broken.
pub fn wrap(text: &str, most: usize) -> Vec<String> {
    wrap_where(text, |line| width(line) <= most)
}

/// Wraps `text` into lines that fit; a word that fits no line is broken, at least one
/// character to a line.
pub fn wrap_where(text: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let joined = if line.is_empty() { word.to_string() } else { format!("{line} {word}") };
        if fits(&joined) {
            line = joined;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for c in word.chars() {
            line.push(c);
            if !fits(&line) && line.chars().nth(1).is_some() {
                line.pop();
                lines.push(std::mem::replace(&mut line, c.into()));
            }
        }
    }
    lines.extend((!line.is_empty()).then_some(line));
    lines
}

/// Makes the first letter a capital.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_could_drive_a_terminal_is_escaped() {
        assert_eq!(clean("a\x1b[31mb\nc\u{202e}d\u{85}"), "a\\u{1b}[31mb\\nc\\u{202e}d\\u{85}");
        assert_eq!(clean("Müller/文.iso"), "Müller/文.iso");
    }

    #[test]
    fn ascii_keeps_the_meaning() {
        assert_eq!(ascii("3 µs ±2 %, 4×, ü"), "3 us +-2 %, 4x, \\u{fc}");
    }

    #[test]
    fn words_stay_whole_where_they_fit() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a verylongword b", 5), ["a", "veryl", "ongwo", "rd b"]);
        assert_eq!(wrap("文文文文", 5), ["文文", "文文"]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_and_nothing_is_lost(text in "\\PC{0,60}", most in 2usize..40) {
            let text = clean(&text);
            let lines = wrap(&text, most);
            for line in &lines {
                prop_assert!(width(line) <= most || line.chars().count() == 1, "{line:?}");
            }
            let solid = |s: &str| s.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(solid(&lines.concat()), solid(&text));
            prop_assert!(ascii(&text).is_ascii());
        }
    }
}
