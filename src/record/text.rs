//! What names and words of others may not do to a terminal or a page.

/// Whether a character moves the cursor, hides, or turns the direction of what follows (Unicode UAX 9).
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
