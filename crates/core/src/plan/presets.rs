//! All presets: the built-in ones, and those of the user.

use std::sync::{LazyLock, OnceLock};

use super::nearest;
use super::preset::{PRESETS, Preset, PresetError, preset};

/// A user's file that is not a preset, theme or profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub id: String,
    /// The reason, in one line.
    pub why: String,
}

/// Checks whether a file of the user may have this name, without `.toml`.
pub(super) fn check_own_name(id: &str, is_built_in: bool, kind: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if is_built_in {
        Err(format!("a built-in {kind} has this name: rename the file"))
    } else if id.is_empty() || !id.chars().all(is_plain) {
        Err("its name may contain only letters, digits, '-', '_' and '.'".into())
    } else {
        Ok(())
    }
}

/// All presets, the built-in ones first.
#[derive(Debug, Clone, PartialEq)]
pub struct Presets {
    /// Those of the user.
    own: Vec<Preset>,
    broken: Vec<Broken>,
}

/// Returns the preset in a row of [`PRESETS`]. It is parsed when it is first used, as a run needs
/// one of them.
fn parsed(row: usize) -> Option<&'static Preset> {
    static PARSED: LazyLock<Vec<OnceLock<Option<Preset>>>> =
        LazyLock::new(|| vec![OnceLock::new(); PRESETS.len()]);
    // A test parses every one of them.
    PARSED[row].get_or_init(|| preset(PRESETS[row].0).ok()).as_ref()
}

impl Presets {
    /// The preset that is measured if none is named.
    pub const DEFAULT: &'static str = "quick";

    /// Returns those that come with iotui.
    pub fn built_in() -> Presets {
        Presets { own: Vec::new(), broken: Vec::new() }
    }

    pub fn is_built_in(id: &str) -> bool {
        Self::row(id).is_some()
    }

    /// Adds a file of the user by its name without `.toml`: replaces a preset of that name, or
    /// records why the file is invalid. The built-in presets keep their names.
    pub fn add(&mut self, id: &str, preset: Result<Preset, String>) {
        let is_named = check_own_name(id, Self::is_built_in(id), "preset");
        let preset = preset.and_then(|preset| is_named.map(|()| preset));
        self.broken.retain(|broken| broken.id != id);
        match preset {
            Ok(preset) => {
                self.own.retain(|known| known.id != id);
                self.own.push(Preset { id: id.into(), ..preset });
            }
            Err(why) => self.broken.push(Broken { id: id.into(), why }),
        }
    }

    /// Returns the built-in ones in their order, then the user's.
    pub fn iter(&self) -> impl Iterator<Item = &Preset> {
        (0..PRESETS.len()).filter_map(|row| -> Option<&Preset> { parsed(row) }).chain(&self.own)
    }

    fn row(id: &str) -> Option<usize> {
        PRESETS.iter().position(|(known, _)| *known == id)
    }

    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Returns the preset of that name.
    pub fn get(&self, id: &str) -> Result<&Preset, PresetError> {
        let own = || self.own.iter().find(|p| p.id == id);
        if let Some(preset) = Self::row(id).and_then(parsed).or_else(own) {
            return Ok(preset);
        }
        match self.broken.iter().find(|b| b.id == id) {
            Some(Broken { id, why }) => {
                Err(PresetError::Syntax { id: id.clone(), why: why.clone() })
            }
            None => {
                let own = self.own.iter().map(|preset| preset.id.as_str());
                let ids = PRESETS.iter().map(|(id, _)| *id).chain(own);
                Err(nearest("preset", id, ids).into())
            }
        }
    }

    /// The preset that is measured if only probes are named.
    pub const LAB: &'static str = "lab";

    /// Returns those that were named, or the default: of files, or of `probes` where some were
    /// named.
    pub fn select(&self, names: &[String], probes: bool) -> Result<Vec<Preset>, PresetError> {
        if names.is_empty() {
            return Ok(vec![self.get(if probes { Self::LAB } else { Self::DEFAULT })?.clone()]);
        }
        names.iter().map(|name| self.get(name).cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(id: &str) -> Preset {
        Preset { id: id.into(), about: "mine".into(), ..preset("raw").unwrap() }
    }

    #[test]
    fn the_users_presets_come_after_and_never_instead() {
        let mut presets = Presets::built_in();
        let built_in: Vec<String> = presets.iter().map(|p| p.id.clone()).collect();
        assert_eq!(built_in, PRESETS.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        presets.add("mine", Ok(own("")));
        presets.add("quick", Ok(own("quick")));
        presets.add("a,b", Ok(own("a,b")));
        presets.add("bad", Err("line 1: what is this".into()));
        assert_eq!(
            presets.iter().map(|p| p.id.as_str()).skip(built_in.len()).collect::<Vec<_>>(),
            ["mine"]
        );
        assert_eq!(
            presets.broken().iter().map(|b| b.id.as_str()).collect::<Vec<_>>(),
            ["quick", "a,b", "bad"]
        );
        assert_ne!(presets.get("quick").unwrap().about, "mine");
        assert!(presets.get("bad").unwrap_err().to_string().contains("preset bad: line 1"));
        assert!(presets.get("mien").unwrap_err().to_string().contains("did you mean mine"));
        assert_eq!(presets.select(&[], false).unwrap(), [preset("quick").unwrap()]);
        assert_eq!(
            presets.select(&["raw".into(), "mine".into()], true).unwrap(),
            [preset("raw").unwrap(), own("mine")]
        );
        // A preset written again keeps its position.
        presets.add("bad", Ok(own("bad")));
        presets.add("mine", Ok(Preset { about: "new".into(), ..own("mine") }));
        assert_eq!(
            (presets.broken().len(), presets.get("mine").unwrap().about.as_str()),
            (2, "new")
        );
        assert_eq!(presets.iter().count(), built_in.len() + 2);
    }
}
