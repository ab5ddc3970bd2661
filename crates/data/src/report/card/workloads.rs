//! The rows that storage benchmarks print, on a card.

use super::page::{CONTENT, MARGIN, Page, SMALL, TEXT, certainty_ink};
use crate::analysis::{Workload, WorkloadFigure};
use crate::plan::Op;
use crate::report::figure::COLORS;
use crate::report::picture::font::width;
use crate::report::picture::scene::Ink;
use crate::units::column;
use crate::units::{Rates, show_count, show_nanos};

const NAMES: f64 = 116.0;
const DIGITS: f64 = 30.0;
const ROW: f64 = 66.0;
const GAP: f64 = 30.0;

pub fn draw(page: &mut Page, workloads: &[Workload], rates: Rates) {
    let (factor, unit) = Workload::unit(rates);
    let each = (CONTENT - NAMES - GAP) / 2.0;
    let top = page.y;
    // One scale, so that reads and writes can be compared.
    let max = Workload::max(workloads);
    for (at, title) in [Op::Read.name(), Op::Write.name()].into_iter().enumerate() {
        let left = MARGIN + NAMES + at as f64 * (each + GAP);
        page.scene.bold((left, top), title, Ink::Text, TEXT);
        let beside = left + width(title, TEXT, true) + 5.0;
        page.text((beside, top), unit, Ink::Soft, TEXT);
        let of = |row: &Workload| if at == 0 { row.read.clone() } else { row.write.clone() };
        let all: Vec<Option<WorkloadFigure>> = workloads.iter().map(of).collect();
        for (row, (workload, figure)) in workloads.iter().zip(&all).enumerate() {
            let y = top + 38.0 + row as f64 * ROW;
            match figure {
                Some(figure) => {
                    let number = column::figure(figure.figure.summary.median / factor);
                    let firm = figure.figure.is_firm();
                    let side = page.digits((left, y), &number, DIGITS, firm) + 8.0;
                    let (first, second) = details(workload, figure);
                    page.text((side, y - 14.0), &first, Ink::Text, SMALL);
                    page.text((side, y), &second, certainty_ink(&figure.figure), SMALL);
                    let share = if max > 0.0 { figure.figure.summary.median / max } else { 0.0 };
                    let ink = Ink::Color(COLORS[figure.hue % COLORS.len()]);
                    page.bar((left, y + 13.0), each, share, ink);
                }
                None => page.text((left, y), "not measured", Ink::Soft, TEXT),
            }
        }
    }
    for (row, workload) in workloads.iter().enumerate() {
        let y = top + 38.0 + row as f64 * ROW;
        page.scene.bold((MARGIN, y - 6.0), &workload.name, Ink::Text, TEXT + 2.0);
        page.text((MARGIN, y + 12.0), &workload.load, Ink::Soft, TEXT);
    }
    page.y = top + 38.0 + workloads.len() as f64 * ROW - 22.0;
}

/// Returns what stands beside a figure: operations and latency, then the interval and the backend.
fn details(workload: &Workload, figure: &WorkloadFigure) -> (String, String) {
    let operations = figure.operations.map(|rate| format!("{} IOPS", show_count(rate)));
    let p50 = figure.p50.map(|nanos| format!("p50 {}", show_nanos(nanos)));
    let first = [operations, p50].into_iter().flatten().filter(|_| workload.random);
    let second = format!("{} {}", figure.figure.describe_certainty(), figure.backend);
    (first.collect::<Vec<_>>().join(", "), second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::GlanceFigure;
    use crate::report::card::page::WRONG;
    use crate::report::picture::scene::Shape;
    use crate::stats::Summary;

    #[test]
    fn a_wrong_figure_is_no_firm_one() {
        for wrong in [false, true] {
            let summary = Summary::from_values(&[1e6; 7]).unwrap();
            let figure = GlanceFigure { summary, trials: 7, reported: false, wrong };
            let backend = "uring".to_string();
            let (result, hue, operations, p50, leads) = (0, 3, None, None, None);
            let read = WorkloadFigure { result, backend, hue, figure, operations, p50, leads };
            let (name, load) = ("SEQ1M".to_string(), "Q1T1".to_string());
            let row = Workload { name, load, random: false, read: Some(read), write: None };
            let mut page = Page::new(&Default::default());
            draw(&mut page, &[row], Rates::default());
            let shapes = page.finish().shapes;
            let ink_of = |start: &str| {
                shapes.iter().find_map(|shape| match shape {
                    Shape::Text { text, ink, .. } if text.starts_with(start) => Some(*ink),
                    _ => None,
                })
            };
            let (number, certainty) =
                if wrong { (Ink::Soft, ("wrong", WRONG)) } else { (Ink::Text, ("±", Ink::Soft)) };
            let bar = shapes.iter().any(
                |shape| matches!(shape, Shape::Area { ink, .. } if *ink == Ink::Color(COLORS[3])),
            );
            assert!(bar, "the hue of its backend");
            assert_eq!(ink_of("0.95"), Some(number));
            assert_eq!(ink_of(certainty.0), Some(certainty.1));
        }
    }
}
