//! The progress bar on stderr: what runs now, its rate, the time left. Only on a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::plan::Plan;
use crate::record::{Event, Phase, Progress};
use crate::report;
use crate::units;

pub(super) struct Bar {
    bar: ProgressBar,
    labels: Vec<String>,
    probes: Vec<String>,
    /// What runs now and the time left, as last reported.
    now: String,
    left: String,
}

impl Bar {
    pub fn new(quiet: bool, plan: &Plan) -> Bar {
        let hidden = quiet || !std::io::stderr().is_terminal();
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
        Bar { bar, labels, probes, now: String::new(), left: String::new() }
    }

    pub fn show(&mut self, event: &Event) {
        match event {
            Event::Progress(progress) => {
                self.bar.set_position((progress.share * 1000.0) as u64);
                self.now = self.describe_cell(progress);
                self.left = units::show_wait(Duration::from_nanos(progress.left));
                self.bar.set_message(format!("{}  {} left", self.now, self.left));
            }
            Event::Sample { sample, .. } if sample.nanos > 0 => {
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
            Phase::Switch => "running the command of the next variant".into(),
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
        self.bar.suspend(|| report::print_message(line));
    }

    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
