//! The columns of a comparison: what distinguishes the cells, both medians, their ratio, its
//! interval, and the outcome.

use crate::analysis::{Axis, Outcome, Pair, ProbePair, SummaryOf, times};
use crate::report::Look;
use crate::report::table::column_parts::{numbers, words};
use crate::report::table::grid::{Column, Style};
use crate::stats::Ratio;
use crate::units;
use crate::units::column::{self, PER_SECOND, align};

/// The rank of the column of drawn intervals.
pub const INTERVAL_RANK: u8 = 3;
/// The rank of both medians: they stay longer than the drawn intervals.
const MEDIAN_RANK: u8 = 2;

/// Returns the cells of a comparison in this order; the outcome is the last one.
pub fn columns(pairs: &[&Pair], letter: &str, look: &Look) -> Vec<Column> {
    let jobs = || pairs.iter().map(|pair| &pair.cell);
    let mut columns: Vec<Column> = Axis::columns()
        .into_iter()
        .filter(|axis| axis.differs(jobs()))
        .map(|axis| Column::of_axis(axis, jobs()))
        .collect();
    columns.extend(medians(pairs, letter, look));
    columns.extend(ratio_columns(pairs, letter, look));
    make_safe(columns, look)
}

/// Returns the columns of probes: each pair has its own unit.
pub fn probe_columns(pairs: &[ProbePair], letter: &str, look: &Look) -> Vec<Column> {
    let mut columns = vec![words("probe", 0, pairs, |pair| pair.cell.probe.clone())];
    if pairs.iter().any(|pair| !pair.cell.params.is_empty()) {
        columns.push(words("parameters", 0, pairs, |pair| pair.cell.parameters()));
    }
    fn value(of: Option<SummaryOf>) -> String {
        of.map_or("-".into(), show_value)
    }
    columns.push(numbers("A", MEDIAN_RANK, pairs, |pair| value(pair.base)));
    columns.push(numbers(letter, MEDIAN_RANK, pairs, |pair| value(pair.other)));
    columns.extend(ratio_columns(&pairs.iter().collect::<Vec<_>>(), letter, look));
    make_safe(columns, look)
}

/// Returns the ratio, its interval as numbers and as a bar, and the outcome.
fn ratio_columns<Cell>(pairs: &[&Pair<Cell>], letter: &str, look: &Look) -> Vec<Column> {
    let ratios: Vec<Option<Ratio>> = pairs.iter().map(|pair| pair.ratio).collect();
    fn show(ratio: &Option<Ratio>, text: fn(&Ratio) -> String) -> String {
        ratio.as_ref().map_or("-".into(), text)
    }
    let scale = RatioScale::for_ratios(&ratios, look.width);
    let bar = |ratio: &Option<Ratio>| scale.bar(ratio.as_ref(), look.has_plain_bars());
    let ratio = |ratio: &Option<Ratio>| show(ratio, |ratio| times(ratio.ratio));
    let outcome = |pair: &&Pair<Cell>| vec![(style(pair.outcome), pair.outcome.name().into())];
    vec![
        Column { unit: "x".into(), ..numbers(&format!("{letter}/A"), 0, &ratios, ratio) },
        numbers("95 %", 1, &ratios, |ratio| show(ratio, interval)),
        Column { unit: scale.title(), ..words("", INTERVAL_RANK, &ratios, bar) },
        Column::styled("", pairs.iter().map(outcome).collect()),
    ]
}

/// Makes the text safe; bars are already drawn for the destination.
fn make_safe(mut columns: Vec<Column>, look: &Look) -> Vec<Column> {
    let texts = columns.iter_mut().filter(|column| column.rank != INTERVAL_RANK);
    texts.for_each(|column| column.make_safe(look));
    columns
}

fn interval(ratio: &Ratio) -> String {
    ratio.interval().map_or("-".into(), |(low, high)| format!("{}-{}", times(low), times(high)))
}

fn style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Faster | Outcome::Larger => Style::Bold,
        Outcome::Slower | Outcome::Smaller => Style::Yellow,
        Outcome::Same | Outcome::Unclear | Outcome::TooFew | Outcome::OtherJob => Style::Dim,
        Outcome::Wrong | Outcome::Failed => Style::Red,
    }
}

