//! Records a run: one line per event that matters, appended and flushed at once.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

use super::damage::HEADERS;
use super::end_line::end_line;
use super::line::{self, Header, VerdictLine};
use super::publish::{self, LOCK_TIMEOUT};
use super::sink::Sink;
use super::{Session, SessionError, header_line, naming};
use crate::facts::Host;
use crate::plan::Plan;
use crate::record::{End, Event, Latency, ProbeFindings, Sample, Trial, Verdict};
use crate::stats::merge_neighbours;
use crate::text::time;
use crate::units::{counted, verb};
use iotui_files::file_lock;

/// Least time between two verdicts of a cell in the file: its histogram is the longest line.
const VERDICT_INTERVAL: Duration = Duration::from_secs(10);

/// Writes one session. Whatever the disk does, the run continues: see [`Recorder::unsaved`].
///
/// Call [`Recorder::record`] between trials: it writes to a disk that may be the one under test.
/// Only pieces of the log of a long trial are written while it runs.
pub struct Recorder {
    dir: PathBuf,
    /// The requested id and name; [`Recorder::session`] has the granted ones.
    requested_id: String,
    requested_name: Option<String>,
    path: PathBuf,
    /// The first line, with any id and name: the file may have to be created later or again.
    header: String,
    /// Why that path has no file yet.
    missing: Option<String>,
    sink: Sink<File>,
    session: Session,
    /// Per cell.
    verdicts: Vec<VerdictState>,
    started: Instant,
    verdict_interval: Duration,
    ended: bool,
    /// Rewrites each event before it is written.
    rewrite: Option<Rewrite>,
    /// The file is complete and belongs to its user: it may be renamed or deleted, and is not
    /// created again.
    released: bool,
}

/// Returns the event to write instead of another one.
pub type Rewrite = Box<dyn FnMut(&Event) -> Event + Send>;

/// The data of a cell that is already in the file.
#[derive(Default, Clone)]
struct VerdictState {
    trials: u64,
    written: Option<Instant>,
    stale: bool,
}

/// The names of a new session, and what it is a run of.
pub struct NewSession<'a> {
    /// A name that another session has gets a number: [`Recorder::renamed`].
    pub name: Option<&'a str>,
    /// A name or target, which becomes part of the id.
    pub slug: &'a str,
    pub host: &'a Host,
    pub plan: &'a Plan,
    pub created: SystemTime,
}

impl Recorder {
    /// Starts the file of a new session in `dir`, which is created if it is missing.
    ///
    /// # Errors
    /// The folder or file cannot be created or written, or the name is invalid. No file is left
    /// then.
    pub fn create(dir: &Path, new: &NewSession) -> Result<Recorder, SessionError> {
        let mut recorder = Recorder::without_file(dir, new)?;
        recorder.make(LOCK_TIMEOUT)?;
        Ok(recorder)
    }

    /// Creates like [`Recorder::create`]; if the file cannot be created now, each further line
    /// tries again.
    ///
    /// # Errors
    /// The name is invalid.
    pub fn create_or_wait(dir: &Path, new: &NewSession) -> Result<Recorder, SessionError> {
        let mut recorder = Recorder::without_file(dir, new)?;
        recorder.missing = recorder.make(LOCK_TIMEOUT).err().map(|error| error.reason_first());
        Ok(recorder)
    }

    fn without_file(dir: &Path, new: &NewSession) -> Result<Recorder, SessionError> {
        let &NewSession { name, slug, host, plan, created } = new;
        let requested_name = name.map(naming::check_name).transpose()?;
        let since_epoch = created.duration_since(SystemTime::UNIX_EPOCH);
        let nanos = since_epoch.map_or(0, |since| since.subsec_nanos());
        let id = naming::new_id(created, slug);
        let created = time::utc(created);
        let header = line::bytes(&Header::new(&id, "", &created, nanos, host, plan))?;
        let name = requested_name.clone().unwrap_or_default();
        Ok(Recorder {
            dir: dir.into(),
            path: naming::path_of(dir, &id),
            requested_id: id.clone(),
            requested_name,
            header: String::from_utf8_lossy(&header).into_owned(),
            missing: None,
            sink: Sink::sealed(),
            session: Session::new(id, name, created, host.clone(), plan.clone()),
            verdicts: vec![VerdictState::default(); plan.cells.len()],
            started: Instant::now(),
            verdict_interval: VERDICT_INTERVAL,
            ended: false,
            rewrite: None,
            released: false,
        })
    }

