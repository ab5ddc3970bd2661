//! Files of themes: `assets/themes/*.toml`, and the user's own of the same form.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use toml::Spanned;

use super::color::{
    self, ANSI, APART, MARK_CONTRAST, Rgb, TEXT_CONTRAST, contrast, distance, faint,
    is_seen_everywhere, nearest_index,
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

/// The colours of one role: the first is used that can be read and that looks like none of another
/// role that it stands beside.
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
        let alone = |at: usize| screen.choose(&self.roles[at], need(at), f64::MAX, &[]);
        let mut roles: [Style; ROLES.len()] = std::array::from_fn(alone);
        // Hints are never stronger than text.
        let most = screen.contrast_of(roles[TEXT]).unwrap_or(f64::MAX);
        roles[DIM] = screen.choose(&self.roles[DIM], TEXT_CONTRAST, most, &[]);
        let mut taken: Vec<Rgb> = Vec::new();
        let mut unlike = |candidates: &[Paint], least: f64| {
            let style = screen.choose(candidates, least, f64::MAX, &taken);
            taken.extend(screen.seen(style));
            style
        };
        for at in SIGNALS {
            roles[at] = unlike(&self.roles[at], need(at));
        }
        let series = std::array::from_fn(|at| unlike(&self.series[at], MARK_CONTRAST));
        for at in SOURCES {
            roles[at] = unlike(&self.roles[at], need(at));
        }
        Some(Theme {
            id: self.id.clone(),
            about: self.about.clone(),
            background: self.background.map(fit),
            // Reverse video where there are not so many colors.
            selected: self.selected.filter(|_| colours >= Colours::TwoFiftySix).map(fit),
            roles,
            series,
        })
    }
}

/// Whether each role is text, else lines and marks; in the order of [`Theme::roles`].
const ROLES: [bool; 12] =
    [true, true, false, true, true, true, true, true, false, false, false, false];
const TEXT: usize = 0;
const DIM: usize = 1;
/// The accent, `wrong`, `misleading` and `good`: these first, as they are text.
const SIGNALS: [usize; 4] = [3, 7, 6, 4];
/// Where bytes came from.
const SOURCES: std::ops::Range<usize> = 8..12;

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

    /// Returns what the eye sees of a style; `None`: not known.
    fn seen(&self, style: Style) -> Option<Rgb> {
        let color = self.rgb(style.fg?)?;
        match style.add_modifier.contains(Modifier::DIM) {
            true => Some(faint(color, self.background?)),
            false => Some(color),
        }
    }

    fn contrast_of(&self, style: Style) -> Option<f64> {
        Some(contrast(self.seen(style)?, self.background?))
    }

    /// Returns how far a style is from the nearest of these colours; 0 if that is not known.
    fn distance_of(&self, style: Style, taken: &[Rgb]) -> f64 {
        let away = |other: &Rgb| self.seen(style).map_or(0.0, |own| distance(own, *other));
        taken.iter().map(away).fold(f64::INFINITY, f64::min)
    }

    /// Returns the first that has at least this contrast, at most that of `most`, and is apart from
    /// the colours that are taken: where there is none, the farthest of those with the contrast. Of
    /// an unknown background: of those that are seen on all.
    fn choose(&self, candidates: &[Paint], least: f64, most: f64, taken: &[Rgb]) -> Style {
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
        let away = |style: &Style| self.distance_of(*style, taken);
        let readable = || styles.iter().filter(is_good).copied();
        let farthest = || readable().reduce(|a, b| if away(&b) > away(&a) { b } else { a });
        readable().find(|style| away(style) >= APART).or_else(farthest).unwrap_or_else(strongest)
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
