//! The commands in README.md, CONTRIBUTING.md, CHANGELOG.md and docs/*.md run, and their options
//! exist.

use crate::common::stderr_of;
use std::collections::BTreeSet;
use std::fs;

use crate::common::pages::{FOR_USERS, all, blocks, help, offers, read, root};
use crate::common::{Home, is_root, skip};

/// Words after a fence that could hide a command: only `sh` and `sh no-run` are allowed.
const SHELLS: [&str; 5] = ["", "bash", "console", "shell", "zsh"];

/// The file that the documents name, but small.
const FILE: &str = "big.iso";
const FILE_SIZE: usize = 4 << 20;
/// Options that keep a run short; they replace the options of a document, except for the
/// number of trials.
const SHORT: [(&str, &str); 2] = [("--budget", "20s"), ("--trial-time", "1ms")];
/// Options for a given number of trials: all are done, however busy the machine is.
const PATIENT: [(&str, &str); 2] = [("--budget", "10m"), SHORT[1]];
const SMALL: [(&str, &str); 2] = [("--size", "4m"), ("-n", "64")];

/// Splits a line as a shell does, up to a comment or the next command; `None` if it does not run
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

/// Returns every iotui command in a document.
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

/// Replaces the value of an option; returns whether the option is given.
fn replace(words: &mut [String], name: &str, value: &str) -> bool {
    let at = words.iter().position(|word| word == name);
    if let Some(slot) = at.and_then(|at| words.get_mut(at + 1)) {
        *slot = value.into();
    }
    at.is_some()
}

/// Makes a measurement short and small.
fn shorten(words: &mut Vec<String>) {
    fn add(words: &mut Vec<String>, name: &str, value: &str) {
        words.extend([name.to_string(), value.to_string()])
    }
    if has(words, "--refine") {
        return add(words, "--budget", "1s");
    }
    if replace(words, "--watch", "10s") {
        return add(words, "--size", "1m");
    }
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
    // A search chooses its trials, and so does an end by precision.
    let chooses = ["--trials", "--baseline", "--latency-target", "--until"];
    let searches = has(words, "target");
    if !searches && !chooses.iter().any(|name| has(words, name)) {
        add(words, "--trials", "1");
    }
}

/// Returns the backends, peers and their options that are unavailable on this machine.
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

/// Returns a name after `-b` that is unavailable on this machine.
fn lacks<'a>(words: &'a [String], missing: &BTreeSet<String>) -> Option<&'a str> {
    let at = words.iter().position(|word| word == "-b")?;
    let gone = |name: &&str| {
        missing.contains(*name)
            || name.split('+').next().is_some_and(|plain| missing.contains(plain))
    };
    words.get(at + 1)?.split(',').find(gone)
}

/// Returns the exit codes with which a command does what its document says.
fn codes(words: &[String]) -> &'static [i32] {
    if has(words, "--strict") {
        &[0, 4]
    } else if has(words, "--fail-if-slower") {
        // Too little is measured here for a verdict.
        &[0, 1, 3]
    } else if ["--expect", "--latency-target", "--stop-if", "target"].iter().any(|n| has(words, n))
    {
        &[0, 1, 5]
    } else {
        &[0]
    }
}

fn run(home: &Home, place: &str, words: &[String]) {
    let mut command = home.cmd("");
    command.args(words).env("IOTUI_SECRET", "a secret of many characters");
    let output = command.output().unwrap_or_else(|error| panic!("{place}: {error}"));
    let code = output.status.code();
    let said = stderr_of(&output);
    assert!(
        code.is_some_and(|code| codes(words).contains(&code)),
        "{place}\nrun as iotui {}\nexit {code:?}: {said}",
        words.join(" ")
    );
}

/// Creates a home with the files that the documents name.
fn prepared(doc: &str) -> Home {
    let home = Home::new();
    home.file(FILE, FILE_SIZE);
    home.file("other.iso", FILE_SIZE);
    fs::copy(root().join("tests/golden/fio/mixed.json"), home.path("result.json")).unwrap();
    for block in blocks(&read(doc)).0.iter().filter(|block| block.info == "toml") {
        let text: String = block.lines.iter().flat_map(|(_, line)| [line, "\n"]).collect();
        let kind = if text.contains("[cells]") { "expect" } else { "presets" };
        let folder = home.home().join(".config/iotui").join(kind);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("mine.toml"), text).unwrap();
    }
    for what in ["presets", "profiles"] {
        let list = home.json(&format!("--list {what}"));
        let broken = |one: &&serde_json::Value| !one["unavailable"].is_null();
        assert_eq!(list.as_array().unwrap().iter().find(broken), None, "{doc}: {what}");
    }
    home
}

/// Runs each command that can run; checks the others without measuring, where possible.
fn check(doc: &str) {
    let home = prepared(doc);
    if !home.on_disk() {
        return;
    }
    let missing = missing(&home);
    let runs = runs(doc);
    assert!(
        !FOR_USERS.contains(&doc) || runs.iter().filter(|run| run.runs).count() > 2,
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
    all().iter().filter(|doc| !FOR_USERS.contains(&doc.as_str())).for_each(|doc| check(doc));
}

#[test]
fn unknown_option_in_documents_is_found() {
    let home = Home::new();
    fn line(text: &str) -> Vec<String> {
        words(text).unwrap()
    }
    let found = std::panic::catch_unwind(|| {
        options_exist(&home, "here", &line("iotui sessions compare a b --formatt json"))
    });
    assert!(found.is_err());
    options_exist(&home, "here", &line("IOTUI_SECRET=x iotui --batch --direct=no big.iso  # -z"));
    assert_eq!(line("iotui -s 4k 'a b' || exit"), ["-s", "4k", "a b"]);
    assert_eq!((words("exit 3"), words("# iotui"), words("cargo test")), (None, None, None));
}
