//! Sections, rows and tables; and the same as text in 80 columns.

/// Columns of the page.
const WIDTH: usize = 80;
/// Columns before a row's value: two of indent, then the label.
const LABEL: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A piece of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    Section(&'static str),
    Row {
        label: &'static str,
        value: String,
    },
    /// The first row has the titles.
    Table {
        align: &'static [Align],
        rows: Vec<Vec<String>>,
    },
}

/// Pieces that follow each other.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<Item>);

impl Items {
    pub(super) fn section(&mut self, title: &'static str) {
        self.0.push(Item::Section(title));
    }

    /// Adds a row unless its value is empty.
    pub(super) fn row(&mut self, label: &'static str, value: &str) {
        if !value.trim().is_empty() {
            self.0.push(Item::Row { label, value: value.into() });
        }
    }

    pub(super) fn table(
        &mut self,
        titles: &[&str],
        align: &'static [Align],
        rows: impl Iterator<Item = Vec<String>>,
    ) {
        let titles = titles.iter().map(ToString::to_string).collect();
        self.0.push(Item::Table { align, rows: std::iter::once(titles).chain(rows).collect() });
    }

    pub(super) fn list(self) -> Vec<Item> {
        self.0
    }
}

/// A text that grows downwards.
#[derive(Debug, Default)]
pub(super) struct Page(String);

impl Page {
    pub(super) fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Section(title) => self.section(title),
                Item::Row { label, value } => self.row(label, value),
                Item::Table { align, rows } => self.table(align, rows),
            }
        }
    }

    pub(super) fn section(&mut self, title: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.line(title);
    }

    /// `  label         value`.
    fn row(&mut self, label: &str, value: &str) {
        let width = LABEL - 2;
        self.paragraph(2, LABEL, &format!("{label:width$}{value}"));
    }

    /// Wrapped at the page's width: the first line indented by `first`, the others by `rest`.
    pub(super) fn paragraph(&mut self, first: usize, rest: usize, text: &str) {
        for (i, line) in wrap(text, WIDTH - first, WIDTH - rest).iter().enumerate() {
            let indent = if i == 0 { first } else { rest };
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// Columns as wide as their widest cell, two spaces between them.
    fn table(&mut self, align: &[Align], rows: &[Vec<String>]) {
        let widths = widths(rows);
        for row in rows {
            let cells =
                row.iter().zip(&widths).zip(align).map(|((cell, width), align)| match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                });
            let line = cells.collect::<Vec<_>>().join("  ");
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

/// Returns the widths of the columns of a table.
pub fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    (0..rows.first().map_or(0, Vec::len)).map(width).collect()
}

/// Breaks between words; a longer word keeps its line. Spaces inside the first line stay: they
/// align.
fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut left = text.trim_end();
    while !left.is_empty() {
        let width = if lines.is_empty() { first } else { rest };
        // Nothing fits behind a label that fills the line: then the word overflows.
        let skip = left.len() - left.trim_start().len();
        let end = match left.char_indices().nth(width) {
            None => left.len(),
            Some((limit, _)) => {
                let here = left[limit..].starts_with(' ').then_some(limit);
                let fits = here.or_else(|| left[..limit].rfind(' ')).filter(|at| *at > skip);
                fits.or_else(|| left[skip..].find(' ').map(|at| skip + at)).unwrap_or(left.len())
            }
        };
        lines.push(left[..end].trim_end().to_string());
        left = left[end..].trim_start();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_wrap_under_their_value() {
        let mut items = Items::default();
        items.row("none", "");
        items.row("words", &"word ".repeat(20));
        let mut page = Page::default();
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
        let mut items = Items::default();
        items.table(
            &["a", "size"],
            &[Align::Left, Align::Right],
            [vec!["long".into(), "1".into()], vec!["x".into()]].into_iter(),
        );
        let mut page = Page::default();
        page.items(&items.list());
        assert_eq!(page.text(), "  a     size\n  long     1\n  x\n");
    }

    proptest! {
        #[test]
        fn no_text_is_lost_and_lines_fit(text in "[a-zµ ]{0,200}") {
            let lines = wrap(&text, 20, 15);
            let words: Vec<_> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
            prop_assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
            for (i, line) in lines.iter().enumerate() {
                let limit = if i == 0 { 20 } else { 15 };
                prop_assert!(line.chars().count() <= limit || !line.trim().contains(' '), "{:?}", line);
            }
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,200}", first in 0usize..30, rest in 0usize..30) {
            wrap(&text, first, rest);
        }
    }
}
