//! The rate of each thread.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Modifier;

use super::scene::{LiveScene, frame};
use crate::plan::Job;
use crate::plot::{Bar, Bars};
use crate::theme::Role;
use crate::view::pane;

/// Columns that the bar of a thread needs.
const MIN_BAR_COLUMNS: u16 = 24;

pub fn draw(scene: &LiveScene, area: Rect, buf: &mut Buffer) {
    let (look, view) = (scene.look, scene.view);
    let measure = view.measure();
    let rates = view.recent.lanes(measure.lane_value());
    let cell = view.recent.cell.or(view.cell()).unwrap_or(0);
    // The title names the cell: the latencies may be of another one.
    let label = view.job(cell).map(Job::label).filter(|_| !rates.is_empty()).unwrap_or_default();
    let label = pane::fit(&label, usize::from(area.width).saturating_sub(17));
    let inner = frame(look, "Threads", vec![look.span(Role::Dim, label)], area, buf);
    if rates.is_empty() {
        let text = "a bar for each thread appears here in trials of more than 0.1 s";
        let text = pane::paragraph(look, Role::Dim, "", text, inner.width.into());
        return pane::lines(text, 0, inner, buf);
    }
    let height = usize::from(inner.height).max(1);
    let most = usize::from((inner.width / MIN_BAR_COLUMNS).max(1));
    let columns = rates.len().div_ceil(height).clamp(1, most);
    let room = columns * height;
    // The last row summarises the threads that do not fit.
    let shown = if rates.len() > room { room - 1 } else { rates.len() };
    let top = rates.iter().copied().fold(0.0, f64::max);
    let style =
        if view.recent.fresh { look.series(view.hue(cell)) } else { look.style(Role::Border) };
    let show = |rate: f64| measure.metric().show(rate, look.unit);
    let texts: Vec<(String, String)> =
        rates.iter().enumerate().map(|(n, rate)| (n.to_string(), show(*rate))).collect();
    let places = Layout::horizontal(vec![Constraint::Fill(1); columns]).spacing(2).split(inner);
    for (column, place) in places.iter().enumerate() {
        let range = (column * height).min(shown)..((column + 1) * height).min(shown);
        let bars: Vec<Bar> =
            range.map(|n| Bar::new(&texts[n].0, rates[n], style, &texts[n].1)).collect();
        Bars::new(look, &bars).max(if top > 0.0 { top } else { 1.0 }).render(*place, buf);
    }
    if !view.recent.fresh {
        buf.set_style(inner, look.style(Role::Dim).remove_modifier(Modifier::BOLD));
    }
    if shown < rates.len()
        && let Some(place) = places.last()
    {
        let rest = &rates[shown..];
        let (low, high) = rest
            .iter()
            .fold((f64::INFINITY, 0.0), |(low, high), rate| (rate.min(low), rate.max(high)));
        let text = format!("{} more: {} to {}", rest.len(), show(low), show(high));
        buf.set_stringn(
            place.x,
            place.bottom() - 1,
            text,
            usize::from(place.width),
            look.style(Role::Dim),
        );
    }
}
