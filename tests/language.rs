//! Texts, comments and names are plain English: constructions of a translation are refused.

mod glyphs;

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::pages::{all, root};
use crate::common::source::folders;

/// Constructions that no text, comment or message may contain, in any letter case; whole words.
/// A translation has them, and each has a plain form: `no disk is free` for `none is free`, `the
/// report shows` for `it is told`, `ranks that wait` for `those that wait`, `next to` for `beside`,
/// `this many` for `so many`, `at least 80 columns` for `80 columns from which on`.
const REFUSED: &[&str] = &[
    "is none",
    "are none",
    "was none",
    "were none",
    "told",
    "tells",
    "those that",
    "those which",
    "those who",
    "those of",
    "those at",
    "those whose",
    "from which on",
    "of such",
    "comes down to",
    "come down to",
    "that is no",
    "beside",
    "so many",
    "to be had",
    "how-manieth",
    "anew",
    "is known of",
    "by how much",
];

/// First words of comments that make a relative clause the subject: `What is shown` for `The shown
/// cells`.
const REFUSED_BEGINNINGS: &[&str] = &["What", "Who", "Whom", "Whose"];

/// Maximum number of words in the name of a test.
const MAX_TEST_WORDS: usize = 6;

/// A piece of text, and where it begins.
struct Piece {
    place: String,
    text: String,
}

/// Returns whether `text` contains `phrase` with no letter or digit around it.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    fn is_inside(c: Option<char>) -> bool {
        c.is_some_and(char::is_alphanumeric)
    }
    text.match_indices(phrase).any(|(at, _)| {
        !is_inside(text[..at].chars().next_back())
            && !is_inside(text[at + phrase.len()..].chars().next())
    })
}

/// Returns the string literals of a source text with their lines, escaped line ends joined; skips
/// comments and character literals.
fn literals(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let rest = &source[at..];
        let (len, literal) = match rest.as_bytes() {
            [b'/', b'/', ..] => (rest.find('\n').unwrap_or(rest.len()), None),
            [b'/', b'*', ..] => (rest.find("*/").map_or(rest.len(), |end| end + 2), None),
            [b'"', ..] => plain(rest),
            [b'r', b'"' | b'#', ..] => raw(rest).unwrap_or((1, None)),
            [b'\'', b'\\', ..] => (2 + rest[2..].find('\'').unwrap_or(0).max(1) + 1, None),
            [b'\'', b'"', b'\'', ..] => (3, None),
            _ => (rest.chars().next().map_or(1, char::len_utf8), None),
        };
        if let Some(text) = literal {
            found.push((source[..at].lines().count().max(1), text));
        }
        at += len;
    }
    found
}

/// Returns the length of a plain string literal, and its text.
fn plain(rest: &str) -> (usize, Option<String>) {
    let (mut text, mut escaped, mut skips_space) = (String::new(), false, false);
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' if escaped => skips_space = true,
            _ if escaped => text.push(' '),
            '"' => return (at + 1, Some(text)),
            '\\' => {}
            c if skips_space && c.is_whitespace() => {}
            c => {
                skips_space = false;
                text.push(c);
            }
        }
        escaped = c == '\\' && !escaped;
    }
    (rest.len(), None)
}

