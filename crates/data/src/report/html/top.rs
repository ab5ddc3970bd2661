//! The head of the page: what was measured, the answer, the key figures, and the conditions.

use std::io::{self, Write};

use super::page::HtmlPage;
use super::parts::begin_section;
use crate::analysis;
use crate::analysis::{Best, Board, GlanceFigure, SummaryOf, capitalize, times};
use crate::record::{Severity, Warning};
use crate::report;
use crate::report::card::details;
use crate::report::host::HostItem;
use crate::report::text::{join_nonempty, xml};
use crate::units::{Precision, counted};

pub fn write(page: &HtmlPage, out: &mut dyn Write) -> io::Result<()> {
    let session = page.session;
    writeln!(out, "<header>\n<p class=\"brand\">iotui</p>\n<h1>{}</h1>", xml(&page.title()))?;
    writeln!(out, "<p class=\"when\"><time>{}</time></p>", xml(&session.created))?;
    let facts = page.content.facts.iter();
    for (label, body) in facts.filter(|(label, _)| ["target", "host"].contains(label)) {
        writeln!(out, "<p class=\"what\"><b>{label}</b> {}</p>", xml(body))?;
    }
    writeln!(out, "</header>")?;
    begin_section("answer", "Answer", out)?;
    writeln!(
        out,
        "<p class=\"answer\">{}</p>\n<ul class=\"tiles\">",
        xml(&page.content.head(&page.glance))
    )?;
    if let Some(board) = page.glance.board.as_ref().filter(|board| !board.number.is_empty()) {
        let spread = std::iter::once(board.describe_spread());
        let about = join_nonempty(spread.chain(board.beside.iter().cloned()));
        let class = board.figure.map_or("", |figure| class_of(&figure));
        let figure = format!("{} {}", board.number, board.unit);
        let title = xml(&capitalize(&board.title));
        write_tile(out, class, &title, figure.trim_end(), &about)?;
    }
    let large = page.glance.table().filter(|board| board.large);
    let answer = &page.content.answer;
    match large {
        Some(board) => write_figures(page, board, out)?,
        None => {
            answer.best.iter().chain(&answer.also).try_for_each(|best| write_fastest(best, out))?
        }
    }
    if let Some(cost) = &page.content.answer.cold_cost {
        let what =
            format!("warm relative to cold; cold reaches {}", cost.precision.rate(cost.throughput));
        write_tile(out, "", "Cold costs", &format!("{} x", times(cost.ratio)), &what)?;
    }
    write_trust(page, out)?;
    writeln!(out, "</ul>")?;
    if let Some(whole) = page.content.whole_answer(&page.glance) {
        writeln!(out, "<p>{}</p>", xml(whole))?;
    }
    writeln!(out, "</section>")
}

fn write_tile(
    out: &mut dyn Write,
    class: &str,
    title: &str,
    figure: &str,
    about: &str,
) -> io::Result<()> {
    writeln!(
        out,
        "<li class=\"tile {class}\"><h3>{title}</h3><p class=\"figure\">{}</p><p>{}</p></li>",
        xml(figure),
        xml(about)
    )
}

/// Returns the class of the tile of a figure, by its certainty.
fn class_of(figure: &GlanceFigure) -> &'static str {
    match figure.precision() {
        _ if figure.wrong => "wrong",
        Precision::Rough => "wide rough",
        _ if figure.suits_large() => "",
        _ => "wide",
    }
}

/// Writes each figure of a table, reads before writes.
fn write_figures(page: &HtmlPage, board: &Board, out: &mut dyn Write) -> io::Result<()> {
    for column in &board.columns {
        let (title, texts) = column.texts(page.unit);
        let (title, unit) = title.split_once(", ").unwrap_or((&title, ""));
        for ((row, text), cell) in board.rows.iter().zip(&texts).zip(&column.cells) {
            let Some(cell) = cell else { continue };
            let name = row.split_whitespace().collect::<Vec<_>>().join(" ");
            let (about, certainty) = details(cell, column.factor(page.unit));
            let about = join_nonempty([certainty, about]);
            let figure = format!("{} {unit}", text.trim());
            let title = xml(&format!("{title} {name}"));
            write_tile(out, class_of(&cell.figure), &title, &figure, &about)?;
        }
    }
    Ok(())
}

