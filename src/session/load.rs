//! Reads a session back, whether complete, torn or damaged: intact lines are loaded, the others
//! counted. Anything that is not a session is rejected.

mod verdict_places;

use std::io::{BufRead, Seek};
use std::path::Path;
use std::sync::Arc;

use self::verdict_places::{Place, Verdicts};
use super::check;
use super::damage::Damage;
use super::line::{self, Entry, VerdictLine};
use super::reader::{self, Lines};
use super::seal::{self, Seal};
use super::{Session, SessionError, head};
use crate::plan::Plan;
use crate::record::{Event, Measured, Pick, Sample, judge_job};
use crate::text::clean;
use crate::units::counted;

/// Loads all intact lines of the session in `path`; verdicts that are missing stay `None`, and
/// [`Session::lost`] is the number of lost lines.
///
/// Memory is bounded by the file's size, and each line by 16 MiB.
///
/// # Errors
/// The file cannot be read, is not a session, has a newer schema, or has lost the description of
/// what it measured.
pub fn load(path: &Path) -> Result<Session, SessionError> {
    load_with_damage(path).map(|(session, _)| session)
}

/// Loads like [`load`]; also returns what was lost.
pub(super) fn load_with_damage(path: &Path) -> Result<(Session, Damage), SessionError> {
    read(&mut reader::read_lines(path)?, path)
}

/// The samples of a trial: cell, round and samples.
pub type Samples = (u32, u32, Vec<Sample>);

/// Returns the samples of the trials of `cell`, in the order of measurement; a session in memory
/// does not hold them.
///
/// # Errors
/// As [`load`].
pub fn samples(path: &Path, cell: u32) -> Result<Vec<Samples>, SessionError> {
    #[derive(serde::Deserialize)]
    struct Line {
        kind: String,
        cell: Option<u32>,
        round: Option<u32>,
        #[serde(default)]
        samples: Vec<Sample>,
    }
    let mut lines = reader::read_lines(path)?;
    let sealed = head::find(&mut lines, path)?.sealed;
    let mut found = Vec::new();
    while let Some(bytes) = reader::next_line(&mut lines, path)? {
        if matches!((seal::check(bytes), sealed), (Seal::Broken, _) | (Seal::None, true)) {
            continue;
        }
        match line::json::<Line>(bytes) {
            Ok(line) if line.kind == "trial" && line.cell == Some(cell) => {
                found.push((cell, line.round.unwrap_or(0), line.samples))
            }
            // `load` distinguishes intact from damaged lines.
            _ => {}
        }
    }
    Ok(found)
}

/// One pass over the lines after the header.
struct Reading {
    session: Session,
    judged: Vec<u64>,
    verdicts: Verdicts,
    damage: Damage,
    /// The number of each trial in a sealed file.
    numbers: Vec<u64>,
    /// A plan found after trials: lines were exchanged, and this is the plan of all of them.
    late: Option<Plan>,
    /// The plan is already the late one.
    settled: bool,
    body: Vec<u8>,
}

/// How to continue with the rest of the lines.
#[derive(PartialEq, Eq)]
enum Next {
    Line,
    /// A line that changes the meaning of all lines before it.
    Again,
}

impl Reading {
    fn new(session: Session, sealed: bool, partial: bool) -> Reading {
        let judged = vec![0; session.plan.cells.len()];
        let damage = Damage::new(sealed, partial);
        let (verdicts, numbers, body) = (Verdicts::default(), Vec::new(), Vec::new());
        Reading { session, judged, verdicts, damage, numbers, late: None, settled: false, body }
    }

    fn line(&mut self, bytes: &[u8], place: Place) -> Next {
        let at = place.number + 1;
        let (number, body) = match (seal::check(bytes), self.damage.sealed) {
            (Seal::Whole(..), false) => {
                self.damage.sealed = true;
                return Next::Again;
            }
            (Seal::Whole(number, open), true) if self.damage.see(number) => {
                seal::unsealed(open, &mut self.body);
                (number, std::mem::take(&mut self.body))
            }
            (Seal::None, false) => (at, bytes.to_vec()),
            _ => {
                self.damage.lose(at, bytes);
                return Next::Line;
            }
        };
        let next = self.object(&body, number, place).unwrap_or_else(|()| {
            self.damage.lose(at, bytes);
            Next::Line
        });
        self.body = body;
        next
    }

