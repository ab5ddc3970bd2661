//! Only backends, presets and tests may name a backend.

use std::collections::BTreeSet;
use std::path::Path;

use super::{assert_none, house};
use crate::common::source::File;

/// Where a word that is also a backend id means something else: file under src, id, meaning.
const OTHER_MEANINGS: [(&str, &str, &str); 18] = [
    ("analysis/remarks.rs", "getpid", "a parameter of the probe of system calls"),
    ("analysis/why/limit.rs", "read", "what memory is"),
    ("peer/fio.rs", "mmap", "an engine of fio"),
    ("peer/fio.rs", "read", "a direction of fio"),
    ("plan/kinds.rs", "read", "an operation"),
    ("plan/kinds.rs", "seek", "an operation"),
    ("plan/settings.rs", "read", "an operation"),
    ("plan/settings.rs", "seek", "an operation"),
    ("probe/bandwidth.rs", "read", "an operation on memory"),
    ("probe/map.rs", "mmap", "the call that failed"),
    ("probe/switch.rs", "mmap", "the call that failed"),
    ("probe/syscall.rs", "getpid", "a call"),
    ("probe/syscall.rs", "read", "a call"),
    ("report/fio/section.rs", "read", "a direction of fio"),
    ("session/fio/mod.rs", "read", "what failed"),
    ("session/fio/options.rs", "read", "a direction of fio"),
    ("session/reader.rs", "read", "what failed"),
    ("session/references/file.rs", "read", "a function"),
];
/// Returns whether a file under src is neither a test nor made for tests.
fn shipped(path: &Path) -> bool {
    let path = path.to_string_lossy();
    !path.contains("test") && path != "report/sample.rs" && !path.ends_with("round_trip.rs")
}

/// Returns the backend ids in a file's string literals, alone or with options.
fn named_backends<'a>(text: &str, ids: &[&'a str]) -> BTreeSet<&'a str> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let literals = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    fn options(rest: &str) -> bool {
        rest.is_empty() || rest.starts_with('+')
    }
    let named = |literal: &str| {
        let is = |id: &&&str| literal.strip_prefix(**id).is_some_and(options);
        ids.iter().find(is).copied()
    };
    literals.filter_map(named).collect()
}

/// Each backend's `Info` describes it; a list of ids elsewhere would miss the next backend.
#[test]
fn backend_ids_stay_in_their_room() {
    let ids: Vec<_> = iotui::backend::BACKENDS.iter().map(|b| b.info().id).collect();
    let mut left: BTreeSet<(String, &str)> =
        OTHER_MEANINGS.iter().map(|(path, id, _)| (path.to_string(), *id)).collect();
    let mut wrong = Vec::new();
    for (path, text) in house() {
        if matches!(File::of(&path).room.as_str(), "backend" | "catalog") || !shipped(&path) {
            continue;
        }
        let path = path.to_string_lossy().to_string();
        for id in named_backends(&text, &ids) {
            if !left.remove(&(path.clone(), id)) {
                wrong.push(format!("{path}: names the backend {id}: ask its Info"));
            }
        }
    }
    wrong.extend(left.iter().map(|(path, id)| format!("{path} no longer says {id}")));
    assert_none(wrong);
}

#[test]
fn the_checker_finds_named_backends() {
    let ids = ["read", "uring"];
    let found = |text: &str| named_backends(text, &ids).into_iter().collect::<Vec<_>>();
    assert_eq!(found("if id == \"uring\" {}"), ["uring"]);
    assert_eq!(found("let a = [\"uring+sqpoll\", \"read\"];"), ["read", "uring"]);
    assert_eq!(found("// \"uring\"\nlet a = \"uring is off\";"), [""; 0]);
    assert_eq!(found("fn f() {}\n#[cfg(test)]\nmod tests {\n    \"uring\"\n}"), [""; 0]);
}
