//! Keeps a run: one line per event that matters, appended and flushed at once.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::damage::HEADERS;
use super::line::{self, EndLine, Header, Line};
use super::publish::{self, PATIENCE};
use super::sink::Sink;
use super::{Session, SessionError, edit, store};
use crate::engine::moves_data;
use crate::host::Host;
use crate::plan::Plan;
use crate::record::{End, Event, ProbeFindings, Sample, Severity, Trial, Verdict};
use crate::stats::{median, merge_neighbours};
use crate::text::time;

/// The verdict of a cell is rewritten at most so often: its histogram is the longest line.
const VERDICT_EVERY: Duration = Duration::from_secs(10);

/// Writes one session. Whatever the disk does, the run goes on: see [`Recorder::unsaved`].
///
/// Call [`Recorder::event`] between trials: it writes to a disk that may be the one that is
/// measured.
pub struct Recorder {
    dir: PathBuf,
    /// The id that is wanted, and the name, where one is.
    wanted: String,
    asked: Option<String>,
    id: String,
    name: String,
    created: String,
    path: PathBuf,
    /// The first line, with any id and name: a file may have to be made later, or again.
    header: String,
    /// Why there is no file under that path.
    missing: Option<String>,
    sink: Sink<File>,
    plan: Plan,
    cells: Vec<Cell>,
    probes: Vec<Probe>,
    started: Instant,
    verdict_every: Duration,
    ended: bool,
}

/// What is known of a probe's cell.
#[derive(Default)]
struct Probe {
    trials: u64,
    findings: Option<Arc<ProbeFindings>>,
}

/// What is known of a cell and how much of it is in the file.
#[derive(Default)]
struct Cell {
    trials: u64,
    /// Bytes per second of the trials that were not cut short, or of all where all were.
    rates: Vec<f64>,
    cut: bool,
    verdict: Option<Arc<Verdict>>,
    error: Option<String>,
    written: Option<Instant>,
    stale: bool,
}

impl Recorder {
    /// Starts the file of a new session in `dir` (made if need be); `slug` (a name or target)
    /// becomes part of its id.
    ///
    /// A `name` that another session has gets a number: [`Recorder::renamed`].
    ///
    /// # Errors
    /// The folder or file cannot be made or written, or the name is none. No file is left then.
    pub fn create(
        dir: &Path,
        name: Option<&str>,
        slug: &str,
        host: &Host,
        plan: &Plan,
        created: SystemTime,
    ) -> Result<Recorder, SessionError> {
        let mut recorder = Recorder::without_file(dir, name, slug, host, plan, created)?;
        recorder.make(PATIENCE)?;
        Ok(recorder)
    }

    /// As [`Recorder::create`], and where there can be no file now, it is tried again with every
    /// line.
    ///
    /// # Errors
    /// The name is none.
    pub fn create_or_wait(
        dir: &Path,
        name: Option<&str>,
        slug: &str,
        host: &Host,
        plan: &Plan,
        created: SystemTime,
    ) -> Result<Recorder, SessionError> {
        let mut recorder = Recorder::without_file(dir, name, slug, host, plan, created)?;
        recorder.missing = recorder.make(PATIENCE).err().map(|error| error.reason_first());
        Ok(recorder)
    }

    fn without_file(
        dir: &Path,
        name: Option<&str>,
        slug: &str,
        host: &Host,
        plan: &Plan,
        created: SystemTime,
    ) -> Result<Recorder, SessionError> {
        let asked = name.map(store::name).transpose()?;
        let nanos =
            created.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let (wanted, created) = (store::new_id(created, slug), time::utc(created));
        let header = line::bytes(&Header::new(&wanted, "", &created, nanos, host, plan))
            .map_err(|e| SessionError::Json(e.to_string()))?;
        let (cells, probes) = cells(plan);
        Ok(Recorder {
            dir: dir.into(),
            id: wanted.clone(),
            name: asked.clone().unwrap_or_default(),
            path: store::path_of(dir, &wanted),
            wanted,
            asked,
            created,
            header: String::from_utf8_lossy(&header).into_owned(),
            missing: None,
            sink: Sink::sealed(),
            plan: plan.clone(),
            cells,
            probes,
            started: Instant::now(),
            verdict_every: VERDICT_EVERY,
            ended: false,
        })
    }

