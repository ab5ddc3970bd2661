//! Presets: an experiment with its settings, in a TOML file.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{LazyLock, OnceLock};

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{
    Axis, Backends, ChoiceError, Expectation, Info, Op, Plan, SettingError, Settings, Unknown,
    nearest,
};
use crate::units;

/// A preset as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preset {
    pub id: String,
    pub about: String,
    /// The question that it answers, if the screen offers it as one of the first questions; else
    /// empty.
    pub question: String,
    /// Whether the question is about a file that the user picks; otherwise a scratch file will do.
    pub needs_file: bool,
    /// Whether only the first available one of its backends runs, unless the user names some.
    pub first_backend: bool,
    pub doc: String,
    pub experiment: String,
    /// Settings of the whole run and of all of its sweeps.
    pub settings: Settings,
    /// Several sets of axes in one plan, as a read and a write: each overrides `settings`. Empty:
    /// these are all.
    pub sweeps: Vec<Settings>,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PresetError {
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("preset {id}: {why}")]
    Syntax { id: String, why: String },
    #[error("preset {id}: line {line}: {key}: {error}")]
    Setting { id: String, line: usize, key: String, error: Box<SettingError> },
}

/// One row per file: its name is its id.
macro_rules! presets {
    ($($id:literal),+ $(,)?) => { &[$(($id, include_str!(concat!("../../assets/presets/", $id, ".toml")))),+] };
}

/// The built-in presets: id and text.
pub static PRESETS: &[(&str, &str)] = presets![
    "peak",
    "file",
    "cold-warm",
    "quick",
    "random",
    "basics",
    "measure",
    "raw",
    "caching",
    "syscalls",
    "ways",
    "commit",
    "sustain",
    "target",
    "neighbours",
    "watch",
    "threads",
    "fast",
    "depth",
    "mixed",
    "larger-than-memory",
    "load",
    "peers",
    "shared",
    "lab",
    "lab/cpu",
    "lab/calls",
    "lab/memory",
    "lab/network",
    "lab/files",
];

/// Settings that a plan has once, however many sweeps it joins.
const ONCE: &[&str] = &[
    "trials",
    "until",
    "budget",
    "trial-time",
    "seed",
    "ceilings",
    "rated",
    "expect",
    "latency-target",
    "neighbour",
    "neighbour-share",
    "watch",
    "stop-if",
    "cold",
    "cpus",
    "compressible",
    "dedupe",
    "precondition",
    "verify",
    "fresh",
    "set",
    "remote",
    "ranks",
    "layout",
    "shift",
];

impl PresetError {
    /// Returns the reason without the name of the preset, for a list of presets.
    pub fn reason(&self) -> String {
        match self {
            PresetError::Unknown(unknown) => unknown.to_string(),
            PresetError::Syntax { why, .. } => why.clone(),
            PresetError::Setting { line, key, error, .. } => format!("line {line}: {key}: {error}"),
        }
    }
}

/// The names that a preset may use, from registries above this floor.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    pub experiments: &'a [&'a str],
    pub infos: &'a [&'static Info],
}

impl Names<'_> {
    /// Returns whether these backends and their options are there.
    fn check(&self, backends: &Backends) -> Result<(), ChoiceError> {
        for choice in backends.choices(self.infos) {
            let info = self.infos.iter().find(|info| info.id == choice.id);
            choice.check(info.ok_or_else(|| {
                nearest("backend", &choice.id, self.infos.iter().map(|info| info.id))
            })?)?;
        }
        Ok(())
    }
}

/// Settings as text, each with its position in the file.
pub(super) type Placed = BTreeMap<String, Spanned<toml::Value>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    #[serde(default)]
    question: String,
    #[serde(default, rename = "needs-file")]
    needs_file: bool,
    #[serde(default, rename = "first-backend")]
    first_backend: bool,
    #[serde(default)]
    doc: String,
    experiment: Spanned<String>,
    #[serde(default)]
    settings: Placed,
    #[serde(default)]
    sweep: Vec<Placed>,
}

#[derive(Serialize)]
struct Written<'a> {
    about: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    question: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not", rename = "needs-file")]
    needs_file: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not", rename = "first-backend")]
    first_backend: bool,
    doc: &'a str,
    experiment: &'a str,
    settings: toml::Table,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sweep: Vec<toml::Table>,
}

impl Preset {
    /// Parses a preset; every key of `[settings]` and of a `[[sweep]]` is a long option of the
    /// command line.
    ///
    /// # Errors
    /// The first problem, in one line, with the line of the file.
    pub fn parse(id: &str, text: &str) -> Result<Preset, PresetError> {
        Preset::parse_knowing(id, text, None)
    }

