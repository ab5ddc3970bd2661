//! Splits Rust source into tokens and finds its paths, as far as the check of imports needs.

use std::path::{Path, PathBuf};

/// Returns the folders of the sources of every crate.
pub fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = std::fs::read_dir(root.join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = crates.map(|of| of.unwrap().path().join("src")).collect();
    folders.push(root.join("src"));
    folders.sort();
    folders
}

/// A file's place in the module tree.
pub struct File {
    pub path: PathBuf,
    /// The module directly below the crate root.
    pub room: String,
    /// Number of `super` from it to the root.
    pub depth: usize,
}

impl File {
    /// Returns the place of the file at `path`, which is relative to `src`.
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

/// Splits source text into tokens; skips comments and literals, and `::` is one token.
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

/// Returns the length of a comment, which may contain other comments.
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

/// Returns the length of a raw string after its `r`; `None` if it is not one.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    text[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    text[hashes + 1..].find(&end).map(|at| hashes + 1 + at + end.len())
}

/// Returns the length of a character literal, or of the quote of a lifetime.
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

/// Returns the names directly below the crate root that the paths in these tokens lead to, through
/// `crate::` (or `iotui::`) and `super::`.
pub fn paths<'a>(tokens: &[&'a str], depth: usize) -> Vec<&'a str> {
    let mut found = Vec::new();
    // Open braces: true for the brace of a module.
    let mut open: Vec<bool> = Vec::new();
    for at in 0..tokens.len() {
        match tokens[at] {
            "{" => open.push(at >= 2 && tokens[at - 2] == "mod"),
            "}" => drop(open.pop()),
            "crate" | "iotui" | "iotui_core" | "iotui_data" | "iotui_tui" | "iotui_engine"
                if tokens.get(at + 1) == Some(&"::") =>
            {
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

/// Finds the first names of the path or group of paths at `at`, where `up` more `super` lead to the
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
