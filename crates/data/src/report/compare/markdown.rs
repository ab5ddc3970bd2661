//! The comparison as Markdown, ready for a pull request: the summary first, then the cells, then
//! other differences that could be the cause.

use std::io::{self, Write};

use super::table::{
    describe_beside, describe_sameness, describe_side, describe_unjudged, describe_unmatched,
    sort_pairs,
};
use super::{ComparisonFormat, columns};
use crate::analysis::{Comparison, Difference, Versus};
use crate::plan::{Job, ProbeCell};
use crate::report::Look;
use crate::report::markdown::{escape, format_row, write_table};
use crate::report::table::axes;
use crate::report::table::grid::Column;
use crate::report::text::safe;

pub const FORMAT: ComparisonFormat = ComparisonFormat {
    id: "markdown",
    about: "summary, cells and differences, for a pull request",
    extension: "md",
    write,
};

fn write(comparison: &Comparison, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let text = |body: &str| escape(&safe(body, look));
    let sides: Vec<String> = comparison
        .sides()
        .map(|side| format!("- **{}**: {}", text(&side.letter), text(&describe_side(side))))
        .collect();
    if let [other] = &comparison.others[..] {
        writeln!(out, "**{}**\n\n{}", text(&other.describe()), sides.join("\n"))?;
        return write_comparison(other, look, out);
    }
    writeln!(out, "{}", sides.join("\n"))?;
    for other in &comparison.others {
        let (letter, said) = (text(&other.side.letter), text(&other.describe()));
        writeln!(out, "\n### {letter} compared with A\n\n**{said}**")?;
        write_comparison(other, look, out)?;
    }
    Ok(())
}

fn write_comparison(versus: &Versus, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let text = |body: &str| escape(&safe(body, look));
    let pairs = sort_pairs(&versus.cells).0;
    if !pairs.is_empty() {
        let constants =
            axes::constants_of(&pairs.iter().map(|pair| &pair.cell).collect::<Vec<_>>(), true);
        if !constants.is_empty() {
            writeln!(out, "\nCells: {}.", text(&constants))?;
        }
        write_columns(columns::columns(&pairs, &versus.side.letter, look), out)?;
    }
    if versus.side.variant.is_some() {
        return Ok(());
    }
    write_differences(&versus.differences, &versus.side.letter, look, out)?;
    if !versus.probes.is_empty() {
        let columns = columns::probe_columns(&versus.probes, &versus.side.letter, look);
        write_columns(columns, out)?;
    }
    let lines: Vec<(String, String)> = describe_unjudged(&versus.cells, Job::label)
        .into_iter()
        .chain(describe_unjudged(&versus.probes, ProbeCell::label))
        .chain(describe_beside(versus))
        .chain(describe_unmatched(&versus.alone, Job::label))
        .chain(describe_unmatched(&versus.probes_alone, ProbeCell::label))
        .collect();
    if !lines.is_empty() {
        writeln!(out)?;
    }
    lines.iter().try_for_each(|(mark, body)| writeln!(out, "- {}", text(&format!("{mark}{body}"))))
}

/// Writes a table without drawn intervals, which need a fixed-width font.
fn write_columns(mut columns: Vec<Column>, out: &mut dyn Write) -> io::Result<()> {
    columns.retain(|column| column.rank != columns::INTERVAL_RANK);
    writeln!(out)?;
    write_table(&columns, out)
}

fn write_differences(
    differences: &[Difference],
    letter: &str,
    look: &Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    if differences.is_empty() {
        let said = describe_sameness(letter);
        return writeln!(out, "\n{}", escape(&said));
    }
    let head = format_row(["Difference", "", "A", letter].map(escape).to_vec());
    writeln!(out, "\n{head}\n{}", format_row(vec!["---".into(); 4]))?;
    for Difference { about, what, base, other } in differences {
        let row = [about, what.as_str(), base, other].map(|part| escape(&safe(part, look)));
        writeln!(out, "{}", format_row(row.to_vec()))?;
    }
    Ok(())
}
