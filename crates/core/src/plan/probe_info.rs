//! The description of a probe: one record that help, lists, the Lab screen and reports use.

use super::kinds::names;
use super::{ProbeParam, Unknown, nearest};

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
    /// What is measured, in a few words: `function call`.
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
/// A word names none of them.
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn ids_groups_and_all_name_probes_each_once() {
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
}
