//! Text: sanitising of untrusted text, wrapping and tables for terminals, times, and file names.

pub mod clean;
mod json;
pub mod table;
pub mod time;
mod wrap;

pub use clean::text as clean_text;
pub use clean::{
    Replacement, describe_io_error, is_unsafe_char, safe, safe_lines, show_path, slug, write_json,
};
pub use json::{change_texts, replace_strings};
pub use time::{parse_utc, utc};
pub use wrap::{cut_end, cut_front, find_cut, pad_right, width, wrap, wrap_hanging, wrap_where};

/// Returns each item once, in the order of their first ones.
pub fn unique<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}
