//! The letters of pictures: Inter (SIL Open Font License 1.1, `assets/fonts`), so that they are the
//! same on every machine.
//!
//! It has Latin, Greek and Cyrillic letters. Others are drawn as the missing-glyph sign.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

use crate::report::text::wrap_where;

pub struct Font(Face<'static>);

macro_rules! font {
    ($file:literal) => {
        LazyLock::new(|| {
            Face::parse(include_bytes!(concat!("../../../assets/fonts/", $file)), 0).ok().map(Font)
        })
    };
}

static REGULAR: LazyLock<Option<Font>> = font!("Inter-Regular.otf");
static BOLD: LazyLock<Option<Font>> = font!("Inter-SemiBold.otf");

/// The font family in a style, with similar families in case it is not installed.
pub const FAMILY: &str = "Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";

/// Returns the font of that weight; `None` only if the file could not be read, which a test rules
/// out.
pub fn font(bold: bool) -> Option<&'static Font> {
    if bold { BOLD.as_ref() } else { REGULAR.as_ref() }
}

impl Font {
    pub fn face(&self) -> &Face<'static> {
        &self.0
    }

    /// Returns the length of one font unit at that size.
    pub fn unit(&self, size: f64) -> f64 {
        size / f64::from(self.0.units_per_em().max(1))
    }

    /// Returns the glyphs of a text, each with its advance to the next one, in units of the font.
    pub fn letters<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (GlyphId, f64)> + 'a {
        let glyph = |c: char| self.0.glyph_index(c).unwrap_or(GlyphId(0));
        text.chars().map(glyph).map(|id| (id, f64::from(self.0.glyph_hor_advance(id).unwrap_or(0))))
    }
}

/// Returns the width of a text.
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    font(bold)
        .map_or(0.0, |font| font.letters(text).map(|(_, wide)| wide).sum::<f64>() * font.unit(size))
}

/// Returns the text, cut to this width.
pub fn cut(text: &str, size: f64, bold: bool, most: f64) -> String {
    let mut text = text.to_string();
    if width(&text, size, bold) <= most + 0.5 {
        return text;
    }
    while width(&text, size, bold) + width("…", size, bold) > most && text.pop().is_some() {}
    format!("{}…", text.trim_end())
}

/// Wraps a text into lines that are at most `most` wide; a longer word is broken.
pub fn wrap(text: &str, size: f64, most: f64) -> Vec<String> {
    wrap_where(text, |_, line| width(line, size, false) <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_weights_have_the_letters_that_pictures_use() {
        for bold in [false, true] {
            let font = font(bold).expect("the file is a font");
            for c in "The quick brown fox 0123456789 µ ± × · – — … ≤ ≥ → ▲ äß Ω Я".chars()
            {
                assert!(font.face().glyph_index(c).is_some(), "{c}");
            }
        }
        assert!(width("10,000", 13.0, true) > width("1,000", 13.0, true));
        assert!(width("文書", 13.0, false) > 0.0, "what is missing has a sign");
    }

    #[test]
    fn no_line_is_wider_and_nothing_is_lost() {
        let text = "a few words and averyveryveryverylongwordthatfitsnowhere at all";
        let lines = wrap(text, 13.0, 90.0);
        assert!(lines.iter().all(|line| width(line, 13.0, false) <= 90.0), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
    }
}
