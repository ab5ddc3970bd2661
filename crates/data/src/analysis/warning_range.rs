//! One sentence for warnings of a kind whose figures differ from cell to cell: as ranges.

use crate::units;

/// A word of a sentence; of a number also what it stands for.
struct Word<'a> {
    text: &'a str,
    /// Its value in the base unit, and what this measures; `None` for other words.
    value: Option<(f64, Quantity)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Quantity {
    Bytes,
    Time,
    Plain,
}

/// Returns whether two sentences differ in nothing but their figures.
pub fn differ_in_figures_only(a: &str, b: &str) -> bool {
    let (a, b) = (words(a), words(b));
    let is_same = |(a, b): (&Word, &Word)| match (a.value, b.value) {
        (Some((_, of)), Some((_, other))) => of == other,
        // One trial, two trials.
        (None, None) => {
            let singular = |text: &'_ str| text.trim_end_matches(ENDS).trim_end_matches('s').len();
            let (of, other) = (singular(a.text), singular(b.text));
            a.text[..of] == b.text[..other]
        }
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(&b).all(is_same)
}

/// Returns the sentence with the range of each figure over `all`, which differ in nothing else:
/// `the median is known only to within ±21 % to ±141 %`.
pub fn describe_range(all: &[&str]) -> String {
    let sentences: Vec<Vec<Word>> = all.iter().map(|text| words(text)).collect();
    let Some(first) = sentences.first() else { return String::new() };
    let word = |at: usize| {
        let column = || sentences.iter().filter_map(move |words| words.get(at));
        let value = |word: &&Word| word.value.map_or(0.0, |(value, _)| value);
        let ends = (
            column().min_by(|a, b| value(a).total_cmp(&value(b))),
            column().max_by(|a, b| value(a).total_cmp(&value(b))),
        );
        match ends {
            (Some(least), Some(most)) if value(&least) < value(&most) => range(least, most),
            // The plural, where there is one.
            _ => column().map(|word| word.text).max_by_key(|text| text.len()).unwrap_or("").into(),
        }
    };
    (0..first.len()).map(word).collect::<Vec<String>>().join(" ")
}

/// Returns `6.06 MiB to 600 MiB`, or `1 to 4 %`.
fn range(least: &Word, most: &Word) -> String {
    let least = least.text.trim_end_matches(ENDS);
    match (least.split_once(' '), most.text.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other.trim_end_matches(ENDS) => {
            format!("{number} to {}", most.text.trim_start_matches('('))
        }
        _ => format!("{least} to {}", most.text.trim_start_matches('(')),
    }
}

/// Characters that may follow a number or its unit.
const ENDS: [char; 5] = [',', ':', ';', ')', '.'];

/// Splits a sentence into words, of which a number with its unit is one.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word> = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find(|c: char| c != ' ') {
        rest = &rest[begin..];
        let end = rest.find(' ').unwrap_or(rest.len());
        let (length, value) = quantity(rest, end);
        words.push(Word { text: &rest[..length], value });
        rest = &rest[length..];
    }
    words
}

/// Returns the length and the value of the word that ends at `end`, with the unit behind it.
fn quantity(text: &str, end: usize) -> (usize, Option<(f64, Quantity)>) {
    let number = |text: &str| {
        let digits = text.trim_start_matches(['\u{b1}', '<', '>', '~', '(']);
        digits.parse::<f64>().ok().filter(|value| value.is_finite())
    };
    let Some(value) = number(text[..end].trim_end_matches(ENDS).trim_end_matches(['x', '%']))
    else {
        return (end, None);
    };
    let plain = (end, Some((value, Quantity::Plain)));
    // A number that ends a clause has no unit behind it.
    if text[..end].ends_with(ENDS) || end == text.len() {
        return plain;
    }
    let behind = &text[end + 1..];
    let unit_end = behind.find(' ').unwrap_or(behind.len());
    let unit = behind[..unit_end].trim_end_matches(ENDS);
    let in_unit =
        |parsed: Option<f64>, of| (end + 1 + unit_end, Some((value * parsed.unwrap_or(1.0), of)));
    match unit {
        "%" => in_unit(Some(1.0), Quantity::Plain),
        "ns" | "\u{b5}s" | "ms" | "s" | "min" => {
            let one = units::parse_time(&format!("1{}", unit.replace('\u{b5}', "u"))).ok();
            in_unit(one.map(|time| time.as_secs_f64()), Quantity::Time)
        }
        _ if unit.trim_end_matches("/s").ends_with('B') => {
            let one = units::parse_bytes(&format!("1{}", unit.trim_end_matches("/s"))).ok();
            match one {
                Some(bytes) => in_unit(Some(bytes as f64), Quantity::Bytes),
                None => plain,
            }
        }
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_differ_are_ranges() {
        for (all, wanted) in [
            (
                [
                    "the median is known only to within \u{b1}50.2 %",
                    "the median is known only to within \u{b1}141 %",
                ],
                "the median is known only to within \u{b1}50.2 to \u{b1}141 %",
            ),
            (
                [
                    "other processes moved 600 MiB on the same disk in 1 of 10 trials",
                    "other processes moved 6.06 MiB on the same disk in 4 of 10 trials",
                ],
                "other processes moved 6.06 to 600 MiB on the same disk in 1 to 4 of 10 trials",
            ),
            (
                ["1 GiB did not fit, 3 trials.", "512 KiB did not fit, 1 trial."],
                "512 KiB to 1 GiB did not fit, 1 to 3 trials.",
            ),
            (
                ["waited 3 ms (12 %): x", "waited 1.50 \u{b5}s (9 %): x"],
                "waited 1.50 \u{b5}s to 3 ms (9 to 12 %): x",
            ),
            (["the same 4 KiB", "the same 4 KiB"], "the same 4 KiB"),
        ] {
            assert!(differ_in_figures_only(all[0], all[1]), "{all:?}");
            assert_eq!(describe_range(&all), wanted);
            assert_eq!(describe_range(&all[..1]), all[0]);
        }
        assert_eq!(describe_range(&[]), "");
    }

    #[test]
    fn sentences_of_another_kind_stay_apart() {
        for (a, b) in [
            ("steal time was 3 %", "the machine runs on battery"),
            ("the device read 3.2 times the requested bytes", "readahead fetched up to 8 MiB"),
            ("it took 3 ms", "it took 3 MiB"),
            ("it took 3", "it took long"),
        ] {
            assert!(!differ_in_figures_only(a, b), "{a}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(a in ".{0,60}", b in "[0-9 .%\u{b1}BMis,()x-]{0,40}") {
            describe_range(&[&a, &b]);
            describe_range(&[&b, &a]);
            proptest::prop_assert!(differ_in_figures_only(&b, &b));
        }
    }
}
