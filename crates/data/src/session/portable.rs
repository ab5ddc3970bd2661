//! A session in the lines of the export `jsonl`, and back: what the export of trials and results
//! lacks to be a session again.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::end_line::end_line;
use super::line::{self, EndLine, Header, VerdictLine};
use super::load::load;
use super::publish::Unfinished;
use super::write::{finite_findings, finite_verdict};
use super::{Session, SessionError, head, header_line, reader};
use crate::record::{End, Event};

/// The key of an exported trial that has the number of its cell.
pub const INDEX: &str = "index";

/// Returns a session as lines, without its trials; none for a reference, which every iotui has.
///
/// # Errors
/// A path is not UTF-8.
pub fn portable_lines(session: &Session) -> Result<Vec<Value>, serde_json::Error> {
    if session.reference.is_some() {
        return Ok(Vec::new());
    }
    let mut lines = Vec::new();
    let Session { id, name, created, host, plan, .. } = session;
    push(&mut lines, &Header::new(id, name, created, 0, host, plan))?;
    if let Some(grounds) = &session.grounds {
        push(&mut lines, &Event::Grounds { grounds: Arc::new(grounds.clone()) })?;
    }
    let by_cell = session.trials_by_cell();
    for (cell, (verdict, error)) in session.verdicts.iter().zip(&session.errors).enumerate() {
        if verdict.is_some() || error.is_some() {
            let trials = by_cell.get(cell).map_or(0, |trials| trials.len() as u64);
            let (verdict, error) = (verdict.as_ref().map(finite_verdict), error.clone());
            push(&mut lines, &VerdictLine { cell: cell as u32, trials, verdict, error })?;
        }
    }
    for log in &session.latencies {
        push(&mut lines, &Event::of_log(log))?;
    }
    for &cell in &session.skipped {
        push(&mut lines, &Event::Skipped { cell })?;
    }
    for (cell, findings) in (0..).zip(&session.probe_findings) {
        let findings = Arc::new(finite_findings(findings));
        push(&mut lines, &Event::Findings { cell, findings })?;
    }
    if !session.levels.is_empty() {
        push(&mut lines, &Event::Levels { levels: session.levels.clone() })?;
    }
    for pick in &session.picks {
        push(&mut lines, &Event::Picked { pick: Arc::new(pick.clone()) })?;
    }
    for text in &session.notes {
        push(&mut lines, &Event::Note { text: text.clone() })?;
    }
    Ok(lines)
}

fn push(lines: &mut Vec<Value>, line: &impl Serialize) -> Result<(), serde_json::Error> {
    lines.push(serde_json::to_value(line)?);
    Ok(())
}

/// Writes the session that an export contains into an unfinished file in `dir`, which is removed
/// when it is dropped, and returns both. `None` if the file is not an export of a session.
///
/// # Errors
/// The file cannot be read or is damaged, or the copy cannot be written.
pub(super) fn unpack(
    dir: &Path,
    from: &Path,
) -> Result<Option<(Unfinished, Session)>, SessionError> {
    let Some(header) = header(from)? else { return Ok(None) };
    let failed = |e| SessionError::io("copy", from, e);
    super::store::make_folder(dir)?;
    let mut made =
        Unfinished::beside(dir, None).map_err(|e| SessionError::io("create a file in", dir, e))?;
    let mut to = BufWriter::new(&mut made.file);
    to.write_all(header.as_bytes()).map_err(failed)?;
    let mut end = None;
    let mut lines = reader::read_lines(from)?;
    while let Some(bytes) = reader::next_line(&mut lines, from)? {
        match line::json(bytes).ok().and_then(native) {
            Some(line) if line["kind"] == "end" => end = serde_json::from_value(line).ok(),
            Some(line) => to.write_all(&line::bytes(&line)?).map_err(failed)?,
            None => {}
        }
    }
    to.flush().map_err(failed)?;
    drop(to);
    let mut session = load(made.path())?;
    // That of an export lacks what a list shows.
    if let Some(EndLine { reason, seconds, .. }) = end {
        session.end = Some(reason);
        let end = line::bytes(&end_line(&session, seconds))?;
        made.file.write_all(&end).map_err(failed)?;
    }
    Ok(Some((made, session)))
}

/// Returns the first line of the session that an export contains.
fn header(from: &Path) -> Result<Option<String>, SessionError> {
    let mut lines = reader::read_lines(from)?;
    while let Some(bytes) = reader::next_line(&mut lines, from)? {
        let line: Result<Map<String, Value>, _> = line::json(bytes);
        let Ok(line) = line else { return Ok(None) };
        if line.get("kind").is_some_and(|kind| kind == "session") {
            let session = head::read(bytes, from)?;
            return header_line::restore(&session, None, &session.name).map(Some);
        }
    }
    Ok(None)
}

/// Returns the line of a session that a line of an export stands for.
fn native(mut line: Map<String, Value>) -> Option<Value> {
    let kind = line.get("kind")?.as_str()?.to_string();
    match kind.as_str() {
        "trial" => {
            let cell = line.remove(INDEX)?;
            let is_probe = line.get("cell").is_some_and(|cell| cell.get("probe").is_some());
            line.insert("cell".into(), cell);
            if is_probe {
                line.insert("kind".into(), "probe".into());
            } else {
                line.insert("samples".into(), Value::Array(Vec::new()));
            }
        }
        "end" => {
            let reason = line.remove("reason").unwrap_or_default();
            let known = serde_json::from_value::<End>(reason.clone()).is_ok();
            let seconds = line.remove("seconds").filter(Value::is_number);
            line.retain(|key, _| key == "kind");
            line.insert("reason".into(), if known { reason } else { "interrupted".into() });
            line.extend(seconds.map(|seconds| ("seconds".to_string(), seconds)));
        }
        "session" | "result" | "skipped" => return None,
        _ => {}
    }
    Some(Value::Object(line))
}
