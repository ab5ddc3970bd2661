//! Ratios of speeds in words.

use std::cmp::Ordering;

use crate::analysis::compare::TOLERANCE;
use crate::stats::Ratio;

/// What a ratio of speeds shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// It lies within 5 %, interval included.
    Alike,
    /// Its interval contains 1.
    Open,
    Differs,
}

impl Finding {
    pub fn of(ratio: &Ratio) -> Finding {
        if ratio.is_alike(TOLERANCE) {
            Finding::Alike
        } else if ratio.verdict() == Some(Ordering::Equal) {
            Finding::Open
        } else {
            Finding::Differs
        }
    }
}

/// Returns `9.8x`, `12x`, `1.04x`.
pub fn times(ratio: f64) -> String {
    match ratio {
        10.0.. => format!("{ratio:.0}x"),
        1.1.. => format!("{ratio:.1}x"),
        _ => format!("{ratio:.2}x"),
    }
}

/// Returns `other is 2.1x [1.9-2.3] as fast as base`, with the verb in the present and the past, or
/// that there is no difference; the interval only if `exact`.
pub fn times_as_fast(
    (other, base): (&str, &str),
    ratio: &Ratio,
    [now, then]: [&str; 2],
    exact: bool,
) -> String {
    match Finding::of(ratio) {
        Finding::Alike => return format!("no difference between {other} and {base}"),
        Finding::Open => {
            return format!("these trials cannot distinguish {other} from {base}");
        }
        Finding::Differs => {}
    }
    let (fast, slow, ratio) =
        if ratio.ratio < 1.0 { (base, other, ratio.inverse()) } else { (other, base, *ratio) };
    fn end(value: f64) -> String {
        times(value).trim_end_matches('x').to_string()
    }
    let ratio_is = times(ratio.ratio);
    match ratio.interval() {
        Some(_) if !exact => format!("{fast} {now} {ratio_is} as fast as {slow}"),
        Some((low, high)) => {
            format!("{fast} {now} {ratio_is} [{}-{}] as fast as {slow}", end(low), end(high))
        }
        None => format!("in these few trials {fast} {then} {ratio_is} as fast as {slow}"),
    }
}