    /// Parses like [`Preset::parse`]; its experiment and backends must be among these `names`.
    ///
    /// # Errors
    /// As there, and an unknown name.
    pub fn parse_knowing(
        id: &str,
        text: &str,
        names: Option<Names>,
    ) -> Result<Preset, PresetError> {
        let syntax = |line: usize, why: &dyn Display| PresetError::Syntax {
            id: id.into(),
            why: format!("line {line}: {why}"),
        };
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            syntax(line_of(text, at), &error.message().trim_end().replace('\n', " "))
        })?;
        if let Some(names) =
            names.filter(|names| !names.experiments.contains(&file.experiment.as_ref().as_str()))
        {
            let unknown =
                nearest("experiment", file.experiment.as_ref(), names.experiments.iter().copied());
            return Err(syntax(line_of(text, file.experiment.span().start), &unknown));
        }
        let settings = settings(id, text, file.settings, names)?;
        let mut sweeps = Vec::new();
        for sweep in file.sweep {
            if let Some((key, value)) = sweep.iter().find(|(key, _)| ONCE.contains(&key.as_str())) {
                let why = format!(
                    "line {}: {key} applies to the whole run: move it to [settings]",
                    line(text, value)
                );
                return Err(PresetError::Syntax { id: id.into(), why });
            }
            sweeps.push(self::settings(id, text, sweep, names)?);
        }
        Ok(Preset {
            id: id.into(),
            about: file.about,
            question: file.question,
            needs_file: file.needs_file,
            first_backend: file.first_backend,
            doc: file.doc,
            experiment: file.experiment.into_inner(),
            settings,
            sweeps,
        })
    }

    /// Returns the text of its file: parsing it gives this preset again.
    pub fn to_toml(&self) -> String {
        let table = |settings: &Settings| {
            settings.given_values().map(|(name, text)| (name.to_string(), text.into())).collect()
        };
        let Preset { about, question, doc, experiment, .. } = self;
        let (needs_file, first_backend) = (self.needs_file, self.first_backend);
        let (settings, sweep) = (table(&self.settings), self.sweeps.iter().map(table).collect());
        // Text and tables of text can always be serialised.
        toml::to_string(&Written {
            about,
            question,
            needs_file,
            first_backend,
            doc,
            experiment,
            settings,
            sweep,
        })
        .unwrap_or_default()
    }

    /// Returns what is swept, one after the other.
    pub fn parts(&self) -> Vec<Settings> {
        match self.sweeps.as_slice() {
            [] => vec![self.settings.clone()],
            sweeps => sweeps.iter().map(|sweep| sweep.clone().or(&self.settings)).collect(),
        }
    }

    /// Returns this preset overridden by these settings, in each of its sweeps.
    pub fn over(&self, said: &Settings) -> Preset {
        let mut preset = Preset { settings: said.clone().or(&self.settings), ..self.clone() };
        for sweep in &mut preset.sweeps {
            said.given_values().for_each(|(name, _)| sweep.unset(name));
        }
        preset
    }
}

fn line(text: &str, value: &Spanned<toml::Value>) -> usize {
    line_of(text, value.span().start)
}

pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |before| before.matches('\n').count()) + 1
}

pub(super) fn settings(
    id: &str,
    file: &str,
    placed: Placed,
    names: Option<Names>,
) -> Result<Settings, PresetError> {
    let mut settings = Settings::default();
    for (key, value) in placed {
        let line = line(file, &value);
        let text = match value.into_inner() {
            toml::Value::String(text) => text,
            toml::Value::Integer(n) => n.to_string(),
            toml::Value::Boolean(on) => on.to_string(),
            other => {
                let why = format!(
                    "line {line}: {key} is a {}: write text, a whole number, true or false",
                    other.type_str()
                );
                return Err(PresetError::Syntax { id: id.into(), why });
            }
        };
        settings.set(&key, &text).map_err(|error| PresetError::Setting {
            id: id.into(),
            line,
            key: key.clone(),
            error: error.into(),
        })?;
        if let (Some(names), Some(backends), "backend") = (names, &settings.backend, key.as_str()) {
            let wrong = |error| PresetError::Syntax {
                id: id.into(),
                why: format!("line {line}: backend: {error}"),
            };
            names.check(backends).map_err(wrong)?;
        }
    }
    Ok(settings)
}

/// Returns the preset of that name.
pub fn preset(id: &str) -> Result<Preset, PresetError> {
    match PRESETS.iter().find(|(name, _)| *name == id) {
        Some((name, text)) => Preset::parse(name, text),
        None => Err(nearest("preset", id, PRESETS.iter().map(|(name, _)| *name)).into()),
    }
}

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
    /// The presets of the user.
    own: Vec<Preset>,
    broken: Vec<Broken>,
}

