//! Rust source as words, and the paths in it: as much as the check of imports needs.

use std::path::{Path, PathBuf};

/// Where a file stands in the tree of modules.
pub struct File {
    pub path: PathBuf,
    /// The module right below the crate's root.
    pub room: String,
    /// How many `super` lead from it to the root.
    pub depth: usize,
}

impl File {
    /// `path` is taken from `src`.
    pub fn of(path: &Path) -> File {
        let mut parts: Vec<String> =
            path.with_extension("").iter().map(|p| p.to_string_lossy().into()).collect();
        if parts.last().is_some_and(|last| last == "mod") {
            parts.pop();
        }
        let room = parts[0].clone();
        let root = matches!(room.as_str(), "lib" | "main");
        // `fd_tests.rs` is `mod tests` of `fd`, by a path attribute.
        let tests = usize::from(path.to_string_lossy().ends_with("_tests.rs"));
        File { path: path.into(), room, depth: if root { 0 } else { parts.len() + tests } }
    }
}

/// The words and signs of a source text; comments and literals are left out, `::` is one sign.
pub fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment(rest),
            '"' => string(rest),
            '\'' => quote(rest),
            c if c.is_alphanumeric() || c == '_' => {
                let len =
                    rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                match raw_string(&rest[len..]) {
                    Some(more) if matches!(&rest[..len], "r" | "br" | "cr") => len + more,
                    _ => {
                        tokens.push(&rest[..len]);
                        len
                    }
                }
            }
            c if c.is_whitespace() => c.len_utf8(),
            c => {
                let len = if rest.starts_with("::") { 2 } else { c.len_utf8() };
                tokens.push(&rest[..len]);
                len
            }
        };
        rest = &rest[len..];
    }
    tokens
}

/// The length of a comment that may hold others.
fn comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let step = match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        at += step.0;
        depth += step.1;
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// What follows the `r` of a raw string: its length, if it is one.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    text[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    text[hashes + 1..].find(&end).map(|at| hashes + 1 + at + end.len())
}

/// A character, or only the quote of a lifetime.
fn quote(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, c))) => {
            let after = at + c.len_utf8();
            after + text[after..].find('\'').map_or(0, |end| end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// The names right below the crate's root that these words go to, by `crate::` (or `iotui::`) and
/// by `super::`.
pub fn paths<'a>(tokens: &[&'a str], depth: usize) -> Vec<&'a str> {
    let mut found = Vec::new();
    // Open braces: true for those of a module.
    let mut open: Vec<bool> = Vec::new();
    for at in 0..tokens.len() {
        match tokens[at] {
            "{" => open.push(at >= 2 && tokens[at - 2] == "mod"),
            "}" => drop(open.pop()),
            "crate" | "iotui" | "iotui_engine" if tokens.get(at + 1) == Some(&"::") => {
                heads(tokens, at + 2, 0, &mut found)
            }
            "super" if at == 0 || tokens[at - 1] != "::" => {
                let up = depth + open.iter().filter(|module| **module).count();
                heads(tokens, at, up, &mut found);
            }
            _ => {}
        }
    }
    found
}

/// The first names of the path or the group of paths at `at`, where `up` more `super` lead to the
/// root.
fn heads<'a>(tokens: &[&'a str], at: usize, up: usize, found: &mut Vec<&'a str>) {
    match tokens.get(at) {
        Some(&"super") if up > 0 && tokens.get(at + 1) == Some(&"::") => {
            heads(tokens, at + 2, up - 1, found)
        }
        Some(&"{") => {
            let mut depth = 0;
            for i in at..tokens.len() {
                let begins = depth == 1 && matches!(tokens[i - 1], "{" | ",");
                match tokens[i] {
                    "{" if begins => return,
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    "self" => {}
                    _ if begins => heads(tokens, i, up, found),
                    _ => {}
                }
                if depth == 0 {
                    return;
                }
            }
        }
        Some(name) if up == 0 => found.push(name),
        _ => {}
    }
}
