//! The capabilities of a report's destination.

use crate::units::Rates;

/// The scale of values, as `--scale` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Spread {
    /// Logarithmic where the largest is more than 20 times the smallest
    #[default]
    Auto,
    Linear,
    Log,
}

/// The characters of charts, as `--graph` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Graph {
    /// Eight dots in each character, which most fonts have
    #[default]
    Braille,
    /// Quarters of each character, for fonts without Braille
    Blocks,
    /// Eighths of each character (Unicode 16), which few terminals have
    Octant,
    /// Plain characters, as with --ascii
    Ascii,
}

/// The capabilities of a report's destination. Machine-readable formats ignore it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Columns of the terminal; 80 when unknown.
    pub width: usize,
    /// ANSI colours; no information depends on colour alone.
    pub color: bool,
    /// Only ASCII characters.
    pub ascii: bool,
    /// The units of throughput in tables, pages and pictures; sentences use their own.
    pub unit: Rates,
    /// The scale of values in pages and pictures.
    pub scale: Spread,
    /// The characters of bars in text.
    pub graph: Graph,
    /// The table has evidence, remedies, notes and costs too, not only what fits a screen.
    pub details: bool,
}

impl Default for Look {
    fn default() -> Self {
        Look {
            width: 80,
            color: false,
            ascii: false,
            unit: Rates::default(),
            scale: Spread::Auto,
            graph: Graph::default(),
            details: true,
        }
    }
}

impl Look {
    /// Returns whether bars are drawn with ASCII characters only.
    pub fn has_plain_bars(&self) -> bool {
        self.ascii || self.graph == Graph::Ascii
    }
}
