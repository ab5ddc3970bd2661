//! Machines with published figures, as sessions that ship with iotui: shown, compared and exported
//! like any other, never changed.
//!
//! A reference is one file in `assets/references/`: the tables of a report, unchanged. Its figures
//! are "as reported": one trial each, without samples, latencies or device bytes, and the source of
//! the bytes is unknown.

mod build;
mod file;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use build::{OTHER_EXPERIMENT, Reference};

macro_rules! files {
    ($($id:literal),+ $(,)?) => { &[$(($id, include_str!(concat!("../../../../../assets/references/", $id, ".toml")))),+] };
}

/// The id and text of each; the id is the file's name.
const FILES: &[(&str, &str)] =
    files!["macbook-2017", "m1-container", "m5d-metal", "ryzen-5900hs", "i7-8750h", "xeon-os"];

/// Returns all references, in the order of lists.
pub fn references() -> &'static [Reference] {
    static ALL: LazyLock<Vec<Reference>> = LazyLock::new(|| {
        FILES.iter().filter_map(|(id, text)| build::reference(id, text).ok()).collect()
    });
    &ALL
}

/// Returns the reference with that id.
pub fn reference(id: &str) -> Option<&'static Reference> {
    references().iter().find(|reference| reference.id == id)
}

/// Minimum length of an abbreviated reference id: with fewer letters a typo would match one.
const MIN_PREFIX_LEN: usize = 4;

/// Returns the only reference whose id is, or begins with, this text.
pub(super) fn find_by_prefix(text: &str) -> Option<&'static Reference> {
    let mut found = references()
        .iter()
        .filter(|reference| text.len() >= MIN_PREFIX_LEN && reference.id.starts_with(text));
    reference(text).or_else(|| found.next().filter(|_| found.next().is_none()))
}
