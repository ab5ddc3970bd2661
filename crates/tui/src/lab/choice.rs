//! The selected probes, as settings for the planner and for a command line.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::experiment;
use crate::plan::{Group, Plan, Preset, ProbeInfo, ProbeSet, Remote, Settings, find_probes};

/// A preset with overrides, and the probes that they name.
#[derive(Debug, Clone)]
pub struct ProbeSelection {
    pub preset: Preset,
    /// Settings over the preset; the probes are in `on`.
    overrides: Settings,
    on: BTreeSet<String>,
}

impl ProbeSelection {
    /// Selects the probes of the overrides or the preset; all if the names are unknown.
    pub fn new(
        preset: Preset,
        mut overrides: Settings,
        infos: &[&'static ProbeInfo],
    ) -> ProbeSelection {
        let words =
            overrides.probe.take().or_else(|| preset.settings.probe.clone()).unwrap_or_default();
        let mut choice = ProbeSelection { preset, overrides, on: BTreeSet::new() };
        choice.on = resolve_ids(&words, infos)
            .unwrap_or_else(|| infos.iter().map(|info| info.id.to_string()).collect());
        choice
    }

    /// Returns the other host of the network probes.
    pub fn remote(&self) -> Option<&Remote> {
        self.overrides.remote.as_ref().or(self.preset.settings.remote.as_ref())
    }

    /// Returns the chosen values of parameters.
    pub fn sets(&self) -> Option<Vec<ProbeSet>> {
        self.overrides.clone().or(&self.preset.settings).sets
    }

    /// Replaces the values chosen for this probe alone.
    pub fn put_values(&mut self, info: &ProbeInfo, values: Vec<ProbeSet>) {
        let mut sets = self.sets().unwrap_or_default();
        sets.retain(|set| set.probe.as_deref() != Some(info.id));
        sets.extend(values);
        self.overrides.sets = Some(sets).filter(|sets| !sets.is_empty());
    }

    /// Returns the longest time that a run takes.
    pub fn budget(&self) -> Duration {
        let budget = self.overrides.budget.or(self.preset.settings.budget);
        budget.unwrap_or(Plan::BUDGET)
    }

    pub fn is_on(&self, id: &str) -> bool {
        self.on.contains(id)
    }

    /// Counts the selected ones among these.
    pub fn count<'a>(&self, ids: impl Iterator<Item = &'a str>) -> usize {
        ids.filter(|id| self.on.contains(*id)).count()
    }

    /// Selects all of these, or deselects them if all are selected.
    pub fn toggle(&mut self, ids: &[&str]) {
        let off = ids.iter().all(|id| self.on.contains(*id));
        for id in ids {
            if off {
                self.on.remove(*id);
            } else {
                self.on.insert(id.to_string());
            }
        }
    }

