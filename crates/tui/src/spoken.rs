//! Rewords texts of the command line for a screen: with its keys and the names of its settings.

use crate::plan::{Setting, Settings, ValueKind};

/// Options that are not settings, in the words of a screen.
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
            (ValueKind::Switch, "false") => format!("no {title}"),
            _ => format!("{title} {text}"),
        })
    });
    each.collect::<Vec<_>>().join(", ")
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
    }
}
