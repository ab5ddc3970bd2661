//! The colours that a terminal says it has, and how it is asked (OSC 4, 10 and 11).

use super::color::{Rgb, parse_hex};

/// What is known of a terminal's colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Palette {
    pub foreground: Option<Rgb>,
    pub background: Option<Rgb>,
    pub ansi: [Option<Rgb>; 16],
}

/// The colours of the Linux console, which cannot be asked: those that the kernel begins with.
pub const LINUX_CONSOLE: Palette = Palette {
    foreground: Some((0xaa, 0xaa, 0xaa)),
    background: Some((0, 0, 0)),
    ansi: [
        Some((0, 0, 0)),
        Some((0xaa, 0, 0)),
        Some((0, 0xaa, 0)),
        Some((0xaa, 0x55, 0)),
        Some((0, 0, 0xaa)),
        Some((0xaa, 0, 0xaa)),
        Some((0, 0xaa, 0xaa)),
        Some((0xaa, 0xaa, 0xaa)),
        Some((0x55, 0x55, 0x55)),
        Some((0xff, 0x55, 0x55)),
        Some((0x55, 0xff, 0x55)),
        Some((0xff, 0xff, 0x55)),
        Some((0x55, 0x55, 0xff)),
        Some((0xff, 0x55, 0xff)),
        Some((0x55, 0xff, 0xff)),
        Some((0xff, 0xff, 0xff)),
    ],
};

/// Returns the questions; the one for the background is last, so that its answer ends the others.
pub fn questions() -> String {
    let mut all: String = (0..16).map(|at| format!("\x1b]4;{at};?\x1b\\")).collect();
    all.push_str("\x1b]10;?\x1b\\\x1b]11;?\x1b\\");
    all
}

impl Palette {
    /// Takes an answer, without its introducer and terminator: `11;rgb:1a1a/1b1b/2626`. Returns
    /// whether it was that for the background; what cannot be read is left out.
    pub fn take_answer(&mut self, answer: &str) -> bool {
        let mut parts = answer.split(';');
        match (parts.next(), parts.next(), parts.next()) {
            (Some("4"), Some(index), Some(color)) => {
                let at = index.parse::<usize>().ok();
                if let Some(known) = at.and_then(|at| self.ansi.get_mut(at)) {
                    *known = parse_color(color);
                }
            }
            (Some("10"), Some(color), None) => self.foreground = parse_color(color),
            (Some("11"), Some(color), None) => self.background = parse_color(color),
            _ => {}
        }
        answer.starts_with("11;") && self.background.is_some()
    }
}

/// Parses `rgb:R/G/B` or `rgba:R/G/B/A` of one to four hexadecimal digits each, or `#RRGGBB`.
fn parse_color(text: &str) -> Option<Rgb> {
    let scaled = |digits: &str| -> Option<u8> {
        let is_hex =
            (1..=4).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let value = is_hex.then(|| u32::from_str_radix(digits, 16).ok())??;
        Some((value * 255 / ((1 << (4 * digits.len())) - 1)) as u8)
    };
    if text.starts_with('#') {
        return parse_hex(text);
    }
    let rest = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let parts: Vec<&str> = rest.split('/').collect();
    match parts.as_slice() {
        [r, g, b] | [r, g, b, _] => Some((scaled(r)?, scaled(g)?, scaled(b)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_terminals_are_read() {
        let mut palette = Palette::default();
        assert!(!palette.take_answer("4;8;rgb:5555/5757/5353"));
        assert!(!palette.take_answer("10;rgb:d3/d7/cf"));
        assert!(palette.take_answer("11;rgba:0000/2b2b/3636/ffff"));
        assert_eq!(palette.ansi[8], Some((0x55, 0x57, 0x53)));
        assert_eq!(palette.foreground, Some((0xd3, 0xd7, 0xcf)));
        assert_eq!(palette.background, Some((0, 0x2b, 0x36)));
        assert!(palette.take_answer("11;#ffffff"));
        assert_eq!(palette.background, Some((255, 255, 255)));
        assert!(palette.take_answer("11;rgb:f/0/8"));
        assert_eq!(palette.background, Some((255, 0, 0x88)));
    }

    #[test]
    fn garbage_is_left_out() {
        for garbage in [
            "",
            ";",
            "11",
            "11;",
            "11;rgb:",
            "11;rgb:1/2",
            "11;rgb:12345/0/0",
            "11;#12345é",
            "11;rgb:+1/0/0",
            "11;rgb:0/0/0;1",
            "4;16;rgb:0/0/0",
            "4;-1;rgb:0/0/0",
            "4;x;y",
            "🙂",
        ] {
            let mut palette = Palette::default();
            assert!(!palette.take_answer(garbage), "{garbage}");
            assert_eq!(palette, Palette::default(), "{garbage}");
        }
    }

    #[test]
    fn the_background_is_asked_for_last() {
        let all = questions();
        assert!(all.ends_with("\x1b]11;?\x1b\\") && all.matches('?').count() == 18);
    }
}
