//! Messages to the model, and effects that the model requests.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crossterm::event::MouseEvent;

use super::compare::LoadedComparison;
use super::export::{Export, Outcome};
use super::keys::Key;
use super::lab::{LocalProbes, MarkedSession};
use super::refine::RefineRequest;
use super::remember::Remembered;
use super::session_view::{Preview, SessionView};
use super::setup::{Inspection, Listing};
use crate::experiment::{DiskSpeed, Proposed};
use crate::facts::Host;
use crate::plan::{Plan, Preset, ProbeSet, Remote, Settings};
use crate::record::{Earlier, Event, Warning};
use crate::report::Look;
use crate::session::{Listed, Samples, Timeline};

/// A message to the model.
#[derive(Debug)]
pub enum Msg {
    Key(Key),
    Paste(String),
    Mouse(MouseEvent),
    Resize(u16, u16),
    /// Time passes: ten times a second while something changes by itself.
    Tick,
    /// SIGTERM or SIGHUP: leave with this code.
    Leave(u8),
    /// SIGINT.
    Interrupt,
    /// SIGTSTP.
    Suspend,
    /// Back from a suspension.
    Resumed,
    /// The run has begun: its file and its name.
    Begun {
        path: Option<PathBuf>,
        id: String,
        name: String,
        created: String,
    },
    Event(Event),
    /// Another run on the disk of the run that waits, or of the plan on Setup.
    OtherRun(Option<String>),
    /// Samples that were dropped because the screen was too slow.
    Dropped(u64),
    /// The run is over: why it failed, if it did, and what is not saved.
    Over {
        error: Option<String>,
        unsaved: Option<String>,
    },
    /// The run did not even begin.
    NotBegun(String),
    /// The machine, and the loops for XORs as they were compared on it.
    Host(Box<Host>, crate::facts::XorLoops),
    /// Findings about this machine and the chosen target.
    Doctor(Vec<Warning>),
    Listed(Listing),
    /// Facts about the file under the cursor.
    Seen(Inspection),
    /// Which of the recent targets no longer exist.
    Gone(Vec<PathBuf>),
    /// The plan of the settings with this number.
    Proposed {
        number: u64,
        result: Result<Box<Proposed>, Refusal>,
        findings: Vec<Warning>,
        outlook: Box<Outlook>,
    },
    Sessions(Result<Vec<Listed>, String>),
    Preview(Preview),
    Compared(Box<LoadedComparison>),
    /// A session was imported: its id, and the message.
    Imported {
        id: String,
        text: String,
    },
    /// The outcome of the export with this number.
    Exported {
        number: u64,
        result: Outcome,
    },
    /// Why the session of a run is not in its file, or that it is again; no id: it has no file.
    Saving {
        id: String,
        unsaved: Option<String>,
    },
    /// The probes that can be measured here.
    Lab(Box<LocalProbes>),
    /// The plan of the probes that are chosen, by the number of its question.
    LabPlanned {
        number: u64,
        result: Result<Box<NewRun>, String>,
    },
    /// A session whose figures are to be marked on the bars.
    MarkedOnLab(Result<Box<MarkedSession>, String>),
    Opened(Result<Box<SessionView>, String>),
    /// The intervals of the trials of the requested cell; empty where they cannot be read.
    Course {
        path: PathBuf,
        cell: u32,
        samples: Vec<Samples>,
    },
    /// A session with the events of its run, to be replayed.
    Replay(Result<Box<ReplayInput>, String>),
    /// The plan of a session made new, to be run.
    Again(Result<Box<NewRun>, String>),
    /// The plan that adds rounds to a session, to be run.
    Refined(Result<Box<NewRun>, String>),
    PresetSaved(Result<Box<Preset>, String>),
    /// The outcome of a copy to the clipboard.
    Copied(Copied),
    /// The time of day.
    Clock(SystemTime),
    /// How many times as fast a session is as the run before it; `None` without a difference.
    Changed {
        id: String,
        before: String,
        ratio: Option<f64>,
    },
    /// The session with this id was deleted.
    Deleted(String),
    /// A session has another name now.
    Renamed {
        id: String,
        name: String,
        /// The message.
        text: String,
    },
    Failed(String),
    /// A thread of iotui panicked, with its message; the run continues.
    Panicked(String),
}

/// The outcome of a copy to the clipboard, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copied {
    /// A program says that it has it.
    Known(String),
    /// The terminal got it, and does not say what it did with it.
    Sent(String),
    /// The text that no program took: the terminal may.
    Refused(String),
}

/// An action that the shell performs for the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Quit(u8),
    Suspend,
    Redraw,
    /// To the clipboard: by a program that says whether it did, else by the terminal.
    Copy(String),
    /// To the clipboard of the terminal (OSC 52).
    SendToTerminal(String),
    /// The title of the terminal's window.
    Title(String),
    /// Ring the terminal's bell, with a notification where it has them (OSC 9).
    Ring(String),
    Start {
        plan: Arc<Plan>,
        name: Option<String>,
        /// The trials that the run continues; empty for a new run.
        earlier: Arc<Earlier>,
    },
    Stop,
    Pause(bool),
    /// Leave this cell, or probe, out of the rest of the run.
    Skip(u32),
    Remember(Box<Remembered>),
    /// Finds something out, or does something to a file: it may take long, and is answered by a
    /// message.
    Ask(Query),
}

