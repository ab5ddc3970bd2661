//! The comparison for people: what else differs, a line per cell with its interval around 1, and
//! the sum.

use std::io::{self, Write};

use super::{ComparisonFormat, columns};
use crate::analysis::{Comparison, Difference, LoneCell, Outcome, Pair, Side, Versus};
use crate::plan::{Job, ProbeCell};
use crate::report::table::axes;
use crate::report::table::below::Page;
use crate::report::table::grid::{self, Style};
use crate::report::{Look, text};

/// Cells without a partner that are listed; the rest is counted.
pub const LISTED: usize = 20;

pub const FORMAT: ComparisonFormat = ComparisonFormat {
    id: "table",
    about: "aligned columns for people, with what else differs",
    extension: "txt",
    write,
};

fn write(comparison: &Comparison, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page { look, lines: Vec::new() };
    let others = comparison.others.iter().map(|other| &other.side);
    for side in std::iter::once(&comparison.base).chain(others) {
        page.paragraph(&format!("{}  ", side.letter), Style::Bold, &about(side));
    }
    for other in &comparison.others {
        versus(&mut page, other);
    }
    page.lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// What a session is called, when it ran and where.
pub fn about(side: &Side) -> String {
    let name = if side.name.is_empty() { String::new() } else { format!("{} ", side.name) };
    let session =
        if side.session.is_empty() { "not saved".into() } else { format!("({})", side.session) };
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
    reasons(
        page,
        unjudged(&versus.cells, |pair| (pair.outcome, pair.reason.as_deref(), pair.cell.label())),
    );
    beside(page, versus);
    alone(page, &versus.alone, Job::label);
    probes(page, versus);
    page.gap();
    page.plain(&versus.said());
}

fn differences(page: &mut Page, differences: &[Difference], letter: &str) {
    if differences.is_empty() {
        return page.plain(&format!(
            "A and {letter} have settings, host, kernel, file and warnings in common."
        ));
    }
    page.plain(&format!("What differs between A and {letter}:"));
    let wide = differences
        .iter()
        .map(|d| text::width(&mark(d)))
        .max()
        .unwrap_or(0)
        .min(page.look.width / 2);
    for difference in differences {
        let body = format!("{} | {}", difference.base, difference.other);
        page.paragraph(&text::left(&mark(difference), wide), Style::Dim, &body);
    }
}

fn mark(difference: &Difference) -> String {
    format!("  {:<8}  {}  ", difference.about, difference.what)
}

/// Rows so that a curve reads downwards, and before which of them a gap helps.
pub fn sorted(pairs: &[Pair]) -> (Vec<&Pair>, Vec<bool>) {
    let (order, breaks) = axes::order_of(&pairs.iter().map(|pair| &pair.cell).collect::<Vec<_>>());
    (order.into_iter().map(|at| &pairs[at]).collect(), breaks)
}

fn cells(page: &mut Page, versus: &Versus) {
    let look = page.look;
    let (pairs, breaks) = sorted(&versus.cells);
    let constants =
        axes::constants_of(&pairs.iter().map(|pair| &pair.cell).collect::<Vec<_>>(), true);
    if !constants.is_empty() {
        page.paragraph("cells  ", Style::Dim, &constants);
        page.gap();
    }
    let columns = columns::columns(&pairs, &versus.side.letter, look);
    let columns =
        if grid::squeezes(&columns, look.width) { columns } else { grid::fit(columns, look.width) };
    page.lines.extend(grid::lines(&columns, &breaks, look.width, look.color));
}

fn reasons(page: &mut Page, unjudged: Vec<(Outcome, String, &str)>) {
    page.gap();
    for (outcome, cells, why) in unjudged {
        page.paragraph(&format!("{}: ", outcome.name()), Style::Red, &format!("{cells}: {why}"));
    }
}

/// Why pairs are not judged, equal reasons together: the outcome, the cells, the reason. `of` says
/// the three of a pair.
pub fn unjudged<Pair>(
    pairs: &[Pair],
    of: fn(&Pair) -> (Outcome, Option<&str>, String),
) -> Vec<(Outcome, String, &str)> {
    let mut told: Vec<(Outcome, &str, Vec<String>)> = Vec::new();
    for (outcome, reason, label) in pairs
        .iter()
        .map(of)
        .filter(|(outcome, ..)| matches!(outcome, Outcome::Wrong | Outcome::Failed))
    {
        let why = reason.unwrap_or("a side has no figure");
        match told.iter_mut().find(|(known, reason, _)| *known == outcome && *reason == why) {
            Some((.., having)) => having.push(label),
            None => told.push((outcome, why, vec![label])),
        }
    }
    let cells = |having: &[String]| {
        let more = if having.len() > 1 {
            format!(", and {} more", having.len() - 1)
        } else {
            String::new()
        };
        format!("{}{more}", having[0])
    };
    told.into_iter().map(|(outcome, why, having)| (outcome, cells(&having), why)).collect()
}

fn probes(page: &mut Page, versus: &Versus) {
    if !versus.probes.is_empty() {
        page.gap();
        let columns = grid::fit(
            columns::probed(&versus.probes, &versus.side.letter, page.look),
            page.look.width,
        );
        page.lines.extend(grid::lines(
            &columns,
            &vec![false; versus.probes.len()],
            page.look.width,
            page.look.color,
        ));
    }
    reasons(
        page,
        unjudged(&versus.probes, |pair| (pair.outcome, pair.reason.as_deref(), pair.cell.label())),
    );
    alone(page, &versus.probes_alone, ProbeCell::label);
}

fn beside(page: &mut Page, versus: &Versus) {
    page.gap();
    for (cell, both) in versus.beside.iter().take(LISTED).map(|laid| laid.told(&versus.side.letter))
    {
        page.paragraph("not the same job: ", Style::Dim, &format!("{cell}: {both}"));
    }
}

fn alone<Cell>(page: &mut Page, alone: &[LoneCell<Cell>], label: fn(&Cell) -> String) {
    page.gap();
    partnerless(alone, label)
        .for_each(|(mark, body)| page.paragraph(mark.as_str(), Style::Dim, &body));
}

/// The cells without a partner, as many as are listed: whose they are, and which.
pub fn partnerless<Cell>(
    alone: &[LoneCell<Cell>],
    label: fn(&Cell) -> String,
) -> impl Iterator<Item = (String, String)> {
    let told = alone.iter().take(LISTED).map(move |cell| {
        let why = cell.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        (format!("only in {}: ", cell.only_in), format!("{}{why}", label(&cell.cell)))
    });
    let more = alone.len().saturating_sub(LISTED);
    told.chain(
        (more > 0).then(|| {
            (String::new(), format!("and {more} more cells that only one of them measured"))
        }),
    )
}
