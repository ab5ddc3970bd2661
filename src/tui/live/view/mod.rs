//! Draws Live: the panes that fit.

mod curve;
mod lanes;
mod latency;
mod now;
mod replay;
mod scene;
mod strip;
mod text;
mod warnings;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

pub use replay::share_at;

use super::layout::Places;
use super::run_view::RunView;
use super::series::Measure;
use super::state::Live;
use crate::tui::context::ViewContext;
use crate::tui::keymap::{Action, key_of};
use crate::tui::probe_plan;
use crate::tui::screen::Screen;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;
use scene::Scene;

pub fn draw(live: &Live, ctx: &ViewContext, area: Rect, buf: &mut Buffer) {
    let look = ctx.look;
    let area = match &live.replay {
        Some(shown) => {
            let (panes, row) = replay::split(area);
            replay::draw(look, shown, row, buf);
            panes
        }
        None => area,
    };
    let Some(view) = live.run_view() else { return draw_idle(look, area, buf) };
    if probe_plan::is_probe_plan(&view.plan) {
        return draw_probe_hint(look, live.run.is_some(), area, buf);
    }
    let scene = new_scene(live, view, look);
    let places = places(&scene, live.replay.is_some(), area);
    strip::draw(&scene, view.measure(), true, places.throughput, buf);
    now::draw(&scene, places, buf);
    places.calls.inspect(|area| strip::draw(&scene, Measure::SystemCalls, false, *area, buf));
    places.curve.inspect(|area| curve::draw(&scene, *area, buf));
    places.latency.inspect(|area| latency::draw(&scene, *area, buf));
    places.threads.inspect(|area| lanes::draw(&scene, *area, buf));
    places.warnings.inspect(|area| warnings::draw(&scene, *area, buf));
}

fn new_scene<'a>(live: &'a Live, view: &'a RunView, look: &'a Look) -> Scene<'a> {
    Scene {
        look,
        view,
        run: live.run.as_ref(),
        frozen: live.frozen.is_some(),
        unsaved: live.shown_unsaved(),
        zoom: live.zoom,
        scroll: live.scroll,
        log: live.is_log(),
    }
}

fn places(scene: &Scene, is_replay: bool, area: Rect) -> Places {
    let (look, view) = (scene.look, scene.view);
    let threads = view.plan.cells.iter().map(|job| job.threads).max().unwrap_or(1);
    // The part of each thread is not kept.
    let threads = if is_replay { 1 } else { threads };
    Places::new(area, threads, &|columns| warnings::count_rows(look, &view.warnings, columns))
}

/// Returns how many trials are shown, and how many there are.
pub fn count_trials(live: &Live, ctx: &ViewContext, area: Rect) -> (u32, u32) {
    let Some(view) = live.run_view() else { return (0, 0) };
    let scene = new_scene(live, view, ctx.look);
    let area = if live.replay.is_some() { replay::split(area).0 } else { area };
    let places = places(&scene, live.replay.is_some(), area);
    (strip::count_trials(&scene, places.throughput), view.series.trials())
}

/// Points to the Lab screen: probes have no curves over time.
fn draw_probe_hint(look: &Look, is_running: bool, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(look, "Live", "", false, area, buf);
    let text = if is_running { "Probes are running: press " } else { "Probes have run: press " };
    let parts = vec![
        Span::styled(text, look.style(Role::Text)),
        Span::styled(key_of(Action::Go(Screen::Lab), Screen::Live), look.style(Role::Key)),
        Span::styled(" to see them.", look.style(Role::Text)),
    ];
    pane::line(Line::from(parts).centered(), inner.height / 2, inner, buf);
}

/// Draws a hint before the first run.
fn draw_idle(look: &Look, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(look, "Live", "", false, area, buf);
    let key = |action, screen| Span::styled(key_of(action, screen), look.style(Role::Key));
    let text = |text: &'static str| Span::styled(text, look.style(Role::Text));
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
        Line::styled("Live charts appear here while it runs.", look.style(Role::Dim)),
    ];
    let top = inner.height.saturating_sub(lines.len() as u16) / 2;
    for (row, line) in lines.into_iter().enumerate() {
        pane::line(line.centered(), top + row as u16, inner, buf);
    }
}
