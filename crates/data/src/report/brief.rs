//! The page that people see first: the answer, the table, and a line for each kind of warning.
//! Evidence, remedies, notes and costs are on the whole page, which `--details` prints.

use super::content::ReportContent;
use super::notes::{self, TextLines};
use super::table::axes;
use super::table::findings::{GroupedWarnings, sign};
use super::table::grid::{Style, Table};
use super::table::probes::{ProbeWarnings, group_warnings};
use super::text::{safe, width};
use super::{Look, card};
use crate::analysis::{self, CellResult, Glance, ProbeResult, group_by_key};
use crate::record::{End, Severity};
use crate::session::Session;
use crate::text::wrap;
use crate::units::counted;

/// Longer tables have no gaps between their groups, so that the page fits a screen.
const MAX_ROWS_WITH_GAPS: usize = 16;

/// Returns the lines of the page.
pub fn format_lines(
    session: &Session,
    results: &[CellResult],
    probes: &[ProbeResult],
    content: ReportContent,
    look: &Look,
) -> Vec<String> {
    let glance = analysis::glance(session, results, probes, &content.answer);
    let mut page = TextLines { look, lines: Vec::new() };
    page.add_notes(&content.outcomes);
    glance.sentences(&content.answer).iter().for_each(|said| page.plain(said));
    page.gap();
    let facts = content.facts.clone();
    add_tables(&mut page, &glance, content);
    page.gap();
    add_warnings(&mut page, results, probes);
    let mut skipped = analysis::list_skipped(session);
    // The table shows what the methods that were not picked reached.
    skipped.retain(|_| !session.plan.pick || glance.table().is_none());
    let (rows, _) = axes::sort_rows(results);
    page.add_notes(&notes::gaps(&rows, &skipped, look.ascii));
    if !matches!(session.end, Some(End::Finished | End::Budget | End::Goal)) {
        page.add_notes(&notes::ending(session)[..1]);
    }
    page.add_notes(&notes::of_run(session).collect::<Vec<_>>());
    page.gap();
    let has_table = glance.table().is_some();
    let shown = ["target", "remote", "ranks"];
    let facts = facts.into_iter().filter(|(label, _)| shown.contains(label));
    let shared = if has_table { String::new() } else { axes::unusual_constants(&rows) };
    let below = [
        ("cells", shared),
        ("from", glance.origin.text),
        ("trust", glance.trust.text),
        ("on", glance.conditions.machine().join(", ")),
        ("more", describe_more(session)),
    ];
    for (label, body) in facts.chain(below) {
        if !body.is_empty() {
            page.paragraph(&format!("{label:<8}"), Style::Dim, &body);
        }
    }
    page.lines
}

/// Adds the scoreboard, if the session has one, else the table of results, and the small tables
/// that say more.
fn add_tables(page: &mut TextLines, glance: &Glance, content: ReportContent) {
    if let Some(table) = glance.table() {
        page.lines.extend(card::board_lines(table, page.look));
        return;
    }
    let mut tables: Vec<Table> = content.tables;
    tables.retain(|table| !table.repeats);
    // Commits have their own figures: the first table would repeat them as throughput.
    if let Some(at) = tables.iter().position(|table| table.has_all_rows) {
        let signs = tables[0].columns.pop();
        tables[at].columns.extend(signs);
        tables.remove(0);
    }
    for table in tables {
        page.gap();
        let breaks = if table.breaks.len() > MAX_ROWS_WITH_GAPS { vec![] } else { table.breaks };
        // The whole page explains the columns.
        page.add_table(Table { text: String::new(), breaks, ..table });
    }
}

/// Adds a line for each kind of warning, with the number to which rows refer, and one that counts
/// the notes.
fn add_warnings(page: &mut TextLines, results: &[CellResult], probes: &[ProbeResult]) {
    let (rows, _) = axes::sort_rows(results);
    let findings = GroupedWarnings::from_rows(&rows);
    let mut noted: Vec<(&str, usize)> = Vec::new();
    for (at, found) in findings.0.iter().enumerate() {
        if found.warning.severity == Severity::Note {
            noted.push((&found.warning.id, found.cells.len()));
            continue;
        }
        let cells = counted(found.cells.len(), "cell");
        let (mark, style) = sign(found.warning.severity, page.look.ascii);
        add_line(
            page,
            &format!("{mark}{}: ", at + 1),
            style,
            &format!("{cells}: {}{}", found.message, found.describe_lesser()),
        );
    }
    for ProbeWarnings { first, message, labels } in group_warnings(probes) {
        if first.severity == Severity::Note {
            noted.push((&first.id, labels.len()));
            continue;
        }
        let (mark, style) = sign(first.severity, page.look.ascii);
        let figures = counted(labels.len(), "figure");
        add_line(page, mark, style, &format!("{figures}: {message}"));
    }
    let kinds = group_by_key(noted, |(id, _)| *id);
    let count = |all: &[(&str, usize)]| all.iter().map(|(_, cells)| cells).sum::<usize>();
    let kinds: Vec<String> =
        kinds.iter().map(|(id, all)| format!("{id} ({})", count(all))).collect();
    if !kinds.is_empty() {
        page.paragraph("notes: ", Style::Dim, &kinds.join(", "));
    }
}

/// Adds a single line, cut where it is too long.
fn add_line(page: &mut TextLines, mark: &str, style: Style, body: &str) {
    let room = page.look.width.saturating_sub(width(mark)).max(20);
    let body = safe(body, page.look);
    let cut = match width(&body) > room {
        true => format!("{}..", wrap(&body, room - 2).first().map_or("", String::as_str)),
        false => body,
    };
    page.paragraph(mark, style, &cut);
}

/// Returns how to have everything else printed.
fn describe_more(session: &Session) -> String {
    match &session.id[..] {
        "" => "not saved; run again with --details".into(),
        id => format!("iotui sessions show {id} --details"),
    }
}
