//! Pane layout: without room there is no latency, no threads and no warnings; one thread has no
//! pane.

use ratatui::layout::{Constraint, Layout, Rect};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    pub throughput: Rect,
    pub now: Rect,
    pub calls: Rect,
    pub curve: Rect,
    pub latency: Option<Rect>,
    pub threads: Option<Rect>,
    pub warnings: Option<Rect>,
}

/// Rows of Now.
const NOW: u16 = 11;

impl Places {
    /// Lays out the panes for a run with at most `threads` threads; `warning_rows` returns the rows
    /// that warnings need in a number of columns.
    pub fn new(area: Rect, threads: u32, warning_rows: &dyn Fn(u16) -> usize) -> Places {
        if area.height >= 28 {
            Self::roomy(area, threads, warning_rows)
        } else {
            Self::middle(area)
        }
    }

    /// The trials at the left, with latency and threads or system calls below; curve and Now at the
    /// right.
    fn roomy(area: Rect, threads: u32, warning_rows: &dyn Fn(u16) -> usize) -> Places {
        let [left, right] = columns(area);
        let wanted =
            u16::try_from(threads).unwrap_or(u16::MAX).saturating_add(2).min(area.height / 3);
        let bottom = (area.height / 4).clamp(8, 15).max(wanted);
        let [above, below] = rows(left, [Constraint::Min(0), Constraint::Length(bottom)]);
        let (throughput, calls, threads, latency) = if threads > 1 {
            let [throughput, calls] = rows(above, [Constraint::Fill(3), Constraint::Fill(2)]);
            let [threads, latency] =
                Layout::horizontal([Constraint::Percentage(42), Constraint::Min(0)]).areas(below);
            (throughput, calls, Some(threads), latency)
        } else {
            let [calls, latency] =
                Layout::horizontal([Constraint::Percentage(50), Constraint::Min(0)]).areas(below);
            (above, calls, None, latency)
        };
        let warnings = match warning_rows(right.width.saturating_sub(2)) {
            0 => 0,
            rows => (rows as u16).min(area.height / 5) + 2,
        };
        let [curve, now, found] = Layout::vertical([
            Constraint::Min(0),
            Constraint::Length(NOW),
            Constraint::Length(warnings),
        ])
        .areas(right);
        Places {
            throughput,
            now,
            calls,
            curve,
            latency: Some(latency),
            threads,
            warnings: (warnings > 0).then_some(found),
        }
    }

    fn middle(area: Rect) -> Places {
        let [left, right] = columns(area);
        let [throughput, calls] = rows(left, [Constraint::Fill(5), Constraint::Fill(4)]);
        let [curve, now] = rows(right, [Constraint::Min(0), Constraint::Length(NOW)]);
        Places { throughput, now, calls, curve, latency: None, threads: None, warnings: None }
    }
}

fn columns(area: Rect) -> [Rect; 2] {
    Layout::horizontal([Constraint::Percentage(55), Constraint::Min(0)]).areas(area)
}

fn rows<const N: usize>(area: Rect, constraints: [Constraint; N]) -> [Rect; N] {
    Layout::vertical(constraints).areas(area)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_go_by_their_need() {
        fn has_with(threads: u32, columns: u16, rows: u16) -> [bool; 3] {
            let places = Places::new(Rect::new(0, 1, columns, rows - 2), threads, &|_| 3);
            [places.latency, places.threads, places.warnings].map(|pane| pane.is_some())
        }
        let has = |columns, rows| has_with(2, columns, rows);
        assert_eq!(has(80, 24), [false; 3]);
        assert_eq!(has(120, 40), [true; 3]);
        assert_eq!(has(200, 60), [true; 3]);
        // The bar of one thread would always be full.
        assert_eq!(has_with(1, 120, 40), [true, false, true]);
        let strip = |threads| Places::new(Rect::new(0, 1, 120, 38), threads, &|_| 0).throughput;
        assert!(strip(1).height > strip(2).height);
    }

    #[test]
    fn panes_fill_the_area_and_do_not_touch_each_other() {
        for (columns, rows, found) in
            [(80, 24, 5), (80, 40, 0), (100, 30, 0), (120, 40, 9), (200, 60, 99)]
        {
            let area = Rect::new(0, 1, columns, rows - 2);
            let places = Places::new(area, 1, &|_| found);
            let all: Vec<Rect> = [
                Some(places.throughput),
                Some(places.now),
                Some(places.calls),
                Some(places.curve),
                places.latency,
                places.threads,
                places.warnings,
            ]
            .into_iter()
            .flatten()
            .collect();
            assert_eq!(
                all.iter().map(|pane| pane.area()).sum::<u32>(),
                area.area(),
                "{columns}x{rows}"
            );
            for (at, pane) in all.iter().enumerate() {
                assert!(pane.width >= 18 && pane.height >= 5, "{columns}x{rows} {pane:?}");
                assert!(
                    all.iter().skip(at + 1).all(|other| !pane.intersects(*other)),
                    "{columns}x{rows}"
                );
            }
        }
    }
}
