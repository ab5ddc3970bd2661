//! Profiles: what a program needs of storage as its makers publish it, in a TOML file.

use serde::Deserialize;
use toml::Spanned;

use super::preset::{Placed, check_own_name, line_of, settings};
use super::{
    Broken, Condition, Expect, Expectation, ExpectedBy, Preset, Settings, unknown_profile,
};

/// A profile as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub id: String,
    pub about: String,
    /// The address of the page with the figure.
    pub source: String,
    /// The published requirement, in a line.
    pub published: String,
    pub conditions: Vec<Condition>,
    /// The settings of the cells that it applies to.
    pub cells: Settings,
    /// How such cells are measured if no preset is named, without what `cells` says.
    pub settings: Settings,
}

/// One row per file: its name is its id.
macro_rules! profiles {
    ($($id:literal),+ $(,)?) => { &[$(($id, include_str!(concat!("../../assets/expect/", $id, ".toml")))),+] };
}

/// The built-in profiles: id and text.
pub static PROFILES: &[(&str, &str)] =
    profiles!["etcd", "openshift", "openshift-heavy", "zookeeper"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    published: String,
    expect: Spanned<String>,
    cells: Placed,
    #[serde(default)]
    settings: Placed,
}

impl Profile {
    /// Parses a profile; the keys of `[cells]` and `[settings]` are long options of the command
    /// line.
    ///
    /// # Errors
    /// The first problem, in one line with the line of the file.
    pub fn parse(id: &str, text: &str) -> Result<Profile, String> {
        let at_line = |at: usize, why: &str| format!("line {}: {why}", line_of(text, at));
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            at_line(at, &error.message().trim_end().replace('\n', " "))
        })?;
        let at = file.expect.span().start;
        let list = Expect::parse_list(file.expect.get_ref());
        let list = list.map_err(|error| at_line(at, &format!("expect: {error}")))?;
        let condition = |expect| match expect {
            Expect::Condition(condition) => Ok(condition),
            Expect::Profile(name) => {
                Err(at_line(at, &format!("expect: '{name}' is not a condition")))
            }
        };
        let read = |placed| settings(id, text, placed, None).map_err(|error| error.reason());
        Ok(Profile {
            id: id.into(),
            about: file.about,
            source: file.source,
            published: file.published,
            conditions: list.into_iter().map(condition).collect::<Result<_, _>>()?,
            cells: read(file.cells)?,
            settings: read(file.settings)?,
        })
    }

    /// Returns the preset that measures its cells.
    pub fn preset(&self) -> Preset {
        Preset {
            id: self.id.clone(),
            about: self.about.clone(),
            experiment: "sweep".into(),
            settings: self.cells.clone().or(&self.settings),
            ..Preset::default()
        }
    }

    /// Returns the expectation that a plan stores.
    pub fn expectation(&self) -> Expectation {
        let cells = self.cells.given_values().map(|(name, text)| (name.into(), text));
        Expectation {
            by: Some(ExpectedBy {
                profile: self.id.clone(),
                source: self.source.clone(),
                published: self.published.clone(),
                cells: cells.collect(),
            }),
            conditions: self.conditions.clone(),
        }
    }
}

impl Expectation {
    /// Returns the options of the cells that it is about, without unknown ones of a damaged
    /// session.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        for (name, text) in self.by.iter().flat_map(|by| &by.cells) {
            let _ = settings.set(name, text);
        }
        settings
    }
}

/// All profiles, the built-in ones first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profiles {
    all: Vec<Profile>,
    broken: Vec<Broken>,
}

impl Profiles {
    /// Returns the built-in profiles.
    pub fn built_in() -> Profiles {
        // A test parses every one.
        let all = PROFILES.iter().filter_map(|(id, text)| Profile::parse(id, text).ok());
        Profiles { all: all.collect(), broken: Vec::new() }
    }

    pub fn is_built_in(id: &str) -> bool {
        PROFILES.iter().any(|(known, _)| *known == id)
    }

    /// Adds a file of the user by its name without `.toml`, or records why it is invalid. The
    /// built-in profiles keep their names.
    pub fn add(&mut self, id: &str, profile: Result<Profile, String>) {
        let is_named = check_own_name(id, Self::is_built_in(id), "profile");
        match profile.and_then(|profile| is_named.map(|()| profile)) {
            Ok(profile) => self.all.push(Profile { id: id.into(), ..profile }),
            Err(why) => self.broken.push(Broken { id: id.into(), why }),
        }
    }

