//! Keys, clicks and messages on Compare.

use ratatui::layout::{Position, Rect};

use super::data::LoadedComparison;
use super::state::{Compare, View};
use super::view::overlay;
use crate::context::{Context, Request};
use crate::curves;
use crate::export::Form;
use crate::keymap::Action;
use crate::msg::{Effect, Msg, Query};
use crate::popup::Popup;
use crate::read_out::CLICK_REACH;
use crate::report;
use crate::screen::Screen;
use crate::theme::Look;
use crate::view::Part;
use crate::view::list::move_cursor;
use crate::zoom::{self, Zoom, ZoomChart};

/// Compares sessions with the first one.
pub fn begin(compare: &mut Compare, look: &Look, requested: Vec<String>) -> Vec<Effect> {
    let metric = compare.overlay.metric;
    *compare =
        Compare { requested, turned: std::mem::take(&mut compare.turned), ..Compare::default() };
    compare.overlay.metric = metric;
    ask(compare, look)
}

fn ask(compare: &Compare, look: &Look) -> Vec<Effect> {
    vec![Effect::Ask(Query::Compare { ids: compare.requested.clone(), look: look.report() })]
}

/// Takes the requested comparison; drops an outdated one.
pub fn handle_message(compare: &mut Compare, _: &mut Context, msg: Msg) -> Vec<Effect> {
    let Msg::Compared(compared) = msg else { return Vec::new() };
    if compared.requested == compare.requested && compare.is_waiting() {
        compare.other = compare.other.min(compared.count_others().saturating_sub(1));
        compare.scroll = 0;
        let metric = compare.overlay.metric;
        compare.overlay.show_sessions(&compared.views, metric);
        compare.got = Some(*compared);
    }
    Vec::new()
}

pub fn act(compare: &mut Compare, ctx: &mut Context, action: Action) -> Vec<Effect> {
    if matches!(action, Action::Back | Action::Compare) {
        ctx.request(Request::Go(Screen::Sessions));
        return Vec::new();
    }
    let Some(got) = compare.got.as_ref().filter(|got| got.count_others() > 0) else {
        return Vec::new();
    };
    match action {
        Action::Table => turn(compare, View::Chart),
        Action::Toggle => turn(compare, View::Words),
        Action::Baseline => return rebase(compare, ctx.look),
        Action::Copy => {
            return comparison_text(got, &ctx.look.report())
                .map(Effect::Copy)
                .into_iter()
                .collect();
        }
        Action::Export => {
            let form = Form::comparison(
                got.requested.clone(),
                &format!("{} against {}", got.name(compare.other + 1), got.name(0)),
            );
            ctx.popups.push(Popup::Export(Box::new(form)));
        }
        Action::Enter => {
            return session_to_open(compare)
                .map(|id| Effect::Ask(Query::Open(id)))
                .into_iter()
                .collect();
        }
        _ if compare.view == View::Chart => in_chart(compare, action),
        Action::Left => show_other(compare, compare.other.saturating_sub(1)),
        Action::Right => {
            show_other(compare, (compare.other + 1).min(got.count_others().saturating_sub(1)))
        }
        _ => compare.scroll = ctx.hits.drawn(Part::Compare).scroll(action),
    }
    Vec::new()
}

/// Switches to a view, or from it back to the cells.
fn turn(compare: &mut Compare, view: View) {
    compare.view = if compare.view == view { View::Cells } else { view };
    compare.scroll = 0;
}

fn show_other(compare: &mut Compare, at: usize) {
    if at != compare.other {
        (compare.other, compare.scroll) = (at, 0);
    }
}

/// Makes the compared session the baseline; the others keep their order.
fn rebase(compare: &mut Compare, look: &Look) -> Vec<Effect> {
    if compare.is_waiting() {
        return Vec::new();
    }
    let next = compare.got.as_ref().and_then(|got| got.ids.get(compare.other + 1)).cloned();
    let Some(at) = next.and_then(|id| compare.requested.iter().position(|own| *own == id)) else {
        return Vec::new();
    };
    let base = compare.requested.remove(at);
    compare.requested.insert(0, base);
    compare.other = 0;
    ask(compare, look)
}

