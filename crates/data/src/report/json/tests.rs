use serde_json::{Value, json};

use super::*;
use crate::report::{SCHEMA, testing};

fn schema() -> jsonschema::Validator {
    jsonschema::draft202012::new(&serde_json::from_str(SCHEMA).unwrap()).unwrap()
}

fn show(session: &Session) -> Value {
    let mut out = Vec::new();
    write(session, &Look::default(), &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn faults(schema: &jsonschema::Validator, document: &Value) -> Vec<String> {
    schema
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn the_schema_accepts_every_document() {
    let own: Value = serde_json::from_str(SCHEMA).unwrap();
    assert!(jsonschema::meta::is_valid(&own));
    let schema = schema();
    for (name, session) in testing::all() {
        assert_eq!(faults(&schema, &show(&session)), Vec::<String>::new(), "{name}");
    }
    let mut unsaved = testing::single();
    unsaved.id.clear();
    assert_eq!(show(&unsaved)["session"], Value::Null);
    assert!(schema.is_valid(&show(&unsaved)));
}

/// Removes each key of the object at `path` in turn: none may be missing.
fn every_key_is_needed(schema: &jsonschema::Validator, document: &Value, path: &str) {
    let keys: Vec<String> =
        document.pointer(path).and_then(Value::as_object).unwrap().keys().cloned().collect();
    for key in keys {
        let mut less = document.clone();
        less.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(&key);
        assert!(!schema.is_valid(&less), "{path}/{key} can be left out");
    }
}

#[test]
fn no_key_can_be_left_out() {
    let (schema, mut document) = (schema(), show(&testing::troubled()));
    // Keys that a later version adds to evidence and answers are described where they are used.
    document["results"][0]["trials"][0]
        .as_object_mut()
        .unwrap()
        .retain(|key, _| !["cell", "evidence"].contains(&key.as_str()));
    for path in [
        "",
        "/plan",
        "/results/0",
        "/results/0/cell",
        "/results/0/trials/0",
        "/results/0/throughput",
        "/results/0/latency",
    ] {
        every_key_is_needed(&schema, &document, path);
    }
    for path in ["/results/0/source", "/results/0/warnings/0", "/skipped/0", "/skipped/0/cell"] {
        every_key_is_needed(&schema, &document, path);
    }
}

#[test]
fn values_outside_their_list_are_refused() {
    let (schema, document) = (schema(), show(&testing::troubled()));
    for (path, value) in [
        ("/schema", json!("iotui/2")),
        ("/results/0/cell/cache", json!("hot")),
        ("/results/0/cell/backend", json!("read+")),
        ("/results/0/cell/pattern", json!("stride")),
        ("/results/0/cell/extra", json!(1)),
        ("/results/0/cell/peer", json!("dd")),
        ("/results/0/trials/0/xor", json!("5EED0001")),
        ("/results/0/trials/0/xor", json!("123")),
        ("/results/0/trials/0/bytes", json!(1.5)),
        ("/results/0/trials/0/nanos", json!(-1)),
        ("/results/0/warnings/0/severity", json!("bad")),
        ("/results/0/source/hole", json!(1.5)),
        ("/results/0/latency/unit", json!("us")),
        ("/results/0/extra", json!(null)),
    ] {
        let mut wrong = document.clone();
        let (parent, key) = path.rsplit_once('/').unwrap();
        wrong.pointer_mut(parent).unwrap()[key] = value;
        assert!(!schema.is_valid(&wrong), "{path}");
    }
}

#[test]
fn documents_have_probes_and_peers() {
    let (schema, mut document) = (schema(), show(&testing::single()));
    let mut peer = document["results"][0]["cell"].clone();
    let backend = peer.as_object_mut().unwrap().remove("backend");
    assert!(backend.is_some());
    peer["peer"] = json!("fio");
    document["results"][0]["cell"] = peer;
    assert_eq!(faults(&schema, &document), Vec::<String>::new());
    document["results"][0]["cell"] = json!({"probe": "syscall", "call": "getppid"});
    let value = json!({"median": 61.2, "low": null, "high": null, "mean": 61.0, "stddev": 0.4, "min": 60.0, "max": 62.0, "unit": "ns"});
    document["results"][0]["value"] = value;
    document["results"][0]["estimate"] =
        json!({"low": 50.0, "high": 200.0, "reason": "two mode switches"});
    document["results"][0]["reference"] = json!([{"session": "lab", "value": 80.5}]);
    assert_eq!(faults(&schema, &document), Vec::<String>::new());
    document["results"][0]["cell"] = json!({"probe": "syscall", "backend": "read"});
    assert!(!schema.is_valid(&document));
}
