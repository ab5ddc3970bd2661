//! A session in memory: how it grows with the engine's events.

use std::collections::HashMap;
use std::sync::Arc;

use crate::facts::Host;
use crate::plan::Plan;
use crate::record::{
    Begun, EncodedLog, End, Event, Grounds, HostSummary, Latency, LatencyLog, Level, LogEntry,
    Pick, ProbeFindings, ProbeTrial, Severity, Trial, Verdict, Warning, histogram_of,
};

/// One run of one plan, as loaded or while it grows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    pub id: String,
    pub name: String,
    /// UTC, RFC 3339: `2026-11-21T09:30:11Z`.
    pub created: String,
    pub host: Host,
    pub plan: Plan,
    /// The facts that verdicts are based on; `None` before the target was ready.
    pub grounds: Option<Grounds>,
    pub trials: Vec<Arc<Trial>>,
    /// The latencies of trials over time; fewer if the others are unknown.
    pub latencies: Vec<Arc<EncodedLog>>,
    /// The trial that runs, or ran when the run was killed, if it is a long one.
    pub begun: Option<Begun>,
    /// Per cell, if a verdict was written or could be computed.
    pub verdicts: Vec<Option<Arc<Verdict>>>,
    /// Per cell, why it failed.
    pub errors: Vec<Option<String>>,
    /// The cells that the user took out of the run.
    pub skipped: Vec<u32>,
    pub probe_trials: Vec<ProbeTrial>,
    /// Per probe cell.
    pub probe_findings: Vec<ProbeFindings>,
    /// The cost of each cache-drop level; empty unless requested.
    pub levels: Vec<Level>,
    /// Which of several methods was picked, and why.
    pub picks: Vec<Pick>,
    pub notes: Vec<String>,
    /// Lines of its file that are damaged or missing.
    pub lost: u64,
    /// The machine of a reference, whose figures are as reported. `None` for a session of iotui.
    pub reference: Option<&'static str>,
    /// The machine was not set back to the first variant (`--between`).
    pub unrestored: bool,
    /// `None`: the file ends without its end line, so the run was interrupted.
    pub end: Option<End>,
    /// Duration of the run; `None` if its end is missing or does not record it.
    pub seconds: Option<f64>,
}

/// The trials of each cell whose latencies over time are known, with the lines of these.
#[derive(Default)]
pub struct CellLogs<'a>(HashMap<u32, Vec<TrialLines<'a>>>);

type TrialLines<'a> = (&'a Arc<Trial>, Vec<&'a EncodedLog>);

impl CellLogs<'_> {
    /// Returns the time of the trials of a cell, nanoseconds.
    pub fn nanos(&self, cell: u32) -> u64 {
        let nanos = self.0.get(&cell).into_iter().flatten().map(|(trial, _)| trial.nanos);
        nanos.fold(0, u64::saturating_add)
    }

    /// Returns the trials of a cell with their logs.
    pub fn decode(&self, cell: u32) -> impl Iterator<Item = (&Trial, LatencyLog)> {
        self.decode_within(cell, LatencyLog::MAX_READ)
    }

    /// The same with at most this many entries of each.
    pub fn decode_within(
        &self,
        cell: u32,
        most: usize,
    ) -> impl Iterator<Item = (&Trial, LatencyLog)> {
        let all = self.0.get(&cell).into_iter().flatten();
        all.filter_map(move |(trial, lines)| {
            Some((trial.as_ref(), LatencyLog::decode_within(lines.iter().copied(), most)?))
        })
    }
}

impl Session {
    /// Returns the other machine of the network probes, as it reported itself.
    pub fn far(&self) -> Option<&HostSummary> {
        self.probe_findings.iter().find_map(|findings| findings.far.as_ref())
    }

    /// Returns the programs that measured, with their versions; empty if that was not recorded.
    pub fn programs(&self) -> &[String] {
        self.grounds.as_ref().map_or(&[], |grounds| &grounds.programs)
    }