    /// Makes the file, with what the last one had, where there was one.
    fn make(&mut self, patience: Duration) -> Result<(), SessionError> {
        let mut length = 0;
        let (header, last) = (&self.header, self.sink.file());
        let made = publish::publish(
            &self.dir,
            &self.wanted,
            self.asked.as_deref(),
            patience,
            |to, id, name| {
                let first = edit::replaced(header, Some(id), name)
                    .map_or_else(Vec::new, |first| edit::twice(&first));
                let copied = to.write_all(&first).and_then(|()| {
                    last.map_or(Ok(0), |(last, whole)| edit::append_rest(last, whole, to))
                });
                length = first.len() as u64
                    + copied.map_err(|e| {
                        SessionError::io("write", &store::path_of(&self.dir, id), e)
                    })?;
                Ok(())
            },
        )?;
        (self.id, self.name, self.path) = (made.id, made.name, made.path);
        self.sink.open(made.file, length, HEADERS);
        Ok(())
    }

    /// Makes the file again where it is gone: removed with its folder, or there was no room for it.
    fn mend(&mut self) {
        let gone = match self.sink.file() {
            None => "",
            Some((file, _)) if publish::is_there(file, &self.path) => return self.missing = None,
            Some(_) => "its file was removed: ",
        };
        // A trial waits for this: not long.
        self.missing =
            self.make(Duration::ZERO).err().map(|error| format!("{gone}{}", error.reason_first()));
        if self.missing.is_none() {
            self.sink.flush();
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name it got; empty where none was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether another session had the name that was asked for, so that this one got a number.
    pub fn renamed(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| *asked != self.name)
    }

    /// UTC, RFC 3339.
    pub fn created(&self) -> &str {
        &self.created
    }

    /// Where its file is, or will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a file of it, be it with all of it or not.
    pub fn is_kept(&self) -> bool {
        self.missing.is_none()
    }

    /// Why some of the session is not in its file yet, in words for the user; `None` while all is
    /// well.
    pub fn unsaved(&self) -> Option<String> {
        self.missing.clone().or_else(|| self.sink.unsaved())
    }

    /// Something waits that the disk did not take; [`Recorder::retry`] may still save it.
    pub fn waits(&self) -> bool {
        self.missing.is_some() || self.sink.fails()
    }

    /// Writes what waits, as far as the disk takes it now.
    pub fn retry(&mut self) {
        self.mend();
        self.sink.flush();
        self.tell_lost();
        if self.ended && !self.waits() {
            self.sink.settle();
        }
    }

    /// Keeps what is to be kept of an event: trials, verdicts, errors, notes, the end.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Started { plan, grounds } => {
                self.plan(plan);
                self.line(&Line::Grounds { grounds });
            }
            Event::Trial { trial, samples, .. } => self.trial(trial, samples),
            Event::Calibrated { cell, count, passes, nanos, whole } => {
                let (cell, count, passes, nanos, whole) = (*cell, *count, *passes, *nanos, *whole);
                self.line(&Line::Calibrated { cell, count, passes, nanos, whole });
            }
            Event::Failed { cell, error } => {
                if let Some(known) = self.cells.get_mut(*cell as usize) {
                    known.error = Some(error.clone());
                    self.verdict(*cell as usize);
                }
            }
            Event::Verdict { cell, verdict } => {
                let every = self.verdict_every;
                if let Some(known) = self.cells.get_mut(*cell as usize) {
                    known.verdict = Some(finite(verdict));
                    known.stale = true;
                    if known.written.is_none_or(|at| at.elapsed() >= every) {
                        self.verdict(*cell as usize);
                    }
                }
            }
            Event::Probe { trial } => {
                if let Some(probe) =
                    self.probes.get_mut(trial.cell as usize).filter(|_| trial.is_sound())
                {
                    probe.trials += 1;
                    self.line(&Line::Probe { trial });
                }
            }
            Event::Findings { cell, findings } => self.findings(*cell as usize, findings),
            Event::Levels { levels } => self.line(&Line::Levels { levels }),
            Event::Picked { pick } => self.line(&Line::Pick { pick }),
            Event::Note { text } => self.line(&Line::Note { text }),
            Event::End { reason } => self.finish(*reason),
            Event::Progress(_) | Event::Sample { .. } => {}
        }
    }

    /// Writes the last verdicts and the end line, and waits for the device. A second call does
    /// nothing.
    pub fn finish(&mut self, reason: End) {
        let seconds = (self.started.elapsed().as_secs_f64() * 1e3).round() / 1e3;
        self.finish_after(reason, Some(seconds));
    }

    /// [`Recorder::finish`] of a run that took so long, or where nobody knows.
    fn finish_after(&mut self, reason: End, seconds: Option<f64>) {
        if self.ended {
            return;
        }
        self.mend();
        self.sink.flush();
        self.tell_lost();
        for cell in 0..self.cells.len() {
            if self.cells[cell].stale {
                self.verdict(cell);
            }
        }
        let known = || self.probes.iter().filter_map(|probe| probe.findings.as_ref());
        let judged = self.cells.iter().filter_map(|cell| cell.verdict.as_ref());
        let warnings =
            judged.clone().flat_map(|v| &v.warnings).chain(known().flat_map(|f| &f.warnings));
        let worst = warnings.map(|w| w.severity).max();
        let measured = self
            .cells
            .iter()
            .map(|cell| cell.trials)
            .chain(self.probes.iter().map(|probe| probe.trials));
        let failed = self.cells.iter().filter(|cell| cell.error.is_some()).count()
            + known().filter(|f| f.error.is_some()).count();
        let end = EndLine {
            reason,
            seconds,
            cells: Some(measured.filter(|trials| *trials > 0).count() as u64),
            failed: failed as u64,
            worst: (judged.count() + known().count() > 0).then(|| worst.into()),
            best: self.best(),
        };
        self.push(&Line::End(end), None, true);
        self.ended = true;
        self.sink.settle();
        // The file's name too, where folders can be flushed.
        let _ = File::open(&self.dir).and_then(|dir| dir.sync_all());
    }

    /// Keeps a whole session that another program measured.
    ///
    /// # Errors
    /// Not all of it could be written: no file is left then.
    pub(super) fn whole(mut self, session: &Session) -> Result<(String, PathBuf), SessionError> {
        for trial in &session.trials {
            self.event(&Event::Trial { trial: trial.clone(), samples: Vec::new(), latency: None });
        }
        for (cell, verdict) in (0..).zip(&session.verdicts) {
            if let Some(verdict) = verdict {
                self.event(&Event::Verdict { cell, verdict: Arc::new(verdict.clone()) });
            }
        }
        for (cell, error) in (0..).zip(&session.errors) {
            if let Some(error) = error {
                self.event(&Event::Failed { cell, error: error.clone() });
            }
        }
        session
            .picks
            .iter()
            .for_each(|pick| self.event(&Event::Picked { pick: Arc::new(pick.clone()) }));
        session.notes.iter().for_each(|text| self.event(&Event::Note { text: text.clone() }));
        self.finish_after(session.end.unwrap_or(End::Finished), None);
        let (id, path) = (self.id.clone(), self.path.clone());
        match self.unsaved() {
            None => Ok((id, path)),
            Some(why) => {
                self.discard()?;
                Err(SessionError::io("write", &path, std::io::Error::other(why)))
            }
        }
    }

    /// Removes the file, for a run that measured nothing.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn discard(self) -> Result<(), SessionError> {
        match self.is_kept() {
            true => {
                fs::remove_file(&self.path).map_err(|e| SessionError::io("remove", &self.path, e))
            }
            false => Ok(()),
        }
    }

    /// The engine may run another plan than was asked for; trials count cells in that one.
    fn plan(&mut self, plan: &Plan) {
        if *plan != self.plan
            && self.cells.iter().all(|cell| cell.trials == 0)
            && self.probes.iter().all(|probe| probe.trials == 0)
        {
            // Without it nobody knows what the trials are of: twice, for the day that a line is
            // damaged.
            self.line(&Line::Plan { plan });
            self.line(&Line::Plan { plan });
            self.plan = plan.clone();
            (self.cells, self.probes) = cells(plan);
        }
    }

    fn trial(&mut self, trial: &Trial, samples: &[Sample]) {
        // A line for a cell that is not there would make the file unreadable.
        let Some(cell) = self.cells.get_mut(trial.cell as usize) else { return };
        cell.trials += 1;
        if !trial.short && std::mem::take(&mut cell.cut) {
            cell.rates.clear();
        }
        cell.cut |= trial.short && cell.rates.is_empty();
        if !trial.short || cell.cut {
            cell.rates.push(trial.throughput());
        }
        let mut samples = samples.to_vec();
        merge_neighbours(&mut samples, Sample::MOST, Sample::with);
        self.line(&Line::Trial { trial, samples: &samples });
    }

    fn findings(&mut self, cell: usize, findings: &Arc<ProbeFindings>) {
        let Some(probe) = self.probes.get_mut(cell) else { return };
        let mut kept = ProbeFindings::clone(findings);
        kept.estimate = kept.estimate.filter(|of| of.low.is_finite() && of.high.is_finite());
        probe.findings = Some(findings.clone());
        self.line(&Line::Findings { cell, findings: &kept });
    }

    fn verdict(&mut self, cell: usize) {
        let Some(known) = self.cells.get_mut(cell) else { return };
        (known.written, known.stale) = (Some(Instant::now()), false);
        let (trials, verdict, error) = (known.trials, known.verdict.clone(), known.error.clone());
        if !self.ended {
            let line = Line::Verdict {
                cell,
                trials,
                verdict: verdict.as_deref(),
                error: error.as_deref(),
            };
            self.push(&line, Some(cell), false);
        }
    }

    /// The highest median throughput that no warning says to be wrong.
    fn best(&self) -> Option<f64> {
        let wrong = |verdict: &Arc<Verdict>| {
            verdict.warnings.iter().any(|warning| warning.severity == Severity::Wrong)
        };
        let trusted = self
            .cells
            .iter()
            .zip(&self.plan.cells)
            .filter(|(cell, job)| moves_data(job) && !cell.verdict.as_ref().is_some_and(wrong));
        let medians = trusted.filter_map(|(cell, _)| median(&cell.rates));
        medians.filter(|median| *median > 0.0).reduce(f64::max)
    }

    fn line(&mut self, line: &Line) {
        if !self.ended {
            self.push(line, None, false);
        }
    }

    /// Writes a line, in the place of one that waits `on` the same cell.
    fn push(&mut self, line: &Line, on: Option<usize>, must: bool) {
        // Lines after the first hold no text that JSON cannot: only a path can fail, and the first
        // line had it.
        if let Ok(bytes) = line::bytes(line) {
            self.sink.push(bytes, on, must);
        }
        self.mend();
        self.tell_lost();
    }

    /// A note in the file of the lines that are missing from it, once it takes lines again.
    fn tell_lost(&mut self) {
        let Some(lost) = self.sink.take_dropped() else { return };
        let text = format!("{lost} lines of this session were lost: its file could not be written");
        if let Ok(bytes) = line::bytes(&Line::Note { text: &text }) {
            self.sink.push(bytes, None, true);
        }
    }
}

fn cells(plan: &Plan) -> (Vec<Cell>, Vec<Probe>) {
    (
        plan.cells.iter().map(|_| Cell::default()).collect(),
        plan.probes.iter().map(|_| Probe::default()).collect(),
    )
}

/// JSON has no infinity: it becomes null, which is no number when the file is loaded again.
fn finite(verdict: &Arc<Verdict>) -> Arc<Verdict> {
    let source = verdict.source.is_none_or(|s| {
        [s.device, s.page_cache, s.hole, s.unknown].iter().all(|share| share.is_finite())
    });
    let latency = verdict.latency.as_ref().is_none_or(|l| l.mean.is_finite() && l.max.is_finite());
    if source && latency {
        return verdict.clone();
    }
    let mut verdict = Verdict::clone(verdict);
    verdict.source = verdict.source.filter(|_| source);
    verdict.latency = verdict.latency.filter(|_| latency);
    verdict.into()
}

#[cfg(test)]
mod tests;