    /// Selects exactly these: the probes of a session.
    pub fn select_only<'a>(&mut self, ids: impl Iterator<Item = &'a str>) {
        self.on = ids.map(String::from).collect();
    }

    /// Returns the settings over the preset, naming the probes if they differ from the preset's;
    /// `None` if no known probe is selected.
    pub fn settings(&self, infos: &[&'static ProbeInfo]) -> Option<Settings> {
        let words = shortest_names(&self.on, infos);
        let from_preset =
            self.preset.settings.probe.as_deref().and_then(|words| resolve_ids(words, infos));
        let ids = resolve_ids(&words, infos).filter(|ids| !ids.is_empty())?;
        let probe = (from_preset.as_ref() != Some(&ids)).then_some(words);
        let sets = self.relevant_sets(&ids, infos);
        Some(Settings { probe, sets, ..self.overrides.clone() })
    }

    /// Returns the values of parameters that a selected probe takes. Values that no probe takes
    /// stay, so that the planner reports them.
    fn relevant_sets(
        &self,
        on: &BTreeSet<String>,
        infos: &[&'static ProbeInfo],
    ) -> Option<Vec<ProbeSet>> {
        let is_relevant = |set: &&ProbeSet| {
            let mut of = infos.iter().filter(|info| set.fits(info)).peekable();
            of.peek().is_none() || of.any(|info| on.contains(info.id))
        };
        let sets: Vec<ProbeSet> =
            self.overrides.sets.iter().flatten().filter(is_relevant).cloned().collect();
        (!sets.is_empty()).then_some(sets)
    }
}

fn resolve_ids(words: &[String], infos: &[&'static ProbeInfo]) -> Option<BTreeSet<String>> {
    let named = find_probes(words, infos).ok()?;
    Some(named.into_iter().map(|info| info.id.to_string()).collect())
}

/// Returns the fewest names for these probes: `all`, groups, ids.
fn shortest_names(on: &BTreeSet<String>, infos: &[&'static ProbeInfo]) -> Vec<String> {
    if infos.iter().all(|info| on.contains(info.id)) {
        return vec!["all".into()];
    }
    let mut words = Vec::new();
    for group in Group::ALL {
        let members: Vec<&str> =
            infos.iter().filter(|info| info.group == *group).map(|info| info.id).collect();
        if members.len() > 1 && members.iter().all(|id| on.contains(*id)) {
            words.push(group.name().to_string());
        } else {
            words.extend(members.into_iter().filter(|id| on.contains(*id)).map(String::from));
        }
    }
    words
}

/// Returns a preset that measures no file: it is chosen and run here.
pub fn is_probe_preset(preset: &Preset) -> bool {
    !experiment::needs_file(std::slice::from_ref(preset))
}

/// Returns a plan of probes alone.
pub fn is_probe_plan(plan: &Plan) -> bool {
    plan.cells.is_empty() && !plan.probes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::tests::INFOS;
    use crate::plan::preset;

    fn choice_of(preset_id: &str, probe: Option<&str>) -> ProbeSelection {
        let mut settings =
            Settings { budget: Some(std::time::Duration::from_secs(5)), ..Settings::default() };
        if let Some(text) = probe {
            settings.set("probe", text).unwrap();
        }
        ProbeSelection::new(preset(preset_id).unwrap(), settings, INFOS)
    }

    fn settings_of(choice: &ProbeSelection) -> Option<String> {
        choice.settings(INFOS).map(|settings| settings.argv().join(" "))
    }

    #[test]
    fn only_differences_become_settings() {
        assert_eq!(settings_of(&choice_of("lab", None)).unwrap(), "--budget 5s");
        assert_eq!(settings_of(&choice_of("lab/cpu", None)).unwrap(), "--budget 5s");
        assert!(
            choice_of("lab/cpu", None).is_on("fork") && !choice_of("lab/cpu", None).is_on("rtt")
        );
        let mut choice = choice_of("lab", Some("cpu,rtt"));
        assert!(
            settings_of(&choice).unwrap().contains("--probe cpu,rtt"),
            "{:?}",
            settings_of(&choice)
        );
        choice.toggle(&["fork"]);
        assert!(settings_of(&choice).unwrap().contains("--probe clock,loop,call,syscall,rtt"));
        choice.toggle(&["fork", "rtt"]);
        assert!(
            settings_of(&choice).unwrap().contains("--probe cpu,rtt"),
            "one of them was off: both are on"
        );
        choice.select_only(["teleport"].into_iter());
        assert_eq!(settings_of(&choice), None);
        choice.select_only(INFOS.iter().map(|info| info.id));
        assert_eq!(settings_of(&choice).unwrap(), "--budget 5s");
    }

    #[test]
    fn values_stay_with_their_probes() {
        let infos = crate::catalog::PROBES;
        let mut settings = Settings::default();
        [
            ("probe", "contention,latency"),
            ("set", "processes=1..3+1"),
            ("set", "latency.stride=64"),
            ("set", "typo=1"),
        ]
        .iter()
        .for_each(|(name, text)| settings.set(name, text).unwrap());
        let mut choice = ProbeSelection::new(preset("lab").unwrap(), settings, infos);
        let line = |choice: &ProbeSelection| choice.settings(infos).unwrap().argv().join(" ");
        assert!(
            line(&choice).ends_with("--set processes=1..3+1 --set latency.stride=64 --set typo=1"),
            "{}",
            line(&choice)
        );
        choice.toggle(&["latency"]);
        assert!(
            line(&choice).ends_with("--set processes=1..3+1 --set typo=1"),
            "{}",
            line(&choice)
        );
    }

    #[test]
    fn settings_read_back_to_the_selection() {
        let mut choice = choice_of("lab", None);
        for id in ["call", "rtt", "latency", "fsync"] {
            choice.toggle(&[id]);
            let settings = choice.settings(INFOS).unwrap();
            let back = ProbeSelection::new(choice.preset.clone(), settings, INFOS);
            assert_eq!(back.on, choice.on);
        }
    }
}
