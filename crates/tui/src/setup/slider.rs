//! Block sizes as a band on a scale of powers of two from 1 B to 128 MiB.

use crate::plan::Range;
use crate::units::{parse_bytes, parse_count, short_bytes};

/// Power of two at the end of the scale.
pub const MAX_POWER: u32 = 27;
const MAX_SIZE: u64 = 1 << MAX_POWER;
/// Largest factor between neighbouring sizes.
const MAX_FACTOR: u64 = 1 << 10;

/// The end that the left and right keys move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BandEnd {
    Low,
    #[default]
    High,
}

impl BandEnd {
    pub fn opposite(self) -> BandEnd {
        match self {
            BandEnd::Low => BandEnd::High,
            BandEnd::High => BandEnd::Low,
        }
    }
}

/// A range `low..high*factor`, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    pub low: u64,
    pub high: u64,
    pub factor: u64,
}

impl Band {
    /// Returns the band that the text of a range describes, such as `4k..1m*2`; for a list of
    /// values the one from the smallest to the largest. Both ends are measured.
    pub fn from_range(range: &Range) -> Band {
        let band = parse_band(&range.text).filter(|band| band.reaches_high());
        band.unwrap_or_else(|| {
            let (low, high) = (range.values.iter().min(), range.values.iter().max());
            Band {
                low: low.copied().unwrap_or(1).max(1),
                high: high.copied().unwrap_or(1).max(1),
                factor: common_factor(&range.values),
            }
        })
    }

    /// Returns the band as a RANGE of the command line, which includes both ends.
    pub fn to_text(self) -> String {
        let (low, high) = (short_bytes(self.low), short_bytes(self.high));
        match self.factor {
            _ if self.low == self.high => low,
            _ if !self.reaches_high() => Range::list(&self.values()).text,
            2 => format!("{low}..{high}"),
            factor => format!("{low}..{high}*{factor}"),
        }
    }

    /// Returns the sizes that are measured: the factor apart, and both ends.
    fn values(self) -> Vec<u64> {
        let mut values = Vec::new();
        let mut value = self.low.max(1);
        while value < self.high {
            values.push(value);
            value = value.saturating_mul(self.factor.max(2));
        }
        values.push(self.high);
        values
    }

    /// Returns whether the steps from the low end meet the high end.
    fn reaches_high(self) -> bool {
        let mut value = self.low.max(1);
        while value < self.high {
            value = value.saturating_mul(self.factor.max(2));
        }
        value == self.high
    }

    /// Moves an end to the next power of two; `None` if it cannot move.
    pub fn move_end(self, end: BandEnd, right: bool) -> Option<Band> {
        let band = match end {
            BandEnd::Low => Band { low: step(self.low, right), ..self },
            BandEnd::High => Band { high: step(self.high, right), ..self },
        };
        (band != self && band.low <= band.high).then_some(band)
    }

    /// Moves an end to a power of two, stopping at the other end.
    pub fn set_end(self, end: BandEnd, power: u32) -> Band {
        let size = 1 << power.min(MAX_POWER);
        match end {
            BandEnd::Low => Band { low: self.high.min(size), ..self },
            BandEnd::High => Band { high: self.low.max(size), ..self },
        }
    }

    /// Doubles or halves the factor between sizes; `None` outside the limits.
    pub fn spread(self, wider: bool) -> Option<Band> {
        let factor = if wider { self.factor.saturating_mul(2) } else { self.factor / 2 };
        (2..=MAX_FACTOR).contains(&factor).then_some(Band { factor, ..self })
    }

    /// Returns the end nearer to a position on the scale.
    pub fn nearest_end(&self, power: f64) -> BandEnd {
        let away = |value: u64| (position(value) - power).abs();
        if away(self.low) < away(self.high) || (self.low == self.high && power < position(self.low))
        {
            BandEnd::Low
        } else {
            BandEnd::High
        }
    }
}

/// Returns the position of a size on the scale, as a power of two.
pub fn position(value: u64) -> f64 {
    (value.max(1) as f64).log2().clamp(0.0, MAX_POWER.into())
}

fn step(value: u64, right: bool) -> u64 {
    if !right {
        next_power(value, false).clamp(1, MAX_SIZE)
    } else if value < MAX_SIZE {
        next_power(value, true)
    } else {
        value
    }
}

/// Returns the next power of two above a value, or below it; 0 below 1.
pub fn next_power(value: u64, up: bool) -> u64 {
    if up {
        value.saturating_add(1).checked_next_power_of_two().unwrap_or(value)
    } else if value.is_power_of_two() {
        value / 2
    } else {
        value.checked_next_power_of_two().map_or(1 << 63, |power| power / 2)
    }
}

