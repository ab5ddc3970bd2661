//! The columns of a comparison: what tells the cells apart, both medians, their ratio, its interval, and what that means.

use super::super::Look;
use super::super::table::axes;
use super::super::table::grid::{Column, Style};
use super::bar::Scale;
use super::safe;
use crate::session::{Outcome, Pair, SummaryOf, times};
use crate::stats::Ratio;
use crate::units;
use crate::units::column::{self, PER_SECOND, RATE, aligned};

/// The cells of a comparison in this order; the bar is the column of rank 2, the outcome the last one.
pub fn columns(pairs: &[&Pair], letter: &str, look: &Look) -> Vec<Column> {
    let jobs = || pairs.iter().map(|pair| &pair.cell);
    let mut columns: Vec<Column> = axes::AXES
        .iter()
        .filter(|axis| axis.varies(jobs()))
        .map(|axis| Column { right: axis.number, ..Column::words(axis.name, 0, jobs().map(axis.value).collect()) })
        .collect();
    columns.extend(medians(pairs, letter));
    let of = |text: fn(&Ratio) -> String| pairs.iter().map(|pair| pair.ratio.as_ref().map_or("-".into(), text)).collect();
    columns.push(Column::numbers(&format!("{letter}/A"), "x", 0, of(|ratio| times(ratio.ratio))));
    columns.push(Column::numbers("95 %", "", 1, of(interval)));
    let scale = Scale::of(pairs, look.width);
    let bars = pairs.iter().map(|pair| scale.bar(pair.ratio.as_ref(), look.ascii)).collect();
    columns.push(Column { unit: scale.title(), ..Column::words("", 2, bars) });
    let outcomes = pairs.iter().map(|pair| vec![(style(pair.outcome), pair.outcome.name().into())]).collect();
    columns.push(Column { cells: outcomes, ..Column::words("", 0, Vec::new()) });
    for column in &mut columns {
        // Bars are made for the place they are shown on.
        if column.rank != 2 {
            column.cells.iter_mut().flatten().for_each(|(_, piece)| *piece = safe(piece, look));
        }
    }
    columns
}

fn interval(ratio: &Ratio) -> String {
    ratio.interval().map_or("-".into(), |(low, high)| format!("{}-{}", times(low), times(high)))
}

fn style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Faster => Style::Bold,
        Outcome::Slower => Style::Yellow,
        Outcome::Same | Outcome::TooFew => Style::Dim,
        Outcome::Wrong | Outcome::Failed => Style::Red,
    }
}

/// Both medians in one unit, or each with its own where some cells move no bytes.
fn medians(pairs: &[&Pair], letter: &str) -> Vec<Column> {
    let sides: [fn(&Pair) -> Option<SummaryOf>; 2] = [|pair| pair.base, |pair| pair.other];
    let all: Vec<SummaryOf> = pairs.iter().flat_map(|pair| [pair.base, pair.other]).flatten().collect();
    let calls = all.first().is_some_and(|of| of.unit == "1/s");
    let alike = all.windows(2).all(|two| two[0].unit == two[1].unit);
    let unit = column::unit(all.iter().map(|of| of.summary.median), if calls { PER_SECOND } else { RATE });
    let column = |(title, side): (&str, fn(&Pair) -> Option<SummaryOf>)| {
        let figures = pairs.iter().map(|pair| side(pair));
        if alike {
            let values: Vec<Option<f64>> = figures.map(|of| of.map(|of| of.summary.median)).collect();
            return Column::numbers(title, unit.1, 3, aligned(&values, unit.0));
        }
        Column::numbers(title, "", 3, figures.map(|of| of.map_or("-".into(), own_unit)).collect())
    };
    ["A", letter].into_iter().zip(sides).map(column).collect()
}

fn own_unit(of: SummaryOf) -> String {
    match of.unit {
        "B/s" => units::show_rate(of.summary.median),
        _ => format!("{}/s", units::show_count(of.summary.median)),
    }
}
