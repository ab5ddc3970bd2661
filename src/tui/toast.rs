//! Short messages that go away by themselves.

use std::collections::VecDeque;
use std::time::Duration;

use super::theme::Role;

const TOAST_DURATION: Duration = Duration::from_secs(5);
/// Longer where something went wrong: it has to be read.
const FAILURE_DURATION: Duration = Duration::from_secs(12);
const MAX_TOASTS: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    pub text: String,
    pub role: Role,
    until: Duration,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toasts(VecDeque<Toast>);

impl Toasts {
    pub fn good(&mut self, now: Duration, text: impl Into<String>) {
        self.push(Toast { text: text.into(), role: Role::Good, until: now + TOAST_DURATION });
    }

    pub fn note(&mut self, now: Duration, text: impl Into<String>) {
        self.push(Toast { text: text.into(), role: Role::Note, until: now + TOAST_DURATION });
    }

    pub fn fail(&mut self, now: Duration, text: impl Into<String>) {
        self.push(Toast { text: text.into(), role: Role::Wrong, until: now + FAILURE_DURATION });
    }

    fn push(&mut self, toast: Toast) {
        self.0.retain(|known| known.text != toast.text);
        self.0.push_back(toast);
        if self.0.len() > MAX_TOASTS {
            self.0.pop_front();
        }
    }

    /// Removes expired messages.
    pub fn pass(&mut self, now: Duration) {
        self.0.retain(|toast| toast.until > now);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Toast> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_away_and_are_not_told_twice() {
        let mut toasts = Toasts::default();
        for n in 0..5 {
            toasts.good(Duration::ZERO, format!("{n}"));
            toasts.good(Duration::ZERO, format!("{n}"));
        }
        assert_eq!(toasts.iter().map(|t| t.text.as_str()).collect::<Vec<_>>(), ["2", "3", "4"]);
        toasts.fail(Duration::ZERO, "no");
        toasts.pass(Duration::from_secs(6));
        assert_eq!(toasts.iter().count(), 1);
        toasts.pass(Duration::from_secs(60));
        assert!(toasts.is_empty());
    }
}
