//! The session under the cursor: its facts, its curves, its answer as text.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};

use super::columns;
use crate::analysis::{Axis, Board, CellResult, Grade, ProbeResult, SummaryOf};
use crate::context::ViewContext;
use crate::curves::{self, Axes, Curve, Drawn, Metric};
use crate::record::{Severity, Warning};
use crate::session::Listed;
use crate::session_view::SessionView;
use crate::sessions::state::{Sessions, cells, cells_noun};
use crate::spoken::speak;
use crate::text::time::to_minute;
use crate::theme::{Look, Role};
use crate::units;
use crate::view::pane::{self, Whole};

/// Fewer rows are not enough for a chart.
const MIN_CHART_ROWS: u16 = 5;

pub fn draw(sessions: &Sessions, ctx: &ViewContext, area: Rect, buf: &mut Buffer) {
    let look = ctx.look;
    let Some(listed) = sessions.current() else {
        pane::frame(look, "", "", false, area, buf);
        return;
    };
    let loaded = sessions
        .preview
        .as_ref()
        .filter(|preview| preview.id == listed.id)
        .map(|preview| &preview.result);
    let best = loaded
        .and_then(|result| result.as_ref().ok())
        .map_or(String::new(), |shown| best(look, listed, shown));
    // The best figure is worth more than the end of a name.
    let name = columns::name(listed);
    let inner = pane::frame_with(look, [&name, &best], Whole::Right, false, area, buf);
    let inner = pane::narrow(inner);
    match loaded {
        Some(Ok(shown)) => {
            draw_preview(look, (listed, sessions.current_change()), shown, inner, buf);
        }
        Some(Err(why)) => draw_message(look, why, Role::Wrong, inner, buf),
        None if sessions.asked.as_ref() == Some(&listed.id) => {
            draw_message(look, "loading ...", Role::Dim, inner, buf)
        }
        None if ctx.run.is_some() => draw_message(
            look,
            "No preview during a run: reading files would disturb it.",
            Role::Dim,
            inner,
            buf,
        ),
        None => {}
    }
}

fn draw_message(look: &Look, text: &str, role: Role, area: Rect, buf: &mut Buffer) {
    pane::lines(pane::paragraph(look, role, "", text, usize::from(area.width)), 0, area, buf);
}

/// Returns the highest median, the same as in the list; what the list does not have, of a run that
/// was killed and of calls that move no bytes, is taken from the answer.
fn best(look: &Look, listed: &Listed, shown: &SessionView) -> String {
    let answered = shown.answer.best.as_ref();
    let median = |rate: &SummaryOf| rate.summary.median;
    let bytes = answered.and_then(|best| best.throughput.as_ref()).map(median);
    let operations = answered.and_then(|best| best.operations.as_ref()).map(median);
    let best = match (listed.best.or(bytes), operations) {
        (Some(rate), _) => Metric::Throughput.show(rate, look.unit),
        (None, Some(rate)) => Metric::Operations.show(rate, look.unit),
        (None, None) => return String::new(),
    };
    format!("best {best}")
}

