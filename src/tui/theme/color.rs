//! Colours as numbers, and the nearest that a terminal has.

use ratatui::style::Color;

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