    /// Creates a session without results. An empty `id` means that it is not saved.
    pub fn new(id: String, name: String, created: String, host: Host, plan: Plan) -> Session {
        Session {
            id,
            name,
            created,
            host,
            verdicts: vec![None; plan.cells.len()],
            errors: vec![None; plan.cells.len()],
            probe_findings: vec![ProbeFindings::default(); plan.probes.len()],
            plan,
            ..Session::default()
        }
    }

    /// Returns whether it shows nothing: no trial, no method that was tried, and no failed cell.
    pub fn is_empty(&self) -> bool {
        !self.has_trials()
            && self.begun.is_none()
            && self.picks.is_empty()
            && self.levels.is_empty()
            && self.errors.iter().all(Option::is_none)
            && self.probe_findings.iter().all(|findings| findings.error.is_none())
    }

    /// Adds an event. All sessions are built by this function: while a run is recorded, watched or
    /// shown, and when its file is loaded. Events of cells that are not in the plan are ignored.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Plan { plan } if !self.has_trials() => self.replace_plan(Plan::clone(plan)),
            Event::Grounds { grounds } => self.grounds = Some(Grounds::clone(grounds)),
            Event::Trial { trial, .. } if (trial.cell as usize) < self.plan.cells.len() => {
                self.begun.take_if(|begun| (begun.cell, begun.round) == (trial.cell, trial.round));
                self.trials.push(Arc::clone(trial))
            }
            Event::Begun { trial } if (trial.cell as usize) < self.plan.cells.len() => {
                let Begun { cell, round, .. } = *trial;
                self.latencies.retain(|log| (log.cell, log.round) != (cell, round));
                self.begun = Some(*trial);
            }
            Event::Latencies { log } | Event::Running { log }
                if (log.cell as usize) < self.plan.cells.len() =>
            {
                self.latencies.push(Arc::clone(log))
            }
            Event::Failed { cell, error } => {
                if let Some(slot) = self.errors.get_mut(*cell as usize) {
                    *slot = Some(error.clone());
                }
            }
            Event::Verdict { cell, verdict } => {
                if let Some(slot) = self.verdicts.get_mut(*cell as usize) {
                    *slot = Some(Arc::clone(verdict));
                }
            }
            Event::Skipped { cell }
                if (*cell as usize) < self.plan.cells.len() && !self.skipped.contains(cell) =>
            {
                self.skipped.push(*cell);
            }
            Event::Probe { trial } if (trial.cell as usize) < self.plan.probes.len() => {
                self.probe_trials.push(*trial)
            }
            Event::Findings { cell, findings } => {
                if let Some(slot) = self.probe_findings.get_mut(*cell as usize) {
                    *slot = ProbeFindings::clone(findings);
                }
            }
            Event::Levels { levels } => self.levels.clone_from(levels),
            Event::Picked { pick }
                if pick.cells().all(|cell| (cell as usize) < self.plan.cells.len()) =>
            {
                self.picks.push(Pick::clone(pick));
            }
            Event::Note { text } => self.notes.push(text.clone()),
            Event::Unrestored => self.unrestored = true,
            Event::End { reason, seconds } => {
                self.keep_begun();
                (self.end, self.seconds) = (Some(*reason), *seconds);
            }
            _ => {}
        }
    }

    /// Adds the trial that had begun, as far as its log goes: the run ended without it.
    pub(super) fn keep_begun(&mut self) {
        let Some(begun) = self.begun.take() else { return };
        let is_own = |log: &&Arc<EncodedLog>| (log.cell, log.round) == (begun.cell, begun.round);
        let lines = self.latencies.iter().filter(is_own).map(|log| &**log);
        let trial = LatencyLog::decode(lines).and_then(|log| begun.cut_trial(&log));
        self.trials.extend(trial.map(Arc::new));
    }

    /// Returns the latencies of a cell whose only trial is cut, and its service times, from its
    /// log.
    pub(super) fn latency_of_cut(
        &self,
        trials: &[Arc<Trial>],
    ) -> (Option<Latency>, Option<Latency>) {
        let [trial] = trials else { return (None, None) };
        let log = trial.short.then(|| self.logs_by_cell().decode(trial.cell).next().map(|of| of.1));
        let Some(log) = log.flatten() else { return (None, None) };
        let latency = |of: fn(&LogEntry) -> &Vec<(u16, u32)>| {
            let all = histogram_of(log.entries().iter().flat_map(of));
            Latency::from_histogram(&all, log.every)
        };
        (latency(|entry| &entry.latency), latency(|entry| &entry.service))
    }

    /// Returns the trials whose latencies over time are known, with these.
    pub fn latency_logs(&self) -> impl Iterator<Item = (&Arc<Trial>, LatencyLog)> {
        self.encoded_logs().filter_map(|(trial, lines)| Some((trial, LatencyLog::decode(lines)?)))
    }

    /// Returns the same by cell, not decoded yet.
    pub fn logs_by_cell(&self) -> CellLogs<'_> {
        let mut logs = CellLogs::default();
        for (trial, lines) in self.encoded_logs() {
            logs.0.entry(trial.cell).or_default().push((trial, lines));
        }
        logs
    }

    fn encoded_logs(&self) -> impl Iterator<Item = (&Arc<Trial>, Vec<&EncodedLog>)> {
        let mut lines: HashMap<(u32, u32), Vec<&EncodedLog>> = HashMap::new();
        for log in &self.latencies {
            lines.entry((log.cell, log.round)).or_default().push(log);
        }
        self.trials
            .iter()
            .filter_map(move |trial| Some((trial, lines.remove(&(trial.cell, trial.round))?)))
    }

    /// Returns whether a job or a probe has a trial.
    pub fn has_trials(&self) -> bool {
        !self.trials.is_empty() || !self.probe_trials.is_empty()
    }

    /// Replaces the plan before the first trial; all results per cell are cleared.
    pub fn replace_plan(&mut self, plan: Plan) {
        self.verdicts = vec![None; plan.cells.len()];
        self.errors = vec![None; plan.cells.len()];
        self.skipped = Vec::new();
        self.probe_findings = vec![ProbeFindings::default(); plan.probes.len()];
        self.picks = Vec::new();
        self.latencies = Vec::new();
        self.plan = plan;
    }

    /// Returns the trials of each cell, in the order of measurement.
    pub fn trials_by_cell(&self) -> Vec<Vec<Arc<Trial>>> {
        let mut by_cell = vec![Vec::new(); self.plan.cells.len()];
        for trial in &self.trials {
            if let Some(trials) = by_cell.get_mut(trial.cell as usize) {
                trials.push(trial.clone());
            }
        }
        by_cell
    }

    /// Returns the highest severity of all warnings; that more trials are to come is a note.
    pub fn worst(&self) -> Option<Severity> {
        self.severities().flatten().max()
    }

    /// Returns the number of cells whose figures are misleading or wrong, as the worst are.
    pub fn worst_cells(&self) -> Option<u64> {
        let worst = self.worst().filter(|worst| *worst > Severity::Note)?;
        Some(self.severities().filter(|own| *own == Some(worst)).count() as u64)
    }

    /// Returns the most severe warning of each cell.
    fn severities(&self) -> impl Iterator<Item = Option<Severity>> {
        let of_cells = self.verdicts.iter().flatten().map(|verdict| &verdict.warnings);
        let all = of_cells.chain(self.probe_findings.iter().map(|findings| &findings.warnings));
        let severity = |w: &Warning| match w.is_unfinished() {
            true => w.severity.min(Severity::Note),
            false => w.severity,
        };
        all.map(move |warnings| warnings.iter().map(severity).max())
    }

    /// Returns whether data that was read back is not what was written.
    pub fn has_bad_data(&self) -> bool {
        self.trials.iter().any(|trial| trial.has_bad_data())
    }

    /// Returns whether data was read back through a page cache, so that nothing shows that a device
    /// has it.
    pub fn has_data_from_memory(&self) -> bool {
        let verified = self.trials.iter().filter_map(|trial| trial.evidence.verified.as_ref());
        verified.into_iter().any(|verified| verified.read_from().is_from_memory())
    }

    /// Returns whether a cell failed, including cells of probes.
    pub fn has_failed_cell(&self) -> bool {
        self.errors.iter().any(Option::is_some)
            || self.probe_findings.iter().any(|findings| findings.error.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BadBlocks, End, ReadBack, Verdict, Verified, Xor};
    use crate::session::testing;

    #[test]
    fn events_of_unknown_cells_are_ignored() {
        let mut session = testing::session(2);
        for cell in [0, 1, 7] {
            session.apply(&testing::trial_event(cell, 1, 1 << 30));
            session.apply(&Event::Failed { cell, error: format!("no {cell}") });
            session.apply(&Event::Verdict { cell, verdict: Arc::new(Verdict::default()) });
        }
        for cell in [1, 7, 1] {
            session.apply(&Event::Skipped { cell });
        }
        assert_eq!(session.skipped, [1]);
        session.apply(&Event::Note { text: "a note".into() });
        session.apply(&Event::End { reason: End::Goal, seconds: None });
        assert_eq!(session.trials.len(), 2);
        assert_eq!(session.errors, [Some("no 0".into()), Some("no 1".into())]);
        assert!(session.verdicts.iter().all(Option::is_some));
        assert_eq!((session.notes.len(), session.end), (1, Some(End::Goal)));
    }

    /// Returns the line of a trial that did `ops` operations in its last interval.
    fn running(cell: u32, index: u32, ops: u64) -> Event {
        let mut log = LatencyLog::new(1);
        for (further, index) in [(index - 3, 1), (0, index)] {
            let latency = vec![(500, ops as u32)];
            log.add(LogEntry { index, further, ops, latency, ..LogEntry::default() });
        }
        Event::of_log(&Arc::new(log.encode(cell, 1).remove(0)))
    }

    #[test]
    fn killed_trials_are_kept_as_cut() {
        let mut session = testing::session(2);
        let begun =
            |started| Event::Begun { trial: Begun { cell: 0, round: 1, started, clock: Some(7) } };
        // It was interrupted, and began again.
        session.apply(&begun(5));
        session.apply(&running(0, 90, 1000));
        session.apply(&begun(9));
        for (cell, index, ops) in [(0, 9, 3), (0, 19, 2), (1, 99, 1)] {
            session.apply(&running(cell, index, ops));
        }
        assert!(!session.is_empty());
        session.keep_begun();
        let [trial] = &session.trials[..] else { panic!("{:?}", session.trials) };
        assert_eq!((trial.cell, trial.round, trial.ops, trial.short), (0, 1, 6, true));
        assert_eq!((trial.nanos, trial.counts()), (10 * LatencyLog::WIDTH, false));
        let evidence = &trial.evidence;
        assert_eq!((evidence.started, evidence.clock), (9, Some(7)));
        let (latency, service) = session.latency_of_cut(&session.trials);
        assert_eq!((latency.map(|of| of.count), service), (Some(6), None));
        // Not twice, and not after the trial itself.
        session.keep_begun();
        session.apply(&begun(9));
        session.apply(&testing::trial_event(0, 1, 1 << 30));
        session.apply(&Event::End { reason: End::Goal, seconds: None });
        assert_eq!(session.trials.len(), 2);
    }

    #[test]
    fn bad_data_is_found_either_way() {
        let has_bad_data = |change: &dyn Fn(&mut Trial)| {
            let (mut session, mut trial) = (testing::session(1), testing::trial(0, 1, 1));
            change(&mut trial);
            session.trials.push(Arc::new(trial));
            session.has_bad_data()
        };
        let read = |xor, other_blocks| Some(ReadBack { xor: Xor(xor), other_blocks });
        let appended = |read: Option<ReadBack>| {
            has_bad_data(&|trial| (trial.xor, trial.evidence.read_back) = (Some(Xor(1)), read))
        };
        assert!(!appended(None) && !appended(read(1, 0)));
        assert!(appended(read(2, 0)) && appended(read(1, 1)));
        let verified = |missing| Verified {
            bad: BadBlocks { missing, ..BadBlocks::default() },
            ..Verified::default()
        };
        assert!(!has_bad_data(&|trial| trial.evidence.verified = Some(Box::new(verified(0)))));
        assert!(has_bad_data(&|trial| trial.evidence.verified = Some(Box::new(verified(1)))));
    }
}
