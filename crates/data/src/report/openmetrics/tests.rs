use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::plan::{Cache, Op, VariantName};
use crate::report::testing;
use iotui_files::testing::{skip, without};

type Labels = BTreeMap<String, String>;

#[derive(Debug, PartialEq)]
struct Sample {
    name: String,
    labels: Labels,
    value: f64,
}

fn text_of(session: &Session) -> String {
    let mut out = Vec::new();
    write(session, &Look::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Takes the name of a metric or label from the front of a text.
fn take_name(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{text}");
    (name, rest)
}

/// Takes a quoted value from the front of a text.
fn take_value(text: &str) -> (String, &str) {
    let mut rest = text.strip_prefix('"').unwrap();
    let mut value = String::new();
    loop {
        let mut chars = rest.chars();
        match chars.next().unwrap() {
            '"' => return (value, chars.as_str()),
            '\\' => value.push(match chars.next().unwrap() {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                other => panic!("\\{other} is no escape"),
            }),
            c => value.push(c),
        }
        rest = chars.as_str();
    }
}

fn parse_sample(line: &str) -> Sample {
    let (name, mut rest) = take_name(line);
    let mut labels = Labels::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, after) = take_name(rest);
            let (value, after) = take_value(after.strip_prefix('=').unwrap());
            assert!(!value.is_empty(), "{line}");
            assert_eq!(labels.insert(label.into(), value), None, "{line}");
            match after.split_at(1) {
                (",", after) => rest = after,
                ("}", after) => {
                    rest = after;
                    break;
                }
                _ => panic!("{line}"),
            }
        }
    }
    let value: f64 = rest.strip_prefix(' ').unwrap().parse().unwrap();
    assert!(value.is_finite() && !rest[1..].contains(' '), "{line}");
    Sample { name: name.into(), labels, value }
}

/// Parses the whole text by the grammar of both formats.
fn parse(text: &str) -> Vec<Sample> {
    let lines = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
    let (mut samples, mut families, mut family) = (Vec::new(), BTreeSet::new(), String::new());
    let mut lines = lines.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(help.ends_with('.') && !help.contains(['\\', '"']), "{line}");
            family = name.into();
            assert!(families.insert(family.clone()), "{family} comes twice");
            assert_eq!(lines.next(), Some(format!("# TYPE {family} gauge").as_str()));
            let start = format!("# UNIT {family} ");
            if let Some(unit) = lines.next_if(|next| next.starts_with(&start)) {
                assert!(family.ends_with(&format!("_{}", &unit[start.len()..])), "{unit}");
            }
            assert!(lines.peek().is_some_and(|next| !next.starts_with('#')), "{family} is empty");
            continue;
        }
        let sample = parse_sample(line);
        assert_eq!(sample.name, family, "{line}");
        samples.push(sample);
    }
    let series: BTreeSet<_> = samples.iter().map(|s| (&s.name, &s.labels)).collect();
    assert_eq!(series.len(), samples.len(), "a series comes twice:\n{text}");
    samples
}

/// Returns a session of cells that differ in every axis, and two equal ones.
fn axes_of_all() -> Session {
    let plain = testing::job("pread", 4096, Cache::Cold);
    let variant: VariantName = "tuned".parse().unwrap();
    let jobs = vec![
        plain.clone(),
        Job { direct: true, ..plain.clone() },
        Job { xor: true, ..plain.clone() },
        Job { mix: Some(70), ..plain.clone() },
        Job { count: Some(0), ..plain.clone() },
        Job { count: Some(9), ..plain.clone() },
        Job { threads: 4, depth: 8, span: 1 << 20, ..plain.clone() },
        Job { op: Op::Write, ..plain.clone() },
        Job { op: Op::Write, sync_every: 8, ..plain.clone() },
        Job { op: Op::Write, writes: crate::plan::Writes::Append, ..plain.clone() },
        Job { variant: Some(variant), ..plain.clone() },
        Job { target: Some(1), ..plain.clone() },
        plain,
    ];
    let count = jobs.len();
    let like = testing::Like::new(1000.0, 1.0, None);
    let session = testing::measured(jobs, 2, like);
    assert_eq!(session.plan.cells.len(), count);
    session
}

