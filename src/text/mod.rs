//! Text: sanitising of untrusted text, times, and names of files.

pub mod clean;
mod slug;
pub mod time;
mod untrusted;

pub use clean::text as clean_text;
pub use slug::slug;
pub use time::{parse_utc, utc};
pub use untrusted::{Replacement, is_unsafe_char, safe, safe_lines, show_path, write_json};
