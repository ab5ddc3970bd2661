//! Removes the terminal's answers about its colours from its input: crossterm reads them as keys.
//! Whatever they look like and whenever they come, no part of them reaches a screen.

use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::tui::theme::Palette;

/// An answer comes in one piece; nobody types that fast.
const GAP: Duration = Duration::from_millis(150);
/// One that is due comes late on a slow line: what can belong to it is no key for this long.
const SLOW_GAP: Duration = Duration::from_secs(1);
/// Longer input is no answer.
const MAX_ANSWER_BYTES: usize = 64;

/// What an event turned out to be.
#[derive(Debug, PartialEq)]
pub enum Taken {
    /// No part of an answer.
    Event(Event),
    /// Part of one.
    Nothing,
    /// The end of the last one.
    Palette(Palette),
}

#[derive(Debug, Default)]
pub struct Answers {
    palette: Palette,
    /// The answer so far, and when its last part came.
    open: Option<(String, Instant)>,
    /// The last key was an escape, which may begin an answer or its terminator.
    escaped: bool,
    /// Until when an answer is due.
    due_until: Option<Instant>,
}

/// Returns whether the key is an escape, which may be the first byte of an answer in two pieces.
pub fn is_escape(event: &Event) -> bool {
    matches!(event, Event::Key(KeyEvent { code: KeyCode::Esc, .. }))
}

/// Returns whether the key is the second byte of an answer.
pub fn is_bracket(event: &Event) -> bool {
    matches!(event, Event::Key(KeyEvent { code: KeyCode::Char(']'), .. }))
}

/// Returns whether an answer can have this key behind its first two bytes.
fn is_part(key: &KeyEvent) -> bool {
    match key.code {
        KeyCode::Esc => true,
        KeyCode::Char(c) => c.is_ascii_hexdigit() || "rg:/;\\".contains(c),
        _ => false,
    }
}

impl Answers {
    /// Expects answers until then.
    pub fn due(until: Instant) -> Answers {
        Answers { due_until: Some(until), ..Answers::default() }
    }

    /// Returns whether an answer is due.
    pub fn is_due(&self, now: Instant) -> bool {
        self.due_until.is_some_and(|until| now < until)
    }

    /// Begins an answer whose first two bytes came apart.
    pub fn begin(&mut self, now: Instant) {
        self.open = Some((String::new(), now));
        self.escaped = false;
    }

