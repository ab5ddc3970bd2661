//! Handlers of keys, clicks and messages of Results.

use std::sync::Arc;

use ratatui::layout::Position;
use tui_input::Input;

use super::copy;
use super::state::{OpenCell, Results, Tab, TabKind};
use super::view::cell::heat;
use super::view::{chart, table};
use crate::context::{Context, Request};
use crate::curves::{self, Metric};
use crate::export::{Form, What};
use crate::keymap::{self, Action, Place};
use crate::msg::{Effect, Msg, Query, Replayed};
use crate::popup::{Popup, Purpose, WarningList};
use crate::refine::RefineForm;
use crate::report::CARD;
use crate::screen::Screen;
use crate::session::{self, Session};
use crate::session_view::{SessionView, refusal_of_reference};
use crate::view::list::move_cursor;
use crate::view::{Part, Target, pane};
use crate::zoom::{self, ZoomChart};

/// Returns the filter while it is being typed.
pub fn field(results: &mut Results) -> Option<&mut Input> {
    if results.table.typing { Some(&mut results.table.filter) } else { None }
}

/// Applies a changed filter.
pub fn field_changed(results: &mut Results, _: &mut Context) -> Vec<Effect> {
    results.arrange();
    Vec::new()
}

/// Renames the displayed session.
pub fn rename(results: &mut Results, id: &str, name: &str) {
    if let Some(data) = results.data.as_mut().filter(|data| data.view.session.id == id) {
        data.view.session.name = name.into();
    }
}

/// Closes the opened cell or clears the filter; false if there is neither.
pub fn back(results: &mut Results) -> bool {
    if let Some(open) = &mut results.open {
        if open.heat.take().is_none() {
            results.close();
        }
        return true;
    }
    if results.kind == TabKind::Table
        && (results.table.typing || !results.table.filter.value().is_empty())
    {
        results.table.typing = false;
        results.table.filter = Input::default();
        results.arrange();
        return true;
    }
    false
}

pub fn act(results: &mut Results, ctx: &mut Context, action: Action) -> Vec<Effect> {
    if results.data.is_none() {
        return Vec::new();
    }
    if let Some(effects) = act_on_session(results, ctx, action) {
        return effects;
    }
    if let Some(metric) = curves::metric_of(action) {
        if results.open.is_some() {
            results.plot(metric);
        } else {
            results.turn_to(Tab::Plot(metric));
        }
        return Vec::new();
    }
    if results.open.is_none() && turn(results, action) {
        return Vec::new();
    }
    let log = results.is_log(Metric::Throughput);
    match (results.open, results.kind) {
        (Some(open), _) => act_in_cell(results, ctx, open, action),
        (None, TabKind::Glance) if action == Action::Enter => results.open(),
        (None, TabKind::Glance) => results.move_on_board(action),
        (None, TabKind::Table) => act_in_table(results, ctx, action),
        (None, TabKind::Chart) => act_in_chart(results, action),
    }
    let now_log = results.is_log(Metric::Throughput);
    if now_log != log {
        ctx.request(Request::RememberLogAxis(now_log));
    }
    Vec::new()
}

/// Goes to another tab; false if the action does not change the tab.
fn turn(results: &mut Results, action: Action) -> bool {
    let (Some(data), Some(tab)) = (&results.data, results.tab()) else { return false };
    let next = match action {
        Action::Glance => Tab::Glance,
        Action::NextPane => tab.next(data, false),
        Action::PreviousPane => tab.next(data, true),
        Action::Table if tab == Tab::Table => Tab::Plot(data.metric),
        Action::Table | Action::Filter if tab != Tab::Table => Tab::Table,
        _ => return false,
    };
    results.turn_to(next);
    results.table.typing = action == Action::Filter;
    true
}

/// Returns a verb for an action that has to wait until the run has ended.
fn needs_end(action: Action) -> Option<&'static str> {
    match action {
        Action::SaveAs => Some("name"),
        Action::Replay => Some("replay"),
        Action::Mark => Some("mark"),
        _ => None,
    }
}

