//! What keys change.

use std::sync::Arc;

use super::state::{Open, Results};
use super::{back, cell, copy, layout};
use crate::tui::cursor::moved;
use crate::tui::curves::Metric;
use crate::tui::export::{Form, What};
use crate::tui::keymap::{self, Action, Place, key_of};
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::popup::{Popup, Purpose};
use crate::tui::screen::Screen;
use crate::tui::view::{areas, pane};
use crate::tui::{sessions, setup};

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    if model.results.data.is_none() {
        return Vec::new();
    }
    if let Some(effects) = of_session(model, action) {
        return effects;
    }
    if let Some(metric) = Metric::from_action(action) {
        model.results.plot(metric);
        return Vec::new();
    }
    let log = model.results.log(Metric::Throughput);
    match model.results.open {
        Some(open) => in_cell(model, open, action),
        None if model.results.table.on => in_table(model, action),
        None => in_chart(&mut model.results, action),
    }
    let turned = model.results.log(Metric::Throughput);
    if turned != log {
        model.setup.log_y = turned;
        return vec![setup::remember(model)];
    }
    Vec::new()
}

/// What concerns the whole session.
fn of_session(model: &mut Model, action: Action) -> Option<Vec<Effect>> {
    let shown = model.results.shown()?;
    match action {
        Action::RunAgain => Some(vec![Effect::Again(shown.session.id.clone())]),
        Action::Copy => Some(vec![Effect::Copy(copy::text(&model.results))]),
        Action::Export => {
            let form = Form::session(What::Shown(Arc::new(shown.session.clone())), shown.called());
            model.popups.push(Popup::Export(Box::new(form)));
            Some(Vec::new())
        }
        Action::SaveAs if shown.path.is_none() => {
            model.toasts.failed(model.now, "this session is not kept: there is nothing to name");
            Some(Vec::new())
        }
        Action::SaveAs => {
            let (id, name) = (shown.session.id.clone(), shown.session.name.clone());
            let hint = "a name by which this session is found again";
            model.popups.push(Popup::line("Name this session", hint, name, Purpose::Rename { id }));
            Some(Vec::new())
        }
        Action::Mark => {
            let (id, kept) = (shown.session.id.clone(), shown.path.is_some());
            mark(model, id, kept);
            Some(Vec::new())
        }
        Action::Back => {
            back(model);
            Some(Vec::new())
        }
        _ => None,
    }
}

/// Marks the session to be compared, or takes the mark away.
pub fn mark(model: &mut Model, id: String, kept: bool) {
    if !kept {
        return model.toasts.failed(model.now, "this session is not kept: it cannot be compared");
    }
    sessions::mark(model, id.clone());
    let (go, compare) = (
        key_of(Action::Go(Screen::Sessions), model.screen),
        key_of(Action::Compare, Screen::Sessions),
    );
    let said = match (model.sessions.mark_of(&id), model.sessions.marks.len()) {
        (None, _) => "the mark is gone".to_string(),
        (Some(_), 1) => format!("marked: mark another one, then {go} {compare} compares them"),
        (Some(_), count) => format!("{count} sessions are marked: {go} {compare} compares them"),
    };
    model.toasts.note(model.now, said);
}

/// Whether an action does something where the screen is now.
pub fn offered(results: &Results, action: Action) -> bool {
    let Some(data) = &results.data else {
        let own = keymap::on(Screen::Results)
            .any(|binding| binding.action == action && binding.place != Place::Everywhere);
        return !own && !matches!(action, Action::Enter | Action::NextPane);
    };
    let (opened, table) = (results.open.is_some(), results.table.on);
    match action {
        Action::Enter | Action::Filter | Action::NextPane | Action::Table => !opened,
        Action::Toggle => !opened && (!table || results.table.sort.is_some()),
        Action::Sort => table && !opened,
        Action::LogAxis | Action::ZoomIn | Action::ZoomOut | Action::ZoomReset => {
            !opened && !table && data.is_curve()
        }
        Action::Across => !opened && !table && data.axes.len() > 1,
        Action::Mean => !opened && !table,
        _ => true,
    }
}

