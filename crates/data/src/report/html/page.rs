//! The facts that the sections of a page show.

use crate::analysis::{self, CellResult, Glance, ProbeResult};
use crate::report::Look;
use crate::report::content::{ReportContent, content};
use crate::report::figure::{self, FigureGroup};
use crate::report::table::axes;
use crate::session::Session;
use crate::units::Rates;

/// The facts that the sections of a page show.
pub struct HtmlPage<'a> {
    pub session: &'a Session,
    pub results: &'a [CellResult],
    pub probes: Vec<ProbeResult>,
    pub content: ReportContent,
    pub glance: Glance,
    pub unit: Rates,
    /// The results in the order of the table.
    pub rows: Vec<&'a CellResult>,
    /// The drawing, and the number of the first series of each group.
    pub groups: Vec<FigureGroup>,
    pub first: Vec<usize>,
}

impl<'a> HtmlPage<'a> {
    pub fn new(session: &'a Session, results: &'a [CellResult], look: &Look) -> HtmlPage<'a> {
        let probes = analysis::probes(session);
        let groups = figure::groups(session, results, &probes, look);
        let mut first = Vec::new();
        let mut next = 0;
        for group in &groups {
            first.push(next);
            next += group.keys.len();
        }
        // The browser wraps the lines of a page.
        let look = Look { width: usize::MAX / 2, color: false, ascii: false, ..*look };
        let content = content(session, results, &probes, &look);
        let (rows, _) = axes::sort_rows(results);
        let (glance, unit) =
            (analysis::glance(session, results, &probes, &content.answer), look.unit);
        HtmlPage { session, results, probes, content, glance, unit, rows, groups, first }
    }

    /// Returns the title of the page: the session's name, else its question and what was
    /// measured, else its label.
    pub fn title(&self) -> String {
        let (session, place) = (self.session, self.glance.conditions.place());
        match session.plan.question().filter(|_| session.name.is_empty()) {
            Some(question) => format!("{question} · {}", place.join(", ")),
            None if session.name.is_empty() => crate::session::label(&session.plan),
            None => session.name.clone(),
        }
    }
}
