//! All sessions of a folder, from the first and last bytes of each file.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::damage::Damage;
use super::line::{self, EndLine, Entry, Worst};
use super::reader::{self, Lines};
use super::seal::{self, Seal};
use super::{NAME_LENGTH, SCHEMA, SUFFIX, SessionError, label, load};
use crate::record::End;
use crate::text::clean;
use iotui_files::file_lock::is_locked;

/// Bytes read from the start of a file: the keys before `host`.
const HEAD_BYTES: usize = 1024;
/// Bytes read from its end: the end line and what may follow it.
const TAIL_BYTES: u64 = 1024;

/// The largest file that a list reads completely to find lost lines, bytes.
const MAX_CHECKED_BYTES: u64 = 8 << 20;
/// The start of the end line.
const END: &[u8] = br#"{"kind":"end","#;

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Finished,
    Budget,
    Goal,
    /// A process is writing the file.
    Running,
    /// Stopped or killed.
    Interrupted,
    Failed,
    /// Ships with iotui and never changes.
    Reference,
    /// The file is not a session that this version can read.
    #[default]
    Unreadable,
}

impl From<End> for State {
    fn from(end: End) -> State {
        match end {
            End::Finished => State::Finished,
            End::Budget => State::Budget,
            End::Goal => State::Goal,
            End::Interrupted => State::Interrupted,
            End::Failed => State::Failed,
        }
    }
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Finished => "finished",
            State::Budget => "budget",
            State::Goal => "goal",
            State::Running => "running",
            State::Interrupted => "interrupted",
            State::Failed => "failed",
            State::Reference => "reference",
            State::Unreadable => "unreadable",
        }
    }
}

/// One session of a list.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Listed {
    /// The name of the file, by which it can be found.
    pub id: String,
    /// Empty if it has none.
    pub name: String,
    pub target: String,
    /// Replaces a missing name: the target and what was measured.
    pub label: String,
    /// UTC, RFC 3339; empty if it cannot be read.
    pub created: String,
    /// The fraction of that second, if the file has it; used for sorting.
    #[serde(skip)]
    pub nanos: u32,
    /// The duration of the run; `None` if it was not completed.
    pub seconds: Option<f64>,
    /// Cells of the plan.
    pub cells: u64,
    /// The number of these that are cells of probes.
    pub probes: u64,
    /// Cells with a trial; `None` as for `seconds`.
    pub measured: Option<u64>,
    /// Cells with an error.
    pub failed: u64,
    /// The most severe warning; `None` if unknown.
    pub verdict: Option<Worst>,
    /// Cells with a warning of that severity, if it is above a note; `None` if unknown.
    pub worst_cells: Option<u64>,
    /// The highest median throughput, bytes per second; `None` if unknown or no bytes were moved.
    pub best: Option<f64>,
    /// The highest median throughput at each value of the axis that varies most, in its order;
    /// empty if unknown.
    pub curve: Vec<u64>,
    /// Lines of the file that are damaged or missing; `None` if only opening the file would show
    /// them.
    pub lost_lines: Option<u64>,
    pub state: State,
}

impl Listed {
    /// Returns its name or the label that replaces it; empty if it has neither.
    pub fn name_or_label(&self) -> &str {
        if self.name.is_empty() { &self.label } else { &self.name }
    }
}

/// Returns the sessions in `dir`, the newest first; none if the folder does not exist. Unreadable
/// files are listed as such.
///
/// # Errors
/// The folder cannot be read.
pub fn list(dir: &Path) -> Result<Vec<Listed>, SessionError> {
    each(dir, true)
}

/// Lists like [`list`], without what is at the end of the files.
pub fn headers(dir: &Path) -> Result<Vec<Listed>, SessionError> {
    each(dir, false)
}

fn each(dir: &Path, ends: bool) -> Result<Vec<Listed>, SessionError> {
    let mut sessions = Vec::new();
    for path in files(dir)? {
        if id_of(&path).starts_with('.') {
            continue;
        }
        let listed = describe(&path, ends);
        // Another process may have deleted or renamed it since the folder was read.
        if listed.state != State::Unreadable || path.symlink_metadata().is_ok() {
            sessions.push(listed);
        }
    }
    sort_newest_first(&mut sessions);
    Ok(sessions)
}

fn sort_newest_first(sessions: &mut [Listed]) {
    sessions.sort_by(|a, b| (&b.created, b.nanos, &b.id).cmp(&(&a.created, a.nanos, &a.id)));
}

