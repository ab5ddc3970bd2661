//! Errors of the operating system in words.

use std::io;

/// Describes an error without its number: `permission denied`.
pub fn describe_io_error(error: &io::Error) -> String {
    let text = error.to_string();
    let text = match (error.raw_os_error(), text.rfind(" (os error ")) {
        (Some(_), Some(end)) => &text[..end],
        _ => text.as_str(),
    };
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    let is_word = letters.clone().next().is_some_and(|c| !c.is_ascii_uppercase());
    match first {
        Some(first) if is_word => std::iter::once(first).chain(letters).collect(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_error_shows_its_number() {
        for (number, wanted) in [(13, "permission denied"), (1, "operation not permitted")] {
            assert_eq!(describe_io_error(&io::Error::from_raw_os_error(number)), wanted);
        }
        assert_eq!(describe_io_error(&io::Error::from_raw_os_error(5)), "input/output error");
        assert_eq!(describe_io_error(&io::Error::other("CRC is wrong")), "CRC is wrong");
        assert_eq!(describe_io_error(&io::Error::other("")), "");
    }
}
