//! Keeps a run: one line per event that matters, appended and flushed at once.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::line::{self, EndLine, Header, Line};
use super::sink::Sink;
use super::{SessionError, edit, result, store, time};
use crate::host::Host;
use crate::plan::Plan;
use crate::record::{End, Event, Sample, Trial, Verdict};
use crate::stats::merge_neighbours;

/// The verdict of a cell is rewritten at most so often: its histogram is the longest line.
const VERDICT_EVERY: Duration = Duration::from_secs(10);

/// Writes one session. Whatever the disk does, the run goes on: see [`Recorder::unsaved`].
///
/// Call [`Recorder::event`] between trials: it writes to a disk that may be the one that is measured.
pub struct Recorder {
    id: String,
    name: String,
    renamed: bool,
    created: String,
    path: PathBuf,
    sink: Sink<File>,
    plan: Plan,
    cells: Vec<Cell>,
    started: Instant,
    verdict_every: Duration,
    ended: bool,
}

/// What is known of a cell and how much of it is in the file.
#[derive(Default)]
struct Cell {
    trials: Vec<Arc<Trial>>,
    verdict: Option<Arc<Verdict>>,
    error: Option<String>,
    written: Option<Instant>,
    stale: bool,
}

impl Recorder {
    /// Starts the file of a new session in `dir` (made if need be); `slug` (a name or target) becomes part of its id.
    ///
    /// A `name` that another session has gets a number: [`Recorder::renamed`].
    ///
    /// # Errors
    /// The folder or file cannot be made or written, or the name is none. No file is left then. A full disk is none of
    /// these: all lines wait for it, the first one too.
    pub fn create(
        dir: &Path,
        name: Option<&str>,
        slug: &str,
        host: &Host,
        plan: &Plan,
        created: SystemTime,
    ) -> Result<Recorder, SessionError> {
        store::make_folder(dir)?;
        let kept = name.map(|name| store::free_name(dir, name, None)).transpose()?.unwrap_or_default();
        let renamed = name.is_some_and(|name| store::name(name).is_ok_and(|name| name != kept));
        let (id, path, file) = store::make_file(dir, &store::new_id(created, slug))?;
        // Held as long as the file is open, so that nobody renames or deletes it under the recorder.
        edit::lock(&file);
        let created = time::utc(created);
        let mut sink = Sink::new(file);
        let started = line::bytes(&Header::new(&id, &kept, &created, host, plan))
            .map_err(|e| SessionError::Json(e.to_string()))
            .and_then(|header| begin(&mut sink, header).map_err(|e| SessionError::io("write", &path, e)));
        started.inspect_err(|_| drop(fs::remove_file(&path)))?;
        let cells = plan.cells.iter().map(|_| Cell::default()).collect();
        Ok(Recorder {
            id,
            name: kept,
            renamed,
            created,
            path,
            sink,
            plan: plan.clone(),
            cells,
            started: Instant::now(),
            verdict_every: VERDICT_EVERY,
            ended: false,
        })
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
        self.renamed
    }

    /// UTC, RFC 3339.
    pub fn created(&self) -> &str {
        &self.created
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why some of the session is not in its file yet, in words for the user; `None` while all is well.
    pub fn unsaved(&self) -> Option<String> {
        self.sink.unsaved()
    }

    /// Something waits that the disk did not take; [`Recorder::retry`] may still save it.
    pub fn waits(&self) -> bool {
        self.sink.fails()
    }

    /// Writes what waits, as far as the disk takes it now.
    pub fn retry(&mut self) {
        self.sink.flush();
        self.tell_lost();
        if self.sink.is_flushed() {
            self.sink.settle();
        }
    }

    /// One last attempt to save what waits. A file that never took a byte is removed: it would be a session that nobody
    /// can read.
    pub fn leave(&mut self) {
        if self.waits() {
            self.retry();
        }
        if self.sink.is_empty() {
            let _ = fs::remove_file(&self.path);
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
            Event::Note { text } => self.line(&Line::Note { text }),
            Event::End { reason } => self.finish(*reason),
            Event::Progress(_) | Event::Sample { .. } => {}
        }
    }

    /// Writes the last verdicts and the end line, and waits for the device. A second call does nothing.
    pub fn finish(&mut self, reason: End) {
        if self.ended {
            return;
        }
        self.sink.flush();
        self.tell_lost();
        for cell in 0..self.cells.len() {
            if self.cells[cell].stale {
                self.verdict(cell);
            }
        }
        let judged = self.cells.iter().filter_map(|cell| cell.verdict.as_ref());
        let end = EndLine {
            reason,
            seconds: Some((self.started.elapsed().as_secs_f64() * 1e3).round() / 1e3),
            cells: Some(self.cells.iter().filter(|cell| !cell.trials.is_empty()).count() as u64),
            failed: self.cells.iter().filter(|cell| cell.error.is_some()).count() as u64,
            worst: judged.clone().next().map(|_| judged.flat_map(|v| &v.warnings).map(|w| w.severity).max().into()),
            best: self.best(),
        };
        self.push(&Line::End(end), true);
        self.ended = true;
        self.sink.settle();
    }

    /// Removes the file, for a run that measured nothing.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn discard(self) -> Result<(), SessionError> {
        fs::remove_file(&self.path).map_err(|e| SessionError::io("remove", &self.path, e))
    }

