//! Width of text on a terminal, and where it is cut or broken to fit.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the terminal columns that `text` takes.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Pads `text` with spaces at its end to `columns`.
pub fn pad_right(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Cuts `text` at its end to at most `columns`; `mark` replaces what is cut.
pub fn cut_end(text: &str, columns: usize, mark: &str) -> String {
    if width(text) <= columns {
        return text.into();
    }
    let mark = if width(mark) <= columns { mark } else { "" };
    let mut cut: String = take_columns(text.chars(), columns - width(mark)).into_iter().collect();
    let mut end = cut.len();
    cut.push_str(mark);
    // A selector of emoji widens the character before it, which by itself was narrower.
    while width(&cut) > columns
        && let Some((before, _)) = cut[..end].char_indices().next_back()
    {
        cut.replace_range(before..end, "");
        end = before;
    }
    cut
}

/// Cuts `text` at its front to at most `columns`: a path keeps the name of its file.
pub fn cut_front(text: &str, columns: usize, mark: &str) -> String {
    if width(text) <= columns {
        return text.into();
    }
    let mark = if width(mark) <= columns { mark } else { "" };
    let last = take_columns(text.chars().rev(), columns - width(mark));
    let mut cut: String = mark.chars().chain(last.into_iter().rev()).collect();
    while width(&cut) > columns && cut.len() > mark.len() {
        cut.remove(mark.len());
    }
    cut
}

fn take_columns(chars: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut left = columns;
    let fits = |c: &char| {
        let wide = c.width().unwrap_or(0);
        let fits = wide <= left;
        left = left.saturating_sub(wide);
        fits
    };
    chars.take_while(fits).collect()
}

/// Breaks `text` between words into lines of at most `columns`; a longer word is broken.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    wrap_where(text, |_, line| width(line) <= columns)
}

/// Breaks `text` as [`wrap`] does, with `first` columns for the first line and `rest` for the
/// others. Spaces at the start and within the first line stay: they align it.
pub fn wrap_hanging(text: &str, first: usize, rest: usize) -> Vec<String> {
    if width(text.trim_end()) <= first {
        return vec![text.trim_end().into()];
    }
    // The longest start that fits and ends where a word does.
    let mut ends = text.match_indices(' ').map(|(at, _)| at);
    let end = ends.rfind(|at| width(&text[..*at]) <= first);
    match end.filter(|end| !text[..*end].trim().is_empty()) {
        Some(end) => std::iter::once(text[..end].trim_end().to_string())
            .chain(wrap(&text[end..], rest))
            .collect(),
        None => wrap_where(text, |row, line| width(line) <= if row == 0 { first } else { rest }),
    }
}

/// Breaks `text` between words into lines for which `fits(row, line)` holds. A word that fits no
/// line is broken, with at least one character on each line. A figure keeps its `%`.
pub fn wrap_where(text: &str, fits: impl Fn(usize, &str) -> bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let joined = if line.is_empty() { word.to_string() } else { format!("{line} {word}") };
        if fits(lines.len(), &joined) {
            line = joined;
            continue;
        }
        let figure = line.rfind(' ').filter(|_| word.starts_with('%'));
        let figure = figure.map_or_else(String::new, |at| line.split_off(at) + " ");
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for c in figure.trim_start().chars().chain(word.chars()) {
            line.push(c);
            if !fits(lines.len(), &line) && line.chars().nth(1).is_some() {
                line.pop();
                lines.push(std::mem::replace(&mut line, c.into()));
            }
        }
    }
    lines.extend((!line.is_empty()).then_some(line));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_stay_whole_where_they_fit() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("less than 5 %, or 10 %", 11), ["less than", "5 %, or", "10 %"]);
        assert_eq!(wrap("a verylongword b", 5), ["a", "veryl", "ongwo", "rd b"]);
        assert_eq!(wrap("文文文文", 5), ["文文", "文文"]);
        assert!(wrap(" \n", 5).is_empty());
    }

    #[test]
    fn a_first_line_keeps_its_spaces() {
        assert_eq!(wrap_hanging("label    some words", 14, 10), ["label    some", "words"]);
        assert_eq!(wrap_hanging("short ", 14, 10), ["short"]);
        assert_eq!(wrap_hanging("averylongword", 5, 4), ["avery", "long", "word"]);
    }

    #[test]
    fn cuts_leave_a_mark() {
        assert_eq!(cut_end("abcdef", 4, "…"), "abc…");
        assert_eq!(cut_front("/a/long/path/file.iso", 10, "…"), "…/file.iso");
        assert_eq!(cut_front("日本語", 5, "…"), "…本語");
        // An emoji by its selector is two columns wide, its parts only one and none.
        let keycap = "0\u{fe0f}";
        assert_eq!((width(keycap), cut_end(&format!("{keycap}ab"), 2, "…").as_str()), (2, "0…"));
        assert!(width(&cut_front(&format!("ab{keycap}"), 2, "…")) <= 2);
        assert_eq!((cut_end("ab", 0, "…"), cut_front("abc", 1, "..")), ("".into(), "c".into()));
    }

    proptest! {
        #[test]
        fn no_line_is_wider_and_nothing_is_lost(
            text in "\\PC{0,60}",
            first in 0usize..40,
            rest in 0usize..40,
        ) {
            fn solid(s: &str) -> String { s.chars().filter(|c| !c.is_whitespace()).collect::<String>() }
            fn fits(line: &str, most: usize) -> bool { width(line) <= most || line.chars().count() == 1 }
            let lines = wrap(&text, rest);
            prop_assert!(lines.iter().all(|line| fits(line, rest)), "{lines:?}");
            prop_assert_eq!(solid(&lines.concat()), solid(&text));
            let lines = wrap_hanging(&text, first, rest);
            let widths = std::iter::once(first).chain(std::iter::repeat(rest));
            prop_assert!(lines.iter().zip(widths).all(|(line, most)| fits(line.trim_start(), most)));
            prop_assert_eq!(solid(&lines.concat()), solid(&text));
        }

        #[test]
        fn cuts_are_never_wider(text in "\\PC{0,60}", columns in 0usize..40) {
            prop_assert!(width(&cut_end(&text, columns, "…")) <= columns);
            prop_assert!(width(&cut_front(&text, columns, "..")) <= columns);
        }
    }
}
