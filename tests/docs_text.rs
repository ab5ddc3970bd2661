//! Everything that README.md, CONTRIBUTING.md, CHANGELOG.md and docs/*.md name exists: options,
//! files, links; and the reference lists everything there is.

use std::fs;
use std::path::PathBuf;

use crate::common::pages::{FOR_USERS, all, blocks, codes_in, help, offers, read, root};
use crate::common::{self, Home};
use serde_json::Value;

/// The file that the commands measure.
const FILE: &str = "big.iso";

#[test]
fn options_in_the_text_exist() {
    let home = Home::new();
    let commands: [&[&str]; 6] = [
        &[],
        &["serve"],
        &["host"],
        &["sessions", "compare"],
        &["sessions", "export"],
        &["sessions", "import"],
    ];
    let helps: Vec<String> = commands.iter().map(|command| help(&home, command)).collect();
    for doc in &all() {
        for code in codes_in(&blocks(&read(doc)).1)
            .iter()
            .filter(|code| code.starts_with("--") || code.starts_with("-s"))
        {
            let option = code.split(['=', ' ', '|']).next().unwrap();
            assert!(
                helps.iter().any(|help| offers(help, option)),
                "{doc}: `{code}`: no such option"
            );
        }
    }
}

#[test]
fn readme_is_short_and_lines_fit() {
    let count = read("README.md").split_whitespace().count();
    assert!(count <= 1_500, "README.md has {count} words");
    for doc in &all() {
        // Table rows, links and pictures cannot be wrapped.
        let long = |line: &&str| {
            line.chars().count() > 100
                && !["|", "- [", "!["].iter().any(|start| line.starts_with(start))
        };
        let lines = read(doc);
        let found: Vec<&str> = lines.lines().filter(long).collect();
        assert!(found.is_empty(), "{doc}: more than 100 columns:\n{}", found.join("\n"));
    }
}

/// Converts a heading to its GitHub anchor.
fn anchor(heading: &str) -> String {
    let kept = heading
        .trim_start_matches('#')
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-');
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn links_lead_somewhere() {
    for doc in &all() {
        let (_, text) = blocks(&read(doc));
        let targets: Vec<&str> =
            text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert!(
            !targets.is_empty() || !FOR_USERS.contains(&doc.as_str()),
            "{doc}: its links were not found"
        );
        for target in targets.into_iter().filter(|target| !target.starts_with("http")) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let file: PathBuf = if path.is_empty() {
                root().join(doc)
            } else {
                root().join(doc).with_file_name("").join(path)
            };
            assert!(file.exists(), "{doc}: {target}: no such file");
            let headings = || fs::read_to_string(&file).unwrap();
            let known = heading.is_empty()
                || headings().lines().any(|line| line.starts_with('#') && anchor(line) == heading);
            assert!(known, "{doc}: {target}: no such heading");
        }
    }
}

#[test]
fn the_reference_lists_everything() {
    let known = codes_in(&blocks(&read("docs/reference.md")).1);
    let mut ids: Vec<&str> = iotui::backend::BACKENDS.iter().map(|b| b.info().id).collect();
    ids.extend(iotui::peer::PEERS.iter().map(|p| p.info().id));
    ids.extend(iotui::plan::PRESETS.iter().map(|p| p.0));
    ids.extend(iotui::plan::PROFILES.iter().map(|p| p.0));
    ids.extend(iotui::experiment::EXPERIMENTS.iter().map(|e| e.id));
    ids.extend(iotui::probe::PROBES.iter().map(|p| p.info().id));
    ids.extend(iotui::record::RULES.iter().map(|rule| rule.id));
    ids.extend(iotui::doctor::CHECKS.iter().map(|check| check.id));
    ids.extend(
        iotui::tui::keymap::KEYMAP
            .iter()
            .flat_map(|b| b.keys)
            .filter(|key| key.parse::<u8>().is_err() && !ARROWS.contains(key)),
    );
    let gone: Vec<&&str> = ids.iter().filter(|id| !known.contains(**id)).collect();
    assert!(gone.is_empty(), "docs/reference.md lacks {gone:?}");
    let options = iotui::backend::BACKENDS.iter().flat_map(|b| b.info().options);
    let gone: Vec<String> = options
        .map(|o| o.name)
        .filter(|name| !known.iter().any(|code| code.starts_with(&format!("+{name}"))))
        .map(String::from)
        .collect();
    assert!(gone.is_empty(), "docs/reference.md lacks the options {gone:?}");
}

