//! Sessions against each other, for people: what else differs, a line per cell with its interval around 1, and the sum.

mod bar;
mod columns;
mod formats;
#[cfg(test)]
mod tests;

pub use columns::columns as compared_columns;
pub use formats::{COMPARISONS, ComparisonFormat};

use super::Look;
use super::table::axes;
use super::table::below::{Page, safe};
use super::table::grid::{self, Style};
use super::text;
use crate::session::{Alone, Comparison, Difference, Outcome, Pair, Side, Versus};

/// Cells without a partner that are listed; the rest is counted.
const LISTED: usize = 20;

/// The whole comparison as lines.
pub fn table(comparison: &Comparison, look: &Look) -> String {
    let mut page = Page { look, lines: Vec::new() };
    let others = comparison.others.iter().map(|other| &other.side);
    for side in std::iter::once(&comparison.base).chain(others) {
        page.paragraph(&format!("{}  ", side.letter), Style::Bold, &about(side));
    }
    for other in &comparison.others {
        versus(&mut page, other);
    }
    page.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn about(side: &Side) -> String {
    let name = if side.name.is_empty() { String::new() } else { format!("{} ", side.name) };
    let session = if side.session.is_empty() { "not saved".into() } else { format!("({})", side.session) };
    let parts = [name + &session, side.created.clone(), side.host.clone(), side.target.clone()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn versus(page: &mut Page, versus: &Versus) {
    page.gap();
    differences(page, &versus.differences, &versus.side.letter);
    page.gap();
    if !versus.cells.is_empty() {
        cells(page, versus);
    }
    reasons(page, &versus.cells);
    alone(page, &versus.alone);
    page.gap();
    page.plain(&versus.text);
}

fn differences(page: &mut Page, differences: &[Difference], letter: &str) {
    if differences.is_empty() {
        return page.plain(&format!("A and {letter} have settings, host, kernel, file and warnings in common."));
    }
    page.plain(&format!("What differs between A and {letter}:"));
    let wide = differences.iter().map(|d| text::width(&mark(d))).max().unwrap_or(0).min(page.look.width / 2);
    for difference in differences {
        let body = format!("{} | {}", difference.base, difference.other);
        page.paragraph(&text::left(&mark(difference), wide), Style::Dim, &body);
    }
}

fn mark(difference: &Difference) -> String {
    format!("  {:<8}  {}  ", difference.about, difference.what)
}

fn cells(page: &mut Page, versus: &Versus) {
    let look = page.look;
    let (order, breaks) = axes::order_of(&versus.cells.iter().map(|pair| &pair.cell).collect::<Vec<_>>());
    let pairs: Vec<&Pair> = order.into_iter().map(|at| &versus.cells[at]).collect();
    let constants = axes::constants_of(&pairs.iter().map(|pair| &pair.cell).collect::<Vec<_>>(), true);
    if !constants.is_empty() {
        page.paragraph("cells  ", Style::Dim, &constants);
        page.gap();
    }
    let columns = columns::columns(&pairs, &versus.side.letter, look);
    let columns = if grid::squeezes(&columns, look.width) { columns } else { grid::fit(columns, look.width) };
    page.lines.extend(grid::lines(&columns, &breaks, look.width, look.color));
}

/// Why pairs are not judged, equal reasons together.
fn reasons(page: &mut Page, pairs: &[Pair]) {
    page.gap();
    let mut told: Vec<(Outcome, &str, Vec<&Pair>)> = Vec::new();
    for pair in pairs.iter().filter(|pair| matches!(pair.outcome, Outcome::Wrong | Outcome::Failed)) {
        let why = pair.reason.as_deref().unwrap_or("a side has no figure");
        match told.iter_mut().find(|(outcome, reason, _)| *outcome == pair.outcome && *reason == why) {
            Some((.., having)) => having.push(pair),
            None => told.push((pair.outcome, why, vec![pair])),
        }
    }
    for (outcome, why, having) in told {
        let more = if having.len() > 1 { format!(", and {} more", having.len() - 1) } else { String::new() };
        page.paragraph(&format!("{}: ", outcome.name()), Style::Red, &format!("{}{more}: {why}", having[0].cell.label()));
    }
}

fn alone(page: &mut Page, alone: &[Alone]) {
    page.gap();
    for cell in alone.iter().take(LISTED) {
        let why = cell.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        page.paragraph(&format!("only in {}: ", cell.only_in), Style::Dim, &format!("{}{why}", cell.cell.label()));
    }
    if alone.len() > LISTED {
        page.plain(&format!("and {} more cells that only one of them measured", alone.len() - LISTED));
    }
}
