//! A session at a glance as one small picture, for a forum post: what was measured on, the figures
//! with their intervals, the answer, and why it can be trusted. Folders and the names of machines
//! are never in it.

mod figures;
mod page;
#[cfg(test)]
mod tests;
mod text;

pub use self::figures::details;
pub use self::text::{board_lines, glance_text};

use std::path::Path;

use self::page::{CardPage, WRONG};
use super::picture::scene::{Ink, Scene};
use super::{Format, Look, anonymize, png, svg};
use crate::analysis::{self, Glance, Grade, Statement};
use crate::plan::TargetSpec;
use crate::session::Session;

pub const FORMAT: Format = Format {
    id: "card",
    about: "the session at a glance as a small picture, for a forum post; SVG in a file .svg",
    extension: "card.png",
    binary: true,
    write: |session, look, out| png::write_scene(&scene(&glance_of(session), look), out),
};

/// The card for a file that is called .svg.
pub static AS_SVG: Format = Format {
    extension: "card.svg",
    binary: false,
    write: |session, look, out| svg::write_scene(&scene(&glance_of(session), look), out),
    ..FORMAT
};

/// The colours of grades, legible on both backgrounds.
const GOOD: Ink = Ink::Color("#0a9270");
const MISLEADING: Ink = Ink::Color("#b07a00");

/// Returns the glance of a session without private names, except for its file and variants.
fn glance_of(session: &Session) -> Glance {
    let mut private = anonymize(session);
    if let TargetSpec::File { path: hidden, .. }
    | TargetSpec::New { path: hidden, .. }
    | TargetSpec::Files { dir: hidden, .. } = &mut private.plan.target
        && let Some(name) = session.plan.target.path().and_then(Path::file_name)
    {
        *hidden = name.into();
    }
    // Without their names the figures of variants say nothing.
    private.plan.variants.clone_from(&session.plan.variants);
    for (cell, own) in private.plan.cells.iter_mut().zip(&session.plan.cells) {
        cell.variant.clone_from(&own.variant);
    }
    let (results, probes) = (analysis::results(&private), analysis::probes(&private));
    let answer = analysis::answer_with(&private, &results, &probes);
    analysis::glance(&private, &results, &probes, &answer)
}

/// Lays out the card from the top down.
fn scene(glance: &Glance, look: &Look) -> Scene {
    let mut page = CardPage::new(&glance.conditions);
    if let Some(board) = &glance.board {
        figures::draw_board(&mut page, board, look.unit);
    }
    match &glance.columns[..] {
        // The table stands in place of the others.
        _ if glance.table().is_some() => {}
        [_, ..] => figures::draw_columns(&mut page, glance, look.unit),
        [] => draw_probes(&mut page, &glance.probes),
    }
    page.rule();
    for fact in &glance.facts {
        page.paragraph(fact, Ink::Text, None);
    }
    page.skip(4.0);
    for said in [&glance.origin, &glance.trust] {
        draw_statement(&mut page, said);
    }
    page.finish()
}

/// Probes that a card has room for.
const MAX_PROBES: usize = 24;

fn draw_probes(page: &mut CardPage, probes: &[(String, String, String)]) {
    for (label, figure, interval) in probes.iter().take(MAX_PROBES) {
        page.row(label, figure, interval);
    }
    if let Some(more) = probes.len().checked_sub(MAX_PROBES).filter(|more| *more > 0) {
        page.paragraph(&format!("and {more} more"), Ink::Soft, None);
    }
}

fn draw_statement(page: &mut CardPage, said: &Statement) {
    if said.text.is_empty() {
        return;
    }
    let mark = match said.grade {
        Grade::Good => GOOD,
        Grade::Unfinished => Ink::Soft,
        Grade::Misleading => MISLEADING,
        Grade::Wrong => WRONG,
    };
    page.paragraph(&said.text, Ink::Text, Some(mark));
}