fn sessions() -> Vec<(&'static str, Session)> {
    let mut all = testing::all();
    all.push(("axes of all", axes_of_all()));
    let mut odd = testing::every();
    odd.id = "a\\b\"c\nd # {e=\"f\",g} \u{2028}\u{1b}[0m é".into();
    odd.host.name = "# EOF".into();
    all.push(("odd", odd));
    all
}

#[test]
fn every_session_follows_the_grammar() {
    for (name, session) in sessions() {
        let samples = parse(&text_of(&session));
        let cells = analysis::results(&session).len() + analysis::probes(&session).len();
        let count = |metric: &str| samples.iter().filter(|s| s.name == metric).count();
        assert_eq!((count("iotui_trials"), count("iotui_failed")), (cells, cells), "{name}");
        assert_eq!(count("iotui_warnings"), cells * Severity::ALL.len(), "{name}");
        assert_eq!(count("iotui_session_info"), 1, "{name}");
    }
}

#[test]
fn cells_are_told_apart() {
    let session = axes_of_all();
    let samples = parse(&text_of(&session));
    let cells: Vec<&Sample> = samples.iter().filter(|s| s.name == "iotui_trials").collect();
    let differ = |at: usize| {
        let (base, own) = (&cells[0].labels, &cells[at].labels);
        let other = own.iter().filter(|(label, value)| base.get(*label) != Some(value));
        other.map(|(label, value)| format!("{label}={value}")).collect::<Vec<_>>().join(" ")
    };
    let told: Vec<String> = (1..cells.len()).map(differ).collect();
    let wanted = [
        "direct=true",
        "xor=true",
        "mix_read_percent=70",
        "count=131072",
        "count=9",
        "depth=8 span_bytes=1048576 threads=4",
        "op=write sync=none",
        "op=write sync=none sync_every=8",
        "op=write sync=none writes=append",
        "variant=tuned",
        "target=B",
        "cell=12",
    ];
    assert_eq!(told, wanted);
    let block = ("block_bytes".to_string(), "4096".to_string());
    assert!(cells.iter().all(|cell| cell.labels.get(&block.0) == Some(&block.1)));
}

/// Returns the value of a metric of the cell with this block size.
fn value(samples: &[Sample], metric: &str, block: u64, more: Option<(&str, &str)>) -> Option<f64> {
    let has =
        |s: &Sample, label: &str, value: &str| s.labels.get(label).is_some_and(|v| v == value);
    let found = samples.iter().find(|s| {
        s.name == metric
            && has(s, "block_bytes", &block.to_string())
            && has(s, "backend", "read")
            && more.is_none_or(|(label, value)| has(s, label, value))
    });
    found.map(|s| s.value)
}

#[test]
fn figures_equal_those_of_json() {
    let session = testing::every();
    let samples = parse(&text_of(&session));
    let document = serde_json::to_value(analysis::document(&session)).unwrap();
    let mut compared = 0;
    for result in document["results"].as_array().unwrap() {
        if result["cell"]["backend"] != "read" {
            continue;
        }
        let block = result["cell"]["block"].as_u64().unwrap();
        let mut check = |metric: &str, more: Option<(&str, &str)>, json: &Value, factor: f64| {
            let own = value(&samples, &format!("iotui_{metric}"), block, more);
            assert_eq!(own, json.as_f64().map(|json| json / factor), "{metric} {block}");
            compared += usize::from(own.is_some());
        };
        for (metric, key, unit) in [
            ("throughput", "throughput", "bytes_per_second"),
            ("operations", "operations", "per_second"),
            ("syscalls", "syscalls", "per_second"),
        ] {
            for part in ["median", "low", "high"] {
                check(&format!("{metric}_{part}_{unit}"), None, &result[key][part], 1.0);
            }
        }
        let latency = &result["latency"];
        for (quantile, key) in
            [("0.5", "p50"), ("0.9", "p90"), ("0.99", "p99"), ("0.999", "p999"), ("1", "max")]
        {
            check("latency_seconds", Some(("quantile", quantile)), &latency[key], 1e9);
        }
        check("latency_mean_seconds", None, &latency["mean"], 1e9);
        for (source, key) in [("device", "device"), ("cache", "page_cache"), ("hole", "hole")] {
            check("source_ratio", Some(("source", source)), &result["source"][key], 1.0);
        }
        for severity in ["wrong", "misleading", "note"] {
            let warnings = result["warnings"].as_array().unwrap();
            let count = warnings.iter().filter(|w| w["severity"] == severity).count();
            check("warnings", Some(("severity", severity)), &json!(count), 1.0);
        }
    }
    assert!(compared > 40, "{compared}");
    let failed = samples.iter().filter(|s| s.name == "iotui_failed" && s.value == 1.0);
    assert_eq!(failed.count(), 2, "a cell and a probe");
}

