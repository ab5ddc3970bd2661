//! Colours as numbers: how much they contrast, and the nearest that a terminal has.

use ratatui::style::Color;

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// Contrast that text needs (WCAG 2.1, level AA).
pub const TEXT_CONTRAST: f64 = 4.5;
/// Contrast that lines and marks need.
pub const MARK_CONTRAST: f64 = 3.0;
/// How far colours are apart (CIE76) that tell things in one picture from each other. 2.3 is what
/// can just be seen of two areas side by side; marks of a few pixels that are far from each other,
/// or from their legend, need several times as much.
pub const APART: f64 = 20.0;

/// Parses `#1a1b26`.
pub fn parse_hex(text: &str) -> Option<Rgb> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let value = is_hex.then(|| u32::from_str_radix(digits, 16).ok())??;
    Some(((value >> 16) as u8, (value >> 8) as u8, value as u8))
}

fn linear(part: u8) -> f64 {
    let part = f64::from(part) / 255.0;
    if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
}

/// Returns the relative luminance, 0 to 1.
pub fn luminance((r, g, b): Rgb) -> f64 {
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// Returns how far two colours are apart to the eye (CIE76, illuminant D65): 100 is from black to
/// white.
pub fn distance(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (lab(a), lab(b));
    (0..3).map(|at| (a[at] - b[at]).powi(2)).sum::<f64>().sqrt()
}

/// Returns a colour in the space CIELAB.
fn lab((r, g, b): Rgb) -> [f64; 3] {
    let (r, g, b) = (linear(r), linear(g), linear(b));
    let curved = |part: f64| {
        if part > 216.0 / 24389.0 { part.cbrt() } else { (24389.0 / 27.0 * part + 16.0) / 116.0 }
    };
    let x = curved((0.412_456_4 * r + 0.357_576_1 * g + 0.180_437_5 * b) / 0.950_47);
    let y = curved(0.212_672_9 * r + 0.715_152_2 * g + 0.072_175 * b);
    let z = curved((0.019_333_9 * r + 0.119_192 * g + 0.950_304_1 * b) / 1.088_83);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Returns the contrast of two colours, 1 to 21.
pub fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Returns whether a mark of this colour can be seen on every usual background, dark or light.
pub fn is_seen_everywhere(color: Rgb) -> bool {
    (0.203..=0.274).contains(&luminance(color))
}

/// Returns what SGR 2 makes of a foreground: two thirds of it, as xterm and VTE draw it.
pub fn faint(foreground: Rgb, background: Rgb) -> Rgb {
    fn mix(a: u8, b: u8) -> u8 {
        ((u16::from(a) * 2 + u16::from(b)) / 3) as u8
    }
    (
        mix(foreground.0, background.0),
        mix(foreground.1, background.1),
        mix(foreground.2, background.2),
    )
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

/// Returns the index of one of the sixteen colours.
pub fn ansi_index(color: Color) -> Option<usize> {
    ANSI.iter().position(|(_, own)| *own == color)
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
    fn contrasts_are_those_of_wcag() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 1e-9);
        assert!((contrast((0x77, 0x77, 0x77), (255, 255, 255)) - 4.48).abs() < 0.01);
        assert!((contrast((0, 0, 238), (0, 0, 0)) - 2.2).abs() < 0.1);
    }

    #[test]
    fn distances_are_those_of_cie76() {
        let of = |a, b| (distance(a, b) * 10.0).round() / 10.0;
        assert_eq!(of((0, 0, 0), (255, 255, 255)), 100.0);
        assert_eq!(of((255, 0, 0), (0, 255, 0)), 170.6);
        assert_eq!(of((0x5f, 0xd7, 0xff), (0, 0xe5, 0xff)), 15.2);
        assert_eq!(of((3, 2, 1), (3, 2, 1)), 0.0);
    }

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
