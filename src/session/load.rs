//! Reads a session back, whole or torn, and refuses what is none.

use std::io::{BufRead, Seek};
use std::path::Path;
use std::sync::Arc;

use super::line::{self, First, Found, SCHEMA, Start};
use super::reader::{self, Lines};
use super::{Session, SessionError, clean, error};
use crate::engine;
use crate::plan::{Job, Plan};
use crate::record::{Dropped, Level, Prepared, ProbeFindings, Sample, Verdict, Warning};

/// The most programs that are named as holding a file in memory: a name takes more room there than in the file.
const MAPPED_BY: usize = 16;
/// The most readings of a level of cold.
const READINGS: usize = 100;

/// Loads the session in `path`, up to its last whole line; verdicts that are not in it stay `None`.
///
/// Memory is bounded by the file's size, and each line by 16 MiB.
///
/// # Errors
/// The file cannot be read, is no session, is of a newer schema, or is damaged before its last line.
pub fn load(path: &Path) -> Result<Session, SessionError> {
    read(&mut reader::lines(path)?, path)
}

/// The samples of a trial: cell, round and samples.
pub type Samples = (u32, u32, Vec<Sample>);

/// The samples of the trials of `cell`, in the order they were made; a session in memory does not hold them.
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
    let mut lines = reader::lines(path)?;
    first(&mut lines, path)?;
    let mut found = Vec::new();
    while let Some(bytes) = next(&mut lines, path)? {
        match serde_json::from_slice::<Line>(bytes) {
            Ok(line) if line.kind == "trial" && line.cell == Some(cell) => found.push((cell, line.round.unwrap_or(0), line.samples)),
            // Whole and damaged lines are told apart by `load`.
            _ => {}
        }
    }
    Ok(found)
}

fn next<'a, R: BufRead>(lines: &'a mut Lines<R>, path: &Path) -> Result<Option<&'a [u8]>, SessionError> {
    let line = lines.number + 1;
    lines.next_line().map_err(|error| error.at(path, line))
}

/// Reads a session from its lines; `path` is for messages.
pub(super) fn read<R: BufRead + Seek>(lines: &mut Lines<R>, path: &Path) -> Result<Session, SessionError> {
    let mut session = first(lines, path)?;
    let mut judged = vec![0u64; session.plan.cells.len()];
    let mut verdicts = Verdicts::default();
    loop {
        let place = Place { start: lines.whole, number: lines.number };
        let Some(bytes) = next(lines, path)? else { break };
        if let Some(cell) = line::cell_of_verdict(bytes).filter(|cell| *cell < session.plan.cells.len()) {
            verdicts.put(cell, place);
            continue;
        }
        let Some(found) = whole(line::parse(bytes), lines, path)? else { break };
        if matches!(found, Found::Plan(_)) {
            verdicts = Verdicts::default();
        }
        take(&mut session, &mut judged, found).map_err(|why| SessionError::Damaged { path: path.into(), line: lines.number, why })?;
    }
    for place in verdicts.places() {
        let found = match (verdict_at(place, lines, path)?, verdicts.replaced) {
            (None, Some(replaced)) => verdict_at(replaced, lines, path)?,
            (found, _) => found,
        };
        if let Some(found) = found {
            let damaged = |why| SessionError::Damaged { path: path.into(), line: place.number + 1, why };
            take(&mut session, &mut judged, found).map_err(damaged)?;
        }
    }
    rejudge(&mut session, &mut judged);
    tell_stale(&mut session, &judged);
    Ok(session)
}

/// What was found in a line; `None` where it is the last one and torn: the disk may have kept its end and not its start.
fn whole<R: BufRead>(found: Result<Found, serde_json::Error>, lines: &mut Lines<R>, path: &Path) -> Result<Option<Found>, SessionError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if !error.is_data() && lines.at_end() => Ok(None),
        Err(error) => Err(SessionError::Damaged { path: path.into(), line: lines.number, why: error::why(&error) }),
    }
}

/// Where a line begins, and the number of the one before it.
#[derive(Clone, Copy)]
struct Place {
    start: u64,
    number: u64,
}

/// Where the last verdict of each cell is: there may be one for every trial, they are long, and only the last one counts.
#[derive(Default)]
struct Verdicts {
    last: Vec<Option<Place>>,
    /// The verdict that the last line of all takes the place of: that line may be torn.
    replaced: Option<Place>,
}

