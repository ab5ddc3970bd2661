//! The answer: facts and sentences.

use serde::Serialize;

use super::best::Best;
use super::cold::ColdCost;
use super::effect::Effect;
use super::series::Knee;
use super::targets::{TargetRatio, describe_targets};
use crate::analysis::{CellNames, CellResult, Network, PickedMethod};
use crate::plan::{Cache, Job, Op, Sync};
use crate::stats::Summary;
use crate::text::clean_text;
use crate::units::{self, counted, join_names, join_range, verb};

/// The answer of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Plain sentences, one line.
    pub text: String,
    /// The fastest cell of the first group that has results: reads, then writes, then calls that
    /// move nothing.
    pub best: Option<Best>,
    /// The fastest cell of each further group.
    pub also: Vec<Best>,
    /// Where each curve comes within 5 % of its peak.
    pub knees: Vec<Knee>,
    pub cold_cost: Option<ColdCost>,
    /// The worth of a warm page cache, of direct I/O and of the CPU caches, on each curve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// The methods that were picked among several: what each reached, and why it was picked.
    pub picked: Vec<PickedMethod>,
    /// Each further target compared with the first; omitted from JSON where there is only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetRatio>,
    /// Conclusions from the network probes.
    pub network: Network,
}

/// Curves and rivals that are named; the others are only counted.
const MAX_NAMED: usize = 3;

/// Returns the answer to these results in one line.
pub fn text(results: &[CellResult], answer: &Answer) -> String {
    let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
    let text = match (results, &answer.best) {
        (_, None) => describe_nothing(results, &names),
        ([one], Some(best)) => describe_single(one, best, &names),
        (_, Some(best)) => {
            let bests = std::iter::once(best).chain(&answer.also);
            let mut said: Vec<String> =
                bests.map(|best| describe_fastest(results, best, answer, &names)).collect();
            said.extend(describe_targets(&answer.targets));
            said.extend(describe_wrong(results, answer, &names));
            // Too few trials show no order of block sizes either.
            let knees = if best.provisional { &[][..] } else { &answer.knees };
            said.extend(describe_knees(knees, &names));
            said.extend(answer.cold_cost.as_ref().map(describe_cold));
            said.extend(describe_common_step(results));
            said.extend(describe_few_trials(results));
            said.extend(describe_failures(results, &names));
            said.join(" ")
        }
    };
    clean_text(&text)
}

fn describe_nothing(results: &[CellResult], names: &CellNames) -> String {
    match describe_failures(results, names) {
        Some(failed) => format!("Nothing was measured. {failed}"),
        None => "Nothing was measured.".into(),
    }
}

fn describe_single(result: &CellResult, best: &Best, names: &CellNames) -> String {
    let summary = best.throughput.or(best.operations).map(|of| of.summary);
    let interval = match (summary.and_then(|s| s.low.zip(s.high)), best.trials) {
        (Some((low, high)), trials) => format!(
            ", 95 % interval {} to {} from {trials} trials",
            rate(best, low),
            rate(best, high)
        ),
        (None, 1) => " in 1 trial, too few for an interval".into(),
        (None, trials) => format!(" in {trials} trials, too few for an interval"),
    };
    let mut text = match result.level_change.as_ref().filter(|change| change.is_large()) {
        // A median of two levels describes neither.
        Some(change) => {
            let (first, last) = change.first_and_last();
            let (first, last) = (rate(best, first.summary.median), rate(best, last.summary.median));
            format!(
                "{}: went from {first} to {last} during the run, so there is no single figure",
                names.full(&best.cell)
            )
        }
        None => format!("{}: {}{interval}", names.full(&best.cell), figure(best)),
    };
    if is_to_page_cache(&best.cell) {
        text += ", until all data was in the page cache";
    }
    if let Some(why) = &best.wrong {
        text += &format!(", but this figure is wrong: {}", phrase(why));
    }
    if let Some(error) = &result.error {
        text += &format!(", then it failed: {}", phrase(error));
    }
    text + "."
}

/// Returns whether it writes without waiting for the device.
fn is_to_page_cache(job: &Job) -> bool {
    job.op == Op::Write && !job.direct && job.sync == Sync::None && job.mix.is_none()
}

/// Returns a warning or an error inside a sentence.
fn phrase(text: &str) -> &str {
    text.trim().trim_end_matches('.')
}

