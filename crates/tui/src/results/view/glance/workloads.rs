//! The rows that storage benchmarks print, read and written: digits where there is room, and bars.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::{Glance, Workload, WorkloadFigure};
use crate::plan::Op;
use crate::plot::{Bar, Bars};
use crate::results::data::Data;
use crate::theme::{Look, Role};
use crate::units::{column, show_count, show_nanos};
use crate::view::digits;
use crate::view::pane;

/// Columns of a name: `SEQ128K Q32T1`.
const NAME: u16 = 15;
/// Rows of a workload: a bar; with details below; with digits above.
const STEPS: [u16; 4] = [6, 5, 2, 1];
/// Columns that digits with their details need.
const MIN_DIGITS: u16 = 38;
/// Returns the rows that are needed, and that are used at most.
pub fn heights(glance: &Glance) -> (u16, u16) {
    let rows = glance.workloads.len().clamp(1, 12) as u16;
    (rows + 1, rows * STEPS[0] + 2)
}

pub fn draw(look: &Look, data: &Data, area: Rect, buf: &mut Buffer) {
    let workloads = &data.view.glance.workloads;
    if area.height < 2 {
        return;
    }
    let count = workloads.len() as u16;
    let width = area.width.saturating_sub(NAME) / 2;
    let fits = |step: &u16| {
        let digits = *step < 5 || width >= MIN_DIGITS;
        count * step < area.height + u16::from(*step > 1) && digits
    };
    let step = STEPS.into_iter().find(fits).unwrap_or(1);
    // One scale, so that reads and writes can be compared.
    let max = Workload::max(workloads);
    // A row below the titles, where there is room.
    let top = if area.height > count * step + 1 { 2 } else { 1 };
    for (at, action) in [Op::Read.name(), Op::Write.name()].into_iter().enumerate() {
        let left = area.x + NAME + at as u16 * width;
        let place = Rect { x: left, width: width.saturating_sub(2), ..area };
        let (factor, unit) = Workload::unit(look.unit);
        let title = Line::from(vec![
            look.span(Role::Title, action),
            look.span(Role::Dim, format!(" {unit}")),
        ]);
        pane::line(title, 0, place, buf);
        let all: Vec<Option<&WorkloadFigure>> = workloads.iter().map(|row| of(row, at)).collect();
        let column = Column { factor, max, step, look };
        for (row, (workload, figure)) in workloads.iter().zip(&all).enumerate() {
            let y = area.y + top + row as u16 * step;
            let place = Rect { y, height: step, ..place }.intersection(area);
            column.draw(workload, *figure, data, place, buf);
        }
    }
    for (row, workload) in workloads.iter().enumerate() {
        let y = area.y + top + row as u16 * step;
        let place = Rect { y, height: step, width: NAME, ..area }.intersection(area);
        draw_name(look, workload, step, place, buf);
    }
}

fn of(workload: &Workload, column: usize) -> Option<&WorkloadFigure> {
    if column == 0 { workload.read.as_ref() } else { workload.write.as_ref() }
}

fn draw_name(look: &Look, workload: &Workload, step: u16, area: Rect, buf: &mut Buffer) {
    let name = look.span(Role::Title, workload.name.clone());
    let load = look.span(Role::Dim, workload.load.clone());
    if step > 1 {
        pane::line(Line::from(name), 0, area, buf);
        pane::line(Line::from(load), 1, area, buf);
    } else {
        let gap = " ".repeat(8usize.saturating_sub(pane::width(&workload.name)).max(1));
        pane::line(Line::from(vec![name, Span::raw(gap), load]), 0, area, buf);
    }
}

/// One of the two columns.
struct Column<'a> {
    look: &'a Look,
    factor: f64,
    max: f64,
    step: u16,
}

impl Column<'_> {
    fn draw(
        &self,
        workload: &Workload,
        figure: Option<&WorkloadFigure>,
        data: &Data,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let look = self.look;
        let Some(figure) = figure else {
            let text = look.line(Role::Dim, "not measured");
            return pane::line(text, 0, area, buf);
        };
        let number = column::figure(figure.figure.summary.median / self.factor);
        let role = if figure.figure.wrong { Role::Wrong } else { Role::Number };
        if self.step >= 5 {
            digits::draw(look, &number, 1, look.style(role), area, buf);
            let wide = digits::width(look, &number, 1) + 2;
            let side = Rect { x: area.x + wide, width: area.width.saturating_sub(wide), ..area };
            let details = self.details(workload, figure).into_iter().take(3);
            let fit = |text: String| pane::fit(&text, usize::from(side.width));
            pane::lines(details.map(|text| look.line(Role::Dim, fit(text))), 0, side, buf);
            self.draw_bar(figure, data, Rect { y: area.y + 3, ..area }, buf);
            return;
        }
        pane::line(look.line(role, format!("{number:>6}")), 0, area, buf);
        let details = self.details(workload, figure);
        let beside = if self.step == 1 && area.width >= 30 { 11 } else { 0 };
        let bar = Rect { x: area.x + 7, width: area.width.saturating_sub(7 + beside), ..area };
        self.draw_bar(figure, data, bar, buf);
        if self.step == 1 && beside > 0 {
            let text = pane::fit(details.first().map_or("", String::as_str), 10);
            let place = Rect { x: area.right() - 10, width: 10, ..area };
            pane::line(look.line(Role::Dim, text), 0, place, buf);
        } else if self.step > 1 {
            let dot = look.glyph(" · ", " - ");
            let text = details.join(dot);
            let place = Rect { x: area.x + 7, width: area.width.saturating_sub(7), ..area };
            let text = pane::fit_parts(&text, dot, usize::from(place.width));
            pane::line(look.line(Role::Dim, text), 1, place, buf);
        }
    }

    /// Returns the figures next to the throughput, the most important first.
    fn details(&self, workload: &Workload, figure: &WorkloadFigure) -> Vec<String> {
        let operations = figure
            .operations
            .filter(|_| workload.random)
            .map(|rate| format!("{} IOPS", show_count(rate)));
        let p50 = figure
            .p50
            .filter(|_| workload.random)
            .map(|nanos| format!("p50 {}", show_nanos(nanos)));
        let (first, second) =
            if workload.is_single() { (p50, operations) } else { (operations, p50) };
        let (interval, backend) = (figure.figure.describe_certainty(), figure.backend.clone());
        // There are three rows next to large digits.
        let rest = match (self.step >= 5, second.is_some()) {
            (true, true) => vec![second, Some(format!("{interval} {backend}"))],
            _ => vec![Some(interval), Some(backend), second],
        };
        std::iter::once(first).chain(rest).flatten().collect()
    }

    fn draw_bar(&self, figure: &WorkloadFigure, data: &Data, area: Rect, buf: &mut Buffer) {
        let sign = data.signs.get(figure.result);
        let style = sign.map_or(self.look.style(Role::Text), |sign| self.look.series(sign.hue()));
        let bars = [Bar::new("", figure.figure.summary.median, style, "")];
        let place = Rect { height: 1.min(area.height), ..area };
        Bars::new(self.look, &bars).max(self.max).render(place, buf);
    }
}