const ARROWS: [&str; 4] = ["up", "down", "left", "right"];

#[test]
fn formats_list_every_schema_key() {
    let known = codes_in(&blocks(&read("docs/formats.md")).1);
    fn schema(name: &str) -> Value {
        serde_json::from_str(&read(&format!("assets/schema/{name}"))).unwrap()
    }
    let (one, compare) = (schema("iotui-1.schema.json"), schema("iotui-compare-1.schema.json"));
    fn of(schema: &Value, at: &str) -> Vec<String> {
        schema
            .pointer(at)
            .and_then(Value::as_object)
            .unwrap_or_else(|| panic!("{at}"))
            .keys()
            .cloned()
            .collect()
    }
    let mut keys = of(&one, "/properties");
    for part in ["job", "result", "trial", "latency", "source", "warning", "summary"] {
        keys.extend(of(&one, &format!("/$defs/{part}/properties")));
    }
    keys.extend(of(&compare, "/properties"));
    for part in ["side", "versus", "difference", "pair", "ratio", "alone"] {
        keys.extend(of(&compare, &format!("/$defs/{part}/properties")));
    }
    keys.retain(|key| !known.contains(key));
    assert!(keys.is_empty(), "docs/formats.md lacks {keys:?}");
}

#[test]
fn formats_list_every_line_kind() {
    let home = Home::new();
    home.file(FILE, 64 << 10);
    home.stdout(&format!("--batch -b pread -s 4k --save one {} {FILE}", common::QUICK));
    let known = codes_in(&blocks(&read("docs/formats.md")).1);
    let text = fs::read_to_string(&home.sessions()[0]).unwrap();
    for line in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let line = line.as_object().unwrap();
        let kind = line["kind"].as_str().unwrap();
        assert!(known.contains(kind), "docs/formats.md lacks the kind {kind}");
    }
    for format in iotui::report::FORMATS {
        assert!(known.contains(format.id), "docs/formats.md lacks the format {}", format.id);
    }
}

/// Folders of the files that contributor documents name.
const FOLDERS: [&str; 7] = ["src/", "crates/", "tests/", "benches/", "docs/", "assets/", "fuzz/"];

/// `crates/data/src/report/NAME.rs` and `assets/*.toml` match many files: only their folder must
/// exist.
#[test]
fn files_in_the_text_exist() {
    for doc in ["CONTRIBUTING.md", "docs/architecture.md", "fuzz/README.md"] {
        let codes = codes_in(&blocks(&read(doc)).1);
        let paths: Vec<&String> =
            codes.iter().filter(|code| FOLDERS.iter().any(|f| code.starts_with(f))).collect();
        assert!(!paths.is_empty(), "{doc}: its paths were not found");
        for path in paths {
            let is_exact = |part: &&str| {
                !part.contains('*') && !part.contains("NAME") && !is_placeholder(part)
            };
            let exact: PathBuf = path.split('/').take_while(is_exact).collect();
            assert!(root().join(&exact).exists(), "{doc}: {path}: no such file");
        }
    }
}

/// Returns true for `SCREEN` and `FILE.rs`, but not for `README.md`.
fn is_placeholder(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default();
    !part.ends_with(".md") && stem.len() > 1 && stem.chars().all(|c| c.is_ascii_uppercase())
}

#[test]
fn reference_lists_files_and_variables() {
    let known = codes_in(&blocks(&read("docs/reference.md")).1);
    let man = iotui::cli::FILES.iter().chain(&iotui::cli::ENVIRONMENT);
    for name in man.flat_map(|(names, _)| names.split([' ', ','])).filter(|name| !name.is_empty()) {
        let is_there = known.iter().any(|code| code.starts_with(name)) || name.starts_with('(');
        assert!(is_there, "docs/reference.md lacks {name}");
    }
}

#[test]
fn the_readme_counts_the_backends() {
    let count = iotui::backend::BACKENDS.len();
    assert!(read("README.md").contains(&format!("{count} backends")), "there are {count} backends");
}

#[test]
fn the_changelog_has_this_version() {
    let changelog = read("CHANGELOG.md");
    let heading = format!("## [{}] - ", env!("CARGO_PKG_VERSION"));
    assert!(changelog.contains("## [Unreleased]\n") && changelog.contains(&heading), "{heading}");
}
