//! Draws Live: the panes that fit.

mod curve;
mod lanes;
mod latency;
mod now;
mod replay;
mod scene;
mod strip;
mod warnings;

use scene::Scene;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::layout::Places;
use super::run_view::RunView;
use super::series::Measure;
use super::state::Live;
use crate::context::ViewContext;
use crate::keymap::{Action, key_of};
use crate::lab;
use crate::plan::Job;
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::view::{Hits, pane};
use crate::zoom::Zoom;

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
    let places = places(&scene, live.replay.is_some(), area);
    strip::draw(&scene, view.measure(), true, places.throughput, buf);
    now::draw(&scene, places, buf);
    strip::draw(&scene, Measure::SystemCalls, false, places.calls, buf);
    curve::draw(&scene, places.curve, buf);
    places.latency.inspect(|area| latency::draw(&scene, *area, buf));
    places.threads.inspect(|area| lanes::draw(&scene, *area, buf));
    places.warnings.inspect(|area| warnings::draw(&scene, *area, buf));
    if let Some(at) = ctx.pointer {
        strip::draw_read_out(&scene, places.throughput, at, buf);
    }
}

/// Returns the area of the panes.
fn pane_area(live: &Live, body: Rect) -> Rect {
    if live.replay.is_some() { replay::split(body).0 } else { body }
}

fn new_scene<'a>(live: &'a Live, view: &'a RunView, look: &'a Look) -> Scene<'a> {
    Scene {
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

fn places(scene: &Scene, is_replay: bool, area: Rect) -> Places {
    let (look, view) = (scene.look, scene.view);
    let threads = view.plan.cells.iter().map(|job| job.threads).max().unwrap_or(1);
    // The part of each thread is not kept.
    let threads = if is_replay { 1 } else { threads };
    Places::new(area, threads, &|columns| warnings::count_rows(look, &view.warnings, columns))
}

/// Returns the scene if there are trials to show.
fn scene_of_trials<'a>(live: &'a Live, look: &'a Look) -> Option<Scene<'a>> {
    let view = live.run_view().filter(|view| !lab::is_probe_plan(&view.plan))?;
    (view.series.trials() > 0).then(|| new_scene(live, view, look))
}

/// Returns the area of the bars of the trials.
pub fn strip_area(live: &Live, look: &Look, body: Rect) -> Option<Rect> {
    let scene = scene_of_trials(live, look)?;
    let places = places(&scene, live.replay.is_some(), pane_area(live, body));
    Some(strip::parts(true, places.throughput).0)
}

/// Returns the part of the trials that is shown in these bars; `None`: all.
pub fn strip_part(live: &Live, look: &Look, bars: Rect) -> Zoom {
    strip::part(&scene_of_trials(live, look)?, bars)
}

/// Returns the trial at a column of these bars, counted from 0.
pub fn trial_at(live: &Live, look: &Look, bars: Rect, column: u16) -> Option<usize> {
    let (bar, _) = strip::bar_at(&scene_of_trials(live, look)?, bars, column)?;
    Some(bar.last.saturating_sub(1) as usize)
}

/// Returns the job whose bar is at a place of the screen, and the id of its session; `None` where
/// there is none, or several.
pub fn job_at(live: &Live, look: &Look, body: Rect, at: Position) -> Option<(String, Job)> {
    let bars = strip_area(live, look, body)?;
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