/// Returns the preset in a row of [`PRESETS`]. It is parsed when it is first used, as a run needs
/// one of them.
fn parsed(row: usize) -> Option<&'static Preset> {
    static PARSED: LazyLock<Vec<OnceLock<Option<Preset>>>> =
        LazyLock::new(|| vec![OnceLock::new(); PRESETS.len()]);
    // A test parses every one.
    PARSED[row].get_or_init(|| preset(PRESETS[row].0).ok()).as_ref()
}

impl Presets {
    /// The preset that is measured if none is named.
    pub const DEFAULT: &'static str = "quick";

    /// Returns the built-in presets.
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

    /// The preset that is measured if only a time to watch is given.
    pub const WATCH: &'static str = "watch";

    /// Returns the named presets, or the one that these settings ask for.
    pub fn select(
        &self,
        names: &[String],
        settings: &Settings,
    ) -> Result<Vec<Preset>, PresetError> {
        if names.is_empty() {
            let id = match (&settings.probe, settings.watch) {
                (Some(_), _) => Self::LAB,
                (None, Some(_)) => Self::WATCH,
                (None, None) => Self::DEFAULT,
            };
            return Ok(vec![self.get(id)?.clone()]);
        }
        names.iter().map(|name| self.get(name).cloned()).collect()
    }
}

impl Plan {
    /// Returns the question that it asks: whether conditions hold, else the one of its preset;
    /// `None` if it has none, or if the user asked for other cells than the preset has.
    pub fn question(&self) -> Option<String> {
        let profiles: Vec<&str> =
            self.expect.iter().filter_map(|one| Some(one.by.as_ref()?.profile.as_str())).collect();
        if !profiles.is_empty() && profiles.len() == self.expect.len() {
            let names = units::join_names(&profiles, profiles.len(), ", ");
            return Some(format!("Is it fast enough for {names}?"));
        }
        if !self.expect.is_empty() {
            let all: Vec<String> = self.expect.iter().map(Expectation::describe).collect();
            return Some(format!("Does every figure meet {}?", all.join(" and ")));
        }
        let [id] = self.presets.as_slice() else { return None };
        // A larger file asks the same.
        let is_size = |name: &String| Axis::Size.options().iter().any(|option| option.name == name);
        if self.settings.iter().flatten().any(|(name, _)| !is_size(name)) {
            return None;
        }
        preset(id).ok().map(|preset| preset.question).filter(|text| !text.is_empty())
    }
}

/// The settings of a plan.
#[derive(Debug, Clone)]
pub struct Resolved<'a> {
    /// The settings of the user alone.
    pub user: &'a Settings,
    pub presets: &'a [Preset],
    /// The settings that a plan has once, such as its budget: of the user, else of the first
    /// preset that has them.
    pub whole: Settings,
    /// One per sweep of each preset, in order.
    pub parts: Vec<Part<'a>>,
}

/// One sweep of a preset, with the settings of the user.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    pub preset: &'a Preset,
    pub settings: Settings,
}

impl<'a> Resolved<'a> {
    pub fn new(user: &'a Settings, presets: &'a [Preset]) -> Resolved<'a> {
        let whole = presets.iter().fold(user.clone(), |whole, preset| whole.or(&preset.settings));
        let parts = presets.iter().flat_map(|preset| {
            let parts = preset.parts().into_iter();
            parts.map(move |part| Part { preset, settings: merge(user, preset, &part) })
        });
        Resolved { user, presets, whole, parts: parts.collect() }
    }
}