    /// Returns the built-in ones in their order, then the user's.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.all.iter()
    }

    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Returns the profile of that name.
    ///
    /// # Errors
    /// No profile has that name (lists the nearest ones), or its file is invalid.
    pub fn get(&self, id: &str) -> Result<&Profile, String> {
        let broken = || self.broken.iter().find(|broken| broken.id == id);
        match (self.all.iter().find(|profile| profile.id == id), broken()) {
            (Some(profile), _) => Ok(profile),
            (None, Some(Broken { why, .. })) => Err(format!("profile {id}: {why}")),
            (None, None) => {
                let known = self.all.iter().map(|profile| profile.id.as_str());
                Err(unknown_profile(id, known))
            }
        }
    }

    /// Returns the profiles among these words.
    ///
    /// # Errors
    /// As [`Profiles::get`].
    pub fn named(&self, words: &[Expect]) -> Result<Vec<&Profile>, String> {
        let name = |word: &'_ Expect| match word {
            Expect::Profile(name) => Some(name.clone()),
            Expect::Condition(_) => None,
        };
        words.iter().filter_map(name).map(|name| self.get(&name)).collect()
    }

    /// Returns what a plan stores: the conditions of the user together, then each profile.
    ///
    /// # Errors
    /// As [`Profiles::get`].
    pub fn expectations(&self, words: &[Expect]) -> Result<Vec<Expectation>, String> {
        let conditions: Vec<Condition> = words
            .iter()
            .filter_map(|word| match word {
                Expect::Condition(condition) => Some(condition.clone()),
                Expect::Profile(_) => None,
            })
            .collect();
        let own = (!conditions.is_empty()).then_some(Expectation { by: None, conditions });
        let named = self.named(words)?;
        Ok(own.into_iter().chain(named.into_iter().map(Profile::expectation)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_names_its_source() {
        let profiles = Profiles::built_in();
        assert_eq!(profiles.iter().count(), PROFILES.len());
        for (id, text) in PROFILES {
            let profile = Profile::parse(id, text).unwrap();
            assert!(profile.source.starts_with("https://"), "{id}");
            assert!(!profile.published.is_empty() && !profile.about.is_empty(), "{id}");
            assert!(profile.about.len() <= 80 && !profile.conditions.is_empty(), "{id}");
            assert_ne!(profile.cells, Settings::default(), "{id}");
            // The stored expectation describes the same cells.
            let mut expectation = profile.expectation();
            assert_eq!(expectation.settings(), profile.cells, "{id}");
            // A key of a newer version excludes no cell.
            expectation.by.as_mut().unwrap().cells.insert("oops".into(), "1".into());
            assert_eq!(expectation.settings(), profile.cells, "{id}");
        }
        let etcd = profiles.get("etcd").unwrap();
        assert_eq!(etcd.conditions, ["p99<10ms".parse().unwrap()]);
        assert_eq!(etcd.preset().settings.text("block-size").as_deref(), Some("2300"));
    }

    #[test]
    fn profile_errors_name_choice_or_line() {
        let mut profiles = Profiles::built_in();
        let error = |profiles: &Profiles, id: &str| profiles.get(id).unwrap_err();
        assert_eq!(
            error(&profiles, "etdc"),
            "unknown profile 'etdc'; did you mean etcd?".to_string()
        );
        let kafka = error(&profiles, "kafka");
        assert!(kafka.contains("there are: etcd, openshift"), "{kafka}");
        assert!(kafka.ends_with("; or write a condition: p99<10ms"), "{kafka}");
        let good = "about='a'\nexpect='p99<10ms, >=1MB/s'\n[cells]\nop='read'";
        for (id, text, why) in [
            ("etcd", good, "a built-in profile has this name"),
            ("a b", good, "letters"),
            ("bad", "about='a'\nexpect='p99>1s'\n[cells]", "line 2: expect: 'p99>1s': a latency"),
            (
                "bad2",
                "about='a'\nexpect='etcd'\n[cells]",
                "line 2: expect: 'etcd' is not a condition",
            ),
            ("bad3", "about='a'\nexpect='p99<1s'", "missing field `cells`"),
            ("bad4", &good.replace("op=", "opp="), "line 4: opp: unknown setting 'opp'"),
        ] {
            profiles.add(id, Profile::parse(id, text));
            let broken = profiles.broken().last().unwrap();
            assert!(broken.id == id && broken.why.contains(why), "{id}: {}", broken.why);
        }
        profiles.add("mine", Profile::parse("mine", good));
        assert_eq!(profiles.get("mine").unwrap().conditions.len(), 2);
        assert!(error(&profiles, "bad").starts_with("profile bad: line 2: expect"));
        let words = Expect::parse_list("p50<1ms,mine,iops>=5,etcd").unwrap();
        let names: Vec<String> =
            profiles.expectations(&words).unwrap().iter().map(Expectation::describe).collect();
        assert_eq!(names, ["p50<1ms, iops>=5", "mine (p99<10ms, >=1MB/s)", "etcd (p99<10ms)"]);
    }
}
