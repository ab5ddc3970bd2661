//! README.md and docs/*.md: every command in them runs, every link leads somewhere, and the
//! reference lists everything there is.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Home, is_root, skip};
use serde_json::Value;

const DOCS: [&str; 4] = ["README.md", "docs/guide.md", "docs/reference.md", "docs/formats.md"];
/// Words after a fence that may hide a command: only `sh` and `sh no-run` are known.
const SHELLS: [&str; 5] = ["", "bash", "console", "shell", "zsh"];

/// The files that the documents name, small.
const FILE: &str = "big.iso";
const FILE_SIZE: usize = 4 << 20;
/// What makes a run short; an option that a document gives is replaced, but for the number of
/// trials.
const SHORT: [(&str, &str); 2] = [("--budget", "2s"), ("--trial-time", "1ms")];
/// Where the number of trials is given, they are all done, however busy the machine is.
const PATIENT: [(&str, &str); 2] = [("--budget", "10m"), SHORT[1]];
const SMALL: [(&str, &str); 2] = [("--size", "4m"), ("-n", "64")];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(doc: &str) -> String {
    fs::read_to_string(root().join(doc)).unwrap_or_else(|error| panic!("{doc}: {error}"))
}

/// README.md and all of docs/.
fn all() -> Vec<String> {
    let pages =
        common::names(&root().join("docs")).into_iter().filter(|name| name.ends_with(".md"));
    std::iter::once("README.md".into()).chain(pages.map(|name| format!("docs/{name}"))).collect()
}

/// A fenced block: what stands behind its fence, and its lines with their numbers.
struct Block {
    info: String,
    lines: Vec<(usize, String)>,
}

/// The blocks of a document, and its text without them.
fn blocks(text: &str) -> (Vec<Block>, String) {
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

/// A line as a shell splits it, up to a comment or the next command; `None` where it does not run
/// iotui.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('|' | ';' | '&' | '>', None) => break,
            ('#', None) if word.is_none() => break,
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    assert!(quote.is_none(), "a quote has no end: {line}");
    words.extend(word);
    let program = words.iter().position(|word| !word.contains('='))?;
    (words[program] == "iotui").then(|| words.split_off(program + 1))
}

struct Run {
    place: String,
    words: Vec<String>,
    runs: bool,
}

/// Every command of iotui in a document.
fn runs(doc: &str) -> Vec<Run> {
    let (blocks, _) = blocks(&read(doc));
    let mut runs = Vec::new();
    for block in blocks {
        let here = match block.info.as_str() {
            "sh" => true,
            "sh no-run" => false,
            other if other.starts_with("sh ") || SHELLS.contains(&other) => {
                panic!("{doc}: a block of '{other}': write sh or sh no-run")
            }
            _ => continue,
        };
        let of = |(at, line): &(usize, String)| {
            Some(Run { place: format!("{doc}:{at}: {line}"), words: words(line)?, runs: here })
        };
        runs.extend(block.lines.iter().filter_map(of));
    }
    runs
}

fn has(words: &[String], name: &str) -> bool {
    words.iter().any(|word| word == name || word.starts_with(&format!("{name}=")))
}

/// The value of an option, replaced where it is given.
fn replace(words: &mut [String], name: &str, value: &str) -> bool {
    let at = words.iter().position(|word| word == name);
    if let Some(slot) = at.and_then(|at| words.get_mut(at + 1)) {
        *slot = value.into();
    }
    at.is_some()
}

/// A measurement in a moment, on little.
fn shorten(words: &mut Vec<String>) {
    let add = |words: &mut Vec<String>, name: &str, value: &str| {
        words.extend([name.to_string(), value.to_string()])
    };
    let counted = ["--trials", "--plan", "--baseline"].iter().any(|name| has(words, name));
    for (name, value) in if counted { PATIENT } else { SHORT } {
        if !replace(words, name, value) {
            add(words, name, value);
        }
    }
    let small = SMALL.map(|(name, value)| replace(words, name, value));
    let lab = has(words, "--probe") || words.iter().any(|word| word.starts_with("lab"));
    let again = has(words, "--plan") || has(words, "--baseline");
    let named = words.iter().any(|word| word == FILE);
    if !(small[0] || small[1] || lab || again || named) {
        add(words, SMALL[0].0, SMALL[0].1);
    }
    if !has(words, "--trials") && !has(words, "--baseline") {
        add(words, "--trials", "1");
    }
}

