//! Findings in words, and the sign of a severity.

use ratatui::text::Line;

use super::pane;
use crate::record::{Severity, Warning};
use crate::spoken::speak;
use crate::theme::{Look, Role};
use crate::vocabulary::FINE;

/// Returns the role of a severity, and its sign.
pub fn severity(look: &Look, severity: Severity) -> (Role, &'static str) {
    match severity {
        Severity::Note => (Role::Note, "i"),
        Severity::Misleading => (Role::Misleading, "!"),
        Severity::Wrong => (Role::Wrong, look.glyph("×", "X")),
    }
}

/// Findings in words: what, why, what to do.
pub fn describe(look: &Look, findings: &[Warning], columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if findings.is_empty() {
        lines.push(look.line(Role::Good, format!(" {} no findings", FINE.on(look))));
    }
    for finding in findings {
        let (role, sign) = severity(look, finding.severity);
        let sign = look.span(role, format!(" {sign} "));
        let message = pane::wrap(&finding.message, columns.saturating_sub(3));
        lines.extend(pane::hang(sign, message, look.style(Role::Text)));
        let remedy = speak(&finding.remedy.text);
        for (text, role) in [(&finding.evidence, Role::Dim), (&remedy, Role::Key)] {
            if !text.is_empty() {
                lines.extend(pane::paragraph(look, role, "   ", text, columns.saturating_sub(3)));
            }
        }
        lines.push(Line::default());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Sign;
    use crate::catalog::{BACKENDS, identity};
    use crate::plan::Cache;
    use crate::theme::Glyphs;

    #[test]
    fn chart_markers_differ_from_warning_signs() {
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            let look = Look { glyphs, ..Look::default() };
            let signs = [Severity::Misleading, Severity::Wrong].map(|own| severity(&look, own).1);
            let own = BACKENDS.iter().map(|backend| identity(backend.id));
            let markers = own.flat_map(|identity| {
                let caches = [Cache::Cold, Cache::Warm, Cache::AsIs];
                caches.map(|cache| look.marker(Sign { identity, cache, extra: 0 }))
            });
            for marker in markers.chain((0..8).map(|at| look.ordinal(at))) {
                assert!(!signs.contains(&marker.to_string().as_str()), "{marker}");
            }
        }
    }
}