fn in_chart(compare: &mut Compare, action: Action) {
    let Some(got) = &compare.got else { return };
    let overlay = &mut compare.overlay;
    match action {
        Action::Up | Action::Down | Action::Top | Action::Bottom => {
            overlay.cursor = move_cursor(overlay.cursor, overlay.lines.len(), action, 1);
        }
        Action::Left | Action::Right => overlay.left_right(action == Action::Right),
        Action::LogAxis => {
            let metric = overlay.metric;
            match compare.turned.iter().position(|own| *own == metric) {
                Some(at) => drop(compare.turned.remove(at)),
                None => compare.turned.push(metric),
            }
        }
        _ => {
            if let Some(metric) = curves::metric_of(action) {
                return overlay.show_sessions(&got.views, metric);
            }
            let (zoom, places) = (overlay.zoom, overlay.places.count());
            let (place, least) = (overlay.at.unwrap_or(places / 2), compare.least_span());
            if let Some(part) = zoom::act(zoom, places, place, least, action) {
                compare.show_part(part);
            }
        }
    }
}

/// Selects the curve and the x value where the chart was clicked.
pub fn click(compare: &mut Compare, ctx: &Context, at: Position) {
    let Some(area) = ctx.hits.chart_at(at) else { return };
    let located = overlay::locate_points(ctx.look, &compare.overlay, compare.log(), area);
    if let Some((line, ..)) = located.nearest(at, CLICK_REACH) {
        compare.overlay.cursor = line;
    }
    if let Some(place) = compare.place_at(ctx.look, area, at.x) {
        compare.overlay.at = Some(place);
    }
}

impl ZoomChart for Compare {
    fn count_places(&self) -> usize {
        self.overlay.places.count()
    }

    fn place_at(&self, look: &Look, area: Rect, column: u16) -> Option<usize> {
        overlay::with_chart(look, &self.overlay, self.log(), |chart| {
            self.overlay.places.at_column(chart, area, column)
        })
    }

    fn part(&self, _: &Look, _: Rect) -> Zoom {
        self.overlay.zoom
    }

    fn show_part(&mut self, part: Zoom) {
        self.overlay.show_part(part);
    }
}

/// Returns the session that Enter opens: the one of the selected curve, else the compared one.
fn session_to_open(compare: &Compare) -> Option<String> {
    let got = compare.got.as_ref()?;
    let at = match compare.view {
        View::Chart => compare.overlay.lines.get(compare.overlay.cursor)?.session,
        View::Cells | View::Words => compare.other + 1,
    };
    got.ids.get(at).cloned()
}

/// Returns the whole comparison as text.
fn comparison_text(got: &LoadedComparison, look: &report::Look) -> Option<String> {
    let comparison = got.comparison.as_ref().filter(|of| !of.others.is_empty())?;
    Some(report::comparison_text(comparison, look))
}

/// Returns whether the curves are shown in place of the cells.
pub fn shows_chart(compare: &Compare) -> bool {
    compare.view == View::Chart
}

/// Returns whether an action does something now.
pub fn is_offered(compare: &Compare, action: Action) -> bool {
    let others = compare.got.as_ref().map_or(0, LoadedComparison::count_others);
    let chart = compare.view == View::Chart;
    match action {
        Action::LogAxis => chart && others > 0,
        Action::ZoomIn => chart && others > 0 && compare.can_zoom(),
        Action::ZoomOut | Action::ZoomReset | Action::PanLeft | Action::PanRight => {
            chart && compare.overlay.zoom.is_some()
        }
        Action::Toggle => !chart && others > 0,
        Action::Table | Action::Baseline | Action::Copy | Action::Export | Action::Enter => {
            others > 0
        }
        action if curves::metric_of(action).is_some() => chart && others > 0,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::compare::tests::{stage, three};
    use crate::msg::Msg;

    #[test]
    fn two_sizes_cannot_be_zoomed() {
        let two = three().map(|mut session| {
            session.plan.cells.truncate(2);
            session.trials.retain(|trial| trial.cell < 2);
            session.verdicts.truncate(2);
            session.errors.truncate(2);
            session
        });
        for (sessions, offered) in [(&two[..2], false), (&three()[..], true)] {
            let mut stage = stage(sessions);
            stage.tell(Msg::Resize(120, 40)).keys("v");
            let picture = stage.picture(120, 40);
            let footer = picture.lines().last().unwrap_or_default();
            assert_eq!(footer.contains("zoom"), offered, "{picture}");
        }
    }
}