impl Verdicts {
    fn put(&mut self, cell: usize, place: Place) {
        if self.last.len() <= cell {
            self.last.resize(cell + 1, None);
        }
        self.replaced = self.last[cell].replace(place);
    }

    /// In the order of the file.
    fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.last.iter().flatten().copied().collect();
        places.sort_by_key(|place| place.start);
        places
    }
}

fn verdict_at<R: BufRead + Seek>(place: Place, lines: &mut Lines<R>, path: &Path) -> Result<Option<Found>, SessionError> {
    lines.go_to(place.start, place.number).map_err(|error| error.at(path, place.number + 1))?;
    let Some(bytes) = next(lines, path)? else { return Ok(None) };
    whole(line::parse(bytes), lines, path)
}

/// The first line: what makes a file a session.
fn first<R: BufRead>(lines: &mut Lines<R>, path: &Path) -> Result<Session, SessionError> {
    let no = |why: String| SessionError::NotASession { path: path.into(), why };
    let empty = lines.at_end();
    let Some(bytes) = next(lines, path)? else {
        return Err(no(if empty { "it is empty" } else { "it has no whole line" }.into()));
    };
    let start: Start = serde_json::from_slice(bytes).map_err(|e| no(format!("line 1: {}", error::why(&e))))?;
    match (start.iotui, start.kind.as_deref()) {
        (Some(schema), Some("session")) if schema > SCHEMA => return Err(SessionError::Newer { path: path.into(), schema }),
        (Some(SCHEMA), Some("session")) => {}
        _ => return Err(no("line 1 has no \"iotui\":1,\"kind\":\"session\"".into())),
    }
    let mut first: First = serde_json::from_slice(bytes).map_err(|e| no(format!("line 1: {}", error::why(&e))))?;
    let host = first.host().map_err(|why| no(format!("line 1: {why}")))?;
    check(&mut first.plan).map_err(|why| no(format!("line 1: {why}")))?;
    if super::parse_utc(&first.created).is_none() {
        return Err(no(format!("line 1: created '{}' is no UTC time", clean::brief(&first.created, 40))));
    }
    let (id, name) = (clean::brief(&first.id, 200), clean::brief(&first.name, 200));
    Ok(Session::new(id, name, first.created, host, first.plan))
}

/// Takes a line into the session; the error says what is wrong with it.
fn take(session: &mut Session, judged: &mut Vec<u64>, found: Found) -> Result<(), String> {
    let cells = session.plan.cells.len();
    let cell = |cell: u32| match cell as usize {
        index if index < cells => Ok(index),
        _ => Err(format!("cell {cell} is none of the plan's {cells}")),
    };
    match found {
        Found::Plan(_) if !session.trials.is_empty() || !session.probe_trials.is_empty() => {
            return Err("another plan after the first trial".into());
        }
        Found::Plan(mut plan) => {
            check(&mut plan)?;
            *judged = vec![0; plan.cells.len()];
            session.replace_plan(*plan);
        }
        Found::Grounds(grounds) => session.grounds = Some(*grounds),
        Found::Trial(mut trial) => {
            cell(trial.cell)?;
            if let Some(Prepared::Cold { mapped_by, .. }) = &mut trial.evidence.preparation {
                mapped_by.truncate(MAPPED_BY);
                mapped_by.shrink_to_fit();
            }
            trial.evidence.notes.shrink_to_fit();
            session.trials.push(Arc::from(trial));
        }
        Found::Verdict(line) => {
            let cell = cell(line.cell)?;
            judged[cell] = line.trials;
            session.verdicts[cell] = line.verdict.map(cleaned);
            session.errors[cell] = line.error.map(|text| clean::text(&text));
        }
        Found::Probe(trial) => {
            probe(session, trial.cell)?;
            if !trial.is_sound() {
                return Err(format!("a probe's value {} is none", trial.value));
            }
            session.probe_trials.push(trial);
        }
        Found::Findings(known) => {
            let cell = probe(session, known.cell)?;
            session.probe_findings[cell] = told(known.findings);
        }
        Found::Levels(levels) => session.levels = leveled(levels),
        Found::Pick(mut pick) => {
            pick.cells().try_for_each(|index| cell(index).map(drop))?;
            pick.left_out.iter_mut().map(|out| &mut out.why).for_each(clean::in_place);
            clean::in_place(&mut pick.why);
            session.picks.push(*pick);
        }
        Found::Note(text) => session.notes.push(clean::text(&text)),
        Found::End(end) => session.end = Some(end.reason),
        Found::Other => {}
    }
    Ok(())
}

