//! Drawing of Compare: the sessions, their differences, the summary, the cells.

mod cells;
pub mod overlay;
mod scene;

use cells::{HEADER_ROWS, Table, paragraph};
pub use scene::CompareScene;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::data::{LoadedComparison, Sheet};
use super::state::{Compare, View};
use crate::analysis::{Difference, MIN_TRIALS, Outcome, Side, Versus, is_refinable};
use crate::context::ViewContext;
use crate::keymap::{Action, key_of};
use crate::screen::Screen;
use crate::spoken::speak;
use crate::text::time::to_minute;
use crate::theme::{Look, Role};
use crate::view::list::List;
use crate::view::{Hits, Part, pane};

pub fn draw(compare: &Compare, ctx: &ViewContext, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let look = ctx.look;
    let Some(got) = &compare.got else { return waiting(look, compare, body, buf) };
    let scene = CompareScene { look, compare, got };
    if compare.view == View::Chart && got.count_others() > 0 {
        overlay::draw(scene, ctx, body, buf, hits);
    } else {
        draw_page(scene, body, buf, hits);
    }
}

fn waiting(look: &Look, compare: &Compare, body: Rect, buf: &mut Buffer) {
    let inner = pane::frame(look, "Compare", "", true, body, buf);
    let text = format!("comparing {} sessions ...", compare.requested.len());
    pane::line(look.line(Role::Dim, text).centered(), inner.height / 2, inner, buf);
}

/// Minimum rows of the table, if it has as many.
const LEAST_ROWS: usize = 3;

/// The lines above the cells.
struct Summary {
    sessions: Vec<Line<'static>>,
    /// The visible differences.
    differences: Vec<Line<'static>>,
    conclusion: Vec<Line<'static>>,
}

fn summarize(scene: CompareScene, (versus, sheet): (&Versus, &Sheet), inner: Rect) -> Summary {
    let look = scene.look;
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let text_width = width.saturating_sub(2);
    let mut texts = pane::wrap(&speak(&versus.describe()), text_width);
    let offer = offer_trials(scene, width);
    // A line above each part, and the head of the table.
    let others = 3 + usize::from(HEADER_ROWS) + usize::from(offer.is_some());
    let most = (height / 4).max(2);
    let usual = [
        session_lines(scene, width, most).len(),
        versus.differences.len().clamp(1, (height / 5).max(2)),
        texts.len().min((height / 6).max(2)),
    ];
    let room = height.saturating_sub(others + sheet.rows.len().min(LEAST_ROWS));
    let [session_rows, difference_rows, text_rows] = yield_rows(usual, room);
    if texts.len() > text_rows {
        texts.truncate(text_rows);
        if let Some(last) = texts.last_mut() {
            *last = pane::fit_more(last, text_width);
        }
    }
    let mut conclusion: Vec<Line> =
        texts.into_iter().map(|text| look.line(Role::Title, format!(" {text}"))).collect();
    conclusion.extend(offer);
    let shown = versus.differences.iter().take(difference_rows);
    Summary {
        sessions: session_lines(scene, width, most - (usual[0] - session_rows)),
        differences: shown.map(|one| difference(look, one, &versus.differences, width)).collect(),
        conclusion,
    }
}

/// Reduces the rows of these parts to the room: first the sessions that are not compared, then the
/// differences, which `space` shows too, then the summary.
fn yield_rows(mut parts: [usize; 3], room: usize) -> [usize; 3] {
    let mut over = parts.iter().sum::<usize>().saturating_sub(room);
    for (rows, least) in parts.iter_mut().zip([2, 1, 1]) {
        let taken = over.min(rows.saturating_sub(least));
        *rows -= taken;
        over -= taken;
    }
    parts
}

/// Returns how to get a verdict on cells with too few trials, if trials can be added.
fn offer_trials(scene: CompareScene, width: usize) -> Option<Line<'static>> {
    let CompareScene { look, compare: Compare { other, .. }, got } = scene;
    let (versus, _) = got.versus(*other)?;
    let can_grow = |at: usize| got.views.get(at).is_some_and(|view| is_refinable(&view.session));
    let (base_grows, other_grows) = (can_grow(0), can_grow(other + 1));
    let is_short = |trials: usize| trials < MIN_TRIALS;
    // A session that cannot grow must not be what lacks trials.
    let few = || {
        versus.cells.iter().filter(|pair| {
            pair.outcome == Outcome::TooFew
                && (base_grows || !is_short(pair.base_trials))
                && (other_grows || !is_short(pair.other_trials))
        })
    };
    let sides = match (
        few().any(|pair| is_short(pair.base_trials)),
        few().any(|pair| is_short(pair.other_trials)),
    ) {
        (true, true) => format!("A and {}", versus.side.letter),
        (true, false) => "A".into(),
        (false, true) => versus.side.letter.clone(),
        (false, false) => return None,
    };
    let key = key_of(Action::Refine, Screen::Results);
    let text = format!(" For a verdict, add trials to {sides}: open it, then {key} refines it.");
    Some(look.line(Role::Dim, pane::fit(&text, width)))
}