    fn object(&mut self, body: &[u8], number: u64, place: Place) -> Result<Next, ()> {
        if let Some(cell) =
            line::cell_of_verdict(body).filter(|cell| *cell < self.session.plan.cells.len())
        {
            self.damage.count(number);
            self.verdicts.put(cell, place);
            return Ok(Next::Line);
        }
        let entry = line::parse(body).map_err(drop)?;
        match &entry {
            Entry::Event(Event::Plan { .. }) if self.settled => return Ok(Next::Line),
            Entry::Event(Event::Plan { plan }) if self.session.has_trials() => {
                if **plan == self.session.plan {
                    return Ok(Next::Line);
                }
                let mut plan = Plan::clone(plan);
                check::plan(&mut plan).map_err(drop)?;
                self.late = Some(plan);
                return Ok(Next::Again);
            }
            Entry::Event(Event::Plan { .. }) => {
                self.damage.replan();
                self.verdicts = Verdicts::default();
            }
            Entry::Event(Event::Grounds { .. }) => self.damage.grounds(number),
            Entry::Event(Event::Trial { .. }) => self.numbers.push(number),
            Entry::Lost(lines) => {
                self.damage.omitted_lines = self.damage.omitted_lines.saturating_add(*lines)
            }
            Entry::End(_) => self.damage.end(),
            _ => {}
        }
        if is_result(&entry) {
            self.damage.count(number);
        }
        let taken = take(&mut self.session, &mut self.judged, entry).map_err(drop);
        self.numbers.truncate(self.session.trials.len());
        taken.map(|()| Next::Line)
    }

    /// Sorts the trials by their order of measurement if lines were exchanged.
    fn sort(&mut self) {
        if self.damage.sealed && !self.numbers.is_sorted() {
            let trials = std::mem::take(&mut self.session.trials);
            let mut numbered: Vec<_> =
                std::mem::take(&mut self.numbers).into_iter().zip(trials).collect();
            numbered.sort_by_key(|(number, _)| *number);
            self.session.trials = numbered.into_iter().map(|(_, trial)| trial).collect();
        }
    }

    /// Returns the last intact verdict of each cell.
    fn judge<R: BufRead + Seek>(
        &mut self,
        lines: &mut Lines<R>,
        path: &Path,
    ) -> Result<(), SessionError> {
        for places in self.verdicts.places() {
            for place in places.into_iter().flatten() {
                let found = verdict_at(place, lines, path)?;
                if found
                    .is_some_and(|found| take(&mut self.session, &mut self.judged, found).is_ok())
                {
                    break;
                }
                self.damage.lose(place.number + 1, b"");
            }
        }
        Ok(())
    }
}

/// Reads a session from its lines; `path` is for messages.
pub(super) fn read<R: BufRead + Seek>(
    lines: &mut Lines<R>,
    path: &Path,
) -> Result<(Session, Damage), SessionError> {
    let head = head::find(lines, path)?;
    let first_too = head.elsewhere.is_some() || (head.sealed && !head.whole);
    let (after, mut again) = ((lines.whole, lines.number), 0);
    let mut reading = Reading::new(head.session.clone(), head.sealed, head.partial);
    loop {
        if head.sealed && head.whole {
            reading.damage.see(1);
        }
        // Lines were exchanged: the first one may be intact all the same.
        if first_too {
            lines.go_to(0, 0).map_err(|error| error.into_session_error(path, 1))?;
        }
        let mut next_is = Next::Line;
        while next_is == Next::Line {
            let place = Place { start: lines.whole, number: lines.number };
            let Some(bytes) = reader::next_line(lines, path)? else { break };
            if head.elsewhere != Some(place.number + 1) {
                next_is = reading.line(bytes, place);
            }
        }
        again += 1;
        if next_is == Next::Line || again > 2 {
            break;
        }
        // Each is found at most once: that there are seals, and another plan.
        let (sealed, late) = (reading.damage.sealed, reading.late.take());
        let settled = reading.settled || late.is_some();
        let mut session = head.session.clone();
        session.replace_plan(late.unwrap_or(if reading.settled {
            reading.session.plan
        } else {
            session.plan.clone()
        }));
        reading = Reading {
            settled,
            ..Reading::new(session, sealed, head.partial || sealed != head.sealed)
        };
        lines
            .go_to(after.0, after.1)
            .map_err(|error| error.into_session_error(path, after.1 + 1))?;
    }
    if let Some(line) = reading.damage.lost_plan().filter(|_| !reading.settled) {
        let why = "the plan of the trials was lost".into();
        return Err(SessionError::Damaged { path: path.into(), line, why });
    }
    reading.sort();
    reading.judge(lines, path)?;
    let Reading { mut session, mut judged, mut damage, .. } = reading;
    damage.bad.sort_unstable();
    (damage.mended, damage.moved) = (!head.whole, first_too);
    session.lost = damage.lost_lines();
    rejudge(&mut session, &mut judged);
    tell_stale(&mut session, &judged);
    tell_lost(&mut session);
    Ok((session, damage))
}