    /// Creates the file, with the content of the previous one if there was one.
    fn make(&mut self, patience: Duration) -> Result<(), SessionError> {
        let mut length = 0;
        let (header, last) = (&self.header, self.sink.file());
        let made = publish::publish(
            &self.dir,
            &self.requested_id,
            self.requested_name.as_deref(),
            patience,
            |to, id, name| {
                let first = header_line::replace_values(header, Some(id), name)
                    .map_or_else(Vec::new, |first| header_line::seal_twice(&first));
                let copied = to.write_all(&first).and_then(|()| {
                    last.map_or(Ok(0), |(last, whole)| header_line::copy_rest(last, whole, to))
                });
                length = first.len() as u64
                    + copied.map_err(|e| {
                        SessionError::io("write", &naming::path_of(&self.dir, id), e)
                    })?;
                Ok(())
            },
        )?;
        self.session.id = made.id;
        self.session.name = made.name;
        self.path = made.path;
        self.sink.open(made.file, length, HEADERS);
        Ok(())
    }

    /// Creates the file again if it is missing: removed with its folder, or no space was left.
    fn mend(&mut self) {
        let gone = match self.sink.file() {
            None => "",
            Some((file, _)) if publish::is_there(file, &self.path) => return self.missing = None,
            Some(_) => "its file was removed: ",
        };
        // A trial waits for this, so the timeout is short.
        self.missing =
            self.make(Duration::ZERO).err().map(|error| format!("{gone}{}", error.reason_first()));
        if self.missing.is_none() {
            self.sink.flush();
        }
    }

    pub fn id(&self) -> &str {
        &self.session.id
    }

    /// Returns the name it got; empty if none was requested.
    pub fn name(&self) -> &str {
        &self.session.name
    }

    /// Returns whether another session had the requested name, so that this one got a
    /// number.
    pub fn renamed(&self) -> bool {
        self.requested_name.as_ref().is_some_and(|name| *name != self.session.name)
    }

    /// Returns the time of creation: UTC, RFC 3339.
    pub fn created(&self) -> &str {
        &self.session.created
    }

    /// Returns where its file is, or will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether it has a file, complete or not.
    pub fn is_kept(&self) -> bool {
        self.missing.is_none()
    }

    /// Returns why some of the session is not in its file yet; `None` if everything is.
    pub fn unsaved(&self) -> Option<String> {
        self.missing.clone().or_else(|| self.sink.unsaved())
    }

    /// Returns whether lines wait that the disk did not accept; [`Recorder::retry`] may still save
    /// them.
    pub fn waits(&self) -> bool {
        self.missing.is_some() || self.sink.fails()
    }

    /// Writes the waiting lines, as far as the disk accepts them now.
    pub fn retry(&mut self) {
        if self.released {
            return;
        }
        self.mend();
        self.sink.flush();
        self.note_lost();
        if self.ended && !self.waits() {
            self.sink.settle();
        }
        self.release();
    }

    /// Releases the lock of a complete file.
    fn release(&mut self) {
        if !self.ended || self.waits() {
            return;
        }
        if let Some((file, _)) = self.sink.file() {
            file_lock::unlock(file);
        }
        self.released = true;
    }

    /// Has each further event rewritten.
    pub fn rewrite(&mut self, with: Rewrite) {
        self.rewrite = Some(with);
    }

