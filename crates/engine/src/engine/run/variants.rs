//! The variants of the machine, each set by a command or by a neighbour.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::neighbours::Neighbours;
use crate::engine::Control;
use crate::engine::error::Failure;
use crate::experiment::variant_index;
use crate::plan::{Job, Plan, Variant};
use crate::record::Visit;
use crate::sys::child::{self, ChildAction, ChildExit};
use crate::text::clean_text;

/// How long the command that leaves the machine in the first variant may take after the run.
pub const RESTORE_TIMEOUT: Duration = Duration::from_secs(10);

/// A command that takes no longer than this share of a trial runs before each trial.
const MIN_TRIALS_PER_COMMAND: u32 = 10;

/// The variants of a plan, and the current one.
pub(super) struct Variants {
    all: Vec<Variant>,
    current: Option<usize>,
    /// Why a variant cannot be set; its cells fail.
    failed: Vec<Option<String>>,
    /// The longest time that a command took; `None` before the first.
    longest: Option<Duration>,
    neighbours: Neighbours,
}

impl Variants {
    pub fn new(plan: &Plan) -> Variants {
        let all = plan.variants.clone();
        let neighbours = Neighbours::default();
        Variants { failed: vec![None; all.len()], all, current: None, longest: None, neighbours }
    }

    /// Returns the variant that a job needs, where it is not set.
    pub fn needed(&mut self, plan: &Plan, job: &Job) -> Option<usize> {
        if self.neighbours.drop_lost() {
            self.current = None;
        }
        variant_index(plan, job).filter(|index| self.current != Some(*index))
    }

    /// Returns whether the commands are so quick that they may run between the trials of each cell.
    pub fn are_quick(&self, trial_time: Duration) -> bool {
        self.longest.is_some_and(|longest| longest <= trial_time / MIN_TRIALS_PER_COMMAND)
    }

    /// Sets a variant where it is not the current one. `kill` ends the command.
    pub fn switch(&mut self, index: usize, kill: &dyn Fn() -> bool) -> Result<(), Failure> {
        let Some(variant) = self.all.get(index).filter(|_| self.current != Some(index)) else {
            return Ok(());
        };
        if let Some(why) = &self.failed[index] {
            return Err(Failure::Cell(why.clone()));
        }
        // A command that fails may have changed anything.
        self.current = None;
        let begin = Instant::now();
        let done = match variant.is_set_by_command() {
            true => run_command(variant, kill),
            false => self.neighbours.switch(variant.neighbour.as_deref(), kill),
        };
        self.longest = self.longest.max(Some(begin.elapsed()));
        match done {
            Err(Failure::Cell(why)) => {
                self.failed[index] = Some(why.clone());
                Err(Failure::Cell(why))
            }
            Err(other) => Err(other),
            Ok(()) => {
                self.current = Some(index);
                Ok(())
            }
        }
    }
}

impl Variants {
    /// Ends the neighbour that runs, until its variant is set again.
    pub fn rest(&mut self, kill: &dyn Fn() -> bool) {
        if self.neighbours.is_running() {
            self.current = None;
            // One that does not end is killed.
            let _ = self.neighbours.switch(None, kill);
        }
    }

    /// Counts the work of the neighbour that runs, if one does.
    pub fn count_neighbour(&self) -> Result<Option<Visit>, Failure> {
        self.neighbours.count()
    }
}

fn run_command(variant: &Variant, kill: &dyn Fn() -> bool) -> Result<(), Failure> {
    let mut killed = false;
    let mut watch = |_| {
        killed |= kill();
        if killed { ChildAction::Kill } else { ChildAction::Continue }
    };
    match child::run_shell(&variant.command, &mut watch) {
        Ok(_) if killed => Err(Failure::Stopped),
        Err(error) if error.kind() == std::io::ErrorKind::TimedOut => Err(Failure::Abandoned),
        Err(error) => Err(Failure::Cell(format!("cannot run /bin/sh: {error}"))),
        Ok(exit) if exit.status.success() => Ok(()),
        Ok(exit) => Err(Failure::Cell(describe_failure(variant, &exit))),
    }
}

