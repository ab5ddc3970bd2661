//! The facts that the sections of a page show.

use crate::analysis::{self, CellResult, ProbeResult};
use crate::report::Look;
use crate::report::content::{ReportContent, content};
use crate::report::figure::{self, FigureGroup};
use crate::report::table::axes;
use crate::session::Session;

/// The facts that the sections of a page show.
pub struct HtmlPage<'a> {
    pub session: &'a Session,
    pub results: &'a [CellResult],
    pub probes: Vec<ProbeResult>,
    pub content: ReportContent,
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
        HtmlPage { session, results, probes, content, rows, groups, first }
    }

    /// Returns the title of the page: the session's name or id.
    pub fn name(&self) -> &str {
        [self.session.name.as_str(), self.session.id.as_str(), "a run"]
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default()
    }
}
