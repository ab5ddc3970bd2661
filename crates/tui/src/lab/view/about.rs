//! The explanation of the row under the cursor: what it measures and why, the estimate, and the
//! result.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::bars::sign;
use crate::analysis::ProbeResult;
use crate::lab::rows::{ProbeBar, ProbeItem};
use crate::lab::state::{Lab, LabPane};
use crate::record::{Estimate, Unit};
use crate::spoken::speak;
use crate::theme::{Look, Role};
use crate::units::{self, Precision};
use crate::view::list::List;
use crate::view::{Hits, Part, findings, pane};

/// Columns of the names of figures.
const NAME_COLUMNS: usize = 10;

pub fn draw(lab: &Lab, look: &Look, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let title = match (lab.probe(), lab.sheet.items.get(lab.item)) {
        (Some(id), _) => id.to_string(),
        (None, Some(ProbeItem::Group(Some(group)))) => group.name().to_string(),
        _ => String::new(),
    };
    let inner = pane::frame(look, &title, "", lab.pane == LabPane::About, area, buf);
    let text = pane::narrow(inner);
    let lines = build_lines(lab, look, text);
    let list = List::scrolled(lab.scroll, lines.len(), inner);
    hits.list(Part::Lab(LabPane::About), list);
    pane::scrollbar(look, list.first, list.count, inner, buf);
    pane::lines(lines.into_iter().skip(list.first), 0, text, buf);
}

fn build_lines(lab: &Lab, look: &Look, area: Rect) -> Vec<Line<'static>> {
    let mut text = AboutText { look, width: usize::from(area.width), lines: Vec::new() };
    match lab.probe() {
        None => text.group(lab),
        Some(id) => {
            let slot = lab.current_slot().filter(|slot| slot.cell.probe == id);
            // Figures come first: they are read again and again, the explanation once.
            if let Some(slot) = slot {
                text.cell(lab, slot);
            }
            text.probe(lab, id);
            if let Some(slot) = slot {
                text.evidence(lab, slot);
            }
        }
    }
    text.lines
}

/// AboutText under construction.
struct AboutText<'a> {
    look: &'a Look,
    width: usize,
    lines: Vec<Line<'static>>,
}

