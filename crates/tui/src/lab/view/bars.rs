//! The bars: one row per cell, with its median on the scale, the estimate, and the values of marked
//! sessions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::analysis::ProbeResult;
use crate::context::{RunStatus, ViewContext};
use crate::keymap::{Action, key_of};
use crate::lab::rows::{BarRow, ProbeBar};
use crate::lab::state::{Lab, LabPane};
use crate::plan::ProbeCell;
use crate::plot::{Mark, Track, column};
use crate::record::{Severity, Unit};
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::units::show_wait;
use crate::view::list::List;
use crate::view::{Hits, Part, Target, findings, pane};

/// Columns of a number, of its unit, and of the sign behind them.
const FIGURE: u16 = 5;
const UNIT: u16 = 5;
const SIGN: u16 = 2;

/// Positions of the columns and rows of the pane.
struct BarLayout {
    head: Option<Rect>,
    axis: Rect,
    rows: Rect,
    legend: Rect,
    label: u16,
    bar: u16,
}

impl BarLayout {
    /// Lays out the pane; `with_progress`: a row above the bars shows the progress of the run.
    fn new(lab: &Lab, with_progress: bool, area: Rect) -> BarLayout {
        let inner = pane::narrow(pane::inside(area));
        let head = u16::from(with_progress);
        let row = |at: u16, height: u16| {
            Rect::new(
                inner.x,
                inner.y + at.min(inner.height),
                inner.width,
                height.min(inner.height.saturating_sub(at)),
            )
        };
        let rows = row(head + 1, inner.height.saturating_sub(head + 2));
        let longest = lab
            .sheet
            .slots
            .iter()
            .map(|slot| pane::width(&slot.label) as u16 + 1)
            .max()
            .unwrap_or(0);
        let label = longest.clamp(8, (inner.width * 2 / 5).clamp(8, 26));
        let bar = inner.width.saturating_sub(label + 1 + FIGURE + UNIT + SIGN + 2);
        BarLayout {
            head: (head > 0).then(|| row(0, 1)),
            axis: Rect::new(
                inner.x + label + 1,
                inner.y + head,
                bar,
                inner.height.saturating_sub(head).min(1),
            ),
            rows,
            legend: row(inner.height.saturating_sub(1), 1),
            label,
            bar,
        }
    }
}

pub fn draw(lab: &Lab, ctx: &ViewContext, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let look = ctx.look;
    let title = if lab.data.title.is_empty() { "What it costs" } else { &lab.data.title };
    let right = match ctx.run.filter(|run| run.measures_probes()) {
        // The count that the header shows.
        Some(run) => format!("{} of {} known", run.counter.known, run.counter.cells),
        None => describe_idle(look, lab, area.width),
    };
    let title = pane::fit(title, usize::from(area.width).saturating_sub(pane::width(&right) + 8));
    pane::frame(look, &title, &right, lab.pane == LabPane::Bars, area, buf);
    let layout = BarLayout::new(lab, ctx.measures_probes(), area);
    if let (Some(head), Some(run)) = (layout.head, ctx.run) {
        draw_progress(look, run, head, buf);
    }
    if lab.sheet.slots.is_empty() {
        return draw_empty(lab, ctx, layout.rows, buf);
    }
    draw_axis(look, layout.axis, buf);
    let part = Part::Lab(LabPane::Bars);
    let list = List::around(lab.sheet.row_of(lab.slot), lab.sheet.rows.len(), layout.rows);
    hits.list(part, list);
    let running = ctx.run.and_then(RunStatus::probe_cell);
    for (at, place) in list.rows() {
        let slot = match &lab.sheet.rows[at] {
            BarRow::Head(id) => {
                draw_head(look, lab, id, &layout, place, buf);
                lab.sheet.slots.iter().position(|slot| slot.cell.probe == *id)
            }
            BarRow::Bar(at) => {
                let (slot, here) = (&lab.sheet.slots[*at], *at == lab.slot);
                draw_cell(look, lab, slot, &layout, place, (running, here), buf);
                Some(*at)
            }
        };
        if let Some(slot) = slot {
            hits.area(place, Target::Row(part, slot));
        }
    }
    let rows = Rect::new(layout.rows.x, layout.rows.y, layout.rows.width + 1, layout.rows.height);
    pane::scrollbar(look, list.first, list.count, rows, buf);
    let bars = Rect { x: layout.axis.x, width: layout.bar, ..layout.rows };
    draw_legend(look, lab, layout.legend, bars, buf);
}

