//! Figures computed again from the trials, and read from sentences.

use std::sync::Arc;

use crate::analysis::CellResult;
use crate::record::{Severity, Trial};
use crate::stats::median;
use crate::units::parse_bytes;

/// Fewer pairs are not counted.
const MIN_PAIRS: usize = 7;

/// The rates of the rounds that both have.
pub fn pairs(of: &CellResult, base: &CellResult) -> Vec<f64> {
    let rate = |result: &CellResult, trial: &Trial| {
        if result.throughput.is_some() { trial.throughput() } else { trial.operations() }
    };
    let find = |round| base.trials.iter().find(|trial| trial.round == round && !trial.short);
    let complete = of.trials.iter().filter(|trial| !trial.short);
    let ratio = |trial: &Arc<Trial>| Some(rate(of, trial) / rate(base, find(trial.round)?));
    complete.filter_map(ratio).filter(|ratio| ratio.is_finite()).collect()
}

/// Returns how many times as fast one cell is as another: the median pair, or the medians.
pub fn times(of: &CellResult, base: &CellResult) -> Option<f64> {
    let pairs = pairs(of, base);
    if pairs.len() >= MIN_PAIRS { median(&pairs) } else { Some(rate(of)? / rate(base)?) }
}

/// The median of the counted trials.
pub fn rate(result: &CellResult) -> Option<f64> {
    median(&result.speeds())
}

pub fn is_sound(result: &CellResult) -> bool {
    result.error.is_none() && !result.warnings.iter().any(|w| w.severity == Severity::Wrong)
}

pub fn first_number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// Returns bytes per second of the first rate of a text.
pub fn first_rate(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    bytes(words.next()?, words.next()?)
}

/// Returns bytes per second of the rate that a text ends with.
pub fn last_rate(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace().rev();
    let unit = words.next()?;
    bytes(words.next()?, unit)
}

fn bytes(number: &str, unit: &str) -> Option<f64> {
    let one = unit.trim_end_matches([',', '.', ';', ')']).strip_suffix("/s")?;
    Some(number.parse::<f64>().ok()? * parse_bytes(&format!("1{one}")).ok()? as f64)
}
