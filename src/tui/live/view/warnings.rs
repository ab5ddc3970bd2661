//! What was found that takes something away from the results.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Scene;
use super::text::{frame, span};
use crate::record::Severity;
use crate::tui::live::found::Finding;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

fn role(severity: Severity) -> Role {
    match severity {
        Severity::Note => Role::Note,
        Severity::Misleading => Role::Misleading,
        Severity::Wrong => Role::Wrong,
    }
}

pub fn sign(look: &Look, severity: Severity) -> Span<'static> {
    let text = match severity {
        Severity::Note => look.glyph("i ", "i "),
        Severity::Misleading => look.glyph("▲ ", "! "),
        Severity::Wrong => look.glyph("✗ ", "x "),
    };
    span(look, role(severity), text)
}

/// A warning in one line.
pub fn line(look: &Look, finding: &Finding, room: usize) -> Line<'static> {
    let cells = finding.cells.len();
    let count = if cells > 1 { format!("  {cells} cells") } else { String::new() };
    let text = pane::fit(&finding.message, room.saturating_sub(2 + count.len()));
    Line::from(vec![sign(look, finding.severity), span(look, Role::Text, text), span(look, Role::Dim, count)])
}

pub fn draw(scene: &Scene, area: Rect, buf: &mut Buffer) {
    let (look, found) = (scene.look, &scene.picture.found);
    let inner = frame(look, "Warnings", vec![span(look, Role::Number, found.len().to_string())], area, buf);
    let height = usize::from(inner.height);
    let shown = if found.len() > height { height.saturating_sub(1) } else { height };
    for (row, finding) in found.iter().take(shown).enumerate() {
        pane::line(line(look, finding, usize::from(inner.width)), row as u16, inner, buf);
    }
    if found.len() > height {
        let text = format!("{} more, in Results at the end", found.len() - shown);
        pane::line(Line::from(span(look, Role::Dim, text)), shown as u16, inner, buf);
    }
}