/// Returns the files of sessions in `dir`, hidden ones too; none if it does not exist.
fn files(dir: &Path) -> Result<Vec<PathBuf>, SessionError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(SessionError::io("read the folder", dir, error)),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|e| e == SUFFIX)).collect())
}

/// Returns the files of sessions in `dir` and the second in which each was created, as in an id,
/// the newest first. Most have that in their names and are not opened.
pub(super) fn newest_files(dir: &Path) -> Vec<(String, PathBuf)> {
    let stamped = |path: PathBuf| {
        let name = path.file_name()?.to_str().filter(|name| !name.starts_with('.'))?;
        let stamp = name.get(..15).filter(|stamp| is_stamp(stamp)).map(String::from);
        let read = || Some(header(&path)?.created.replace(['-', ':', 'Z'], "").replace('T', "-"));
        Some((stamp.or_else(read)?, path))
    };
    let all = files(dir).unwrap_or_default();
    let mut files: Vec<(String, PathBuf)> = all.into_iter().filter_map(stamped).collect();
    files.sort_unstable_by(|a, b| b.cmp(a));
    files
}

/// Returns whether an id begins like this: `20261121-093011`.
fn is_stamp(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| if at == 8 { byte == b'-' } else { byte.is_ascii_digit() };
    text.bytes().enumerate().all(fits)
}

/// Lists like [`headers`]; a file is opened when its turn comes.
pub fn newest(dir: &Path) -> impl Iterator<Item = Listed> {
    let mut files = newest_files(dir).into_iter().peekable();
    let next = move || {
        let (second, path) = files.next()?;
        let same = std::iter::from_fn(|| files.next_if(|(other, _)| *other == second));
        let paths = std::iter::once(path).chain(same.map(|(_, path)| path));
        let mut sessions: Vec<Listed> = paths.filter_map(|path| header(&path)).collect();
        sort_newest_first(&mut sessions);
        Some(sessions)
    };
    std::iter::from_fn(next).flatten()
}

/// Returns the id of the session in a file: the file's name.
pub(super) fn id_of(path: &Path) -> String {
    clean::text(&path.file_stem().unwrap_or_default().to_string_lossy())
}

/// Returns the list entry of one file, unless it is not a session.
pub(super) fn header(path: &Path) -> Option<Listed> {
    Some(describe(path, false)).filter(|listed| listed.state != State::Unreadable)
}

fn describe(path: &Path, ends: bool) -> Listed {
    let mut listed = Listed { id: id_of(path), ..Listed::default() };
    let Ok((file, length)) = reader::open(path) else { return listed };
    let Some(head) = head(&file) else { return salvage(listed, path, ends) };
    listed.name = clean::brief(&head.name, NAME_LENGTH);
    listed.target = clean::brief(&head.target, 4096);
    listed.label = match head.label.as_str() {
        "" => label::from_target(&listed.target),
        label => clean::brief(label, NAME_LENGTH),
    };
    listed.created = clean::brief(&head.created, 40);
    listed.nanos = head.nanos;
    (listed.cells, listed.probes) = (head.cells, head.probes);
    listed.state = if is_locked(&file) { State::Running } else { State::Interrupted };
    if let Some(end) = ends.then(|| tail(&file, length)).flatten() {
        listed.state = end.reason.into();
        (listed.seconds, listed.measured, listed.failed, listed.verdict) =
            (end.seconds, end.cells, end.failed, end.worst);
        listed.worst_cells = end.worst_cells;
        listed.best = end.best.filter(|best| best.is_finite() && *best > 0.0);
        listed.curve = end.curve;
        // Warnings about the figures of probes are found when they are shown, not here.
        listed.verdict = listed.verdict.filter(|worst| head.probes == 0 || *worst != Worst::Ok);
    }
    if ends && length <= MAX_CHECKED_BYTES {
        listed.lost_lines = count_lost_lines(&file, path);
    }
    listed
}

