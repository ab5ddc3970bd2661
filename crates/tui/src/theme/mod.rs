//! Colours and glyphs by their role: what the terminal can show decides how a role looks, nothing
//! else does.
//!
//! | what | where |
//! |---|---|
//! | files of themes, and the nearest colour of a terminal | [`file`] |
//! | the list of themes | [`themes`] |
//! | the colours of a theme on one terminal | [`scheme`] |

mod file;
mod scheme;
#[cfg(test)]
mod tests;
mod themes;

pub use file::ThemeFile;
pub use scheme::{Colours, Theme};
pub use themes::{DEFAULT, Themes};

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};

use crate::analysis::Sign;
use crate::catalog::{HUES, Shape};
use crate::plan::Cache;
use crate::report::{self, Graph, Spread};
use crate::units::Rates;

/// The role of a piece of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Text,
    /// Units, hints, and what is secondary.
    Dim,
    /// Greyed: cannot be chosen.
    Off,
    Border,
    /// The border and title of what has the focus, the cursor: the one accent.
    Focus,
    /// The vertical line at the place that is read out: no series and no accent looks like it.
    Cursor,
    Title,
    Number,
    /// The row or item under the cursor of a focused pane.
    Selected,
    /// A key in the footer or help.
    Key,
    Good,
    Note,
    Misleading,
    Wrong,
    /// Measured ceilings and other lines that are not series.
    Rule,
    /// Where bytes came from.
    Device,
    PageCache,
    Hole,
    Unknown,
}

impl Role {
    /// Returns its place among the colours of a theme, which are in the order of their files.
    fn of_theme(self) -> usize {
        match self {
            Role::Text | Role::Number | Role::Title | Role::Selected | Role::Cursor => 0,
            Role::Dim | Role::Rule | Role::Off => 1,
            Role::Border => 2,
            Role::Focus | Role::Key => 3,
            Role::Good => 4,
            Role::Note => 5,
            Role::Misleading => 6,
            Role::Wrong => 7,
            Role::Device => 8,
            Role::PageCache => 9,
            Role::Hole => 10,
            Role::Unknown => 11,
        }
    }

    /// Returns the texture that a source has in every bar; other roles have the first.
    pub fn texture(self) -> usize {
        match self {
            Role::PageCache => 1,
            Role::Hole => 2,
            Role::Unknown => 3,
            _ => 0,
        }
    }

    /// Returns the role of a source, as reports name it.
    pub fn of_source(word: &str) -> Role {
        match word {
            "device" => Role::Device,
            "cache" | "below" => Role::PageCache,
            "hole" => Role::Hole,
            _ => Role::Unknown,
        }
    }
}

/// The characters that the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    Unicode,
    Ascii,
}

/// How the screen looks on this terminal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    pub theme: &'static Theme,
    pub colours: Colours,
    pub glyphs: Glyphs,
    /// The unit of throughput.
    pub unit: Rates,
    /// How values are spread along an axis, until it is turned.
    pub scale: Spread,
    /// Characters that draw charts where the terminal shows Unicode.
    pub graph: Graph,
}

impl Default for Look {
    fn default() -> Look {
        Look {
            theme: Themes::built_in().theme(DEFAULT, Colours::Sixteen),
            colours: Colours::Sixteen,
            glyphs: Glyphs::Unicode,
            unit: Rates::default(),
            scale: Spread::Auto,
            graph: Graph::default(),
        }
    }
}

impl Look {
    pub fn style(&self, role: Role) -> Style {
        let modifier = match role {
            Role::Selected => return self.selected(),
            Role::Number | Role::Focus | Role::Title | Role::Wrong | Role::Cursor => Modifier::BOLD,
            // Without colours a key would look like its label.
            Role::Key if self.colours == Colours::None => Modifier::BOLD,
            Role::Off if self.colours == Colours::None => Modifier::DIM,
            _ => Modifier::empty(),
        };
        self.coloured(self.theme.roles[role.of_theme()]).add_modifier(modifier)
    }