/// Backends, peers and their options that are unavailable on this machine.
fn missing(home: &Home) -> BTreeSet<String> {
    let lists = ["backends", "peers"].map(|what| home.json(&format!("--list {what}")));
    let all = lists.iter().flat_map(|list| list.as_array().unwrap());
    let with_options = all.flat_map(|entry| {
        std::iter::once(entry).chain(entry["options"].as_array().into_iter().flatten())
    });
    with_options
        .filter(|entry| !entry["unavailable"].is_null())
        .map(|entry| entry["id"].as_str().unwrap().into())
        .collect()
}

/// What a command names after `-b` and this machine lacks.
fn lacks<'a>(words: &'a [String], missing: &BTreeSet<String>) -> Option<&'a str> {
    let at = words.iter().position(|word| word == "-b")?;
    let gone = |name: &&str| {
        missing.contains(*name)
            || name.split('+').next().is_some_and(|plain| missing.contains(plain))
    };
    words.get(at + 1)?.split(',').find(gone)
}

/// Exit codes with which a command does what its document says.
fn codes(words: &[String]) -> &'static [i32] {
    match () {
        () if has(words, "--strict") => &[0, 4],
        // Too little is measured here for a verdict.
        () if has(words, "--fail-if-slower") => &[0, 1, 3],
        () => &[0],
    }
}

fn run(home: &Home, place: &str, words: &[String]) {
    let mut command = home.cmd("");
    command.args(words).env("IOTUI_SECRET", "a secret of many characters");
    let output = command.output().unwrap_or_else(|error| panic!("{place}: {error}"));
    let code = output.status.code();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        code.is_some_and(|code| codes(words).contains(&code)),
        "{place}\nrun as iotui {}\nexit {code:?}: {said}",
        words.join(" ")
    );
}

/// A home with the files that the documents name.
fn prepared(doc: &str) -> Home {
    let home = Home::new();
    home.file(FILE, FILE_SIZE);
    fs::copy(root().join("tests/golden/fio/mixed.json"), home.path("result.json")).unwrap();
    let presets = home.home().join(".config/iotui/presets");
    fs::create_dir_all(&presets).unwrap();
    for block in blocks(&read(doc)).0.iter().filter(|block| block.info == "toml") {
        let text: String = block.lines.iter().flat_map(|(_, line)| [line, "\n"]).collect();
        fs::write(presets.join("mine.toml"), text).unwrap();
    }
    home
}

/// Runs what can run, and what cannot without measuring, where that is possible.
fn check(doc: &str) {
    let home = prepared(doc);
    if !home.on_disk() {
        return;
    }
    let missing = missing(&home);
    let runs = runs(doc);
    assert!(
        !DOCS.contains(&doc) || runs.iter().filter(|run| run.runs).count() > 2,
        "{doc}: its commands were not found"
    );
    for Run { place, mut words, runs } in runs {
        options_exist(&home, &place, &words);
        if let Some(name) = lacks(&words, &missing) {
            skip(&format!("{place}: no {name} here"));
            continue;
        }
        let batch = has(&words, "--batch");
        if batch && !runs {
            if has(&words, "--cold") && !is_root() {
                skip(&format!("{place}: not root"));
                continue;
            }
            words.push("--dry-run".into());
            words
                .iter_mut()
                .filter(|word| word.starts_with("/mnt/"))
                .for_each(|word| *word = FILE.into());
        }
        if batch {
            shorten(&mut words);
        }
        if batch || runs {
            run(&home, &place, &words);
        }
    }
}

