//! Machines with published figures as sessions that come with iotui: shown, compared and exported
//! like any other, never changed.
//!
//! A reference is one file in `assets/references/`: the tables of a report, as they stand there.
//! Its figures are "as reported": one trial each, without samples, latencies or device bytes, and
//! where the bytes came from is unknown.

mod build;
mod file;
mod reference;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use reference::Reference;

macro_rules! files {
    ($($id:literal),+ $(,)?) => { &[$(($id, include_str!(concat!("../../../assets/references/", $id, ".toml")))),+] };
}

/// Id and text of each; the id is the name of its file.
const FILES: &[(&str, &str)] =
    files!["macbook-2017", "m1-container", "m5d-metal", "ryzen-5900hs", "i7-8750h", "xeon-os"];

/// All of them, in the order of lists.
pub fn references() -> &'static [Reference] {
    static ALL: LazyLock<Vec<Reference>> = LazyLock::new(|| {
        FILES.iter().filter_map(|(id, text)| build::reference(id, text).ok()).collect()
    });
    &ALL
}

/// The reference of that id.
pub fn reference(id: &str) -> Option<&'static Reference> {
    references().iter().find(|reference| reference.id == id)
}

/// Letters of an id that mean a reference: with fewer a slip of the hand would find one.
const LEAST: usize = 4;

/// The one reference that an id, or the start of one, means.
pub(super) fn meant(text: &str) -> Option<&'static Reference> {
    let mut meant = references()
        .iter()
        .filter(|reference| text.len() >= LEAST && reference.id.starts_with(text));
    reference(text).or_else(|| meant.next().filter(|_| meant.next().is_none()))
}