/// Returns why a reference or the example does not support an action: both are of other machines.
fn describe_refusal(session: &Session, action: Action) -> Option<&'static str> {
    match action {
        _ if session.reference.is_some() => refusal_of_reference(action),
        Action::RunAgain if session.id == session::DEMO_ID => {
            Some("the file of the example is not here: 1 chooses what to measure")
        }
        _ => None,
    }
}

/// Handles actions on the whole session.
fn act_on_session(results: &mut Results, ctx: &mut Context, action: Action) -> Option<Vec<Effect>> {
    let view = results.view()?;
    let refusal = match needs_end(action).filter(|_| results.follows_run) {
        Some(what) => Some(format!("it is being recorded: {what} it when its run has ended")),
        None => describe_refusal(&view.session, action).map(String::from),
    };
    if let Some(why) = refusal {
        ctx.note(why);
        return Some(Vec::new());
    }
    match action {
        Action::RunAgain if ctx.is_running() => ctx.request(Request::RefuseRun),
        Action::RunAgain => return Some(vec![Effect::Ask(Query::Again(view.session.id.clone()))]),
        Action::Replay => replay(view, ctx),
        Action::Refine => {
            let open = results.open.and_then(|open| results.data.as_ref()?.cell_of(open.result));
            ask_for_rounds(view, open, ctx);
        }
        Action::Warnings => ctx.popups.push(Popup::Warnings(WarningList { cursor: 0 })),
        Action::Copy => return Some(vec![Effect::Copy(copy::clipboard_text(results))]),
        Action::Export => {
            let what = What::Shown(Arc::new(view.session.clone()));
            let form = Form::session(what, &view.display_name(), view.name());
            let is_card = results.kind == TabKind::Glance && results.open.is_none();
            let form = if is_card { form.with_format(CARD) } else { form };
            ctx.popups.push(Popup::Export(Box::new(form)));
        }
        Action::SaveAs if view.path.is_none() => {
            ctx.fail("this session is not saved: it cannot be named");
        }
        Action::SaveAs => {
            let (id, name) = (view.session.id.clone(), view.session.name.clone());
            let hint = "a name to find this session by";
            ctx.popups.push(Popup::line("Name this session", hint, name, Purpose::Rename { id }));
        }
        Action::Mark => {
            let id = view.session.id.clone();
            let is_saved = view.path.is_some() || view.session.reference.is_some();
            ctx.request(Request::MarkSession { id, is_saved });
        }
        Action::Back => drop(back(results)),
        _ => return None,
    }
    Some(Vec::new())
}

fn replay(view: &SessionView, ctx: &mut Context) {
    match &view.path {
        Some(path) => {
            let kept = Replayed::Kept(path.to_string_lossy().into_owned());
            ctx.request(Request::Replay(kept));
        }
        None if view.session.id == session::DEMO_ID => ctx.request(Request::Replay(Replayed::Demo)),
        None => ctx.fail("this session is not saved: it cannot be replayed"),
    }
}

/// Offers ways to add rounds to a session, and trials to its opened cell, or states why it cannot
/// have more.
pub fn ask_for_rounds(view: &SessionView, open: Option<u32>, ctx: &mut Context) {
    if ctx.is_running() {
        return ctx.request(Request::RefuseRun);
    }
    match RefineForm::new(view, open) {
        Ok(form) => ctx.popups.push(Popup::Refine(Box::new(form))),
        Err(why) => ctx.note(why),
    }
}

