//! The letters of pictures: Inter (SIL Open Font License 1.1, `assets/fonts`), so that they are the
//! same on every machine.
//!
//! It has Latin, Greek and Cyrillic letters. Others are drawn as the missing-glyph sign.

use std::sync::LazyLock;

use read_fonts::tables::cmap::Cmap;
use read_fonts::tables::glyf::{CurvePoint, Glyf, Glyph};
use read_fonts::tables::{hmtx::Hmtx, loca::Loca};
use read_fonts::types::GlyphId;
use read_fonts::{FontRef, TableProvider};

use crate::report::text::{find_cut, wrap_where};

pub struct Font {
    letters: Cmap<'static>,
    widths: Hmtx<'static>,
    places: Loca<'static>,
    outlines: Glyf<'static>,
    units_per_em: u16,
}

/// A part of an outline, in units of the font, upwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Segment {
    Move((f32, f32)),
    LineStyle((f32, f32)),
    /// A quadratic curve: its control point, then its end.
    PanelCurve((f32, f32), (f32, f32)),
    Close,
}

macro_rules! font {
    ($file:literal) => {
        LazyLock::new(|| {
            Font::parse(include_bytes!(concat!("../../../../../assets/fonts/", $file)))
        })
    };
}

static REGULAR: LazyLock<Option<Font>> = font!("Inter-Regular.ttf");
static BOLD: LazyLock<Option<Font>> = font!("Inter-SemiBold.ttf");

/// The font family in a style, with similar families in case it is not installed.
pub const FAMILY: &str = "Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";

/// The advances of the letters from space to tilde in the widest of usual fonts, DejaVu Sans, in
/// thousandths of the size. There every digit is as wide as the others; in Inter the 1 is narrow.
const WIDEST: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];
const WIDEST_BOLD: [u16; 95] = [
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683,
    683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771,
    724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665,
    343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
];
/// Assumed width of the other letters of these fonts, as a multiple.
const WIDER: f64 = 1.2;

/// Returns the font of that weight; `None` only if the file could not be read, which a test rules
/// out.
pub fn font(bold: bool) -> Option<&'static Font> {
    if bold { BOLD.as_ref() } else { REGULAR.as_ref() }
}

impl Font {
    fn parse(file: &'static [u8]) -> Option<Font> {
        let font = FontRef::new(file).ok()?;
        Some(Font {
            letters: font.cmap().ok()?,
            widths: font.hmtx().ok()?,
            places: font.loca(None).ok()?,
            outlines: font.glyf().ok()?,
            units_per_em: font.head().ok()?.units_per_em(),
        })
    }

    /// Returns the length of one font unit at that size.
    pub fn unit(&self, size: f64) -> f64 {
        size / f64::from(self.units_per_em.max(1))
    }

    /// Returns the outline of a glyph; a space has none. The fonts have no composite glyphs.
    pub fn outline(&self, glyph: GlyphId) -> Vec<Segment> {
        let mut outline = Vec::new();
        let Ok(Some(Glyph::Simple(glyph))) = self.places.get_glyf(glyph, &self.outlines) else {
            return outline;
        };
        let points: Vec<CurvePoint> = glyph.points().collect();
        let mut start = 0;
        for end in glyph.end_pts_of_contours() {
            let end = (usize::from(end.get()) + 1).min(points.len());
            trace(points.get(start..end).unwrap_or_default(), &mut outline);
            start = end;
        }
        outline
    }

    /// Returns the glyphs of a text, each with its advance to the next one, in units of the font.
    pub fn letters<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (GlyphId, f64)> + 'a {
        let glyph = |c: char| self.letters.map_codepoint(c).unwrap_or(GlyphId::NOTDEF);
        let width = |id: GlyphId| f64::from(self.widths.advance(id).unwrap_or(0));
        text.chars().map(glyph).map(move |id| (id, width(id)))
    }
}

/// Adds a closed contour. Between two control points lies a point of the outline that the font does
/// not store.
fn trace(contour: &[CurvePoint], outline: &mut Vec<Segment>) {
    let place = |point: &CurvePoint| (f32::from(point.x), f32::from(point.y));
    let middle = |a: (f32, f32), b: (f32, f32)| ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
    let (Some(first), Some(last)) = (contour.first(), contour.last()) else { return };
    let start = match (first.on_curve, last.on_curve) {
        (true, _) => place(first),
        (false, true) => place(last),
        (false, false) => middle(place(first), place(last)),
    };
    outline.push(Segment::Move(start));
    let mut control = None;
    for point in contour.iter().skip(usize::from(first.on_curve)) {
        let at = place(point);
        match (control, point.on_curve) {
            (None, true) => outline.push(Segment::LineStyle(at)),
            (Some(control), true) => outline.push(Segment::PanelCurve(control, at)),
            (Some(control), false) => {
                outline.push(Segment::PanelCurve(control, middle(control, at)))
            }
            (None, false) => {}
        }
        control = (!point.on_curve).then_some(at);
    }
    outline.extend(control.map(|control| Segment::PanelCurve(control, start)));
    outline.push(Segment::Close);
}

