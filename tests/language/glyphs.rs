//! The characters of the screen and reports: DejaVu Sans Mono, Liberation Mono and Consolas have
//! all of them, and terminals draw none as an emoji, two columns wide.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::common::source::folders;

/// Characters of WGL4 without Unicode's property Emoji, then what terminals draw themselves:
/// frames, blocks and Braille. Liberation Mono lacks the quadrants among the blocks; no terminal
/// takes them from a font, which would leave gaps.
const ALLOWED: &[RangeInclusive<char>] = &[
    '\u{a1}'..='\u{a8}',
    '\u{aa}'..='\u{ad}',
    '\u{af}'..='\u{17f}',
    '\u{391}'..='\u{3c9}',
    '\u{410}'..='\u{44f}',
    '–'..='—',
    '‘'..='’',
    '“'..='”',
    '•'..='•',
    '…'..='…',
    '‹'..='›',
    '←'..='↓',
    '∆'..='∆',
    '−'..='−',
    '√'..='√',
    '∞'..='∞',
    '≈'..='≈',
    '≠'..='≡',
    '≤'..='≥',
    '■'..='□',
    '▲'..='▲',
    '►'..='►',
    '▼'..='▼',
    '◄'..='◄',
    '◊'..='○',
    '●'..='●',
    '\u{2500}'..='\u{257f}',
    '\u{2580}'..='\u{2593}',
    '\u{2800}'..='\u{28ff}',
];

/// Returns the sources under a folder that are neither tests nor made for them.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().to_string();
        if path.is_dir() && !name.contains("test") {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") && !name.contains("test") {
            found.push(path);
        }
    }
    found
}

/// Returns the characters of a source outside of comments and tests that are not allowed.
fn strangers(text: &str) -> Vec<(usize, char)> {
    let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = shipped.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .flat_map(|(at, line)| line.chars().map(move |c| (at + 1, c)))
        .filter(|(_, c)| !c.is_ascii() && !ALLOWED.iter().any(|range| range.contains(c)))
        .collect()
}

#[test]
fn glyphs_are_in_terminal_fonts() {
    let wrong: Vec<String> = folders()
        .iter()
        .flat_map(|folder| sources(folder))
        // The sample session of the tests has a name that no font of ours needs.
        .filter(|path| !path.ends_with("report/sample.rs"))
        .flat_map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            strangers(&text).into_iter().map(move |(line, c)| {
                format!("{}:{line}: {c} U+{:04X}", path.display(), u32::from(c))
            })
        })
        .collect();
    assert!(wrong.is_empty(), "use a sign of the list in this test:\n{}", wrong.join("\n"));
}

#[test]
fn checker_finds_rare_glyphs() {
    let found = |text: &str| strangers(text).into_iter().map(|(_, c)| c).collect::<String>();
    assert_eq!(found("let a = \"ℹ ✖ ▶ ◆ △ ▸ ▾ ✓ ©\";"), "ℹ✖▶◆△▸▾✓©");
    assert_eq!(found("let a = \"● ○ ■ □ ▲ ∆ ► ◄ ◊ ─ ┊ █ ▁ ⣿ × √ μ µ …\"; // ✓"), "✓");
    assert_eq!(found("    /// ✓\n#[cfg(test)]\nmod tests {\n    \"✓\""), "");
}