fn probe(session: &Session, cell: u32) -> Result<usize, String> {
    match cell as usize {
        index if index < session.plan.probes.len() => Ok(index),
        _ => Err(format!("probe {cell} is none of the plan's {}", session.plan.probes.len())),
    }
}

/// Findings from a file that anyone may have written, safe to show.
fn told(mut findings: ProbeFindings) -> ProbeFindings {
    findings.warnings.iter_mut().for_each(clean_warning);
    findings.error.iter_mut().for_each(clean::in_place);
    findings.estimate = findings.estimate.filter(|of| of.low.is_finite() && of.high.is_finite());
    findings.estimate.iter_mut().for_each(|of| clean::in_place(&mut of.reason));
    findings
}

/// Levels from a file that anyone may have written, safe to show: as many as there are, of few readings.
fn leveled(mut levels: Vec<Level>) -> Vec<Level> {
    levels.truncate(Dropped::ALL.len());
    for level in &mut levels {
        level.readings.truncate(READINGS);
        level.reason.iter_mut().for_each(clean::in_place);
    }
    levels
}

fn clean_warning(warning: &mut Warning) {
    for text in [&mut warning.message, &mut warning.evidence, &mut warning.remedy] {
        clean::in_place(text);
    }
    clean::in_place(warning.id.to_mut());
}

/// A verdict from a file that anyone may have written, safe to show.
fn cleaned(mut verdict: Verdict) -> Verdict {
    clean::in_place(&mut verdict.source_reason);
    verdict.warnings.iter_mut().for_each(clean_warning);
    verdict.latency.iter_mut().for_each(|latency| latency.buckets.shrink_to_fit());
    verdict
}

/// Judges again, by the same grounds, the cells whose verdict is missing or has not seen their last trials.
fn rejudge(session: &mut Session, judged: &mut [u64]) {
    let Some(grounds) = session.grounds.clone() else { return };
    for (cell, trials) in session.trials_by_cell().into_iter().enumerate() {
        if !trials.is_empty() && judged[cell] < trials.len() as u64 {
            let latency = session.verdicts[cell].take().and_then(|v| v.latency);
            session.verdicts[cell] = Some(cleaned(engine::verdict(&session.plan.cells[cell], &trials, latency.as_ref(), &grounds)));
            judged[cell] = trials.len() as u64;
        }
    }
}

/// A verdict is written every 10 s: one of a run that was killed may not have seen the last trials.
fn tell_stale(session: &mut Session, judged: &[u64]) {
    let mut trials = vec![0u64; session.plan.cells.len()];
    for trial in &session.trials {
        trials[trial.cell as usize] += 1;
    }
    let stale = |cell: &usize| session.verdicts[*cell].is_some() && judged[*cell] < trials[*cell];
    let count = (0..trials.len()).filter(stale).count();
    if session.end.is_none() && count > 0 {
        session.notes.push(format!("the run was killed: {count} verdicts have not seen the last trials of their cells"));
    }
}

/// What a plan must keep to so that it can be shown and run again. Its texts are cleaned; its paths stay what they are.
fn check(plan: &mut Plan) -> Result<(), String> {
    let texts = plan.presets.iter_mut().chain(plan.skipped.iter_mut().map(|s| &mut s.reason));
    texts.chain([&mut plan.experiment]).for_each(clean::in_place);
    if !(plan.goal.is_finite() && plan.goal >= 0.0) {
        return Err(format!("the goal {} is no share", plan.goal));
    }
    for (index, job) in plan.cells.iter().chain(plan.skipped.iter().map(|s| &s.cell)).enumerate() {
        for (name, value, most) in [
            ("block", job.block, Job::MAX_BLOCK),
            ("threads", job.threads.into(), Job::MAX_THREADS.into()),
            ("depth", job.depth.into(), Job::MAX_DEPTH.into()),
        ] {
            if !(1..=most).contains(&value) {
                return Err(format!("cell {index}: {name} {value} is not between 1 and {most}"));
            }
        }
        if job.mix.is_some_and(|mix| mix > 100) {
            return Err(format!("cell {index}: a mix above 100 %"));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests/load.rs"]
mod tests;
