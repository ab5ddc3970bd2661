//! Constants shared by every reader and writer of session files.

/// The version of the file format that this program reads and writes.
pub const SCHEMA: u64 = 1;
/// The extension of session files.
pub const SUFFIX: &str = "jsonl";
/// Maximum length of a session's name, characters.
pub const NAME_LENGTH: usize = 80;
