//! Colours and glyphs by their role: what the terminal can show decides how a role looks, nothing
//! else does.

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;

use crate::analysis::Sign;
use crate::backend::Shape;
use crate::plan::Cache;
use crate::report::{self, Spread};
use crate::units::Rates;

/// What a piece of the screen is.
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
    /// Returns the role of a source, as reports name it.
    pub fn of_source(word: &str) -> Role {
        match word {
            "device" => Role::Device,
            "cache" => Role::PageCache,
            "hole" => Role::Hole,
            _ => Role::Unknown,
        }
    }
}

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colours {
    None,
    Sixteen,
    TwoFiftySix,
    True,
}

/// What of Unicode the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyphs {
    Unicode,
    Ascii,
}

/// A set of colours: one accent and one hue per series.
#[derive(Debug, PartialEq, Eq)]
pub struct Theme {
    pub id: &'static str,
    pub about: &'static str,
    accent: Color,
    dim: Color,
    border: Color,
    text: Color,
    selected: Option<Color>,
    good: Color,
    note: Color,
    misleading: Color,
    wrong: Color,
    series: [Color; 8],
}

const fn rgb(hex: u32) -> Color {
    Color::Rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// Every theme, in the order of the key that changes it.
pub static THEMES: &[Theme] = &[
    Theme {
        id: "terminal",
        about: "the 16 colors of your terminal, on its own background",
        accent: Color::Cyan,
        dim: Color::DarkGray,
        border: Color::DarkGray,
        text: Color::Reset,
        selected: None,
        good: Color::Green,
        note: Color::Blue,
        misleading: Color::Yellow,
        wrong: Color::Red,
        series: [
            Color::Cyan,
            Color::Yellow,
            Color::Magenta,
            Color::Green,
            Color::Blue,
            Color::Red,
            Color::LightCyan,
            Color::LightMagenta,
        ],
    },
    Theme {
        id: "night",
        about: "soft colors for dark backgrounds",
        accent: rgb(0x7dcfff),
        dim: rgb(0x737a9c),
        border: rgb(0x414868),
        text: rgb(0xc0caf5),
        selected: Some(rgb(0x2e3c64)),
        good: rgb(0x9ece6a),
        note: rgb(0x7aa2f7),
        misleading: rgb(0xe0af68),
        wrong: rgb(0xf7768e),
        series: [
            rgb(0x7dcfff),
            rgb(0xe0af68),
            rgb(0xbb9af7),
            rgb(0x9ece6a),
            rgb(0xff9e64),
            rgb(0xf7768e),
            rgb(0x2ac3de),
            rgb(0x73daca),
        ],
    },
    Theme {
        id: "paper",
        about: "strong colors for light backgrounds",
        accent: rgb(0x005f87),
        dim: rgb(0x6c6c6c),
        border: rgb(0xa8a8a8),
        text: rgb(0x1c1c1c),
        selected: Some(rgb(0xd0e4ee)),
        good: rgb(0x2e7d32),
        note: rgb(0x1565c0),
        misleading: rgb(0x9a6700),
        wrong: rgb(0xb71c1c),
        series: [
            rgb(0x005f87),
            rgb(0xaf5f00),
            rgb(0x7b1fa2),
            rgb(0x2e7d32),
            rgb(0xb71c1c),
            rgb(0x00695c),
            rgb(0x4527a0),
            rgb(0x827717),
        ],
    },
];

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
}

impl Default for Look {
    fn default() -> Look {
        Look {
            theme: &THEMES[0],
            colours: Colours::Sixteen,
            glyphs: Glyphs::Unicode,
            unit: Rates::default(),
            scale: Spread::Auto,
        }
    }
}

impl Look {
    pub fn style(&self, role: Role) -> Style {
        let theme = self.theme;
        let (colour, modifier) = match role {
            Role::Text => (theme.text, Modifier::empty()),
            Role::Number => (theme.text, Modifier::BOLD),
            Role::Dim | Role::Rule | Role::Unknown => (theme.dim, Modifier::empty()),
            Role::Off => (theme.dim, Modifier::DIM),
            Role::Border => (theme.border, Modifier::empty()),
            Role::Focus => (theme.accent, Modifier::BOLD),
            Role::Title => (theme.text, Modifier::BOLD),
            Role::Key => (theme.accent, Modifier::empty()),
            Role::Good | Role::PageCache => (theme.good, Modifier::empty()),
            Role::Note | Role::Device => (theme.note, Modifier::empty()),
            Role::Misleading => (theme.misleading, Modifier::empty()),
            Role::Hole => (theme.series[2], Modifier::empty()),
            Role::Wrong => (theme.wrong, Modifier::BOLD),
            Role::Selected => return self.selected(),
        };
        self.coloured(colour).add_modifier(modifier)
    }

