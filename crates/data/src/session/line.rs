//! The lines of a session file, as written and as read: docs/formats.md. Most are an [`Event`] as
//! JSON. They are read by their kind, and not into an event by its tag: that would hold a line of
//! any size in memory as a tree first.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use serde_json::from_str;
use serde_json::value::RawValue;

use super::error;
use super::label::label;
use super::{SCHEMA, SessionError};
use crate::facts::Host;
use crate::plan::{Plan, TargetSpec};
use crate::record::{End, Event, Level, ProbeFindings, Severity, Trial, Verdict};
use crate::text::{clean, replace_strings};
use crate::units;

/// The kind of the second line of a sealed file: a copy of the first one, in case that is damaged.
pub const COPY: &str = "copy";

/// The first line. All that a list of sessions needs is before `host`, so that the rest need not be
/// read.
#[derive(Serialize)]
pub struct Header<'a> {
    iotui: u64,
    kind: &'static str,
    id: &'a str,
    name: &'a str,
    created: &'a str,
    /// The fraction of that second: it orders sessions created within the same second.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    nanos: u32,
    target: String,
    /// Replaces the name of a session that has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    cells: usize,
    /// The number of these that are cells of probes.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    probes: usize,
    host: &'a Host,
    plan: &'a Plan,
}

impl<'a> Header<'a> {
    pub fn new(
        id: &'a str,
        name: &'a str,
        created: &'a str,
        nanos: u32,
        host: &'a Host,
        plan: &'a Plan,
    ) -> Header<'a> {
        Header {
            iotui: SCHEMA,
            kind: "session",
            id,
            name,
            created,
            nanos,
            target: target(plan),
            label: label(plan),
            cells: plan.cells.len() + plan.probes.len(),
            probes: plan.probes.len(),
            host,
            plan,
        }
    }
}

/// Returns a target for a list: `scratch 512 MiB`, or the path.
pub fn target(plan: &Plan) -> String {
    let name = |target: &TargetSpec| match target {
        TargetSpec::Scratch { size, .. } => format!("scratch {}", units::show_bytes(*size)),
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => {
            clean::text(&path.to_string_lossy())
        }
        list @ TargetSpec::Files { .. } => list.describe_list(),
        TargetSpec::None => "-".into(),
    };
    plan.targets().map(name).collect::<Vec<_>>().join(", ")
}

/// The last line, with the values that a list shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "end")]
pub struct EndLine {
    pub reason: End,
    /// From the first line to this one.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Cells with a trial, including cells of probes.
    #[serde(default)]
    pub cells: Option<u64>,
    /// Cells with an error.
    #[serde(default)]
    pub failed: u64,
    /// The most severe warning of all verdicts; `None` if nothing was judged.
    #[serde(default)]
    pub worst: Option<Worst>,
    /// The number of cells with a warning of that severity, if it is above a note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_cells: Option<u64>,
    /// The highest median of the cells without a warning that they are wrong, bytes per second;
    /// `None`
    /// where none moved bytes.
    #[serde(default)]
    pub best: Option<f64>,
    /// The highest median at each value of the axis that varies most, in its order, bytes per
    /// second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<u64>,
    /// The machine was not set back to the first variant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unrestored: bool,
}

/// The summary of all verdicts of a session in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Worst {
    Ok,
    Note,
    Misleading,
    Wrong,
}

impl Worst {
    pub fn name(self) -> &'static str {
        match self {
            Worst::Ok => "ok",
            Worst::Note => Severity::Note.name(),
            Worst::Misleading => Severity::Misleading.name(),
            Worst::Wrong => Severity::Wrong.name(),
        }
    }
}

impl From<Option<Severity>> for Worst {
    fn from(severity: Option<Severity>) -> Worst {
        match severity {
            None => Worst::Ok,
            Some(Severity::Note) => Worst::Note,
            Some(Severity::Misleading) => Worst::Misleading,
            Some(Severity::Wrong) => Worst::Wrong,
        }
    }
}

/// Returns one line as bytes, its line feed included. Fails for text that JSON cannot hold (a path
/// that is not UTF-8).
pub fn bytes(line: &impl Serialize) -> Result<Vec<u8>, SessionError> {
    let mut bytes = serde_json::to_vec(line).map_err(|e| SessionError::Json(e.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The start of a first line, of any schema.
#[derive(Deserialize)]
pub struct Start<'a> {
    pub iotui: Option<u64>,
    #[serde(borrow)]
    pub kind: Option<Cow<'a, str>>,
}

/// The first line of this schema.
#[derive(Deserialize)]
pub struct First<'a> {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub name: String,
    pub created: String,
    // Lists depend on the form of these: whatever can be opened can be listed.
    #[serde(default, rename = "target")]
    _target: String,
    #[serde(default, rename = "cells")]
    _cells: u64,
    #[serde(default, rename = "probes")]
    _probes: u64,
    #[serde(borrow)]
    host: Option<&'a RawValue>,
    pub plan: Plan,
}

/// The largest host that is read, bytes: one of 1024 CPUs has some 100 KiB. In memory it may take
/// 30 times as much.
pub(super) const LARGEST_HOST: usize = 1 << 20;

impl First<'_> {
    /// Returns the host.
    pub fn host(&self) -> Result<Host, String> {
        let Some(text) = self.host.map(RawValue::get) else { return Ok(Host::default()) };
        if text.len() > LARGEST_HOST {
            return Err(format!("its facts about the host exceed {} MiB", LARGEST_HOST >> 20));
        }
        from_str(text).map_err(|error| format!("host: {}", error::describe_json(&error)))
    }
}