    /// Returns a text in the style of a role.
    pub fn span<'a>(&self, role: Role, text: impl Into<Cow<'a, str>>) -> Span<'a> {
        Span::styled(text, self.style(role))
    }

    /// Returns a line of text in the style of a role.
    pub fn line<'a>(&self, role: Role, text: impl Into<Cow<'a, str>>) -> Line<'a> {
        Line::styled(text, self.style(role))
    }

    /// Returns the style of the selected row: one colour across the row, or reverse video where
    /// the theme has no colour.
    fn selected(&self) -> Style {
        let text = self.coloured(self.theme.roles[Role::Text.of_theme()]);
        let bold = text.add_modifier(Modifier::BOLD).remove_modifier(Modifier::DIM);
        match self.theme.selected {
            Some(colour) if self.colours != Colours::None => bold.bg(colour),
            _ => bold.add_modifier(Modifier::REVERSED),
        }
    }

    /// Paints the theme's background and text under every cell without a colour.
    pub fn paint(&self, buf: &mut Buffer) {
        let Some(background) = self.theme.background.filter(|_| self.colours != Colours::None)
        else {
            return;
        };
        let text = self.theme.roles[Role::Text.of_theme()].fg.unwrap_or(Color::Reset);
        for cell in &mut buf.content {
            if cell.bg == Color::Reset {
                cell.bg = background;
            }
            if cell.fg == Color::Reset {
                cell.fg = text;
            }
        }
    }

    /// Returns whether the axis of values begins logarithmic, where it would be so by itself or
    /// not.
    pub fn begins_log(&self, usual: bool) -> bool {
        match self.scale {
            Spread::Auto => usual,
            Spread::Linear => false,
            Spread::Log => true,
        }
    }

    /// Returns whether axes of values are logarithmic, where that was chosen.
    pub fn fixed_log(&self) -> Option<bool> {
        match self.scale {
            Spread::Auto => None,
            Spread::Linear => Some(false),
            Spread::Log => Some(true),
        }
    }

    /// Returns the look of a report that is read next to this screen: without colours.
    pub fn report(&self) -> report::Look {
        report::Look {
            ascii: self.glyphs == Glyphs::Ascii,
            unit: self.unit,
            scale: self.scale,
            graph: self.graph,
            ..report::Look::default()
        }
    }

    /// Returns the colour of the series with this hue; they come round after [`HUES`].
    pub fn series(&self, hue: usize) -> Style {
        self.coloured(self.theme.series[hue % HUES])
    }

    /// Returns the colour of a heat, from 0 to 1: towards that of the series with this hue, in two
    /// steps where colours cannot be mixed.
    pub fn heat(&self, hue: usize, heat: f64) -> Style {
        let (cold, hot) = (self.style(Role::Border), self.series(hue));
        let mix = |a: u8, b: u8| {
            (f64::from(a) + heat.clamp(0.0, 1.0) * (f64::from(b) - f64::from(a))) as u8
        };
        match (cold.fg, hot.fg) {
            (Some(Color::Rgb(r, g, b)), Some(Color::Rgb(r1, g1, b1))) => {
                hot.fg(Color::Rgb(mix(r, r1), mix(g, g1), mix(b, b1)))
            }
            _ if heat < 0.5 => self.style(Role::Dim),
            _ => hot,
        }
    }

    /// Returns the marker of a series; it differs where colours do not.
    pub fn marker(&self, sign: Sign) -> char {
        // Behind the digits the letters that no backend has.
        const EXTRA: &[u8] = b"123456789bhjoxyBHJOXY";
        let own = sign.identity;
        if sign.extra > 0 {
            return char::from(EXTRA[(sign.extra - 1) % EXTRA.len()]);
        }
        let unicode = self.glyphs == Glyphs::Unicode;
        let shape = if unicode { own.shape } else { Shape::Letter };
        let (filled, hollow) = match shape {
            Shape::Circle => ('●', '○'),
            Shape::Square => ('■', '□'),
            Shape::Up => ('▲', '∆'),
            Shape::Right => ('►', '>'),
            Shape::Left => ('◄', '<'),
            Shape::Letter => (own.letter, own.letter.to_ascii_lowercase()),
        };
        match sign.cache {
            Cache::Cold => filled,
            Cache::Warm => hollow,
            Cache::AsIs if unicode => own.third.0,
            Cache::AsIs => own.third.1,
        }
    }

    /// Returns the marker of an entry that is not a backend, by its index.
    pub fn ordinal(&self, index: usize) -> char {
        const UNICODE: [char; 8] = ['●', '▲', '■', '►', '○', '∆', '□', '◊'];
        const ASCII: [char; 8] = ['o', '^', '#', '*', '%', '@', '&', '~'];
        let set = if self.glyphs == Glyphs::Unicode { UNICODE } else { ASCII };
        set[index % set.len()]
    }

    /// Returns the first where the terminal shows Unicode, else the second.
    pub fn glyph<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.glyphs == Glyphs::Unicode { unicode } else { ascii }
    }

    /// Returns the characters that draw charts.
    pub fn graph(&self) -> Graph {
        if self.glyphs == Glyphs::Ascii { Graph::Ascii } else { self.graph }
    }

    /// Returns the character that fills a part of a bar and marks it in a legend: it
    /// distinguishes parts whose colours may be alike.
    pub fn texture(&self, part: usize) -> char {
        match self.has_plain_bars() {
            true => ['#', '=', '-', '.'][part % 4],
            false if self.has_textures() => ['█', '▓', '▒', '░'][part % 4],
            false => '█',
        }
    }

    /// Returns whether parts of a bar may look alike: without colours, or with sixteen, several of
    /// which cannot be read.
    pub fn has_textures(&self) -> bool {
        self.colours < Colours::TwoFiftySix
    }

    /// Returns whether bars are drawn with ASCII characters only.
    pub fn has_plain_bars(&self) -> bool {
        self.graph() == Graph::Ascii
    }

    pub fn border_set(&self) -> border::Set<'static> {
        const ASCII: border::Set = border::Set {
            top_left: "+",
            top_right: "+",
            bottom_left: "+",
            bottom_right: "+",
            vertical_left: "|",
            vertical_right: "|",
            horizontal_top: "-",
            horizontal_bottom: "-",
        };
        if self.glyphs == Glyphs::Unicode { border::ROUNDED } else { ASCII }
    }

    fn coloured(&self, style: Style) -> Style {
        if self.colours == Colours::None { Style::new() } else { style }
    }
}
