//! A column of the table.

use std::cmp::Ordering;

use crate::report::table::grid;

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
    /// The figures to sort by; empty if it sorts by its texts.
    pub values: Vec<Option<f64>>,
}

impl Column {
    /// Returns a column of reports in this style.
    pub fn new(column: grid::Column, look: Look) -> Column {
        let (width, texts) = (column.width(), column.texts());
        let grid::Column { title, unit, rank, right, values, .. } = column;
        Column { title, unit, rank, right, look, width, texts, values }
    }

    /// Returns a column of reports: figures, or words.
    pub fn plain(column: grid::Column) -> Column {
        let look = if column.values.is_empty() { Look::Word } else { Look::Number };
        Column::new(column, look)
    }

    /// Compares two rows; missing values come last in both directions.
    pub fn compare(&self, a: usize, b: usize, reversed: bool) -> Ordering {
        let (known_a, known_b) = (self.has_value(a), self.has_value(b));
        if !known_a || !known_b {
            return known_b.cmp(&known_a);
        }
        let figure = |row: usize| self.values.get(row).copied().flatten().unwrap_or(f64::NAN);
        let ordered = if self.values.is_empty() {
            self.texts[a].cmp(&self.texts[b])
        } else {
            figure(a).total_cmp(&figure(b))
        };
        if reversed { ordered.reverse() } else { ordered }
    }

    fn has_value(&self, row: usize) -> bool {
        if self.values.is_empty() {
            self.texts.get(row).is_some_and(|text| !text.is_empty())
        } else {
            self.values.get(row).is_some_and(|value| value.is_some_and(|value| !value.is_nan()))
        }
    }
}