/// Describes what was measured, and how long a run takes at most.
fn describe_idle(look: &Look, lab: &Lab, width: u16) -> String {
    let (measured, offered) = lab.count_cells();
    let counted = format!("{measured} of {offered}");
    // A title of results needs the room.
    if lab.sheet.slots.is_empty() || (measured > 0 && width < 70) {
        return counted;
    }
    let key = key_of(Action::Run, Screen::Lab);
    let time = show_wait(lab.choice.budget());
    let time = time.trim_end_matches(" 00 s");
    format!("{counted}{}{key} takes up to {time}", look.glyph(" · ", " - "))
}

fn draw_empty(lab: &Lab, ctx: &ViewContext, area: Rect, buf: &mut Buffer) {
    let text = if !lab.filter.value().is_empty() {
        "no selected probe matches the filter"
    } else if lab.local.cells.is_empty() && ctx.run.is_some() {
        "available probes are checked after the run"
    } else if lab.local.cells.is_empty() && lab.data.planned.is_empty() {
        "checking which probes are available..."
    } else {
        "no probe is selected: space selects the one under the cursor"
    };
    pane::line(ctx.look.line(Role::Dim, text).centered(), area.height / 2, area, buf);
}

/// Draws the powers of ten above the bars, as many as fit.
fn draw_axis(look: &Look, area: Rect, buf: &mut Buffer) {
    let mut free = area.x;
    let dense = area.width >= 60;
    for (at, (value, name)) in DECADES.iter().enumerate() {
        let Some(tick) = column(TIMES.share(*value), area).filter(|_| dense || at % 3 == 0) else {
            continue;
        };
        let width = pane::width(name) as u16;
        let start = (area.x + tick)
            .saturating_sub(width / 2)
            .max(area.x)
            .min(area.right().saturating_sub(width));
        if start >= free && area.height > 0 {
            buf.set_stringn(start, area.y, name, width.into(), look.style(Role::Dim));
            free = start + width + 1;
        }
    }
}

/// Draws the name of a probe above its cells.
fn draw_head(look: &Look, lab: &Lab, id: &str, layout: &BarLayout, place: Rect, buf: &mut Buffer) {
    let title = lab.info(id).map_or("", |info| info.title);
    let room = usize::from(place.width);
    let name = pane::fit(id, room);
    let rest = room.saturating_sub(pane::width(&name) + 2);
    let title = if pane::width(&name) + 2 > usize::from(layout.label) && title == id {
        String::new()
    } else {
        pane::fit_words(title, rest)
    };
    let parts = vec![look.span(Role::Title, name), look.span(Role::Dim, format!("  {title}"))];
    Line::from(parts).render(place, buf);
}

/// Draws one cell.
fn draw_cell(
    look: &Look,
    lab: &Lab,
    slot: &ProbeBar,
    layout: &BarLayout,
    place: Rect,
    (running, here): (Option<&ProbeCell>, bool),
    buf: &mut Buffer,
) {
    let result = lab.result(slot);
    let refused = lab.refusal(slot).is_some();
    let runs = running == Some(&slot.cell);
    let is_single = slot.label == slot.cell.probe;
    let role = if runs {
        Role::Good
    } else if refused {
        Role::Off
    } else if is_single {
        Role::Title
    } else {
        Role::Text
    };
    let indent = match (runs, is_single) {
        (true, _) => look.glyph("►", ">"),
        (false, true) => "",
        (false, false) => " ",
    };
    let label = pane::fit(&format!("{indent}{}", slot.label), usize::from(layout.label));
    buf.set_string(place.x, place.y, label, look.style(role));
    let bar = Rect::new(place.x + layout.label + 1, place.y, layout.bar, 1);
    build_track(look, lab, slot, result, runs).render(look, bar, buf);
    draw_figure(
        look,
        result,
        refused,
        Rect::new(bar.right() + 1, place.y, FIGURE + 1 + UNIT + SIGN, 1),
        buf,
    );
    if here {
        draw_cursor(look, lab.pane == LabPane::Bars, Rect { width: layout.label, ..place }, buf);
    }
}

/// Highlights the label of the cursor's row, less strongly without the focus.
fn draw_cursor(look: &Look, focused: bool, area: Rect, buf: &mut Buffer) {
    let style = if focused { look.style(Role::Selected) } else { look.style(Role::Focus) };
    buf.set_style(area, style);
}

