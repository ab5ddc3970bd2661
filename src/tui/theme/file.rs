//! Files of themes: `assets/themes/*.toml`, and the user's own of the same form.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use toml::Spanned;

use super::color::{
    self, ANSI, MARK_CONTRAST, Rgb, TEXT_CONTRAST, contrast, faint, is_seen_everywhere,
    nearest_index,
};
use super::palette::Palette;
use super::scheme::{Colours, Theme};
use crate::backend::HUES;

/// One colour as a file names it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Paint {
    color: Color,
    modifier: Modifier,
}

/// The colours of one role: the first that can be read is used.
type Candidates = Vec<Paint>;

/// A theme before it is known what the terminal shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ThemeFile {
    pub id: String,
    pub about: String,
    background: Option<Color>,
    selected: Option<Color>,
    /// By the order of [`ROLES`].
    roles: Vec<Candidates>,
    series: Vec<Candidates>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    about: String,
    background: Option<Spanned<String>>,
    selected: Option<Spanned<String>>,
    text: Spanned<Words>,
    dim: Spanned<Words>,
    border: Spanned<Words>,
    focus: Spanned<Words>,
    good: Spanned<Words>,
    note: Spanned<Words>,
    misleading: Spanned<Words>,
    wrong: Spanned<Words>,
    device: Spanned<Words>,
    cache: Spanned<Words>,
    hole: Spanned<Words>,
    unknown: Spanned<Words>,
    series: Spanned<Vec<Spanned<Words>>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a color or a list of colors")]
enum Words {
    One(String),
    Many(Vec<String>),
}

impl ThemeFile {
    /// Parses a file.
    ///
    /// # Errors
    /// The first problem, in one line that begins with the line of the file.
    pub fn parse(id: &str, text: &str) -> Result<ThemeFile, String> {
        let told = |at: usize, why: &str| {
            let line =
                text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
            format!("line {}: {why}", line + 1)
        };
        let raw: Raw = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            told(at, &error.message().trim_end().replace('\n', " "))
        })?;
        let fill = |value: &Option<Spanned<String>>| {
            let parsed = value.as_ref().map(|value| {
                hex(value.get_ref()).ok_or_else(|| {
                    told(
                        value.span().start,
                        &format!("{:?} is no color like \"#1a1b26\"", value.get_ref()),
                    )
                })
            });
            parsed.transpose()
        };
        let role = |value: &Spanned<Words>| {
            let words = match value.get_ref() {
                Words::One(word) => std::slice::from_ref(word),
                Words::Many(words) => words,
            };
            let all: Result<Candidates, String> = words.iter().map(|word| paint(word)).collect();
            match all {
                Ok(all) if all.is_empty() => Err(told(value.span().start, "the list has no color")),
                all => all.map_err(|why| told(value.span().start, &why)),
            }
        };
        let (background, selected) = (fill(&raw.background)?, fill(&raw.selected)?);
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
        let roles = all.into_iter().map(role).collect::<Result<_, _>>()?;
        let series: Vec<Candidates> =
            raw.series.get_ref().iter().map(role).collect::<Result<_, _>>()?;
        if series.len() != HUES {
            let why = format!("series has {} colors, and {HUES} are needed", series.len());
            return Err(told(raw.series.span().start, &why));
        }
        Ok(ThemeFile { id: id.into(), about: raw.about, background, selected, roles, series })
    }

    /// Returns the theme as a terminal with this palette shows it. A file with a background needs
    /// more than 16 colours; `None` where there are not so many.
    pub fn resolve(&self, palette: &Palette, colours: Colours) -> Option<Theme> {
        if self.background.is_some() && colours < Colours::TwoFiftySix {
            return None;
        }
        let fit = |color: Color| fitting(color, colours);
        let screen = Screen {
            palette: *palette,
            background: self
                .background
                .map_or(palette.background, |color| Screen::default().rgb(fit(color))),
            colours,
        };
        let need = |at: usize| if ROLES[at] { TEXT_CONTRAST } else { MARK_CONTRAST };
        let mut roles: Vec<Style> =
            (0..ROLES.len()).map(|at| screen.choose(&self.roles[at], need(at), f64::MAX)).collect();
        // Hints are never stronger than text.
        let most = screen.contrast_of(roles[TEXT]).unwrap_or(f64::MAX);
        roles[DIM] = screen.choose(&self.roles[DIM], TEXT_CONTRAST, most);
        let series = |at: usize| screen.choose(&self.series[at], MARK_CONTRAST, f64::MAX);
        Some(Theme {
            id: self.id.clone(),
            about: self.about.clone(),
            background: self.background.map(fit),
            // Reverse video where there are not so many colors.
            selected: self.selected.filter(|_| colours >= Colours::TwoFiftySix).map(fit),
            roles: std::array::from_fn(|at| roles[at]),
            series: std::array::from_fn(series),
        })
    }
}

