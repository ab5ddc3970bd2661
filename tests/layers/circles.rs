//! Finds files that import each other in a cycle, with `pub use` followed to the file that defines
//! the item.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::crates;
use crate::common::source::tokens;

/// The permitted cycles, and why.
const LISTED: &[(&[&str], &str)] = &[
    (&["analysis/probe.rs", "analysis/probe_rules.rs"], "a result has the warnings of its rules"),
    (
        &["analysis/why/estimate.rs", "analysis/why/limit.rs", "analysis/why/mod.rs"],
        "limits and estimates are two views of the same bounds",
    ),
    (
        &["backend/uring.rs", "backend/uring/entries.rs", "backend/uring/loops.rs"],
        "the hot loops of one lane in three files",
    ),
    (
        &["record/verdict/reason.rs", "record/verdict/source.rs"],
        "the shares of the bytes and the reason for them",
    ),
    (&["lab/rows.rs", "lab/state.rs"], "the sheet of Lab is built from its state, which keeps it"),
];

type Module = Vec<String>;

/// The files of a crate as modules.
#[derive(Default)]
struct Crate {
    files: BTreeMap<Module, PathBuf>,
    /// Names that a module re-exports, and where they come from.
    exports: BTreeMap<(Module, String), Module>,
    /// Paths that a module uses.
    uses: BTreeMap<Module, Vec<Module>>,
}

impl Crate {
    /// Reads files (path under `src`, and text); skips tests.
    fn read(files: &[(PathBuf, String)]) -> Crate {
        let mut read = Crate::default();
        let shipped = files.iter().filter(|(path, _)| !path.to_string_lossy().contains("test"));
        let shipped: Vec<_> = shipped.map(|(path, text)| (module_of(path), path, text)).collect();
        for (module, path, _) in &shipped {
            read.files.insert(module.clone(), path.to_path_buf());
        }
        for (module, _, text) in &shipped {
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            read.read_module(module, &tokens(text));
        }
        read
    }

    fn read_module(&mut self, module: &Module, tokens: &[&str]) {
        let mut modules: BTreeMap<String, Module> = BTreeMap::new();
        let mut rest = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            if tokens[at] != "use" {
                rest.push(tokens[at]);
                at += 1;
                continue;
            }
            let passes_on = matches!(rest.last(), Some(&"pub" | &")"));
            at += 1;
            for (path, name) in flatten(tokens, &mut at) {
                let Some(path) = self.absolute(module, &path) else { continue };
                if self.files.contains_key(&path) {
                    modules.insert(name.clone(), path.clone());
                }
                if passes_on {
                    self.exports.insert((module.clone(), name), path);
                } else {
                    self.uses.entry(module.clone()).or_default().push(path);
                }
            }
        }
        for path in paths(&rest) {
            let named = modules.get(&path[0]).map(|module| [&module[..], &path[1..]].concat());
            let path = named.or_else(|| self.absolute(module, &path));
            self.uses.entry(module.clone()).or_default().extend(path);
        }
    }

    /// Returns the path from the root of the crate; `None` if it leads to another crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                let base = &module[..module.len().checked_sub(up)?];
                Some([base, &path[up..]].concat())
            }
            first => {
                let child = [module, &[first.to_string()][..]].concat();
                self.files.contains_key(&child).then(|| [module, path].concat())
            }
        }
    }

    /// Returns the file that defines the item at the end of a path; `None` if it ends at a module.
    fn owner(&self, path: &Module) -> Option<&Module> {
        let mut path = path.clone();
        // Longer than any chain of re-exports.
        for _ in 0..16 {
            let end = (0..=path.len()).rev().find(|end| self.files.contains_key(&path[..*end]))?;
            let (module, rest) = path.split_at(end);
            let name = rest.first()?.clone();
            match self.exports.get(&(module.to_vec(), name)) {
                Some(from) => path = [&from[..], &rest[1..]].concat(),
                None => return self.files.get_key_value(module).map(|(module, _)| module),
            }
        }
        None
    }

    /// Returns groups of two or more files, each of which reaches all others of its group by
    /// imports.
    fn circles(&self) -> Vec<Vec<String>> {
        let direct: BTreeMap<&Module, BTreeSet<&Module>> = self
            .files
            .keys()
            .map(|module| {
                let owners = self.uses.get(module).into_iter().flatten();
                let owners = owners.filter_map(|path| self.owner(path));
                (module, owners.filter(|owner| *owner != module).collect())
            })
            .collect();
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            direct.keys().map(|module| (*module, reach(&direct, module))).collect();
        let mut grouped = BTreeSet::new();
        let mut circles = Vec::new();
        for (module, others) in &reached {
            let group: Vec<&Module> =
                others.iter().copied().filter(|other| reached[*other].contains(module)).collect();
            if group.len() > 1 && grouped.insert(group.clone()) {
                let mut files: Vec<String> =
                    group.iter().map(|one| self.files[*one].display().to_string()).collect();
                files.sort();
                circles.push(files);
            }
        }
        circles
    }
}

