//! The comparison for people: the summary, what else differs, and a line per cell with its interval
//! around 1.

use std::io::{self, Write};

use super::{ComparisonFormat, columns};
use crate::analysis::{
    Comparison, Difference, LoneCell, Outcome, Pair, Side, Versus, group_by_key,
};
use crate::plan::{Job, ProbeCell};
use crate::report::notes::{TextLines, name_first};
use crate::report::table::axes;
use crate::report::table::grid::{self, Style};
use crate::report::{Look, text};

/// Lines of a list; further ones are only counted.
pub const MAX_LISTED: usize = 20;

pub const FORMAT: ComparisonFormat = ComparisonFormat {
    id: "table",
    about: "aligned columns for people, with other differences",
    extension: "txt",
    write,
};

fn write(comparison: &Comparison, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut page = TextLines { look, lines: Vec::new() };
    for side in comparison.sides() {
        page.paragraph(&format!("{}  ", side.letter), Style::Bold, &describe_side(side));
    }
    for other in &comparison.others {
        add_comparison(&mut page, other);
    }
    while page.lines.pop_if(|line| line.is_empty()).is_some() {}
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
    text::join_nonempty(parts)
}

fn add_comparison(page: &mut TextLines, versus: &Versus) {
    page.gap();
    page.plain(&versus.describe());
    page.gap();
    if versus.side.variant.is_none() {
        add_differences(page, &versus.differences, &versus.side.letter);
    }
    page.gap();
    if !versus.cells.is_empty() {
        add_cells(page, versus);
    }
    add_list(page, Style::Red, describe_unjudged(&versus.cells, Job::label));
    add_list(page, Style::Dim, describe_beside(versus));
    add_list(page, Style::Dim, describe_unmatched(&versus.alone, Job::label));
    if !versus.probes.is_empty() {
        page.gap();
        let columns = columns::probe_columns(&versus.probes, &versus.side.letter, page.look);
        page.lines.extend(grid::format_lines(&grid::fit(columns, page.look.width), &[], page.look));
    }
    add_list(page, Style::Red, describe_unjudged(&versus.probes, ProbeCell::label));
    add_list(page, Style::Dim, describe_unmatched(&versus.probes_alone, ProbeCell::label));
}

/// States that only the figures differ.
pub fn describe_sameness(letter: &str) -> String {
    format!("A and {letter} have the same settings, host, kernel, file and warnings.")
}

fn add_differences(page: &mut TextLines, differences: &[Difference], letter: &str) {
    if differences.is_empty() {
        return page.plain(&describe_sameness(letter));
    }
    page.plain(&format!("Differences between A and {letter}:"));
    let widest = differences.iter().map(|difference| text::width(&mark(difference))).max();
    let wide = widest.unwrap_or(0).min(page.look.width / 2);
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

fn add_cells(page: &mut TextLines, versus: &Versus) {
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
    page.lines.extend(grid::format_lines(&columns, &breaks, look));
}

/// Adds lines, each with its mark.
fn add_list(page: &mut TextLines, style: Style, lines: impl IntoIterator<Item = (String, String)>) {
    page.gap();
    for (mark, body) in lines {
        page.paragraph(&mark, style, &body);
    }
}

/// Describes the pairs without a verdict by reason: the outcome, then the cells and the reason.
pub fn describe_unjudged<Cell>(
    pairs: &[Pair<Cell>],
    label: fn(&Cell) -> String,
) -> Vec<(String, String)> {
    let unjudged = pairs.iter();
    let unjudged = unjudged.filter(|of| of.outcome.is_unjudged());
    let groups = group_by_key(unjudged, |pair| (pair.outcome, pair.reason.as_deref()));
    let describe = |((outcome, why), affected): ((Outcome, Option<&str>), Vec<&Pair<Cell>>)| {
        let cells = name_first(&label(&affected[0].cell), affected.len());
        let why = why.unwrap_or("one side has no figure");
        (format!("{}: ", outcome.name()), format!("{cells}: {why}"))
    };
    groups.into_iter().map(describe).collect()
}

/// Describes the cells that also differ in one axis, up to [`MAX_LISTED`].
pub fn describe_beside(versus: &Versus) -> impl Iterator<Item = (String, String)> {
    versus.beside.iter().take(MAX_LISTED).map(|laid| {
        let (cell, both) = laid.describe(&versus.side.letter);
        ("not the same job: ".into(), format!("{cell}: {both}"))
    })
}

/// Describes the cells without a partner by reason: the side, then the cells and the reason.
pub fn describe_unmatched<Cell>(
    alone: &[LoneCell<Cell>],
    label: fn(&Cell) -> String,
) -> impl Iterator<Item = (String, String)> {
    let groups = group_by_key(alone.iter(), |cell| (&*cell.only_in, cell.reason.as_deref()));
    groups.into_iter().map(move |((only_in, why), cells)| {
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        let named = name_first(&label(&cells[0].cell), cells.len());
        (format!("only in {only_in}: "), named + &why)
    })
}
