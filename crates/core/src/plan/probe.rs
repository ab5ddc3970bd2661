//! A cell of a probe: which operating-system measurement, with which parameters.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::kinds::names;
use super::{Range, RangeOf, SettingError, Unknown, nearest};
use crate::units::{self, short_bytes};

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

    /// Returns the parameters for one line: `arguments 3, path libc`, a size by itself; empty
    /// without parameters.
    pub fn parameters(&self) -> String {
        self.join_parameters(|name, value| format!("{name} {value}"))
    }

    /// Returns the parameters where there is little room: `arguments 3, libc`. Words go without
    /// their names, except for `cpus`.
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
    /// pinned`; empty without parameters.
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

names! {
    /// The part of a machine that a probe measures.
    "group of probes" Group {
        Cpu = "cpu",
        Memory = "memory",
        Network = "network",
        Files = "files",
    }
}

/// A probe's entry in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeInfo {
    pub id: &'static str,
    pub group: Group,
    /// The measured operation, in a few words: `function call`.
    pub title: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// A paragraph: what it does and why, what is subtracted, how to interpret the number.
    pub doc: &'static str,
    /// Creates files, in a folder that has to be found.
    pub makes_files: bool,
    /// The parameters that `--set` takes.
    pub params: &'static [ProbeParam],
}

/// Returns the probes of `known` that `asked` names (an id, a group, or `all`), in the order of
/// `known`.
///
/// # Errors
/// A word names no probe.
pub fn find_probes<'a>(
    asked: &[String],
    known: &'a [&'static ProbeInfo],
) -> Result<Vec<&'a &'static ProbeInfo>, Unknown> {
    fn names(word: &str, info: &ProbeInfo) -> bool {
        word == "all" || word == info.id || word == info.group.name()
    }
    for word in asked {
        if !known.iter().any(|info| names(word, info)) {
            let all = known
                .iter()
                .map(|info| info.id)
                .chain(Group::ALL.iter().map(|group| group.name()))
                .chain(["all"]);
            return Err(nearest("probe", word, all));
        }
    }
    Ok(known.iter().filter(|info| asked.iter().any(|word| names(word, info))).collect())
}

/// A parameter of a probe that `--set` takes; its name is the one in the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeParam {
    pub name: &'static str,
    /// A description in a few words.
    pub about: &'static str,
    pub of: RangeOf,
    pub least: u64,
    pub most: u64,
    /// Every value is a multiple of this.
    pub step: u64,
    /// The default values.
    pub usual: &'static str,
}

impl ProbeParam {
    /// Returns a value as it is typed.
    fn show_value(&self, value: u64) -> String {
        if self.of == RangeOf::Bytes { short_bytes(value) } else { value.to_string() }
    }

    /// Returns the allowed values: `1 to 32`, `4k to 1g in steps of 4k`.
    pub fn range(&self) -> String {
        let step = if self.step > 1 {
            format!(" in steps of {}", self.show_value(self.step))
        } else {
            String::new()
        };
        format!("{} to {}{step}", self.show_value(self.least), self.show_value(self.most))
    }

    /// Returns the default values; none if they depend on the machine.
    pub fn usual_values(&self) -> Vec<u64> {
        // A count is parsed like a size: the same digits and powers.
        Range::parse(self.usual, RangeOf::Bytes).map_or_else(|_| Vec::new(), |range| range.values)
    }

    /// Returns whether a cell may have this value.
    pub fn takes(&self, value: u64) -> bool {
        (self.least..=self.most).contains(&value) && value.is_multiple_of(self.step)
    }
}

/// The values given for one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeSet {
    /// The only probe it applies to; `None`: every chosen probe that has the parameter.
    pub probe: Option<String>,
    pub name: String,
    pub values: Range,
}

impl ProbeSet {
    fn is_of(&self, id: &str) -> bool {
        self.probe.as_deref().is_none_or(|own| own == id)
    }

    /// Returns whether `info` takes it.
    pub fn fits(&self, info: &ProbeInfo) -> bool {
        self.is_of(info.id) && info.params.iter().any(|param| param.name == self.name)
    }

    /// Returns what it is about, as typed before the `=`.
    pub fn key(&self) -> String {
        self.probe.as_ref().map_or(self.name.clone(), |probe| format!("{probe}.{}", self.name))
    }
}

