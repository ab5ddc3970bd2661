//! Sections, rows and tables, and their rendering as text in 80 columns.

use crate::text::table::{Cell, lay_out};
use crate::text::wrap_hanging;

pub use crate::text::table::{Align, widths};

/// Columns of the page.
const WIDTH: usize = 80;
/// Columns before a row's value: two of indent, then the label.
const LABEL: usize = 16;

/// A piece of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostItem {
    Section(&'static str),
    Row {
        label: &'static str,
        value: String,
    },
    /// The first row holds the titles.
    Table {
        align: &'static [Align],
        rows: Vec<Vec<String>>,
    },
}

/// The pieces of the report, in order.
#[derive(Debug, Default)]
pub(super) struct HostItems(Vec<HostItem>);

impl HostItems {
    pub(super) fn section(&mut self, title: &'static str) {
        self.0.push(HostItem::Section(title));
    }

    /// Adds a row if it has a value.
    pub(super) fn row(&mut self, label: &'static str, value: impl Into<Option<String>>) {
        if let Some(value) = value.into().filter(|value| !value.trim().is_empty()) {
            self.0.push(HostItem::Row { label, value });
        }
    }

    pub(super) fn table(
        &mut self,
        titles: &[&str],
        align: &'static [Align],
        rows: impl Iterator<Item = Vec<String>>,
    ) {
        let titles = titles.iter().map(ToString::to_string).collect();
        self.0.push(HostItem::Table { align, rows: std::iter::once(titles).chain(rows).collect() });
    }

    pub(super) fn list(self) -> Vec<HostItem> {
        self.0
    }
}

/// The text of the report, as it grows.
#[derive(Debug, Default)]
pub(super) struct HostText(String);

impl HostText {
    pub(super) fn items(&mut self, items: &[HostItem]) {
        for item in items {
            match item {
                HostItem::Section(title) => self.section(title),
                HostItem::Row { label, value } => self.row(label, value),
                HostItem::Table { align, rows } => self.table(align, rows),
            }
        }
    }

    pub(super) fn section(&mut self, title: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.line(title);
    }

    /// Adds a row: `  label         value`.
    fn row(&mut self, label: &str, value: &str) {
        let width = LABEL - 2;
        self.paragraph(2, LABEL, &format!("{label:width$}{value}"));
    }

    /// Adds text wrapped at the page's width: the first line indented by `first`, the others by
    /// `rest`.
    pub(super) fn paragraph(&mut self, first: usize, rest: usize, text: &str) {
        for (i, line) in wrap_hanging(text, WIDTH - first, WIDTH - rest).iter().enumerate() {
            let indent = if i == 0 { first } else { rest };
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// Adds a table with columns as wide as their widest cell and two spaces between them.
    fn table(&mut self, align: &[Align], rows: &[Vec<String>]) {
        let cells: Vec<Vec<Cell>> =
            rows.iter().map(|row| row.iter().map(Cell::new).collect()).collect();
        for line in lay_out(&cells, align, 2) {
            self.line(&format!("  {line}"));
        }
    }

    pub(super) fn line(&mut self, line: &str) {
        self.0.push_str(line.trim_end());
        self.0.push('\n');
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_wrap_under_their_value() {
        let mut items = HostItems::default();
        items.row("none", None);
        items.row("words", "word ".repeat(20));
        let mut page = HostText::default();
        page.items(&items.list());
        let text = page.text();
        assert_eq!(
            text,
            format!(
                "  words         {}\n                {}\n",
                "word ".repeat(13).trim_end(),
                "word ".repeat(7).trim_end()
            )
        );
    }

    #[test]
    fn tables_align() {
        let mut items = HostItems::default();
        items.table(
            &["a", "size"],
            &[Align::Left, Align::Right],
            [vec!["long".into(), "1".into()], vec!["x".into()]].into_iter(),
        );
        let mut page = HostText::default();
        page.items(&items.list());
        assert_eq!(page.text(), "  a     size\n  long     1\n  x\n");
    }
}
