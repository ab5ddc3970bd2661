//! The unit in which throughput is shown, as `--unit` names it.

use std::fmt;
use std::str::FromStr;

use super::column::{RATE, Unit};

/// The units of throughput that a table, an axis or a plot chooses from: one where it was asked
/// for, else every binary one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates(&'static [Unit]);

macro_rules! one {
    ($($factor:expr, $name:literal);+ $(;)?) => { [$(Rates(&[($factor, $name)])),+] };
}

/// Every unit that can be asked for.
const UNITS: [Rates; 9] = one! {
    1.0, "B/s";
    1024.0, "KiB/s"; 1_048_576.0, "MiB/s"; 1_073_741_824.0, "GiB/s"; 1_099_511_627_776.0, "TiB/s";
    1e3, "kB/s"; 1e6, "MB/s"; 1e9, "GB/s"; 1e12, "TB/s";
};

const AUTO: &str = "auto";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no unit of throughput: write auto, B/s, KiB/s, MiB/s, GiB/s, TiB/s, kB/s, MB/s, GB/s or TB/s"
)]
pub struct NoRate(String);

impl Default for Rates {
    fn default() -> Rates {
        Rates(RATE)
    }
}

impl Rates {
    pub fn units(self) -> &'static [Unit] {
        self.0
    }

    /// A rate with its unit: `2.71 GiB/s`, or in the unit that was asked for.
    pub fn show(self, bytes_per_second: f64) -> String {
        match self.0 {
            [(factor, name)] => {
                format!("{} {name}", super::column::figure(bytes_per_second / factor))
            }
            _ => super::show_rate(bytes_per_second),
        }
    }

    /// What `--unit` takes.
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
    type Err = NoRate;

    /// `MiB/s`, `mib` or `auto`; `MB/s` is a power of 1000 and `MiB/s` one of 1024.
    fn from_str(text: &str) -> Result<Rates, NoRate> {
        let asked = text.trim().to_ascii_lowercase();
        let asked = asked.strip_suffix("/s").unwrap_or(&asked);
        if asked == AUTO {
            return Ok(Rates::default());
        }
        let known = UNITS
            .iter()
            .find(|unit| unit.0[0].1.trim_end_matches("/s").eq_ignore_ascii_case(asked));
        known.copied().ok_or_else(|| NoRate(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_the_unit_that_it_shows() {
        for name in Rates::names() {
            assert_eq!(name.parse::<Rates>().unwrap().to_string(), name);
        }
        assert_eq!("mib".parse::<Rates>().unwrap().units(), [(1_048_576.0, "MiB/s")]);
        assert_eq!("MB/s".parse::<Rates>().unwrap().units(), [(1e6, "MB/s")]);
        for none in ["", "M", "MiB/h", "bits", "/s"] {
            assert!(none.parse::<Rates>().is_err(), "{none}");
        }
    }

    #[test]
    fn a_rate_is_shown_in_the_unit_that_was_asked_for() {
        let show = |unit: &str, rate| unit.parse::<Rates>().unwrap().show(rate);
        assert_eq!(
            [show("auto", 3.5e9), show("GB/s", 3.5e9), show("MiB/s", 3.5e9)],
            ["3.26 GiB/s", "3.50 GB/s", "3338 MiB/s"]
        );
    }
}
