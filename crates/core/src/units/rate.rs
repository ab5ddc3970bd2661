//! The unit of throughput that `--unit` selects.

use std::fmt;
use std::str::FromStr;

use super::column::{RATE, Unit};

/// The units of throughput that a table, an axis or a plot chooses from: the requested one,
/// otherwise all binary units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates(&'static [Unit]);

macro_rules! single_units {
    ($($factor:expr, $name:literal);+ $(;)?) => { [$(Rates(&[($factor, $name)])),+] };
}

/// All units that can be requested.
const UNITS: [Rates; 9] = single_units! {
    1.0, "B/s";
    1024.0, "KiB/s"; 1_048_576.0, "MiB/s"; 1_073_741_824.0, "GiB/s"; 1_099_511_627_776.0, "TiB/s";
    1e3, "kB/s"; 1e6, "MB/s"; 1e9, "GB/s"; 1e12, "TB/s";
};

const AUTO: &str = "auto";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a unit of throughput: use auto, B/s, KiB/s, MiB/s, GiB/s, TiB/s, kB/s, MB/s, GB/s or TB/s"
)]
pub struct UnknownUnit(String);

impl Default for Rates {
    fn default() -> Rates {
        Rates(RATE)
    }
}

impl Rates {
    /// Returns the units to choose from.
    pub fn units(self) -> &'static [Unit] {
        self.0
    }

    /// Formats a rate with its unit: `2.71 GiB/s`, or in the requested unit.
    pub fn show(self, bytes_per_second: f64) -> String {
        match self.0 {
            [(factor, name)] => {
                format!("{} {name}", super::column::figure(bytes_per_second / factor))
            }
            _ => super::show_rate(bytes_per_second),
        }
    }

    /// Lists the values of `--unit`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once(AUTO).chain(UNITS.iter().map(|unit| unit.0[0].1))
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if let [(_, name)] = self.0 { name } else { AUTO })
    }
}

impl FromStr for Rates {
    type Err = UnknownUnit;

    /// Parses `MiB/s`, `mib` or `auto`; `MB/s` is a power of 1000, `MiB/s` one of 1024.
    fn from_str(text: &str) -> Result<Rates, UnknownUnit> {
        let name = text.trim().to_ascii_lowercase();
        let name = name.strip_suffix("/s").unwrap_or(&name);
        if name == AUTO {
            return Ok(Rates::default());
        }
        UNITS
            .iter()
            .find(|unit| unit.0[0].1.trim_end_matches("/s").eq_ignore_ascii_case(name))
            .copied()
            .ok_or_else(|| UnknownUnit(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_unit() {
        for name in Rates::names() {
            assert_eq!(name.parse::<Rates>().unwrap().to_string(), name);
        }
        assert_eq!("mib".parse::<Rates>().unwrap().units(), [(1_048_576.0, "MiB/s")]);
        assert_eq!("MB/s".parse::<Rates>().unwrap().units(), [(1e6, "MB/s")]);
        for invalid in ["", "M", "MiB/h", "bits", "/s"] {
            assert!(invalid.parse::<Rates>().is_err(), "{invalid}");
        }
    }

    #[test]
    fn shows_the_requested_unit() {
        let show = |unit: &str, rate| unit.parse::<Rates>().unwrap().show(rate);
        assert_eq!(
            [show("auto", 3.5e9), show("GB/s", 3.5e9), show("MiB/s", 3.5e9)],
            ["3.26 GiB/s", "3.50 GB/s", "3338 MiB/s"]
        );
    }
}