fn build_track(
    look: &Look,
    lab: &Lab,
    slot: &ProbeBar,
    result: Option<&ProbeResult>,
    runs: bool,
) -> Track<'static> {
    static GRID: std::sync::LazyLock<Vec<f64>> = std::sync::LazyLock::new(|| {
        DECADES
            .iter()
            .step_by(3)
            .map(|(value, _)| TIMES.share(*value))
            .filter(|share| *share < 1.0)
            .collect()
    });
    let at = |value: f64| LogScale::for_unit(slot.unit).share(value);
    let value = result.and_then(|result| result.value).map(|value| value.summary);
    let bar =
        value.map(|s| (at(s.median), (s.low.map_or(f64::NAN, at), s.high.map_or(f64::NAN, at))));
    let expected = lab.estimate(slot).map(|estimate| (at(estimate.low), at(estimate.high)));
    let marks = lab.marked_sessions().filter_map(|(index, other)| {
        let (symbol, style) = sign(look, index);
        Some(Mark { at: at(other.value(&slot.cell, slot.unit)?), symbol, style })
    });
    let time = slot.unit == Unit::Nanos;
    let style = bar_style(look, slot.unit, runs);
    Track { bar, style, expected, marks: marks.collect(), grid: if time { &GRID } else { &[] } }
}

/// Draws a value (`3.41 ns`) with aligned numbers and units, then its most severe sign.
fn draw_figure(
    look: &Look,
    result: Option<&ProbeResult>,
    refused: bool,
    area: Rect,
    buf: &mut Buffer,
) {
    let shown = result
        .and_then(|result| Some((result.unit?, result.value?)))
        .map(|(unit, value)| unit.show(value.summary.median));
    let failed = result.is_some_and(|result| result.error.is_some());
    let (number, unit, role) = match (&shown, failed, refused) {
        (Some(text), ..) => {
            let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
            (number.to_string(), unit.to_string(), Role::Number)
        }
        (None, true, _) => ("failed".into(), String::new(), Role::Wrong),
        (None, false, true) => ("n/a".into(), String::new(), Role::Off),
        (None, false, false) => ("-".into(), String::new(), Role::Dim),
    };
    let worst =
        result.and_then(|result| result.warnings.iter().map(|warning| warning.severity).max());
    let worst = if failed {
        Some(Severity::Wrong)
    } else {
        worst.filter(|severity| *severity > Severity::Note)
    };
    let mut parts = vec![look.span(role, pane::pad_front(&number, FIGURE.into()))];
    parts.push(look.span(Role::Dim, format!(" {} ", pane::pad(&unit, UNIT.into()))));
    if let (Some(severity), true) = (worst, shown.is_some()) {
        let (role, sign) = findings::severity(look, severity);
        parts.push(look.span(role, sign.to_string()));
    }
    Line::from(parts).render(area.intersection(buf.area), buf);
}

/// Draws the current cell, a bar, the percentage and the time left.
pub fn draw_progress(look: &Look, run: &RunStatus, area: Rect, buf: &mut Buffer) {
    let (counter, request) = (&run.counter, run.request.clone());
    let (percent, left) = (counter.percent(), counter.describe_left().unwrap_or_default());
    let role = if request.is_some() { Role::Misleading } else { Role::Good };
    let what = request
        .unwrap_or_else(|| run.probe_cell().map_or_else(|| "starting".into(), ProbeCell::label));
    let right = format!(" {percent:>3} %  {left}");
    let room = usize::from(area.width).saturating_sub(pane::width(&right));
    let name = pane::fit(&what, room / 2);
    let bar = room.saturating_sub(pane::width(&name) + 3);
    let mut parts = vec![
        look.span(role, format!("{} ", look.glyph("►", ">"))),
        look.span(Role::Text, name),
        Span::raw(" "),
    ];
    parts.extend(pane::progress_bar(look, counter.share, bar as u16, look.style(role)));
    parts.push(look.span(Role::Number, format!(" {percent:>3}")));
    parts.push(look.span(Role::Dim, format!(" %  {left}")));
    pane::line(Line::from(parts), 0, area, buf);
}

/// Draws the entries for signs that are visible, as many as fit; `bars`: where the bars are drawn.
fn draw_legend(look: &Look, lab: &Lab, area: Rect, bars: Rect, buf: &mut Buffer) {
    let mut line: Vec<Span> = Vec::new();
    // Most intervals are too narrow for the scale.
    let shade = if look.has_plain_bars() { "=" } else { "▒" };
    let shows_interval =
        bars.intersection(buf.area).positions().any(|at| buf[at].symbol() == shade);
    for part in legend_parts(look, lab, shows_interval.then_some(shade)) {
        let gap = if line.is_empty() { 0 } else { 2 };
        if total_width(&line) + gap + total_width(&part) > usize::from(area.width) {
            continue;
        }
        line.push(Span::raw(" ".repeat(gap)));
        line.extend(part);
    }
    pane::line(Line::from(line), 0, area, buf);
}