/// Returns `the command of mq failed with exit status 1: sh: cannot create /sys/...`.
fn describe_failure(variant: &Variant, exit: &ChildExit) -> String {
    let stderr = String::from_utf8_lossy(&exit.stderr);
    let line = stderr.lines().rev().find(|line| !line.trim().is_empty());
    let line = line.map_or(String::new(), |line| format!(": {}", clean_text(line.trim())));
    if exit.overflowed {
        let most = child::MAX_OUTPUT >> 20;
        return format!(
            "the command of {} printed more than {most} MiB and was killed",
            variant.name
        );
    }
    let status = exit.status.to_string();
    let status = status.strip_prefix("exit status: ").map(|code| format!("exit status {code}"));
    let status = status.unwrap_or_else(|| exit.status.to_string());
    format!("the command of {} failed with {status}{line}", variant.name)
}

/// Sets the machine back to the first variant of a plan, if a command of its run may have left it
/// in another. Returns a note if that fails.
pub fn set_back(plan: &Plan, control: &Control) -> Option<String> {
    let first = plan.variants.first().filter(|_| control.changed.swap(false, Relaxed))?;
    let end = Instant::now() + RESTORE_TIMEOUT;
    control.watchdog.doing("the last command of --between was running");
    control.watchdog.until(end);
    let why = match Variants::new(plan).switch(0, &|| Instant::now() >= end) {
        Ok(()) => return None,
        Err(Failure::Cell(why)) => why,
        Err(Failure::Stopped | Failure::Abandoned) => {
            format!("its command did not end within {} s", RESTORE_TIMEOUT.as_secs())
        }
    };
    Some(format!("the machine was not set back to {}: {why}", first.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants(commands: &[&str]) -> Variants {
        let mut plan = Plan::plain("sweep", crate::plan::TargetSpec::None);
        let variant = |(at, command): (usize, &&str)| Variant {
            name: format!("V{at}").parse().unwrap(),
            command: (*command).into(),
            neighbour: None,
        };
        plan.variants = commands.iter().enumerate().map(variant).collect();
        Variants::new(&plan)
    }

    #[test]
    fn commands_run_only_on_a_switch() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let commands = ["a", "b"].map(|name| format!("echo {name} >>{}", log.display()));
        let mut variants = variants(&commands.each_ref().map(String::as_str));
        for index in [0, 0, 1, 1, 1, 0] {
            variants.switch(index, &|| false).unwrap();
        }
        assert_eq!(std::fs::read_to_string(log).unwrap(), "a\nb\na\n");
        let hour = Duration::from_secs(3600);
        assert!(variants.are_quick(hour) && !variants.are_quick(Duration::ZERO));
    }

    #[test]
    fn failing_commands_run_once() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let command =
            format!("echo x >>{}; echo 'no such thing\u{1b}[2J' >&2; exit 3", log.display());
        let mut variants = variants(&["true", &command]);
        for _ in 0..2 {
            let Err(Failure::Cell(why)) = variants.switch(1, &|| false) else { panic!() };
            assert!(
                why.starts_with("the command of V1 failed with exit status 3: no such"),
                "{why}"
            );
            assert!(!why.contains('\u{1b}'), "{why}");
        }
        assert_eq!(
            (std::fs::read_to_string(log).unwrap().as_str(), variants.current),
            ("x\n", None)
        );
    }

    #[test]
    fn commands_are_killed_with_the_run() {
        let mut variants = variants(&["sleep 1000"]);
        assert!(matches!(variants.switch(0, &|| true), Err(Failure::Stopped)));
        assert_eq!((variants.current, &variants.failed), (None, &vec![None]));
    }
}
