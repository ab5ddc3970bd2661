//! Options and the cells that they make, both ways.
//!
//! A run that is compared with a baseline may repeat the options of the baseline's cells, but not
//! change them. A screen that opens the plan of a session needs its settings: new plans hold them,
//! and cells of older sessions imply them.

use std::collections::HashSet;

use super::sweep::sensible;
use super::{estimate, experiment, usual};
use crate::plan::{
    Expect, Expectation, Info, Job, JobOption, JobValue, MeasureCeilings, Plan, Preset, Range,
    RangeOf, Rates, Settings, TargetSpec, TrialTime, ValueKind,
};

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
    // A preset defines all its axes, also axes at their defaults.
    let complete = |part: &Settings| usual(&settings.clone().or(part), infos);
    let described = |preset: &Preset| match experiment(&preset.experiment) {
        // Its cells are determined again in every run.
        Ok(experiment) if experiment.picks => vec![option_values(settings, infos)],
        _ => {
            let parts = preset.parts();
            let all = parts.iter().map(|part| option_values(&complete(part), infos)).collect();
            let one = preset.first_backend && settings.backend.is_none();
            if one { keep_backend_of(cells, all, infos) } else { all }
        }
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

/// Keeps, of the backends of each part, the one of these cells: the others do not run.
fn keep_backend_of(
    cells: &[Job],
    mut parts: Vec<Vec<OptionValues>>,
    infos: &[&'static Info],
) -> Vec<Vec<OptionValues>> {
    let ran = |value: &JobValue| cells.first().is_some_and(|cell| has(cell, value, infos));
    let backends = parts.iter_mut().flatten().filter(|(option, _)| option.name == "backend");
    backends.for_each(|(_, values)| values.retain(ran));
    parts
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

/// Returns the settings in which a plan differs from its preset: with them the preset makes the
/// same cells, on the targets of the plan. They leave out the seed and commands between rounds.
///
/// If no single set of settings makes a plan's cells, such as the cells of several presets, the
/// settings make these and others. An experiment that picks a method determines its cells again.
pub fn settings_of(plan: &Plan, preset: &Preset, infos: &[&'static Info]) -> Settings {
    let requested = plan.cells.iter().chain(plan.skipped.iter().map(|skipped| &skipped.cell));
    let cells: Vec<Job> =
        requested.map(|job| Job { target: None, variant: None, ..job.clone() }).collect();
    let mut settings = settings_of_run(plan, preset);
    if let Some(given) = given_settings(plan, preset) {
        let mut all = settings.clone().or(&given);
        if given.size.is_none() && asks_for_span(plan, preset) {
            take(&mut all, "size", &cells, infos);
        }
        let made = describes(&all, std::slice::from_ref(preset), infos, &cells, &[]);
        if !matches!(made, Err(OtherCells::LeftOut { .. })) {
            return all;
        }
        // The preset has changed since.
    }
    if asks_for_span(plan, preset) {
        take(&mut settings, "size", &cells, infos);
    }
    // These have no default to which the cells could be held.
    for option in ["count", "mix", "rate", "think"] {
        // A search has its own rates, unless it was among some.
        let all = || Rates::ladder().values.into_iter().map(Some).collect::<HashSet<_>>();
        let searches = option == "rate" && plan.latency_target.is_some();
        if searches && cells.iter().map(|job| job.rate).collect::<HashSet<_>>() == all() {
            continue;
        }
        if !plan.pick && preset.parts().iter().all(|part| part.text(option).is_none()) {
            take(&mut settings, option, &cells, infos);
        }
    }
    // Not numbers: an experiment may leave some out, as counts that the budget has no room for.
    let named = Settings::ALL.iter().filter(|s| matches!(s.kind, ValueKind::SomeOf(_)));
    for setting in named.filter(|_| !plan.pick) {
        if is_for_all_sweeps(setting.name, preset, &cells) {
            take(&mut settings, setting.name, &cells, infos);
        }
    }
    // Each time what is named first is set as the cells have it, until they are described.
    while let Err(other) = describes(&settings, std::slice::from_ref(preset), infos, &cells, &[]) {
        let (OtherCells::LeftOut { option, .. } | OtherCells::Added { option, .. }) = other;
        if settings.text(option).is_some() || !take(&mut settings, option, &cells, infos) {
            break;
        }
    }
    settings
}

/// Returns the settings of cells with which the plan was made from this preset alone; `None` if the
/// plan does not hold them, as that of an older session.
fn given_settings(plan: &Plan, preset: &Preset) -> Option<Settings> {
    let given = plan.settings.as_ref().filter(|_| plan.presets == [preset.id.as_str()])?;
    let mut settings = Settings::default();
    for (name, text) in given {
        settings.set(name, text).ok()?;
    }
    Some(settings)
}

/// Returns whether a value that a sweep of the preset lists is in no cell, although its sweeps
/// differ: other values were requested for all sweeps.
fn is_for_all_sweeps(option: &str, preset: &Preset, cells: &[Job]) -> bool {
    let of_sweeps: HashSet<Option<String>> =
        preset.parts().iter().map(|part| part.text(option)).collect();
    let of_cells: HashSet<String> =
        cells.iter().filter_map(|cell| value_of(cell, option)).collect();
    let listed = || of_sweeps.iter().flatten().filter(|text| !text.contains(".."));
    let is_missing = |value: &str| !of_cells.contains(value);
    of_sweeps.len() > 1
        && !of_cells.is_empty()
        && listed().flat_map(|text| text.split(',')).any(is_missing)
}

/// Returns whether a span was requested that the preset does not have.
fn asks_for_span(plan: &Plan, preset: &Preset) -> bool {
    let is_whole_file = |cell: &Job| {
        plan.target_of(cell).is_some_and(|target| match target {
            TargetSpec::File { size, .. } => *size == cell.span,
            _ => false,
        })
    };
    // A share of the memory is not the same number of bytes again.
    !plan.span_may_shrink
        && preset.parts().iter().all(|part| part.size.is_none())
        && !plan.cells.iter().all(is_whole_file)
}

/// Sets an option to the values that the cells have and need; false if it cannot be.
fn take(
    settings: &mut Settings,
    option: &'static str,
    cells: &[Job],
    infos: &[&'static Info],
) -> bool {
    let mut texts: Vec<String> = Vec::new();
    for text in cells.iter().filter_map(|cell| value_of(cell, option)) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let needed = needed_values(option, &texts, cells, infos);
    !needed.is_empty() && settings.set(option, &needed.join(",")).is_ok()
}

/// Returns the values without which a cell would be missing: on some cells an option has no
/// effect, and nobody requested the value that they have.
fn needed_values(
    option: &'static str,
    texts: &[String],
    cells: &[Job],
    infos: &[&'static Info],
) -> Vec<String> {
    let of = |text: &String| -> Option<JobValue> {
        let mut one = Settings::default();
        one.set(option, text).ok()?;
        JobOption::find(option)?.values(&one, infos)?.pop()
    };
    let values: Vec<JobValue> = texts.iter().filter_map(of).collect();
    let matters = |cell: &&Job| values.iter().any(|value| !has(cell, value, infos));
    let affected: Vec<&Job> = cells.iter().filter(matters).collect();
    let is_needed = |text: &str| {
        affected.iter().any(|cell| value_of(cell, option).is_some_and(|own| own == text))
    };
    let needed: Vec<String> = texts.iter().filter(|text| is_needed(text)).cloned().collect();
    if needed.is_empty() { texts.first().cloned().into_iter().collect() } else { needed }
}

/// Returns the value of an option that a cell has, as it is given.
fn value_of(cell: &Job, option: &str) -> Option<String> {
    JobOption::find(option)?.text(cell)
}

/// Returns what a plan has once and its preset has not.
fn settings_of_run(plan: &Plan, preset: &Preset) -> Settings {
    fn unlike<T: PartialEq>(own: Option<T>, of_preset: Option<T>) -> Option<T> {
        own.filter(|own| of_preset.as_ref() != Some(own))
    }
    let known = &preset.settings;
    let until = plan.ends_by();
    let usual = plan.budget_unasked();
    let measures = estimate(&Plan { ceilings: false, ..plan.clone() }) >= Plan::MIN_FOR_CEILINGS;
    let ceilings = match plan.ceilings {
        _ if plan.ceilings == measures => None,
        true => Some(MeasureCeilings::Always),
        false => Some(MeasureCeilings::Never),
    };
    let neighbours = || plan.variants.iter().filter_map(|variant| variant.neighbour.as_deref());
    let neighbour = neighbours().next();
    let neighbour = neighbour.and_then(|of| Settings::parse_neighbour(&of.options).ok());
    let shares: Vec<String> =
        neighbours().filter_map(|of| of.share).map(|share| share.to_string()).collect();
    let neighbour_share = Range::parse(&shares.join(","), RangeOf::Count).ok();
    let expect: Vec<Expect> = plan.expect.iter().flat_map(expected).collect();
    Settings {
        trials: unlike(
            plan.trials.filter(|_| !plan.steady && !plan.watch),
            known.trials.filter(|_| known.until.is_none()),
        ),
        until: unlike(until, known.until),
        budget: unlike(Some(plan.budget), Some(known.budget.unwrap_or(usual))),
        trial_time: unlike(
            Some(plan.trial_time).filter(|_| !plan.fitted && !plan.watch),
            // The trials of a search are as long as most, and never fitted.
            known.trial_time.or(plan.latency_target.as_ref().map(|_| TrialTime::default())),
        ),
        ceilings: unlike(ceilings, known.ceilings),
        rated: unlike(plan.rated, known.rated),
        expect: unlike(Some(expect).filter(|list| !list.is_empty()), known.expect.clone()),
        cold: unlike(Some(plan.cold), Some(known.cold.unwrap_or_default())),
        cpus: unlike(plan.cpus.clone(), known.cpus.clone()),
        neighbour: unlike(neighbour, known.neighbour.clone()),
        neighbour_share: unlike(neighbour_share, known.neighbour_share.clone()),
        latency_target: unlike(plan.latency_target.clone(), known.latency_target.clone()),
        watch: unlike(plan.watch.then_some(plan.trial_time.low), known.watch),
        stop_if: unlike(
            Some(plan.stop_if.clone()).filter(|all| !all.is_empty()),
            known.stop_if.clone(),
        ),
        compressible: unlike(plan.compressible, known.compressible),
        dedupe: unlike(plan.dedupe, known.dedupe),
        precondition: unlike(plan.precondition, known.precondition),
        verify: unlike(plan.verify.then_some(true), known.verify),
        fresh: unlike(plan.fresh.is_some().then_some(true), known.fresh),
        ..Settings::default()
    }
}

/// Returns what asks for this expectation.
fn expected(expectation: &Expectation) -> Vec<Expect> {
    match &expectation.by {
        Some(by) => vec![Expect::Profile(by.profile.clone())],
        None => expectation.conditions.iter().cloned().map(Expect::Condition).collect(),
    }
}

#[cfg(test)]
mod tests;
