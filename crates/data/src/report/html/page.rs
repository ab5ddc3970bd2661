//! The facts that the sections of a page show.

use crate::analysis::{self, CellResult, Glance, ProbeResult};
use crate::plan;
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

    /// Returns the title of the page: the session's name, else the question of its preset and
    /// what was measured, else its id.
    pub fn title(&self) -> String {
        let (session, place) = (self.session, self.glance.conditions.place());
        let preset = match session.plan.presets.as_slice() {
            // A run without a preset has its name too.
            [id] if session.name.is_empty() && id != "quick" => plan::preset(id).ok(),
            _ => None,
        };
        let question = preset.map(|preset| preset.question).filter(|text| !text.is_empty());
        match question {
            Some(question) => format!("{question} · {}", place.join(", ")),
            None => [session.name.as_str(), session.id.as_str(), "a run"]
                .into_iter()
                .find(|name| !name.is_empty())
                .unwrap_or_default()
                .into(),
        }
    }
}