fn write_fastest(best: &Best, out: &mut dyn Write) -> io::Result<()> {
    let Some(SummaryOf { summary, .. }) = best.throughput.or(best.operations) else {
        return Ok(());
    };
    let figure = match best.throughput {
        Some(_) => best.precision().rate(summary.median),
        None => format!("{}/s", best.precision().count(summary.median)),
    };
    // Too few trials are not ranked.
    let rank = if best.provisional { "Highest" } else { "Fastest" };
    let what = if best.throughput.is_some() { best.cell.op.to_string() } else { "call".into() };
    let so_far = if best.provisional { " so far" } else { "" };
    let title = format!("{rank} {what}{so_far}");
    let ties = match best.no_difference.len() {
        0 => String::new(),
        n if best.alike.len() == n => format!("; as fast as {}", counted(n, "other")),
        n => format!("; no difference shows from {}", counted(n, "other")),
    };
    let (class, about) = match &best.wrong {
        Some(why) => ("wrong", format!("{}; × {why}", best.cell.label())),
        None => ("", format!("{}{ties}", best.cell.label())),
    };
    write_tile(out, class, &title, &figure, &about)
}

/// Writes the number of results without a warning.
fn write_trust(page: &HtmlPage, out: &mut dyn Write) -> io::Result<()> {
    // A cell that failed after its first trials has warnings too, but counts as one result.
    let jobs = page.rows.iter().map(|row| (row.error.is_some(), &row.warnings));
    let all: Vec<(bool, &Vec<Warning>)> = jobs
        .chain(page.probes.iter().map(|probe| (probe.error.is_some(), &probe.warnings)))
        .collect();
    let failed = all.iter().filter(|(failed, _)| *failed).count();
    let worst = |severity| {
        let is_it = |(failed, warnings): &&(bool, &Vec<Warning>)| {
            !failed && warnings.iter().map(|w| w.severity).max() == Some(severity)
        };
        all.iter().filter(is_it).count()
    };
    let (wrong, misleading) = (worst(Severity::Wrong), worst(Severity::Misleading));
    let skipped =
        analysis::list_skipped(page.session).len() + analysis::skipped_probes(page.session).len();
    let (all, sound) = (all.len(), all.len() - failed - wrong - misleading);
    let parts = [
        (wrong, "×", "wrong"),
        (misleading, "!", "misleading"),
        (failed, "×", "failed"),
        (skipped, "–", "not measured"),
    ];
    let counts: Vec<String> = parts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, mark, what)| format!("{mark} {count} {what}"))
        .collect();
    let class = match (wrong + failed, misleading) {
        (0, 0) => "sound",
        (0, _) => "misleading",
        _ => "wrong",
    };
    let about = match counts.join(", ") {
        none if none.is_empty() => "no reason was found to doubt a result".into(),
        counts => counts,
    };
    write_tile(out, class, "Results without a warning", &format!("{sound} of {all}"), &about)
}

/// Writes what the presets of this run do.
pub fn presets(page: &HtmlPage, out: &mut dyn Write) -> io::Result<()> {
    let presets = &page.content.presets;
    if presets.is_empty() {
        return Ok(());
    }
    begin_section("done", "What was done", out)?;
    for (what, paragraphs) in presets {
        writeln!(out, "<p><b>{}</b></p>", xml(what))?;
        paragraphs
            .iter()
            .try_for_each(|text| writeln!(out, "<p class=\"quiet\">{}</p>", xml(text)))?;
    }
    writeln!(out, "</section>")
}

/// Writes everything that was constant, and the machine.
pub fn conditions(page: &HtmlPage, out: &mut dyn Write) -> io::Result<()> {
    begin_section("conditions", "Conditions", out)?;
    writeln!(out, "<dl>")?;
    for (label, body) in &page.content.facts {
        write_row(out, label, body)?;
    }
    writeln!(out, "</dl>\n<details>\n<summary>The machine</summary>\n<dl>")?;
    for item in report::host::host_items(&page.session.host, None) {
        match item {
            HostItem::Row { label, value } => write_row(out, label, &value)?,
            HostItem::Section(title) => {
                writeln!(out, "<dt class=\"head\">{}</dt><dd></dd>", xml(title))?
            }
            HostItem::Table { rows, .. } => {
                for line in rows.into_iter().skip(1) {
                    write_row(out, "", &join_nonempty(line))?;
                }
            }
        }
    }
    writeln!(out, "</dl>\n</details>\n</section>")
}

fn write_row(out: &mut dyn Write, label: &str, body: &str) -> io::Result<()> {
    if body.trim().is_empty() {
        Ok(())
    } else {
        writeln!(out, "<dt>{}</dt><dd>{}</dd>", xml(label), xml(body))
    }
}