fn rate(best: &Best, value: f64) -> String {
    match best.throughput {
        Some(_) => units::show_rate(value),
        None => per_second(value),
    }
}

fn per_second(value: f64) -> String {
    format!("{} operations/s", units::show_count(value).trim_end())
}

fn figure(best: &Best) -> String {
    match (&best.throughput, &best.operations) {
        (Some(throughput), _) => units::show_rate(throughput.summary.median),
        (None, Some(operations)) if operations.summary.median > 0.0 => {
            let each = 1e9 * f64::from(best.cell.all_threads()) / operations.summary.median;
            format!("{} ({} each)", per_second(operations.summary.median), units::show_nanos(each))
        }
        _ => "no operations".into(),
    }
}

/// Returns `Fastest: mmap at 2 MiB, warm, 30.1 GiB/s.`; of cells that do not differ, their range:
/// `Fastest: 28.7 to 30.1 GiB/s with mmap, warm, at 1 MiB and 2 MiB.`
fn describe_fastest(
    results: &[CellResult],
    best: &Best,
    answer: &Answer,
    names: &CellNames,
) -> String {
    let what = match (&best.throughput, best.cell.op) {
        (None, _) => "Fastest call",
        (Some(_), _) if best.cell.mix.is_some() => "Fastest mix",
        (_, Op::Write) if is_to_page_cache(&best.cell) => "Fastest write to the page cache",
        (_, Op::Write) => "Fastest write",
        _ if answer.also.is_empty() => "Fastest",
        _ => "Fastest read",
    };
    let (cell, figure) = (names.full(&best.cell), figure(best));
    if best.provisional && best.wrong.is_none() {
        let what = what.replacen("Fastest", "Highest", 1);
        return format!("{what} so far: {cell}, about {figure}; too few trials to rank.");
    }
    let mut text = match best.no_difference.as_slice() {
        [] => format!("{what}: {cell}, {figure}"),
        _ => format!("{what}: {}", describe_tied(results, best, names)),
    };
    if let Some(why) = &best.wrong {
        text += &format!(", but this figure is wrong, as are all others: {}", phrase(why));
    }
    text + "."
}

/// Returns the range of the best cell and of cells that do not differ from it, with what they have
/// in common: `28.7 to 30.1 GiB/s with mmap, warm, whatever the block size`.
fn describe_tied(results: &[CellResult], best: &Best, names: &CellNames) -> String {
    let tied: Vec<&Job> = std::iter::once(&best.cell).chain(&best.no_difference).collect();
    let rates = results.iter().filter(|result| tied.contains(&&result.cell)).filter_map(|result| {
        let of = if best.throughput.is_some() { result.throughput } else { result.operations };
        Some(of?.summary.median)
    });
    let (low, high) = rates.fold((f64::INFINITY, 0.0_f64), |(low, high), rate_of| {
        (low.min(rate_of), high.max(rate_of))
    });
    let range = join_range(&rate(best, low), &rate(best, high));
    if let Some(shared) = names.combined(&tied, results.iter().map(|result| &result.cell)) {
        let alike = best.alike.len() == best.no_difference.len();
        let how = if alike { "equally fast" } else { "no difference shows" };
        return format!("{range}{shared}; {how}");
    }
    let listed: Vec<String> = tied.iter().take(MAX_NAMED).map(|job| names.full(job)).collect();
    let listed = join_names(&listed, tied.len(), "; ");
    format!("{range}; no difference shows between {listed}")
}

/// Names the highest figure that is marked wrong and was therefore not compared.
fn describe_wrong(results: &[CellResult], answer: &Answer, names: &CellNames) -> Option<String> {
    if answer.best.iter().chain(&answer.also).any(|best| best.wrong.is_some()) {
        return None;
    }
    let median =
        |result: &CellResult| result.throughput.or(result.operations).map(|of| of.summary.median);
    let left_out: Vec<(&CellResult, f64)> = results
        .iter()
        .filter(|result| result.wrong().is_some())
        .filter_map(|result| Some((result, median(result)?)))
        .collect();
    let (top, _) = left_out.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let figure = match &top.throughput {
        Some(throughput) => units::show_rate(throughput.summary.median),
        None => per_second(top.operations?.summary.median),
    };
    let more = match left_out.len() - 1 {
        0 => String::new(),
        more => format!(" {} {} wrong.", counted(more, "more result"), verb(more, "is", "are")),
    };
    let why = phrase(&top.wrong()?.message);
    Some(format!("Excluded: {}, {figure}, which is wrong: {why}.{more}", names.full(&top.cell)))
}