    /// Writes the recorded parts of an event: the plan, trials, verdicts, errors, notes, the end.
    pub fn record(&mut self, event: &Event) {
        if self.ended {
            return;
        }
        let rewritten = self.rewrite.as_mut().map(|rewrite| rewrite(event));
        let event = rewritten.as_ref().unwrap_or(event);
        match event {
            Event::End { reason, seconds } => {
                return self.finish_after(*reason, seconds.or(Some(self.elapsed_seconds())));
            }
            Event::Plan { plan } => self.record_plan(plan, event),
            _ => {}
        }
        self.session.apply(event);
        match event {
            Event::Trial { trial, samples, .. } => self.record_trial(trial, samples),
            Event::Failed { cell, .. } => self.record_verdict(*cell as usize),
            Event::Verdict { cell, .. } => self.record_verdict_in_time(*cell as usize),
            Event::Probe { trial } if self.has_probe(trial.cell) && trial.is_sound() => {
                self.line(event);
            }
            Event::Findings { cell, findings } if self.has_probe(*cell) => {
                let findings = Arc::new(finite_findings(findings));
                self.line(&Event::Findings { cell: *cell, findings });
            }
            Event::Latencies { log } | Event::Running { log } if self.has_cell(log.cell) => {
                self.line(event);
            }
            Event::Begun { trial } if self.has_cell(trial.cell) => self.line(event),
            Event::Skipped { cell } if self.session.skipped.contains(cell) => self.line(event),
            Event::Grounds { .. }
            | Event::Calibrated { .. }
            | Event::Levels { .. }
            | Event::Picked { .. }
            | Event::Note { .. } => self.line(event),
            _ => {}
        }
    }

    fn has_cell(&self, cell: u32) -> bool {
        (cell as usize) < self.session.plan.cells.len()
    }

    fn has_probe(&self, cell: u32) -> bool {
        (cell as usize) < self.session.plan.probes.len()
    }

    /// Writes the last verdicts and the end line, and waits for the device. A second call does
    /// nothing.
    pub fn finish(&mut self, reason: End) {
        self.finish_after(reason, Some(self.elapsed_seconds()));
    }

    fn elapsed_seconds(&self) -> f64 {
        (self.started.elapsed().as_secs_f64() * 1e3).round() / 1e3
    }

    /// Finishes like [`Recorder::finish`]; `seconds` is the duration of the run, if known.
    fn finish_after(&mut self, reason: End, seconds: Option<f64>) {
        if self.ended {
            return;
        }
        self.mend();
        self.sink.flush();
        self.note_lost();
        for cell in 0..self.verdicts.len() {
            if self.verdicts[cell].stale {
                self.record_verdict(cell);
            }
        }
        self.session.apply(&Event::End { reason, seconds });
        let end = end_line(&self.session, seconds);
        self.push(&end, None, true);
        self.ended = true;
        self.sink.settle();
        // The directory entry too, if the file system can sync folders.
        let _ = File::open(&self.dir).and_then(|dir| dir.sync_all());
        self.release();
    }

    /// Writes a session that another program measured; returns its id and path.
    ///
    /// # Errors
    /// The session could not be written completely: no file is left then.
    pub(super) fn record_all(
        mut self,
        session: &Session,
    ) -> Result<(String, PathBuf), SessionError> {
        for trial in &session.trials {
            let trial = Arc::clone(trial);
            self.record(&Event::Trial { trial, samples: Vec::new(), latency: None });
        }
        for (cell, verdict) in (0..).zip(&session.verdicts) {
            if let Some(verdict) = verdict {
                self.record(&Event::Verdict { cell, verdict: Arc::clone(verdict) });
            }
        }
        for (cell, error) in (0..).zip(&session.errors) {
            if let Some(error) = error {
                self.record(&Event::Failed { cell, error: error.clone() });
            }
        }
        for pick in &session.picks {
            self.record(&Event::Picked { pick: Arc::new(pick.clone()) });
        }
        for text in &session.notes {
            self.record(&Event::Note { text: text.clone() });
        }
        self.finish_after(session.end.unwrap_or(End::Finished), None);
        match self.unsaved() {
            None => Ok((self.session.id, self.path)),
            Some(why) => {
                let path = self.path.clone();
                self.discard()?;
                Err(SessionError::io("write", &path, std::io::Error::other(why)))
            }
        }
    }

