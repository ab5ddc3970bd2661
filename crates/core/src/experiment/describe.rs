//! Checks whether options describe given cells: a run that is compared with a baseline may repeat
//! the options of the baseline's cells, but not change them.

use super::sweep::sensible;
use super::{experiment, usual};
use crate::plan::{Info, Job, JobOption, JobValue, Preset, Settings};

/// How options differ from the cells that they should describe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OtherCells {
    #[error("--{option} excludes cells of the baseline: {cells}")]
    LeftOut { option: &'static str, cells: String },
    #[error("the baseline has no cell with --{option} {value}")]
    Added { option: &'static str, value: String },
}

/// Checks whether `settings` and `presets` describe every cell, and whether each given value occurs
/// in some cell. Options that are not given are not compared; seed, trials, trial time and budget
/// are not part of a cell. `skipped` are cells of the same options that were unavailable.
pub fn describes(
    settings: &Settings,
    presets: &[Preset],
    infos: &[&'static Info],
    cells: &[Job],
    skipped: &[Job],
) -> Result<(), OtherCells> {
    // A preset defines all its axes, including those at their defaults.
    let complete = |part: &Settings| usual(&settings.clone().or(part), infos);
    let described = |preset: &Preset| match experiment(&preset.experiment) {
        // Its cells are determined again in every run.
        Ok(experiment) if experiment.picks => vec![option_values(settings, infos)],
        _ => preset.parts().iter().map(|part| option_values(&complete(part), infos)).collect(),
    };
    let all: Vec<Vec<OptionValues>> = match presets {
        [] => vec![option_values(settings, infos)],
        _ => presets.iter().flat_map(described).collect(),
    };
    let has = |cell: &Job, value: &JobValue| has(cell, value, infos);
    // Finds the option that excludes the cell from the description that is nearest to it.
    let excluding_option = |cell: &Job| {
        let mismatches = |options: &Vec<OptionValues>| -> Vec<&'static str> {
            let lacks = |values: &[JobValue]| !values.iter().any(|value| has(cell, value));
            options
                .iter()
                .filter(|(_, values)| lacks(values))
                .map(|(option, _)| option.name)
                .collect()
        };
        all.iter().map(mismatches).min_by_key(Vec::len)?.first().copied()
    };
    let mut excluded = cells.iter().filter_map(|cell| Some((excluding_option(cell)?, cell)));
    if let Some((option, first)) = excluded.next() {
        let more = excluded.count();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        return Err(OtherCells::LeftOut { option, cells: first.label() + &more });
    }
    // A cell on which the option has no effect (such as the cache, on a seek) does not count as
    // having one of several values.
    for (option, values) in all.iter().flatten() {
        let counts =
            |cell: &&Job| values.len() == 1 || values.iter().any(|value| !has(cell, value));
        let affected: Vec<&Job> = cells.iter().chain(skipped).filter(counts).collect();
        if affected.is_empty() {
            continue;
        }
        let unused = values.iter().find(|value| !affected.iter().any(|cell| has(cell, value)));
        if let Some(value) = unused {
            let value = option.text(&value.put_in(affected[0])).unwrap_or_default();
            return Err(OtherCells::Added { option: option.name, value });
        }
    }
    Ok(())
}

/// An option with the values that settings give it.
type OptionValues = (&'static JobOption, Vec<JobValue>);

/// Returns the values of each option that is part of a cell, but the share of the memory: its
/// meaning depends on the memory available at that time.
fn option_values(of: &Settings, infos: &[&'static Info]) -> Vec<OptionValues> {
    JobOption::all().filter_map(|option| Some((option, option.values(of, infos)?))).collect()
}

/// Returns the first option of `settings` whose values exclude the cell; `None` if it has one of
/// the values of each.
pub fn excluding_option(
    settings: &Settings,
    infos: &[&'static Info],
    cell: &Job,
) -> Option<&'static str> {
    let mut options = option_values(settings, infos).into_iter();
    let is_without = |values: &[JobValue]| !values.iter().any(|value| has(cell, value, infos));
    options.find(|(_, values)| is_without(values)).map(|(option, _)| option.name)
}

/// Returns whether the cell has this value of an option.
pub(super) fn has(cell: &Job, value: &JobValue, infos: &[&'static Info]) -> bool {
    let with = value.put_in(cell);
    let info = infos.iter().find(|info| info.id == with.backend.id);
    info.map_or(with.clone(), |info| sensible(info.of(&with.backend), with)) == *cell
}

#[cfg(test)]
mod tests;
