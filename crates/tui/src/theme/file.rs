//! Files of themes: `assets/themes/*.toml`, and the user's own of the same form.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use toml::Spanned;

use super::scheme::{Colours, Theme};
use crate::catalog::HUES;

/// A theme as its file has it.
#[derive(Debug, Clone, PartialEq)]
pub struct ThemeFile {
    pub id: String,
    pub about: String,
    background: Option<Color>,
    selected: Option<Color>,
    /// In the order of the file.
    roles: [Style; 12],
    series: [Style; HUES],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    about: String,
    background: Option<Spanned<String>>,
    selected: Option<Spanned<String>>,
    text: Spanned<String>,
    dim: Spanned<String>,
    border: Spanned<String>,
    focus: Spanned<String>,
    good: Spanned<String>,
    note: Spanned<String>,
    misleading: Spanned<String>,
    wrong: Spanned<String>,
    device: Spanned<String>,
    cache: Spanned<String>,
    hole: Spanned<String>,
    unknown: Spanned<String>,
    series: Spanned<Vec<Spanned<String>>>,
}

impl ThemeFile {
    /// Parses a file.
    ///
    /// # Errors
    /// The first problem, in one line that begins with the line of the file.
    pub fn parse(id: &str, text: &str) -> Result<ThemeFile, String> {
        let error = |at: usize, why: &str| {
            let line =
                text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
            format!("line {}: {why}", line + 1)
        };
        let raw: Raw = toml::from_str(text).map_err(|err| {
            let at = err.span().map_or(0, |span| span.start);
            error(at, &err.message().trim_end().replace('\n', " "))
        })?;
        let fill = |value: &Option<Spanned<String>>| {
            let Some(value) = value else { return Ok(None) };
            match parse_rgb(value.get_ref()) {
                None => {
                    let why = format!("{:?} is not a color like \"#1a1b26\"", value.get_ref());
                    Err(error(value.span().start, &why))
                }
                color => Ok(color),
            }
        };
        let style = |value: &Spanned<String>| {
            parse_style(value.get_ref()).map_err(|why| error(value.span().start, &why))
        };
        let all = [
            &raw.text,
            &raw.dim,
            &raw.border,
            &raw.focus,
            &raw.good,
            &raw.note,
            &raw.misleading,
            &raw.wrong,
            &raw.device,
            &raw.cache,
            &raw.hole,
            &raw.unknown,
        ];
        let mut roles = [Style::new(); 12];
        for (role, value) in roles.iter_mut().zip(all) {
            *role = style(value)?;
        }
        let named = raw.series.get_ref();
        if named.len() != HUES {
            let why = format!("series has {} colors, and {HUES} are needed", named.len());
            return Err(error(raw.series.span().start, &why));
        }
        let mut series = [Style::new(); HUES];
        for (hue, value) in series.iter_mut().zip(named) {
            *hue = style(value)?;
        }
        let (background, selected) = (fill(&raw.background)?, fill(&raw.selected)?);
        Ok(ThemeFile { id: id.into(), about: raw.about, background, selected, roles, series })
    }

    /// Returns the theme as a terminal with these colours shows it; `None` where these are fewer
    /// than it needs.
    pub fn resolve(&self, colours: Colours) -> Option<Theme> {
        let has_many = colours >= Colours::TwoFiftySix;
        let is_rgb = |style: &Style| matches!(style.fg, Some(Color::Rgb(..)));
        let needs_many = self.roles.iter().chain(&self.series).any(is_rgb);
        if !has_many && (needs_many || self.background.is_some()) {
            return None;
        }
        let fit = |color: Color| fitting(color, colours);
        let fit_style = |style: Style| Style { fg: style.fg.map(fit), ..style };
        Some(Theme {
            id: self.id.clone(),
            about: self.about.clone(),
            background: self.background.map(fit),
            // Reverse video where the terminal has fewer colours.
            selected: self.selected.filter(|_| has_many).map(fit),
            roles: self.roles.map(fit_style),
            series: self.series.map(fit_style),
        })
    }
}

/// Returns the nearest colour that the terminal has.
fn fitting(wanted: Color, colours: Colours) -> Color {
    match (wanted, colours) {
        (Color::Rgb(r, g, b), Colours::TwoFiftySix) => Color::Indexed(nearest_index((r, g, b))),
        _ => wanted,
    }
}

fn parse_rgb(text: &str) -> Option<Color> {
    parse_hex(text).map(|(r, g, b)| Color::Rgb(r, g, b))
}

/// Parses a colour with its modifiers: `default dim`.
fn parse_style(text: &str) -> Result<Style, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let named = || ANSI.iter().find(|(own, _)| *own == name).map(|(_, color)| *color);
    let color =
        (name == "default").then_some(Color::Reset).or_else(|| parse_rgb(name)).or_else(named);
    let Some(color) = color else {
        return Err(format!(
            "{name:?} is not a color: use \"#1a1b26\", \"default\", or one like \"red\" or \"bright-red\""
        ));
    };
    let mut style = Style::new().fg(color);
    for word in words {
        style = style.add_modifier(match word {
            "dim" => Modifier::DIM,
            "bold" => Modifier::BOLD,
            _ => return Err(format!("{word:?} is neither \"dim\" nor \"bold\"")),
        });
    }
    Ok(style)
}

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// Parses `#1a1b26`.
pub fn parse_hex(text: &str) -> Option<Rgb> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let value = is_hex.then(|| u32::from_str_radix(digits, 16).ok())??;
    Some(((value >> 16) as u8, (value >> 8) as u8, value as u8))
}

/// Returns the colour of an index from 16 on, which is the same on every terminal.
pub fn indexed(index: u8) -> Rgb {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    if index >= 232 {
        let tone = 8 + (index - 232) * 10;
        return (tone, tone, tone);
    }
    let index = usize::from(index.saturating_sub(16));
    (LEVELS[index / 36], LEVELS[index / 6 % 6], LEVELS[index % 6])
}

/// Returns the nearest of the 6 x 6 x 6 cube and the 24 greys of 256 colours.
pub fn nearest_index(color: Rgb) -> u8 {
    let away = |index: &u8| {
        let other = indexed(*index);
        let part = |a: u8, b: u8| (i32::from(a) - i32::from(b)).pow(2);
        part(color.0, other.0) + part(color.1, other.1) + part(color.2, other.2)
    };
    (16..=255).min_by_key(away).unwrap_or(16)
}

/// The sixteen colours by name, in their order.
pub const ANSI: [(&str, Color); 16] = [
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_the_nearest_of_256() {
        assert_eq!(nearest_index((0, 0, 0)), 16);
        assert_eq!(nearest_index((255, 255, 255)), 231);
        assert_eq!(nearest_index((128, 128, 128)), 244);
        for index in 16..=255 {
            assert_eq!(indexed(nearest_index(indexed(index))), indexed(index));
        }
    }
}
