//! A column of the table.

use crate::tui::view::pane;
use crate::units::column::{Unit, align};

/// The sort key of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    Number(f64),
    Word(String),
}

/// The style of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Backend,
    Word,
    /// The main figure of the table.
    Main,
    Number,
    Badge,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub title: String,
    pub unit: String,
    /// The highest rank is dropped first for lack of room; 0 stays.
    pub rank: u8,
    pub right: bool,
    pub look: Look,
    pub width: usize,
    pub texts: Vec<String>,
    pub keys: Vec<Key>,
}

/// Creates a column of words.
pub fn text_column(
    title: &str,
    rank: u8,
    look: Look,
    texts: Vec<String>,
    keys: Vec<Key>,
) -> Column {
    let width =
        texts.iter().map(|text| pane::width(text)).chain([pane::width(title)]).max().unwrap_or(0);
    Column {
        title: title.into(),
        unit: String::new(),
        rank,
        right: false,
        look,
        width,
        texts,
        keys,
    }
}

/// Creates a column of figures in a unit.
pub fn number_column(
    title: &str,
    rank: u8,
    values: &[Option<f64>],
    (factor, unit): Unit,
) -> Column {
    let keys = values.iter().map(|value| Key::Number(value.unwrap_or(f64::NAN))).collect();
    let base = text_column(title, rank, Look::Number, align(values, factor), keys);
    Column { unit: unit.into(), right: true, width: base.width.max(pane::width(unit)), ..base }
}
