//! Reports: what a session looks like in each format. A new format is one file and its entry in
//! [`FORMATS`].

mod anonymous;
mod compare;
mod csv;
mod figure;
mod fio;
mod gbench;
pub mod host;
mod html;
mod json;
pub mod jsonl;
mod markdown;
mod out;
mod picture;
mod png;
mod pretty;
#[cfg(test)]
mod sample;
mod sparks;
mod svg;
pub mod table;
mod text;

use std::io::{self, Write};

use crate::plan::{Unknown, nearest};
use crate::session::Session;
use crate::units::Rates;

pub use anonymous::{Names, anonymous};
pub use compare::{
    COMPARISONS, ComparisonFormat, compared_columns, comparison_format, comparison_text, ruling,
};
pub use figure::scale::Spread;
pub use out::{
    FORMAT_OPTION, Failed, HEADING as OUTPUT, Ids, Out, Shown, When, ascii_only, comparisons,
    failed, formats, say, stdout, unread_is_fine,
};

/// The JSON Schema of the `json` format, as users can download it.
pub const SCHEMA: &str = include_str!("../../assets/schema/iotui-1.schema.json");

/// The JSON Schema of a comparison as `json`; it refers to [`SCHEMA`].
pub const COMPARISON_SCHEMA: &str = include_str!("../../assets/schema/iotui-compare-1.schema.json");

/// What the place that a report is shown on can do. Formats for machines ignore it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Columns of the terminal; 80 when unknown.
    pub width: usize,
    /// ANSI colours; nothing is told by colour alone.
    pub color: bool,
    /// Only ASCII characters.
    pub ascii: bool,
    /// The units of throughput in tables, pages and pictures; sentences choose their own.
    pub unit: Rates,
    /// How values are spread in pages and pictures.
    pub scale: Spread,
}

impl Default for Look {
    fn default() -> Self {
        Look { width: 80, color: false, ascii: false, unit: Rates::default(), scale: Spread::Auto }
    }
}

/// One format: how it is asked for, and how it is written.
pub struct Format {
    pub id: &'static str,
    /// One line for lists and help.
    pub about: &'static str,
    /// Without the dot.
    pub extension: &'static str,
    /// No text: nothing for a terminal.
    pub binary: bool,
    pub write: fn(&Session, &Look, &mut dyn Write) -> io::Result<()>,
}

/// Every format, in the order in which lists show them; the first is the default.
pub static FORMATS: &[Format] = &[
    table::FORMAT,
    json::FORMAT,
    jsonl::FORMAT,
    csv::FORMAT,
    markdown::FORMAT,
    html::FORMAT,
    svg::FORMAT,
    png::FORMAT,
    gbench::FORMAT,
    fio::FORMAT,
];

/// The id of the format whose trials are written as they end.
pub const JSONL: &str = jsonl::FORMAT.id;

/// The format of that name.
pub fn format(id: &str) -> Result<&'static Format, Unknown> {
    FORMATS
        .iter()
        .find(|f| f.id == id)
        .ok_or_else(|| nearest("format", id, FORMATS.iter().map(|f| f.id)))
}

#[cfg(test)]
mod tests;
