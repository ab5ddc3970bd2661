//! A session as one picture, laid out from the top down: a description, the figures with their
//! legends, the answer below.

mod bars;
pub mod font;
mod panel;
pub mod scene;
#[cfg(test)]
mod tests;

use self::font::width;
pub use self::panel::{DrawnPanel, describe_point};
use self::panel::{HEADER_HEIGHT, NOTE, PanelDrawing, PanelPlace, SMALL, TEXT, TITLE_HEIGHT};
use self::scene::{Anchor, Ink, Scene, Stroke};
use super::figure::{
    self, Figure, FigureBars, FigureGroup, FigureOf, FigurePoint, LegendKey, LineStyle,
};
use super::table::conditions;
use super::{Look, text};
use crate::analysis;
use crate::session::Session;

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 40.0;
const CONTENT_WIDTH: f64 = WIDTH - 2.0 * MARGIN;
/// The gap between panels side by side.
const GAP: f64 = 28.0;

/// Draws all of a session that can be drawn.
pub fn scene(session: &Session, look: &Look) -> Scene {
    let (results, probes) = (analysis::results(session), analysis::probes(session));
    let groups = figure::groups(session, &results, &probes, look);
    let answer = text::clean(&analysis::answer_with(session, &results, &probes).text);
    let (title, about) = (title(session, &groups), answer.clone());
    let mut scene = Scene { title, about, ..Scene::new(WIDTH) };
    let mut y = draw_head(&mut scene, session);
    let is_only = shown_alone(&groups).is_some();
    // Small figures are placed in pairs side by side.
    let pairs = groups.iter().filter(|group| is_small(group)).count() > 1;
    let mut at = 0;
    while let Some(group) = groups.get(at) {
        let second = groups.get(at + 1).filter(|next| pairs && is_small(group) && is_small(next));
        let wide = if pairs && is_small(group) {
            (CONTENT_WIDTH - 2.0 * GAP) / 2.0
        } else {
            CONTENT_WIDTH
        };
        let pair: Vec<(f64, &FigureGroup)> = [MARGIN, MARGIN + wide + 2.0 * GAP]
            .into_iter()
            .zip([group].into_iter().chain(second))
            .collect();
        // Panels side by side have the same top, whichever of them has a legend.
        let top = pair
            .iter()
            .map(|(left, group)| {
                let is_only = is_only && !group.is_of_latencies();
                draw_introduction(&mut scene, group, (*left, y, wide), is_only)
            })
            .fold(y, f64::max);
        y = pair
            .iter()
            .map(|(left, group)| draw_group(&mut scene, group, (*left, top, wide)))
            .fold(top, f64::max)
            + 22.0;
        at += 1 + usize::from(second.is_some());
    }
    if groups.is_empty() {
        scene.text((MARGIN, y + 20.0), "Nothing was measured.", Ink::Soft, HEADER_HEIGHT);
        y += 44.0;
    }
    y = draw_footer(&mut scene, session, &groups, &answer, y);
    scene.height = (y + 22.0).ceil();
    scene
}

/// Returns whether the group is one panel of a single probe: two such groups fit side by side.
fn is_small(group: &FigureGroup) -> bool {
    matches!(group.figures.as_slice(), [one] if one.of == FigureOf::Probe && one.panels.len() == 1)
}

/// Returns the group that gives the picture its title, if there is only one but for latencies.
fn shown_alone(groups: &[FigureGroup]) -> Option<&FigureGroup> {
    let mut own = groups.iter().filter(|group| !group.is_of_latencies());
    own.next().filter(|_| own.next().is_none())
}

fn title(session: &Session, groups: &[FigureGroup]) -> String {
    let name = [session.name.as_str(), session.reference.map_or("", |_| session.id.as_str())]
        .into_iter()
        .find(|name| !name.is_empty());
    let what = match shown_alone(groups) {
        Some(one) => one.title.clone(),
        None if groups.is_empty() => "nothing measured".into(),
        // Each has its own title.
        None => session.plan.presets.join(", "),
    };
    let parts: Vec<&str> =
        name.into_iter().chain((!what.is_empty()).then_some(what.as_str())).collect();
    text::clean(&if parts.is_empty() { "iotui".into() } else { parts.join(": ") })
}

fn draw_head(scene: &mut Scene, session: &Session) -> f64 {
    let mut y = MARGIN + 12.0;
    let title = scene.title.clone();
    for line in font::wrap(&title, TITLE_HEIGHT * 1.06, CONTENT_WIDTH).into_iter().take(2) {
        scene.bold((MARGIN, y), &line, Ink::Text, TITLE_HEIGHT);
        y += TITLE_HEIGHT + 6.0;
    }
    let results = analysis::results(session);
    let rows: Vec<&analysis::CellResult> = results.iter().collect();
    let about = conditions::conditions(session, &rows, false);
    for (label, body) in about.iter().take(2).filter(|(_, body)| !body.trim().is_empty()) {
        let lines = font::wrap(&text::clean(&format!("{label}: {body}")), NOTE, CONTENT_WIDTH);
        for line in lines.into_iter().take(2) {
            scene.text((MARGIN, y - 4.0), &line, Ink::Soft, NOTE);
            y += NOTE + 5.0;
        }
    }
    y + 10.0
}