fn reach<'a>(
    direct: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
    from: &Module,
) -> BTreeSet<&'a Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        for next in &direct[module] {
            if seen.insert(*next) {
                open.push(next);
            }
        }
    }
    seen
}

/// Converts a file's path to its module: `src/plan/mod.rs` to `plan`, `src/lib.rs` to the root.
fn module_of(path: &Path) -> Module {
    let mut parts: Module =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into()).collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}

/// Returns the paths of the import tree that begins at `at`, each with the name it binds; moves
/// `at` past the tree.
fn flatten(tokens: &[&str], at: &mut usize) -> Vec<(Module, String)> {
    let mut path: Module = Vec::new();
    while let Some(token) = tokens.get(*at) {
        match *token {
            "::" => *at += 1,
            "{" => {
                *at += 1;
                let mut all = Vec::new();
                while tokens.get(*at).is_some_and(|token| *token != "}") {
                    for (inner, name) in flatten(tokens, at) {
                        let is_self = inner == ["self"];
                        let inner = if is_self { Vec::new() } else { inner };
                        let own = path.last().cloned().unwrap_or_default();
                        let name = if is_self && name == "self" { own } else { name };
                        all.push(([&path[..], &inner].concat(), name));
                    }
                    *at += usize::from(tokens.get(*at) == Some(&","));
                }
                *at += 1;
                return all;
            }
            "as" => {
                let name = tokens.get(*at + 1).map(|name| name.to_string()).unwrap_or_default();
                *at += 2;
                return vec![(path, name)];
            }
            "," | ";" | "}" => break,
            part => {
                path.push(part.into());
                *at += 1;
            }
        }
    }
    let name = path.last().cloned().unwrap_or_default();
    if path.is_empty() { Vec::new() } else { vec![(path, name)] }
}

/// Returns every path of two or more names.
fn paths(tokens: &[&str]) -> Vec<Module> {
    fn is_name(token: &str) -> bool {
        token.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
    let mut found = Vec::new();
    let mut path: Module = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let follows = at > 0 && tokens[at - 1] == "::";
        if is_name(token) {
            if !follows {
                found.push(std::mem::take(&mut path));
            }
            path.push(token.to_string());
        } else if *token != "::" {
            found.push(std::mem::take(&mut path));
        }
    }
    found.push(path);
    found.retain(|path| path.len() > 1);
    found
}

#[test]
fn only_listed_import_circles_exist() {
    let listed: BTreeSet<Vec<String>> = LISTED
        .iter()
        .map(|(group, _)| group.iter().map(|file| file.to_string()).collect())
        .collect();
    let found: BTreeSet<Vec<String>> =
        crates().iter().flat_map(|(_, files)| Crate::read(files).circles()).collect();
    let new: Vec<_> = found.difference(&listed).map(|group| group.join(" ")).collect();
    let gone: Vec<_> = listed.difference(&found).map(|group| group.join(" ")).collect();
    assert!(new.is_empty(), "new circles, open them or list them:\n{}", new.join("\n"));
    assert!(gone.is_empty(), "listed, but no circle:\n{}", gone.join("\n"));
    assert!(LISTED.iter().all(|(group, why)| group.len() <= 3 && !why.is_empty()));
}

#[test]
fn checker_follows_reexports() {
    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files: Vec<_> =
            files.iter().map(|(path, text)| (PathBuf::from(path), text.to_string())).collect();
        Crate::read(&files).circles()
    }
    let leaf = ("a/leaf.rs", "pub struct Leaf;");
    let passes_on = "pub use leaf::Leaf; use child::X as _;";
    // Through the name that the parent re-exports, the child reaches only the leaf.
    assert!(
        circles(&[leaf, ("a/mod.rs", passes_on), ("a/child.rs", "use crate::a::Leaf;")]).is_empty()
    );
    for child in [
        "use super::Own;",
        "use crate::{a::{Own, Leaf}};",
        "use crate::a; fn f() -> a::Own {}",
        "fn f() -> crate::a::Own { super::own() }",
    ] {
        assert_eq!(
            circles(&[leaf, ("a/mod.rs", passes_on), ("a/child.rs", child)]),
            [["a/child.rs", "a/mod.rs"]],
            "{child}"
        );
    }
    let tests = "#[cfg(test)]\nmod tests { use super::Own; }";
    assert!(circles(&[("a/mod.rs", "mod b; fn f() { b::g() }"), ("a/b.rs", tests)]).is_empty());
}