/// Chooses the curves worth a sentence: the fastest of each backend, warm ones if there are any.
fn choose_curves(knees: &[Knee]) -> (Option<Cache>, Vec<&Knee>) {
    let states: Vec<Cache> = Cache::ALL
        .iter()
        .copied()
        .filter(|state| knees.iter().any(|knee| knee.cell.cache == *state))
        .collect();
    let state =
        if states.contains(&Cache::Warm) { Some(Cache::Warm) } else { states.first().copied() };
    let mut sorted: Vec<&Knee> =
        knees.iter().filter(|knee| Some(knee.cell.cache) == state).collect();
    sorted.sort_by(|a, b| b.peak.total_cmp(&a.peak));
    let mut chosen: Vec<&Knee> = Vec::new();
    for knee in sorted {
        let same = |known: &&Knee| {
            (&known.cell.backend, known.cell.target) == (&knee.cell.backend, knee.cell.target)
        };
        if !chosen.iter().any(same) {
            chosen.push(knee);
        }
    }
    (state.filter(|_| states.len() > 1), chosen)
}

/// Returns `Warm: read needs 256 KiB to come within 5 % of its peak, mmap 32 KiB.`
fn describe_knees(knees: &[Knee], names: &CellNames) -> Option<String> {
    let (state, chosen) = choose_curves(knees);
    let (rising, settled): (Vec<&Knee>, Vec<&Knee>) =
        chosen.into_iter().take(MAX_NAMED).partition(|knee| knee.rising);
    let name = |knee: &Knee| names.curve(&knee.cell, knee.axis);
    let mut needs = Vec::new();
    for knee in settled {
        let Some(size) = describe_size(knee) else { continue };
        // A size that ends in a clause needs a closing comma.
        let close = if size.contains(',') { "," } else { "" };
        needs.push(match needs.len() {
            0 => format!("{} needs {size}{close} to come within 5 % of its peak", name(knee)),
            _ => format!("{} {size}", name(knee)),
        });
    }
    let mut clauses: Vec<String> = Vec::new();
    clauses.extend((!needs.is_empty()).then(|| needs.join(", ")));
    clauses.extend(describe_rising(&rising, names));
    let state = state.map(|state| match state {
        Cache::Cold => "Cold: ",
        Cache::Warm => "Warm: ",
        Cache::AsIs => "Cache as is: ",
    });
    (!clauses.is_empty()).then(|| format!("{}{}.", state.unwrap_or_default(), clauses.join("; ")))
}

/// Returns `uring and mmap still gain at 2 MiB, the largest tried`, one for each largest value.
fn describe_rising(rising: &[&Knee], names: &CellNames) -> Vec<String> {
    let end = |knee: &Knee| match knee.larger_skipped {
        Some(larger) => {
            let (largest, larger) = (knee.axis.show(knee.largest), knee.axis.show(larger));
            format!("{largest}, the largest measured ({larger} was not)")
        }
        None => format!("{}, the largest tried", knee.axis.show(knee.largest)),
    };
    let of_same_largest = rising.chunk_by(|a, b| end(a) == end(b));
    of_same_largest
        .map(|knees| {
            let names: Vec<String> =
                knees.iter().map(|knee| names.curve(&knee.cell, knee.axis)).collect();
            let verb = if names.len() == 1 { "gains" } else { "gain" };
            format!("{} still {verb} at {}", join_names(&names, names.len(), "; "), end(knees[0]))
        })
        .collect()
}

/// Describes how much a curve needs, as precisely as its trials show it. `None` if they neither
/// rule out a smaller value nor show that the smallest is enough.
fn describe_size(knee: &Knee) -> Option<String> {
    let show = |value| knee.axis.show(value);
    let least = knee.least?;
    if least == knee.smallest {
        let word = if knee.smaller_skipped.is_some() { "measured" } else { "tried" };
        let text = format!("no more than {}, the smallest {word}", show(least));
        return (knee.most == Some(least)).then_some(text);
    }
    Some(match knee.most {
        Some(most) if most == least => show(least),
        Some(most) => format!("{} to {}", show(least), show(most)),
        None => format!("at least {}", show(least)),
    })
}

