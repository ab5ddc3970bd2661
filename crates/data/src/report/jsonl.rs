//! JSON Lines: one object per trial as it ends, then the results, so a script can follow a run.
//!
//! While a trial of 2 s or more runs, followed by its own line: `{"kind":"interval","cell":{..},
//! "round","at","nanos","bytes","ops","p50","p99","max"}`, one a second, on stdout only.
//!
//! In this order: `{"kind":"trial","cell":{..},"round",..}` with the keys of a trial in the `json`
//! format, its cell written out; per cell `{"kind":"result","cell":{..},..}` with the keys of a
//! result except its trials, which are the lines above; `{"kind":"skipped","cell","reason"}`; the
//! lines of the session itself except its trials, so that `iotui sessions import` reads it; last
//! `{"kind":"end","schema","session","reason","answer"}`. Without the last line the output is
//! incomplete.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::pretty::compact;
use super::{Format, Interval, Look};
use crate::analysis;
use crate::analysis::{CellOf, Document};
use crate::plan::Plan;
use crate::record::{End, ProbeTrial, Trial};
use crate::session::{INDEX, Session, portable_lines};

pub const FORMAT: Format = Format {
    id: "jsonl",
    about: "one object per line: trials, results; can be imported again",
    extension: "jsonl",
    binary: false,
    write,
};

/// One line: its kind, its cell, and the keys of its object.
#[derive(Serialize)]
struct JsonLine<'a> {
    kind: &'static str,
    cell: Option<CellOf<'a>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The last line.
#[derive(Serialize)]
struct EndLine<'a> {
    kind: &'static str,
    schema: &'a str,
    session: Option<&'a str>,
    reason: End,
    seconds: Option<f64>,
    answer: &'a analysis::Answer,
}

/// Serialises `item` without the keys in `without`.
fn object_without(item: &impl Serialize, without: &[&str]) -> io::Result<Map<String, Value>> {
    match serde_json::to_value(item)? {
        Value::Object(mut map) => {
            map.retain(|key, _| !without.contains(&key.as_str()));
            Ok(map)
        }
        _ => Ok(Map::new()),
    }
}

/// Returns the line of one trial, without a line feed, to be written as soon as the trial ends.
pub fn trial_line(plan: &Plan, trial: &Trial) -> io::Result<String> {
    let cell = plan.cells.get(trial.cell as usize).map(CellOf::Job);
    trial_to_line(cell, trial.cell, trial)
}

fn trial_to_line(cell: Option<CellOf>, index: u32, trial: &impl Serialize) -> io::Result<String> {
    let mut rest = object_without(trial, &["cell"])?;
    rest.insert(INDEX.into(), index.into());
    to_line(&JsonLine { kind: "trial", cell, rest })
}

/// Returns the line of an interval of a running trial, without a line feed.
pub fn interval_line(plan: &Plan, interval: &Interval) -> io::Result<String> {
    let cell = plan.cells.get(interval.cell as usize).map(CellOf::Job);
    let rest = object_without(interval, &[])?;
    to_line(&JsonLine { kind: "interval", cell, rest })
}

/// Formats the line of a probe, like [`trial_line`].
pub fn probe_line(plan: &Plan, trial: &ProbeTrial) -> io::Result<String> {
    let cell = plan.probes.get(trial.cell as usize).map(CellOf::Probe);
    trial_to_line(cell, trial.cell, trial)
}

/// Writes everything after the trials: results, skipped cells, the end.
pub fn write_results(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let Document { schema, session: id, results, skipped, answer, .. } =
        analysis::document(session);
    for row in &results {
        let rest = object_without(row, &["cell", "trials"])?;
        write_line(out, &JsonLine { kind: "result", cell: Some(row.cell()), rest })?;
    }
    for skipped in &skipped {
        let rest = object_without(skipped, &["cell"])?;
        write_line(out, &JsonLine { kind: "skipped", cell: Some(skipped.cell()), rest })?;
    }
    for line in portable_lines(session)? {
        write_line(out, &line)?;
    }
    write_line(
        out,
        &EndLine {
            kind: "end",
            schema,
            session: id,
            reason: session.end.unwrap_or(End::Interrupted),
            seconds: session.seconds,
            answer: &answer,
        },
    )
}

