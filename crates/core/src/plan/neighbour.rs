//! A neighbour: a second job that runs while a cell is measured (`--neighbour`).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::setting_text::neighbour_shares;
use super::{
    Cache, Job, Range, Setting, SettingError, Settings, TargetSpec, ValueKind, Variant, VariantName,
};

/// The settings that a neighbour may have: what makes a job, and the size of its file.
const ALLOWED: [&str; 15] = [
    "backend",
    "block-size",
    "op",
    "pattern",
    "threads",
    "depth",
    "rate",
    "arrival",
    "think",
    "direct",
    "size",
    "sync",
    "sync-every",
    "compressible",
    "dedupe",
];

/// The options of a neighbour, as they were given, and their settings.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighbourOptions {
    text: String,
    pub settings: Box<Settings>,
}

/// A job that runs on a file of its own while cells are measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// As they were given.
    pub options: String,
    pub job: Job,
    /// Its scratch file.
    pub target: TargetSpec,
    /// The percentage of what it does at full speed; absent from JSON if the job has a rate, or
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<u8>,
    /// How far its data compresses and repeats, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compressible: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<u8>,
}

impl Neighbour {
    /// Describes its job: `pwrite 1 MiB write at 25 % of its full speed`.
    pub fn describe(&self) -> String {
        let at = self.share.map(|share| format!(" at {share} % of its full speed"));
        self.job.label() + &at.unwrap_or_default()
    }

    /// Returns the options and the shares from which the variants of a plan were made.
    pub fn settings_of(variants: &[Variant]) -> (Option<NeighbourOptions>, Option<Range>) {
        let all = || variants.iter().filter_map(|variant| variant.neighbour.as_deref());
        let options = all().next().and_then(|of| NeighbourOptions::parse(&of.options).ok());
        let shares: Vec<String> =
            all().filter_map(|of| of.share).map(|share| share.to_string()).collect();
        (options, neighbour_shares(&shares.join(",")).ok())
    }

    /// Returns the variants of a plan in which each cell is measured alone, and next to each of
    /// these.
    pub fn variants(neighbours: Vec<Neighbour>) -> Vec<Variant> {
        let several = neighbours.len() > 1;
        let name = |of: &Neighbour| match (of.share, of.job.rate) {
            (Some(share), _) => format!("{share}%"),
            (None, Some(rate)) if several => rate.to_string(),
            _ => "neighbour".into(),
        };
        let variant = |name: String, neighbour: Option<Neighbour>| Variant {
            // Rates and percentages are names.
            name: name.parse().unwrap_or_else(|_| unreachable!("{name}")),
            command: String::new(),
            neighbour: neighbour.map(Box::new),
        };
        let next_to = neighbours.into_iter().map(|of| variant(name(&of), Some(of)));
        std::iter::once(variant(VariantName::ALONE.into(), None)).chain(next_to).collect()
    }
}

impl NeighbourOptions {
    /// Parses the options of a command line that make a job, such as `-b pread --op write -s 1m
    /// --rate 200MB/s`.
    ///
    /// # Errors
    /// A word is no option, an option does not belong to a job, or its value is refused.
    pub fn parse(text: &str) -> Result<NeighbourOptions, SettingError> {
        let refuse = |why: String| Err(SettingError::Value(why));
        let mut settings = Settings::default();
        let mut words = text.split_ascii_whitespace();
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word, None),
            };
            let Some(setting) = find_option(option) else {
                return refuse(format!("'{option}' is not an option of a neighbour"));
            };
            let value = match (value, setting.kind) {
                (Some(value), _) => value,
                (None, ValueKind::Switch) => "yes",
                (None, _) => match words.next() {
                    Some(value) => value,
                    None => return refuse(format!("'{option}' of the neighbour lacks a value")),
                },
            };
            if let Err(error) = settings.set(setting.name, value) {
                return refuse(format!("{option} of the neighbour: {error}"));
            }
        }
        if settings == Settings::default() {
            return refuse("name its options, such as '--op write -s 1m --direct'".into());
        }
        // Its own file stays as its last trial left it.
        settings.cache = Some(vec![Cache::AsIs]);
        Ok(NeighbourOptions { text: text.trim().into(), settings: Box::new(settings) })
    }
}

fn find_option(option: &str) -> Option<&'static Setting> {
    let is_it = |setting: &&Setting| match option.strip_prefix("--") {
        Some(name) => setting.name == name,
        None => setting.short.is_some_and(|short| option == format!("-{short}")),
    };
    Settings::ALL.iter().find(is_it).filter(|setting| ALLOWED.contains(&setting.name))
}

impl fmt::Display for NeighbourOptions {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_make_settings() {
        let line = " -b pread --op write -s 1m --direct --rate=200MB/s ";
        let options = NeighbourOptions::parse(line).unwrap();
        assert_eq!(
            options.settings.argv().join(" "),
            "-b pread -s 1m --op write --rate 200MB/s -c asis --direct"
        );
        assert_eq!(options.to_string(), line.trim());
    }

    #[test]
    fn other_words_are_refused() {
        for (line, why) in [
            ("", "name its options"),
            ("data.bin", "'data.bin' is not an option of a neighbour"),
            ("--op write --trials 3", "'--trials' is not an option of a neighbour"),
            ("--neighbour x", "'--neighbour' is not an option"),
            ("-s", "'-s' of the neighbour lacks a value"),
            ("-s 8m..1k", "-s of the neighbour: the range '8m..1k' runs backwards"),
            ("--rate 0", "--rate of the neighbour:"),
        ] {
            let error = NeighbourOptions::parse(line).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }

    #[test]
    fn variants_are_named_by_rates() {
        let options = "-b pread -s 4k";
        let neighbour = |share, rate| Neighbour {
            options: options.into(),
            job: Job { rate, ..super::super::testing::job() },
            target: TargetSpec::None,
            share,
            compressible: None,
            dedupe: None,
        };
        let names = |all: Vec<Neighbour>| {
            let all = Neighbour::variants(all);
            all.iter().map(|of| of.name.to_string()).collect::<Vec<_>>().join(" ")
        };
        let rate = |bytes| Some(super::super::Rate::Bytes(bytes));
        assert_eq!(names(vec![neighbour(None, rate(7))]), "alone neighbour");
        assert_eq!(
            names(vec![neighbour(None, rate(50_000_000)), neighbour(None, rate(7 << 20))]),
            "alone 50MB/s 7MiB/s"
        );
        let shares = [25, 100].map(|share| neighbour(Some(share), None));
        assert_eq!(names(shares.to_vec()), "alone 25% 100%");
        let (given, at) = Neighbour::settings_of(&Neighbour::variants(shares.to_vec()));
        assert_eq!(
            (given.unwrap().to_string(), at.unwrap().to_string()),
            (options.into(), "25,100".into())
        );
        assert_eq!(Neighbour::settings_of(&[]), (None, None));
    }
}