/// Returns the length of a raw literal, and its text; `None` for a raw identifier.
fn raw(rest: &str) -> Option<(usize, Option<String>)> {
    let hashes = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
    let begin = 2 + hashes;
    if rest.as_bytes().get(begin - 1) != Some(&b'"') {
        return None;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let len = rest[begin..].find(&end)?;
    Some((begin + len + end.len(), Some(rest[begin..begin + len].into())))
}

/// Returns whether a file of `src` contains only tests.
fn is_test(path: &Path) -> bool {
    path.iter().any(|part| {
        let part = part.to_string_lossy();
        part == "tests" || part == "tests.rs" || part == "testing.rs" || part.ends_with("_tests.rs")
    })
}

/// Lists every file below a folder with one of these endings.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, endings));
        } else if path.extension().is_some_and(|end| endings.iter().any(|known| end == *known)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns what the program can print: its string literals, and the help that clap takes from
/// comments.
fn of_source() -> Vec<Piece> {
    let mut pieces = Vec::new();
    for path in folders().iter().flat_map(|folder| files(folder, &["rs"])) {
        let name = path.strip_prefix(root()).unwrap();
        if is_test(name) {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let mut found = literals(source);
        if source.contains("use clap::") {
            let lines = source.lines().enumerate();
            found.extend(lines.filter_map(|(at, line)| {
                Some((at + 1, line.trim_start().strip_prefix("///")?.to_string()))
            }));
        }
        pieces.extend(
            found
                .into_iter()
                .map(|(line, text)| Piece { place: format!("{}:{line}", name.display()), text }),
        );
    }
    pieces
}

/// Returns the documents, presets and parts of the HTML page, paragraph by paragraph.
fn of_documents() -> Vec<Piece> {
    let mut paths: Vec<PathBuf> = all().iter().map(|doc| root().join(doc)).collect();
    paths.extend(files(&root().join("crates/core/assets/presets"), &["toml"]));
    paths.extend(files(&root().join("assets/html"), &["js"]));
    paths.extend(files(&root().join("assets/schema"), &["json"]));
    let mut pieces = Vec::new();
    for path in paths {
        let place = path.strip_prefix(root()).unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let text = match path.extension() {
            Some(end) if end == "json" => without_keys(&text),
            _ => without_code(&text),
        };
        pieces.extend(
            text.split("\n\n").map(|part| Piece { place: place.clone(), text: part.into() }),
        );
    }
    pieces
}

/// Returns the comments of every source, line by line, without the marks in front of them.
fn of_comments() -> Vec<Piece> {
    let mut pieces = Vec::new();
    for path in sources() {
        let place = path.strip_prefix(root()).unwrap().display().to_string();
        // This file lists the constructions.
        if place == file!() {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for (at, line) in source.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
            let text = comment.trim_start_matches(['/', '!']).trim().to_string();
            pieces.push(Piece { place: format!("{place}:{}", at + 1), text });
        }
    }
    pieces
}

/// Lists every source: of the crates, the program, its tests and benches.
fn sources() -> Vec<PathBuf> {
    let others = ["tests", "benches", "fuzz"].map(|folder| root().join(folder));
    folders().iter().chain(&others).flat_map(|folder| files(folder, &["rs"])).collect()
}

/// Returns the names of the tests in a source.
fn test_names(source: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for part in source.split("test]\n").skip(1) {
        let rest = part.split("fn ").nth(1).unwrap_or_default();
        names.push(rest.split('(').next().unwrap_or_default());
    }
    names
}

/// Returns a document without its code spans, which have names of keys.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Returns the descriptions of a schema.
fn without_keys(text: &str) -> String {
    let parts = text.split("\"description\": \"").skip(1);
    parts.filter_map(|part| part.split("\",").next()).collect::<Vec<_>>().join("\n\n")
}

fn assert_plain(pieces: &[Piece]) {
    fn refused(piece: &Piece) -> Option<String> {
        let phrase = REFUSED.iter().find(|phrase| has_phrase(&piece.text, phrase))?;
        Some(format!("{}: \"{phrase}\"", piece.place))
    }
    let found: Vec<String> = pieces.iter().filter_map(refused).collect();
    assert!(found.is_empty(), "write it in plain English:\n{}", found.join("\n"));
}

#[test]
fn the_program_prints_plain_english() {
    let pieces = of_source();
    assert!(pieces.len() > 1_000, "the literals were not found: {}", pieces.len());
    assert_plain(&pieces);
}

#[test]
fn documents_are_in_plain_english() {
    let pieces = of_documents();
    assert!(pieces.len() > 300, "the documents were not found: {}", pieces.len());
    assert_plain(&pieces);
}

#[test]
fn comments_are_in_plain_english() {
    let pieces = of_comments();
    assert!(pieces.len() > 10_000, "the comments were not found: {}", pieces.len());
    let begins_badly = |piece: &&Piece| {
        piece.text.split(' ').next().is_some_and(|first| REFUSED_BEGINNINGS.contains(&first))
    };
    let found: Vec<String> = pieces
        .iter()
        .filter(begins_badly)
        .map(|piece| format!("{}: {}", piece.place, piece.text))
        .collect();
    assert!(found.is_empty(), "begin with the subject:\n{}", found.join("\n"));
    assert_plain(&pieces);
}

#[test]
fn test_names_are_short() {
    let mut long = Vec::new();
    for path in sources() {
        let source = fs::read_to_string(&path).unwrap();
        let names = test_names(&source).into_iter();
        long.extend(
            names
                .filter(|name| name.split('_').count() > MAX_TEST_WORDS)
                .map(|name| format!("{}: {name}", path.strip_prefix(root()).unwrap().display())),
        );
    }
    assert!(long.is_empty(), "name the behaviour in {MAX_TEST_WORDS} words:\n{}", long.join("\n"));
}

#[test]
fn the_scanner_finds_literals_and_phrases() {
    let source = "// \"a\"\nlet x = \"b \\\n   c\"; /* \"d\" */ let y = ['\"', '\\''];\n\
                  let z: &'static str = r#\"e \"f\" g\"#; let w = \"h\\\"i\";";
    let found = literals(source);
    let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["b c", "e \"f\" g", "h i"]);
    assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4, 4]);
    assert!(has_phrase("If there is\nnone, it", "is none"));
    assert!(!has_phrase("besides, asides", "beside"));
    let source = "#[test]\nfn a_b() {}\n#[tokio::test]\n#[ignore]\nasync fn c() {}";
    assert_eq!(test_names(source), ["a_b", "c"]);
}