impl AboutText<'_> {
    fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| line.width() > 0) {
            self.lines.push(Line::default());
        }
    }

    fn say(&mut self, text: &str, role: Role) {
        self.lines.extend(pane::paragraph(self.look, role, "", text, self.width));
    }

    /// Adds a paragraph behind a sign.
    fn item(&mut self, sign: &str, text: &str, role: Role) {
        let mark = self.look.span(Role::Dim, format!("{sign} "));
        let parts = pane::wrap(text, self.width.saturating_sub(2));
        self.lines.extend(pane::hang(mark, parts, self.look.style(role)));
    }

    /// Adds a figure, as in `value 3.41 ns 3.39 to 3.45 ns`: name dim, number bright; the rest on
    /// the same line if it fits, else below.
    fn figure(&mut self, name: Span<'static>, shown: &str, rest: &str) {
        let (number, unit) = shown.split_once(' ').unwrap_or((shown, ""));
        let pad = " ".repeat(NAME_COLUMNS.saturating_sub(name.width()));
        let mut parts = vec![name, Span::raw(pad)];
        parts.push(self.look.span(Role::Number, format!("{number:>6}")));
        parts.push(self.look.span(Role::Dim, format!(" {unit:<5}")));
        let used: usize = parts.iter().map(Span::width).sum();
        let room = self.width.saturating_sub(used + 1);
        if pane::width(rest) <= room {
            parts.push(self.look.span(Role::Text, format!(" {rest}")));
            return self.lines.push(Line::from(parts));
        }
        self.lines.push(Line::from(parts));
        self.say_below(rest, Role::Text);
    }

    /// Adds text below a figure.
    fn say_below(&mut self, text: &str, role: Role) {
        let indent = " ".repeat(NAME_COLUMNS + 1);
        let columns = self.width.saturating_sub(NAME_COLUMNS + 1);
        self.lines.extend(pane::paragraph(self.look, role, &indent, text, columns));
    }

    fn name(&self, text: &str) -> Span<'static> {
        self.look.span(Role::Dim, text.to_string())
    }

    fn group(&mut self, lab: &Lab) {
        for id in lab.sheet.probes_of(lab.item) {
            let Some(info) = lab.info(id) else { continue };
            self.lines.push(Line::from(vec![
                self.look.span(Role::Title, info.id.to_string()),
                self.look.span(Role::Dim, format!("  {}", info.title)),
            ]));
            self.item(" ", info.about, Role::Text);
        }
    }

    fn probe(&mut self, lab: &Lab, id: &str) {
        self.gap();
        let Some(info) = lab.info(id) else {
            return self.say(
                "This version of iotui does not know this probe; its values come from the session.",
                Role::Dim,
            );
        };
        self.say(info.title, Role::Title);
        self.say(info.doc, Role::Text);
        let cell_is_refused = lab
            .current_slot()
            .is_some_and(|slot| slot.cell.probe == id && lab.refusal(slot).is_some());
        if let (false, Some(why)) = (cell_is_refused, lab.unavailable_reason(id)) {
            self.gap();
            self.item(
                self.look.glyph("×", "X"),
                &format!("unavailable here: {}", speak(why)),
                Role::Misleading,
            );
        }
    }

    /// Adds the figures of a cell.
    fn cell(&mut self, lab: &Lab, slot: &ProbeBar) {
        let parameters = slot.cell.parameters();
        if !parameters.is_empty() {
            self.say(&parameters, Role::Title);
        }
        let result = lab.result(slot);
        if let Some(error) = result.and_then(|result| result.error.as_ref()) {
            self.item(self.look.glyph("×", "X"), &speak(error), Role::Wrong);
        }
        if let Some(why) = lab.refusal(slot) {
            let why = format!("unavailable: {}", speak(why));
            self.item(self.look.glyph("×", "X"), &why, Role::Misleading);
        }
        if let Some(why) = lab.reason_missed(slot) {
            let why = format!("not measured: {}", speak(why));
            self.item(self.look.glyph("○", "-"), &why, Role::Dim);
        }
        if let Some(result) = result {
            self.value(lab, result);
        }
        let estimate = lab.estimate(slot);
        if let Some(estimate) = estimate {
            self.estimate(slot, result, estimate);
        }
        for (at, other) in lab.marked_sessions() {
            if let Some(value) = other.value(&slot.cell, slot.unit) {
                let (symbol, style) = sign(self.look, at);
                let median = result.and_then(|result| result.value).map(|of| of.summary.median);
                let ratio = median
                    .filter(|median| *median > 0.0 && value > 0.0)
                    .map_or(String::new(), |median| show_ratio(value / median));
                let name = Span::styled(
                    format!("{symbol} {}", pane::fit(&other.name, NAME_COLUMNS - 3)),
                    style,
                );
                self.figure(name, &slot.unit.show(value), &ratio);
            }
        }
    }

    fn value(&mut self, lab: &Lab, result: &ProbeResult) {
        let (Some(value), Some(unit)) = (result.value, result.unit) else { return };
        let s = value.summary;
        // The session reports the cycles of the median; mean and deviation use the same clock.
        let cycle = result
            .cycles
            .filter(|cycles| *cycles > 0.0)
            .map(|cycles| s.median / cycles)
            .or(lab.data.cycle);
        let cycles = |nanos: f64| match (unit, cycle) {
            (Unit::Nanos, Some(cycle)) if cycle > 0.0 => {
                format!("{} cycles", Precision::Full.short_figure(nanos / cycle))
            }
            _ => String::new(),
        };
        self.figure(self.name("median"), &unit.show(s.median), &cycles(s.median));
        if let (Some(low), Some(high)) = (s.low, s.high) {
            self.figure(
                self.name("95 % from"),
                &unit.show(low),
                &format!("to {}", unit.show(high)),
            );
        }
        if result.counted_trials().len() > 1 {
            self.figure(self.name("mean"), &unit.show(s.mean), &cycles(s.mean));
            self.figure(self.name("std dev"), &unit.show(s.stddev), &cycles(s.stddev));
        }
        let outliers = match result.outliers().len() {
            0 => String::new(),
            1 => "1 outlier".into(),
            count => format!("{count} outliers"),
        };
        self.figure(self.name("batches"), &result.counted_trials().len().to_string(), &outliers);
    }

    /// Adds the estimate, its reason, and how far off it is.
    fn estimate(&mut self, slot: &ProbeBar, result: Option<&ProbeResult>, of: &Estimate) {
        let rest = if of.low == of.high {
            String::new()
        } else {
            format!("to {}", slot.unit.show(of.high))
        };
        self.figure(self.name("estimate"), &slot.unit.show(of.low), &rest);
        if let Some(value) =
            result.and_then(|result| result.value).map(|value| value.summary.median)
        {
            let (ratio, verdict) = compare_with_estimate(value, of);
            self.figure(self.name("/ estimate"), &ratio, verdict);
        }
        self.say_below(&of.reason, Role::Dim);
    }

    /// Adds what was subtracted, what counters prove, and the warnings.
    fn evidence(&mut self, lab: &Lab, slot: &ProbeBar) {
        let Some(result) = lab.result(slot) else { return };
        if !result.evidence.is_empty() {
            self.gap();
            self.say("Evidence", Role::Title);
            for line in &result.evidence {
                self.item(self.look.glyph("·", "-"), line, Role::Text);
            }
        }
        if !result.warnings.is_empty() {
            self.gap();
            self.lines.extend(findings::describe(self.look, &result.warnings, self.width));
        }
    }
}

/// Compares a value with the nearer end of its estimate.
fn compare_with_estimate(value: f64, of: &Estimate) -> (String, &'static str) {
    let ratio = |end: f64| if end > 0.0 { units::column::figure(value / end) } else { "-".into() };
    if value > of.high {
        (ratio(of.high), "above")
    } else if value < of.low {
        (ratio(of.low), "below")
    } else if of.low == of.high {
        (ratio(of.low), "as expected")
    } else {
        ("1".into(), "within")
    }
}

/// Returns a ratio to the value that is shown: `7.71x this`.
fn show_ratio(ratio: f64) -> String {
    format!("{}x this", units::column::figure(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_compare_with_the_nearer_end() {
        let of = |low, high| Estimate { low, high, reason: String::new() };
        assert_eq!(compare_with_estimate(30.0, &of(10.0, 15.0)), ("2.00".into(), "above"));
        assert_eq!(compare_with_estimate(5.0, &of(10.0, 15.0)), ("0.50".into(), "below"));
        assert_eq!(compare_with_estimate(12.0, &of(10.0, 15.0)).1, "within");
        assert_eq!(compare_with_estimate(10.0, &of(10.0, 10.0)), ("1.00".into(), "as expected"));
        assert_eq!(compare_with_estimate(1.0, &of(0.0, 0.0)).0, "-");
    }
}
