//! The first line of a session file, and its copy: built, sealed, and changed in place.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::damage::HEADERS;
use super::line::{self, COPY, Header};
use super::{Session, SessionError, seal};

/// The replaceable values of a first line, as slices of the line.
#[derive(Deserialize)]
struct Places<'a> {
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
}

/// Builds the first line of a session whose original one was damaged.
pub(super) fn restore(
    session: &Session,
    id: Option<&str>,
    name: &str,
) -> Result<String, SessionError> {
    let Session { id: own, created, host, plan, .. } = session;
    let header = Header::new(id.unwrap_or(own), name, created, 0, host, plan);
    let bytes = line::bytes(&header)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Seals a first line, and its copy as the second line.
pub(super) fn seal_twice(first: &str) -> Vec<u8> {
    let copy = replace_at(first, |places| Some(vec![(places.kind?, COPY)])).unwrap_or_default();
    [seal::seal(first.as_bytes(), 1), seal::seal(copy.as_bytes(), HEADERS)].concat()
}

/// Copies the lines of a session after its first line and its copy, up to offset `whole`. Returns
/// the number of bytes copied.
pub(super) fn copy_rest(from: &File, whole: u64, to: &mut File) -> io::Result<u64> {
    let mut buffer = vec![0; 64 << 10];
    let (mut at, mut copied, mut skip) = (0, 0, HEADERS);
    while at < whole {
        let most = buffer.len().min(usize::try_from(whole - at).unwrap_or(usize::MAX));
        let read = match from.read_at(&mut buffer[..most], at) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        at += read as u64;
        let mut rest = &buffer[..read];
        while skip > 0 {
            let Some(end) = memchr::memchr(b'\n', rest) else {
                rest = &[];
                break;
            };
            (rest, skip) = (&rest[end + 1..], skip - 1);
        }
        to.write_all(rest)?;
        copied += rest.len() as u64;
    }
    Ok(copied)
}

/// Replaces the name, and the id if there is one, in a first line; all other bytes stay.
pub(super) fn replace_values(line: &str, id: Option<&str>, name: &str) -> Option<String> {
    replace_at(line, |places| {
        let mut changes = vec![(places.name?, name)];
        if let Some(id) = id {
            changes.push((places.id?, id));
        }
        Some(changes)
    })
}

fn replace_at<'a>(
    line: &'a str,
    wanted: impl FnOnce(Places<'a>) -> Option<Vec<(&'a RawValue, &'a str)>>,
) -> Option<String> {
    let mut changes = wanted(serde_json::from_str(line).ok()?)?;
    // From the back, so that the offsets of the others remain valid.
    changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.get().as_ptr()));
    let mut changed = line.to_string();
    for (place, value) in changes {
        let start = (place.get().as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
        let range = start..start.checked_add(place.get().len())?;
        line.get(range.clone())?;
        changed.replace_range(range, &serde_json::to_string(value).ok()?);
    }
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renaming_keeps_every_other_byte() {
        let line = "{\"a\" :1.50, \"name\": \"x\\\"y\",\"id\":\"i\", \"z\":[ ]}\n";
        assert_eq!(
            replace_values(line, Some("new"), "n\"").unwrap(),
            "{\"a\" :1.50, \"name\": \"n\\\"\",\"id\":\"new\", \"z\":[ ]}\n"
        );
        assert_eq!(replace_values("{\"id\":\"x\"}", None, "n"), None);
        assert_eq!(replace_values("[1]", None, "n"), None);
    }
}
