//! What texts of the command line say on a screen: its keys and the names of its settings.

use crate::plan::{Setting, Settings, ValueKind};

/// Options that are no setting, in the words of a screen.
const OTHERS: [(&str, &str); 4] =
    [("--dir", "the folder"), ("--plan", "r"), ("--refine", "R"), ("FILE", "a file")];

/// Returns a remedy or an error in the words of a screen: an option becomes the name of its row on
/// Setup, `use --trials 5 or more, or a longer --budget` becomes `use Trials 5 or more, or a
/// longer Budget`.
pub fn speak(text: &str) -> String {
    // Runs of the screen are saved anyway.
    let text = text.replace("use --plan", "press --plan").replace(" (--save)", "");
    let spoken = text.split(' ').map(|word| {
        let start = word.find(|c: char| c == '-' || c.is_alphanumeric()).unwrap_or(0);
        let (before, rest) = word.split_at(start);
        let end = rest.find(|c: char| c != '-' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (option, after) = rest.split_at(end);
        match title_of(option) {
            Some(title) => format!("{before}{title}{after}"),
            None => word.into(),
        }
    });
    spoken.collect::<Vec<_>>().join(" ")
}

fn title_of(option: &str) -> Option<&'static str> {
    if let Some((_, words)) = OTHERS.iter().find(|(name, _)| *name == option) {
        return Some(words);
    }
    let is_it = |setting: &&Setting| match option.strip_prefix("--") {
        Some(name) => setting.name == name,
        None => {
            let mut rest = option.chars();
            rest.next() == Some('-') && setting.short.is_some() && rest.eq(setting.short)
        }
    };
    Settings::ALL.iter().find(is_it).map(|setting| setting.title)
}

/// Describes settings by the names of their rows: `Block size 1m, Operation read`.
pub fn describe_settings(settings: &Settings) -> String {
    let each = Settings::ALL.iter().filter_map(|setting| {
        let (title, text) = (setting.title, setting.text(settings)?);
        Some(match (setting.kind, text.as_str()) {
            (ValueKind::Switch, "true") => title.into(),
            (ValueKind::Switch, _) => format!("no {title}"),
            _ => format!("{title} {text}"),
        })
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Returns whether adding rounds is what a remedy asks for.
pub fn asks_for_rounds(remedy: &str) -> bool {
    remedy.contains("--trials")
}

/// Returns the name of the first setting that a remedy asks to change.
pub fn asked_setting(remedy: &str) -> Option<&'static str> {
    let options = remedy.split(' ').filter_map(|word| word.strip_prefix("--"));
    let names = options.map(|name| name.trim_end_matches([',', ';', ':', '.', ')']));
    names
        .filter_map(|name| Settings::ALL.iter().find(|setting| setting.name == name))
        .map(|setting| setting.name)
        .find(|name| *name != "trials")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_names_of_the_screen() {
        for (text, wanted) in [
            (
                "use --trials 5 or more, or a longer --budget",
                "use Trials 5 or more, or a longer Budget",
            ),
            ("add --direct: buffered requests wait", "add Direct I/O: buffered requests wait"),
            ("use --plan to measure it as it is now", "press r to measure it as it is now"),
            ("too large; use -s 631 or less", "too large; use Block size 631 or less"),
            ("-5 - x", "-5 - x"),
            ("3 more saved runs (--save) would", "3 more saved runs would"),
            ("nothing here", "nothing here"),
            ("", ""),
        ] {
            assert_eq!(speak(text), wanted);
        }
        assert!(asks_for_rounds("use more --trials or a longer --trial-time"));
        assert_eq!(asked_setting("use more --trials or a longer --trial-time"), Some("trial-time"));
        assert_eq!(asked_setting("stop other users of the disk and run again"), None);
    }

    /// Options of other programs, and those that no screen has a row for: the lists, secrets for
    /// the other machine, what is dropped for good, and commands between rounds.
    const FOREIGN: [&str; 8] = [
        "--sparse",
        "--setra",
        "--version",
        "--list",
        "--secret-file",
        "--keep",
        "--between",
        "--direct-io",
    ];
    /// Where remedies are, and reasons why a cell is skipped or fails.
    const FOLDERS: [&str; 8] = [
        "record/verdict/rules",
        "host/doctor",
        "experiment",
        "engine",
        "engine/run",
        "backend",
        "probe",
        "probe/net",
    ];

    /// Every option in these sources, but those whose name is filled in.
    #[test]
    fn no_remedy_and_no_reason_keeps_an_option() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let (mut found, mut kept) = (0, Vec::new());
        for folder in FOLDERS {
            for file in std::fs::read_dir(root.join("crates/engine/src").join(folder)).unwrap() {
                let path = file.unwrap().path();
                let is_source = path.is_file() && !path.ends_with("tests.rs");
                let text = is_source.then(|| std::fs::read_to_string(&path).unwrap());
                for (at, _) in text.as_deref().unwrap_or_default().match_indices(" --") {
                    let name = |c: &char| *c == '-' || c.is_ascii_alphanumeric();
                    let option: String = text
                        .iter()
                        .flat_map(|text| text[at + 1..].chars())
                        .take_while(name)
                        .collect();
                    found += 1;
                    let is_named =
                        option.trim_matches('-').is_empty() || FOREIGN.contains(&option.as_str());
                    if !is_named && speak(&option).contains("--") {
                        kept.push(format!("{folder}: {option}"));
                    }
                }
            }
        }
        assert!(found > 60 && kept.is_empty(), "{found} options, {kept:?}");
    }
}