fn parse_band(text: &str) -> Option<Band> {
    if text.contains([',', '+']) {
        return None;
    }
    let (low, rest) = text.split_once("..")?;
    let (high, factor) =
        rest.split_once('*').map_or((rest, Ok(2)), |(high, factor)| (high, parse_count(factor)));
    Some(Band { low: parse_bytes(low).ok()?, high: parse_bytes(high).ok()?, factor: factor.ok()? })
        .filter(|band| band.low > 0)
}

/// Returns the power of two between neighbouring values if it is the same for all, else 2. The last
/// may be nearer: an end is measured wherever it is.
fn common_factor(values: &[u64]) -> u64 {
    let first = match values {
        [a, b, ..] if *a > 0 && b > a && b.is_multiple_of(*a) => b / a,
        _ => return 2,
    };
    let last = values.len() - 2;
    let even = values.windows(2).enumerate().all(|(at, pair)| match pair[0].checked_mul(first) {
        Some(next) if at == last => pair[0] < pair[1] && pair[1] <= next,
        next => next == Some(pair[1]),
    });
    if even && first.is_power_of_two() && (2..=MAX_FACTOR).contains(&first) { first } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RangeOf;
    use proptest::prelude::*;

    fn band(text: &str) -> Band {
        Band::from_range(&Range::parse(text, RangeOf::Bytes).unwrap())
    }

    #[test]
    fn bands_keep_the_text_of_ranges() {
        for (text, shown) in [
            ("4k", "4k"),
            ("1k..8m", "1k..8m"),
            ("1k..8m*4", "1k..4m*4"),
            ("4k,32k,256k,2m", "4k..2m*8"),
            ("512,4k,1m", "512..1m"),
            ("1..9+2", "1,2,4,8,9"),
            ("3k..8k", "3k..6k"),
            // `4k..1m*8` measures up to 256k; a list keeps an end that is nearer.
            ("4k..1m*8", "4k..256k*8"),
            ("4k,32k,256k,1m", "4k,32k,256k,1m"),
        ] {
            assert_eq!(band(text).to_text(), shown, "{text}");
        }
    }

    #[test]
    fn ends_move_by_powers_of_two() {
        for (text, end, right, wanted) in [
            ("4k..1m", BandEnd::Low, false, Some("2k..1m")),
            ("4k..1m", BandEnd::High, true, Some("4k..2m")),
            ("4k,32k,256k,2m", BandEnd::High, true, Some("4k,32k,256k,2m,4m")),
            ("4k", BandEnd::High, true, Some("4k..8k")),
            ("4k", BandEnd::Low, true, None),
            ("1..128m", BandEnd::High, true, None),
            ("1..128m", BandEnd::Low, false, None),
            ("4k,32k,256k,2m", BandEnd::High, false, Some("4k,32k,256k,1m")),
            ("4k,32k,256k,2m", BandEnd::Low, true, Some("8k,64k,512k,2m")),
            ("3k..6k", BandEnd::Low, true, Some("4k,6k")),
            ("3k..6k", BandEnd::Low, false, Some("2k,4k,6k")),
            ("1m..1g", BandEnd::High, false, Some("1m..128m")),
        ] {
            assert_eq!(
                band(text).move_end(end, right).map(|b| b.to_text()).as_deref(),
                wanted,
                "{text} {end:?} {right}"
            );
        }
        assert_eq!(band("4k..1m").spread(true).map(|b| b.to_text()).as_deref(), Some("4k..1m*4"));
        assert_eq!(band("4k..1m").spread(false), None);
        assert_eq!(band("4k..1m").set_end(BandEnd::High, 5).to_text(), "4k");
        assert_eq!(band("4k..1m").nearest_end(13.0), BandEnd::Low);
    }

    proptest! {
        #[test]
        fn moves_yield_ranges_that_parse(
            low in 0u32..28,
            high in 0u32..28,
            moves in proptest::collection::vec(0u8..6, 0..60),
        ) {
            let mut band = Band { low: 1 << low.min(high), high: 1 << low.max(high), factor: 2 };
            for step in moves {
                let next = match step {
                    0 => band.move_end(BandEnd::Low, false),
                    1 => band.move_end(BandEnd::Low, true),
                    2 => band.move_end(BandEnd::High, false),
                    3 => band.move_end(BandEnd::High, true),
                    4 => band.spread(true),
                    _ => band.spread(false),
                };
                band = next.unwrap_or(band);
                let range = Range::parse(&band.to_text(), RangeOf::Bytes).unwrap();
                prop_assert!(range.values.iter().all(|v| (1..=MAX_SIZE).contains(v)));
                // Both ends are always measured.
                prop_assert_eq!(range.values.first(), Some(&band.low));
                prop_assert_eq!(range.values.last(), Some(&band.high));
            }
        }
    }
}
