//! Cleaning of text from files and users for one line of a terminal.

use std::io::{self, Write};
use std::path::Path;

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

/// Returns true for characters that move the cursor, are invisible or change the text direction:
/// C0, C1 and DEL, line and paragraph separators, the bidirectional controls of Unicode UAX 9, and
/// zero-width format characters.
pub fn is_unsafe_char(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The replacement of an unsafe character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// Nothing; each white-space character becomes a space.
    Nothing,
    /// A `?`.
    Mark,
    /// Its escape, such as `\u{1b}`, so that nothing is lost.
    Escape,
}

/// Replaces every character that [`is_unsafe_char`], for text of one line.
pub fn safe(text: &str, instead: Replacement) -> String {
    if !text.chars().any(is_unsafe_char) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match instead {
            _ if !is_unsafe_char(c) => out.push(c),
            Replacement::Nothing if c.is_ascii_whitespace() => out.push(' '),
            Replacement::Nothing => {}
            Replacement::Mark => out.push('?'),
            Replacement::Escape => out.extend(c.escape_default()),
        }
    }
    out
}

/// Replaces like [`safe`], but keeps line feeds.
pub fn safe_lines(text: &str, instead: Replacement) -> String {
    if !text.chars().any(|c| c != '\n' && is_unsafe_char(c)) {
        return text.into();
    }
    text.split('\n').map(|line| safe(line, instead)).collect::<Vec<_>>().join("\n")
}

/// Writes a piece of a JSON string with every character that [`is_unsafe_char`] escaped, which does
/// not change its value.
///
/// # Errors
/// The errors of `out`.
pub fn write_json<W: ?Sized + Write>(out: &mut W, piece: &str) -> io::Result<()> {
    if piece.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return out.write_all(piece.as_bytes());
    }
    let mut written = 0;
    for (start, c) in piece.char_indices().filter(|(_, c)| is_unsafe_char(*c)) {
        out.write_all(&piece.as_bytes()[written..start])?;
        c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
        written = start + c.len_utf8();
    }
    out.write_all(&piece.as_bytes()[written..])
}

/// Formats a path for people, in one line and with unsafe characters escaped.
pub fn show_path(path: &Path) -> String {
    safe(&path.to_string_lossy(), Replacement::Escape)
}

/// Most characters of a slug.
const MAX_LENGTH: usize = 40;

/// Converts a text into a part of an id: `[a-z0-9-]`, at most 40 characters, `session` if nothing
/// is left.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => slug.push(c),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
        if slug.len() == MAX_LENGTH {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "session".into() } else { slug.into() }
}

/// Describes an error without its number: `permission denied`.
pub fn describe_io_error(error: &io::Error) -> String {
    let text = error.to_string();
    let text = match (error.raw_os_error(), text.rfind(" (os error ")) {
        (Some(_), Some(end)) => &text[..end],
        _ => text.as_str(),
    };
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    let is_word = letters.clone().next().is_some_and(|c| !c.is_ascii_uppercase());
    match first {
        Some(first) if is_word => std::iter::once(first).chain(letters).collect(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn removes_terminal_control_characters() {
        assert_eq!(text("a\x1b[31mb\n\tc\u{202e}d\u{9b}e\0"), "a[31mb  cde");
        assert_eq!(text("Größe, 大きさ"), "Größe, 大きさ");
        assert_eq!(brief("abcdef", 3), "abc...");
        assert_eq!(brief("abc", 3), "abc");
    }

    #[test]
    fn replaces_exactly_the_unsafe_characters() {
        let every = (0..=0x10_ffff).filter_map(char::from_u32);
        let steering: String = every.filter(|c| is_unsafe_char(*c)).collect();
        for c in [
            "\u{0}\u{1b}\u{7f}\u{9b}\u{ad}\u{61c}\u{200b}\u{200e}\u{2028}\u{202a}",
            "\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}\u{fffa}\u{e0041}",
        ]
        .concat()
        .chars()
        {
            assert!(steering.contains(c), "{:?}", c);
        }
        for instead in [Replacement::Nothing, Replacement::Mark, Replacement::Escape] {
            assert!(!safe(&steering, instead).chars().any(is_unsafe_char));
            assert!(
                !safe_lines(&steering, instead).chars().any(|c| c != '\n' && is_unsafe_char(c))
            );
            assert_eq!(safe("Größe, 大きさ", instead), "Größe, 大きさ");
        }
        let mut json = Vec::new();
        // JSON itself escapes characters below the space.
        let steering: String =
            steering.chars().filter(|c| *c >= ' ').chain("Größe, 大きさ".chars()).collect();
        write_json(&mut json, &steering).unwrap();
        let json = format!("\"{}\"", String::from_utf8(json).unwrap());
        assert!(
            !json.chars().any(is_unsafe_char)
                && json.contains("\\u202e")
                && json.ends_with("Größe, 大きさ\"")
        );
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), steering);
        assert_eq!(safe("a\x1b[31mb\n\tc", Replacement::Nothing), "a[31mb  c");
        assert_eq!(safe("a\x1b[31mb", Replacement::Escape), "a\\u{1b}[31mb");
        assert_eq!(safe_lines("a\x1bb\nc", Replacement::Mark), "a?b\nc");
        assert_eq!(show_path(Path::new("/tmp/\u{202e}x\n")), "/tmp/\\u{202e}x\\n");
    }

    proptest! {
        #[test]
        fn slugs_are_short_and_never_empty(text in ".{0,80}") {
            prop_assert!((1..=MAX_LENGTH).contains(&slug(&text).len()));
        }
    }

    #[test]
    fn no_error_shows_its_number() {
        for (number, wanted) in [(13, "permission denied"), (1, "operation not permitted")] {
            assert_eq!(describe_io_error(&io::Error::from_raw_os_error(number)), wanted);
        }
        assert_eq!(describe_io_error(&io::Error::from_raw_os_error(5)), "input/output error");
        assert_eq!(describe_io_error(&io::Error::other("CRC is wrong")), "CRC is wrong");
        assert_eq!(describe_io_error(&io::Error::other("")), "");
    }
}