impl FromStr for ProbeSet {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<ProbeSet, SettingError> {
        let bad = || {
            SettingError::Value(format!(
                "'{text}' is not NAME=VALUES, as in processes=1..10 or latency.stride=64,128"
            ))
        };
        let (key, values) = text.split_once('=').ok_or_else(bad)?;
        let (probe, name) = key
            .split_once('.')
            .map_or((None, key), |(probe, name)| (Some(probe.to_string()), name));
        if name.is_empty() || probe.as_ref().is_some_and(String::is_empty) {
            return Err(bad());
        }
        // A count is parsed like a size: the same digits and powers.
        Ok(ProbeSet { probe, name: name.into(), values: Range::parse(values, RangeOf::Bytes)? })
    }
}

impl fmt::Display for ProbeSet {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}={}", self.key(), self.values)
    }
}

/// Returns several of them with spaces between, as in a preset.
///
/// # Errors
/// One of them is invalid.
pub fn parse_sets(text: &str) -> Result<Vec<ProbeSet>, SettingError> {
    let mut sets = Vec::new();
    for word in text.split_whitespace() {
        put(&mut sets, word.parse()?);
    }
    if sets.is_empty() { "".parse::<ProbeSet>().map(|set| vec![set]) } else { Ok(sets) }
}

/// Replaces earlier values of the same parameter.
pub fn put(sets: &mut Vec<ProbeSet>, set: ProbeSet) {
    sets.retain(|known| known.key() != set.key());
    sets.push(set);
}

/// Returns the value given for a parameter; one for this probe alone precedes one for all.
pub fn set_of<'a>(sets: &'a [ProbeSet], id: &str, name: &str) -> Option<&'a ProbeSet> {
    sets.iter()
        .filter(|set| set.name == name && set.is_of(id))
        .min_by_key(|set| set.probe.is_none())
}

/// Returns the values for a parameter of a probe, as [`set_of`] finds them.
pub fn set_values(sets: &[ProbeSet], id: &str, name: &str) -> Option<Vec<u64>> {
    set_of(sets, id, name).map(|set| set.values.values.clone())
}

/// Returns the values of a plan's own cells, as if each had been given for its probe: a plan
/// that is run again contains nothing else about them.
pub fn sets_of(cells: &[ProbeCell]) -> Vec<ProbeSet> {
    let mut sets: Vec<ProbeSet> = Vec::new();
    for cell in cells {
        for (name, value) in &cell.params {
            let Param::Number(value) = value else { continue };
            let own = sets
                .iter_mut()
                .find(|set| set.name == *name && set.probe.as_deref() == Some(&cell.probe));
            match own {
                Some(set) if set.values.values.contains(value) => {}
                Some(set) => {
                    set.values.values.push(*value);
                    set.values.text += &format!(",{value}");
                }
                None => sets.push(ProbeSet {
                    probe: Some(cell.probe.clone()),
                    name: name.clone(),
                    values: Range { text: value.to_string(), values: vec![*value] },
                }),
            }
        }
    }
    sets
}

