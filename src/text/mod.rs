//! Text on its way in or out: what of others is safe to show, time, and names of files.

pub mod clean;
mod slug;
pub mod time;
mod untrusted;

pub use clean::text as clean_text;
pub use slug::slug;
pub use time::{parse_utc, utc};
pub use untrusted::{Instead, safe, safe_lines, shown, steers, write_json};