fn total_width(spans: &[Span]) -> usize {
    spans.iter().map(Span::width).sum()
}

fn legend_parts(look: &Look, lab: &Lab, shade: Option<&'static str>) -> Vec<Vec<Span<'static>>> {
    let dim = |text: &str| look.span(Role::Dim, format!(" {text}"));
    let slots = || lab.sheet.slots.iter();
    let measured = |times: bool| {
        slots().any(|slot| slot.result.is_some() && (slot.unit == Unit::Nanos) == times)
    };
    let mut parts = Vec::new();
    if measured(true) {
        parts.push(vec![
            Span::styled(look.glyph("█", "#"), bar_style(look, Unit::Nanos, false)),
            dim("time"),
        ]);
    }
    if measured(false) {
        parts.push(vec![
            Span::styled(look.glyph("█", "#"), bar_style(look, Unit::Bytes, false)),
            dim("rate: own scale"),
        ]);
    }
    if let Some(shade) = shade {
        parts.push(vec![look.span(Role::Text, shade), dim("95 % interval")]);
    }
    if slots().any(|slot| lab.estimate(slot).is_some()) {
        parts.push(vec![look.span(Role::Text, look.glyph("├─┤", "[-]")), dim("expected")]);
    }
    for (at, other) in lab
        .marked_sessions()
        .filter(|(_, other)| slots().any(|slot| other.value(&slot.cell, slot.unit).is_some()))
    {
        let (symbol, style) = sign(look, at);
        let kind = if at < lab.local.others.len() { "machine " } else { "" };
        let name = dim(&format!("{kind}{}", pane::fit(&other.name, 24)));
        parts.push(vec![Span::styled(symbol.to_string(), style), name]);
    }
    parts
}

/// Returns the sign and colour of a marked session by its index.
pub fn sign(look: &Look, at: usize) -> (char, Style) {
    // Starts with a diamond, which no bar has; the markers repeat after eight.
    const ORDER: [usize; 8] = [7, 1, 2, 0, 3, 5, 6, 4];
    (look.ordinal(ORDER[at % ORDER.len()]), look.series(at + 1))
}

/// Returns the style of a bar: times in the accent colour, other units in another, and the running
/// cell in the role of what is running.
fn bar_style(look: &Look, unit: Unit, runs: bool) -> Style {
    match (runs, unit) {
        (true, _) => look.style(Role::Good),
        (false, Unit::Nanos) => look.series(0),
        (false, _) => look.series(4),
    }
}

/// A logarithmic scale from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogScale {
    low: f64,
    high: f64,
}

/// From 0.3 ns, about a CPU cycle, to 1 s.
pub const TIMES: LogScale = LogScale { low: 0.3, high: 1e9 };

/// Powers of ten in nanoseconds, with their names; every third is a unit.
pub const DECADES: [(f64, &str); 10] = [
    (1.0, "1ns"),
    (10.0, "10ns"),
    (100.0, "100ns"),
    (1e3, "1µs"),
    (1e4, "10µs"),
    (1e5, "100µs"),
    (1e6, "1ms"),
    (1e7, "10ms"),
    (1e8, "100ms"),
    (1e9, "1s"),
];

impl LogScale {
    /// Returns the scale of a unit.
    pub fn for_unit(unit: Unit) -> LogScale {
        match unit {
            Unit::Nanos => TIMES,
            // From a slow network to the caches of a large machine.
            Unit::BytesPerSecond => LogScale { low: 1e6, high: 1e12 },
            Unit::PerSecond => LogScale { low: 1.0, high: 1e10 },
            Unit::Bytes => LogScale { low: 1024.0, high: (1u64 << 40) as f64 },
        }
    }

    /// Returns the position of a value, clamped to 0..=1; NaN for NaN and negative values.
    pub fn share(self, value: f64) -> f64 {
        if value.is_nan() || value < 0.0 {
            return f64::NAN;
        }
        ((value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_are_equally_wide() {
        assert_eq!(
            [TIMES.share(0.3), TIMES.share(1e9), TIMES.share(0.0), TIMES.share(1e30)],
            [0.0, 1.0, 0.0, 1.0]
        );
        let steps: Vec<f64> = DECADES
            .windows(2)
            .map(|pair| TIMES.share(pair[1].0) - TIMES.share(pair[0].0))
            .collect();
        assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-12), "{steps:?}");
        assert!(TIMES.share(f64::NAN).is_nan() && TIMES.share(-1.0).is_nan());
        assert_eq!(LogScale::for_unit(Unit::Bytes).share((1u64 << 25) as f64), 0.5);
    }
}
