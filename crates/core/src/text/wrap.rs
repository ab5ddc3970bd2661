//! Width of text on a terminal, and where it is cut or broken to fit.

use unicode_width::UnicodeWidthStr;

/// Returns the terminal columns that `text` takes.
pub fn width(text: &str) -> usize {
    #[cfg(test)]
    tests::MEASURED.with(|bytes| bytes.set(bytes.get() + text.len()));
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
    let cut = |end: usize| format!("{}{mark}", &text[..end]);
    cut(find_cut(text, 0, text.len(), |end| width(&cut(end)) <= columns))
}

/// Cuts `text` at its front to at most `columns`: a path keeps the name of its file.
pub fn cut_front(text: &str, columns: usize, mark: &str) -> String {
    if width(text) <= columns {
        return text.into();
    }
    let mark = if width(mark) <= columns { mark } else { "" };
    let cut = |start: usize| format!("{mark}{}", &text[start..]);
    cut(find_cut(text, text.len(), 0, |start| width(&cut(start)) <= columns))
}

/// Returns the place in `text` between two characters, from `fit` towards `beyond`, that is the
/// farthest for which `fits(place)` holds, or `fit`. For what becomes wider with each character.
///
/// However long the text, it measures only pieces that are about as long as what fits: to measure
/// again after each character would take time with the square of the length.
pub fn find_cut(text: &str, fit: usize, beyond: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut fit, mut beyond, mut step) = (fit, beyond, FIRST_STEP);
    loop {
        let (low, high) = (fit.min(beyond), fit.max(beyond));
        let half = (high - low) / 2;
        let middle = if fit < beyond { fit + half.min(step) } else { fit - half.min(step) };
        let is_cut = |at: &usize| text.is_char_boundary(*at);
        let next = (middle.max(low + 1)..high).find(is_cut);
        let Some(at) = next.or_else(|| (low + 1..middle).rfind(is_cut)) else { return fit };
        if fits(at) {
            (fit, step) = (at, step * 2);
        } else {
            beyond = at;
        }
    }
}

/// Initial distance of the search for a cut from the expected one, bytes.
const FIRST_STEP: usize = 64;

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
    let most = find_cut(text, 0, text.len(), |end| width(&text[..end]) <= first);
    let end = end_of_words(text, most);
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
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut lines, mut rest) = (Vec::new(), text.as_str());
    while let Some(first) = rest.chars().next() {
        let fits_here = |end: usize| fits(lines.len(), &rest[..end]);
        let most = find_cut(rest, first.len_utf8(), rest.len() + 1, fits_here);
        let end = match end_of_words(rest, most).filter(|_| most < rest.len()) {
            Some(end) if rest[end..].starts_with(" %") => rest[..end].rfind(' ').unwrap_or(end),
            end => end.unwrap_or(most),
        };
        lines.push(rest[..end].to_string());
        rest = rest[end..].trim_start();
    }
    lines
}

/// Returns the last place up to `most` where a word ends and another follows.
fn end_of_words(text: &str, most: usize) -> Option<usize> {
    if text[most..].starts_with(' ') { Some(most) } else { text[..most].rfind(' ') }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    thread_local! {
        /// The bytes that this thread measured.
        pub static MEASURED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn long_texts_are_measured_seldom() {
        const LENGTH: usize = 1 << 18;
        let kinds = ["x", "word ", "e\u{301}", "0\u{fe0f}", "\u{301}", "· a, ", "12 % of "];
        let endless = usize::MAX / 2;
        for kind in kinds {
            let text = kind.repeat(LENGTH / kind.len());
            let ways: [(&str, &dyn Fn() -> usize); 6] = [
                ("cut_end", &|| cut_end(&text, 80, "…").len()),
                ("cut_front", &|| cut_front(&text, 80, "…").len()),
                ("wrap", &|| wrap(&text, 80).len()),
                ("wrap into one line", &|| wrap(&text, endless).len()),
                ("wrap_hanging", &|| wrap_hanging(&text, 80, 60).len()),
                ("wrap_hanging in one line", &|| wrap_hanging(&text, 80, endless).len()),
            ];
            for (name, way) in ways {
                MEASURED.set(0);
                assert!(way() > 0, "{name}");
                let times = MEASURED.get() / LENGTH;
                assert!(times < 60, "{name} of {kind:?} measures each byte {times} times");
            }
        }
    }

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
        fn wrapped_lines_lose_nothing(
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
