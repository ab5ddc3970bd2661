//! The content of a report: facts, tables, notes and answer, each stated once. The text table,
//! Markdown and the page write it in their own forms.

use super::Look;
use super::notes::{self, ReportNote, Topic};
use super::table::findings::GroupedWarnings;
use super::table::grid::Table;
use super::table::{axes, columns, conditions, extras, grid, probes};
use crate::analysis::{self, Answer, CellResult, Glance, ProbeResult};
use crate::session::Session;

/// The content of a report, in order.
pub struct ReportContent {
    /// Descriptions of the run's presets, each with its paragraphs: for formats read on their own.
    pub presets: Vec<(String, Vec<String>)>,
    /// Target, machine and run, with their labels.
    pub facts: Vec<(&'static str, String)>,
    /// Results, probes, then the small tables.
    pub tables: Vec<Table>,
    pub notes: Vec<(Topic, Vec<ReportNote>)>,
    pub answer: Answer,
    /// Whether the results are as expected.
    pub outcomes: Vec<ReportNote>,
}

impl ReportContent {
    /// Returns the sentences of the first page.
    pub fn head(&self, glance: &Glance) -> String {
        glance.sentences(&self.answer).join(" ")
    }

    /// Returns the answer with all of its figures; `None` if the head has it.
    pub fn whole_answer(&self, glance: &Glance) -> Option<&str> {
        Some(self.answer.text.as_str()).filter(|text| *text != self.head(glance))
    }
}

/// Returns what a report says of a session, with columns for this destination.
pub fn content(
    session: &Session,
    results: &[CellResult],
    probes: &[ProbeResult],
    look: &Look,
) -> ReportContent {
    let (rows, breaks) = axes::sort_rows(results);
    let findings = GroupedWarnings::from_rows(&rows);
    let mut columns = columns::columns(&rows, &findings, look, false);
    let tight = !grid::fits(&columns, look.width);
    if tight {
        columns = columns::columns(&rows, &findings, look, true);
    }
    let mut facts = conditions::conditions(session, &rows, tight);
    facts.retain(|(_, body)| !body.is_empty());
    let mut tables = Vec::new();
    if !rows.is_empty() {
        let (id, title) = (Table::RESULTS, "Results");
        tables.push(Table { id, title, columns, breaks, ..Table::default() });
    }
    if !probes.is_empty() {
        tables.push(probes::table(probes, look));
    }
    tables.extend(extras(session, &rows, look));
    ReportContent {
        presets: conditions::preset_descriptions(session),
        facts,
        tables,
        notes: build_notes(session, &rows, probes, &findings, look.ascii),
        answer: analysis::answer_with(session, results, probes),
        outcomes: notes::outcomes(&analysis::expected_with(session, results)),
    }
}

/// Returns everything between the tables and the answer, in groups.
fn build_notes(
    session: &Session,
    rows: &[&CellResult],
    probes: &[ProbeResult],
    findings: &GroupedWarnings,
    ascii: bool,
) -> Vec<(Topic, Vec<ReportNote>)> {
    let one = |note: Option<ReportNote>| note.into_iter().collect();
    let mut groups = vec![
        (Topic::Warnings, notes::warnings(findings, rows.len(), ascii)),
        (Topic::Gaps, notes::gaps(rows, &analysis::list_skipped(session), ascii)),
        (Topic::Run, notes::cut(rows)),
        (Topic::Run, notes::around(rows)),
        (Topic::Probes, probes::notes(probes, &analysis::skipped_probes(session), ascii)),
        (Topic::Estimates, probes::estimates(probes)),
        (Topic::Run, one(notes::whole_file(session, rows))),
        (Topic::Run, one(notes::page_faults(rows))),
        (Topic::Run, one(notes::xor_coverage(rows))),
        (Topic::Run, one(notes::xor_padding(rows))),
        (Topic::Run, notes::ending(session)),
        (Topic::Expectations, one(notes::expected(session, rows))),
        (Topic::Why, notes::why(session, rows)),
    ];
    groups.retain(|(_, notes)| !notes.is_empty());
    groups
}