/// Returns whether an action applies to the current state.
pub fn is_offered(results: &Results, action: Action) -> bool {
    let Some(data) = &results.data else {
        let is_bound = keymap::on(Screen::Results)
            .any(|binding| binding.action == action && binding.place != Place::Everywhere);
        return !is_bound && !matches!(action, Action::Enter | Action::NextPane);
    };
    let shown = results.kind;
    let opened = results.open.is_some();
    let table = !opened && shown == TabKind::Table;
    let chart = !opened && shown == TabKind::Chart;
    match action {
        Action::Enter if opened => results.has_heat(),
        Action::Enter | Action::Filter | Action::NextPane | Action::Table => !opened,
        Action::Glance => !opened && shown != TabKind::Glance,
        Action::Toggle => chart || (table && results.table.sort.is_some()),
        Action::Sort => table,
        Action::LogAxis => chart && data.is_curve(),
        Action::ZoomIn => chart && data.is_curve() && results.can_zoom(),
        Action::ZoomOut | Action::ZoomReset | Action::PanLeft | Action::PanRight => {
            chart && results.chart.zoom.is_some()
        }
        Action::Refine => results.can_refine(),
        Action::RunAgain => {
            results.view().is_some_and(|view| describe_refusal(&view.session, action).is_none())
        }
        // References and unsaved runs have no file.
        Action::SaveAs => results.view().is_some_and(|view| view.path.is_some()),
        Action::Replay => results
            .view()
            .is_some_and(|view| view.path.is_some() || view.session.id == session::DEMO_ID),
        Action::Warnings => !data.warnings.is_empty(),
        Action::Across => chart && data.axes.len() > 1,
        Action::Mean => chart,
        _ => true,
    }
}

fn act_in_chart(results: &mut Results, action: Action) {
    let Some(data) = &results.data else { return };
    let places = data.places.count();
    match action {
        Action::Left | Action::Right | Action::Top | Action::Bottom if data.is_curve() => {
            results.chart.x = move_cursor(results.chart.x, places, action, 1);
            results.pan();
        }
        _ if action.moves_rows() => {
            let listed = results.listed();
            let at = listed.iter().position(|row| *row == results.chart.series).unwrap_or(0);
            let at = move_cursor(at, listed.len(), action, 10);
            results.chart.series = listed.get(at).copied().unwrap_or(0);
        }
        Action::Toggle => results.toggle(results.chart.series),
        Action::Mean => results.chart.mean = !results.chart.mean,
        Action::LogAxis => results.flip_axis(),
        Action::Across => results.use_next_axis(),
        Action::Enter => results.open(),
        _ => {
            let (zoom, least) = (results.chart.zoom, results.least_span());
            if let Some(part) = zoom::act(zoom, places, results.chart.x, least, action) {
                results.show_part(part);
            }
        }
    }
}

fn act_in_table(results: &mut Results, ctx: &mut Context, action: Action) {
    let Some(data) = &results.data else { return };
    match action {
        Action::Sort | Action::Left | Action::Right => {
            let shown = table::visible_columns(data, ctx.body());
            let at = results
                .table
                .sort
                .and_then(|(column, _)| shown.iter().position(|shown| *shown == column));
            // The order of the plan comes before the first and after the last column.
            let next = match (action, at) {
                (Action::Left, None) => shown.len().checked_sub(1),
                (Action::Left, Some(at)) => at.checked_sub(1),
                (_, None) => Some(0),
                (_, Some(at)) => Some(at + 1).filter(|next| *next < shown.len()),
            };
            let next = next.and_then(|next| shown.get(next).copied());
            results.table.sort = next.map(|column| (column, data.sheet.sorts_descending(column)));
            results.arrange();
        }
        Action::Toggle => {
            if let Some((_, reversed)) = &mut results.table.sort {
                *reversed = !*reversed;
            }
            results.arrange();
        }
        Action::Filter => results.table.typing = true,
        Action::Enter if results.table.typing => results.table.typing = false,
        Action::Enter => {
            results.open();
            let skipped = results.open.is_none().then(|| results.skip_reason()).flatten();
            if let Some(reason) = skipped {
                ctx.note(reason);
            }
        }
        _ => {
            let (count, page) = (results.table.rows.len(), ctx.hits.drawn(Part::Table).page());
            results.table.cursor = move_cursor(results.table.cursor, count, action, page);
        }
    }
}

fn act_in_cell(results: &mut Results, ctx: &mut Context, open: OpenCell, action: Action) {
    if let Some(at) = open.heat {
        return move_in_heat(results, ctx, at, action);
    }
    match action {
        Action::Enter => match heat::extent(ctx.look, results, heat::area(ctx.body())) {
            Some([slowest, _]) => results.open = Some(OpenCell { heat: Some(slowest), ..open }),
            None => ctx.note("the latencies of this cell over time are not known"),
        },
        Action::Left | Action::Right => {
            let neighbours = results.neighbours();
            let at = neighbours.iter().position(|result| *result == open.result).unwrap_or(0);
            let next = move_cursor(at, neighbours.len(), action, 1);
            if let Some(result) = neighbours.get(next).copied() {
                results.go_to(result);
                results.open = Some(OpenCell { result, ..open });
            }
        }
        Action::Table | Action::Glance | Action::NextPane | Action::PreviousPane => results.close(),
        _ if action.moves_rows() => {
            let scroll = ctx.hits.drawn(Part::Cell).scroll(action);
            results.open = Some(OpenCell { scroll, ..open });
        }
        _ => {}
    }
}