/// Merges the settings of the user with a part of a preset. For a preset that reads and writes,
/// `writes` and `sync` apply to its writes only.
fn merge(user: &Settings, preset: &Preset, part: &Settings) -> Settings {
    let mut settings = user.clone().or(part);
    if !preset.sweeps.is_empty() && settings.op != Some(Op::Write) {
        settings.sync = part.sync.clone().filter(|_| part.op != Some(Op::Write));
        settings.writes = None;
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Sync, Writes, preset};

    #[test]
    fn every_preset_is_valid() {
        for (id, _) in PRESETS {
            let preset = preset(id).unwrap();
            assert!(
                !preset.about.is_empty() && preset.about.len() <= 80 && !preset.doc.is_empty(),
                "{id}"
            );
        }
    }

    #[test]
    fn questions_are_short_and_unique() {
        let presets: Vec<Preset> = PRESETS.iter().map(|(id, _)| preset(id).unwrap()).collect();
        let mut questions: Vec<&str> =
            presets.iter().map(|p| p.question.as_str()).filter(|q| !q.is_empty()).collect();
        let count = questions.len();
        assert!((5..=11).contains(&count), "{questions:?}");
        assert!(questions.iter().all(|q| q.ends_with('?') && q.len() <= 44), "{questions:?}");
        questions.sort_unstable();
        questions.dedup();
        assert_eq!(questions.len(), count);
        assert!(presets.iter().all(|p| !p.needs_file || !p.question.is_empty()));
    }

    #[test]
    fn presets_survive_a_round_trip() {
        for (id, _) in PRESETS {
            let preset = Preset { about: "\"a\" \u{1b} 'b' \\".into(), ..preset(id).unwrap() };
            assert_eq!(Preset::parse(id, &preset.to_toml()).unwrap(), preset);
        }
    }

    #[test]
    fn sweeps_override_shared_settings() {
        let text = "about='a'\ndoc='d'\nexperiment='sweep'\n[settings]\nblock-size='512'\nop='read'\n[[sweep]]\n[[sweep]]\nop='write'";
        let preset = Preset::parse("x", text).unwrap();
        fn lines(preset: &Preset) -> Vec<String> {
            preset.parts().iter().map(|part| part.argv().join(" ")).collect::<Vec<_>>()
        }
        assert_eq!(lines(&preset), ["-s 512 --op read", "-s 512 --op write"]);
        assert_eq!(Preset::parse("x", &preset.to_toml()).unwrap(), preset);
        let mut said = Settings::default();
        said.set("op", "seek").unwrap();
        assert_eq!(lines(&preset.over(&said)), ["-s 512 --op seek", "-s 512 --op seek"]);
    }

    #[test]
    fn errors_name_preset_key_and_reason() {
        assert!(preset("quik").unwrap_err().to_string().contains("did you mean quick"));
        fn bad(settings: &str) -> String {
            Preset::parse(
                "x",
                &format!("about='a'\ndoc='d'\nexperiment='sweep'\n[settings]\n{settings}"),
            )
            .unwrap_err()
            .to_string()
        }
        assert!(bad("block-size='8m..1k'").contains("x: line 5: block-size: the range"));
        assert!(bad("op='read'\ntrials=[1]").contains("line 6: trials is a"));
        assert!(
            bad("op='read'\n[[sweep]]\nthreads=2\n[[sweep]]\nthreads=0")
                .contains("line 9: threads: '0' is not between")
        );
        assert!(
            bad("op='read'\n[[sweep]]\n\nbudget='9s'")
                .contains("line 8: budget applies to the whole run")
        );
        assert!(Preset::parse("x", "about = ").unwrap_err().to_string().contains("line 1: "));
        let unknown =
            Preset::parse("x", "about='a'\nexperiment='sweep'\nfoo=1").unwrap_err().reason();
        assert!(
            unknown.starts_with("line 3: unknown field `foo`") && !unknown.contains('|'),
            "{unknown}"
        );
    }

    #[test]
    fn known_names_are_checked() {
        let names = Names { experiments: &["sweep"], infos: &[] };
        let read = |text: &str| {
            Preset::parse_knowing("x", text, Some(names)).map_err(|error| error.reason())
        };
        assert_eq!(read("about='a'\nexperiment='sweep'").unwrap().doc, "");
        assert_eq!(
            read("about='a'\nexperiment='swep'").unwrap_err(),
            "line 2: unknown experiment 'swep'; did you mean sweep?"
        );
        let error = read("about='a'\nexperiment='sweep'\n[settings]\nbackend='rread'").unwrap_err();
        assert!(error.starts_with("line 4: backend: unknown backend 'rread'"), "{error}");
    }

    fn own(id: &str) -> Preset {
        Preset { id: id.into(), about: "mine".into(), ..preset("raw").unwrap() }
    }

    #[test]
    fn user_presets_never_replace_built_ins() {
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
        assert_eq!(presets.select(&[], &Settings::default()).unwrap(), [preset("quick").unwrap()]);
        assert_eq!(
            presets.select(&["raw".into(), "mine".into()], &Settings::default()).unwrap(),
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

    #[test]
    fn write_settings_skip_reading_parts() {
        let presets = [preset("basics").unwrap()];
        let user = Settings {
            writes: Some(vec![Writes::Append]),
            sync: Some(vec![Sync::End]),
            ..Settings::default()
        };
        let resolved = Resolved::new(&user, &presets);
        assert!(resolved.parts.len() > 1);
        for part in &resolved.parts {
            let writes = part.settings.op == Some(Op::Write);
            assert_eq!(part.settings.writes.is_some(), writes, "{:?}", part.settings);
            assert_eq!(part.settings.sync == Some(vec![Sync::End]), writes, "{:?}", part.settings);
        }
    }

    #[test]
    fn user_settings_win_over_presets() {
        let presets = ["quick", "syscalls"].map(|id| preset(id).unwrap());
        let first = Resolved::new(&presets[1].settings, &presets).whole;
        assert_eq!(first.budget, presets[1].settings.budget.or(presets[0].settings.budget));
        let none = Settings::default();
        assert_eq!(Resolved::new(&none, &presets).parts[0].preset.id, "quick");
        assert!(Resolved::new(&none, &[]).parts.is_empty());
    }
}