/// Returns whether a line holds a measurement.
fn is_result(entry: &Entry) -> bool {
    use Event::{Findings, Picked, Probe, Trial};
    matches!(
        entry,
        Entry::Event(Trial { .. } | Probe { .. } | Findings { .. } | Picked { .. })
            | Entry::Verdict(_)
    )
}

fn verdict_at<R: BufRead + Seek>(
    place: Place,
    lines: &mut Lines<R>,
    path: &Path,
) -> Result<Option<Entry>, SessionError> {
    lines
        .go_to(place.start, place.number)
        .map_err(|error| error.into_session_error(path, place.number + 1))?;
    let body = head::body(lines, path)?.filter(|(_, fits)| *fits != Some(false));
    Ok(body.and_then(|(body, _)| line::parse(&body).ok()))
}

/// Describes how much of the file is missing.
fn tell_lost(session: &mut Session) {
    let lines = match session.lost {
        0 => return,
        lost => counted(lost as usize, "line"),
    };
    session.notes.push(format!(
        "the file of this session is damaged: {lines} could not be read; the rest is shown"
    ));
}

/// Adds a line to the session; the error describes what is wrong with it.
fn take(session: &mut Session, judged: &mut Vec<u64>, entry: Entry) -> Result<(), String> {
    match entry {
        Entry::Event(mut event) => {
            check::event(&mut event, &session.plan)?;
            if let Event::Plan { plan } = &event {
                *judged = vec![0; plan.cells.len()];
            }
            session.apply(&event);
        }
        Entry::Verdict(line) => {
            let VerdictLine { cell, trials, verdict, error } = *line;
            judged[check::cell(cell, &session.plan)?] = trials;
            if let Some(verdict) = verdict {
                let verdict = Arc::new(check::clean_verdict(verdict));
                session.apply(&Event::Verdict { cell, verdict });
            }
            if let Some(error) = error {
                session.apply(&Event::Failed { cell, error: clean::text(&error) });
            }
        }
        Entry::End(end) => {
            session.unrestored = end.unrestored;
            session.apply(&Event::End {
                reason: end.reason,
                seconds: end.seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0),
            });
        }
        Entry::Lost(_) | Entry::Other => {}
    }
    Ok(())
}

/// Judges cells again, by the same grounds, if their verdict is missing or does not cover their
/// last trials.
fn rejudge(session: &mut Session, judged: &mut [u64]) {
    let Some(grounds) = session.grounds.clone() else { return };
    for (cell, trials) in session.trials_by_cell().into_iter().enumerate() {
        let (seen, are) = (judged[cell], trials.len() as u64);
        // A verdict based on lost trials claims more than can be shown.
        if !trials.is_empty() && (seen < are || (seen != are && session.lost > 0)) {
            let before = session.verdicts[cell].take();
            let before = before.as_deref();
            let picked = |pick: &&Pick| pick.cell == Some(cell as u32);
            let pick = session.picks.iter().find(picked);
            let measured = Measured {
                trials: &trials,
                latency: before.and_then(|verdict| verdict.latency.as_ref()),
                commits: before.and_then(|verdict| verdict.commits.as_ref()),
                once: pick.is_some_and(|pick| pick.is_once(&session.plan)),
            };
            let verdict = judge_job(&session.plan.cells[cell], &measured, &grounds);
            session.verdicts[cell] = Some(Arc::new(check::clean_verdict(verdict)));
            judged[cell] = trials.len() as u64;
        }
    }
}

/// Notes stale verdicts: one is written every 10 s, so that of a killed run may not cover the last
/// trials.
fn tell_stale(session: &mut Session, judged: &[u64]) {
    let mut trials = vec![0u64; session.plan.cells.len()];
    for trial in &session.trials {
        trials[trial.cell as usize] += 1;
    }
    let stale = |cell: &usize| session.verdicts[*cell].is_some() && judged[*cell] < trials[*cell];
    let count = (0..trials.len()).filter(stale).count();
    if session.end.is_none() && count > 0 {
        // The run may have been killed, or go on.
        let (verdicts, verb, its) = match count {
            1 => ("1 verdict".into(), "does", "its cell"),
            _ => (format!("{count} verdicts"), "do", "their cells"),
        };
        session.notes.push(format!(
            "the file ends within the run: {verdicts} {verb} not include the last trials of {its}"
        ));
    }
}

#[cfg(test)]
mod tests;
