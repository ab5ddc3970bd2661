//! Throughput and system calls, trial by trial, and what the time of the run went to.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Margin, Position, Rect};
use ratatui::text::{Line, Span};

use super::scene::{LiveScene, figure, frame};
use crate::live::phases::{Phases, Spent};
use crate::live::rows::Picture;
use crate::live::series::{Extremes, Measure};
use crate::live::strip::{TrialBar, describe, lay_out, log_ends};
use crate::plan::Job;
use crate::plot::{Axis, Scale, Strip, StripBar, StripRule, round_end};
use crate::read_out;
use crate::theme::{Look, Role};
use crate::values::Values;
use crate::view::pane;
use crate::zoom::Zoom;

impl Measure {
    fn title(self) -> &'static str {
        match self {
            Measure::Bytes => "Throughput",
            Measure::Operations => "Operations",
            Measure::SystemCalls => "System calls",
        }
    }
}

/// Returns the areas of the bars and of the row of what the time went to, which only the main pane
/// has.
pub fn parts(is_main: bool, pane: Rect) -> (Rect, Rect) {
    let inner = pane.inner(Margin::new(1, 1));
    let ribbon = u16::from(is_main && inner.height >= 6);
    let [bars, ribbon] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(ribbon)]).areas(inner);
    (bars, ribbon)
}

/// Returns the part of all trials that is shown in these bars of the main pane; `None`: all.
pub fn part(scene: &LiveScene, bars: Rect) -> Zoom {
    let columns = with_strip(scene, scene.view.measure(), |strip| strip.plot_area(bars).width);
    scene.window.part(scene.view.series.trials(), columns)
}

/// Draws the trials as bars; `is_main`: with what the time went to below them.
pub fn draw(scene: &LiveScene, measure: Measure, is_main: bool, area: Rect, buf: &mut Buffer) {
    let (look, view, all) = (scene.look, scene.view, scene.view.series.trials());
    let (inner, ribbon) = parts(is_main, area);
    let (trials, bars) = lay_out_in(scene, measure, inner);
    let shown = describe(trials, all);
    let room = usize::from(area.width.saturating_sub(8));
    let long = format!("{}, {shown}", measure.title());
    let title = match !shown.is_empty() && pane::width(&long) + 16 <= room {
        true => long,
        false => measure.title().to_string(),
    };
    let right = title_parts(scene, measure, room.saturating_sub(pane::width(&title)));
    frame(look, &title, right, area, buf);
    if !ribbon.is_empty() {
        draw_ribbon(look, &view.spent(), ribbon, buf);
    }
    if all == 0 {
        return draw_waiting(scene, inner, buf);
    }
    let rules: Vec<StripRule> = match measure {
        Measure::Bytes => {
            view.ceilings.iter().map(|(label, at)| StripRule { at: *at, label }).collect()
        }
        _ => Vec::new(),
    };
    let bars: Vec<StripBar> = bars.iter().map(|bar| strip_bar(scene, bar)).collect();
    with_strip(scene, measure, |strip| {
        Strip { rules: &rules, ..*strip }.render(&bars, inner, buf);
    });
}

/// Returns the first and the last trial that are shown, and their bars.
fn lay_out_in(scene: &LiveScene, measure: Measure, inner: Rect) -> ((u32, u32), Vec<TrialBar>) {
    let columns = with_strip(scene, measure, |strip| strip.plot_area(inner).width);
    let series = &scene.view.series;
    let trials = scene.window.trials(series.trials(), columns);
    (trials, lay_out(series.slices(), trials, measure, columns))
}

/// Returns the bar at a column of the main pane, and the column at which it starts.
pub fn bar_at(scene: &LiveScene, inner: Rect, column: u16) -> Option<(TrialBar, u16)> {
    let measure = scene.view.measure();
    let (_, mut bars) = lay_out_in(scene, measure, inner);
    let plot = with_strip(scene, measure, |strip| strip.plot_area(inner));
    let at = column.saturating_sub(plot.x);
    let before = bars.partition_point(|bar| bar.start <= at).max(1);
    let bar = (!bars.is_empty()).then(|| bars.swap_remove(before - 1))?;
    let start = plot.x + bar.start;
    Some((bar, start))
}

