//! A session to which the lines of its file are added.

use std::io::{BufRead, Seek};
use std::path::Path;
use std::sync::Arc;

use super::line::{self, Entry, VerdictLine};
use super::reader::{self, Lines, Place};
use super::{Session, SessionError, check, seal};
use crate::plan::Plan;
use crate::record::{EncodedLog, Event, Measured, Pick, judge_job};
use crate::units::counted;

/// The last verdict of each cell, and the one before it: there may be one for every trial, they are
/// long, and only the last intact one counts.
#[derive(Default)]
pub struct VerdictPlaces(Vec<Option<(Place, Option<Place>)>>);

impl VerdictPlaces {
    fn put(&mut self, cell: usize, place: Place) {
        if self.0.len() <= cell {
            self.0.resize(cell + 1, None);
        }
        self.0[cell] = Some((place, self.0[cell].map(|(last, _)| last)));
    }

    /// Returns the places for each cell with a verdict, in file order.
    pub fn places(&self) -> Vec<(Place, Option<Place>)> {
        let mut places: Vec<_> = self.0.iter().copied().flatten().collect();
        places.sort_by_key(|(last, _)| last.start);
        places
    }
}

/// A session to which lines are added.
pub struct Loading {
    session: Session,
    /// The number of trials that the verdict of each cell is based on.
    judged: Vec<u64>,
    pub verdicts: VerdictPlaces,
    /// Bytes of latencies over time, added or left out.
    latency_bytes: usize,
}

/// The most latencies over time that are kept in memory, bytes: a run of a month has 48 MiB.
const MAX_LATENCY_BYTES: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };

impl Loading {
    pub fn new(session: Session) -> Loading {
        let judged = vec![0; session.plan.cells.len()];
        Loading { session, judged, verdicts: VerdictPlaces::default(), latency_bytes: 0 }
    }

    /// Adds the line at `place`, without its seal; a verdict is only noted, and read later by
    /// [`Loading::judge`].
    ///
    /// # Errors
    /// The line does not belong to a session, or contradicts the plan.
    pub fn add(&mut self, line: &[u8], place: Place) -> Result<(), String> {
        if self.note_verdict(line, place) {
            return Ok(());
        }
        match line::parse(line).map_err(|error| error.to_string())? {
            Entry::Lost(lost) => Err(format!("it lacks {} lines", lost.lines)),
            Entry::Event(Event::Plan { plan }) if self.is_late(&plan) => {
                Err("the plan follows trials".into())
            }
            entry => self.apply(entry),
        }
    }

    /// Notes where the verdict of a cell is; returns whether the line is one.
    pub fn note_verdict(&mut self, line: &[u8], place: Place) -> bool {
        let cell = line::cell_of_verdict(line).filter(|cell| *cell < self.session.plan.cells.len());
        if let Some(cell) = cell {
            self.verdicts.put(cell, place);
        }
        cell.is_some()
    }

    /// Returns whether the trials before a plan belong to another plan.
    fn is_late(&self, plan: &Plan) -> bool {
        self.session.has_trials() && *plan != self.session.plan
    }

