//! Text: sanitising of untrusted text, times, and names of files.

pub mod clean;
mod slug;
pub mod time;
mod untrusted;

pub use clean::text as clean_text;
pub use slug::slug;
pub use time::{parse_utc, utc};
pub use untrusted::{Replacement, safe, safe_lines, show_path, is_unsafe_char, write_json};