/// Returns a session whose first line is damaged, as far as it can be loaded.
fn salvage(mut listed: Listed, path: &Path, ends: bool) -> Listed {
    let small = path.metadata().is_ok_and(|meta| meta.len() <= MAX_CHECKED_BYTES);
    let Some(session) = small.then(|| load::load(path).ok()).flatten() else { return listed };
    listed.name = clean::brief(&session.name, NAME_LENGTH);
    listed.target = clean::brief(&line::target(&session.plan), 4096);
    listed.label = label::label(&session.plan);
    listed.created = session.created;
    listed.cells = (session.plan.cells.len() + session.plan.probes.len()) as u64;
    listed.probes = session.plan.probes.len() as u64;
    listed.lost_lines = ends.then_some(session.lost);
    listed.state = session.end.map_or(State::Interrupted, State::from);
    listed
}

/// Returns the number of lost lines of a sealed file, by its seals alone; `None` if they do not
/// show it.
fn count_lost_lines(file: &File, path: &Path) -> Option<u64> {
    let mut lines = Lines::new(BufReader::with_capacity(64 << 10, file));
    let mut damage = Damage::new(true, false);
    let mut sealed = false;
    while let Some(line) = reader::next_line(&mut lines, path).ok()? {
        let end = line.starts_with(END);
        match seal::check(line) {
            Seal::Whole(number, _) if damage.see(number) => {
                sealed = true;
                if end {
                    damage.end();
                }
            }
            _ => damage.lose(lines.number, b""),
        }
    }
    damage.lines = lines.number;
    sealed.then(|| damage.lost_lines())
}

#[derive(Deserialize)]
struct Head {
    iotui: u64,
    kind: String,
    #[serde(default)]
    name: String,
    created: String,
    #[serde(default)]
    nanos: u32,
    #[serde(default)]
    target: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    cells: u64,
    #[serde(default)]
    probes: u64,
}

/// Returns the first line, without its host and plan if it has the form that iotui writes.
fn head(file: &File) -> Option<Head> {
    let mut start = [0; HEAD_BYTES];
    let read = file.read_at(&mut start, 0).ok()?;
    let start = start.get(..read)?;
    // In a string every quote is escaped, so this is the key.
    let key = b",\"host\":";
    let short = start.windows(key.len()).position(|w| w == key).and_then(|at| {
        let mut short = start[..at].to_vec();
        short.push(b'}');
        line::json::<Head>(&short).ok()
    });
    let head =
        short.or_else(|| line::json(Lines::new(BufReader::new(file)).next_line().ok()??).ok())?;
    (head.iotui == SCHEMA && head.kind == "session").then_some(head)
}

