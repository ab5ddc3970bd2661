//! Reads the first line of a session, or what remains of it: the machine, and what was to be
//! measured.

use std::io::{BufRead, Seek};
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::check;
use super::damage::HEADERS;
use super::line::{self, Entry, First, Start};
use super::reader::{self, Lines, Place};
use super::{NAME_LENGTH, SCHEMA, Session, SessionError, error, naming, seal};
use crate::facts::Host;
use crate::plan::Plan;
use crate::record::Event;
use crate::text::{clean, time};

/// The header of a file.
pub struct Head {
    pub session: Session,
    /// The lines of the file have seals.
    pub sealed: bool,
    /// Its first line is intact.
    pub whole: bool,
    /// Its facts about the machine are lost.
    pub partial: bool,
    /// It was read from a line after the first two.
    elsewhere: bool,
}

impl Head {
    fn new(session: Session, sealed: bool) -> Head {
        Head { session, sealed, whole: true, partial: false, elsewhere: false }
    }

    /// Returns whether it is not in the first line, which then is an ordinary one.
    pub fn is_moved(&self) -> bool {
        self.elsewhere || (self.sealed && !self.whole)
    }
}

/// A line without its seal, and whether it has a valid one.
type Body = (Vec<u8>, Option<bool>);

/// Returns the body of the next line.
fn body<R: BufRead>(lines: &mut Lines<R>, path: &Path) -> Result<Option<Body>, SessionError> {
    let Some(line) = reader::next_line(lines, path)? else { return Ok(None) };
    let mut buffer = Vec::new();
    Ok(Some(match seal::open(line, &mut buffer) {
        Some((number, body)) => (body.to_vec(), number.map(|_| true)),
        None => (line.to_vec(), Some(false)),
    }))
}

/// Reads the header; the lines are then positioned after the first one.
pub fn find<R: BufRead + Seek>(lines: &mut Lines<R>, path: &Path) -> Result<Head, SessionError> {
    let no = |why: String| SessionError::NotASession { path: path.into(), why };
    let empty = lines.at_end();
    let Some((first, fits)) = body(lines, path)? else {
        return Err(no(if empty { "it is empty" } else { "it has no complete line" }.into()));
    };
    let after = lines.place();
    let read = match fits {
        Some(false) => Err(no("line 1: wrong checksum".into())),
        _ => read(&first, path),
    };
    let head = match (read, fits) {
        (Ok(session), Some(true)) => Ok(Head::new(session, true)),
        // If the file was sealed, its first line has lost the seal, and may have lost more.
        (Ok(session), _) => Ok(copy(lines, path).unwrap_or_else(|| Head::new(session, false))),
        (Err(error), _) => {
            copy(lines, path).or_else(|| salvage(&first, fits.is_some(), lines, path)).ok_or(error)
        }
    };
    reader::go_to(lines, after, path)?;
    head
}

/// Returns the header from its copy, which is the second line of a sealed file.
fn copy<R: BufRead>(lines: &mut Lines<R>, path: &Path) -> Option<Head> {
    let (second, fits) = body(lines, path).ok()??;
    let session = (fits == Some(true)).then(|| read(&second, path).ok())??;
    Some(Head { whole: false, ..Head::new(session, true) })
}

/// Returns a header from an intact line.
pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Session, SessionError> {
    let no = |why: String| SessionError::NotASession { path: path.into(), why };
    let describe =
        |error: serde_json::Error| no(format!("line 1: {}", error::describe_json(&error)));
    let text = line::cleaned(bytes).map_err(describe)?;
    let start: Start = serde_json::from_str(&text).map_err(describe)?;
    match (start.iotui, start.kind.as_deref()) {
        (Some(schema), Some("session")) if schema > SCHEMA => {
            return Err(SessionError::Newer { path: path.into(), schema });
        }
        (Some(SCHEMA), Some("session" | line::COPY)) => {}
        _ => return Err(no("line 1 has no \"iotui\":1,\"kind\":\"session\"".into())),
    }
    let first: First = serde_json::from_str(&text).map_err(describe)?;
    let host = first.host().map_err(|why| no(format!("line 1: {why}")))?;
    check::plan(&first.plan).map_err(|why| no(format!("line 1: {why}")))?;
    if time::parse_utc(&first.created).is_none() {
        return Err(no(format!(
            "line 1: created '{}' is not a UTC time",
            clean::brief(&first.created, 40)
        )));
    }
    let (id, name) = (clean::brief(&first.id, 200), clean::brief(&first.name, 200));
    Ok(Session::new(id, name, first.created, host, first.plan))
}

