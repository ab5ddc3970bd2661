//! What reaches the model, and what the model wants done.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crossterm::event::MouseEvent;

use super::compare::LoadedComparison;
use super::export::{Export, Outcome};
use super::keys::Key;
use super::lab::{LocalProbes, MarkedSession};
use super::new_run::NewRun;
use super::question::{Outlook, Question, Refusal};
use super::refine::RefineRequest;
use super::remember::Remembered;
use super::replayed::{ReplayInput, Replayed, Speed};
use super::session_view::{Preview, SessionView};
use super::setup::{Inspection, Listing};
use crate::backend::fold;
use crate::engine::{Earlier, Proposed};
use crate::host::Host;
use crate::plan::{Plan, Preset, ProbeSet, Remote};
use crate::record::{Event, Warning};
use crate::report::Look;
use crate::session::{Listed, Samples};

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
    /// What else measures on the disk of the run that waits, or of the plan on Setup.
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
    Host(Box<Host>, fold::Comparison),
    /// What was found about this machine and the chosen target.
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
    /// What became of the export with this number.
    Exported {
        number: u64,
        result: Outcome,
    },
    /// Why the session of a run is not in its file, or that it is again; no id: it has no file.
    Saving {
        id: String,
        unsaved: Option<String>,
    },
    /// What probes can be measured here.
    Lab(Box<LocalProbes>),
    /// The plan of the probes that are chosen, by the number of its question.
    LabPlanned {
        number: u64,
        result: Result<Box<NewRun>, String>,
    },
    /// A session whose figures are to be marked on the bars.
    MarkedOnLab(Result<Box<MarkedSession>, String>),
    Opened(Result<Box<SessionView>, String>),
    /// What was done in the intervals of the trials of the cell that was asked for; none where that
    /// cannot be read.
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
    /// What became of a text for the clipboard.
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
        /// What to report.
        text: String,
    },
    /// Something was done: show it, and list the sessions again.
    Done {
        text: String,
        sessions: bool,
    },
    Failed(String),
    /// A thread of iotui panicked, with its message; the run continues.
    Panicked(String),
}

/// What became of a text for the clipboard, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copied {
    /// A program says that it has it.
    Known(String),
    /// The terminal got it, and does not say what it did with it.
    Sent(String),
    /// The text that no program took: the terminal may.
    Refused(String),
}

/// What the shell does for the model.
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
    /// What probes can be measured on this target, or without one, with another machine and with
    /// these values of parameters.
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
    Remember(Box<Remembered>),
}
