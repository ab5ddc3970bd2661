//! Reads a session back, whole, torn or damaged: what is whole is loaded, the rest is counted. What
//! is no session is refused.

mod verdict_places;

use std::io::{BufRead, Seek};
use std::path::Path;
use std::sync::Arc;

use self::verdict_places::{Place, Verdicts};
use super::damage::Damage;
use super::line::{self, Found};
use super::reader::{self, LineError, Lines};
use super::seal::{self, Seal};
use super::{Session, SessionError, head};
use crate::engine;
use crate::plan::{Job, Plan};
use crate::record::{Dropped, Level, Prepared, ProbeFindings, Sample, Verdict, Warning};
use crate::text::clean;

/// The most programs that are named as holding a file in memory: a name takes more room there than
/// in the file.
const MAPPED_BY: usize = 16;
/// The most readings of a level of cold.
const READINGS: usize = 100;

/// Loads what is whole of the session in `path`; verdicts that are not in it stay `None`, and how
/// many lines are lost is [`Session::lost`].
///
/// Memory is bounded by the file's size, and each line by 16 MiB.
///
/// # Errors
/// The file cannot be read, is no session, is of a newer schema, or has lost what says what it
/// measured.
pub fn load(path: &Path) -> Result<Session, SessionError> {
    whole(path).map(|(session, _)| session)
}

/// As [`load`], with what is lost.
pub(super) fn whole(path: &Path) -> Result<(Session, Damage), SessionError> {
    read(&mut reader::lines(path)?, path)
}

/// The samples of a trial: cell, round and samples.
pub type Samples = (u32, u32, Vec<Sample>);

/// The samples of the trials of `cell`, in the order they were made; a session in memory does not
/// hold them.
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
    let sealed = head::find(&mut lines, path)?.sealed;
    let mut found = Vec::new();
    while let Some(bytes) = next(&mut lines, path)? {
        if matches!((seal::check(bytes), sealed), (Seal::Broken, _) | (Seal::None, true)) {
            continue;
        }
        match serde_json::from_slice::<Line>(bytes) {
            Ok(line) if line.kind == "trial" && line.cell == Some(cell) => {
                found.push((cell, line.round.unwrap_or(0), line.samples))
            }
            // Whole and damaged lines are told apart by `load`.
            _ => {}
        }
    }
    Ok(found)
}

/// The next line that is not too long; one that is stands for damage, and is passed over as an
/// empty one.
pub(super) fn next<'a, R: BufRead>(
    lines: &'a mut Lines<R>,
    path: &Path,
) -> Result<Option<&'a [u8]>, SessionError> {
    let line = lines.number + 1;
    if let Err(error) = lines.peek_line() {
        if line == 1 || !matches!(error, LineError::TooLong) {
            return Err(error.at(path, line));
        }
        lines.skip().map_err(|error| error.at(path, line))?;
        return Ok(Some(b""));
    }
    Ok(lines.current())
}

/// One pass over the lines after the header.
struct Reading {
    session: Session,
    judged: Vec<u64>,
    verdicts: Verdicts,
    damage: Damage,
    /// The number of each trial in a sealed file.
    numbers: Vec<u64>,
    /// Found behind trials: lines were exchanged, and this is the plan of all of them.
    late: Option<Plan>,
    /// The plan is that one.
    settled: bool,
    body: Vec<u8>,
}