/// Returns the room for a text: where Inter is not installed, a picture is drawn in another font
/// that may have wider letters.
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    let widest = if bold { &WIDEST_BOLD } else { &WIDEST };
    let Some(font) = font(bold) else { return 0.0 };
    let room = |(letter, (_, drawn)): (char, (GlyphId, f64))| {
        let drawn = drawn * font.unit(size);
        let at = (letter as usize).wrapping_sub(usize::from(b' '));
        let replaced = widest.get(at).map(|wide| f64::from(*wide) / 1000.0 * size);
        replaced.map_or(drawn * WIDER, |replaced| replaced.max(drawn))
    };
    text.chars().zip(font.letters(text)).map(room).sum()
}

/// Returns the width of a text as it is drawn in Inter.
pub fn drawn_width(text: &str, size: f64, bold: bool) -> f64 {
    font(bold)
        .map_or(0.0, |font| font.letters(text).map(|(_, wide)| wide).sum::<f64>() * font.unit(size))
}

/// Returns the text, cut to this width.
pub fn cut(text: &str, size: f64, bold: bool, most: f64) -> String {
    if width(text, size, bold) <= most + 0.5 {
        return text.into();
    }
    let room = most - width("…", size, bold);
    let end = find_cut(text, 0, text.len(), |end| width(&text[..end], size, bold) <= room);
    format!("{}…", text[..end].trim_end())
}

/// Wraps a text into lines that are at most `most` wide; a longer word is broken.
pub fn wrap(text: &str, size: f64, most: f64) -> Vec<String> {
    wrap_where(text, |_, line| width(line, size, false) <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_weights_have_all_letters() {
        for bold in [false, true] {
            let font = font(bold).expect("the file is a font");
            for c in "The quick brown fox 0123456789 µ ± × · – — … ≤ ≥ → ▲ äß Ω Я".chars()
            {
                assert!(font.letters.map_codepoint(c).is_some(), "{c}");
            }
        }
        assert!(drawn_width("10,000", 13.0, true) > drawn_width("1,000", 13.0, true));
        assert!(width("文書", 13.0, false) > 0.0, "a missing letter has a sign");
    }

    #[test]
    fn outlines_are_closed_and_sized() {
        let font = font(false).expect("the file is a font");
        let of = |c| font.outline(font.letters.map_codepoint(c).unwrap());
        assert!(of(' ').is_empty());
        // A rectangle, an outline with a hole, and one of curves that start between two points.
        for (letter, contours) in [('|', 1), ('o', 2), ('%', 5), ('8', 3)] {
            let outline = of(letter);
            let closed = outline.iter().filter(|part| **part == Segment::Close).count();
            assert_eq!(closed, contours, "{letter}");
            let ends = outline.iter().filter_map(|part| match part {
                Segment::Move(at) | Segment::LineStyle(at) | Segment::PanelCurve(_, at) => {
                    Some(*at)
                }
                Segment::Close => None,
            });
            let high = ends.clone().map(|(_, y)| y).fold(f32::MIN, f32::max);
            let wide = ends.map(|(x, _)| x).fold(f32::MIN, f32::max);
            assert!(high > 1400.0 && wide > 300.0 && wide < 3000.0, "{letter} {wide} {high}");
        }
        let contour = [(0, 0, false), (10, 0, false), (10, 10, false), (0, 10, false)];
        let contour = contour.map(|(x, y, on)| CurvePoint::new(x, y, on));
        let mut outline = Vec::new();
        trace(&contour, &mut outline);
        let expected = [
            Segment::Move((0.0, 5.0)),
            Segment::PanelCurve((0.0, 0.0), (5.0, 0.0)),
            Segment::PanelCurve((10.0, 0.0), (10.0, 5.0)),
            Segment::PanelCurve((10.0, 10.0), (5.0, 10.0)),
            Segment::PanelCurve((0.0, 10.0), (0.0, 5.0)),
            Segment::Close,
        ];
        assert_eq!(outline, expected);
    }

    #[test]
    fn there_is_room_for_wider_fonts() {
        let of = |text: &str, bold| (width(text, 1000.0, bold) * 1000.0).round() / 1000.0;
        assert_eq!((of("11.0", true), of("11.0", false)), (2468.0, 2226.0));
        assert!(of("GiB/s", true) >= 2888.0 && of("~ ", false) >= 1156.0);
        for text in ["11.0", "888", "read 4 KiB cold", "± 4 %", "Ω文"] {
            for bold in [false, true] {
                let drawn = drawn_width(text, 13.0, bold);
                assert!(width(text, 13.0, bold) >= drawn && drawn > 0.0, "{text}");
            }
        }
    }

    #[test]
    fn wrapped_lines_lose_nothing() {
        let text = "a few words and averyveryveryverylongwordthatfitsnowhere at all";
        let lines = wrap(text, 13.0, 90.0);
        assert!(lines.iter().all(|line| width(line, 13.0, false) <= 90.0), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
    }
}