fn draw_preview(
    look: &Look,
    (listed, change): (&Listed, Option<f64>),
    shown: &SessionView,
    area: Rect,
    buf: &mut Buffer,
) {
    let width = usize::from(area.width);
    let axis = curves::axis_of_curves(shown.results.iter().map(|result| &result.cell));
    let (metric, curves, singles) = build_curves(shown, axis);
    let facts = facts(look, listed, change, shown, width);
    let figures = figures(look, metric, &curves, shown, width);
    let has_chart = figures.is_empty() && curves.iter().any(|curve| curve.points.len() > 1);
    let legend = if has_chart { legend(look, &curves, singles, width) } else { Vec::new() };
    let answer = shown.glance.facts.first().unwrap_or(&shown.answer.text);
    let answer = pane::wrap(&speak(answer), width);
    // The words get at most a third, so that the chart is not crowded out.
    let answer_rows = answer.len().min((area.height / 3).max(2).into()) as u16;
    let legend_rows = legend.len().min((area.height / 6).into()) as u16;
    let facts_rows = facts.len() as u16 + 1;
    let middle = if has_chart { MIN_CHART_ROWS } else { figures.len() as u16 };
    let roomy = area.height > middle + legend_rows + answer_rows + facts_rows;
    let main = if has_chart { Constraint::Min(0) } else { Constraint::Max(middle) };
    let [above, plot, below, last] = Layout::vertical([
        Constraint::Length(if roomy { facts_rows } else { 0 }),
        main,
        Constraint::Length(legend_rows + u16::from(roomy)),
        Constraint::Length(answer_rows),
    ])
    .flex(Flex::Start)
    .areas(area);
    pane::lines(facts, 0, above, buf);
    if has_chart {
        let looks = |curve: &Curve| (look.series(curve.sign.hue()), look.marker(curve.sign));
        let drawn: Vec<Drawn> =
            curves.iter().map(|curve| Drawn::new(curve, looks(curve))).collect();
        let axes = Axes { along: axis, metric, log: false, between: None };
        curves::draw_curves(look, axes, &drawn, None, plot, buf);
    }
    pane::lines(figures, 0, plot, buf);
    pane::lines(legend, 0, below, buf);
    let cut = answer.len() > usize::from(answer_rows);
    let mut answer: Vec<String> = answer.into_iter().take(answer_rows.into()).collect();
    if cut && let Some(end) = answer.last_mut() {
        *end = pane::fit_more(end, width);
    }
    pane::lines(answer.into_iter().map(|part| look.line(Role::Text, part)), 0, last, buf);
}

/// Lists what a chart cannot draw: the scoreboard, probes, or single figures; empty for curves.
fn figures(
    look: &Look,
    metric: Metric,
    curves: &[Curve],
    shown: &SessionView,
    width: usize,
) -> Vec<Line<'static>> {
    if let Some(board) = shown.glance.table() {
        return table(look, board, width);
    }
    if curves.is_empty() {
        return probes(look, shown, width);
    }
    match curves.iter().all(|curve| curve.points.len() < 2) {
        true => single_figures(look, metric, curves, width),
        false => Vec::new(),
    }
}

/// Lists the rows of a table without intervals, and the columns that fit.
fn table(look: &Look, board: &Board, width: usize) -> Vec<Line<'static>> {
    let names = board.rows.iter().map(|name| pane::width(name)).max().unwrap_or(0) + 1;
    let names = names.min(width / 2);
    let mut room = width - names;
    let mut lines = vec![vec![look.span(Role::Dim, pane::pad(board.axis, names))]];
    let name = |name: &String| look.span(Role::Text, pane::pad(&pane::fit(name, names), names));
    lines.extend(board.rows.iter().map(|row| vec![name(row)]));
    for column in &board.columns {
        let (title, texts) = column.texts(look.unit);
        let cells = [&[title], texts.as_slice()].concat();
        let each = cells.iter().map(|text| pane::width(text)).max().unwrap_or(0).max(6) + 2;
        let Some(left) = room.checked_sub(each) else { break };
        room = left;
        for (at, (line, text)) in lines.iter_mut().zip(cells).enumerate() {
            let role = if at == 0 { Role::Dim } else { Role::Number };
            line.push(look.span(role, pane::pad_front(&text, each)));
        }
    }
    lines.into_iter().map(Line::from).collect()
}

/// Lists probes and their medians in the order of the plan.
fn probes(look: &Look, shown: &SessionView, width: usize) -> Vec<Line<'static>> {
    let one = |probe: &ProbeResult| {
        let (unit, value) = (probe.unit?, probe.value?);
        Some(figure(look, &probe.cell.label(), &unit.show(value.summary.median), width))
    };
    shown.probes.iter().filter_map(one).collect()
}

/// Lists the figures of curves of one point, which a chart cannot draw.
fn single_figures(
    look: &Look,
    metric: Metric,
    curves: &[Curve],
    width: usize,
) -> Vec<Line<'static>> {
    let one = |curve: &Curve| {
        let point = curve.points.first()?;
        Some(figure(look, &curve.name, &metric.show(point.y, look.unit), width))
    };
    curves.iter().filter_map(one).collect()
}

fn figure(look: &Look, name: &str, shown: &str, width: usize) -> Line<'static> {
    let (figure, unit) = shown.split_once(' ').unwrap_or((shown, ""));
    let name = pane::fit(name, width.saturating_sub(14));
    Line::from(vec![
        look.span(Role::Text, pane::pad(&name, width.saturating_sub(13))),
        look.span(Role::Number, format!("{figure:>6} ")),
        look.span(Role::Dim, format!("{unit:<5}")),
    ])
}

