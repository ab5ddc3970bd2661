//! Draws Live: the panes that fit.

mod curve;
mod lanes;
mod latency;
mod now;
mod replay;
mod rows;
mod scene;
mod strip;
mod warnings;

use scene::LiveScene;

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};

use super::rows::Picture;
use super::run_view::RunView;
use super::series::Measure;
use super::state::Live;
use super::strip::TrialWindow;
use crate::analysis::HeatLog;
use crate::context::ViewContext;
use crate::keymap::{Action, key_of};
use crate::lab;
use crate::plan::Job;
use crate::plot::HeatPlot;
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::units::show_nanos;
use crate::view::{Hits, board, pane};
use crate::zoom::{Zoom, ZoomChart};

pub fn draw(live: &Live, ctx: &ViewContext, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let look = ctx.look;
    let area = pane_area(live, body);
    if let Some(shown) = &live.replay {
        replay::draw(look, shown, replay::split(body).1, buf, hits);
    }
    let Some(view) = live.run_view() else { return draw_idle(look, area, buf) };
    if lab::is_probe_plan(&view.plan) {
        return draw_probe_hint(look, live.run.is_some(), area, buf);
    }
    let scene = new_scene(live, view, look);
    let panes = LivePanes::new(&scene, live.replay.is_some(), area);
    if live.shows_heat {
        draw_heat(&scene, panes.throughput.union(panes.calls), buf);
    } else {
        strip::draw(&scene, view.measure(), true, panes.throughput, buf);
        strip::draw(&scene, Measure::SystemCalls, false, panes.calls, buf);
    }
    if view.series.trials() > 0 && !live.shows_heat {
        hits.chart(strip::parts(true, panes.throughput).0);
    }
    let (warnings_apart, latency_apart) = (!panes.warnings.is_empty(), !panes.latency.is_empty());
    now::draw(&scene, panes.now, !warnings_apart, !latency_apart, buf);
    match &view.picture {
        Picture::Curves => curve::draw(&scene, panes.curve, buf),
        Picture::Rows(rows, figures) => rows::draw(&scene, rows, *figures, panes.curve, buf),
        Picture::Board(board) => {
            let inner = pane::frame(look, &view.title(), "", false, panes.curve, buf);
            board::draw(look, board, None, inner, buf);
        }
    }
    if latency_apart {
        latency::draw(&scene, panes.latency, buf);
    }
    if !panes.threads.is_empty() {
        lanes::draw(&scene, panes.threads, buf);
    }
    if warnings_apart {
        warnings::draw(&scene, panes.warnings, buf);
    }
    if let Some(at) = ctx.pointer.filter(|_| !live.shows_heat) {
        strip::draw_read_out(&scene, panes.throughput, at, buf);
    }
}

/// Draws the latencies over time of the cell that runs.
fn draw_heat(scene: &LiveScene, area: Rect, buf: &mut Buffer) {
    let (look, view) = (scene.look, scene.view);
    let shown = view.heat.log();
    let figures = shown.as_ref().map_or(Vec::new(), |(_, log)| figures_of(look, log));
    let inner = scene::frame(look, "Latencies over time", figures, area, buf);
    let Some((cell, log)) = &shown else {
        return pane::line(look.line(Role::Dim, "no latency is known yet"), 0, inner, buf);
    };
    let hue = view.hue(*cell);
    HeatPlot { look, log, hue, title: "", cursor: None }.render(inner, buf);
}

/// Returns the percentiles so far, if there are enough operations, and the longest latency.
fn figures_of(look: &Look, log: &HeatLog) -> Vec<Span<'static>> {
    let all = log.histogram();
    let figures = [
        ("p50", all.quantile(0.5)),
        ("p99", all.quantile(0.99)),
        ("max", Some(all.max()).filter(|_| all.count() > 0)),
    ];
    let known = figures.into_iter().filter_map(|(name, nanos)| Some((name, nanos?)));
    let mut parts: Vec<Span> = Vec::new();
    for (name, nanos) in known {
        let gap = if parts.is_empty() { "" } else { "  " };
        parts.push(look.span(Role::Dim, format!("{gap}{name} ")));
        parts.extend(scene::figure(look, &show_nanos(nanos as f64), true));
    }
    parts
}

/// Rows of Now.
const NOW_ROWS: u16 = 11;

/// Minimum rows of a screen with latency, threads and warnings.
const MIN_ROOMY: u16 = 28;

/// Areas of the panes; an empty one is not drawn.
struct LivePanes {
    throughput: Rect,
    calls: Rect,
    threads: Rect,
    latency: Rect,
    curve: Rect,
    now: Rect,
    warnings: Rect,
}

