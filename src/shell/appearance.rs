//! Finds what this terminal can show, from the environment and the options.

use crate::output::{DisplayArgs, When, is_ascii_only};
use crate::tui::theme::{Colours, Glyphs, Look};

/// Returns the look for these options in an environment, with the default theme.
pub fn look(
    when: When,
    ascii: bool,
    shown: DisplayArgs,
    env: &dyn Fn(&str) -> Option<String>,
) -> Look {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let colours = match when {
        When::Never => Colours::None,
        When::Auto
            if set("NO_COLOR").is_some() || set("TERM").is_none_or(|term| term == "dumb") =>
        {
            Colours::None
        }
        _ => depth(&set),
    };
    let glyphs = if ascii || is_ascii_only(env) { Glyphs::Ascii } else { Glyphs::Unicode };
    Look {
        colours,
        glyphs,
        unit: shown.unit,
        scale: shown.scale,
        graph: shown.graph,
        ..Look::default()
    }
}

fn depth(set: &dyn Fn(&str) -> Option<String>) -> Colours {
    let term = set("TERM").unwrap_or_default();
    match set("COLORTERM").as_deref() {
        Some("truecolor" | "24bit") => Colours::True,
        _ if term.contains("direct") => Colours::True,
        _ if term.contains("256color") => Colours::TwoFiftySix,
        _ => Colours::Sixteen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(when: When, ascii: bool, vars: &[(&str, &str)]) -> (Colours, Glyphs) {
        let env = |name: &str| {
            vars.iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_string())
        };
        let look = look(when, ascii, DisplayArgs::default(), &env);
        (look.colours, look.glyphs)
    }

    #[test]
    fn the_environment_decides() {
        let utf = ("LANG", "C.UTF-8");
        for (when, ascii, vars, wanted) in [
            (
                When::Auto,
                false,
                vec![("TERM", "xterm-256color"), utf],
                (Colours::TwoFiftySix, Glyphs::Unicode),
            ),
            (
                When::Auto,
                false,
                vec![("TERM", "xterm"), ("COLORTERM", "truecolor"), utf],
                (Colours::True, Glyphs::Unicode),
            ),
            (When::Auto, false, vec![("TERM", "xterm"), utf], (Colours::Sixteen, Glyphs::Unicode)),
            (
                When::Auto,
                false,
                vec![("TERM", "xterm"), ("NO_COLOR", "1"), utf],
                (Colours::None, Glyphs::Unicode),
            ),
            (
                When::Auto,
                false,
                vec![("TERM", "xterm"), ("NO_COLOR", ""), utf],
                (Colours::Sixteen, Glyphs::Unicode),
            ),
            (
                When::Always,
                false,
                vec![("TERM", "xterm"), ("NO_COLOR", "1"), utf],
                (Colours::Sixteen, Glyphs::Unicode),
            ),
            (
                When::Never,
                false,
                vec![("TERM", "xterm-256color"), utf],
                (Colours::None, Glyphs::Unicode),
            ),
            (When::Auto, false, vec![("TERM", "dumb"), utf], (Colours::None, Glyphs::Unicode)),
            (When::Auto, false, vec![("TERM", "linux"), utf], (Colours::Sixteen, Glyphs::Ascii)),
            (
                When::Auto,
                false,
                vec![("TERM", "xterm"), ("LC_ALL", "C"), utf],
                (Colours::Sixteen, Glyphs::Ascii),
            ),
            (When::Auto, true, vec![("TERM", "xterm"), utf], (Colours::Sixteen, Glyphs::Ascii)),
            (When::Auto, false, vec![], (Colours::None, Glyphs::Unicode)),
        ] {
            assert_eq!(resolve(when, ascii, &vars), wanted, "{when:?} {ascii} {vars:?}");
        }
    }
}