/// Returns the bar under the pointer and the rate there; the gap behind a bar is not it.
pub fn bar_under(scene: &LiveScene, inner: Rect, at: Position) -> Option<(TrialBar, f64)> {
    let (bar, start) = bar_at(scene, inner, at.x).filter(|_| inner.contains(at))?;
    let rate = *bar.rates.get(usize::from(at.x.checked_sub(start)?))?;
    Some((bar, rate))
}

/// Draws what the trial under the pointer reached.
pub fn draw_read_out(scene: &LiveScene, pane: Rect, at: Position, buf: &mut Buffer) {
    let (inner, _) = parts(true, pane);
    let measure = scene.view.measure();
    let Some((bar, rate)) = bar_under(scene, inner, at) else { return };
    let trials = if bar.first == bar.last {
        format!("trial {}", bar.last)
    } else {
        format!("trials {} to {}", bar.first, bar.last)
    };
    let label = bar.cell.and_then(|cell| scene.view.job(cell)).map(Job::label);
    let rate_text = measure.metric().show(bar.rate(), scene.look.unit);
    let parts: Vec<String> = label.into_iter().chain([trials, rate_text]).collect();
    with_strip(scene, measure, |strip| {
        let place = Position::new(at.x, strip.row_at(inner, rate));
        read_out::draw(scene.look, &parts.join("  "), place, strip.plot_area(inner), buf);
    });
}

/// Calls `then` with the strip of a measure.
fn with_strip<R>(scene: &LiveScene, measure: Measure, then: impl FnOnce(&Strip) -> R) -> R {
    let extremes = scene.view.series.extremes(measure);
    let values = values(scene, measure, extremes);
    let tick = |value: f64| values.tick(value);
    let strip = Strip::new(scene.look, value_axis(&values, extremes, &tick));
    // Rows have names: marks distinguish only curves.
    let marks = scene.view.picture == Picture::Curves;
    then(&Strip { marks, ..strip })
}

/// Draws a hint before the first trial: an axis would be made up.
fn draw_waiting(scene: &LiveScene, area: Rect, buf: &mut Buffer) {
    let text = match scene.view.outcome {
        None => "a bar for each trial appears here",
        Some(_) => "no trial was finished",
    };
    let line = Line::from(scene.look.span(Role::Dim, text)).centered();
    pane::line(line, area.height / 2, area, buf);
}

fn values(scene: &LiveScene, measure: Measure, extremes: Extremes) -> Values {
    let all = [extremes.low.unwrap_or(0.0), extremes.high];
    Values::new(measure.metric(), scene.is_log(measure), scene.look.unit, all)
}

/// Returns an axis for the rates of the whole run, so that it only ever grows.
fn value_axis<'a>(
    values: &Values,
    extremes: Extremes,
    tick: &'a dyn Fn(f64) -> String,
) -> Axis<'a> {
    let axis = values.axis(tick);
    let (low, high) = match axis.scale {
        Scale::Linear => (0.0, round_end(extremes.high.max(f64::MIN_POSITIVE), axis.unit)),
        Scale::Log2 => log_ends(extremes, 2.0, axis.unit),
        Scale::Log10 => log_ends(extremes, 10.0, axis.unit),
    };
    // Ticks that name their unit need no other: the figures above have it in full.
    let axis = if values.has_unit_per_tick() { axis.title("") } else { axis };
    axis.between(low, high)
}

fn strip_bar<'a>(scene: &LiveScene, bar: &'a TrialBar) -> StripBar<'a> {
    let (style, fill, mark) = match bar.cell {
        Some(cell) => scene.sign(cell),
        None => (scene.look.style(Role::Text), Default::default(), ' '),
    };
    StripBar { start: bar.start, values: &bar.rates, style, fill, mark }
}