/// Returns the end line, if it is among the last lines.
pub(super) fn tail(file: &File, length: u64) -> Option<EndLine> {
    let from = length.saturating_sub(TAIL_BYTES);
    let mut last = [0; TAIL_BYTES as usize];
    let read = file.read_at(&mut last, from).ok()?;
    let whole = last[..read].iter().rposition(|b| *b == b'\n')?;
    let fits = |bytes: &&[u8]| seal::check(bytes) != Seal::Broken;
    last[..whole].rsplit(|b| *b == b'\n').filter(fits).find_map(|bytes| match line::parse(bytes) {
        Ok(Entry::End(end)) => Some(end),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::list;
    use crate::session::{NewSession, Recorder, testing};
    use std::fs;
    use std::time::UNIX_EPOCH;

    #[test]
    fn newest_matches_the_list_order() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let at = |slug: &str, millis: u64| {
            let created = UNIX_EPOCH + testing::CREATED + std::time::Duration::from_millis(millis);
            let (host, plan) = (Default::default(), testing::plan(1));
            let new = NewSession { name: None, slug, host: &host, plan: &plan, created };
            Recorder::create(dir, &new).unwrap().path().to_path_buf()
        };
        at("b", 700);
        at("z", 100);
        at("a", 5_000);
        // A file that was named by hand, and a file that is not a session.
        fs::rename(at("y", 3_000), dir.join("mine.jsonl")).unwrap();
        fs::write(dir.join("20991231-000000-none.jsonl"), "no session").unwrap();
        let ids = |listed: Vec<Listed>| listed.into_iter().map(|one| one.id).collect::<Vec<_>>();
        let mut all = headers(dir).unwrap();
        all.retain(|listed| listed.state != State::Unreadable);
        let order = ids(newest(dir).collect());
        assert_eq!((order.len(), &order), (4, &ids(all)));
        assert_eq!(order[1], "mine");
    }

    #[test]
    fn lists_newest_first() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        assert_eq!(list(&dir.join("none")).unwrap(), []);
        let done = testing::recorded(dir, Some("done"), "a");
        let later = UNIX_EPOCH + testing::CREATED * 2;
        let mut open = Recorder::create(
            dir,
            &NewSession {
                name: None,
                slug: "b",
                host: &Default::default(),
                plan: &testing::plan(70),
                created: later,
            },
        )
        .unwrap();
        open.record(&testing::trial_event(0, 1, 1));
        fs::write(dir.join("20300101-000000-bad.jsonl"), "\0\0\0").unwrap();
        fs::write(dir.join("other.txt"), "x").unwrap();
        fs::write(dir.join(".hidden.jsonl"), "x").unwrap();
        let all = list(dir).unwrap();
        let shown: Vec<_> = all
            .iter()
            .map(|s| (s.id.as_str(), s.name.as_str(), s.cells, s.measured, s.state.name()))
            .collect();
        let expected = [
            (open.id(), "", 70, None, "running"),
            (done.as_str(), "done", 2, Some(2), "finished"),
            ("20300101-000000-bad", "", 0, None, "unreadable"),
        ];
        assert_eq!(shown, expected);
        assert_eq!(
            (all[1].target.as_str(), all[1].created.as_str()),
            ("/data/file", "2026-11-21T09:30:11Z")
        );
        assert!(all[1].seconds.is_some_and(|seconds| seconds < 60.0));
        drop(open);
        assert_eq!(list(dir).unwrap()[0].state, State::Interrupted);
    }

    #[test]
    fn probe_cells_are_counted_apart() {
        let dir = tempfile::tempdir().unwrap();
        let probes = ["loop", "fork"].map(|id| crate::plan::ProbeCell::new(id, []));
        let plan = crate::plan::Plan { probes: probes.to_vec(), ..testing::plan(1) };
        testing::recorder(dir.path(), &plan);
        let all = list(dir.path()).unwrap();
        assert_eq!((all[0].cells, all[0].probes), (3, 2));
    }

    #[test]
    fn unjudged_probes_are_not_ok() {
        for (worst, verdict) in [("ok", None), ("wrong", Some(Worst::Wrong))] {
            let dir = tempfile::tempdir().unwrap();
            let probes = vec![crate::plan::ProbeCell::new("loop", [])];
            let plan = crate::plan::Plan { probes, ..testing::plan(0) };
            let path = testing::recorder(dir.path(), &plan).path().to_path_buf();
            let end = format!(
                r#"{{"kind":"end","reason":"finished","seconds":1.5,"cells":1,"failed":0,"worst":"{worst}"}}"#
            );
            let written = fs::read_to_string(&path).unwrap();
            fs::write(&path, format!("{written}{end}\n")).unwrap();
            let all = list(dir.path()).unwrap();
            assert_eq!((all[0].verdict, all[0].state), (verdict, State::Finished));
        }
    }

    #[test]
    fn the_end_line_has_the_verdict() {
        let dir = tempfile::tempdir().unwrap();
        let end = r#"{"kind":"end","reason":"budget","seconds":1.5,"cells":3,"failed":1,"worst":"wrong","later":[]}"#;
        let first = r#"{"plan":{},"host":{"name":"x"},"created":"2026-11-21T09:30:11Z","kind":"session","iotui":1,"name":"\u001b[1mn"}"#;
        let path = dir.path().join("a.jsonl");
        for (tail, verdict, state) in [
            (format!("{end}\n"), Some(Worst::Wrong), State::Budget),
            (format!("{end}\n{{\"kind\":\"tor"), Some(Worst::Wrong), State::Budget),
            (end.to_string(), None, State::Interrupted),
            ("{\"kind\":\"note\"}\n".into(), None, State::Interrupted),
        ] {
            fs::write(&path, format!("{first}\n{}\n{tail}", "x".repeat(5000))).unwrap();
            let all = list(dir.path()).unwrap();
            assert_eq!((all[0].verdict, all[0].state), (verdict, state), "{tail}");
            assert_eq!(all[0].name, "[1mn");
        }
    }

    #[test]
    fn other_schemas_are_unreadable() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        for first in [
            r#"{"iotui":2,"kind":"session","created":"","host":{}}"#,
            r#"{"iotui":1,"kind":"x","created":""}"#,
            "[]",
            "",
        ] {
            fs::write(&path, format!("{first}\n")).unwrap();
            assert_eq!(list(dir.path()).unwrap()[0].state, State::Unreadable, "{first}");
        }
    }
}
