//! The sources of the bytes, as a bar and as text.

use ratatui::text::Line;

use super::scene::Scene;
use super::stack::Section;
use crate::analysis::CellResult;
use crate::report::table::origin;
use crate::tui::plot::{Bar, Bars, Part};
use crate::tui::theme::Role;
use crate::units::{show_bytes, show_rate};

pub fn sections(s: Scene<'_>) -> Vec<Section<'_>> {
    let Some(source) = &s.result.source else { return Vec::new() };
    let parts = origin::source_shares(source);
    let draw = {
        let parts = parts.clone();
        move |area: ratatui::layout::Rect, buf: &mut ratatui::buffer::Buffer| {
            let pieces = parts
                .iter()
                .map(|(word, share)| {
                    let role = Role::of_source(word);
                    let (style, texture) = (s.look.style(role), role.texture());
                    Part { value: *share, style, texture }
                })
                .collect();
            let bar = [Bar::stacked("", pieces, "")];
            Bars::new(s.look, &bar).max(1.0).render(area, buf);
        }
    };
    let mut words = Vec::new();
    for (word, share) in &parts {
        let role = Role::of_source(word);
        let sign = s.look.texture(role.texture());
        words.push(s.look.span(role, format!("{sign} ")));
        words.push(s.look.span(Role::Text, format!("{word} ")));
        words.push(s.look.span(Role::Number, format!("{}   ", origin::percent(*share))));
    }
    let mut below = vec![Line::from(words)];
    if !s.result.source_reason.is_empty() {
        below.extend(s.wrap(&s.result.source_reason, Role::Dim));
    }
    if let Some(amplification) = s.result.amplification.filter(|a| *a >= 0.005) {
        let why = if amplification > 1.05 { " (readahead)" } else { "" };
        below.extend(s.wrap(
            &format!("the device transferred {amplification:.2} bytes per requested byte{why}"),
            Role::Dim,
        ));
    }
    if let Some(first) = first_visit(s.result) {
        below.extend(s.wrap(&first, Role::Dim));
    }
    vec![
        Section::Lines(vec![s.heading("Where the bytes came from")]),
        Section::Picture { height: 1, draw: Box::new(draw) },
        Section::Lines(below),
    ]
}

/// Describes what the cell read before its first trial, and how fast.
fn first_visit(result: &CellResult) -> Option<String> {
    let visit = result.trials.iter().find_map(|trial| trial.evidence.first)?;
    let rate = visit.bytes as f64 * 1e9 / visit.nanos.max(1) as f64;
    (visit.bytes > 0)
        .then(|| format!("first visit: {} at {}", show_bytes(visit.bytes), show_rate(rate)))
}