    /// Removes the file, for a run that measured nothing; nothing is written any more.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn discard(&mut self) -> Result<(), SessionError> {
        (self.ended, self.released) = (true, true);
        if self.is_kept() {
            fs::remove_file(&self.path).map_err(|e| SessionError::io("remove", &self.path, e))?;
        }
        Ok(())
    }

    /// Returns whether there is nothing to save: no trial, and no cell that failed.
    pub fn is_empty(&self) -> bool {
        self.session.is_empty()
    }

    /// Records the plan that the engine runs, which may differ from that of the header; the cell
    /// numbers of trials refer to it.
    fn record_plan(&mut self, plan: &Plan, event: &Event) {
        if *plan != self.session.plan && !self.session.has_trials() {
            // Twice, in case a line is damaged: without it, trials have no meaning.
            self.line(event);
            self.line(event);
            self.verdicts = vec![VerdictState::default(); plan.cells.len()];
        }
    }

    fn record_trial(&mut self, trial: &Arc<Trial>, samples: &[Sample]) {
        // A line for a cell that the plan lacks would make the file unreadable.
        let Some(state) = self.verdicts.get_mut(trial.cell as usize) else { return };
        state.trials += 1;
        let mut samples = samples.to_vec();
        merge_neighbours(&mut samples, Sample::MAX_PER_TRIAL, Sample::merge);
        self.line(&Event::Trial { trial: Arc::clone(trial), samples, latency: None });
    }

    /// Writes a verdict, unless the last one of the cell was written a moment ago.
    fn record_verdict_in_time(&mut self, cell: usize) {
        let Some(state) = self.verdicts.get_mut(cell) else { return };
        state.stale = true;
        if state.written.is_none_or(|at| at.elapsed() >= self.verdict_interval) {
            self.record_verdict(cell);
        }
    }

    fn record_verdict(&mut self, cell: usize) {
        let Some(state) = self.verdicts.get_mut(cell) else { return };
        state.written = Some(Instant::now());
        state.stale = false;
        let trials = state.trials;
        let verdict = self.session.verdicts[cell].as_ref().map(finite_verdict);
        let error = self.session.errors[cell].clone();
        self.push(&VerdictLine { cell: cell as u32, trials, verdict, error }, Some(cell), false);
    }

    fn line(&mut self, line: &impl Serialize) {
        if !self.ended {
            self.push(line, None, false);
        }
    }

    /// Writes a line, replacing a waiting one with the same key `on`.
    fn push(&mut self, line: &impl Serialize, on: Option<usize>, must: bool) {
        // Only a path can be text that JSON cannot hold, and only the first line has one, so
        // writing a later line cannot fail.
        if let Ok(bytes) = line::bytes(line) {
            self.sink.push(bytes, on, must);
        }
        self.mend();
        self.note_lost();
    }

    /// Writes a note about the lines that are missing from the file, once it accepts lines again.
    fn note_lost(&mut self) {
        let Some(lost) = self.sink.take_dropped() else { return };
        let text = format!(
            "{} of this session {} lost: its file could not be written",
            counted(lost as usize, "line"),
            verb(lost as usize, "was", "were")
        );
        if let Ok(bytes) = line::bytes(&Event::Note { text }) {
            self.sink.push(bytes, None, true);
        }
    }
}

/// Returns the findings without an infinite estimate: JSON has no infinity.
pub fn finite_findings(findings: &ProbeFindings) -> ProbeFindings {
    let mut findings = findings.clone();
    if findings.estimate.as_ref().is_some_and(|e| !(e.low.is_finite() && e.high.is_finite())) {
        findings.estimate = None;
    }
    findings
}

/// Returns the verdict without infinities: JSON has none and would write null, which is not a
/// number when loaded.
pub fn finite_verdict(verdict: &Arc<Verdict>) -> Arc<Verdict> {
    let source = verdict.source.is_none_or(|s| {
        [s.device, s.page_cache, s.hole, s.unknown, s.below].iter().all(|share| share.is_finite())
    });
    let is_finite = |of: &Latency| of.mean.is_finite() && of.max.is_finite();
    let latency = verdict.latency.as_ref().is_none_or(is_finite);
    let commits = verdict.commits.as_ref().is_none_or(|of| {
        let parts = of.write.iter().chain(&of.sync);
        parts.chain([&of.total]).all(is_finite)
    });
    let durability = verdict.durability.as_ref().is_none_or(|of| {
        let figures = [of.flushes, of.flush_nanos, of.amplification];
        figures.into_iter().flatten().all(f64::is_finite)
    });
    if source && latency && commits && durability {
        return verdict.clone();
    }
    let mut verdict = Verdict::clone(verdict);
    verdict.source = verdict.source.filter(|_| source);
    verdict.latency = verdict.latency.filter(|_| latency);
    verdict.commits = verdict.commits.filter(|_| commits);
    verdict.durability = verdict.durability.filter(|_| durability);
    verdict.into()
}

#[cfg(test)]
mod tests;
