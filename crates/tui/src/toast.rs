//! Short messages in the last line: one at a time, until the next key or click.

use std::collections::VecDeque;
use std::time::Duration;

use super::theme::Role;

const TOAST_DURATION: Duration = Duration::from_secs(5);
/// Longer where something went wrong: it has to be read.
const FAILURE_DURATION: Duration = Duration::from_secs(12);
/// A user who presses a key sooner has not read the message.
const READING_TIME: Duration = Duration::from_millis(800);
const MAX_WAITING: usize = 9;
/// Messages that the list of all of them keeps.
const MAX_KEPT: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    pub text: String,
    pub role: Role,
    lasts: Duration,
    came: Duration,
}

/// A past message and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptMessage {
    pub text: String,
    pub role: Role,
    pub at: Duration,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toasts {
    /// The last one is shown: the answer to the last key is seen at once.
    waiting: Vec<Toast>,
    /// Since when it is shown.
    since: Duration,
    kept: VecDeque<KeptMessage>,
}

impl Toasts {
    pub fn good(&mut self, now: Duration, text: impl Into<String>) {
        self.push(now, text.into(), Role::Good, TOAST_DURATION);
    }

    pub fn note(&mut self, now: Duration, text: impl Into<String>) {
        self.push(now, text.into(), Role::Note, TOAST_DURATION);
    }

    pub fn fail(&mut self, now: Duration, text: impl Into<String>) {
        self.push(now, text.into(), Role::Wrong, FAILURE_DURATION);
    }

    fn push(&mut self, now: Duration, text: String, role: Role, lasts: Duration) {
        self.waiting.retain(|known| known.text != text);
        // A message that could be read does not come back: it may be out of date.
        if now.saturating_sub(self.since) >= READING_TIME {
            self.waiting.pop_if(|shown| shown.role != Role::Wrong);
        }
        if self.kept.back().is_none_or(|last| last.text != text) {
            self.kept.push_back(KeptMessage { text: text.clone(), role, at: now });
        }
        if self.kept.len() > MAX_KEPT {
            self.kept.pop_front();
        }
        self.waiting.push(Toast { text, role, lasts, came: now });
        if self.waiting.len() > MAX_WAITING {
            self.waiting.remove(0);
        }
        self.since = now;
    }

    /// Removes the message once its time is over.
    pub fn pass(&mut self, now: Duration) {
        if self.current().is_some_and(|toast| now.saturating_sub(self.since) >= toast.lasts) {
            self.end(now);
        }
    }

    /// Ends the message at a key or click, if it could be read.
    pub fn go_on(&mut self, now: Duration) {
        if now.saturating_sub(self.since) >= READING_TIME {
            self.end(now);
        }
    }

    fn end(&mut self, now: Duration) {
        if let Some(ended) = self.waiting.pop() {
            // Messages that came together follow each other, and failures must be read.
            self.waiting.retain(|toast| {
                let is_new = now.saturating_sub(toast.came) < toast.lasts;
                toast.role == Role::Wrong || toast.came == ended.came || is_new
            });
        }
        self.since = now;
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the message that is shown and those behind it, this one last.
    #[cfg(test)]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Toast> {
        self.waiting.iter()
    }

    /// Returns the message that is shown.
    pub fn current(&self) -> Option<&Toast> {
        self.waiting.last()
    }

    /// Returns how many wait behind it.
    pub fn behind(&self) -> usize {
        self.waiting.len().saturating_sub(1)
    }

    /// Returns the last messages, the newest first.
    pub fn kept(&self) -> impl DoubleEndedIterator<Item = &KeptMessage> {
        self.kept.iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(toasts: &Toasts) -> (&str, usize) {
        (toasts.current().map_or("-", |toast| toast.text.as_str()), toasts.behind())
    }

    #[test]
    fn messages_show_singly_and_once() {
        let mut toasts = Toasts::default();
        for n in 0..3 {
            toasts.good(Duration::ZERO, format!("{n}"));
            toasts.good(Duration::ZERO, format!("{n}"));
        }
        assert_eq!(shown(&toasts), ("2", 2));
        toasts.pass(Duration::from_secs(5));
        assert_eq!(shown(&toasts), ("1", 1), "the next begins where this one ends");
        toasts.pass(Duration::from_secs(9));
        assert_eq!(shown(&toasts), ("1", 1));
        toasts.pass(Duration::from_secs(10));
        toasts.pass(Duration::from_secs(15));
        assert!(toasts.is_empty());
        let kept: Vec<&str> = toasts.kept().map(|message| message.text.as_str()).collect();
        assert_eq!(kept, ["2", "1", "0"]);
        for n in 0..500 {
            toasts.fail(Duration::ZERO, format!("{n}"));
        }
        assert_eq!((toasts.behind(), toasts.kept().count()), (MAX_WAITING - 1, MAX_KEPT));
    }

    #[test]
    fn old_messages_do_not_return() {
        let at = Duration::from_millis;
        for second in [2000, 500] {
            let mut toasts = Toasts::default();
            toasts.note(at(0), "a run is in progress");
            toasts.good(at(second), "saved");
            toasts.pass(at(second + 5000));
            assert!(toasts.is_empty(), "{second}");
        }
        let mut toasts = Toasts::default();
        toasts.fail(at(0), "not written: no space");
        toasts.good(at(2000), "saved");
        toasts.pass(at(7000));
        assert_eq!(shown(&toasts).0, "not written: no space");
        // A message that was shown too briefly to read comes back.
        let mut toasts = Toasts::default();
        toasts.note(at(0), "copied");
        toasts.note(at(500), "all trials are shown");
        toasts.go_on(at(1500));
        assert_eq!(shown(&toasts).0, "copied");
    }

    #[test]
    fn messages_end_on_user_input() {
        let mut toasts = Toasts::default();
        toasts.fail(Duration::ZERO, "not written: no space");
        toasts.go_on(Duration::from_millis(100));
        assert_eq!(shown(&toasts).0, "not written: no space", "that key was pressed before");
        toasts.pass(Duration::from_secs(6));
        assert_eq!(shown(&toasts).0, "not written: no space", "a failure stays longer");
        toasts.go_on(Duration::from_secs(7));
        assert!(toasts.is_empty());
    }
}
