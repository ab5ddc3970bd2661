//! A session as the screens show it: with its results and the answer, made once.

use std::path::PathBuf;

use super::keymap::Action;
use super::spoken::speak;
use crate::analysis::{Answer, Bounds, CellResult, FirstLook, Glance, LimitCause, ProbeResult};
use crate::plan::{Plan, Skipped, TargetSpec};
use crate::record::End;
use crate::session::{Listed, Session};
use crate::text::clean_text;
use crate::{analysis, session};

/// Sessions in one comparison; the curves of more are hard to distinguish.
pub const MAX_COMPARED: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    pub session: Session,
    pub results: Vec<CellResult>,
    pub probes: Vec<ProbeResult>,
    pub answer: Answer,
    /// The summary of the session.
    pub glance: Glance,
    /// The limit of each result, in their order; `None` where the figures do not show it.
    pub limits: Vec<Option<LimitCause>>,
    pub skipped: Vec<Skipped>,
    /// How far the measurement is, if more trials are to come.
    pub first_look: Option<FirstLook>,
    /// Where it is kept; `None`: nowhere.
    pub path: Option<PathBuf>,
    /// It is being recorded: more is to come.
    pub is_recorded: bool,
}

impl SessionView {
    /// Shows a session that has ended.
    pub fn new(session: Session, path: Option<PathBuf>) -> SessionView {
        let mut results = analysis::results(&session);
        let mut probes = analysis::probes(&session);
        let answer = analysis::answer_with(&session, &results, &probes);
        let skipped = spoken(analysis::list_skipped(&session));
        let limits = analysis::explain_limits(&results, |job| Bounds::of_job(&session, job)).limits;
        let first_look = analysis::first_look(&session, &results);
        let glance = analysis::glance(&session, &results, &probes, &answer);
        let is_recorded = false;
        // These name what to do about it.
        let errors = results.iter_mut().map(|result| &mut result.error);
        let errors = errors.chain(probes.iter_mut().map(|result| &mut result.error));
        errors.flatten().for_each(|error| *error = speak(error));
        SessionView {
            first_look,
            session,
            results,
            probes,
            answer,
            glance,
            limits,
            skipped,
            path,
            is_recorded,
        }
    }

    /// Shows a session that is being recorded.
    pub fn so_far(session: Session) -> SessionView {
        let skipped = spoken(analysis::list_skipped_so_far(&session));
        SessionView { skipped, is_recorded: true, ..SessionView::new(session, None) }
    }

    /// Returns its name, else its id.
    pub fn name(&self) -> &str {
        unique_name(&self.session.name, &self.session.id)
    }

    /// Returns its name or the label that replaces it.
    pub fn display_name(&self) -> String {
        session_name(&self.session)
    }

    /// Describes why there is no result, for a session that has none.
    pub fn describe_nothing(&self) -> String {
        let session = &self.session;
        let why = session.errors.iter().flatten().next().or(session.notes.last());
        let why = match (why, session.end) {
            (Some(why), _) => speak(&clean_text(why)),
            (None, Some(End::Failed)) => "the run failed before its first trial".into(),
            (None, _) => "the run ended before its first trial".into(),
        };
        format!("nothing was measured: {why}")
    }

    pub fn target(&self) -> String {
        describe_targets(&self.session.plan)
    }
}

/// Returns why an action cannot be done with a reference: it has the figures of a report.
pub fn refusal_of_reference(action: Action) -> Option<&'static str> {
    match action {
        Action::RunAgain => Some("a reference cannot be run again"),
        Action::Replay => Some("a reference cannot be replayed"),
        Action::SaveAs => Some("a reference keeps its name"),
        _ => None,
    }
}

/// Returns skipped cells with their reasons in the words of a screen.
fn spoken(mut skipped: Vec<Skipped>) -> Vec<Skipped> {
    skipped.iter_mut().for_each(|skipped| skipped.reason = speak(&skipped.reason));
    skipped
}

/// Returns the target for a line: a path, or what kind of file; of several their number.
pub fn describe_targets(plan: &Plan) -> String {
    if !plan.others.is_empty() {
        return format!("{} files", plan.targets().count());
    }
    match &plan.target {
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => {
            crate::text::show_path(path)
        }
        list @ TargetSpec::Files { .. } => list.describe_list(),
        TargetSpec::Scratch { .. } => "scratch file".into(),
        TargetSpec::None => "no file".into(),
    }
}

/// The session under the cursor of Sessions, loaded.
#[derive(Debug)]
pub struct Preview {
    pub id: String,
    pub result: Result<Box<SessionView>, String>,
}

/// Returns the label of a session without a name and without a target: its id without the time,
/// which is shown next to it.
fn slug(id: &str) -> &str {
    match id.as_bytes() {
        bytes
            if bytes.len() > 16
                && bytes[15] == b'-'
                && bytes[..8].iter().all(u8::is_ascii_digit) =>
        {
            id.get(16..).unwrap_or(id)
        }
        _ => id,
    }
}

/// Returns its name or the label that replaces it; both find it on the command line.
pub fn listed_name(listed: &Listed) -> &str {
    let name = listed.name_or_label();
    if name.is_empty() { slug(&listed.id) } else { name }
}

/// Returns the name of a session, or else its id, which no other has.
pub fn unique_name<'a>(name: &'a str, id: &'a str) -> &'a str {
    if name.is_empty() { id } else { name }
}

/// Returns the label as [`listed_name`] does, of a session that is loaded.
pub fn session_name(session: &Session) -> String {
    if !session.name.is_empty() {
        return session.name.clone();
    }
    let label = match session.reference {
        Some(_) => String::new(),
        None => session::label(&session.plan),
    };
    if label.is_empty() { slug(&session.id).into() } else { label }
}