fn to_line(line: &impl Serialize) -> io::Result<String> {
    let mut text = Vec::new();
    compact(line, &mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    compact(line, out)?;
    writeln!(out)
}

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    for trial in &session.trials {
        writeln!(out, "{}", trial_line(&session.plan, trial)?)?;
    }
    for trial in &session.probe_trials {
        writeln!(out, "{}", probe_line(&session.plan, trial)?)?;
    }
    write_results(session, out)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use super::*;
    use crate::plan::Param;
    use crate::record::{Source, Verdict};
    use crate::report::testing;
    use crate::session::{Listed, Worst};
    use crate::text::clean_text;

    fn lines(session: &Session) -> Vec<Value> {
        let mut out = Vec::new();
        write(session, &Look::default(), &mut out).unwrap();
        String::from_utf8(out)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn every_item_has_a_line() {
        for (name, session) in testing::all() {
            let lines = lines(&session);
            let count = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
            assert_eq!(count("trial"), session.trials.len() + session.probe_trials.len(), "{name}");
            assert_eq!(
                count("result"),
                analysis::results(&session).len() + analysis::probes(&session).len(),
                "{name}"
            );
            assert_eq!(
                count("skipped"),
                analysis::list_skipped(&session).len() + analysis::skipped_probes(&session).len(),
                "{name}"
            );
            assert_eq!(
                (count("end"), &lines.last().unwrap()["kind"]),
                (1, &"end".into()),
                "{name}"
            );
        }
    }

    #[test]
    fn an_export_is_imported_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mut session) in testing::all() {
            if session.reference.is_none() && !session.plan.cells.is_empty() {
                session.skipped = vec![0];
                session.latencies = vec![crate::session::testing::latencies(0, 1)];
            }
            let path = dir.path().join(format!("{name}.jsonl"));
            let mut out = Vec::new();
            write(&session, &Look::default(), &mut out).unwrap();
            std::fs::write(&path, out).unwrap();
            let imported = crate::session::import(&dir.path().join("store"), &path);
            if session.reference.is_some() {
                assert!(imported.is_err(), "{name}");
                continue;
            }
            let path = imported.unwrap_or_else(|error| panic!("{name}: {error}")).path;
            let back = crate::session::load(&path).unwrap();
            // Its texts are cleaned when they are read.
            let cells = session.plan.probes.iter_mut();
            for value in cells.flat_map(|cell| cell.params.values_mut()) {
                if let Param::Text(text) = value {
                    *text = clean_text(text);
                }
            }
            assert_eq!((&back.plan, &back.trials), (&session.plan, &session.trials), "{name}");
            assert_eq!(
                (&back.errors, &back.skipped),
                (&session.errors, &session.skipped),
                "{name}"
            );
            // Cells without a verdict are judged when they are read.
            fn facts(verdict: &Verdict) -> (Option<Source>, usize) {
                (verdict.source, verdict.warnings.len())
            }
            for (own, back) in session.verdicts.iter().zip(&back.verdicts) {
                let own = own.as_deref().map(facts);
                assert!(own.is_none() || own == back.as_deref().map(facts), "{name}");
            }
            assert_eq!(back.latencies, session.latencies, "{name}");
            assert_eq!((&back.picks, &back.notes), (&session.picks, &session.notes), "{name}");
            assert_eq!(back.probe_trials, session.probe_trials, "{name}");
            assert_eq!((&back.grounds, &back.host), (&session.grounds, &session.host), "{name}");
            assert_eq!(back.seconds, session.seconds, "{name}");
        }
        let left = std::fs::read_dir(dir.path().join("store")).unwrap().flatten();
        assert!(left.into_iter().all(|file| !file.file_name().to_string_lossy().starts_with('.')));
    }

    #[test]
    fn an_imported_export_is_listed() {
        // The text of the end line; the headers of the examples are shortened.
        let ends = |dir: &Path| -> Vec<_> {
            let end = |one: Listed| {
                let counts = (one.seconds, one.measured, one.failed);
                // That probes are not judged in a list is known by the header.
                let verdict = one.verdict.filter(|worst| *worst != Worst::Ok);
                (counts, verdict, one.best, one.curve, one.state)
            };
            crate::session::list(dir).unwrap().into_iter().map(end).collect()
        };
        for data in [
            crate::session::demo_lines().as_slice(),
            include_bytes!("../../../../tests/pictures/lab.jsonl"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let [own, store, out] = ["own", "store", "out"].map(|name| dir.path().join(name));
            std::fs::create_dir(&own).unwrap();
            let path = own.join("a.jsonl");
            std::fs::write(&path, data).unwrap();
            let session = crate::session::load(&path).unwrap();
            std::fs::rename(&path, own.join(format!("{}.jsonl", session.id))).unwrap();
            write(&session, &Look::default(), &mut File::create(&out).unwrap()).unwrap();
            crate::session::import(&store, &out).unwrap();
            assert_eq!(ends(&store), ends(&own));
        }
    }

    #[test]
    fn trials_name_their_cell() {
        let session = testing::single();
        let lines = lines(&session);
        assert_eq!(
            (&lines[0]["cell"]["backend"], &lines[0]["round"], &lines[0]["xor"]),
            (&"read".into(), &1.into(), &"5eed0001".into())
        );
        assert_eq!(
            (&lines[1]["throughput"]["unit"], lines[1].get("trials")),
            (&"B/s".into(), None)
        );
        let last = lines.last().unwrap();
        assert_eq!((&last["reason"], &last["schema"]), (&"finished".into(), &"iotui/1".into()));
        let stray = Trial { cell: 99, ..Trial::clone(&session.trials[0]) };
        assert!(trial_line(&session.plan, &stray).unwrap().contains("\"cell\":null"));
    }
}
