use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::plan::Cache;
use crate::record::{DropLevel, EncodedLog, End, Event, Severity, Xor};
use crate::session::line::Entry;
use crate::session::testing;
use crate::text::{clean, replace_strings};

const GOLDEN: &str = include_str!("../../../../../tests/golden/session-v1.jsonl");

fn parse(bytes: &[u8]) -> Result<Session, SessionError> {
    read(&mut Lines::new(std::io::Cursor::new(bytes)), Path::new("s.jsonl"))
        .map(|(session, _)| session)
}

/// Returns the problem with a file, as its user reads it.
fn refused(bytes: impl AsRef<[u8]>) -> String {
    let error = parse(bytes.as_ref()).unwrap_err().to_string();
    assert!(error.len() < 500 && !error.contains(char::is_control), "{error}");
    error
}

fn first_line() -> &'static str {
    GOLDEN.lines().next().unwrap()
}

/// Returns the golden file with line number `number` (from 1) replaced by `line`.
fn with_line(number: usize, line: &str) -> String {
    let lines =
        GOLDEN.lines().enumerate().map(|(at, old)| if at + 1 == number { line } else { old });
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn the_golden_file_keeps_loading() {
    let session = parse(GOLDEN.as_bytes()).unwrap();
    assert_eq!(
        (session.id.as_str(), session.name.as_str()),
        ("20261121-093011-scratch", "golden – ünïcode")
    );
    assert_eq!(
        (session.created.as_str(), session.host.kernel.as_str()),
        ("2026-11-21T09:30:11Z", "6.12.3")
    );
    assert_eq!(
        (session.plan.cells.len(), session.plan.seed, session.plan.skipped.len()),
        (5, 8_123_456_789_012_345, 1)
    );
    assert_eq!((session.trials.len(), session.end), (24, Some(End::Goal)));
    assert_eq!(session.trials.iter().filter(|t| t.short).count(), 1);
    assert!(session.trials.iter().all(|t| t.xor.is_none_or(|xor| xor == Xor(0x0bad_cafe)) && t.evidence.notes.len() == 2));
    assert_eq!(session.notes, ["io_uring: SQPOLL needs no privilege here"]);
    let latency = session.verdicts[3].as_ref().unwrap().latency.as_ref().unwrap();
    assert_eq!((latency.mean, latency.p999, latency.buckets.len()), (3512.25, None, 3));
    assert_eq!((session.worst(), session.plan.cells[4].cache), (Some(Severity::Note), Cache::Warm));
    assert!(session.verdicts[4].is_none() && session.errors[4].as_ref().unwrap().contains("EPERM"));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/session-v1.jsonl");
    assert_eq!(load(&golden).unwrap(), session);
    assert_eq!(
        samples(&golden, 2).unwrap().iter().map(|(_, _, samples)| samples.len()).sum::<usize>(),
        24
    );
}

#[test]
fn levels_of_cold_load_bounded() {
    fn level(reason: &str) -> String {
        format!(
            r#"{{"dropped":"meta","readings":[{{"open":9,"first":8,"whole":70}}],"bytes":5,"reason":{reason}}}"#
        )
    }
    let line =
        |levels: &[String]| format!(r#"{{"kind":"levels","levels":[{}]}}"#, levels.join(","));
    fn found(text: String) -> Vec<crate::record::Level> {
        parse(with_line(3, &text).as_bytes()).unwrap().levels
    }
    let levels = found(line(&[level("null")]));
    assert_eq!(
        (levels.len(), levels[0].dropped, levels[0].readings[0].whole, &levels[0].reason),
        (1, DropLevel::Meta, 70, &None)
    );
    let many = vec![level("\"\\u001b[31mno\""); 99];
    let levels = found(line(&many));
    assert!(
        levels.len() == DropLevel::ALL.len()
            && !levels[0].reason.as_ref().unwrap().contains('\u{1b}'),
        "{levels:?}"
    );
}

#[test]
fn cut_files_load_whole_lines() {
    let whole = parse(GOLDEN.as_bytes()).unwrap();
    let header = first_line().len() + 1;
    assert!(refused(&GOLDEN[..header - 1]).contains("no complete line"));
    for cut in (header..GOLDEN.len()).step_by(97).chain([GOLDEN.len() - 1]) {
        let session = parse(&GOLDEN.as_bytes()[..cut]).unwrap();
        let trials = GOLDEN.as_bytes()[..cut].split_inclusive(|b| *b == b'\n');
        let trials = trials
            .filter(|line| line.starts_with(br#"{"kind":"trial""#) && line.ends_with(b"\n"))
            .count();
        assert_eq!(session.end, None);
        assert_eq!(session.trials[..], whole.trials[..trials]);
    }
}

#[test]
fn killed_runs_note_old_verdicts() {
    let cut: String = GOLDEN.lines().take(20).flat_map(|line| [line, "\n"]).collect();
    let session = parse(cut.as_bytes()).unwrap();
    assert!(session.notes.last().unwrap().contains("4 verdicts"), "{:?}", session.notes);
}

#[test]
fn the_last_intact_verdict_counts() {
    fn verdict(cell: usize, trials: u64, reason: &str) -> String {
        format!(
            r#"{{"kind":"verdict","cell":{cell},"trials":{trials},"verdict":{{"source_reason":"{reason}","warnings":[]}},"error":null}}"#
        )
    }
    let old: String = (0..50).map(|n| verdict(n % 5, 9, "old") + "\n").collect();
    let reasons = |tail: &str| {
        let session = parse(format!("{}\n{old}{tail}", first_line()).as_bytes()).unwrap();
        session
            .verdicts
            .iter()
            .flatten()
            .map(|v| v.source_reason.clone())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(reasons(""), "old old old old old");
    assert_eq!(
        reasons(&format!("{}\n{}\n", verdict(3, 9, "new"), verdict(1, 9, "new"))),
        "old new old new old"
    );
    // A torn last line, with and without its line feed.
    let torn = &verdict(3, 9, "torn")[..60];
    assert_eq!(reasons(&format!("{}\n{torn}\n", verdict(3, 9, "new"))), "old old old new old");
    assert_eq!(reasons(&format!("{}\n{torn}", verdict(3, 9, "new"))), "old old old new old");
    let damaged = format!("{}\n{old}{torn}\n{}\n\n", first_line(), verdict(1, 9, "new"));
    assert_eq!(parse(damaged.as_bytes()).unwrap().lost, 2);
    // Another plan: its cells have no verdicts yet.
    let plan =
        format!("{{\"kind\":\"plan\",\"plan\":{}", first_line().split_once("\"plan\":").unwrap().1);
    assert_eq!(reasons(&format!("{plan}\n{}\n", verdict(2, 9, "new"))), "new");
}

#[test]
fn trials_ignore_the_place_of_samples() {
    let trial = GOLDEN.lines().find(|line| line.contains("\"trial\"")).unwrap();
    let (before, rest) = trial.split_once(",\"samples\":[").unwrap();
    let (samples, after) = rest.split_once(']').unwrap();
    let whole = parse(with_line(4, trial).as_bytes()).unwrap();
    for line in [
        format!("{before},\"samples\":[{samples}]}}"),
        format!("{},\"samples\":[]}}", before),
        format!(
            "{{\"kind\":\"trial\",\"samples\":[{samples}]{}{after}",
            before.strip_prefix("{\"kind\":\"trial\"").unwrap()
        ),
        before.replace("\"later\":", "\"deep\":{\"x\":1,\"samples\":[1]},\"later\":") + after,
    ] {
        assert_eq!(parse(with_line(4, &line).as_bytes()).unwrap().trials, whole.trials, "{line}");
    }
}

#[test]
fn a_host_is_cleaned_and_bounded() {
    fn with(from: &str, to: &str) -> String {
        GOLDEN.replacen(from, to, 1)
    }
    fn host(file: String) -> crate::facts::Host {
        parse(file.as_bytes()).unwrap().host
    }
    let cleaned = host(with("\"box\"", r#""b\u001b[2Jo\nx""#));
    assert_eq!((cleaned.name.as_str(), cleaned.kernel.as_str()), ("b[2Jo x", "6.12.3"));
    assert_eq!(host(with("\"box\"", "\"b\u{7f}o\u{9b}x\"")).name, "box");
    assert_eq!(host(with("\"box\"", r#""b\\ox""#)).name, r"b\ox");
    for bad in ["7".to_string(), format!("\"{}\"", "x".repeat(1 << 20))] {
        let session = parse(with("\"box\"", &bad).as_bytes()).unwrap();
        assert_eq!((session.host, session.lost, session.trials.len()), (Default::default(), 1, 24));
    }
}

#[test]
fn rubbish_costs_one_line() {
    let whole = parse(GOLDEN.as_bytes()).unwrap();
    for rubbish in ["\0\0\0\0", "{\"kind\":\"tri", "x", "", "{\"no\":\"kind\"}"] {
        let behind = parse(format!("{GOLDEN}{rubbish}\n").as_bytes()).unwrap();
        assert_eq!((behind.trials.len(), behind.lost), (24, 1), "{rubbish:?}");
        assert!(
            behind.notes.last().unwrap().contains("1 line could not be read"),
            "{:?}",
            behind.notes
        );
        let session = parse(with_line(7, rubbish).as_bytes()).unwrap();
        assert_eq!((session.trials.len(), session.lost), (23, 1), "{rubbish:?}");
        assert!(session.trials.iter().all(|trial| whole.trials.contains(trial)));
    }
    let long = format!("{}\n\"{}\"\n\n", first_line(), "x".repeat(17 << 20));
    assert_eq!(parse(long.as_bytes()).unwrap().lost, 2);
}

#[test]
fn what_is_no_session_says_so() {
    fn header(from: &str, to: &str) -> String {
        first_line().replacen(from, to, 1) + "\n"
    }
    assert_ne!(header("\"iotui\":1", "\"iotui\":2").trim_end(), first_line());
    for (bytes, expected) in [
        (String::new(), "it is empty"),
        ("hello\n".into(), "line 1: expected value"),
        ("\0\0\n".into(), "line 1"),
        ("[]\n".into(), "line 1"),
        ("{}\n".into(), "has no \"iotui\":1"),
        ("{\"iotui\":1}\n".into(), "has no \"iotui\":1"),
        ("{\"iotui\":-1,\"kind\":\"session\"}\n".into(), "line 1"),
        ("{\"iotui\":1,\"kind\":\"session\"}\n".into(), "missing field"),
        (
            header("\"iotui\":1", "\"iotui\":2"),
            "newer iotui (schema 2, this one reads 1): update iotui",
        ),
        ("{\"iotui\":99,\"kind\":\"session\",\"all\":\"else is new\"}\n".into(), "schema 99"),
        (header("2026-11-21T", "2026-31-21T"), "is not a UTC time"),
        // Values that no list could show.
        (header("\"cells\":5", "\"cells\":false"), "invalid type"),
        (header("\"target\":\"scratch 1 GiB\"", "\"target\":7"), "invalid type"),
        (header("\"block\":4096", "\"block\":0"), "cell 0: block 0 is not between 1 and"),
        (header("\"block\":4096", "\"block\":99999999999"), "is not between"),
        (header("\"threads\":1", "\"threads\":4000000000"), "threads 4000000000 is not between"),
        (header("\"depth\":1", "\"depth\":-1"), "invalid value"),
        (header("\"mix\":null", "\"mix\":101"), "mix exceeds 100"),
        (header("\"goal\":0.02", "\"goal\":1e999"), "out of range"),
        (header("\"goal\":0.02", "\"goal\":-1"), "not a share"),
        (header("\"xor\":false", "\"xor\":false,\"target\":1"), "has no target 1"),
        (header("\"xor\":false", "\"xor\":false,\"new\":1"), "a newer iotui may support it"),
        (header("\"op\":\"read\"", "\"op\":\"\\u001b[2J\""), "unknown variant"),
    ] {
        let error = refused(&bytes);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn lines_contradicting_the_plan_are_dropped() {
    let trial = GOLDEN.lines().find(|line| line.contains("\"trial\"")).unwrap();
    let cell = |cell: &str| with_line(7, &of_cell(trial, cell));
    for bytes in [
        cell("5"),
        cell("4294967295"),
        cell("4294967296"),
        cell("1.5"),
        cell("1e99"),
        with_line(7, r#"{"kind":"trial","cell":0}"#),
        with_line(7, &latencies(|log| log.cell = 5)),
        with_line(7, &latencies(|log| log.width = 0)),
        with_line(7, &latencies(|log| log.data = "A".repeat(EncodedLog::MAX_DATA + 1))),
        with_line(9, r#"{"kind":"verdict","cell":9,"verdict":null}"#),
        with_line(9, r#"{"kind":"end","reason":"tired"}"#),
        with_line(9, r#"{"kind":"plan","plan":{}}"#),
    ] {
        assert_eq!(
            parse(bytes.as_bytes()).unwrap().lost,
            1,
            "{}",
            String::from_utf8_lossy(bytes.as_bytes())
        );
    }
    let plan = first_line().split_once("\"plan\":").unwrap().1;
    let plan = format!("{{\"kind\":\"plan\",\"plan\":{plan}");
    assert_eq!(parse(with_line(2, &plan).as_bytes()).unwrap().lost, 0);
    // A plan after trials: lines were exchanged, and the plan describes all trials.
    let other = plan.replace("\"seed\":8123456789012345", "\"seed\":5");
    let session = parse(with_line(9, &other).as_bytes()).unwrap();
    assert_eq!((session.plan.seed, session.lost), (5, 0));
    // A damaged line that may have been the plan: it is unknown what the trials measured.
    assert!(
        refused(with_line(2, &plan[..plan.len() - 9]))
            .contains("line 2: the plan of the trials was lost")
    );
}

/// Returns the line of latencies over time that were changed.
fn latencies(change: impl Fn(&mut EncodedLog)) -> String {
    let mut log = testing::latencies(0, 1);
    change(Arc::make_mut(&mut log));
    serde_json::to_string(&Event::Latencies { log }).unwrap()
}

#[test]
fn latencies_over_time_are_bounded() {
    let with = |lines: usize| {
        let line = latencies(|log| log.data = "A".repeat(60_000));
        let session = parse(with_line(7, &vec![line; lines].join("\n")).as_bytes()).unwrap();
        assert_eq!(session.lost, 0);
        let noted = session.notes.iter().any(|note| note.contains("beyond 1 MiB"));
        (session.latencies.len(), noted)
    };
    assert_eq!(with(17), (17, false));
    assert_eq!(with(40), (17, true));
}

fn of_cell(trial: &str, cell: &str) -> String {
    let (_, rest) = trial.split_once(",\"round\"").unwrap();
    format!("{{\"kind\":\"trial\",\"cell\":{cell},\"round\"{rest}")
}

#[test]
fn hostile_lines_use_bounded_memory() {
    fn deep(open: &str) -> String {
        format!("{}\n{{\"kind\":\"note\",\"text\":{}\n\n", first_line(), open.repeat(1 << 20))
    }
    assert_eq!(parse(deep("[").as_bytes()).unwrap().lost, 2);
    assert_eq!(parse(deep("{\"a\":").as_bytes()).unwrap().lost, 2);
    let nested = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    // Deep nesting in an unknown key is skipped without recursion.
    assert!(parse(with_line(3, &format!("{{\"kind\":\"x\",\"y\":{nested}}}")).as_bytes()).is_ok());
    assert!(refused("x".repeat(17 << 20)).contains("line 1: it is longer than 16 MiB"));
    for quoted in ["\u{1b}", "y"] {
        let quoted = format!(
            "{}\n{{\"kind\":\"trial\",\"cell\":\"{}\"}}\n\n",
            first_line(),
            quoted.repeat(1 << 20)
        );
        assert_eq!(parse(quoted.as_bytes()).unwrap().lost, 2);
    }
}

#[test]
fn terminal_escapes_are_removed() {
    let file = with_line(3, r#"{"kind":"note","text":"a\u001b[2Jb\nc"}"#);
    let file = file
        .replace("2 MiB of the page cache", "\\u001b]0;x\\u0007")
        .replace("golden", "\\u009bgold\\u202e");
    let session = parse(file.as_bytes()).unwrap();
    assert_eq!(session.notes, ["a[2Jb c"]);
    assert_eq!(session.name, "gold – ünïcode");
    let warning = &session.verdicts[3].as_ref().unwrap().warnings[0];
    assert!(warning.message.starts_with("]0;x are"), "{}", warning.message);
}

#[test]
fn every_text_is_cleaned() {
    let demo = String::from_utf8(crate::session::demo_lines()).unwrap();
    let example = demo.lines();
    let findings = r#"{"kind":"findings","cell":0,"estimate":{"low":1,"high":2,"reason":"a"},"warnings":[],"error":"a","evidence":["a"],"far":{"name":"a"}}"#;
    let pick = serde_json::to_string(&testing::picked()[2]).unwrap();
    let mut cleaned = 0;
    for line in GOLDEN.lines().chain(example.take(60)).chain([findings, &pick]) {
        let strings = line.matches('"').count();
        for place in 0..strings.min(400) {
            let mut at = 0;
            let hostile = replace_strings(line, |key, _| {
                at += 1;
                let is_path = matches!(key, Some("path" | "dir"));
                (at == place && !is_path).then(|| "a\u{1b}[2J\u{202e}".into())
            });
            let shown = match line::parse(hostile.as_bytes()) {
                Ok(Entry::Event(event)) => serde_json::to_string(&event).unwrap(),
                Ok(Entry::Verdict(line)) => serde_json::to_string(&line).unwrap(),
                Ok(Entry::Other) if line.contains("\"kind\":\"session\"") => {
                    let Ok(session) = head::read(hostile.as_bytes(), Path::new("x")) else {
                        continue;
                    };
                    let Session { id, name, created, host, plan, .. } = session;
                    serde_json::to_string(&(id, name, created, host, plan)).unwrap()
                }
                _ => continue,
            };
            let is_clean = !shown.contains("u001b") && clean::is_clean(&shown);
            assert!(is_clean, "string {place} of {line}: {shown}");
            cleaned += usize::from(shown.contains("a[2J"));
        }
    }
    assert!(cleaned > 100, "{cleaned}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), header: bool) {
        let start: &[u8] = if header { first_line().as_bytes() } else { b"" };
        let file = [start, b"\n", &bytes, b"\n\n"].concat();
        let _ = parse(&file);
    }

    #[test]
    fn mutations_never_panic(
        cuts in prop::collection::vec((0usize..GOLDEN.len(), 0usize..40, prop::collection::vec(any::<u8>(), 0..6)), 1..4),
        digits in prop::collection::vec((0usize..GOLDEN.len(), b'0'..=b'9'), 0..20),
    ) {
        let mut bytes = GOLDEN.as_bytes().to_vec();
        for (at, digit) in digits {
            if bytes[at].is_ascii_digit() {
                bytes[at] = digit;
            }
        }
        for (at, length, new) in cuts {
            let at = at.min(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, new);
        }
        check_all(&bytes);
    }

    #[test]
    fn any_number_can_be_shown(values in prop::collection::vec(prop::sample::select(NUMBERS), 8)) {
        let mut file = GOLDEN.to_string();
        for (key, value) in ["bytes", "ops", "nanos", "syscalls", "round", "mean", "amplification", "span"].iter().zip(values) {
            let mut changed = String::new();
            for (index, part) in file.split(&format!("\"{key}\":")).enumerate() {
                let rest = part.find([',', '}']).unwrap_or(0);
                changed += &if index == 0 { part.to_string() } else { format!("\"{key}\":{value}{}", &part[rest..]) };
            }
            file = changed;
        }
        check_all(file.as_bytes());
    }
}

const NUMBERS: &[&str] =
    &["0", "1", "4096", "4294967295", "9007199254740993", "18446744073709551615", "null"];

/// Checks that whatever loads can also be summarized and written as JSON.
fn check_all(bytes: &[u8]) {
    match parse(bytes) {
        Ok(session) => {
            let text = serde_json::to_string(&crate::analysis::document(&session)).unwrap();
            assert!(!text.contains("inf") || GOLDEN.contains("inf"), "a number is infinite");
        }
        Err(error) => assert!(error.to_string().len() < 500),
    }
}
