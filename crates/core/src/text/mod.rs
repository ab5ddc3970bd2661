//! Text: sanitising of untrusted text, wrapping and tables for terminals, times, and file names.

pub mod clean;
mod io_error;
mod json;
mod slug;
pub mod table;
pub mod time;
mod untrusted;
mod wrap;

pub use clean::text as clean_text;
pub use io_error::describe_io_error;
pub use json::{change_texts, replace_strings};
pub use slug::slug;
pub use time::{parse_utc, utc};
pub use untrusted::{Replacement, is_unsafe_char, safe, safe_lines, show_path, write_json};
pub use wrap::{cut_end, cut_front, find_cut, pad_right, width, wrap, wrap_hanging, wrap_where};
