//! The answer: facts and sentences.

use serde::Serialize;

use super::best::Best;
use super::cold::ColdCost;
use super::effect::Effect;
use super::series::Knee;
use super::targets::{TargetRatio, describe_targets};
use crate::analysis::{CellNames, CellResult, Network, PickedMethod, SummaryOf};
use crate::plan::{Cache, Job, Op, Sync};
use crate::stats::Summary;
use crate::text::clean_text;
use crate::units::{self, Precision, counted, join_names, join_range, verb};

/// The answer of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
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
    /// The levels of long trials whose rate changed, and stalls, in a sentence each.
    #[serde(skip)]
    pub courses: Vec<String>,
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
            let bytes = best.throughput.is_some();
            let [first, last] = [first, last].map(|level| {
                let precision = Precision::of(level.summary.half_width());
                show_rate(level.summary.median, precision, bytes)
            });
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

/// Returns a rate in the unit of the best, with the digits that its interval allows.
fn rate(best: &Best, value: f64) -> String {
    show_rate(value, best.precision(), best.throughput.is_some())
}

/// Returns bytes per second, or operations per second.
pub fn show_rate(value: f64, precision: Precision, bytes: bool) -> String {
    match bytes {
        true => precision.rate(value),
        false => format!("{} operations/s", precision.count(value)),
    }
}

fn figure(best: &Best) -> String {
    match (&best.throughput, &best.operations) {
        (Some(throughput), _) => rate(best, throughput.summary.median),
        (None, Some(operations)) if operations.summary.median > 0.0 => {
            let each = 1e9 * f64::from(best.cell.all_threads()) / operations.summary.median;
            let each = best.precision().nanos(each);
            format!("{} ({each} each)", rate(best, operations.summary.median))
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
        let kind = what.trim_start_matches("Fastest").trim_start();
        let kind = if kind.is_empty() { String::new() } else { format!(" at the {kind}") };
        let trials = units::show_trials(best.trials);
        return format!("First look{kind} ({trials}): {cell}, about {figure}.");
    }
    let mut text = match best.no_difference.as_slice() {
        [] => format!("{what}: {cell}, {figure}"),
        _ => format!("{what}: {}", describe_tied(results.iter(), best, names)),
    };
    if let Some(why) = &best.wrong {
        text += &format!(", but this figure is wrong, as are all others: {}", phrase(why));
    }
    text + "."
}

/// Returns the range of the best cell and of cells that do not differ from it, with what they have
/// in common: `28.7 to 30.1 GiB/s with mmap, warm, whatever the block size`.
pub fn describe_tied<'a>(
    results: impl Iterator<Item = &'a CellResult> + Clone,
    best: &Best,
    names: &CellNames,
) -> String {
    let tied: Vec<&Job> = std::iter::once(&best.cell).chain(&best.no_difference).collect();
    let bytes = best.throughput.is_some();
    let own = results.clone().filter(|result| tied.contains(&&result.cell));
    let rates = own.filter_map(|of| if bytes { of.throughput } else { of.operations });
    let mut precision = best.precision();
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for SummaryOf { summary, .. } in rates {
        precision = precision.max(Precision::of(summary.half_width()));
        (low, high) = (low.min(summary.median), high.max(summary.median));
    }
    let [low, high] = [low, high].map(|rate| show_rate(rate, precision, bytes));
    let range = join_range(&low, &high);
    if let Some(shared) = names.combined(&tied, results.map(|result| &result.cell)) {
        let alike = best.alike.len() == best.no_difference.len();
        let how = if alike { "equally fast" } else { "no difference shows" };
        return format!("{range}{shared}; {how}");
    }
    let listed: Vec<String> = tied.iter().take(MAX_NAMED).map(|job| names.full(job)).collect();
    let listed = join_names(&listed, tied.len(), "; ");
    format!("{range}; no difference shows between {listed}")
}

/// Names the highest figure that is marked wrong and was therefore not compared.
pub fn describe_wrong(
    results: &[CellResult],
    answer: &Answer,
    names: &CellNames,
) -> Option<String> {
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
    let SummaryOf { summary, .. } = top.throughput.or(top.operations)?;
    let precision = Precision::of(summary.half_width());
    let figure = show_rate(summary.median, precision, top.throughput.is_some());
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

/// Returns `Warm: no more than 5 % to gain with read from 256 KiB on, mmap from 32 KiB on.`
fn describe_knees(knees: &[Knee], names: &CellNames) -> Option<String> {
    let (state, chosen) = choose_curves(knees);
    let (rising, settled): (Vec<&Knee>, Vec<&Knee>) =
        chosen.into_iter().take(MAX_NAMED).partition(|knee| knee.rising);
    let name = |knee: &Knee| names.curve(&knee.cell, knee.axis);
    let mut needs = Vec::new();
    for knee in settled {
        needs.extend(describe_size(knee).map(|size| format!("{} from {size} on", name(knee))));
    }
    let mut clauses: Vec<String> = Vec::new();
    let list = needs.join(", ");
    let no = if state.is_some() { "no" } else { "No" };
    clauses.extend((!needs.is_empty()).then(|| format!("{no} more than 5 % to gain with {list}")));
    clauses.extend(describe_rising(&rising, names));
    let state = state.map(|state| match state {
        Cache::Cold => "Cold: ",
        Cache::Warm => "Warm: ",
        Cache::AsIs => "Cache as is: ",
    });
    (!clauses.is_empty()).then(|| format!("{}{}.", state.unwrap_or_default(), clauses.join("; ")))
}

/// Returns `uring and mmap were still getting faster at 2 MiB, the largest tried`, one for each
/// largest value.
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
            let (verb, end) = (verb(names.len(), "was", "were"), end(knees[0]));
            let names = join_names(&names, names.len(), "; ");
            format!("{names} {verb} still getting faster at {end}")
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
        let text = format!("{} (the smallest {word})", show(least));
        return (knee.most == Some(least)).then_some(text);
    }
    Some(match knee.most {
        Some(most) if most == least => show(least),
        Some(most) => join_range(&show(least), &show(most)),
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

/// Returns `Warm is 9.8x as fast as cold: the disk delivers 2.70 GiB/s from 128 KiB on.` It
/// reaches more where a cell that was not measured warm is faster, or where the CPU takes the time.
fn describe_cold(cost: &ColdCost) -> String {
    let is_device = cost.device && cost.fastest && !cost.cpu;
    let gives = if is_device { "the disk delivers" } else { "cold reaches" };
    let rate = cost.precision.rate(cost.throughput);
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
        // A first look says so itself.
        all if all == results.len() && results.iter().any(CellResult::is_unfinished) => None,
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