/// Builds curves of throughput, or of the first metric that has values; and the number of figures
/// that they leave out.
fn build_curves(shown: &SessionView, axis: Axis) -> (Metric, Vec<Curve>, usize) {
    let cells = &shown.session.plan.cells;
    let metric = Metric::Throughput.or_first(shown.results.iter());
    let mut built = curves::curves(cells, &shown.results, &shown.skipped, axis, metric, false);
    let singles = curves::leave_out_singles(&mut built, |curve| curve);
    (metric, built, singles)
}

/// Returns the lines of a session: the target; then when, how long, how much, how good, as many to
/// a line as fit.
fn facts(
    look: &Look,
    listed: &Listed,
    change: Option<f64>,
    shown: &SessionView,
    width: usize,
) -> Vec<Line<'static>> {
    let (dim, number) = (look.style(Role::Dim), look.style(Role::Number));
    let counted = |figure: String, unit: &str| {
        vec![Span::styled(figure, number), Span::styled(format!(" {unit}"), dim)]
    };
    let mut parts = Vec::new();
    if !listed.created.is_empty() {
        parts.push(vec![Span::styled(format!("{} UTC", to_minute(&listed.created)), dim)]);
    }
    parts.extend(listed.seconds.map(|seconds| counted(units::three_digits(seconds), "s")));
    parts.push(counted(cells(listed), cells_noun(listed)));
    parts.push(vec![verdict(look, listed, shown)]);
    parts.push(vec![look.span(columns::state(listed.state), listed.state.name())]);
    if let (figure, role) = columns::change(change)
        && !figure.is_empty()
    {
        let text = Span::styled(" against the run before", dim);
        parts.push(vec![look.span(role, figure), text]);
    }
    if let Some(lost) = listed.lost_lines.filter(|lost| *lost > 0) {
        let damaged = format!("{} damaged", units::counted(lost as usize, "line"));
        parts.push(vec![look.span(Role::Wrong, damaged)]);
    }
    let presets = shown.session.plan.presets.join(", ");
    if !presets.is_empty() {
        parts.push(vec![Span::styled(presets, dim)]);
    }
    let target = look.line(Role::Text, pane::fit_front(&shown.target(), width));
    std::iter::once(target)
        .chain(flow(parts, &Span::styled(look.glyph(" · ", " - "), dim), width))
        .collect()
}

/// Counts the results that are wrong or easily misread; amber and red only where the headline
/// figures are among them.
fn verdict(look: &Look, listed: &Listed, shown: &SessionView) -> Span<'static> {
    let count = |severity: Severity| {
        let of = |warnings: &[Warning]| warnings.iter().map(|one| one.severity).max();
        let cells = shown.results.iter().map(CellResult::shown_severity);
        let probes = shown.probes.iter().map(|probe| of(&probe.warnings));
        cells.chain(probes).filter(|worst| *worst == Some(severity)).count()
    };
    let all = shown.results.len() + shown.probes.len();
    let grade = shown.glance.trust.grade;
    let (many, what, role) = match (count(Severity::Wrong), count(Severity::Misleading)) {
        (0, 0) => {
            let (badge, role) = columns::verdict(look, listed, true);
            return look.span(role, badge);
        }
        (0, misread) => (misread, "easily misread", Role::Misleading),
        (wrong, _) => (wrong, "wrong", Role::Wrong),
    };
    let is_headline = grade >= Grade::Misleading;
    look.span(if is_headline { role } else { Role::Dim }, format!("{many} of {all} {what}"))
}

/// Parts in a row, on as many lines as they need.
fn flow(
    parts: Vec<Vec<Span<'static>>>,
    between: &Span<'static>,
    width: usize,
) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    for part in parts {
        let own: usize = part.iter().map(Span::width).sum();
        match lines.last_mut() {
            Some(line) if line.width() + between.width() + own <= width => {
                line.push_span(between.clone());
                line.spans.extend(part);
            }
            _ => lines.push(Line::from(part)),
        }
    }
    lines
}