fn in_chart(results: &mut Results, action: Action) {
    let Some(data) = &results.data else { return };
    let (places, rows) = (data.xs.len(), data.rows());
    match action {
        Action::Left | Action::Right | Action::Top | Action::Bottom if data.is_curve() => {
            results.chart.x = moved(results.chart.x, places, action, 1);
            results.pan();
        }
        Action::Up
        | Action::Down
        | Action::PageUp
        | Action::PageDown
        | Action::HalfUp
        | Action::HalfDown
        | Action::Top
        | Action::Bottom => {
            results.chart.series = moved(results.chart.series, rows, action, 10);
        }
        Action::Toggle => results.switch(results.chart.series),
        Action::Mean => results.chart.mean = !results.chart.mean,
        Action::LogAxis => results.turn_axis(),
        Action::Across => results.cross(),
        Action::ZoomIn | Action::ZoomOut | Action::ZoomReset => zoom(results, places, action),
        Action::Enter => results.open(),
        Action::Table | Action::NextPane | Action::PreviousPane => turn(results),
        Action::Filter => {
            turn(results);
            results.table.typing = true;
        }
        _ => {}
    }
}

/// Halves or doubles what is seen of the axis, around the cursor.
fn zoom(results: &mut Results, places: usize, action: Action) {
    let last = places.saturating_sub(1);
    let (from, to) = results.chart.zoom.unwrap_or((0, last));
    let span = match action {
        Action::ZoomIn => ((to - from) / 2).max(2),
        Action::ZoomOut => (to - from) * 2,
        _ => last,
    };
    if span >= last {
        results.chart.zoom = None;
        return;
    }
    let first = results.chart.x.saturating_sub(span / 2).min(last - span);
    results.chart.zoom = Some((first, first + span));
}

/// Chart to table or back, with the cursor on the same cell.
fn turn(results: &mut Results) {
    let under = results.under_cursor();
    results.table.on = !results.table.on;
    results.table.typing = false;
    if let Some(result) = under {
        results.go_to(result);
    }
}

fn in_table(model: &mut Model, action: Action) {
    let body = areas(model.size).body;
    let page = usize::from(body.height).saturating_sub(5).max(1);
    let results = &mut model.results;
    let Some(data) = &results.data else { return };
    match action {
        Action::Sort | Action::Left | Action::Right => {
            let shown = data.sheet.fit(layout::table_width(body));
            let at = results
                .table
                .sort
                .and_then(|(column, _)| shown.iter().position(|own| *own == column));
            // Before the first and after the last column is the order of the plan.
            let next = match (action, at) {
                (Action::Left, None) => shown.len().checked_sub(1),
                (Action::Left, Some(at)) => at.checked_sub(1),
                (_, None) => Some(0),
                (_, Some(at)) => Some(at + 1).filter(|next| *next < shown.len()),
            };
            let next = next.and_then(|next| shown.get(next).copied());
            results.table.sort = next.map(|column| (column, data.sheet.falls(column)));
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
            let skipped = results.open.is_none().then(|| results.skipped()).flatten();
            if let Some(reason) = skipped {
                model.toasts.note(model.now, reason);
            }
        }
        Action::Table | Action::NextPane | Action::PreviousPane => turn(results),
        _ => {
            results.table.cursor =
                moved(results.table.cursor, results.table.rows.len(), action, page)
        }
    }
}

fn in_cell(model: &mut Model, open: Open, action: Action) {
    let body = areas(model.size).body;
    let results = &mut model.results;
    let scroll = match action {
        Action::Left | Action::Right => {
            let neighbours = results.neighbours();
            let at = neighbours.iter().position(|result| *result == open.result).unwrap_or(0);
            if let Some(result) = neighbours.get(moved(at, neighbours.len(), action, 1)).copied() {
                results.go_to(result);
                results.open = Some(Open { result, scroll: open.scroll });
            }
            open.scroll
        }
        Action::Up
        | Action::Down
        | Action::PageUp
        | Action::PageDown
        | Action::HalfUp
        | Action::HalfDown
        | Action::Top
        | Action::Bottom => {
            moved(open.scroll, usize::MAX, action, usize::from(body.height.saturating_sub(3)))
        }
        Action::Table | Action::NextPane | Action::PreviousPane => return results.close(),
        _ => return,
    };
    let most = cell::most_scroll(model, body);
    if let Some(open) = &mut model.results.open {
        open.scroll = scroll.min(most);
    }
}

impl Results {
    /// Why the row under the cursor was not measured.
    fn skipped(&self) -> Option<String> {
        let data = self.data.as_ref()?;
        let row = self.table.rows.get(self.table.cursor)?.checked_sub(data.sheet.results)?;
        let skipped = data.shown.skipped.get(row)?;
        Some(pane::fit(&format!("skipped: {}", skipped.reason), 200))
    }
}
