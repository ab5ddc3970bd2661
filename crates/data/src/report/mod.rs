//! Reports: a session in each format. A new format is one file and its entry in [`FORMATS`].

mod anonymous;
mod brief;
mod card;
mod compare;
mod content;
mod csv;
mod figure;
mod fio;
mod fio_bw;
mod fio_lat;
mod fio_log;
mod format;
mod gbench;
mod hlog;
pub mod host;
mod html;
mod intervals;
mod json;
pub mod jsonl;
mod look;
mod markdown;
mod notes;
mod openmetrics;
mod picture;
mod png;
pub mod pretty;
#[cfg(test)]
mod sentences;
mod sparks;
mod svg;
pub mod table;
#[cfg(test)]
mod testing;
mod text;

use std::path::Path;

use crate::plan::{Unknown, nearest};

pub use anonymous::{PrivateNames, anonymize};
pub use card::glance_text;
pub use compare::{
    COMPARISONS, ComparisonFormat, INTERVAL_RANK, RatioScale, comparison_columns, comparison_text,
    describe_beside, describe_unjudged, describe_unmatched, find_comparison_format, ruling_text,
};
pub use format::Format;
pub use intervals::{Interval, Intervals};
pub use look::{Graph, Look, Spread};
pub use text::{BARS, PLAIN_BARS};

/// The JSON Schema of the `json` format, as users can download it.
pub const SCHEMA: &str = include_str!("../../../../assets/schema/iotui-1.schema.json");

/// The JSON Schema of a comparison as `json`; it refers to [`SCHEMA`].
pub const COMPARISON_SCHEMA: &str =
    include_str!("../../../../assets/schema/iotui-compare-1.schema.json");

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
    card::FORMAT,
    gbench::FORMAT,
    openmetrics::FORMAT,
    fio::FORMAT,
    hlog::FORMAT,
    fio_bw::FORMAT,
    fio_lat::FORMAT,
];

/// The id of the format whose trials are written as they end.
pub const JSONL: &str = jsonl::FORMAT.id;

/// The id of the format that shows a session at a glance.
pub const CARD: &str = card::FORMAT.id;

/// The format that `--metrics` keeps current.
pub const METRICS: &Format = &openmetrics::FORMAT;
pub use openmetrics::write_now as write_metrics_now;

/// Returns the format with this id.
pub fn find_format(id: &str) -> Result<&'static Format, Unknown> {
    FORMATS
        .iter()
        .find(|f| f.id == id)
        .ok_or_else(|| nearest("format", id, FORMATS.iter().map(|f| f.id)))
}

/// Returns the format in which a file of this name is written: a card called .svg is one.
pub fn format_of_file(format: &'static Format, path: &Path) -> &'static Format {
    let is_svg = path.extension().is_some_and(|extension| extension == "svg");
    if is_svg && format.id == card::FORMAT.id { &card::AS_SVG } else { format }
}

#[cfg(test)]
mod tests;
