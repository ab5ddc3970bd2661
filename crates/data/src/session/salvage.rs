//! Reads what is left of a damaged session in two passes: the first one finds the intact lines, the
//! second one adds them in the order in which they were written.

use std::io::{BufRead, Seek};
use std::path::Path;

use super::damage::Damage;
use super::head::{self, Head};
use super::line::{self, Entry};
use super::loading::Loading;
use super::reader::{self, Lines, Place};
use super::{Session, SessionError, seal};
use crate::record::Event;

const PLAN: &[u8] = br#"{"kind":"plan","#;
/// No line of a session is shorter, bytes: the index of a file of shorter ones would be larger than
/// the file.
const MIN_LINE: usize = br#"{"kind":""}"#.len();

/// An intact line.
struct IndexedLine {
    place: Place,
    /// The number in its seal.
    number: Option<u64>,
    /// It holds a plan, which gives all trials their meaning, wherever they are.
    is_plan: bool,
}

impl IndexedLine {
    /// Returns the number of the line in the file as it was written.
    fn written_as(&self) -> u64 {
        self.number.unwrap_or(self.place.number + 1)
    }
}

/// Reads a session from its lines; `path` is for messages.
///
/// # Errors
/// The file cannot be read, is not a session, has a newer schema, or has lost the description of
/// what it measured.
pub(super) fn read<R: BufRead + Seek>(
    lines: &mut Lines<R>,
    path: &Path,
) -> Result<(Session, Damage), SessionError> {
    reader::go_to(lines, Place::default(), path)?;
    let head = head::find(lines, path)?;
    let (index, mut damage) = find_intact(&head, lines, path)?;
    let mut loading = Loading::new(head.session);
    let mut buffer = Vec::new();
    for line in &index {
        let bytes = reader::line_at(lines, line.place, path)?;
        let opened = seal::open(bytes, &mut buffer);
        let added = opened.is_some_and(|(_, body)| add(line, body, &mut loading, &mut damage));
        if !added {
            damage.lose(line.place.number + 1, bytes);
        }
    }
    if let Some(line) = damage.lost_plan() {
        let why = "the plan of the trials was lost".into();
        return Err(SessionError::Damaged { path: path.into(), line, why });
    }
    for (last, before) in loading.verdicts.places() {
        for place in std::iter::once(last).chain(before) {
            if loading.judge(place, lines, path)? {
                break;
            }
            damage.lose(place.number + 1, b"");
        }
    }
    damage.bad.sort_unstable();
    let session = loading.finish(damage.lost_lines());
    Ok((session, damage))
}

/// Finds the intact lines after the header, in the order in which they were written, plans first.
fn find_intact<R: BufRead + Seek>(
    head: &Head,
    lines: &mut Lines<R>,
    path: &Path,
) -> Result<(Vec<IndexedLine>, Damage), SessionError> {
    let mut damage = Damage::new(head.sealed, head.partial);
    (damage.mended, damage.moved) = (!head.whole, head.is_moved());
    if head.is_moved() {
        reader::go_to(lines, Place::default(), path)?;
    }
    let (mut index, mut buffer) = (Vec::new(), Vec::new());
    let mut place = lines.place();
    while let Some(bytes) = reader::next_line(lines, path)? {
        let opened = seal::open(bytes, &mut buffer).filter(|(_, body)| body.len() >= MIN_LINE);
        match opened {
            Some((number, body)) => {
                index.push(IndexedLine { place, number, is_plan: body.starts_with(PLAN) })
            }
            None => damage.lose(place.number + 1, bytes),
        }
        place = lines.place();
    }
    damage.lines = place.number;
    if !damage.sealed && index.iter().any(|line| line.number.is_some()) {
        // The header has lost its seal, and may have lost more.
        (damage.sealed, damage.header) = (true, true);
    }
    if damage.sealed {
        if head.sealed && head.whole {
            damage.see(1);
        }
        index.retain(|line| {
            let is_new = line.number.is_some_and(|number| damage.see(number));
            if !is_new {
                damage.lose(line.place.number + 1, b"");
            }
            is_new
        });
    }
    index.sort_by_key(|line| (!line.is_plan, line.written_as()));
    Ok((index, damage))
}

/// Adds an intact line; returns whether it can be loaded.
fn add(line: &IndexedLine, body: &[u8], loading: &mut Loading, damage: &mut Damage) -> bool {
    let number = line.written_as();
    if loading.note_verdict(body, line.place) {
        damage.count(number);
        return true;
    }
    let Ok(entry) = line::parse(body) else { return false };
    let is_plan = matches!(entry, Entry::Event(Event::Plan { .. }));
    match &entry {
        Entry::Event(Event::Grounds { .. }) => damage.grounds(number),
        Entry::Lost(lost) => damage.omitted_lines = damage.omitted_lines.saturating_add(lost.lines),
        Entry::End(_) => damage.end(),
        _ => {}
    }
    if is_result(&entry) {
        damage.count(number);
    }
    let added = loading.apply(entry).is_ok();
    if added && is_plan {
        damage.replan();
    }
    added
}

/// Returns whether a line holds a measurement.
fn is_result(entry: &Entry) -> bool {
    use Event::{Findings, Latencies, Picked, Probe, Running, Trial};
    matches!(
        entry,
        Entry::Event(
            Trial { .. }
                | Latencies { .. }
                | Running { .. }
                | Probe { .. }
                | Findings { .. }
                | Picked { .. }
        ) | Entry::Verdict(_)
    )
}