/// Makes the first letter a capital.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// Ends the text with a full stop unless it has one.
pub fn end_sentence(body: &str) -> String {
    let body = body.trim();
    if body.is_empty() || body.ends_with(['.', '!', '?']) {
        body.into()
    } else {
        format!("{body}.")
    }
}

/// Returns `Warm is 9.8x as fast as cold: the device reaches 2.70 GiB/s from 128 KiB on.` It
/// reaches more where a cell that was not measured warm is faster, or where the CPU takes the time.
fn describe_cold(cost: &ColdCost) -> String {
    let is_device = cost.device && cost.fastest && !cost.cpu;
    let gives = if is_device { "the device reaches" } else { "cold reaches" };
    let rate = units::show_rate(cost.throughput);
    let from = match cost.from {
        Some(from) if from != cost.cold.block => format!(" from {} on", units::show_bytes(from)),
        _ => format!(" at {}", describe_best(&cost.cold)),
    };
    let cpu = if cost.cpu { ", where the CPU takes the time, not the device" } else { "" };
    format!("{}: {gives} {rate}{from}{cpu}.", capitalize(&cost.describe()))
}

fn describe_best(job: &Job) -> String {
    format!("{} with {}", units::show_bytes(job.block), job.backend)
}

/// Reports steps of several cells at the same time: then something that all of them share changed.
fn describe_common_step(results: &[CellResult]) -> Option<String> {
    let large = results
        .iter()
        .filter_map(|result| result.level_change.as_ref())
        .filter(|change| change.is_large());
    let windows: Vec<(bool, (u64, u64))> =
        large.filter_map(|change| Some((change.is_drop(), change.step_window()?))).collect();
    let at = |(fell, (from, _)): &(bool, (u64, u64))| {
        let holds = |(other, (begin, end)): &&(bool, (u64, u64))| {
            other == fell && begin <= from && from <= end
        };
        windows.iter().filter(holds).collect::<Vec<_>>()
    };
    let most = windows
        .iter()
        .map(at)
        .max_by_key(Vec::len)
        .filter(|most| most.len() > 1 && 2 * most.len() > windows.len())?;
    let (from, to) = most
        .iter()
        .fold((0, u64::MAX), |(from, to), (_, (begin, end))| (from.max(*begin), to.min(*end)));
    let way = if most[0].0 { "fell" } else { "rose" };
    fn seconds(nanos: u64) -> String {
        format!("{:.1} s", nanos as f64 / 1e9)
    }
    Some(format!(
        "{} of {} cells {way} at the same time, {} to {} after the start: the machine or the device changed, not the workload.",
        most.len(),
        results.len(),
        seconds(from),
        seconds(to)
    ))
}

fn describe_few_trials(results: &[CellResult]) -> Option<String> {
    fn summary(result: &CellResult) -> Option<Summary> {
        Some(result.throughput.or(result.operations)?.summary)
    }
    let without =
        results.iter().filter_map(summary).filter(|summary| summary.low.is_none()).count();
    match without {
        0 => None,
        all if all == results.len() => {
            Some("Fewer than 5 trials each: differences may be due to chance.".into())
        }
        some => {
            let what = match results.iter().any(CellResult::is_unfinished) {
                true => format!(" and {} not ranked", verb(some, "is", "are")),
                false => {
                    format!(": {} differences may be due to chance", verb(some, "its", "their"))
                }
            };
            let (cells, have) = (counted(some, "cell"), verb(some, "has", "have"));
            Some(format!("{cells} {have} fewer than 5 trials{what}."))
        }
    }
}

pub fn describe_failures(results: &[CellResult], names: &CellNames) -> Option<String> {
    let failed: Vec<(&Job, &String)> =
        results.iter().filter_map(|result| Some((&result.cell, result.error.as_ref()?))).collect();
    match failed[..] {
        [] => None,
        [(job, error)] => Some(format!("{} failed: {}.", names.full(job), phrase(error))),
        [(job, error), ..] => Some(format!(
            "{} cells failed; the first was {}: {}.",
            failed.len(),
            names.full(job),
            phrase(error)
        )),
    }
}
