//! The table of the methods that were tried before one was picked: a bar with the range of each,
//! the result, and its limit.

use super::column_parts::{numbers, words};
use super::grid::Column;
use super::grid::Table;
use crate::analysis::{CellResult, MethodRate, PickedMethod, picked_methods};
use crate::record::{describe_cache_state, describe_method};
use crate::session::Session;
use crate::units::column::{align, unit};
use crate::units::{Rates, show_rate, show_share};

/// One row of the table.
struct TriedRow {
    sign: &'static str,
    label: String,
    rate: f64,
    /// The interval, or the slowest and fastest.
    range: Option<(f64, f64)>,
    count: Option<usize>,
    /// The rate of a full bar.
    full: f64,
}

/// Returns the table of a session that picked a method by tries; `None` for others.
pub fn build_tried(session: &Session, rows: &[&CellResult], rates: Rates) -> Option<Table> {
    let picks = picked_methods(session, rows);
    let picks: Vec<&PickedMethod> = picks.iter().filter(|pick| !pick.tried.is_empty()).collect();
    let tried = || picks.iter().flat_map(|pick| &pick.tried);
    let bounded = tried().all(|method| method.low.is_some());
    tried().next()?;
    // A state that all share is in the conditions.
    let state = |pick: &PickedMethod| match picks.len() {
        1 => String::new(),
        _ => describe_cache_state(&pick.cell),
    };
    let rows: Vec<TriedRow> = picks
        .iter()
        .flat_map(|pick| rows_of_pick(pick, find_result(rows, pick), bounded, &state(pick)))
        .collect();
    let (factor, name) = unit(rows.iter().map(|row| row.rate), rates.units());
    let number = |title: &str, value: &dyn Fn(&TriedRow) -> Option<f64>| {
        let values: Vec<Option<f64>> = rows.iter().map(value).collect();
        Column::numbers(title, name, 0, align(&values, factor))
    };
    let (low, high) = if bounded { ("low", "high") } else { ("least", "most") };
    let count = |row: &TriedRow| row.count.map_or("-".into(), |count| count.to_string());
    let columns = vec![
        words("", 0, &rows, |row| row.sign.into()),
        words("method", 0, &rows, |row| row.label.clone()),
        number("rate", &|row| Some(row.rate)),
        number(low, &|row| row.range.map(|range| range.0)),
        number(high, &|row| row.range.map(|range| range.1)),
        numbers("reads", 0, &rows, count),
        words("", 1, &rows, draw_bar),
    ];
    Some(Table {
        id: "tried",
        title: "What each method reached when it was tried",
        columns,
        text: describe(&picks, bounded),
        ..Table::default()
    })
}

fn find_result<'a>(rows: &[&'a CellResult], pick: &PickedMethod) -> Option<&'a CellResult> {
    rows.iter().copied().find(|row| row.cell == pick.cell)
}

/// Returns the rows of the tries, the fastest first, then the result and its limit.
fn rows_of_pick(
    pick: &PickedMethod,
    result: Option<&CellResult>,
    bounded: bool,
    state: &str,
) -> Vec<TriedRow> {
    let limit = pick.ceiling.as_ref().map(|ceiling| ceiling.bytes_per_second);
    let tops = pick.tried.iter().map(|method| method.max).chain(pick.throughput).chain(limit);
    let full = tops.fold(0.0, f64::max);
    let row = |label: &str, rate| TriedRow {
        sign: "",
        label: format!("{label}{state}"),
        rate,
        range: None,
        count: None,
        full,
    };
    let of_try = |method: &MethodRate| TriedRow {
        sign: match method.no_difference {
            _ if method.cell == pick.cell => "*",
            true => "=",
            false => "",
        },
        range: Some(if bounded { method.range() } else { (method.min, method.max) }),
        count: Some(method.tries),
        ..row(&describe_method(&method.cell), method.throughput)
    };
    let mut rows: Vec<TriedRow> = pick.tried.iter().map(of_try).collect();
    let summary = result.and_then(|result| Some((result, result.throughput?.summary)));
    rows.extend(summary.map(|(result, summary)| TriedRow {
        range: if bounded {
            summary.low.zip(summary.high)
        } else {
            Some((summary.min, summary.max))
        },
        count: Some(result.counted_trials().len()),
        ..row("result: the whole file", summary.median)
    }));
    rows.extend(limit.map(|limit| row("limit", limit)));
    rows
}

