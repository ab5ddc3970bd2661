//! README.md, CONTRIBUTING.md, CHANGELOG.md and docs/*.md, as text and as blocks of code.

use super::stdout_of;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Home;

/// User documents: each contains commands, and links to the others.
pub const FOR_USERS: [&str; 4] =
    ["README.md", "docs/guide.md", "docs/reference.md", "docs/formats.md"];
/// The documents in the root.
const IN_THE_ROOT: [&str; 3] = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(doc: &str) -> String {
    fs::read_to_string(root().join(doc)).unwrap_or_else(|error| panic!("{doc}: {error}"))
}

/// Lists every document.
pub fn all() -> Vec<String> {
    let pages = super::names(&root().join("docs")).into_iter().filter(|name| name.ends_with(".md"));
    let root = IN_THE_ROOT.map(String::from).into_iter();
    root.chain(pages.map(|name| format!("docs/{name}"))).collect()
}

/// A fenced block: the text after its opening fence, and its lines with their numbers.
pub struct Block {
    pub info: String,
    pub lines: Vec<(usize, String)>,
}

/// Returns the blocks of a document, and its text without them.
pub fn blocks(text: &str) -> (Vec<Block>, String) {
    let (mut blocks, mut rest, mut inside) = (Vec::<Block>::new(), String::new(), false);
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), inside) {
            (Some(info), false) => {
                blocks.push(Block { info: info.trim().into(), lines: Vec::new() })
            }
            (None, true) => blocks.last_mut().unwrap().lines.push((at + 1, line.into())),
            (None, false) => rest.extend([line, "\n"]),
            (Some(_), true) => {}
        }
        inside ^= line.starts_with("```");
    }
    assert!(!inside, "a block has no end");
    (blocks, rest)
}

/// Returns the help of a command with all its options.
pub fn help(home: &Home, command: &[&str]) -> String {
    let output = home.cmd("").args(command).arg("--help").output().unwrap();
    stdout_of(&output)
}

/// Returns whether a help lists an option as a whole word.
pub fn offers(help: &str, option: &str) -> bool {
    help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|word| word == option)
}

/// Returns the pieces of text between backticks.
pub fn codes_in(text: &str) -> BTreeSet<String> {
    let pieces = text.split('`').skip(1).step_by(2);
    pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}
