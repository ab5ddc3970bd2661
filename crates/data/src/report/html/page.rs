//! The facts that the sections of a page show.

use crate::analysis;
use crate::analysis::{Answer, CellResult, ProbeResult};
use crate::plan::Skipped;
use crate::report::Look;
use crate::report::figure::{self, Group};
use crate::report::table::axes;
use crate::report::table::findings::Findings;
use crate::session::Session;

/// The facts that the sections of a page show.
pub struct Page<'a> {
    pub session: &'a Session,
    pub results: &'a [CellResult],
    pub probes: Vec<ProbeResult>,
    /// The results in the order of the table, and those that are preceded by a gap.
    pub rows: Vec<&'a CellResult>,
    pub breaks: Vec<bool>,
    pub findings: Findings<'a>,
    pub skipped: Vec<Skipped>,
    pub answer: Answer,
    /// The drawing, and the number of the first series of each group.
    pub groups: Vec<Group>,
    pub first: Vec<usize>,
    pub look: Look,
}

impl<'a> Page<'a> {
    pub fn new(session: &'a Session, results: &'a [CellResult], look: &Look) -> Page<'a> {
        let (rows, breaks) = axes::sort_rows(results);
        let findings = Findings::from_rows(&rows);
        let probes = analysis::probes(session);
        let groups = figure::groups(session, results, &probes, look);
        let firsts = groups.iter().scan(0, |next, group| {
            let first = *next;
            *next += group.keys.len();
            Some(first)
        });
        let first = firsts.collect();
        let (skipped, answer) =
            (analysis::list_skipped(session), analysis::answer_with(session, results, &probes));
        // The browser wraps the lines of a page.
        let look = Look { width: usize::MAX / 2, color: false, ascii: false, ..*look };
        Page {
            session,
            results,
            probes,
            rows,
            breaks,
            findings,
            skipped,
            answer,
            groups,
            first,
            look,
        }
    }

    /// Returns the title of the page: the session's name or id.
    pub fn name(&self) -> &str {
        [self.session.name.as_str(), self.session.id.as_str(), "a run"]
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or_default()
    }
}