/// Returns a header from what remains: its line elsewhere in the file, its parts, or a plan in a
/// separate line.
fn salvage<R: BufRead + Seek>(
    first: &[u8],
    sealed: bool,
    lines: &mut Lines<R>,
    path: &Path,
) -> Option<Head> {
    reader::go_to(lines, Place::default(), path).ok()?;
    let (mut plan, mut ours, mut sealed) = (None, false, sealed);
    while let Ok(Some((line, fits))) = body(lines, path) {
        sealed |= fits == Some(true);
        if fits == Some(false) {
            continue;
        }
        let at = lines.number;
        if at > 1
            && line.starts_with(b"{\"iotui\":")
            && let Ok(session) = read(&line, path)
        {
            return Some(Head {
                whole: false,
                elsewhere: at > HEADERS,
                ..Head::new(session, sealed)
            });
        }
        match line::parse(&line) {
            Ok(Entry::Event(Event::Plan { plan: found })) => {
                plan = plan.or(Some(Arc::unwrap_or_clone(found)));
            }
            Ok(
                Entry::Event(Event::Trial { .. } | Event::Grounds { .. } | Event::Probe { .. })
                | Entry::Verdict(_)
                | Entry::End(_),
            ) => ours = true,
            _ => {}
        }
    }
    // Files of other programs have no lines of these kinds.
    let damaged = Damaged { text: first, path };
    let plan = plan.or_else(|| damaged.plan().filter(|_| !sealed)).filter(|_| ours)?;
    check::plan(&plan).ok()?;
    let session = Session::new(
        damaged.id(),
        damaged.name(sealed),
        damaged.created()?,
        damaged.host(sealed).unwrap_or_default(),
        plan,
    );
    Some(Head { whole: false, partial: true, ..Head::new(session, sealed) })
}

/// A first line that does not parse. Its content is used only if no checksum contradicts it.
struct Damaged<'a> {
    text: &'a [u8],
    path: &'a Path,
}

impl Damaged<'_> {
    /// Returns the value of a key, even if the text after the value is damaged.
    fn value<T: DeserializeOwned>(text: &[u8], at: Option<usize>, key: &str) -> Option<T> {
        let rest = text.get(at? + key.len()..)?;
        let valid = rest.utf8_chunks().next()?.valid();
        let text = line::cleaned(valid.as_bytes()).ok()?;
        let mut values = serde_json::Deserializer::from_str(&text);
        T::deserialize(&mut values).ok()
    }

    fn plan(&self) -> Option<Plan> {
        let key = ",\"plan\":";
        Damaged::value(self.text, memmem::rfind(self.text, key.as_bytes()), key)
    }

    fn host(&self, sealed: bool) -> Option<Host> {
        let key = ",\"host\":";
        let text: Box<RawValue> = Damaged::value(
            self.text,
            memmem::find(self.text, key.as_bytes()).filter(|_| !sealed),
            key,
        )?;
        let text = Some(text.get()).filter(|text| text.len() <= line::LARGEST_HOST)?;
        serde_json::from_str(text).ok()
    }

    /// Returns the id from the file's name; `damaged` if that is not a valid id.
    fn id(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        if naming::is_id(&stem) { stem.into_owned() } else { "damaged".into() }
    }

    fn text(&self, key: &str) -> Option<String> {
        Damaged::value(self.text, memmem::find(self.text, key.as_bytes()), key)
    }

    fn name(&self, sealed: bool) -> String {
        clean::brief(&self.text("\"name\":").filter(|_| !sealed).unwrap_or_default(), NAME_LENGTH)
    }

    /// Returns the time of creation: from the line, from its id, or else the file's modification
    /// time.
    fn created(&self) -> Option<String> {
        let written = self.text("\"created\":").filter(|text| time::parse_utc(text).is_some());
        let stamp = || time::utc_from_stamp(&self.id());
        let modified = || self.path.metadata().and_then(|m| m.modified()).ok().map(time::utc);
        // The text in a test has no file.
        written.or_else(stamp).or_else(modified).or_else(|| Some(time::utc(std::time::UNIX_EPOCH)))
    }
}
