//! The seal of a line: its number in the file and a checksum, so that a flipped bit, a lost line
//! and a repeated line are found. Files of older versions have none and are read without.
//!
//! A sealed line is the JSON object of the line with two more keys at its end:
//! `"line":17,"crc":"89abcdef"`. The checksum is the CRC-32 of all bytes before `,"crc":"`.

use memchr::memmem;

const CRC: &[u8] = br#","crc":""#;
const NUMBER: &[u8] = br#","line":"#;
/// `,"crc":"89abcdef"}`.
const TAIL_LEN: usize = CRC.len() + 8 + 2;
/// `,"line":` and the longest number.
const MAX_NUMBER_LEN: usize = NUMBER.len() + 20;

/// Seals a line of one JSON object and a line feed; returns anything else unchanged.
pub fn seal(line: &[u8], number: u64) -> Vec<u8> {
    let Some(open) = line.strip_suffix(b"}\n") else { return line.into() };
    let mut sealed = Vec::with_capacity(line.len() + MAX_NUMBER_LEN + TAIL_LEN);
    sealed.extend_from_slice(open);
    sealed.extend_from_slice(format!(",\"line\":{number}").as_bytes());
    let crc = crc32fast::hash(&sealed);
    sealed.extend_from_slice(format!(",\"crc\":\"{crc:08x}\"}}\n").as_bytes());
    sealed
}

/// The result of checking the seal of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Seal<'a> {
    /// The line has no seal.
    None,
    /// It is valid: the number of the line, and its object without the seal and the closing brace.
    Whole(u64, &'a [u8]),
    /// It is invalid: something in the line changed.
    Broken,
}

/// Checks the seal of a line without its line feed.
pub fn check(line: &[u8]) -> Seal<'_> {
    let Some((before, tail)) =
        line.len().checked_sub(TAIL_LEN).and_then(|at| line.split_at_checked(at))
    else {
        return Seal::None;
    };
    let Some(hex) = tail.strip_prefix(CRC).and_then(|rest| rest.strip_suffix(b"\"}")) else {
        return Seal::None;
    };
    let written = std::str::from_utf8(hex).ok().and_then(|hex| u32::from_str_radix(hex, 16).ok());
    if written != Some(crc32fast::hash(before)) {
        return Seal::Broken;
    }
    let near = before.len().saturating_sub(MAX_NUMBER_LEN);
    let number = memmem::rfind(&before[near..], NUMBER).and_then(|at| {
        let digits = std::str::from_utf8(&before[near + at + NUMBER.len()..]).ok()?;
        Some((digits.parse().ok()?, near + at))
    });
    number.map_or(Seal::Broken, |(number, at)| Seal::Whole(number, &before[..at]))
}

/// Returns the number of a line, if it has a seal, and its object without the seal; `None` if the
/// seal is invalid. The object of a sealed line is put into `buffer`.
pub fn open<'a>(line: &'a [u8], buffer: &'a mut Vec<u8>) -> Option<(Option<u64>, &'a [u8])> {
    match check(line) {
        Seal::None => Some((None, line)),
        Seal::Whole(number, open) => {
            buffer.clear();
            buffer.extend_from_slice(open);
            buffer.push(b'}');
            Some((Some(number), buffer))
        }
        Seal::Broken => None,
    }
}

#[cfg(test)]
mod damage_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_breaks_a_seal() {
        let line = b"{\"kind\":\"trial\",\"bytes\":4096,\"x\":[]}\n";
        let sealed = seal(line, 17);
        let bare = sealed.strip_suffix(b"\n").unwrap();
        let mut buffer = Vec::new();
        let Some((Some(17), body)) = open(bare, &mut buffer) else {
            panic!("{:?}", String::from_utf8_lossy(bare))
        };
        assert_eq!([body, b"\n"].concat(), line);
        assert!(serde_json::from_slice::<serde_json::Value>(bare).is_ok());
        for bit in 0..bare.len() * 8 {
            let mut changed = bare.to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            // A checksum in capital letters is the same number.
            let same = changed.eq_ignore_ascii_case(bare) && bit / 8 >= bare.len() - 10;
            assert!(same || !matches!(check(&changed), Seal::Whole(..)), "bit {bit}");
        }
    }

    #[test]
    fn lines_without_a_seal_have_none() {
        for line in [
            "",
            "{}",
            "{\"crc\":\"12345678\"}",
            "{\"kind\":\"note\",\"text\":\"a long line of text\"}",
        ] {
            assert_eq!(check(line.as_bytes()), Seal::None, "{line}");
        }
        assert_eq!(check(b"{\"kind\":\"note\",\"crc\":\"12345678\"}"), Seal::Broken);
        assert_eq!(seal(b"no object\n", 1), b"no object\n");
    }
}
