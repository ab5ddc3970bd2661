//! The session that ships with iotui, and that of the picture of Lab: made from a run, the file
//! that IOTUI_EXAMPLE names. It is trimmed and loses its private names.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value};

/// The name that the target gets.
const TARGET: &str = "photos.tar";

/// Removes what has no value.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

/// Replaces the path in the plan of a line, if it has one.
fn hide_path(line: &mut Map<String, Value>) {
    let plan = line.get_mut("plan");
    if let Some(path) = plan.and_then(|plan| plan.pointer_mut("/target/path")) {
        *path = TARGET.into();
    }
}

fn trim_header(line: &mut Map<String, Value>) {
    for (key, value) in [("id", "demo"), ("name", "example"), ("target", TARGET)] {
        line.insert(key.into(), value.into());
    }
    line.remove("nanos");
    let Value::Object(host) = &mut line["host"] else { panic!("no host") };
    host.retain(|key, _| !matches!(key.as_str(), "boot_id" | "container" | "network"));
    host.insert("name".into(), "".into());
    let kernel = host["kernel"].as_str().unwrap_or_default();
    let kernel = kernel.split('-').next().unwrap_or_default().to_string();
    host.insert("kernel".into(), kernel.into());
    line.get_mut("host").into_iter().for_each(without_nulls);
}

/// Returns the lines of a session of one file without seals, private names, values that are
/// unknown, and verdicts and findings that later ones replace.
fn trim(session: &str) -> String {
    let mut lines: Vec<Value> = Vec::new();
    let mut last: BTreeMap<(String, u64), Value> = BTreeMap::new();
    for line in session.lines() {
        let Ok(Value::Object(mut line)) = serde_json::from_str(line) else { panic!("no JSON") };
        line.remove("crc");
        line.remove("line");
        hide_path(&mut line);
        let kind = line["kind"].as_str().unwrap_or_default().to_string();
        match kind.as_str() {
            "copy" => continue,
            "verdict" | "findings" => {
                let cell = line["cell"].as_u64().expect("a cell");
                last.insert((kind, cell), line.into());
                continue;
            }
            "session" => trim_header(&mut line),
            "trial" => line.get_mut("evidence").into_iter().for_each(without_nulls),
            "end" => lines.extend(std::mem::take(&mut last).into_values()),
            _ => {}
        }
        lines.push(line.into());
    }
    lines.into_iter().map(write).collect()
}

/// Writes a line as iotui does: its kind comes first.
fn write(line: Value) -> String {
    let Value::Object(mut rest) = line else { panic!("no line") };
    let mut first: Vec<String> = Vec::new();
    for key in ["iotui", "kind", "id", "name", "created", "cell"] {
        first.extend(rest.remove(key).map(|value| format!("\"{key}\":{value}")));
    }
    let rest = Value::from(rest).to_string();
    format!("{{{},{}\n", first.join(","), &rest[1..])
}

#[test]
fn last_verdict_of_a_cell_counts() {
    let line = |kind: &str, cell: u32, trials: u32| {
        format!("{{\"kind\":\"{kind}\",\"cell\":{cell},\"trials\":{trials}}}\n")
    };
    let session = [
        line("verdict", 0, 1),
        line("findings", 0, 1),
        line("verdict", 0, 2),
        line("verdict", 1, 1),
        line("end", 0, 0),
    ];
    let kept = [&session[1], &session[2], &session[3], &session[4]].map(String::as_str);
    assert_eq!(trim(&session.concat()), kept.concat());
}

#[test]
#[ignore = "replaces the example by the session that IOTUI_EXAMPLE names"]
fn example_is_made_from_a_run() {
    let path = std::env::var_os("IOTUI_EXAMPLE").expect("IOTUI_EXAMPLE");
    let session = fs::read_to_string(path).expect("a session");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = trim(&session);
    if session.contains("\"kind\":\"probe\"") {
        return fs::write(root.join("tests/pictures/lab.jsonl"), text).expect("write the example");
    }
    let file = fs::File::create(root.join("assets/demo.jsonl.gz")).expect("create the example");
    let mut packed = GzEncoder::new(file, Compression::best());
    packed
        .write_all(text.as_bytes())
        .and_then(|()| packed.try_finish())
        .expect("write the example");
}
