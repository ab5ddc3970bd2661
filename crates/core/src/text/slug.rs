//! Conversion of text into a part of a file name.

/// Most characters of a slug.
const MAX_LENGTH: usize = 40;

/// Converts a text into a part of an id: `[a-z0-9-]`, at most 40 characters, `session` if nothing
/// is left.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => slug.push(c),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
        if slug.len() == MAX_LENGTH {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "session".into() } else { slug.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn slugs_are_short_and_never_empty(text in ".{0,80}") {
            prop_assert!((1..=MAX_LENGTH).contains(&slug(&text).len()));
        }
    }
}