/// Returns the curves by marker and name, as many to a line as fit, and how many figures are in
/// none.
fn legend(look: &Look, curves: &[Curve], singles: usize, width: usize) -> Vec<Line<'static>> {
    let entry = |curve: &Curve| {
        let (marker, style) = (look.marker(curve.sign), look.series(curve.sign.hue()));
        let marker = Span::styled(format!("{marker} "), style);
        vec![marker, look.span(Role::Text, curve.name.clone())]
    };
    let singles = (singles > 0).then(|| {
        let text = format!("{}, in its table", units::counted(singles, "single figure"));
        vec![look.span(Role::Dim, text)]
    });
    flow(curves.iter().map(entry).chain(singles).collect(), &Span::raw("   "), width)
}

#[cfg(test)]
mod tests {
    use crate::msg::Msg;
    use crate::session::{self, Listed, Session, testing};
    use crate::session_view::{Preview, SessionView};
    use crate::testing::Stage;

    /// On Sessions, with the preview of the only one.
    fn previewed(listed: Listed, session: Session) -> Stage {
        let mut stage = Stage::new();
        stage.tell(Msg::Resize(160, 45)).keys("4");
        let result = Ok(Box::new(SessionView::new(session, None)));
        let preview = Preview { id: listed.id.clone(), result };
        let is_folded = listed.state == session::State::Reference;
        stage.tell(Msg::Sessions(Ok(vec![listed])));
        stage.keys(if is_folded { "<enter>j" } else { "" }).tell(Msg::Preview(preview));
        stage
    }

    #[test]
    fn single_figures_are_counted_not_drawn() {
        let reference = session::reference("macbook-2017").unwrap();
        let stage = previewed(reference.to_listed(), reference.session().clone());
        let picture = stage.picture(160, 45);
        assert!(picture.contains("17 single figures, in its table"), "{picture}");
        assert!(!picture.contains("count "), "{picture}");
    }

    #[test]
    fn reference_without_time_shows_no_time() {
        let reference = session::reference("ryzen-5900hs").unwrap();
        let stage = previewed(reference.to_listed(), reference.session().clone());
        assert!(!stage.picture(160, 45).contains("UTC"), "{}", stage.picture(160, 45));
    }

    #[test]
    fn one_figure_has_no_chart() {
        let mut plan = testing::plan(0);
        plan.cells = vec![testing::job("read", 1 << 20, crate::plan::Cache::Warm)];
        let (id, created) = ("x".to_string(), "2026-11-21T09:30:11Z".to_string());
        let mut session =
            Session::new(id.clone(), String::new(), created, Default::default(), plan);
        let trials = (1..=5).map(|round| testing::trial(0, round, 3 << 30).into());
        session.trials.extend(trials);
        let reference = session::reference("macbook-2017").unwrap().to_listed();
        let stage = previewed(Listed { id, cells: 1, ..reference }, session);
        let picture = stage.picture(160, 45);
        let figure = picture.lines().any(|line| line.contains("read  ") && line.contains("GiB/s"));
        assert!(figure && !picture.contains("800000"), "{picture}");
    }

    #[test]
    fn no_result_has_no_chart() {
        let reference = session::reference("macbook-2017").unwrap().to_listed();
        let stage = previewed(Listed { id: "x".into(), ..reference }, testing::session(4));
        let picture = stage.picture(160, 45);
        assert!(picture.contains("Nothing was measured"), "{picture}");
        assert!(!picture.contains('┤'), "{picture}");
    }

    #[test]
    fn one_cell_is_not_cells() {
        let reference = session::reference("macbook-2017").unwrap();
        let listed = Listed {
            cells: 1,
            measured: Some(1),
            id: "x".into(),
            state: session::State::Finished,
            ..reference.to_listed()
        };
        let mut plan = testing::plan(0);
        plan.cells = vec![testing::job("read", 4096, crate::plan::Cache::Warm)];
        let (id, created) = ("x".to_string(), "2026-11-21T09:30:11Z".to_string());
        let session = Session::new(id, String::new(), created, Default::default(), plan);
        let mut stage = previewed(listed, session);
        assert!(stage.picture(160, 45).contains(" 1 cell "), "{}", stage.picture(160, 45));
        let question = stage.keys("D").picture(160, 45);
        assert!(question.contains(", 1 cell. This cannot be undone."), "{question}");
    }
}
