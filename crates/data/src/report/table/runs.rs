//! The trials of each cell one by one, if a few were requested: as a lab report prints its four
//! executions and their mean.

use super::column_parts::distinguishing_columns;
use super::grid::Column;
use super::grid::Table;
use crate::analysis::CellResult;
use crate::catalog::moves_data;
use crate::record::Trial;
use crate::session::Session;
use crate::units::Rates;
use crate::units::column::{PER_SECOND, Unit, align, unit};

/// More trials than this are a distribution, which the interval describes better than a row of
/// numbers.
pub const MAX_RUNS: u32 = 6;

/// Returns the table of the cells that move bytes.
pub fn build_runs(session: &Session, rows: &[&CellResult], rates: Rates) -> Option<Table> {
    let moving: Vec<&CellResult> =
        rows.iter().filter(|row| moves_data(&row.cell)).copied().collect();
    build_table(session, &moving, ("trials", "Trials"), (Trial::throughput, rates.units()))
}

/// Returns the table of the cells that only make calls.
pub fn build_call_runs(session: &Session, rows: &[&CellResult], _: Rates) -> Option<Table> {
    let calling: Vec<&CellResult> =
        rows.iter().filter(|row| !moves_data(&row.cell)).copied().collect();
    build_table(
        session,
        &calling,
        ("trials of calls", "Trials of calls"),
        (Trial::operations, PER_SECOND),
    )
}

type RunFigure = (fn(&Trial) -> f64, &'static [Unit]);

fn build_table(
    session: &Session,
    rows: &[&CellResult],
    (id, title): (&'static str, &'static str),
    (of, units): RunFigure,
) -> Option<Table> {
    // A file that is not in memory was read once, whatever the plan allows.
    let once = session.plan.once_uncached && rows.iter().all(|row| row.trials.len() < 2);
    let trial_count =
        session.plan.trials.filter(|trials| (2..=MAX_RUNS).contains(trials) && !once)?;
    let rows: Vec<&CellResult> =
        rows.iter().filter(|row| !row.trials.is_empty()).copied().collect();
    if rows.is_empty() {
        return None;
    }
    let all = figures(trial_count, &rows, of);
    // A single unit, because they are compared along the row.
    let (factor, name) = unit(all.iter().flat_map(|(_, values)| values).flatten().copied(), units);
    let mut columns = distinguishing_columns(&rows, &[], rows.len() > 1);
    columns.extend(
        all.iter().map(|(title, values)| Column::numbers(title, name, 0, align(values, factor))),
    );
    let text = format!(
        "the {trial_count} trials of each cell in round order, and their mean; - is a trial that was cut short or never ran"
    );
    Some(Table { id, title, columns, text, ..Table::default() })
}

/// Returns each trial's figure by row under its title, then their mean; `None` is a trial that was
/// cut short or never ran.
pub fn figures(
    trial_count: u32,
    rows: &[&CellResult],
    of: impl Fn(&Trial) -> f64,
) -> Vec<(String, Vec<Option<f64>>)> {
    let trial = |row: &CellResult, round: u32| {
        row.trials
            .iter()
            .find(|trial| trial.round == round && trial.counts())
            .map(|trial| of(trial))
    };
    let mut all: Vec<(String, Vec<Option<f64>>)> = (1..=trial_count)
        .map(|round| (ordinal(round), rows.iter().map(|row| trial(row, round)).collect()))
        .collect();
    let mean = |row: usize| {
        let known: Vec<f64> = all.iter().filter_map(|(_, runs)| runs[row]).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let means = (0..rows.len()).map(mean).collect();
    all.push(("mean".into(), means));
    all
}

fn ordinal(number: u32) -> String {
    match number {
        1 => "1st".into(),
        2 => "2nd".into(),
        3 => "3rd".into(),
        n => format!("{n}th"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Cache, Job, Op};
    use crate::report::table::grid::row_count;
    use crate::report::testing;

    #[test]
    fn few_requested_trials_have_columns() {
        let read = testing::job("read", 4096, Cache::Warm);
        let seek = Job { op: Op::Seek, ..testing::job("seek", 1, Cache::AsIs) };
        let like = testing::Like::new(1000.0, 1.0, None);
        let mut session = testing::measured(vec![read.clone(), seek], 4, like);
        let results = crate::analysis::results(&session);
        let rows: Vec<&CellResult> = results.iter().collect();
        let auto = Rates::default();
        assert!(
            build_runs(&session, &rows, auto).is_none()
                && build_call_runs(&session, &rows, auto).is_none(),
            "no count was requested"
        );
        session.plan.trials = Some(4);
        let table = build_runs(&session, &rows, auto).unwrap();
        let titles: Vec<&str> =
            table.columns.iter().rev().take(5).map(|column| column.title.as_str()).collect();
        assert_eq!(titles, ["mean", "4th", "3rd", "2nd", "1st"]);
        assert_eq!(row_count(&table.columns), 1);
        // The table has the figures of the trials and their mean.
        let cell = |title: &str| -> f64 {
            let column = table.columns.iter().find(|column| column.title == title).unwrap();
            assert_eq!(column.unit, "GiB/s");
            column.cells[0][0].1.trim().parse().unwrap()
        };
        let rates: Vec<f64> = results[0]
            .trials
            .iter()
            .map(|trial| trial.throughput() / (1u64 << 30) as f64)
            .collect();
        ["1st", "2nd", "3rd", "4th"]
            .iter()
            .zip(&rates)
            .for_each(|(title, rate)| assert!((cell(title) - rate).abs() < 0.006, "{title}"));
        assert!((cell("mean") - rates.iter().sum::<f64>() / 4.0).abs() < 0.006);
        assert_eq!(
            build_call_runs(&session, &rows, auto).unwrap().columns.last().unwrap().unit,
            "M/s"
        );
        let in_mb = build_runs(&session, &rows, "MB/s".parse().unwrap()).unwrap();
        assert_eq!(in_mb.columns.last().unwrap().unit, "MB/s", "the requested unit");
        session.plan.trials = Some(MAX_RUNS + 1);
        assert!(build_runs(&session, &rows, auto).is_none());
    }
}