/// What is to be done with the rest of the lines.
#[derive(PartialEq, Eq)]
enum Next {
    Line,
    /// Something was found that changes what all lines before it mean.
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
        let found = line::parse(body).map_err(drop)?;
        match &found {
            Found::Plan(_) if self.settled => return Ok(Next::Line),
            Found::Plan(plan)
                if !self.session.trials.is_empty() || !self.session.probe_trials.is_empty() =>
            {
                if **plan == self.session.plan {
                    return Ok(Next::Line);
                }
                let mut plan = plan.clone();
                check(&mut plan).map_err(drop)?;
                self.late = Some(*plan);
                return Ok(Next::Again);
            }
            Found::Plan(_) => {
                self.damage.replan();
                self.verdicts = Verdicts::default();
            }
            Found::Grounds(_) => self.damage.grounds(number),
            Found::Trial(_) => self.numbers.push(number),
            Found::Lost(lines) => self.damage.told = self.damage.told.saturating_add(*lines),
            Found::End(_) => self.damage.end(),
            _ => {}
        }
        if matches!(
            found,
            Found::Trial(_)
                | Found::Verdict(_)
                | Found::Probe(_)
                | Found::Findings(_)
                | Found::Pick(_)
        ) {
            self.damage.count(number);
        }
        let taken = take(&mut self.session, &mut self.judged, found).map_err(drop);
        self.numbers.truncate(self.session.trials.len());
        taken.map(|()| Next::Line)
    }

    /// The trials in the order they were made, where lines were exchanged.
    fn sort(&mut self) {
        if self.damage.sealed && !self.numbers.is_sorted() {
            let trials = std::mem::take(&mut self.session.trials);
            let mut numbered: Vec<_> =
                std::mem::take(&mut self.numbers).into_iter().zip(trials).collect();
            numbered.sort_by_key(|(number, _)| *number);
            self.session.trials = numbered.into_iter().map(|(_, trial)| trial).collect();
        }
    }

    /// The last verdict of each cell that is whole.
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
        // Lines were exchanged: the first one may be whole all the same.
        if first_too {
            lines.go_to(0, 0).map_err(|error| error.at(path, 1))?;
        }
        let mut next_is = Next::Line;
        while next_is == Next::Line {
            let place = Place { start: lines.whole, number: lines.number };
            let Some(bytes) = next(lines, path)? else { break };
            if head.elsewhere != Some(place.number + 1) {
                next_is = reading.line(bytes, place);
            }
        }
        again += 1;
        if next_is == Next::Line || again > 2 {
            break;
        }
        // Found out once each: that there are seals, and another plan.
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
        lines.go_to(after.0, after.1).map_err(|error| error.at(path, after.1 + 1))?;
    }
    if let Some(line) = reading.damage.lost_plan().filter(|_| !reading.settled) {
        let why = "the plan stood there that says what its trials are of".into();
        return Err(SessionError::Damaged { path: path.into(), line, why });
    }
    reading.sort();
    reading.judge(lines, path)?;
    let Reading { mut session, mut judged, mut damage, .. } = reading;
    damage.bad.sort_unstable();
    (damage.mended, damage.moved) = (!head.whole, first_too);
    session.lost = damage.lost();
    rejudge(&mut session, &mut judged);
    tell_stale(&mut session, &judged);
    tell_lost(&mut session);
    Ok((session, damage))
}

fn verdict_at<R: BufRead + Seek>(
    place: Place,
    lines: &mut Lines<R>,
    path: &Path,
) -> Result<Option<Found>, SessionError> {
    lines.go_to(place.start, place.number).map_err(|error| error.at(path, place.number + 1))?;
    let Some(bytes) = next(lines, path)? else { return Ok(None) };
    Ok(match seal::check(bytes) {
        Seal::Whole(_, open) => {
            let mut body = Vec::new();
            seal::unsealed(open, &mut body);
            line::parse(&body).ok()
        }
        Seal::None => line::parse(bytes).ok(),
        Seal::Broken => None,
    })
}

/// Says how much of the file is missing.
fn tell_lost(session: &mut Session) {
    let lines = match session.lost {
        0 => return,
        1 => "1 line".to_string(),
        lost => format!("{lost} lines"),
    };
    session.notes.push(format!(
        "the file of this session is damaged: {lines} of it could not be read, the rest is shown"
    ));
}

/// Takes a line into the session; the error says what is wrong with it.
fn take(session: &mut Session, judged: &mut Vec<u64>, found: Found) -> Result<(), String> {
    let cells = session.plan.cells.len();
    let cell = |cell: u32| match cell as usize {
        index if index < cells => Ok(index),
        _ => Err(format!("cell {cell} is none of the plan's {cells}")),
    };
    match found {
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
        Found::Lost(_) | Found::Other => {}
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

/// Levels from a file that anyone may have written, safe to show: as many as there are, of few
/// readings.
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

/// Judges again, by the same grounds, the cells whose verdict is missing or has not seen their last
/// trials.
fn rejudge(session: &mut Session, judged: &mut [u64]) {
    let Some(grounds) = session.grounds.clone() else { return };
    for (cell, trials) in session.trials_by_cell().into_iter().enumerate() {
        let (seen, are) = (judged[cell], trials.len() as u64);
        // A verdict of trials that are lost says more than can be shown.
        if !trials.is_empty() && (seen < are || (seen != are && session.lost > 0)) {
            let latency = session.verdicts[cell].take().and_then(|v| v.latency);
            session.verdicts[cell] = Some(cleaned(engine::verdict(
                &session.plan.cells[cell],
                &trials,
                latency.as_ref(),
                &grounds,
            )));
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
        session.notes.push(format!(
            "the run was killed: {count} verdicts have not seen the last trials of their cells"
        ));
    }
}

/// What a plan must keep to so that it can be shown and run again. Its texts are cleaned; its paths
/// stay what they are.
pub(super) fn check(plan: &mut Plan) -> Result<(), String> {
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
mod tests;
