//! Other sessions that are marked on the bars.

use super::data::MarkedSession;
use super::state::Lab;
use crate::msg::Effect;
use crate::session_view;
use crate::text::time::to_minute;
use crate::units::counted;

/// A session or reference that can be marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: String,
    pub name: String,
    pub about: String,
    /// Its index, which determines its sign; `None` until its values are loaded.
    pub at: Option<usize>,
    pub on: bool,
}

/// Returns the references, then the user's sessions, without the one that is shown.
pub fn entries(lab: &Lab) -> Vec<Entry> {
    let loaded = lab.local.others.iter().chain(&lab.marked).enumerate();
    let entry = |(at, other): (usize, &MarkedSession)| Entry {
        id: other.id.clone(),
        name: other.name.clone(),
        about: other.about.clone(),
        at: Some(at),
        on: !lab.hidden.contains(&other.id),
    };
    let is_loaded =
        |id: &str| lab.local.others.iter().chain(&lab.marked).any(|other| other.id == id);
    let unloaded = lab.saved.iter().filter(|listed| !is_loaded(&listed.id)).map(|listed| Entry {
        id: listed.id.clone(),
        name: session_view::listed_name(listed).into(),
        about: format!(
            "{} UTC, {}",
            to_minute(&listed.created),
            counted(listed.probes as usize, "probe")
        ),
        at: None,
        on: false,
    });
    loaded
        .map(entry)
        .chain(unloaded)
        .filter(|entry| Some(entry.id.as_str()) != lab.data.id())
        .collect()
}

/// Returns whether anything can be marked.
pub fn has_entries(lab: &Lab) -> bool {
    !entries(lab).is_empty()
}

/// Toggles the marks of an entry, loading its values first if needed.
pub fn choose(lab: &mut Lab, at: usize) -> Vec<Effect> {
    let Some(entry) = entries(lab).into_iter().nth(at) else { return Vec::new() };
    match (entry.at, entry.on) {
        (None, _) => return vec![Effect::MarkOnLab(entry.id)],
        (Some(_), true) => drop(lab.hidden.insert(entry.id)),
        (Some(_), false) => drop(lab.hidden.remove(&entry.id)),
    }
    Vec::new()
}

/// Adds the values of a session.
pub fn add(lab: &mut Lab, other: MarkedSession) {
    lab.hidden.remove(&other.id);
    match lab.marked.iter_mut().find(|marked| marked.id == other.id) {
        Some(marked) => *marked = other,
        None => lab.marked.push(other),
    }
}