    /// Adds a line that was read.
    ///
    /// # Errors
    /// The line contradicts the plan.
    pub fn apply(&mut self, entry: Entry) -> Result<(), String> {
        match entry {
            Entry::Event(mut event) => {
                check::event(&mut event, &self.session.plan)?;
                if let Event::Latencies { log } | Event::Running { log } = &event {
                    self.latency_bytes += log.data.len() + size_of::<EncodedLog>();
                    if self.latency_bytes > MAX_LATENCY_BYTES {
                        return Ok(());
                    }
                }
                self.session.apply(&event);
                if matches!(event, Event::Plan { .. }) && !self.session.has_trials() {
                    self.verdicts = VerdictPlaces::default();
                    self.judged = vec![0; self.session.plan.cells.len()];
                }
            }
            Entry::Verdict(line) => {
                let VerdictLine { cell, trials, verdict, error } = line;
                self.judged[check::cell(cell, &self.session.plan)?] = trials;
                if let Some(mut verdict) = verdict {
                    check::shrink_verdict(Arc::make_mut(&mut verdict));
                    self.session.apply(&Event::Verdict { cell, verdict });
                }
                if let Some(error) = error {
                    self.session.apply(&Event::Failed { cell, error });
                }
            }
            Entry::End(end) => {
                self.session.unrestored = end.unrestored;
                self.session.apply(&Event::End {
                    reason: end.reason,
                    seconds: end.seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0),
                });
            }
            Entry::Lost(_) | Entry::Other => {}
        }
        Ok(())
    }

    /// Reads the verdict at `place` and adds it; returns whether it is intact.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn judge<R: BufRead + Seek>(
        &mut self,
        place: Place,
        lines: &mut Lines<R>,
        path: &Path,
    ) -> Result<bool, SessionError> {
        let mut buffer = Vec::new();
        let line = reader::line_at(lines, place, path)?;
        let entry = seal::open(line, &mut buffer).and_then(|(_, body)| line::parse(body).ok());
        Ok(entry.is_some_and(|entry| self.apply(entry).is_ok()))
    }

    /// Returns the session, whose file lacks `lost` lines.
    pub fn finish(self, lost: u64) -> Session {
        let Loading { mut session, mut judged, latency_bytes, .. } = self;
        session.lost = lost;
        session.keep_begun();
        if latency_bytes > MAX_LATENCY_BYTES {
            let most = MAX_LATENCY_BYTES >> 20;
            let note = format!("latencies over time beyond {most} MiB were not read");
            session.notes.push(note);
        }
        rejudge(&mut session, &mut judged);
        note_stale_verdicts(&mut session, &judged);
        note_lost_lines(&mut session);
        session
    }
}

/// Judges cells again, by the same grounds, if their verdict is missing or does not cover their
/// last trials.
fn rejudge(session: &mut Session, judged: &mut [u64]) {
    let Some(grounds) = session.grounds.clone() else { return };
    for (cell, trials) in session.trials_by_cell().into_iter().enumerate() {
        let (judged_trials, loaded_trials) = (judged[cell], trials.len() as u64);
        // A verdict based on lost trials claims more than can be shown.
        let is_stale =
            judged_trials < loaded_trials || (judged_trials > loaded_trials && session.lost > 0);
        if !trials.is_empty() && is_stale {
            let before = session.verdicts[cell].take();
            let before = before.as_deref();
            let is_known = before.is_some_and(|verdict| verdict.latency.is_some());
            let cut = (!is_known).then(|| session.latency_of_cut(&trials));
            let (latency, service) = cut.unwrap_or_default();
            let picked = |pick: &&Pick| pick.cell == Some(cell as u32);
            let pick = session.picks.iter().find(picked);
            let measured = Measured {
                trials: &trials,
                latency: before.and_then(|verdict| verdict.latency.as_ref()).or(latency.as_ref()),
                service: before.and_then(|verdict| verdict.service.as_ref()).or(service.as_ref()),
                commits: before.and_then(|verdict| verdict.commits.as_ref()),
                once: pick.is_some_and(|pick| pick.is_once(&session.plan)),
            };
            let verdict = judge_job(&session.plan.cells[cell], &measured, &grounds);
            session.verdicts[cell] = Some(Arc::new(verdict));
            judged[cell] = loaded_trials;
        }
    }
}

/// Notes stale verdicts: one is written every 10 s, so that of a killed run may not cover the last
/// trials.
fn note_stale_verdicts(session: &mut Session, judged: &[u64]) {
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

/// Describes how much of the file is missing.
fn note_lost_lines(session: &mut Session) {
    let lines = match session.lost {
        0 => return,
        lost => counted(lost as usize, "line"),
    };
    session.notes.push(format!(
        "the file of this session is damaged: {lines} could not be read; the rest is shown"
    ));
}