/// Moves the cursor in the latencies over time.
fn move_in_heat(results: &mut Results, ctx: &Context, at: (usize, usize), action: Action) {
    let size = heat::extent(ctx.look, results, heat::area(ctx.body()));
    let Some([_, (columns, rows)]) = size else { return };
    // Rows are counted from below.
    let (down, top) = (rows.saturating_sub(1).saturating_sub(at.1), rows.saturating_sub(1));
    let next = match action {
        Action::Left | Action::Right | Action::Top | Action::Bottom => {
            (move_cursor(at.0.min(columns.saturating_sub(1)), columns, action, 1), at.1.min(top))
        }
        _ => (at.0, top - move_cursor(down, rows, action, 5).min(top)),
    };
    results.set_heat(Some(next));
}

impl Results {
    /// Returns why the row under the cursor was not measured.
    fn skip_reason(&self) -> Option<String> {
        let data = self.data.as_ref()?;
        let row = self.table.rows.get(self.table.cursor)?.checked_sub(data.sheet.results)?;
        let skipped = data.sheet.skipped.get(row)?;
        Some(pane::fit(&format!("skipped: {}", skipped.reason), 200))
    }
}

/// Requests the samples of the opened cell. One request is pending at a time, and reading waits
/// until no run is measured.
pub fn request_trial_series(results: &mut Results, ctx: &Context) -> Option<Effect> {
    if ctx.screen != Screen::Results || ctx.is_running() {
        return None;
    }
    let (data, open) = (results.data.as_ref()?, results.open?);
    if results.trial_series.is_waiting() || results.trial_series.get(open.result).is_some() {
        return None;
    }
    let (path, cell) = (data.view.path.clone()?, data.cell_of(open.result)?);
    results.trial_series.expect(path.clone(), cell, open.result);
    Some(Effect::Ask(Query::Course { path, cell }))
}

pub fn handle_message(results: &mut Results, _: &mut Context, msg: Msg) -> Vec<Effect> {
    if let Msg::Course { path, cell, samples } = msg {
        results.trial_series.take(&path, cell, samples);
    }
    Vec::new()
}

/// Handles a click: the chart sets the cursor, legend and table select, a title sorts.
pub fn click(results: &mut Results, ctx: &Context, target: Target, at: Position) {
    match target {
        Target::Tab(tab) => results.turn_to(tab),
        Target::Chart if results.open.is_some() => {
            let area = heat::area(ctx.body());
            if let Some(place) = heat::place_at(ctx.look, results, area, at) {
                results.set_heat(Some(place));
            }
        }
        Target::Chart => {
            if let Some(area) = ctx.hits.chart_at(at) {
                chart::select(results, ctx.look, area, at);
            }
        }
        Target::Row(Part::Legend, row) => {
            let Some(series) = results.listed().get(row).copied() else { return };
            // A second click on the same row, or one on its marker, switches the curve.
            let is_marker = at.x <= ctx.hits.drawn(Part::Legend).area.x + 2;
            let again = results.chart.series == series || is_marker;
            results.chart.series = series;
            if again {
                results.toggle(series);
            }
        }
        Target::Title(column) => {
            let Some(data) = &results.data else { return };
            let reversed = match results.table.sort {
                Some((sorted, reversed)) if sorted == column => !reversed,
                _ => data.sheet.sorts_descending(column),
            };
            results.table.sort = Some((column, reversed));
            results.arrange();
        }
        Target::Row(Part::Table, row) if row == results.table.cursor => results.open(),
        Target::Row(Part::Table, row) if row < results.table.rows.len() => {
            results.table.cursor = row;
        }
        _ => {}
    }
}