    /// The engine may run another plan than was asked for; trials count cells in that one.
    fn plan(&mut self, plan: &Plan) {
        if *plan != self.plan && self.cells.iter().all(|cell| cell.trials.is_empty()) {
            self.line(&Line::Plan { plan });
            self.plan = plan.clone();
            self.cells = plan.cells.iter().map(|_| Cell::default()).collect();
        }
    }

    fn trial(&mut self, trial: &Arc<Trial>, samples: &[Sample]) {
        // A line for a cell that is not there would make the file unreadable.
        let Some(cell) = self.cells.get_mut(trial.cell as usize) else { return };
        cell.trials.push(Arc::clone(trial));
        let mut samples = samples.to_vec();
        merge_neighbours(&mut samples, Sample::MOST, Sample::with);
        self.line(&Line::Trial { trial, samples: &samples });
    }

    fn verdict(&mut self, cell: usize) {
        let Some(known) = self.cells.get_mut(cell) else { return };
        (known.written, known.stale) = (Some(Instant::now()), false);
        let (trials, verdict, error) = (known.trials.len() as u64, known.verdict.clone(), known.error.clone());
        self.line(&Line::Verdict { cell, trials, verdict: verdict.as_deref(), error: error.as_deref() });
    }

    /// The highest median throughput that no warning says to be wrong.
    fn best(&self) -> Option<f64> {
        let measured = self.cells.iter().zip(&self.plan.cells).filter(|(cell, _)| !cell.trials.is_empty());
        let results = measured.map(|(cell, job)| result(job, cell.trials.clone(), cell.verdict.as_deref(), None));
        let trusted = results.filter(|result| result.wrong().is_none()).filter_map(|result| result.throughput);
        trusted.map(|of| of.summary.median).filter(|median| median.is_finite()).reduce(f64::max)
    }

    fn line(&mut self, line: &Line) {
        if !self.ended {
            self.push(line, false);
        }
    }

    fn push(&mut self, line: &Line, must: bool) {
        // Lines after the first hold no text that JSON cannot: only a path can fail, and the first line had it.
        if let Ok(bytes) = line::bytes(line) {
            self.sink.push(bytes, must);
        }
        self.tell_lost();
    }

    /// A note in the file of the lines that are missing from it, once it takes lines again.
    fn tell_lost(&mut self) {
        let Some(lost) = self.sink.take_dropped() else { return };
        let text = format!("{lost} lines of this session were lost: its file could not be written");
        if let Ok(bytes) = line::bytes(&Line::Note { text: &text }) {
            self.sink.push(bytes, true);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The first line; on a full disk it waits.
fn begin(sink: &mut Sink<File>, header: Vec<u8>) -> io::Result<()> {
    match sink.begin(&header) {
        Err(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
            sink.push(header, true);
            Ok(())
        }
        begun => begun,
    }
}

/// JSON has no infinity: it becomes null, which is no number when the file is loaded again.
fn finite(verdict: &Arc<Verdict>) -> Arc<Verdict> {
    let source = verdict.source.is_none_or(|s| [s.device, s.page_cache, s.hole, s.unknown].iter().all(|share| share.is_finite()));
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
#[path = "tests/write.rs"]
mod tests;
