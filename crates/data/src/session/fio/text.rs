//! Finds the JSON in fio's output, or explains its absence.

use std::io::Read as _;

use memchr::memmem;

use super::output::Output;
use crate::text::clean;

/// The key that only fio's documents have.
const KEY: &[u8] = b"\"fio version\"";
/// The most documents of a file, which has room for few more.
const MAX_DOCUMENTS: usize = 10_000;

/// The documents of a text.
#[derive(Default)]
pub struct Found {
    pub documents: Vec<Output>,
    /// The text before the first one.
    pub before: String,
    /// The error that ended reading.
    pub error: Option<String>,
}

/// Returns the text of a file, which may be compressed by gzip and in UTF-8 or UTF-16; at most
/// `most` bytes of a compressed one.
///
/// # Errors
/// It is not what gzip writes.
pub fn decode(mut bytes: Vec<u8>, most: u64) -> std::io::Result<String> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        flate2::read::MultiGzDecoder::new(&bytes[..]).take(most).read_to_end(&mut plain)?;
        bytes = plain;
    }
    let wide = |order: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|two| order([two[0], two[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    Ok(match bytes[..] {
        [0xff, 0xfe, ..] | [b'\n' | b'\r' | b'{', 0, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] | [0, b'\n' | b'\r' | b'{', ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// Returns fio's documents. Any text may stand before, between and after them.
pub fn find(text: &str) -> Found {
    let mut found = Found::default();
    let mut from = 0;
    while let Some(key) = memmem::find(&text.as_bytes()[from..], KEY).map(|at| from + at) {
        let Some(start) = enclosing_brace(&text[..key], from) else {
            from = key + KEY.len();
            continue;
        };
        if found.documents.is_empty() {
            found.before = text[..start].into();
        }
        let read = parse(&text[start..])
            .or_else(|error| parse(&without_nan(&text[start..])).map_err(|_| error));
        match read {
            Ok((document, len)) if found.documents.len() < MAX_DOCUMENTS => {
                found.documents.push(document);
                from = start + len;
            }
            Ok(_) => {
                found.error = Some(format!("there are more than {MAX_DOCUMENTS} reports"));
                break;
            }
            // Each further one could be parsed to the end of the text as well.
            Err(error) => {
                found.error = Some(clean::brief(&error.to_string(), 160));
                break;
            }
        }
    }
    found
}

/// Returns the first document of a text, and its length.
fn parse(text: &str) -> serde_json::Result<(Output, usize)> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Output>();
    let first = documents.next().unwrap_or_else(|| Err(serde::de::Error::custom("no text")))?;
    Ok((first, documents.byte_offset()))
}

/// Returns where the object begins in which the text ends, after `from`.
fn enclosing_brace(text: &str, from: usize) -> Option<usize> {
    let mut closed = 0u64;
    for (at, byte) in text.bytes().enumerate().skip(from).rev() {
        match byte {
            b'{' if closed == 0 => return Some(at),
            b'{' => closed -= 1,
            b'}' => closed += 1,
            _ => {}
        }
    }
    None
}

/// Returns the text with -1, which no figure of fio can be, for `nan` and `inf`, which JSON lacks.
/// Its length stays.
fn without_nan(text: &str) -> String {
    [(": -nan", ": -1  "), (": nan", ": -1 "), (": -inf", ": -1  "), (": inf", ": -1 ")]
        .into_iter()
        .fold(text.to_string(), |text, (word, number)| text.replace(word, number))
}

/// Returns why a text of fio has no JSON; `None` if it is not fio's.
pub fn refusal(text: &str) -> Option<String> {
    let form =
        |name: &str| Some(format!("it is fio's {name} output: run fio with --output-format=json"));
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with(['2', '3', '4', '5']) && line.matches(';').count() >= 40 {
            return form("terse");
        }
        if line.contains(": (groupid=") && line.contains("): err=") {
            return form("normal");
        }
    }
    if text.contains("\"jobname\"") && text.contains("\"total_ios\"") {
        return Some(
            "it is a part of fio's JSON: import all of it, from \"fio version\" on".into(),
        );
    }
    complaint(text).map(describe_nothing)
}

/// Says that fio ran nothing, in its own words.
pub fn describe_nothing(why: &str) -> String {
    format!("fio ran nothing: {}", clean::brief(why, 160))
}

/// Returns the last line in which fio says why it cannot run.
pub fn complaint(text: &str) -> Option<&str> {
    let complains = |line: &&str| {
        line.starts_with("fio: ")
            || line.contains("failed to setup shm segment")
            || line.starts_with("No job")
            || line.ends_with("you need to specify size=")
    };
    text.lines().map(str::trim).rfind(complains)
}