#[test]
fn commits_and_the_end_have_metrics() {
    let mut session = testing::measured_session();
    session.end = None;
    let at = |samples: &[Sample], name: &str| -> Vec<f64> {
        samples.iter().filter(|s| s.name == name).map(|s| s.value).collect()
    };
    let samples = parse(&text_of(&session));
    assert_eq!(at(&samples, "iotui_session_ended"), [0.0]);
    assert_eq!(at(&samples, "iotui_session_start_time_seconds"), [1_795_253_411.0]);
    session.end = Some(crate::record::End::Budget);
    session.seconds = Some(12.5);
    let samples = parse(&text_of(&session));
    let ended = samples.iter().find(|s| s.name == "iotui_session_ended").unwrap();
    assert_eq!((ended.value, ended.labels["reason"].as_str()), (1.0, "budget"));
    assert_eq!(at(&samples, "iotui_session_duration_seconds"), [12.5]);
    let mut commits = testing::measured_session();
    let job = &mut commits.plan.cells[0];
    (job.op, job.sync, job.sync_every) = (Op::Write, crate::plan::Sync::Fdatasync, 4);
    let latency = commits.verdicts[0].as_ref().unwrap().latency.clone().unwrap();
    let times = crate::record::CommitTimes { total: latency, write: None, sync: None };
    Arc::make_mut(commits.verdicts[0].as_mut().unwrap()).commits = Some(times);
    let samples = parse(&text_of(&commits));
    let writes = at(&samples, "iotui_operations_median_per_second")[0];
    assert_eq!(at(&samples, "iotui_commits_median_per_second"), [writes / 4.0]);
    assert!(!at(&samples, "iotui_commit_latency_seconds").is_empty());
}

/// Reads both formats with Prometheus's own library, and prints the samples.
const READ: &str = r#"
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as text_format
text = sys.stdin.buffer.read().decode()
def read(parse):
    samples = [(s, f.type) for f in parse(text) for s in f.samples]
    assert all(s.timestamp is None and kind == "gauge" for s, kind in samples)
    return [[s.name, s.labels, s.value] for s, kind in samples]
first, second = read(openmetrics), read(text_format)
assert first == second, [pair for pair in zip(first, second) if pair[0] != pair[1]]
print(json.dumps(first))
"#;

#[test]
fn library_of_prometheus_reads_it() {
    let run = |arguments: &[&str]| {
        let mut python = Command::new("python3");
        python.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        python.spawn()
    };
    let Ok(found) = run(&["-c", "import prometheus_client"]) else { return without("python3") };
    if !found.wait_with_output().unwrap().status.success() {
        return skip("prometheus_client is not installed");
    }
    for (name, session) in sessions() {
        let text = text_of(&session);
        let mut python = run(&["-c", READ]).unwrap();
        python.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = python.wait_with_output().unwrap();
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {why}\n{text}");
        let read: Vec<(String, Labels, f64)> = serde_json::from_slice(&output.stdout).unwrap();
        let read: Vec<Sample> =
            read.into_iter().map(|(name, labels, value)| Sample { name, labels, value }).collect();
        assert_eq!(read, parse(&text), "{name}");
    }
}