    /// Returns the style of a selection: reversed where the theme has no colour for it.
    fn selected(&self) -> Style {
        match self.theme.selected {
            Some(colour) if self.colours != Colours::None => Style::new()
                .bg(self.convert_color(colour))
                .fg(self.convert_color(self.theme.text))
                .add_modifier(Modifier::BOLD),
            _ => Style::new().add_modifier(Modifier::REVERSED),
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

    /// Returns how a report looks that is read beside this screen: without colours.
    pub fn report(&self) -> report::Look {
        report::Look {
            ascii: self.glyphs == Glyphs::Ascii,
            unit: self.unit,
            scale: self.scale,
            ..report::Look::default()
        }
    }

    /// Returns the colour of the series with this index; they come round after eight.
    pub fn series(&self, index: usize) -> Style {
        self.coloured(self.theme.series[index % self.theme.series.len()])
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

    /// Returns the marker of one of several things that are no backends, by its index.
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

    fn coloured(&self, colour: Color) -> Style {
        if self.colours == Colours::None {
            Style::new()
        } else {
            Style::new().fg(self.convert_color(colour))
        }
    }

    /// Returns the nearest colour that the terminal has.
    fn convert_color(&self, colour: Color) -> Color {
        match (colour, self.colours) {
            (Color::Rgb(r, g, b), Colours::TwoFiftySix) => Color::Indexed(cube(r, g, b)),
            (Color::Rgb(r, g, b), Colours::Sixteen) => nearest_of_sixteen(r, g, b),
            _ => colour,
        }
    }
}

/// Returns the nearest of the 6 x 6 x 6 cube and the 24 greys of 256 colours.
fn cube(r: u8, g: u8, b: u8) -> u8 {
    const LEVELS: [i32; 6] = [0, 95, 135, 175, 215, 255];
    fn level(v: u8) -> usize {
        (0..6).min_by_key(|i| (LEVELS[*i] - i32::from(v)).abs()).unwrap_or(0)
    }
    let (red, green, blue) = (level(r), level(g), level(b));
    let grey = ((i32::from(r) + i32::from(g) + i32::from(b)) / 3 - 8).clamp(0, 230) / 10;
    let away = |(x, y, z): (i32, i32, i32)| {
        (x - i32::from(r)).pow(2) + (y - i32::from(g)).pow(2) + (z - i32::from(b)).pow(2)
    };
    let tone = 8 + grey * 10;
    match away((LEVELS[red], LEVELS[green], LEVELS[blue])) <= away((tone, tone, tone)) {
        true => (16 + 36 * red + 6 * green + blue) as u8,
        false => (232 + grey) as u8,
    }
}

fn nearest_of_sixteen(r: u8, g: u8, b: u8) -> Color {
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    if high - low < 48 {
        return match high {
            0..=63 => Color::Black,
            64..=143 => Color::DarkGray,
            144..=207 => Color::Gray,
            _ => Color::White,
        };
    }
    let middle = u8::midpoint(high, low);
    match (r > middle, g > middle, b > middle) {
        (true, false, false) => Color::Red,
        (false, true, false) => Color::Green,
        (true, true, _) => Color::Yellow,
        (true, false, true) => Color::Magenta,
        (false, true, true) => Color::Cyan,
        _ => Color::Blue,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::backend::{BACKENDS, identity};

    #[test]
    fn without_colours_nothing_has_one() {
        let look = Look { colours: Colours::None, ..Look::default() };
        for role in [Role::Text, Role::Focus, Role::Wrong, Role::Selected] {
            let style = look.style(role);
            assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
        }
        assert!(look.style(Role::Selected).add_modifier.contains(Modifier::REVERSED));
    }

    #[test]
    fn true_colours_become_what_the_terminal_has() {
        for theme in THEMES {
            for (colours, fits) in [
                (Colours::TwoFiftySix, (|c| !matches!(c, Color::Rgb(..))) as fn(Color) -> bool),
                (Colours::Sixteen, |c| !matches!(c, Color::Rgb(..) | Color::Indexed(_))),
            ] {
                let look = Look { theme, colours, ..Look::default() };
                for index in 0..8 {
                    assert!(look.series(index).fg.is_none_or(fits), "{} {index}", theme.id);
                }
            }
        }
        assert_eq!(cube(0, 0, 0), 16);
        assert_eq!(cube(255, 255, 255), 231);
        assert_eq!(cube(128, 128, 128), 244);
    }

    #[test]
    fn backends_differ_by_marker_in_every_state_of_the_cache() {
        let all = |look: &Look| -> Vec<char> {
            let signs = BACKENDS.iter().map(|backend| identity(backend.info().id));
            signs
                .flat_map(|identity| {
                    Cache::ALL.iter().map(move |cache| Sign { identity, cache: *cache, extra: 0 })
                })
                .map(|sign| look.marker(sign))
                .collect()
        };
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            let markers = all(&Look { glyphs, ..Look::default() });
            let different: HashSet<char> = markers.iter().copied().collect();
            assert_eq!(different.len(), markers.len(), "{glyphs:?}");
        }
    }

    #[test]
    fn things_in_a_row_differ_by_marker() {
        let look = Look::default();
        let markers: HashSet<char> = (0..8).map(|i| look.ordinal(i)).collect();
        assert_eq!(markers.len(), 8);
    }
}