/// Columns of a full bar.
const BAR: usize = 12;

/// Draws a bar up to the rate, and then, lighter, up to the high end of its range; from the low end
/// on it is darker than the high end, and lighter than the rest.
fn draw_bar(row: &TriedRow) -> String {
    let place = |rate: f64| ((rate / row.full).clamp(0.0, 1.0) * BAR as f64).round() as usize;
    let (low, high) = row.range.unwrap_or((row.rate, row.rate));
    let (low, middle, high) = (place(low), place(row.rate).max(1), place(high));
    let piece = |part: &str, from: usize, to: usize| part.repeat(to.saturating_sub(from));
    [piece("█", 0, low.min(middle)), piece("▓", low, middle), piece("░", middle, high)].concat()
}

/// Describes what the ranges and signs mean, and the share of the limit.
fn describe(picks: &[&PickedMethod], bounded: bool) -> String {
    let range = if bounded {
        "low and high are the 95 % confidence interval of the median".to_string()
    } else {
        "least and most are the slowest and the fastest, as some methods have fewer tries than the \
         5 that an interval needs, or read parts that differ in what is cached"
            .to_string()
    };
    let mut text = format!(
        "short reads of each method, then the result; {range}. A bar ends at the rate; its lighter \
         parts are the range"
    );
    text += ". * was picked";
    if picks.iter().flat_map(|pick| &pick.tried).any(|method| method.no_difference) {
        text += "; = no difference from it";
    }
    for pick in picks {
        let Some(ceiling) = &pick.ceiling else { continue };
        text += &format!(
            ". The result{} is {} of the limit: {} that {}",
            describe_cache_state(&pick.cell),
            show_share(ceiling.share),
            show_rate(ceiling.bytes_per_second),
            ceiling.name
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Event;
    use crate::report::{Look, find_format};
    use crate::session::testing;

    fn session(change: impl Fn(&mut Vec<crate::record::Try>)) -> Session {
        let mut session = testing::session(0);
        testing::picked().iter().for_each(|event: &Event| session.apply(event));
        session.picks.iter_mut().for_each(|pick| change(&mut pick.tries));
        session
    }

    fn show(format: &str, session: &Session, look: &Look) -> String {
        let mut out = Vec::new();
        (find_format(format).unwrap().write)(session, look, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn methods_have_bars_and_limits() {
        let text = show("table", &session(|_| {}), &Look::default());
        let table: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.contains("low") || !line.contains("high"))
            .take_while(|line| !line.is_empty())
            .collect();
        insta::assert_snapshot!(table.join("\n"));
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("95 % confidence interval of the median"), "{text}");
        assert!(words.contains("is 49.9 % of the limit: 40.0 GiB/s that 2 threads"), "{text}");
        let ascii = show("table", &session(|_| {}), &Look { ascii: true, ..Look::default() });
        assert!(ascii.is_ascii() && ascii.contains("####"), "{ascii}");
        for format in ["markdown", "html"] {
            let text = show(format, &session(|_| {}), &Look::default());
            assert!(text.contains("What each method reached") && text.contains("███"), "{text}");
        }
    }

    #[test]
    fn few_tries_show_their_range() {
        let text = show("table", &session(|tries| tries.truncate(6)), &Look::default());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("least") && words.contains("fewer tries than the 5"), "{text}");
        assert!(!words.contains("= no difference from it"), "{text}");
        // The other method was as fast in some tries.
        let mixed = session(|tries| {
            tries.iter_mut().take(3).for_each(|of| of.nanos = 49_500_000);
        });
        let text = show("table", &mixed, &Look::default());
        let line = |sign: &str| text.lines().find(|line| line.starts_with(sign)).unwrap_or("");
        assert!(line("* ").contains("pread 2 MiB 2 threads"), "{text}");
        assert!(line("= ").contains("mmap+shared 2 MiB 2 threads"), "{text}");
        assert!(
            text.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains("The tries show no difference from mmap+shared 2 MiB 2 threads"),
            "{text}"
        );
        let none = session(Vec::clear);
        assert!(!show("table", &none, &Look::default()).contains("was picked"));
    }
}
