use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::plot::{Axis, Chart, Draw, Point, Scale, Series};
use crate::report::Graph;
use crate::theme::Look;

const NAMES: [&str; 6] = ["n0", "name-1", "n2-with-more", "n3", "name-4", "n5"];

/// A word that a chart gained by names: its first cell and its last column.
struct Word {
    text: String,
    at: (u16, u16),
    end: u16,
}

/// Returns the words of `named` that `bare` lacks.
fn words(bare: &Buffer, named: &Buffer) -> Vec<Word> {
    let is_new = |at: (u16, u16)| {
        named.area.contains(at.into()) && bare[at] != named[at] && named[at].symbol() != " "
    };
    let mut words: Vec<Word> = Vec::new();
    for at in named.area.positions().map(|at| (at.x, at.y)).filter(|at| is_new(*at)) {
        let symbol = named[at].symbol();
        let goes_on = |word: &&mut Word| {
            // Names of a group have a blank between them.
            let gap = if word.text.ends_with(',') { 2 } else { 1 };
            word.at.1 == at.1 && at.0 - word.end <= gap
        };
        match words.last_mut().filter(goes_on) {
            Some(word) => {
                word.text += &" ".repeat(usize::from(at.0 - word.end - 1));
                word.text += symbol;
                word.end = at.0;
            }
            None => words.push(Word { text: symbol.into(), at, end: at.0 }),
        }
    }
    words
}

impl Word {
    /// Returns the series that it names.
    fn members(&self) -> Vec<usize> {
        let index = |name: &str| NAMES.iter().position(|own| *own == name);
        self.text.split(", ").map(|name| index(name).expect(&self.text)).collect()
    }

    /// Returns the cells within this many columns and rows of it.
    fn around(&self, across: u16, rows: u16) -> impl Iterator<Item = (u16, u16)> {
        let (columns, row) = (self.at.0.saturating_sub(across)..=self.end + across, self.at.1);
        (row.saturating_sub(rows)..=row + rows)
            .flat_map(move |row| columns.clone().map(move |at| (at, row)))
    }
}

/// Returns the series whose marker a cell of the plot shows.
fn marker(buf: &Buffer, plot: Rect, at: (u16, u16)) -> Option<usize> {
    let symbol = buf.cell(at).filter(|_| plot.contains(at.into()))?.symbol();
    let found = symbol.chars().next().filter(char::is_ascii_uppercase)?;
    Some(usize::from(found as u8 - b'A'))
}

/// Its points, how it is drawn, and whether it is emphasised.
type Drawing = (Vec<(u8, u8)>, usize, bool);

fn series<'a>(look: &Look, all: &[Drawing], points: &'a [Vec<Point>]) -> Vec<Series<'a>> {
    let draws = [Draw::Points, Draw::LineAndMarkers, Draw::Line];
    let one = |(index, (_, draw, emphasis)): (usize, &Drawing)| Series {
        marker: char::from(b'A' + index as u8),
        emphasis: *emphasis,
        ..Series::new(look, index, NAMES[index], &points[index]).draw(draws[*draw])
    };
    all.iter().enumerate().map(one).collect()
}

proptest! {
    /// Each name stands next to a visible marker, in whose cell it leaves out no series; no
    /// marker of another one is next to it.
    #[test]
    fn names_stand_next_to_own_markers(
        (width, height) in (20..90u16, 6..30u16),
        graph in prop::sample::select(vec![Graph::Braille, Graph::Blocks, Graph::Ascii]),
        all in prop::collection::vec(
            (prop::collection::vec((0..8u8, 0..8u8), 1..6), 0..3usize, any::<bool>()), 1..6),
    ) {
        fn text(v: f64) -> String { format!("{v:.0}") }
        let look = Look { graph, ..Look::default() };
        let points: Vec<Vec<Point>> = all.iter().map(|(points, ..)| {
            let mut points = points.clone();
            points.sort_unstable();
            points.iter().map(|(x, y)| Point::new(f64::from(*x), f64::from(*y))).collect()
        }).collect();
        let series = series(&look, &all, &points);
        let axis = Axis::new(Scale::Linear, &text);
        let chart = Chart::new(&look, axis.between(-1.0, 12.0), axis.between(-1.0, 8.0), &series);
        let area = Rect::new(0, 0, width, height);
        let drawn = |chart: Chart| {
            let mut buf = Buffer::empty(area);
            chart.render(area, &mut buf);
            buf
        };
        let plot = chart.plot_area(area);
        // Each series by itself shows where its markers are.
        let alone: Vec<Buffer> = series.iter()
            .map(|one| drawn(Chart { series: std::slice::from_ref(one), ..chart })).collect();
        let (bare, named) = (drawn(chart), drawn(chart.names(true)));
        for word in words(&bare, &named) {
            let members = word.members();
            for at in word.around(3, 0).chain(word.around(1, 1)) {
                let seen = marker(&named, plot, at);
                prop_assert!(
                    seen.is_none_or(|seen| members.contains(&seen)),
                    "{} next to {at:?}\n{named:?}", word.text
                );
            }
            let is_own = |at: (u16, u16)| {
                let there: Vec<usize> =
                    (0..series.len()).filter(|one| marker(&alone[*one], plot, at).is_some()).collect();
                match marker(&named, plot, at) {
                    Some(seen) => members.contains(&seen) && there.iter().all(|one| members.contains(one)),
                    // A line is also seen where it ends.
                    None => there.is_empty() && series[members[0]].draw != Draw::Points,
                }
            };
            prop_assert!(word.around(2, 2).any(is_own), "{}\n{named:?}", word.text);
        }
    }
}