/// Draws the title of a group's first figure, and the legend; returns where they end.
fn draw_introduction(
    scene: &mut Scene,
    group: &FigureGroup,
    (left, top, wide): (f64, f64, f64),
    is_only: bool,
) -> f64 {
    let first = group.figures.iter().find(|figure| !figure.again).filter(|_| group.bars.is_none());
    let Some(first) = first else { return top };
    // The title of the picture is that of its first figure.
    let y = if is_only { top } else { draw_heading(scene, first, (left, top, wide)) };
    draw_legend(scene, &group.keys, (left, y, wide))
}

/// Draws the part of a group below its introduction, from `top` on; returns where it ends.
fn draw_group(scene: &mut Scene, group: &FigureGroup, (left, top, wide): (f64, f64, f64)) -> f64 {
    let mut y = top;
    if let Some(bars) = &group.bars {
        scene.bold(
            (left, y + HEADER_HEIGHT),
            &format!("{}, {}", bars.title, bars.scale.about()),
            Ink::Text,
            HEADER_HEIGHT,
        );
        return bars::draw(bars, &group.keys, scene, (left, y + HEADER_HEIGHT + 14.0, wide));
    }
    let shown: Vec<&Figure> = group.figures.iter().filter(|figure| !figure.again).collect();
    for (at, figure) in shown.iter().enumerate() {
        if at > 0 {
            y = draw_heading(scene, figure, (left, y, wide));
        }
        y = draw_panels(scene, figure, &group.keys, (left, y, wide), at == 0) + 12.0;
    }
    y
}

fn draw_heading(scene: &mut Scene, figure: &Figure, (left, top, _): (f64, f64, f64)) -> f64 {
    scene.bold((left, top + HEADER_HEIGHT), &figure.title, Ink::Text, HEADER_HEIGHT);
    top + HEADER_HEIGHT + 14.0
}

/// Draws the legend: every curve with its name, side by side as they fit; a single one needs none.
fn draw_legend(scene: &mut Scene, keys: &[LegendKey], (left, top, wide): (f64, f64, f64)) -> f64 {
    // A name that only repeats the title is skipped.
    if keys.is_empty() || matches!(keys, [one] if one.name.is_empty()) {
        return top;
    }
    let (mut x, mut y) = (left, top + 12.0);
    for key in keys.iter().filter(|key| key.line != LineStyle::Dotted) {
        let entry = 40.0 + width(&key.name, TEXT, false) + 26.0;
        if x > left && x + entry - 26.0 > left + wide {
            (x, y) = (left, y + 22.0);
        }
        draw_swatch(scene, key, (x, y), SWATCH_WIDTH);
        scene.text((x + 40.0, y + 4.5), &key.name, Ink::Text, TEXT);
        x += entry;
    }
    y + 20.0
}

/// The length of the line of a curve in a legend.
const SWATCH_WIDTH: f64 = 32.0;

fn draw_swatch(scene: &mut Scene, key: &LegendKey, (x, y): (f64, f64), wide: f64) {
    let ink = Ink::Color(key.color());
    if let Some(dash) = panel::dash(key.line) {
        scene.line(vec![(x, y), (x + wide, y)], Stroke::new(ink, 2.25).dash(dash));
    }
    if key.line != LineStyle::Dotted {
        scene.mark((x + wide / 2.0, y), key.mark, ink, false, String::new());
    }
}

/// Draws the line and the mark of a series, for a legend outside of the picture.
pub fn swatch(key: &LegendKey) -> Scene {
    let mut scene = Scene { height: 14.0, ..Scene::new(SWATCH_WIDTH) };
    draw_swatch(&mut scene, key, (0.0, 7.0), SWATCH_WIDTH);
    scene
}

/// Draws one panel alone, with the labels of its axes; the shapes of each series follow its number.
pub fn panel_scene(drawn: DrawnPanel, (width, height): (f64, f64), first: usize) -> Scene {
    let mut scene = Scene { height, first_series: Some(first), ..Scene::new(width) };
    let (left, top) = (panel::label_width(drawn.scale) + 16.0, 12.0);
    let place = PanelPlace { left, top, width: width - left - 2.0, height: height - top - 28.0 };
    PanelDrawing { drawn, place, up: true }.draw(&mut scene);
    scene
}

/// Draws bars alone.
pub fn bars_scene(bars: &FigureBars, keys: &[LegendKey], width: f64) -> Scene {
    let mut scene = Scene::new(width);
    scene.height = bars::draw(bars, keys, &mut scene, (0.0, 0.0, width));
    scene
}