/// Whether each role is text, else lines and marks; in the order of [`Theme::roles`].
const ROLES: [bool; 12] =
    [true, true, false, true, true, true, true, true, false, false, false, false];
const TEXT: usize = 0;
const DIM: usize = 1;

/// Where colours have to be seen.
#[derive(Default)]
struct Screen {
    palette: Palette,
    background: Option<Rgb>,
    colours: Colours,
}

impl Screen {
    fn rgb(&self, color: Color) -> Option<Rgb> {
        match color {
            Color::Rgb(r, g, b) => Some((r, g, b)),
            Color::Indexed(index) if index >= 16 => Some(color::indexed(index)),
            Color::Reset => self.palette.foreground,
            _ => self.palette.ansi[color::ansi_index(color)?],
        }
    }

    fn contrast_of(&self, style: Style) -> Option<f64> {
        let background = self.background?;
        let mut color = self.rgb(style.fg?)?;
        if style.add_modifier.contains(Modifier::DIM) {
            color = faint(color, background);
        }
        Some(contrast(color, background))
    }

    /// Returns the first that has at least this contrast, and at most that of `most`. Of an unknown
    /// background: the first that is seen on all.
    fn choose(&self, candidates: &[Paint], least: f64, most: f64) -> Style {
        let fits = |paint: &&Paint| {
            self.colours >= Colours::TwoFiftySix || !matches!(paint.color, Color::Rgb(..))
        };
        let styles: Vec<Style> = candidates
            .iter()
            .filter(fits)
            .map(|paint| {
                let color = fitting(paint.color, self.colours);
                Style::new().fg(color).add_modifier(paint.modifier)
            })
            .collect();
        let is_good = |style: &&Style| match self.contrast_of(**style) {
            Some(own) => (least..=most + 1e-9).contains(&own),
            None if self.background.is_some() => false,
            None => {
                let color = style.fg.unwrap_or(Color::Reset);
                color == Color::Reset || self.rgb(color).is_some_and(is_seen_everywhere)
            }
        };
        let usual = || styles.first().copied().unwrap_or(Style::new().fg(Color::Reset));
        if self.background.is_none() && self.colours < Colours::TwoFiftySix {
            return usual();
        }
        let best =
            |a: Style, b: Style| if self.contrast_of(b) > self.contrast_of(a) { b } else { a };
        let strongest = || styles.iter().copied().reduce(best).unwrap_or_else(usual);
        styles.iter().find(is_good).copied().unwrap_or_else(strongest)
    }
}

/// Returns the nearest colour of those that the terminal has.
fn fitting(wanted: Color, colours: Colours) -> Color {
    match (wanted, colours) {
        (Color::Rgb(r, g, b), Colours::TwoFiftySix) => Color::Indexed(nearest_index((r, g, b))),
        _ => wanted,
    }
}

fn hex(text: &str) -> Option<Color> {
    color::parse_hex(text).map(|(r, g, b)| Color::Rgb(r, g, b))
}

/// Parses a colour with its modifiers: `default dim`.
fn paint(text: &str) -> Result<Paint, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let named = || ANSI.iter().find(|(own, _)| *own == name).map(|(_, color)| *color);
    let color = (name == "default").then_some(Color::Reset).or_else(|| hex(name)).or_else(named);
    let Some(color) = color else {
        return Err(format!(
            "{name:?} is no color: use \"#1a1b26\", \"default\", or one like \"red\" or \"bright-red\""
        ));
    };
    let mut modifier = Modifier::empty();
    for word in words {
        modifier |= match word {
            "dim" => Modifier::DIM,
            "bold" => Modifier::BOLD,
            _ => return Err(format!("{word:?} is neither \"dim\" nor \"bold\"")),
        };
    }
    Ok(Paint { color, modifier })
}