/// The help of a command, of all its options.
fn help(home: &Home, command: &[&str]) -> String {
    let output = home.cmd("").args(command).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Whether a help has an option, as a word of its own.
fn offers(help: &str, option: &str) -> bool {
    help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|word| word == option)
}

fn options_exist(home: &Home, place: &str, words: &[String]) {
    let mut command: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .take_while(|word| ["sessions", "host", "serve"].contains(word))
        .collect();
    if command == ["sessions"] {
        command.push(&words[1]);
    }
    let help = help(home, &command);
    for word in words.iter().filter(|word| word.starts_with('-') && word.len() > 1) {
        let option = word.split('=').next().unwrap();
        assert!(
            offers(&help, option),
            "{place}: iotui {} has no option {option}",
            command.join(" ")
        );
    }
}

#[test]
fn the_commands_of_the_readme_run() {
    check("README.md");
}

#[test]
fn the_commands_of_the_guide_run() {
    check("docs/guide.md");
}

#[test]
fn the_commands_of_the_reference_run() {
    check("docs/reference.md");
}

#[test]
fn the_commands_of_the_formats_run() {
    check("docs/formats.md");
}

#[test]
fn the_commands_of_other_pages_run() {
    all().iter().filter(|doc| !DOCS.contains(&doc.as_str())).for_each(|doc| check(doc));
}

#[test]
fn a_document_that_names_an_unknown_option_is_found() {
    let home = Home::new();
    let line = |text: &str| words(text).unwrap();
    let found = std::panic::catch_unwind(|| {
        options_exist(&home, "here", &line("iotui sessions compare a b --formatt json"))
    });
    assert!(found.is_err());
    options_exist(&home, "here", &line("IOTUI_SECRET=x iotui --batch --direct=no big.iso  # -z"));
    assert_eq!(line("iotui -s 4k 'a b' || exit"), ["-s", "4k", "a b"]);
    assert_eq!((words("exit 3"), words("# iotui"), words("cargo test")), (None, None, None));
}

/// The pieces of text between backticks.
fn codes_in(text: &str) -> BTreeSet<String> {
    let pieces = text.split('`').skip(1).step_by(2);
    pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

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
    for doc in DOCS {
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
fn the_readme_is_short_and_lines_fit() {
    let count = read("README.md").split_whitespace().count();
    assert!(count <= 1_500, "README.md has {count} words");
    for doc in DOCS {
        // A row of a table, a link and a picture cannot be wrapped.
        let long = |line: &&str| {
            line.chars().count() > 100
                && !["|", "- [", "!["].iter().any(|start| line.starts_with(start))
        };
        let lines = read(doc);
        let found: Vec<&str> = lines.lines().filter(long).collect();
        assert!(found.is_empty(), "{doc}: more than 100 columns:\n{}", found.join("\n"));
    }
}

/// A heading as GitHub links to it.
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
            !targets.is_empty() || !DOCS.contains(&doc.as_str()),
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
    ids.extend(iotui::experiment::EXPERIMENTS.iter().map(|e| e.id()));
    ids.extend(iotui::probe::PROBES.iter().map(|p| p.info().id));
    ids.extend(iotui::record::RULES.iter().map(|rule| rule.id));
    ids.extend(iotui::host::CHECKS.iter().map(|check| check.id));
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
fn the_formats_list_every_key_of_the_schemas() {
    let known = codes_in(&blocks(&read("docs/formats.md")).1);
    let schema = |name: &str| -> Value {
        serde_json::from_str(&read(&format!("assets/schema/{name}"))).unwrap()
    };
    let (one, compare) = (schema("iotui-1.schema.json"), schema("iotui-compare-1.schema.json"));
    let of = |schema: &Value, at: &str| -> Vec<String> {
        schema
            .pointer(at)
            .and_then(Value::as_object)
            .unwrap_or_else(|| panic!("{at}"))
            .keys()
            .cloned()
            .collect()
    };
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
fn the_formats_know_every_kind_of_line_and_every_format() {
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