/// Returns the text of a line whose strings are safe to show, except the paths of targets, which
/// are opened.
///
/// # Errors
/// The line is not UTF-8.
pub(super) fn cleaned(line: &[u8]) -> Result<Cow<'_, str>, serde_json::Error> {
    let text = as_text(line)?;
    // JSON escapes control characters, and most lines have neither an escape nor a DEL.
    let has_escapes = memchr::memchr2(b'\\', DEL, line).is_some();
    if !has_escapes && (text.is_ascii() || clean::is_clean(text)) {
        return Ok(Cow::Borrowed(text));
    }
    Ok(replace_strings(text, |key, text| {
        let is_path = matches!(key, Some("path" | "dir"));
        (!is_path && !clean::is_clean(text)).then(|| clean::text(text))
    }))
}

fn as_text(line: &[u8]) -> Result<&str, serde_json::Error> {
    std::str::from_utf8(line).map_err(|_| serde::de::Error::custom("not UTF-8"))
}

/// A line after the first one, as read.
pub enum Entry {
    /// An event of the engine, not yet checked against the plan by [`super::check`].
    Event(Event),
    Verdict(VerdictLine),
    Lost(LostLine),
    End(EndLine),
    /// A kind that this version does not know or does not load.
    Other,
}

/// A verdict, and the number of trials of its cell that it is based on. Replaces an earlier one of
/// the same cell.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename = "verdict")]
pub struct VerdictLine {
    pub cell: u32,
    #[serde(default)]
    pub trials: u64,
    #[serde(default)]
    pub verdict: Option<Arc<Verdict>>,
    /// Why the cell failed.
    #[serde(default)]
    pub error: Option<String>,
}

/// The number of lines that a copy of a damaged file lacks.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename = "lost")]
pub struct LostLine {
    pub lines: u64,
}

#[derive(Deserialize)]
struct FindingsLine {
    cell: u32,
    #[serde(flatten)]
    findings: ProbeFindings,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct PlanLine {
    plan: Plan,
}

#[derive(Deserialize)]
struct LevelsLine {
    levels: Vec<Level>,
}

#[derive(Deserialize)]
struct SkipLine {
    cell: u32,
}

#[derive(Deserialize)]
struct NoteLine {
    text: String,
}

/// The only control character that a JSON string may hold unescaped.
const DEL: u8 = 0x7f;
const TRIAL: &[u8] = br#"{"kind":"trial","#;
const VERDICT: &[u8] = br#"{"kind":"verdict","cell":"#;
/// Finds the start of the samples: within a string its quotes would be escaped.
static SAMPLES: LazyLock<Finder> = LazyLock::new(|| Finder::new(br#","samples":["#));

/// Returns the cell of a verdict as iotui writes it, without parsing further: only the last one of
/// each cell counts.
pub fn cell_of_verdict(line: &[u8]) -> Option<usize> {
    let rest = line.strip_prefix(VERDICT)?;
    let digits = rest.iter().take(6).position(|b| *b == b',')?;
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// Reads a line after the first; its texts are safe to show.
pub fn parse(line: &[u8]) -> Result<Entry, serde_json::Error> {
    // The line starts as iotui writes it: a file of 100,000 trials is then parsed once, not twice.
    if line.starts_with(TRIAL) {
        return trial(line).map(Entry::Event);
    }
    let text = cleaned(line)?;
    let line = &*text;
    let kind: Kind = from_str(line)?;
    Ok(Entry::Event(match kind.kind.as_ref() {
        "plan" => Event::Plan { plan: Arc::new(from_str::<PlanLine>(line)?.plan) },
        "grounds" => Event::Grounds { grounds: from_str(line).map(Arc::new)? },
        "trial" => trial_event(from_str(line)?),
        "begun" => Event::Begun { trial: from_str(line)? },
        "latencies" | "running" => Event::of_log(&from_str(line).map(Arc::new)?),
        "probe" => Event::Probe { trial: from_str(line)? },
        "findings" => {
            let FindingsLine { cell, findings } = from_str(line)?;
            Event::Findings { cell, findings: Arc::new(findings) }
        }
        "levels" => Event::Levels { levels: from_str::<LevelsLine>(line)?.levels },
        "pick" => Event::Picked { pick: from_str(line).map(Arc::new)? },
        "skip" => Event::Skipped { cell: from_str::<SkipLine>(line)?.cell },
        "note" => Event::Note { text: from_str::<NoteLine>(line)?.text },
        "verdict" => return from_str(line).map(Entry::Verdict),
        "lost" => return from_str(line).map(Entry::Lost),
        "end" => return from_str(line).map(Entry::End),
        _ => return Ok(Entry::Other),
    }))
}

/// Returns a trial without its samples, which a session in memory does not hold: they are at the
/// end and are cut off unread.
fn trial(line: &[u8]) -> Result<Event, serde_json::Error> {
    if let Some(at) = SAMPLES.find(line).filter(|_| line.ends_with(b"]}")) {
        let mut short = Vec::with_capacity(at + 1);
        short.extend_from_slice(&line[..at]);
        short.push(b'}');
        if let Ok(trial) = from_str(&cleaned(&short)?) {
            return Ok(trial_event(trial));
        }
    }
    from_str(&cleaned(line)?).map(trial_event)
}

fn trial_event(trial: Trial) -> Event {
    Event::Trial { trial: Arc::new(trial), samples: Vec::new(), latency: None }
}

/// Parses JSON from bytes that should be UTF-8, which is checked once instead of at every string.
/// Its texts are as they are: [`cleaned`] is for texts that are shown.
///
/// # Errors
/// The bytes are not UTF-8, or not a `T`.
pub(super) fn json<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, serde_json::Error> {
    from_str(as_text(line)?)
}