/// Checks the given values against the selected probes.
///
/// # Errors
/// No chosen probe has the parameter, or a value is not allowed.
pub fn check_sets(sets: &[ProbeSet], chosen: &[&ProbeInfo]) -> Result<(), SettingError> {
    for set in sets {
        if let Some(probe) =
            set.probe.as_ref().filter(|probe| !chosen.iter().any(|info| info.id == **probe))
        {
            return Err(nearest(
                "probe among the selected ones",
                probe,
                chosen.iter().map(|info| info.id),
            )
            .into());
        }
        let of = || {
            chosen
                .iter()
                .filter(|info| set.is_of(info.id))
                .flat_map(|info| info.params.iter().map(move |param| (info.id, param)))
        };
        if !of().any(|(_, param)| param.name == set.name) {
            let mut names: Vec<&str> = of().map(|(_, param)| param.name).collect();
            names.sort_unstable();
            names.dedup();
            return Err(match names.is_empty() {
                true => SettingError::Value(format!(
                    "no selected probe has the parameter {set}; see --list probes"
                )),
                false => nearest("parameter of the selected probes", &set.name, names).into(),
            });
        }
        for (id, param) in of().filter(|(_, param)| param.name == set.name) {
            if let Some(value) = set.values.values.iter().find(|value| !param.takes(**value)) {
                let (value, range) = (param.show_value(*value), param.range());
                return Err(SettingError::Value(format!(
                    "{id} takes {} from {range}, not {value}",
                    set.name
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Group;

    #[test]
    fn parameters_survive_a_round_trip() {
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

    const CALL: ProbeInfo = ProbeInfo {
        id: "call",
        group: Group::Cpu,
        title: "",
        about: "",
        doc: "",
        makes_files: false,
        params: &[],
    };
    const RTT: ProbeInfo = ProbeInfo { id: "rtt", group: Group::Network, ..CALL };

    #[test]
    fn ids_and_groups_name_probes() {
        let known = [&CALL, &RTT];
        let ids = |asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(|word| word.to_string()).collect();
            find_probes(&asked, &known)
                .map(|found| found.iter().map(|info| info.id).collect::<Vec<_>>())
                .map_err(|error| error.to_string())
        };
        assert_eq!(ids(&["rtt", "cpu", "call"]), Ok(vec!["call", "rtt"]));
        assert_eq!(ids(&["all"]), Ok(vec!["call", "rtt"]));
        assert_eq!(ids(&["network"]), Ok(vec!["rtt"]));
        assert!(ids(&["calls"]).unwrap_err().contains("did you mean call"));
    }

    const COUNT: ProbeParam = ProbeParam {
        name: "processes",
        about: "",
        of: RangeOf::Count,
        least: 1,
        most: 32,
        step: 1,
        usual: "1,2,4",
    };
    const BYTES: ProbeParam = ProbeParam {
        name: "bytes",
        about: "",
        of: RangeOf::Bytes,
        least: 4096,
        most: 1 << 30,
        step: 4096,
        usual: "4k",
    };
    const INFO: ProbeInfo = ProbeInfo {
        id: "clock",
        group: Group::Cpu,
        title: "",
        about: "",
        doc: "",
        makes_files: false,
        params: &[],
    };
    const CONTENTION: ProbeInfo = ProbeInfo { id: "contention", params: &[COUNT], ..INFO };
    const LATENCY: ProbeInfo = ProbeInfo { id: "latency", params: &[BYTES], ..INFO };

    #[test]
    fn sets_apply_to_one_or_all() {
        let sets = parse_sets("processes=1..10+1 bytes=64k,1m latency.bytes=4k bytes=8k").unwrap();
        assert_eq!(
            sets.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["processes=1..10+1", "latency.bytes=4k", "bytes=8k"]
        );
        assert_eq!(
            set_values(&sets, "contention", "processes").map(|values| values.len()),
            Some(10)
        );
        assert_eq!(set_values(&sets, "latency", "bytes"), Some(vec![4096]));
        assert_eq!(set_values(&sets, "pipe", "bytes"), Some(vec![8192]));
        assert_eq!(set_values(&sets, "latency", "stride"), None);
    }

    #[test]
    fn sets_follow_from_cells() {
        let cells = [("latency", 8192u64), ("pipe", 4096), ("latency", 4096), ("latency", 8192)]
            .map(|(probe, bytes)| {
                ProbeCell::new(probe, [("bytes", bytes.into()), ("pinned", true.into())])
            });
        let sets = sets_of(&cells);
        assert_eq!(
            sets.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["latency.bytes=8192,4096", "pipe.bytes=4096"]
        );
        assert_eq!(set_values(&sets, "latency", "bytes"), Some(vec![8192, 4096]));
    }

    #[test]
    fn set_errors_name_valid_choices() {
        fn check(text: &str) -> Result<(), String> {
            let sets = parse_sets(text).map_err(|error| error.to_string());
            sets.and_then(|sets| {
                check_sets(&sets, &[&INFO, &CONTENTION, &LATENCY])
                    .map_err(|error| error.to_string())
            })
        }
        assert_eq!(check("processes=1..10 latency.bytes=4k"), Ok(()));
        for (text, wanted) in [
            ("processes", "not NAME=VALUES"),
            ("", "not NAME=VALUES"),
            ("=1", "not NAME=VALUES"),
            (".bytes=1", "not NAME=VALUES"),
            ("processes=9..1", "runs backwards"),
            ("proceses=2", "did you mean processes?"),
            ("processes=33", "contention takes processes from 1 to 32, not 33"),
            ("bytes=5000", "latency takes bytes from 4k to 1g in steps of 4k, not 5000"),
            ("latencey.bytes=4k", "did you mean latency?"),
            ("clock.bytes=4k", "no selected probe has the parameter clock.bytes=4k"),
        ] {
            let why = check(text).unwrap_err();
            assert!(why.contains(wanted) && !why.contains('\n'), "{text}: {why}");
        }
        assert!(
            check_sets(&parse_sets("bytes=4k").unwrap(), &[&INFO])
                .unwrap_err()
                .to_string()
                .contains("--list probes")
        );
    }
}