    /// Returns what an event is.
    pub fn take(&mut self, event: Event, now: Instant) -> Taken {
        let Event::Key(key) = &event else { return Taken::Event(event) };
        if key.kind == KeyEventKind::Release {
            return Taken::Event(event);
        }
        let is_due = self.is_due(now);
        let gap = if is_due && is_part(key) { SLOW_GAP } else { GAP };
        if self.open.as_ref().is_some_and(|(_, last)| now.saturating_duration_since(*last) > gap) {
            self.open = None;
        }
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        // Of one that is due the first byte may come long before the second.
        let follows_escape = self.escaped && is_due && self.open.is_none();
        if (alt || follows_escape) && key.code == KeyCode::Char(']') {
            self.begin(now);
            return Taken::Nothing;
        }
        let Some((answer, last)) = &mut self.open else {
            self.escaped = key.code == KeyCode::Esc;
            return Taken::Event(event);
        };
        *last = now;
        let ends = match key.code {
            KeyCode::Char('\\') => alt || self.escaped,
            // BEL.
            KeyCode::Char('g') => key.modifiers.contains(KeyModifiers::CONTROL),
            _ => false,
        };
        self.escaped = key.code == KeyCode::Esc;
        if ends {
            let answer = std::mem::take(answer);
            self.open = None;
            let is_last = self.palette.take_answer(&answer);
            if is_last {
                self.due_until = None;
            }
            return if is_last { Taken::Palette(self.palette) } else { Taken::Nothing };
        }
        if let KeyCode::Char(c) = key.code
            && answer.len() < MAX_ANSWER_BYTES
        {
            answer.push(c);
        }
        Taken::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    /// Returns the events that crossterm makes of these bytes.
    fn events(bytes: &str) -> Vec<Event> {
        let mut all = Vec::new();
        let mut chars = bytes.chars();
        while let Some(c) = chars.next() {
            all.push(match c {
                '\x1b' => match chars.next() {
                    Some(c) => key(KeyCode::Char(c), KeyModifiers::ALT),
                    None => key(KeyCode::Esc, KeyModifiers::NONE),
                },
                '\x07' => key(KeyCode::Char('g'), KeyModifiers::CONTROL),
                c => key(KeyCode::Char(c), KeyModifiers::NONE),
            });
        }
        all
    }

    fn take(answers: &mut Answers, bytes: &str, now: Instant) -> Vec<Taken> {
        let all = events(bytes).into_iter().map(|event| answers.take(event, now));
        all.filter(|taken| *taken != Taken::Nothing).collect()
    }

    #[test]
    fn answers_become_a_palette_and_no_keys() {
        let (mut answers, now) = (Answers::default(), Instant::now());
        assert!(take(&mut answers, "\x1b]4;8;rgb:55/57/53\x1b\\", now).is_empty());
        assert!(take(&mut answers, "\x1b]10;rgb:ff/ff/ff\x07", now).is_empty());
        let taken = take(&mut answers, "\x1b]11;rgb:2e2e/3434/3636\x1b\\", now);
        let [Taken::Palette(palette)] = taken.as_slice() else { panic!("{taken:?}") };
        assert_eq!(palette.background, Some((0x2e, 0x34, 0x36)));
        assert_eq!(palette.ansi[8], Some((0x55, 0x57, 0x53)));
        assert_eq!(palette.foreground, Some((255, 255, 255)));
        assert_eq!(take(&mut answers, "q", now).len(), 1);
    }

    #[test]
    fn garbage_and_late_answers_are_swallowed_and_keys_after_them_are_not() {
        let now = Instant::now();
        for garbage in ["\x1b]11;quit\x07", "\x1b]11;?\x1b]qqq\x1b\\", "\x1b]\x07", "\x1b]é🙂q\x07"]
        {
            let mut answers = Answers::default();
            assert_eq!(take(&mut answers, garbage, now), [], "{garbage:?}");
            assert_eq!(take(&mut answers, "q", now).len(), 1, "{garbage:?}");
        }
        let mut answers = Answers::default();
        assert_eq!(take(&mut answers, &format!("\x1b]11;{}", "r".repeat(9999)), now), []);
        assert_eq!(take(&mut answers, "q", now + GAP * 2).len(), 1, "it never ended");
    }

    #[test]
    fn an_answer_in_pieces_is_put_together() {
        let (mut answers, now) = (Answers::default(), Instant::now());
        answers.begin(now);
        assert!(take(&mut answers, "11;rgb:ff/ff", now).is_empty());
        assert!(take(&mut answers, "/ff\x1b", now + GAP / 2).is_empty());
        let taken = answers.take(key(KeyCode::Char('\\'), KeyModifiers::NONE), now + GAP / 2);
        assert!(matches!(taken, Taken::Palette(_)));
    }

    #[test]
    fn an_answer_that_is_due_may_come_slowly() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut answers = Answers::due(at(5000));
        // The escape was taken for a key, long before the rest.
        let escape = key(KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(answers.take(escape.clone(), at(0)), Taken::Event(escape));
        assert!(take(&mut answers, "]11;", at(400)).is_empty());
        assert!(take(&mut answers, "rgb:ff/ff", at(1200)).is_empty());
        let taken = take(&mut answers, "/ff\x07", at(2000));
        assert!(matches!(taken[..], [Taken::Palette(_)]), "{taken:?}");
        // Nothing is due any more.
        let typed = answers.take(key(KeyCode::Esc, KeyModifiers::NONE), at(2100));
        assert!(matches!(typed, Taken::Event(_)));
        assert_eq!(take(&mut answers, "]r", at(2200)).len(), 2);
        // What no answer has is a key at once where one was torn off.
        let mut answers = Answers::due(at(5000));
        assert!(take(&mut answers, "\x1b]11;rgb:", at(0)).is_empty());
        assert_eq!(take(&mut answers, "q", at(300)).len(), 1);
        assert_eq!(take(&mut answers, "r", at(310)).len(), 1);
    }

    #[test]
    fn other_events_pass() {
        let (mut answers, now) = (Answers::default(), Instant::now());
        answers.begin(now);
        assert_eq!(answers.take(Event::FocusGained, now), Taken::Event(Event::FocusGained));
    }
}