fn draw_page(scene: CompareScene, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let CompareScene { look, compare, got } = scene;
    let inner = pane::frame(look, "Compare", &state(scene), true, body, buf);
    let Some((versus, sheet)) = got.versus(compare.other) else {
        return draw_failures(look, got, inner, buf);
    };
    let mut at = inner.y;
    let width = usize::from(inner.width);
    if compare.view == View::Words {
        let most = (usize::from(inner.height) / 4).max(2);
        put(&session_lines(scene, width, most), &mut at, inner, buf);
        divide(look, "In words", "", &mut at, inner, buf);
        let lines = describe_all(look, versus, width);
        let list = List::scrolled(compare.scroll, lines.len(), below(inner, at));
        hits.list(Part::Compare, list);
        return list.draw_lines(look, lines, buf);
    }
    let summary = summarize(scene, (versus, sheet), inner);
    put(&summary.sessions, &mut at, inner, buf);
    divide(look, "Summary", "", &mut at, inner, buf);
    put(&summary.conclusion, &mut at, inner, buf);
    let (shown, all) = (summary.differences.len(), versus.differences.len());
    let more = if all > shown {
        format!("{shown} of {all}, {} shows all", key_of(Action::Toggle, Screen::Compare))
    } else {
        String::new()
    };
    divide(look, "What differs", &more, &mut at, inner, buf);
    if all == 0 {
        let text = " only the figures: settings, host, kernel, file and warnings are equal";
        put(&[look.line(Role::Dim, pane::fit(text, width))], &mut at, inner, buf);
    }
    put(&summary.differences, &mut at, inner, buf);
    divide(look, "Cells", &sheet.common, &mut at, inner, buf);
    let table = Table::fit(sheet, versus, width.saturating_sub(2));
    if !sheet.rows.is_empty() {
        put(&table.head(look), &mut at, inner, buf);
    }
    let rest = cells::lines_below(look, versus, width);
    let line = |at: usize| match sheet.rows.get(at) {
        Some(row) => cells::line(look, &table, versus, *row),
        None => rest[at - sheet.rows.len()].clone(),
    };
    let rows = sheet.rows.len() + rest.len();
    let list = List::scrolled(compare.scroll, rows, below(inner, at));
    hits.list(Part::Compare, list);
    list.draw(look, None, line, buf);
}

/// Returns the part of an area from a row on.
fn below(area: Rect, y: u16) -> Rect {
    let y = y.min(area.bottom());
    Rect { y, height: area.bottom() - y, ..area }
}

/// Draws lines below each other, as many as fit.
fn put(lines: &[Line<'static>], at: &mut u16, area: Rect, buf: &mut Buffer) {
    pane::lines(lines.iter().cloned(), *at - area.y, area, buf);
    *at += lines.len() as u16;
}

/// Draws a divider with a title, and dim text at its right.
fn divide(look: &Look, title: &str, right: &str, at: &mut u16, inner: Rect, buf: &mut Buffer) {
    if *at < inner.bottom() {
        let row = Rect::new(inner.x, *at, inner.width, 1);
        pane::divider(look, row, buf);
        pane::draw_text(look, title, Role::Title, row, 1, buf);
        let room = usize::from(row.width).saturating_sub(pane::width(title) + 8);
        let right = pane::fit(right, room);
        pane::draw_text(
            look,
            &right,
            Role::Dim,
            row,
            row.width.saturating_sub(pane::width(&right) as u16 + 3),
            buf,
        );
        *at += 1;
    }
}

/// Describes which sessions are compared, the index, and whether a comparison is pending.
fn state(CompareScene { look, compare, got }: CompareScene) -> String {
    let others = got.count_others();
    let mut parts = Vec::new();
    if compare.is_waiting() {
        parts.push("comparing ...".to_string());
    }
    if others > 0 {
        parts.push(format!("{} against {}", got.letter(compare.other + 1), got.letter(0)));
    }
    if others > 1 {
        parts.push(format!("{} of {others} {}", compare.other + 1, look.glyph("←→", "left right")));
    }
    parts.join(look.glyph(" · ", " - "))
}

/// Draws the errors if fewer than two sessions could be loaded.
fn draw_failures(look: &Look, got: &LoadedComparison, inner: Rect, buf: &mut Buffer) {
    let mut lines = vec![look.line(Role::Title, " Nothing to compare:")];
    lines.extend(failure_lines(look, got, usize::from(inner.width)));
    put(&lines, &mut inner.y.clone(), inner, buf);
}

fn failure_lines(look: &Look, got: &LoadedComparison, width: usize) -> Vec<Line<'static>> {
    got.failures
        .iter()
        .flat_map(|(id, why)| paragraph(look, &format!(" {id}: "), Role::Wrong, why, width))
        .collect()
}

/// Columns of `2026-11-21 09:30 UTC`; references of an unknown time leave them empty.
const TIME_COLUMNS: usize = 20;

