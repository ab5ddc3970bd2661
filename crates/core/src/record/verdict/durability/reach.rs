//! The verdicts on commits, and what each says.

use serde::{Deserialize, Serialize};

/// How far commits got before they returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Each emptied the device's cache.
    Flushed,
    /// Each was written through the device's cache (FUA).
    WrittenThrough,
    /// The device says that it has no volatile cache.
    NoCache,
    /// They returned before that.
    NotReached,
    /// The evidence does not decide.
    Unknown,
}

impl Reach {
    pub const ALL: [Reach; 5] =
        [Reach::Flushed, Reach::WrittenThrough, Reach::NoCache, Reach::NotReached, Reach::Unknown];

    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Reach::Flushed => "flushed",
            Reach::WrittenThrough => "written-through",
            Reach::NoCache => "no-cache",
            Reach::NotReached => "not-reached",
            Reach::Unknown => "unknown",
        }
    }

    /// Returns what it says of commits, as the start of a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Reach::Flushed => "each commit emptied the device's cache",
            Reach::WrittenThrough => "each commit was written through the device's cache (FUA)",
            Reach::NoCache => "the device says that it has no volatile cache",
            Reach::NotReached => "commits returned without reaching stable storage",
            Reach::Unknown => "whether commits are durable is unknown",
        }
    }

    /// Returns whether the data is durable, if the device reports correctly; `None` if unknown.
    pub fn is_durable(self) -> Option<bool> {
        match self {
            Reach::Flushed | Reach::WrittenThrough | Reach::NoCache => Some(true),
            Reach::NotReached => Some(false),
            Reach::Unknown => None,
        }
    }
}
