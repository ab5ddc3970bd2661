//! Clicks: the chart sets the cursor, the legend and the table select, a title sorts.

use ratatui::layout::{Position, Rect};

use super::{answer, chart, layout, table, view};
use crate::tui::model::Model;
use crate::tui::msg::Effect;
use crate::tui::view::pane;

pub fn clicked(model: &mut Model, body: Rect, at: Position) -> Vec<Effect> {
    let metric = view::tabs(body)
        .into_iter()
        .find(|(_, place, ..)| place.contains(at))
        .map(|(metric, ..)| metric);
    if let Some(metric) = metric {
        model.results.plot(metric);
    } else if model.results.open.is_some() {
        // Nothing in an opened cell is to be pressed.
    } else if model.results.table.on {
        in_table(model, body, at);
    } else {
        in_chart(model, body, at);
    }
    Vec::new()
}

fn in_chart(model: &mut Model, body: Rect, at: Position) {
    let results = &model.results;
    let Some(data) = &results.data else { return };
    let lines = answer::lines(&model.look, data, layout::text_width(body)).len();
    let parts = layout::parts(body, data.rows(), lines);
    if parts.chart.contains(at) && data.is_curve() {
        let area = Rect::new(
            parts.chart.x + 1,
            parts.chart.y,
            parts.chart.width.saturating_sub(2),
            parts.chart.height,
        );
        let x = chart::with_chart(&model.look, results, data, area, |chart| chart.x_at(area, at.x));
        if let Some(x) = x {
            model.results.set_x(x);
        }
    } else if parts.legend.contains(at) {
        let first =
            pane::first_row(results.chart.series, data.rows(), usize::from(parts.legend.height));
        let series = first + usize::from(at.y - parts.legend.y);
        if series >= data.rows() {
            return;
        }
        // A second click on the same row, or one on its marker, switches the curve.
        let again = results.chart.series == series || at.x <= parts.legend.x + 2;
        model.results.chart.series = series;
        if again {
            model.results.switch(series);
        }
    }
}

fn in_table(model: &mut Model, body: Rect, at: Position) {
    let results = &mut model.results;
    let Some(data) = &results.data else { return };
    match table::hit(results, data, body, at) {
        Some(table::Hit::Title(column)) => {
            let reversed = match results.table.sort {
                Some((own, reversed)) if own == column => !reversed,
                _ => data.sheet.falls(column),
            };
            results.table.sort = Some((column, reversed));
            results.arrange();
        }
        Some(table::Hit::Row(row)) if row == results.table.cursor => results.open(),
        Some(table::Hit::Row(row)) => results.table.cursor = row,
        None => {}
    }
}
