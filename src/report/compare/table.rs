//! The comparison for people: what else differs, a line per cell with its interval around 1, and
//! the summary.

use std::io::{self, Write};

use super::{ComparisonFormat, columns};
use crate::analysis::{Comparison, Difference, LoneCell, Outcome, Pair, Side, Versus};
use crate::plan::{Job, ProbeCell};
use crate::report::table::axes;
use crate::report::table::below::Page;
use crate::report::table::grid::{self, Style};
use crate::report::{Look, text};
use crate::units::counted;

/// Lines of a list; the others are only counted.
pub const MAX_LISTED: usize = 20;

pub const FORMAT: ComparisonFormat = ComparisonFormat {
    id: "table",
    about: "aligned columns for people, with other differences",
    extension: "txt",
    write,
};

fn write(comparison: &Comparison, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page { look, lines: Vec::new() };
    let others = comparison.others.iter().map(|other| &other.side);
    for side in std::iter::once(&comparison.base).chain(others) {
        page.paragraph(&format!("{}  ", side.letter), Style::Bold, &describe_side(side));
    }
    for other in &comparison.others {
        add_comparison(&mut page, other);
    }
    page.lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Describes a session: its name, and when and where it ran; or the variant of a run.
pub fn describe_side(side: &Side) -> String {
    if let Some(variant) = &side.variant {
        return variant.clone();
    }
    let name = if side.name.is_empty() { String::new() } else { format!("{} ", side.name) };
    let session =
        if side.session.is_empty() { "not saved".into() } else { format!("({})", side.session) };
    let parts = [name + &session, side.created.clone(), side.host.clone(), side.target.clone()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn add_comparison(page: &mut Page, versus: &Versus) {
    page.gap();
    if versus.side.variant.is_none() {
        add_differences(page, &versus.differences, &versus.side.letter);
    }
    page.gap();
    if !versus.cells.is_empty() {
        add_cells(page, versus);
    }
    add_reasons(
        page,
        group_unjudged(&versus.cells, |pair| {
            (pair.outcome, pair.reason.as_deref(), pair.cell.label())
        }),
    );
    add_different_jobs(page, versus);
    add_unmatched(page, &versus.alone, Job::label);
    add_probes(page, versus);
    page.gap();
    page.plain(&versus.describe());
}

fn add_differences(page: &mut Page, differences: &[Difference], letter: &str) {
    if differences.is_empty() {
        return page.plain(&format!(
            "A and {letter} have the same settings, host, kernel, file and warnings."
        ));
    }
    page.plain(&format!("Differences between A and {letter}:"));
    let wide = differences
        .iter()
        .map(|d| text::width(&mark(d)))
        .max()
        .unwrap_or(0)
        .min(page.look.width / 2);
    for difference in differences {
        let body = format!("{} | {}", difference.base, difference.other);
        page.paragraph(&text::pad_right(&mark(difference), wide), Style::Dim, &body);
    }
}

fn mark(difference: &Difference) -> String {
    format!("  {:<8}  {}  ", difference.about, difference.what)
}

/// Sorts rows so that a curve reads downwards; also returns which of them follow a gap.
pub fn sort_pairs(pairs: &[Pair]) -> (Vec<&Pair>, Vec<bool>) {
    let (order, breaks) =
        axes::sort_order_of(&pairs.iter().map(|pair| &pair.cell).collect::<Vec<_>>());
    (order.into_iter().map(|at| &pairs[at]).collect(), breaks)
}

fn add_cells(page: &mut Page, versus: &Versus) {
    let look = page.look;
    let (pairs, breaks) = sort_pairs(&versus.cells);
    let constants =
        axes::constants_of(&pairs.iter().map(|pair| &pair.cell).collect::<Vec<_>>(), true);
    if !constants.is_empty() {
        page.paragraph("cells  ", Style::Dim, &constants);
        page.gap();
    }
    let columns = columns::columns(&pairs, &versus.side.letter, look);
    let columns =
        if grid::squeezes(&columns, look.width) { columns } else { grid::fit(columns, look.width) };
    page.lines.extend(grid::format_lines(&columns, &breaks, look.width, look.color));
}

fn add_reasons(page: &mut Page, groups: Vec<(Outcome, String, &str)>) {
    page.gap();
    for (outcome, cells, why) in groups {
        page.paragraph(&format!("{}: ", outcome.name()), Style::Red, &format!("{cells}: {why}"));
    }
}

/// Groups the pairs without a verdict by reason: the outcome, the cells, the reason. `of` returns
/// the three for a pair.
pub fn group_unjudged<Pair>(
    pairs: &[Pair],
    of: fn(&Pair) -> (Outcome, Option<&str>, String),
) -> Vec<(Outcome, String, &str)> {
    let mut groups: Vec<(Outcome, &str, Vec<String>)> = Vec::new();
    for (outcome, reason, label) in pairs
        .iter()
        .map(of)
        .filter(|(outcome, ..)| matches!(outcome, Outcome::Wrong | Outcome::Failed))
    {
        let why = reason.unwrap_or("one side has no figure");
        match groups.iter_mut().find(|(known, reason, _)| *known == outcome && *reason == why) {
            Some((.., affected)) => affected.push(label),
            None => groups.push((outcome, why, vec![label])),
        }
    }
    let cells = |affected: &[String]| {
        let more = if affected.len() > 1 {
            format!(", and {} more", affected.len() - 1)
        } else {
            String::new()
        };
        format!("{}{more}", affected[0])
    };
    groups.into_iter().map(|(outcome, why, affected)| (outcome, cells(&affected), why)).collect()
}

fn add_probes(page: &mut Page, versus: &Versus) {
    if !versus.probes.is_empty() {
        page.gap();
        let columns = grid::fit(
            columns::probe_columns(&versus.probes, &versus.side.letter, page.look),
            page.look.width,
        );
        page.lines.extend(grid::format_lines(
            &columns,
            &vec![false; versus.probes.len()],
            page.look.width,
            page.look.color,
        ));
    }
    add_reasons(
        page,
        group_unjudged(&versus.probes, |pair| {
            (pair.outcome, pair.reason.as_deref(), pair.cell.label())
        }),
    );
    add_unmatched(page, &versus.probes_alone, ProbeCell::label);
}

fn add_different_jobs(page: &mut Page, versus: &Versus) {
    page.gap();
    for (cell, both) in
        versus.beside.iter().take(MAX_LISTED).map(|laid| laid.describe(&versus.side.letter))
    {
        page.paragraph("not the same job: ", Style::Dim, &format!("{cell}: {both}"));
    }
}

fn add_unmatched<Cell>(page: &mut Page, alone: &[LoneCell<Cell>], label: fn(&Cell) -> String) {
    page.gap();
    describe_unmatched(alone, label)
        .for_each(|(mark, body)| page.paragraph(mark.as_str(), Style::Dim, &body));
}

/// Describes the cells without a partner, up to [`MAX_LISTED`]: the side, and the cell.
pub fn describe_unmatched<Cell>(
    alone: &[LoneCell<Cell>],
    label: fn(&Cell) -> String,
) -> impl Iterator<Item = (String, String)> {
    let listed = alone.iter().take(MAX_LISTED).map(move |cell| {
        let why = cell.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        (format!("only in {}: ", cell.only_in), format!("{}{why}", label(&cell.cell)))
    });
    let more = alone.len().saturating_sub(MAX_LISTED);
    listed.chain((more > 0).then(|| {
        (String::new(), format!("and {} that only one side measured", counted(more, "more cell")))
    }))
}