impl LivePanes {
    /// Lays out the trials at the left with latency and threads below, and the results at the right
    /// with Now and warnings below.
    fn new(scene: &LiveScene, is_replay: bool, area: Rect) -> LivePanes {
        let threads = scene.view.plan.cells.iter().map(|job| job.threads).max().unwrap_or(1);
        // The part of each thread is not kept, and the bar of one thread would always be full.
        let threads = if is_replay || threads == 1 { 0 } else { threads };
        // Rows have longer names than the ends of curves.
        let share = if scene.view.picture == Picture::Curves { 55 } else { 40 };
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(share), Constraint::Min(0)]).areas(area);
        let (mut below, mut found) = (0, 0);
        if area.height >= MIN_ROOMY {
            let lanes = u16::try_from(threads).unwrap_or(u16::MAX).saturating_add(2);
            below = (area.height / 4).clamp(8, 15).max(lanes.min(area.height / 3));
            let columns = right.width.saturating_sub(2);
            let rows = warnings::count_rows(scene.look, &scene.view.warnings, columns) as u16;
            found = if rows == 0 { 0 } else { rows.min(area.height / 5) + 2 };
        }
        let [above, below] =
            Layout::vertical([Constraint::Min(0), Constraint::Length(below)]).areas(left);
        let [throughput, calls] =
            Layout::vertical([Constraint::Fill(3), Constraint::Fill(2)]).areas(above);
        let share = if threads == 0 { 0 } else { 42 };
        let [threads, latency] =
            Layout::horizontal([Constraint::Percentage(share), Constraint::Min(0)]).areas(below);
        let [curve, now, warnings] = Layout::vertical([
            Constraint::Min(0),
            Constraint::Length(NOW_ROWS),
            Constraint::Length(found),
        ])
        .areas(right);
        LivePanes { throughput, calls, threads, latency, curve, now, warnings }
    }
}

/// Returns the area of the panes.
fn pane_area(live: &Live, body: Rect) -> Rect {
    if live.replay.is_some() { replay::split(body).0 } else { body }
}

fn new_scene<'a>(live: &'a Live, view: &'a RunView, look: &'a Look) -> LiveScene<'a> {
    LiveScene {
        look,
        view,
        run: live.run.as_ref(),
        frozen: live.frozen.is_some(),
        unsaved: live.shown_unsaved(),
        window: live.window,
        scroll: live.scroll,
        log: live.log,
    }
}

/// Returns the scene if there are trials to show.
fn scene_of_trials<'a>(live: &'a Live, look: &'a Look) -> Option<LiveScene<'a>> {
    let view = live.run_view().filter(|view| !lab::is_probe_plan(&view.plan))?;
    (view.series.trials() > 0).then(|| new_scene(live, view, look))
}

impl ZoomChart for Live {
    fn count_places(&self) -> usize {
        self.run_view().map_or(0, |view| view.series.trials() as usize)
    }

    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<usize> {
        let (bar, _) = strip::bar_at(&scene_of_trials(self, look)?, area, column)?;
        Some(bar.last.saturating_sub(1) as usize)
    }

    fn part(&self, look: &Look, area: Rect) -> Zoom {
        strip::part(&scene_of_trials(self, look)?, area)
    }

    fn show_part(&mut self, part: Zoom) {
        let all = u32::try_from(self.count_places()).unwrap_or(u32::MAX);
        self.window = TrialWindow::of(part, all);
    }

    /// One long trial may take all columns.
    fn least_span(&self) -> usize {
        0
    }
}

/// Returns the session id and the job of the bar at a place of the screen; `None` if no bar or a
/// bar of several jobs is there.
pub fn job_at(live: &Live, look: &Look, bars: Rect, at: Position) -> Option<(String, Job)> {
    let scene = scene_of_trials(live, look)?;
    let (bar, _) = strip::bar_under(&scene, bars, at)?;
    let job = scene.view.job(bar.cell?)?.clone();
    let replayed = live.replay.as_ref().map(|replay| &replay.shown().session.id);
    Some((replayed.unwrap_or(&live.session_id).clone(), job))
}

/// Points to the Lab screen: probes have no curves over time.
fn draw_probe_hint(look: &Look, is_running: bool, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(look, "Live", "", false, area, buf);
    let text = if is_running { "Probes are running: press " } else { "Probes have run: press " };
    let parts = vec![
        look.span(Role::Text, text),
        look.span(Role::Key, key_of(Action::Go(Screen::Lab), Screen::Live)),
        look.span(Role::Text, " to see them."),
    ];
    pane::line(Line::from(parts).centered(), inner.height / 2, inner, buf);
}

/// Draws a hint before the first run.
fn draw_idle(look: &Look, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(look, "Live", "", false, area, buf);
    let key = |action, screen| look.span(Role::Key, key_of(action, screen));
    let text = |text: &'static str| look.span(Role::Text, text);
    let lines = [
        Line::from(text("Nothing is running.")),
        Line::default(),
        Line::from(vec![
            text("Press "),
            key(Action::Go(Screen::Setup), Screen::Live),
            text(" to choose what to measure, then "),
            key(Action::Run, Screen::Setup),
            text(" to run it."),
        ]),
        look.line(Role::Dim, "Live charts appear here while it runs."),
    ];
    let top = inner.height.saturating_sub(lines.len() as u16) / 2;
    pane::lines(lines.map(Line::centered), top, inner, buf);
}
