//! The help: the keys of the screen, and on its second page signs and words.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use tui_input::Input;

use super::{After, KeyNames, Layer};
use crate::analysis::Sign;
use crate::catalog::{BACKENDS, Identity, Shape, identity};
use crate::keymap::{self, Action, Binding};
use crate::keys::{Key, edit};
use crate::model::Model;
use crate::plan::Cache;
use crate::popup::Help;
use crate::record::Severity;
use crate::theme::{Look, Role};
use crate::update::act::act;
use crate::view::hits::{Hits, Part};
use crate::view::list::List;
use crate::view::{findings, pane};
use crate::vocabulary::{APPROXIMATE, DASHED, DOTTED, FINE, HIDDEN, SOLID, WORDS};

impl Layer for Help {
    fn footer(&self, _: &Model) -> KeyNames {
        if self.words {
            &[("esc", "close"), ("tab", "keys"), ("/", "find"), ("down", "scroll")]
        } else {
            &[("enter", "do it"), ("esc", "close"), ("?", "signs and words"), ("/", "find")]
        }
    }

    fn field(&mut self) -> Option<&mut Input> {
        self.filter.as_mut()
    }

    fn row(&mut self) -> Option<&mut usize> {
        Some(&mut self.scroll)
    }

    fn is_text(&self) -> bool {
        self.words
    }

    /// Does what is under the cursor.
    fn choose(&mut self, model: &mut Model) -> After {
        if self.words {
            return After::Stay(Vec::new());
        }
        match keymap::find_listed(model.screen, self.wanted()).get(self.scroll) {
            Some(binding) => After::Close(act(model, binding.action)),
            None => After::Stay(Vec::new()),
        }
    }

    /// Turns, filters, moves, or does what is under the cursor.
    fn press(&mut self, model: &mut Model, key: Key, action: Option<Action>) -> After {
        let moves = matches!(
            key.code,
            KeyCode::Enter | KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown
        );
        match (&mut self.filter, action) {
            (Some(input), _) if !moves => {
                if edit(input, key) {
                    self.scroll = 0;
                }
            }
            (_, Some(Action::Enter)) => return self.choose(model),
            (_, Some(Action::Help)) if self.words => return After::Close(Vec::new()),
            (_, Some(Action::Help | Action::NextPane | Action::PreviousPane)) => {
                self.words = !self.words;
                self.scroll = 0;
            }
            (None, _) if key.letter() == Some('/') => self.filter = Some(Input::default()),
            _ => self.move_row(model, action),
        }
        After::Stay(Vec::new())
    }

    fn draw(&self, model: &Model, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let look = &model.look;
        let keys = format!("Help: {}", model.screen.title());
        let title = if self.words { "Help: signs and words" } else { &keys };
        let inner = pane::draw_window(look, title, pane::middle(body, 80, body.height), buf);
        if let Some(input) = &self.filter {
            pane::filter(look, input, true, inner, buf);
        }
        let above = u16::from(self.filter.is_some()).min(inner.height);
        let area = Rect { y: inner.y + above, height: inner.height - above, ..inner };
        let (mut lines, list);
        if self.words {
            lines = word_lines(look, self.wanted(), usize::from(area.width));
            list = List::scrolled(self.scroll, lines.len(), area);
        } else {
            let found = keymap::find_listed(model.screen, self.wanted());
            lines = found.into_iter().map(|key| key_line(look, key)).collect();
            list = List::around(self.scroll, lines.len(), area);
        }
        hits.list(Part::Popup, list);
        // Words scroll; keys have a cursor, and Enter does what is under it.
        let cursor = (!self.words).then(|| self.scroll.min(lines.len().saturating_sub(1)));
        if lines.is_empty() {
            let none = format!(" nothing here has {}", self.wanted());
            pane::line(look.line(Role::Dim, none), 0, list.area, buf);
        }
        list.draw(look, cursor, |at| std::mem::take(&mut lines[at]), buf);
    }
}

impl Help {
    /// Returns the text that rows must contain.
    fn wanted(&self) -> &str {
        self.filter.as_ref().map_or("", Input::value)
    }
}

fn key_line(look: &Look, binding: &Binding) -> Line<'static> {
    Line::from(vec![
        look.span(Role::Key, format!(" {:<16}", binding.keys.join(" "))),
        look.span(Role::Text, binding.help),
    ])
}

/// A row of the page: what is drawn, and what it means.
pub struct Meaning {
    pub sign: fn(&Look) -> String,
    pub about: &'static str,
}

/// Returns the look of a backend that has a shape, not only a letter.
fn shaped() -> Identity {
    let all = BACKENDS.iter().map(|backend| identity(backend.id));
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
        about: "misleading: the number is right but easily misread; next to a point of a chart: it \
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

/// Returns the word_lines of the page whose text contains `wanted`, at this width.
pub fn word_lines(look: &Look, wanted: &str, width: usize) -> Vec<Line<'static>> {
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
            let name = look.span(role, format!(" {}", pane::pad(&name, NAME)));
            all.extend(pane::hang(name, parts, look.style(Role::Text)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Glyphs;

    #[test]
    fn signs_and_words_have_one_meaning() {
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
