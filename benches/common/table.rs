//! The table of targets and measurements.

/// Rows of equal length, printed in columns: the first and the last aligned left, the others right.
pub struct Table(Vec<Vec<String>>);

/// Returns whether a target was met as text: reported, not enforced, as a busy machine proves
/// nothing.
pub fn verdict(met: bool) -> String {
    if met { "met".into() } else { "missed".into() }
}

impl Table {
    pub fn new(heads: &[&str]) -> Table {
        Table(vec![heads.iter().map(|h| h.to_string()).collect()])
    }

    pub fn add(&mut self, row: Vec<String>) {
        self.0.push(row);
    }

    pub fn print(&self) {
        let columns = self.0[0].len();
        let width =
            |column: usize| self.0.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.0 {
            let cells = row.iter().zip(&widths).enumerate();
            let line = cells.map(|(i, (cell, &w))| match i {
                0 => format!("{cell:w$}"),
                _ if i + 1 == columns => format!("  {cell}"),
                _ => format!("  {cell:>w$}"),
            });
            println!("{}", line.collect::<String>().trim_end());
        }
    }
}
