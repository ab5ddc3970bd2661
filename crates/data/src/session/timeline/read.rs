//! Reads what a session in memory does not hold: the samples, and the place of each line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{BufRead, Cursor, Read, Seek};
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Marks, Timeline, place};
use crate::record::{Event, Sample};
use crate::session::line::{self, Entry};
use crate::session::reader::{self, Lines, Place};
use crate::session::{Session, SessionError, head, load, seal};
use crate::stats::merge_neighbours;
use iotui_files::file_lock;

/// Maximum number of samples; beyond it, neighbours of a trial are merged.
const MAX_SAMPLES: usize = 200_000;

/// The id of the session that ships with iotui.
pub const DEMO_ID: &str = "demo";

/// Its lines, recorded by this program and without private names; a fifth of their size.
const DEMO: &[u8] = include_bytes!("../../../../../assets/demo.jsonl.gz");

/// Returns the lines of the session that ships with iotui.
pub fn demo_lines() -> Vec<u8> {
    let mut lines = Vec::new();
    // It is a part of this program: tests read it whole.
    let _ = GzDecoder::new(DEMO).read_to_end(&mut lines);
    lines
}

/// Returns the session in `path` and the events of its run.
///
/// # Errors
/// As [`load`](load::load); nothing in it can be replayed, or its run has not ended.
pub fn timeline(path: &Path) -> Result<(Session, Timeline), SessionError> {
    // Before reading: a run that ends at the same time may be read without its end.
    let running = file_lock::is_locked(&reader::open(path)?.0);
    let (session, timeline) = of_lines(&mut reader::read_lines(path)?, path)?;
    if running && session.end.is_none() {
        return Err(SessionError::Busy(session.id));
    }
    Ok((session, timeline))
}

/// Returns the session that ships with iotui. Touches no disk.
///
/// # Errors
/// None, unless this program was built with another file in its place.
pub fn demo() -> Result<(Session, Timeline), SessionError> {
    of_lines(&mut Lines::new(Cursor::new(demo_lines())), Path::new("demo"))
}

pub(super) fn of_lines<R: BufRead + Seek>(
    lines: &mut Lines<R>,
    path: &Path,
) -> Result<(Session, Timeline), SessionError> {
    let (session, _) = load::read(lines, path)?;
    if session.trials.is_empty() {
        return Err(SessionError::NoReplay {
            id: session.id,
            why: if session.probe_trials.is_empty() {
                "nothing was measured"
            } else {
                "it measured probes, whose figures have no times"
            },
        });
    }
    reader::go_to(lines, Place::default(), path)?;
    let sealed = head::find(lines, path)?.sealed;
    let mut reading = Reading::new(&session);
    let mut buffer = Vec::new();
    while let Some(bytes) = reader::next_line(lines, path)? {
        match seal::open(bytes, &mut buffer) {
            Some((number, body)) if number.is_some() == sealed => reading.take(body, &session),
            _ => {}
        }
    }
    let Reading { mut samples, mut marks, .. } = reading;
    add_unread(&session, &mut marks);
    let of_trials = session
        .trials
        .iter()
        .map(|trial| samples.remove(&(trial.cell, trial.round)).unwrap_or_default())
        .collect();
    let timeline = place(&session, marks, of_trials);
    Ok((session, timeline))
}

/// Adds the parts of a session that have no line of their own: notes about damage, and the grounds,
/// which are known before the first cell.
fn add_unread(session: &Session, marks: &mut Marks) {
    let is_read = |text: &str| {
        marks
            .others
            .iter()
            .any(|(_, event)| matches!(event, Event::Note { text: read } if read == text))
    };
    let mut first: Vec<(usize, Event)> = session
        .notes
        .iter()
        .filter(|text| !is_read(text))
        .map(|text| (0, Event::Note { text: text.clone() }))
        .collect();
    first.extend(
        session.grounds.clone().map(|grounds| (0, Event::Grounds { grounds: grounds.into() })),
    );
    marks.others.splice(0..0, first);
}

struct Reading {
    /// By cell and round.
    samples: HashMap<(u32, u32), Vec<Sample>>,
    per_trial: usize,
    marks: Marks,
    trials: usize,
}

/// The needed keys of any line; the rest is skipped.
#[derive(Deserialize)]
struct PlacedLine<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    cell: Option<u32>,
    #[serde(default)]
    round: u32,
    #[serde(borrow)]
    samples: Option<&'a RawValue>,
}

impl Reading {
    fn new(session: &Session) -> Reading {
        let per_trial = (MAX_SAMPLES / session.trials.len().max(1)).min(Sample::MAX_PER_TRIAL);
        Reading { samples: HashMap::new(), per_trial, marks: Marks::default(), trials: 0 }
    }

    fn take(&mut self, body: &[u8], session: &Session) {
        if let Some(cell) = line::cell_of_verdict(body) {
            return self.take_failure(cell, body, session);
        }
        let Ok(PlacedLine { kind, cell, round, samples }) = line::json(body) else { return };
        let cell = cell.filter(|cell| (*cell as usize) < session.plan.cells.len());
        match (kind.as_ref(), cell) {
            ("trial", Some(cell)) => {
                self.trials += 1;
                self.take_samples((cell, round), samples);
            }
            ("calibrated", Some(cell)) => self.marks.calibrated.push((self.trials, cell)),
            ("note" | "pick" | "skip", _) => {
                if let Ok(Entry::Event(event)) = line::parse(body)
                    && is_shown(&event, session)
                {
                    self.marks.others.push((self.trials, event));
                }
            }
            _ => {}
        }
    }

    fn take_samples(&mut self, trial: (u32, u32), samples: Option<&RawValue>) {
        let Some(samples) = samples.filter(|_| self.per_trial > 0) else { return };
        let Ok(mut samples) = line::json::<Vec<Sample>>(samples.get().as_bytes()) else { return };
        samples.truncate(Sample::MAX_PER_TRIAL);
        merge_neighbours(&mut samples, self.per_trial, Sample::merge);
        if !samples.is_empty() {
            self.samples.insert(trial, samples);
        }
    }

    /// Notes which line reports the failure of a cell first.
    fn take_failure(&mut self, cell: usize, body: &[u8], session: &Session) {
        let number = cell as u32;
        let is_new = !self.marks.failed.iter().any(|(_, known)| *known == number);
        if is_new
            && session.errors.get(cell).is_some_and(Option::is_some)
            && let Ok(Entry::Verdict(line)) = line::parse(body)
            && line.error.is_some()
        {
            self.marks.failed.push((self.trials, number));
        }
    }
}

/// Returns whether an event comes as it was read: others are taken from the session, which has
/// checked and cleaned them.
fn is_shown(event: &Event, session: &Session) -> bool {
    match event {
        Event::Skipped { cell } => session.skipped.contains(cell),
        Event::Note { text } => session.notes.contains(text),
        Event::Picked { pick } => session.picks.contains(pick),
        _ => false,
    }
}
