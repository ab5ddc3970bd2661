//! The progress on stderr: what runs now, its rate, the time left. A bar on a terminal, else a line
//! now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;
use crate::plan::Plan;
use crate::record::{Event, Phase, Progress};
use crate::units;

/// Time between two lines without a terminal: they show in a log that the run continues.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

pub(super) struct Bar {
    bar: ProgressBar,
    /// When the last line was due; `None`: no lines.
    line: Option<Instant>,
    labels: Vec<String>,
    probes: Vec<String>,
    /// The current step and the time left, as last reported.
    now: String,
    left: String,
    /// The share that was done then, and the nanoseconds left.
    reported: (f64, u64),
    /// The run may end sooner.
    is_limit: bool,
}

impl Bar {
    pub fn new(quiet: bool, plan: &Plan) -> Bar {
        let is_terminal = std::io::stderr().is_terminal();
        let hidden = quiet || !is_terminal;
        // Ten frames a second, drawn by this thread only when something happened.
        let target = if hidden {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(10)
        };
        let style = ProgressStyle::with_template("{bar:20.cyan/dim} {percent:>3}%  {wide_msg}");
        let bar = ProgressBar::with_draw_target(Some(1000), target)
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let labels = plan.cells.iter().map(|c| c.label()).collect();
        let probes = plan.probes.iter().map(|p| p.label()).collect();
        let line = (!quiet && !is_terminal).then(Instant::now);
        let is_limit = plan.has_goal();
        let reported = (0.0, 0);
        Bar {
            bar,
            line,
            labels,
            probes,
            now: String::new(),
            left: String::new(),
            reported,
            is_limit,
        }
    }

    /// Shows an event; without a terminal, prints a line now and then.
    pub fn show(&mut self, event: &Event) {
        self.take(event);
        if let Some(line) = self.line_at(Instant::now()) {
            output::print_message(line);
        }
    }

    /// Returns the line that is due now: `iotui: 42 %, trial 3: read 4 KiB cold, 29 s left`.
    fn line_at(&mut self, now: Instant) -> Option<String> {
        let last =
            self.line.filter(|last| now.saturating_duration_since(*last) >= LINE_INTERVAL)?;
        self.line = Some(now.max(last));
        let percent = self.bar.position() / 10;
        (!self.now.is_empty())
            .then(|| format!("iotui: {percent} %, {}, {} left", self.now, self.left))
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Progress(progress) => {
                self.reported = (progress.share, progress.left);
                self.now = self.describe_cell(progress);
                self.set_left(0);
                self.bar.set_message(format!("{}  {} left", self.now, self.left));
            }
            Event::Sample { sample, .. } if sample.nanos > 0 => {
                self.set_left(sample.at);
                let per_second = |n: u64| n as f64 * 1e9 / sample.nanos as f64;
                let rate = match sample.bytes {
                    0 => format!("{}/s", units::show_count(per_second(sample.ops))),
                    bytes => units::show_rate(per_second(bytes)),
                };
                self.bar.set_message(format!("{}  {rate}  {} left", self.now, self.left));
            }
            _ => {}
        }
    }

    /// Sets the share that is done and the time left, `since` nanoseconds after they were reported.
    fn set_left(&mut self, since: u64) {
        let (share, left) = self.reported;
        let now = left.saturating_sub(since);
        let rest = if left > 0 { now as f64 / left as f64 } else { 1.0 };
        self.bar.set_position(((1.0 - (1.0 - share) * rest) * 1000.0).round() as u64);
        let at_most = if self.is_limit { "at most " } else { "" };
        self.left = format!("{at_most}{}", units::show_wait(Duration::from_nanos(now)));
    }

    fn describe_cell(&self, progress: &Progress) -> String {
        let cell = progress
            .cell
            .map(|c| self.label(c))
            .or(progress.probe.map(|p| self.probe(p)))
            .unwrap_or_default();
        match progress.phase {
            Phase::Fill => "filling the scratch file".into(),
            Phase::Machine => "measuring this machine's memory and call costs".into(),
            Phase::Levels => "measuring what each cache-drop level changes".into(),
            Phase::Switch => "setting the next variant".into(),
            Phase::Calibrate => format!("calibrating {cell}"),
            Phase::Pause => "paused".into(),
            Phase::Trial => format!("trial {}: {cell}", progress.round),
        }
    }

    fn label(&self, cell: u32) -> String {
        self.labels.get(cell as usize).cloned().unwrap_or_default()
    }

    fn probe(&self, probe: u32) -> String {
        self.probes.get(probe as usize).cloned().unwrap_or_default()
    }

    /// Prints a line for the user, above the bar.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| output::print_message(line));
    }

    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Sample;
    use crate::session::testing;

    #[test]
    fn log_has_regular_lines() {
        let began = Instant::now();
        let mut bar = Bar::new(false, &testing::plan(2));
        bar.line = Some(began);
        let at = |seconds| began + Duration::from_secs(seconds);
        assert_eq!(bar.line_at(at(10)), None, "nothing is known yet");
        let progress = Progress {
            phase: Phase::Trial,
            cell: Some(1),
            round: 3,
            share: 0.42,
            left: 29_000_000_000,
            probe: None,
        };
        bar.take(&Event::Progress(progress));
        let label = testing::plan(2).cells[1].label();
        let line = format!("iotui: 42 %, trial 3: {label}, 29 s left");
        assert_eq!((bar.line_at(at(19)), bar.line_at(at(20))), (None, Some(line.clone())));
        assert_eq!((bar.line_at(at(29)), bar.line_at(at(31))), (None, Some(line)));
        // It goes on during a long trial: half of the rest.
        let sample = Sample { at: 14_500_000_000, nanos: 1, ..Sample::default() };
        let parts = Vec::new().into();
        bar.take(&Event::Sample { cell: 1, round: 3, sample, parts });
        let line = bar.line_at(at(50)).unwrap();
        assert!(line.starts_with("iotui: 71 %, ") && line.ends_with(", 15 s left"), "{line}");
        let mut quiet = Bar::new(true, &testing::plan(2));
        assert_eq!(quiet.line_at(at(100)), None);
    }
}