/// Returns the number of columns for this many panels.
fn column_count(panels: usize) -> usize {
    match panels {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// Draws the panels of a figure with their axes; returns where they end.
fn draw_panels(
    scene: &mut Scene,
    figure: &Figure,
    keys: &[LegendKey],
    (left, top, wide): (f64, f64, f64),
    main: bool,
) -> f64 {
    let columns = column_count(figure.panels.len());
    let rows = figure.panels.len().div_ceil(columns);
    let up = panel::label_width(&figure.scale) + 16.0;
    let each = (wide - up - GAP * (columns as f64 - 1.0)) / columns as f64;
    let height = match (columns, main, wide < CONTENT_WIDTH) {
        (1, true, false) => 380.0,
        (1, true, true) => 250.0,
        (1, false, _) => 190.0,
        (_, true, _) => 210.0,
        _ => 140.0,
    };
    let mut y = top + 14.0;
    scene.text((left, y + 4.0), &figure.caption(&figure.scale), Ink::Soft, NOTE);
    y += 20.0;
    for row in 0..rows {
        let in_row = figure.panels.iter().skip(row * columns).take(columns);
        let titled = figure.panels.iter().any(|panel| !panel.title.is_empty());
        y += if titled { 18.0 } else { 0.0 };
        for (at, panel) in in_row.enumerate() {
            let place = PanelPlace {
                left: left + up + at as f64 * (each + GAP),
                top: y,
                width: each,
                height,
            };
            if titled {
                scene.bold((place.left, y - 8.0), &panel.title, Ink::Text, SMALL);
            }
            let describe =
                |key: &LegendKey, point: &FigurePoint| describe_point(figure, &key.name, point);
            let scale = &figure.scale;
            let drawn = DrawnPanel { figure, scale, keys, panel, describe: &describe };
            PanelDrawing { drawn, place, up: at == 0 }.draw(scene);
        }
        y += height + 36.0;
    }
    scene.anchored(
        (left + up + (wide - up) / 2.0, y + 4.0),
        &figure.across.title,
        Ink::Soft,
        SMALL,
        Anchor::Middle,
    );
    y + 14.0
}

/// Draws the answer, and the meaning of the marks.
fn draw_footer(
    scene: &mut Scene,
    session: &Session,
    groups: &[FigureGroup],
    answer: &str,
    top: f64,
) -> f64 {
    let mut y = top + 4.0;
    scene.line(vec![(MARGIN, y - 12.0), (WIDTH - MARGIN, y - 12.0)], Stroke::new(Ink::Grid, 1.0));
    for line in font::wrap(answer, TEXT, CONTENT_WIDTH) {
        y += TEXT + 6.0;
        scene.text((MARGIN, y), &line, Ink::Text, TEXT);
    }
    let notes = text::clean(&notes(session, groups));
    y += 4.0;
    for line in font::wrap(&notes, NOTE, CONTENT_WIDTH) {
        y += NOTE + 5.0;
        scene.text((MARGIN, y), &line, Ink::Soft, NOTE);
    }
    y
}

/// Explains the lines and marks that no legend covers.
pub fn notes(session: &Session, groups: &[FigureGroup]) -> String {
    let figures = || groups.iter().flat_map(|group| &group.figures);
    let dashed =
        groups.iter().flat_map(|group| &group.keys).any(|key| key.line == LineStyle::Dashed);
    let rows = || groups.iter().filter_map(|group| group.bars.as_ref()).flat_map(|bars| &bars.rows);
    let is_measured = |group: &FigureGroup, key: usize| {
        group.keys.get(key).is_some_and(|key| key.line != LineStyle::Marks)
    };
    let warned = |group: &FigureGroup| {
        group.figures.iter().flat_map(|figure| &figure.panels).flat_map(|panel| &panel.curves).any(
            |curve| is_measured(group, curve.key) && curve.points.iter().any(|point| point.wrong),
        )
    };
    let said = [
        (dashed, "Filled marks with dashed lines are cold, hollow ones warm."),
        (
            figures().any(|figure| figure.means && !figure.again),
            "A thin dashed line is the mean of its curve.",
        ),
        (
            groups.iter().any(warned) || rows().any(|row| row.point.wrong),
            "Marks that are struck through have a warning that they are wrong.",
        ),
        (rows().any(|row| row.point.expected.is_some()), "Grey: the expected range."),
        (
            rows().any(|row| !row.reported.is_empty()),
            "Hollow diamond: a value that a reference machine reported.",
        ),
    ];
    let shown = said.into_iter().filter(|(is_shown, _)| *is_shown);
    let mut notes: Vec<String> = shown.map(|(_, note)| note.to_string()).collect();
    notes.extend(session.reference.map(|machine| format!("As reported from {machine}.")));
    let expected = figures().flat_map(|figure| figure::estimates(&figure.panels));
    notes.push(analysis::describe_lines(expected));
    notes.retain(|note| !note.is_empty());
    notes.join(" ")
}
