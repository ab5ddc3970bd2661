//! Text of others (names of files, machines, processes) on its way to a terminal or a page: the one
//! place that says what may not get there.

use std::io::{self, Write};
use std::path::Path;

/// Whether a character moves the cursor, cannot be seen, or turns the direction of what follows:
/// C0, C1 and DEL, line and paragraph separators, the bidirectional controls of Unicode UAX 9, and
/// format characters that take no room.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// What stands where such a character was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead {
    /// Nothing; white space becomes one space each.
    Nothing,
    /// A `?`.
    Mark,
    /// Its escape, as in `\u{1b}`: nothing is lost.
    Escape,
}

/// The text for one line, without any character that [`steers`].
pub fn safe(text: &str, instead: Instead) -> String {
    if !text.chars().any(steers) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match instead {
            _ if !steers(c) => out.push(c),
            Instead::Nothing if c.is_ascii_whitespace() => out.push(' '),
            Instead::Nothing => {}
            Instead::Mark => out.push('?'),
            Instead::Escape => out.extend(c.escape_default()),
        }
    }
    out
}

/// As [`safe`] for text of several lines: line feeds stay.
pub fn safe_lines(text: &str, instead: Instead) -> String {
    if !text.chars().any(|c| c != '\n' && steers(c)) {
        return text.into();
    }
    text.split('\n').map(|line| safe(line, instead)).collect::<Vec<_>>().join("\n")
}

/// Writes a piece of a JSON string with its characters that [`steers`] as escapes: what is read
/// from it is the same.
///
/// # Errors
/// Those of `out`.
pub fn write_json<W: ?Sized + Write>(out: &mut W, piece: &str) -> io::Result<()> {
    if piece.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return out.write_all(piece.as_bytes());
    }
    let mut written = 0;
    for (at, c) in piece.char_indices().filter(|(_, c)| steers(*c)) {
        out.write_all(&piece.as_bytes()[written..at])?;
        c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
        written = at + c.len_utf8();
    }
    out.write_all(&piece.as_bytes()[written..])
}

/// A path for people: one line, whatever it is called.
pub fn shown(path: &Path) -> String {
    safe(&path.to_string_lossy(), Instead::Escape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_is_left_and_nothing_else_changes() {
        let every = (0..=0x10_ffff).filter_map(char::from_u32);
        let steering: String = every.filter(|c| steers(*c)).collect();
        for c in
            "\u{0}\u{1b}\u{7f}\u{9b}\u{ad}\u{61c}\u{200b}\u{200e}\u{2028}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}\u{fffa}\u{e0041}"
                .chars()
        {
            assert!(steering.contains(c), "{:?}", c);
        }
        for instead in [Instead::Nothing, Instead::Mark, Instead::Escape] {
            assert!(!safe(&steering, instead).chars().any(steers));
            assert!(!safe_lines(&steering, instead).chars().any(|c| c != '\n' && steers(c)));
            assert_eq!(safe("Größe, 大きさ", instead), "Größe, 大きさ");
        }
        let mut json = Vec::new();
        // What JSON escapes itself never comes here.
        let steering: String =
            steering.chars().filter(|c| *c >= ' ').chain("Größe, 大きさ".chars()).collect();
        write_json(&mut json, &steering).unwrap();
        let json = format!("\"{}\"", String::from_utf8(json).unwrap());
        assert!(
            !json.chars().any(steers)
                && json.contains("\\u202e")
                && json.ends_with("Größe, 大きさ\"")
        );
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), steering);
        assert_eq!(safe("a\x1b[31mb\n\tc", Instead::Nothing), "a[31mb  c");
        assert_eq!(safe("a\x1b[31mb", Instead::Escape), "a\\u{1b}[31mb");
        assert_eq!(safe_lines("a\x1bb\nc", Instead::Mark), "a?b\nc");
        assert_eq!(shown(Path::new("/tmp/\u{202e}x\n")), "/tmp/\\u{202e}x\\n");
    }
}