/// A request that the shell answers with one message, from a thread of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// Answered by `Msg::Doctor`, then by `Msg::Host`.
    Host,
    List(PathBuf),
    Look(PathBuf),
    /// Which of these targets no longer exist.
    FindGone(Vec<PathBuf>),
    /// Find out whether another iotui measures on a disk of this plan.
    FindOtherRun(Arc<Plan>),
    Propose(Box<Question>),
    Sessions,
    Preview(String),
    /// Sessions compared with the first of them, formatted by `look`.
    Compare {
        ids: Vec<String>,
        look: Look,
    },
    Import(String),
    Export(Box<Export>),
    /// The probes that can be measured on this target, or without one, with another machine and
    /// with these values of parameters.
    Lab {
        file: Option<PathBuf>,
        dir: Option<PathBuf>,
        remote: Option<Remote>,
        sets: Option<Vec<ProbeSet>>,
    },
    PlanLab(Box<Question>),
    MarkOnLab(String),
    Open(String),
    /// The course of the trials of a cell, from the session's file.
    Course {
        path: PathBuf,
        cell: u32,
    },
    Again(String),
    /// Load the events of a session's run.
    Replay {
        of: Replayed,
        speed: Speed,
    },
    /// Plan further rounds of a session.
    Refine(Box<RefineRequest>),
    Rename {
        id: String,
        name: String,
    },
    Delete(String),
    /// Compares a session with the run before it.
    Change {
        id: String,
        before: String,
    },
    SavePreset {
        id: String,
        question: Box<Question>,
    },
}

/// The input of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Answers to older questions are of no use.
    pub number: u64,
    /// `None`: a scratch file.
    pub file: Option<PathBuf>,
    /// Further files, measured in the same rounds.
    pub others: Vec<PathBuf>,
    /// The files, and all files of folders among them, are read as one.
    pub as_one: bool,
    pub dir: Option<PathBuf>,
    pub preset: Preset,
    pub settings: Settings,
}

/// Estimates for a plan before it runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outlook {
    /// The results to expect; empty if no estimate is possible.
    pub expected: String,
    /// The number of trials in its budget; empty if unknown.
    pub forecast: String,
    /// The speed of its disk, from saved runs.
    pub disk: DiskSpeed,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub why: String,
    /// Whether the (first) file does not exist.
    pub is_missing: bool,
}

#[cfg(test)]
impl From<&str> for Refusal {
    fn from(why: &str) -> Refusal {
        Refusal { why: why.into(), is_missing: false }
    }
}

/// A plan to run, and what its session begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    pub plan: Arc<Plan>,
    /// The name of its session, and the trials of the session that it continues.
    pub name: Option<String>,
    pub earlier: Arc<Earlier>,
    /// Another iotui that measured on the same disk when this was planned.
    pub other_run: Option<String>,
}

impl From<Arc<Plan>> for NewRun {
    fn from(plan: Arc<Plan>) -> NewRun {
        NewRun { plan, name: None, earlier: Arc::default(), other_run: None }
    }
}

impl From<Plan> for NewRun {
    fn from(plan: Plan) -> NewRun {
        Arc::new(plan).into()
    }
}

/// A run that another one is in the way of.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldRun {
    pub run: NewRun,
    /// The reason why it is blocked.
    pub why: String,
    /// The plan number if the run came from Setup, which plans again because files may have
    /// changed.
    pub setup: Option<u64>,
}

/// Which session is replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replayed {
    /// The example that ships with iotui.
    Demo,
    /// A kept one, by its id, name or path.
    Kept(String),
}

/// The speed of a replay, as a multiple of that of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed(u32);

/// The steps of the keys.
const SPEEDS: [u32; 7] = [1, 2, 5, 10, 20, 50, Speed::MAX];

impl Speed {
    pub const MAX: u32 = 100;

    /// Returns the speed nearest to `times`.
    pub fn new(times: u32) -> Speed {
        Speed(times.clamp(1, Speed::MAX))
    }

    pub fn times(self) -> u32 {
        self.0
    }

    pub fn faster(self) -> Speed {
        Speed(SPEEDS.into_iter().find(|speed| *speed > self.0).unwrap_or(Speed::MAX))
    }

    pub fn slower(self) -> Speed {
        Speed(SPEEDS.into_iter().rev().find(|speed| *speed < self.0).unwrap_or(1))
    }
}

impl Default for Speed {
    fn default() -> Speed {
        Speed(10)
    }
}

/// A session with the events of its run.
#[derive(Debug, Clone)]
pub struct ReplayInput {
    pub of: Replayed,
    pub speed: Speed,
    /// The session that Results shows at the end.
    pub shown: SessionView,
    pub timeline: Timeline,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_step_from_1_to_100() {
        let mut speed = Speed::new(0);
        let mut seen = vec![speed.times()];
        for _ in 0..9 {
            speed = speed.faster();
            seen.push(speed.times());
        }
        assert_eq!(seen, [1, 2, 5, 10, 20, 50, 100, 100, 100, 100]);
        assert_eq!(Speed::new(30).slower().times(), 20);
        assert_eq!((Speed::new(30).faster().times(), Speed::new(1).slower().times()), (50, 1));
        assert_eq!(Speed::new(u32::MAX).times(), 100);
    }
}