/// Returns both medians in one unit, or each with its own if some cells move no bytes.
fn medians(pairs: &[&Pair], letter: &str, look: &Look) -> Vec<Column> {
    let sides: [fn(&Pair) -> Option<SummaryOf>; 2] = [|pair| pair.base, |pair| pair.other];
    let all: Vec<SummaryOf> =
        pairs.iter().flat_map(|pair| [pair.base, pair.other]).flatten().collect();
    let calls = all.first().is_some_and(|of| of.unit == "1/s");
    let alike = all.windows(2).all(|two| two[0].unit == two[1].unit);
    let unit = column::unit(
        all.iter().map(|of| of.summary.median),
        if calls { PER_SECOND } else { look.unit.units() },
    );
    let column = |(title, side): (&str, fn(&Pair) -> Option<SummaryOf>)| {
        let figures = pairs.iter().map(|pair| side(pair));
        if alike {
            let values: Vec<Option<f64>> =
                figures.map(|of| of.map(|of| of.summary.median)).collect();
            return Column::numbers(title, unit.1, MEDIAN_RANK, align(&values, unit.0));
        }
        let shown = figures.map(|of| of.map_or("-".into(), show_value)).collect();
        Column::numbers(title, "", MEDIAN_RANK, shown)
    };
    ["A", letter].into_iter().zip(sides).map(column).collect()
}

fn show_value(of: SummaryOf) -> String {
    match of.unit {
        "B/s" => units::show_rate(of.summary.median),
        "ns" => units::show_nanos(of.summary.median),
        "B" => units::show_bytes(of.summary.median as u64),
        _ => format!("{}/s", units::show_count(of.summary.median)),
    }
}

/// Columns of a bar, narrow and wide; odd, so that 1 is in the middle.
const WIDTH: usize = 9;
const WIDE: usize = 21;
/// Lines at least this wide have wide bars.
const WIDE_FROM: usize = 110;
/// Range of the scale's end: noise is not magnified, and one extreme does not flatten the rest.
const END_RANGE: (f64, f64) = (1.05, 8.0);

/// From 1 / `end` to `end`.
pub struct RatioScale {
    end: f64,
    width: usize,
}

impl RatioScale {
    /// Creates the scale for these ratios, in lines of this many columns.
    pub fn for_ratios(ratios: &[Option<Ratio>], columns: usize) -> RatioScale {
        let width = if columns >= WIDE_FROM { WIDE } else { WIDTH };
        RatioScale::with_width(ratios.iter().copied(), width)
    }

    /// Creates the scale for these ratios, in bars of at most this many columns.
    pub fn with_width(ratios: impl Iterator<Item = Option<Ratio>>, width: usize) -> RatioScale {
        let ends = ratios.flatten().flat_map(|of| [Some(of.ratio), of.low, of.high]).flatten();
        let largest = ends.map(|end| end.ln().abs()).fold(0.0, f64::max);
        let width = width.max(WIDTH);
        RatioScale {
            end: largest.exp().clamp(END_RANGE.0, END_RANGE.1),
            width: width - usize::from(width.is_multiple_of(2)),
        }
    }

    /// Returns the columns of a bar.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the ends of the scale, for the column's head: `0.50 2.00`; with 1 in the middle
    /// where there is room for it.
    pub fn title(&self) -> String {
        let (low, high) = (times(1.0 / self.end), times(self.end));
        let space = self.width.saturating_sub(low.len() + high.len()).max(1);
        let mut title = format!("{low}{}{high}", " ".repeat(space));
        let middle = self.width / 2;
        if title.get(middle - 1..middle + 2).is_some_and(|around| around.trim().is_empty()) {
            title.replace_range(middle..=middle, "1");
        }
        title
    }

    /// Returns the column of a ratio, and whether it is off the scale.
    fn place(&self, ratio: f64) -> (usize, bool) {
        let half = (self.width / 2) as f64;
        let at = ratio.ln() / self.end.ln();
        (((at.clamp(-1.0, 1.0) + 1.0) * half).round() as usize, at.abs() > 1.0 + 1e-9)
    }

    /// Draws `  |--o--  `: the interval with its ratio, and the position of 1.
    pub fn bar(&self, ratio: Option<&Ratio>, plain: bool) -> String {
        let [unity, line, middle] = if plain { ['|', '-', 'o'] } else { ['│', '─', '●'] };
        let mut bar = vec![' '; self.width];
        bar[self.width / 2] = unity;
        if let Some(ratio) = ratio {
            if let Some((low, high)) = ratio.interval() {
                let ((from, before), (to, beyond)) = (self.place(low), self.place(high));
                bar[from..=to.max(from)].fill(line);
                // The line must not hide the position of 1: an interval that does not reach it may
                // share its column.
                bar[self.width / 2] = unity;
                bar[0] = if before { '<' } else { bar[0] };
                bar[self.width - 1] = if beyond { '>' } else { bar[self.width - 1] };
            }
            let (at, outside) = self.place(ratio.ratio);
            bar[at] = if !outside {
                middle
            } else if ratio.ratio < 1.0 {
                '<'
            } else {
                '>'
            };
        }
        bar.into_iter().collect()
    }
}
