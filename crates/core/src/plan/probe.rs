//! A cell of a probe: which operating-system measurement, with which parameters.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units;

/// One probe with its parameters, which in JSON are next to its name:
/// `{"probe":"call","arguments":3}`.
///
/// Cells with the same id and parameters are the same measurement, in every session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProbeCell {
    /// Id of a probe in its registry. An older or newer iotui may know others.
    pub probe: String,
    #[serde(flatten)]
    pub params: BTreeMap<String, Param>,
}

/// The value of a parameter. Sizes in bytes, times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Param {
    Flag(bool),
    Number(u64),
    Text(String),
}

impl From<u64> for Param {
    fn from(value: u64) -> Param {
        Param::Number(value)
    }
}

impl From<bool> for Param {
    fn from(value: bool) -> Param {
        Param::Flag(value)
    }
}

impl From<&str> for Param {
    fn from(value: &str) -> Param {
        Param::Text(value.into())
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Param::Flag(value) => f.write_str(if *value { "yes" } else { "no" }),
            Param::Number(value) => write!(f, "{value}"),
            Param::Text(value) => f.write_str(value),
        }
    }
}

/// The value that a cell without the parameter has, if others of its probe have the parameter: its
/// line shows it too. Not part of its identity.
const UNSAID: &[(&str, &str, u64)] =
    &[("net-bandwidth", "bytes", 1 << 20), ("pipe", "bytes", 64 << 10)];

impl ProbeCell {
    pub fn new(probe: &str, params: impl IntoIterator<Item = (&'static str, Param)>) -> ProbeCell {
        ProbeCell {
            probe: probe.into(),
            params: params.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        }
    }

    /// Returns the parameters for one line: `arguments 3, path libc`, a size by itself; empty where
    /// there are none.
    pub fn parameters(&self) -> String {
        self.join_parameters(|name, value| format!("{name} {value}"))
    }

    /// Returns the same where there is little room: `arguments 3, libc`. A word says by itself what
    /// it is, but for that of the CPUs.
    pub fn short_parameters(&self) -> String {
        self.join_parameters(|name, value| match value {
            Param::Flag(true) => name.into(),
            Param::Text(word) if name != "cpus" => word.clone(),
            value => format!("{name} {value}"),
        })
    }

    fn join_parameters(&self, shown: impl Fn(&str, &Param) -> String) -> String {
        let mut params = self.params.clone();
        for (_, name, value) in UNSAID.iter().filter(|(probe, ..)| *probe == self.probe) {
            params.entry((*name).into()).or_insert(Param::Number(*value));
        }
        let one = |(name, value): (&String, &Param)| match value {
            Param::Number(size) if name == "bytes" => units::show_bytes(*size),
            value => shown(name, value),
        };
        params.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Returns the parameters for a legend, each in a word or two: `stride 64`, `loopback`, `not
    /// pinned`; empty where there are none.
    pub fn short_words(&self) -> Vec<String> {
        let word = |(name, value): (&String, &Param)| match value {
            Param::Text(text) => text.clone(),
            Param::Number(size) if name == "bytes" => units::show_bytes(*size),
            Param::Number(number) => format!("{name} {number}"),
            Param::Flag(true) => name.clone(),
            Param::Flag(false) => format!("not {name}"),
        };
        self.params.iter().map(word).collect()
    }

    /// Returns whether it goes to the machine of `--remote`.
    pub fn is_far(&self) -> bool {
        matches!(self.params.get("to"), Some(Param::Text(to)) if to == "remote")
    }

    /// Returns the cell in one line: `call, arguments 3`.
    pub fn label(&self) -> String {
        match self.parameters() {
            none if none.is_empty() => self.probe.clone(),
            parameters => format!("{}, {parameters}", self.probe),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_beside_the_name_and_come_back() {
        let cell = ProbeCell::new(
            "rtt",
            [("to", "remote".into()), ("bytes", 56.into()), ("pinned", true.into())],
        );
        let text = serde_json::to_string(&cell).unwrap();
        assert_eq!(text, r#"{"probe":"rtt","bytes":56,"pinned":true,"to":"remote"}"#);
        assert_eq!(serde_json::from_str::<ProbeCell>(&text).unwrap(), cell);
        assert_eq!(
            (cell.label(), ProbeCell::new("clock", []).label()),
            ("rtt, 56 B, pinned yes, to remote".into(), "clock".into())
        );
        assert_eq!(cell.short_parameters(), "56 B, pinned, remote");
        let pipe = ProbeCell::new(
            "pipe",
            [("kind", "unix".into()), ("cpus", "same".into()), ("huge", false.into())],
        );
        assert_eq!(pipe.short_parameters(), "64 KiB, cpus same, huge no, unix");
        fn bandwidth(params: &[(&'static str, Param)]) -> String {
            ProbeCell::new("net-bandwidth", params.iter().cloned()).label()
        }
        assert_eq!(bandwidth(&[("to", "loopback".into())]), "net-bandwidth, 1 MiB, to loopback");
        assert_eq!(
            bandwidth(&[("bytes", 1024.into()), ("to", "loopback".into())]),
            "net-bandwidth, 1 KiB, to loopback"
        );
        for bad in [
            r#"{"bytes":1}"#,
            r#"{"probe":"x","a":1.5}"#,
            r#"{"probe":"x","a":[1]}"#,
            r#"{"probe":"x","a":null}"#,
        ] {
            assert!(serde_json::from_str::<ProbeCell>(bad).is_err(), "{bad}");
        }
    }
}