/// Returns the rate and the cell of the running trial, or of the last one, dim.
fn title_parts(scene: &LiveScene, measure: Measure, room: usize) -> Vec<Span<'static>> {
    let (look, view) = (scene.look, scene.view);
    let is_main = measure != Measure::SystemCalls;
    let state = scene.describe_stop().filter(|_| is_main);
    let mut parts: Vec<Span> =
        state.map(|state| look.span(Role::Title, state)).into_iter().collect();
    let now = view.recent.rate(measure.lane_value()).filter(|_| view.recent.fresh);
    let last = view.last.as_ref().filter(|_| is_main);
    let shown = match (now, last) {
        (Some(rate), _) => Some((rate, view.recent.cell, "now ")),
        (None, Some(last)) => Some((last.rate, Some(last.cell), "last ")),
        (None, None) => None,
    };
    let Some((rate, cell, word)) = shown else { return parts };
    if !parts.is_empty() {
        parts.push(look.span(Role::Dim, look.glyph(" · ", " - ")));
    }
    parts.push(look.span(Role::Dim, word));
    parts.extend(figure(look, &measure.metric().show(rate, look.unit), view.recent.fresh));
    let label = cell.and_then(|cell| view.job(cell)).map(Job::label).filter(|_| is_main);
    if let (Some(label), Some(cell)) = (label, cell) {
        let used = Line::from(parts.clone()).width() + 2;
        if used + pane::width(&label) <= room {
            parts.push(Span::styled(format!("  {label}"), look.series(view.hue(cell))));
        }
    }
    parts
}

/// Draws the main use of each part of the run's time, with the shares of all uses.
fn draw_ribbon(look: &Look, spent: &Phases, area: Rect, buf: &mut Buffer) {
    const NAME: &str = "time ";
    const MIN_RIBBON: usize = 6;
    let shares = spent.shares();
    let mut legend: Vec<Span> = Vec::new();
    let room = usize::from(area.width).saturating_sub(NAME.len() + MIN_RIBBON + 2);
    // Measuring comes first: the rest is what it cost to get there.
    let measuring = shares.iter().filter(|(spent, _)| *spent == Spent::Measuring);
    let others = shares.iter().filter(|(spent, _)| *spent != Spent::Measuring);
    for (at, (spent, share)) in measuring.chain(others).enumerate() {
        let gap = if at == 0 { "" } else { "  " };
        let (sign, style) = ribbon_sign(look, *spent);
        let parts = [
            Span::raw(gap),
            Span::styled(sign.to_string(), style),
            look.span(Role::Dim, format!(" {} ", spent.name())),
            look.span(Role::Number, format!("{:.0}", share * 100.0)),
            look.span(Role::Dim, " %"),
        ];
        let width: usize = legend.iter().chain(&parts).map(Span::width).sum();
        if width > room {
            break;
        }
        legend.extend(parts);
    }
    let legend_width: usize = legend.iter().map(Span::width).sum();
    let columns = usize::from(area.width).saturating_sub(NAME.len() + legend_width + 2);
    let mut line = vec![look.span(Role::Dim, NAME)];
    line.extend(spent.ribbon(columns).into_iter().map(|spent| match spent {
        Some(spent) => {
            let (sign, style) = ribbon_sign(look, spent);
            Span::styled(sign.to_string(), style)
        }
        None => Span::raw(" "),
    }));
    line.push(Span::raw("  "));
    line.extend(legend);
    pane::line(Line::from(line), 0, area, buf);
}

/// Returns the sign and style of a use of time: measuring stands out, the rest is pale.
fn ribbon_sign(look: &Look, spent: Spent) -> (char, ratatui::style::Style) {
    let (unicode, ascii) = match spent {
        Spent::Measuring => ('█', '#'),
        Spent::Preparing => ('░', '.'),
        Spent::Verifying => ('▓', 'v'),
        Spent::Calibrating => ('▒', '='),
        Spent::Filling => ('▄', 'f'),
        Spent::Ceilings => ('▀', 'c'),
        Spent::Switching => ('▐', 's'),
        Spent::Discarded => ('▌', 'x'),
    };
    let role = if spent == Spent::Measuring { Role::Text } else { Role::Dim };
    let sign = if look.has_plain_bars() { ascii } else { unicode };
    (sign, look.style(role))
}