/// Builds a line per session, always including the two that are compared.
fn session_lines(scene: CompareScene, width: usize, most: usize) -> Vec<Line<'static>> {
    let CompareScene { look, compare, got } = scene;
    let Some(comparison) = &got.comparison else { return Vec::new() };
    let (sides, other): (Vec<&Side>, usize) = (comparison.sides().collect(), compare.other);
    let names: Vec<&str> = (0..sides.len()).map(|at| got.name(at)).collect();
    let wide = names.iter().map(|name| pane::width(name)).max().unwrap_or(0).min(width / 3);
    let hosts = sides.iter().map(|side| pane::width(&side.host)).max().unwrap_or(0).min(width / 5);
    let line = |at: usize| {
        let (side, now) = (sides[at], at == 0 || at == other + 1);
        let name = pane::fit(names[at], wide);
        let time = match side.created.is_empty() {
            true => " ".repeat(TIME_COLUMNS),
            false => format!("{} UTC", to_minute(&side.created)),
        };
        let host = pane::fit(&side.host, hosts);
        let head = [pane::width(&side.letter) + 2, wide + 2, pane::width(&time) + 2, hosts + 2]
            .iter()
            .sum::<usize>();
        let target = pane::fit_front(&side.target, width.saturating_sub(head + 1));
        let dim = look.style(Role::Dim);
        Line::from(vec![
            look.span(Role::Title, format!(" {} ", side.letter)),
            look.span(if now { Role::Title } else { Role::Dim }, pane::pad(&name, wide + 2)),
            Span::styled(format!("{time}  "), dim),
            Span::styled(pane::pad(&host, hosts + 2), dim),
            look.span(if now { Role::Text } else { Role::Dim }, target),
        ])
    };
    let mut shown: Vec<usize> = vec![0, other + 1];
    shown.extend((1..sides.len()).filter(|at| *at != other + 1));
    shown.truncate(most.max(2));
    shown.sort_unstable();
    let mut lines: Vec<Line> = shown.iter().map(|at| line(*at)).collect();
    lines.extend(failure_lines(look, got, width).into_iter().take(2));
    lines
}

/// Formats a difference on one line, `settings  trial time  300ms -> 100ms`; cuts long values.
fn difference(look: &Look, one: &Difference, all: &[Difference], width: usize) -> Line<'static> {
    let wide = name_columns(all, width);
    let arrow = look.glyph(" → ", " -> ");
    let room = width.saturating_sub(1 + TOPIC_COLUMNS + 2 + wide + 2 + pane::width(arrow) + 1);
    let (base, other) = (pane::width(&one.base), pane::width(&one.other));
    // A value shorter than half the room leaves the rest to the other.
    let left = base.min((room / 2).max(room.saturating_sub(other)));
    fn shorten(text: &str, most: usize) -> String {
        if text.contains('/') { pane::fit_front(text, most) } else { pane::fit(text, most) }
    }
    let what = pane::fit(&one.what, wide);
    Line::from(vec![
        look.span(Role::Dim, format!(" {:<TOPIC_COLUMNS$}  ", one.about)),
        look.span(Role::Text, pane::pad(&what, wide + 2)),
        look.span(Role::Number, shorten(&one.base, left)),
        look.span(Role::Dim, arrow.to_string()),
        look.span(Role::Number, shorten(&one.other, room.saturating_sub(left))),
    ])
}

/// Columns of `settings`, the longest topic of a difference.
const TOPIC_COLUMNS: usize = 8;

/// Returns the columns for the names of differences.
fn name_columns(all: &[Difference], width: usize) -> usize {
    all.iter().map(|one| pane::width(&one.what)).max().unwrap_or(0).min(width / 3)
}

/// Lists every difference, the summary, the cells without a verdict and those without a
/// counterpart.
fn describe_all(look: &Look, versus: &Versus, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for one in &versus.differences {
        let whole = difference(look, one, &versus.differences, usize::MAX / 2);
        if whole.width() < width {
            lines.push(difference(look, one, &versus.differences, width));
            continue;
        }
        lines.push(Line::from(vec![
            look.span(Role::Dim, format!(" {:<TOPIC_COLUMNS$}  ", one.about)),
            look.span(Role::Text, one.what.clone()),
        ]));
        let indent = " ".repeat(TOPIC_COLUMNS + 3);
        for (letter, value) in [("A", &one.base), (versus.side.letter.as_str(), &one.other)] {
            lines.extend(paragraph(look, &format!("{indent}{letter} "), Role::Dim, value, width));
        }
    }
    if versus.differences.is_empty() {
        let text = "Settings, host, kernel, file and warnings are equal in both.";
        lines.extend(paragraph(look, " ", Role::Dim, text, width));
    }
    lines.push(Line::default());
    lines.extend(
        pane::wrap(&speak(&versus.describe()), width.saturating_sub(2))
            .into_iter()
            .map(|text| look.line(Role::Title, format!(" {text}"))),
    );
    lines.extend(cells::lines_below(look, versus, width));
    lines
}
