//! The commits of a cell: how long they take, and how much of it is the sync.

use super::latency::percentile_lines;
use super::scene::Scene;
use super::stack::Section;
use crate::analysis::CommitsOf;
use crate::tui::theme::Role;
use crate::units::{counted, show_count};

/// Returns the section; none where nothing is committed.
pub fn sections(s: Scene<'_>) -> Vec<Section<'_>> {
    let Some(CommitsOf { per_second, count, total, sync, .. }) = &s.result.commits else {
        return Vec::new();
    };
    let mut text = vec![s.heading("Commits, write and sync together")];
    text.extend(percentile_lines(s, total));
    if let Some(sync) = sync {
        text.extend(s.wrap("of these the sync:", Role::Dim));
        text.extend(percentile_lines(s, sync));
    }
    let made = counted(usize::try_from(*count).unwrap_or(usize::MAX), "commit");
    let rate = per_second.map_or(String::new(), |rate| format!(", {}/s", show_count(rate)));
    text.extend(s.wrap(&format!("{made}{rate}"), Role::Dim));
    if let Some(durability) = &s.result.durability {
        text.extend(s.wrap(&durability.sentence(), Role::Text));
    }
    vec![Section::Lines(text)]
}
