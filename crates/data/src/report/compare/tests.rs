use std::sync::Arc;

use serde_json::Value;

use super::*;
use crate::analysis::compare;
use crate::report::{COMPARISON_SCHEMA, SCHEMA, testing, text};
use crate::session::Session;

/// The quick sample with uring 30 % faster in small blocks, mmap slower, and one cell too few.
fn changed() -> Session {
    let mut session = testing::quick();
    session.id = "20261122-080000-ubuntu".into();
    session.host.kernel = "6.19.1".into();
    for trial in &mut session.trials {
        let job = &session.plan.cells[trial.cell as usize];
        let nanos = match (job.backend.id.as_str(), job.block) {
            ("uring", ..65536) => trial.nanos * 100 / 131,
            ("mmap", _) => trial.nanos * 12 / 10,
            _ => trial.nanos,
        };
        Arc::make_mut(trial).nanos = nanos;
    }
    session
}

fn written(sessions: &[Session], id: &str, look: Look) -> String {
    let mut out = Vec::new();
    (find_comparison_format(id).unwrap().write)(&compare(sessions).unwrap(), &look, &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

fn show(sessions: &[Session], look: Look) -> Vec<String> {
    written(sessions, "table", look).lines().map(String::from).collect()
}

/// Returns each sample compared with all samples.
fn every() -> Vec<Vec<Session>> {
    let mut all: Vec<Session> = testing::all().into_iter().map(|(_, session)| session).collect();
    all.extend([testing::every(), changed()]);
    all.iter().map(|base| std::iter::once(base).chain(&all).cloned().collect()).collect()
}

#[test]
fn comparisons_at_80_columns() {
    insta::assert_snapshot!(
        "changed_80",
        show(&[testing::quick(), changed()], Look::default()).join("\n")
    );
    let ascii = Look { ascii: true, ..Look::default() };
    insta::assert_snapshot!(
        "troubled_80_ascii",
        show(&[testing::quick(), testing::troubled(), testing::axes()], ascii).join("\n")
    );
}

#[test]
fn any_sessions_fit_any_width() {
    for sessions in every() {
        for (width, ascii) in [(80, false), (80, true), (140, true)] {
            for line in show(&sessions, Look { width, ascii, ..Look::default() }) {
                assert!(
                    text::width(&line) <= width
                        && !line.ends_with(' ')
                        && (!ascii || line.is_ascii()),
                    "{line:?}"
                );
            }
        }
    }
}

#[test]
fn formats_are_unique_and_end_lines() {
    for (at, format) in COMPARISONS.iter().enumerate() {
        assert!(
            std::ptr::eq(find_comparison_format(format.id).unwrap(), &COMPARISONS[at]),
            "{}",
            format.id
        );
        assert!(
            !format.about.is_empty()
                && format.about.len() <= 80
                && !format.extension.starts_with('.'),
            "{}",
            format.id
        );
        for sessions in every() {
            let text = written(&sessions, format.id, Look::default());
            assert!(
                text.ends_with('\n')
                    && !text.ends_with("\n\n")
                    && !text.contains(|c: char| c.is_control() && c != '\n'),
                "{}",
                format.id
            );
        }
    }
    assert!(
        find_comparison_format("markdwn")
            .err()
            .unwrap()
            .to_string()
            .contains("did you mean markdown")
    );
}

#[test]
fn markdown_is_ready_to_paste() {
    insta::assert_snapshot!(
        "changed_markdown",
        written(&[testing::quick(), changed()], "markdown", Look::default())
    );
    insta::assert_snapshot!(
        "troubled_markdown",
        written(
            &[testing::quick(), testing::troubled(), testing::every()],
            "markdown",
            Look::default()
        )
    );
    for sessions in every() {
        let text = written(&sessions, "markdown", Look::default());
        // Each table has the same number of bars in every line, as GitHub requires.
        fn bars(line: &str) -> usize {
            line.replace("\\\\", "").replace("\\|", "").matches('|').count()
        }
        for table in text.split("\n\n").filter(|part| part.starts_with("| ")) {
            let lines: Vec<&str> =
                table.lines().take_while(|line| line.starts_with("| ")).collect();
            assert!(
                lines.len() > 2 && lines.iter().all(|line| bars(line) == bars(lines[0])),
                "{table}"
            );
        }
    }
}

#[test]
fn the_schema_accepts_every_comparison() {
    let (own, other): (Value, Value) =
        (serde_json::from_str(COMPARISON_SCHEMA).unwrap(), serde_json::from_str(SCHEMA).unwrap());
    assert!(jsonschema::meta::is_valid(&own));
    let registry = jsonschema::Registry::new()
        .add("json-schema:///iotui-1.schema.json", other)
        .unwrap()
        .prepare()
        .unwrap();
    let schema = jsonschema::options().with_registry(&registry).build(&own).unwrap();
    for sessions in every() {
        let document: Value =
            serde_json::from_str(&written(&sessions, "json", Look::default())).unwrap();
        let faults: Vec<String> = schema
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(faults, Vec::<String>::new());
    }
    let sessions = [testing::quick(), changed(), testing::troubled()];
    let document: Value =
        serde_json::from_str(&written(&sessions, "json", Look::default())).unwrap();
    assert!(schema.is_valid(&document));
    for path in [
        "",
        "/base",
        "/others/0",
        "/others/0/cells/0",
        "/others/0/cells/0/ratio",
        "/others/0/cells/0/cell",
        "/others/0/differences/0",
        "/others/1/alone/0",
    ] {
        let keys: Vec<String> =
            document.pointer(path).and_then(Value::as_object).unwrap().keys().cloned().collect();
        for key in keys {
            let mut less = document.clone();
            less.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(&key);
            assert!(!schema.is_valid(&less), "{path}/{key} can be left out");
        }
    }
    for (path, value) in [
        ("/schema", "iotui-compare/2"),
        ("/others/0/cells/0/outcome", "better"),
        ("/others/0/side/letter", "b"),
    ] {
        let mut wrong = document.clone();
        *wrong.pointer_mut(path).unwrap() = value.into();
        assert!(!schema.is_valid(&wrong), "{path}");
    }
}
