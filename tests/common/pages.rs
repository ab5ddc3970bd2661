//! README.md, CONTRIBUTING.md, CHANGELOG.md and docs/*.md, as text and as blocks of code.
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::common::{self, Home};

/// Documents for users: each has commands, and links to the others.
pub const FOR_USERS: [&str; 4] =
    ["README.md", "docs/guide.md", "docs/reference.md", "docs/formats.md"];
/// Beside README.md in the root.
const IN_THE_ROOT: [&str; 3] = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(doc: &str) -> String {
    fs::read_to_string(root().join(doc)).unwrap_or_else(|error| panic!("{doc}: {error}"))
}

/// Every document.
pub fn all() -> Vec<String> {
    let pages =
        common::names(&root().join("docs")).into_iter().filter(|name| name.ends_with(".md"));
    let root = IN_THE_ROOT.map(String::from).into_iter();
    root.chain(pages.map(|name| format!("docs/{name}"))).collect()
}

/// A fenced block: what follows its fence, and its lines with their numbers.
pub struct Block {
    pub info: String,
    pub lines: Vec<(usize, String)>,
}

/// The blocks of a document, and its text without them.
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

/// The help of a command, of all its options.
pub fn help(home: &Home, command: &[&str]) -> String {
    let output = home.cmd("").args(command).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Whether a help has an option, as a word of its own.
pub fn offers(help: &str, option: &str) -> bool {
    help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|word| word == option)
}

/// The pieces of text between backticks.
pub fn codes_in(text: &str) -> BTreeSet<String> {
    let pieces = text.split('`').skip(1).step_by(2);
    pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}
