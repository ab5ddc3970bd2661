//! What reading the blocks of a cell back has shown.

use super::scene::{Scene, section};
use super::stack::Section;
use crate::tui::theme::Role;
use crate::units::{show_nanos, show_share};

/// Returns the section; none where nothing was read back.
pub fn sections(s: Scene<'_>) -> Vec<Section<'_>> {
    let Some(verified) = &s.result.verified else { return Vec::new() };
    let (role, mark) =
        if verified.is_bad() { (Role::Wrong, "Data is wrong: ") } else { (Role::Text, "") };
    let mut text = vec![s.heading("Verified")];
    text.extend(s.wrap(&format!("{mark}{}", verified.describe()), role));
    text.extend(s.wrap(&verified.describe_reading(), Role::Dim));
    text.push(s.pair("reading back", format!("{} a trial, not timed", show_nanos(verified.nanos))));
    text.push(
        s.pair("stamps", format!("about {} of the timed work", show_share(verified.stamp_share))),
    );
    section(text)
}
