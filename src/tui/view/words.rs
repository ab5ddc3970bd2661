//! The second page of the help: what signs and words mean.

use ratatui::text::Line;

use super::{findings, pane};
use crate::analysis::Sign;
use crate::backend::{BACKENDS, Identity, Shape, identity};
use crate::plan::Cache;
use crate::record::Severity;
use crate::tui::theme::{Look, Role};
use crate::tui::vocabulary::{APPROXIMATE, DASHED, DOTTED, FINE, HIDDEN, SOLID, WORDS};

/// A row of the page: what is drawn, and what it means.
pub struct Meaning {
    pub sign: fn(&Look) -> String,
    pub about: &'static str,
}

/// Returns the look of a backend that has a shape, not only a letter.
fn shaped() -> Identity {
    let all = BACKENDS.iter().map(|backend| identity(backend.info().id));
    all.clone().find(|one| one.shape != Shape::Letter).unwrap_or_else(|| identity(""))
}

/// The signs, in the order of the page.
pub static SIGNS: &[Meaning] = &[
    Meaning {
        sign: |look| findings::severity(look, Severity::Wrong).1.into(),
        about: "wrong: the number is not what it claims to be",
    },
    Meaning {
        sign: |look| findings::severity(look, Severity::Misleading).1.into(),
        about: "misleading: the number is right but easily misread; beside a point of a chart: it \
                has a warning, enter shows it",
    },
    Meaning {
        sign: |look| findings::severity(look, Severity::Note).1.into(),
        about: "a note: good to know; the figure is valid as it is",
    },
    Meaning {
        sign: |look| APPROXIMATE.on(look).into(),
        about: "unfinished: fewer than 5 trials, R adds more",
    },
    Meaning {
        sign: |look| {
            let marker = |cache| look.marker(Sign { identity: shaped(), cache, extra: 0 });
            [marker(Cache::Cold), marker(Cache::Warm)].map(String::from).join(" ")
        },
        about: "markers of a backend: the first is cold, the second warm",
    },
    Meaning { sign: |look| FINE.on(look).into(), about: "nothing found" },
    Meaning {
        sign: |look| look.glyph("╷│╵", "|").into(),
        about: "through a point: its 95 % interval",
    },
    Meaning {
        sign: |look| SOLID.on(look).into(),
        about: "a solid line: warm or asis; on Compare: session A",
    },
    Meaning {
        sign: |look| DASHED.on(look).into(),
        about: "a dashed line: cold; a pale one: the mean, in Lab an estimate; on Compare: session B",
    },
    Meaning {
        sign: |look| DOTTED.on(look).into(),
        about: "a dotted line: an estimate made before the run; on Compare: the sessions from C on",
    },
    Meaning { sign: |look| HIDDEN.on(look).into(), about: "a curve that space switched off" },
    Meaning {
        sign: |look| look.glyph("±%", "~%").into(),
        about: "half the width of the 95 % interval, of the median",
    },
    Meaning { sign: |_| "x".into(), about: "times as fast as the best, or as A" },
    Meaning { sign: |look| look.glyph("…", "~").into(), about: "cut for lack of room" },
    Meaning { sign: |_| "-".into(), about: "no figure here" },
];

/// Columns of a sign or word with the space around it.
const NAME: usize = 15;

/// Returns the lines of the page whose text contains `wanted`, at this width.
pub fn lines(look: &Look, wanted: &str, width: usize) -> Vec<Line<'static>> {
    let wanted = wanted.to_lowercase();
    let matches =
        |name: &str, about: &str| format!("{name} {about}").to_lowercase().contains(&wanted);
    let signs = SIGNS.iter().map(|row| ((row.sign)(look), row.about));
    let words = WORDS.iter().map(|(word, about)| ((*word).to_string(), *about));
    let mut all = Vec::new();
    for (title, role, rows) in
        [("Signs", Role::Number, signs.collect::<Vec<_>>()), ("Words", Role::Key, words.collect())]
    {
        let rows: Vec<_> = rows.into_iter().filter(|(name, about)| matches(name, about)).collect();
        if rows.is_empty() {
            continue;
        }
        if !all.is_empty() {
            all.push(Line::default());
        }
        all.push(look.line(Role::Title, format!(" {title}")));
        for (name, about) in rows {
            let parts = pane::wrap(about, width.saturating_sub(NAME + 2).max(10));
            for (row, part) in parts.into_iter().enumerate() {
                let head = if row == 0 { name.clone() } else { String::new() };
                let pad = " ".repeat(NAME.saturating_sub(pane::width(&head)));
                all.push(Line::from(vec![
                    look.span(role, format!(" {head}{pad}")),
                    look.span(Role::Text, part),
                ]));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Glyphs;

    #[test]
    fn every_sign_and_word_has_a_meaning_once() {
        let look = Look::default();
        let signs: Vec<String> = SIGNS.iter().map(|row| (row.sign)(&look)).collect();
        for (at, sign) in signs.iter().enumerate() {
            assert!(!sign.is_empty() && !signs[..at].contains(sign), "{sign}");
        }
        for (at, (word, about)) in WORDS.iter().enumerate() {
            assert!(!about.is_empty() && WORDS[..at].iter().all(|(other, _)| other != word));
        }
        let ascii = Look { glyphs: Glyphs::Ascii, ..look };
        assert!(SIGNS.iter().all(|row| (row.sign)(&ascii).is_ascii()));
    }
}
