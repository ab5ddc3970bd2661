//! Reads a session back, whether complete, torn or damaged: intact lines are loaded, the others
//! counted. Anything that is not a session is rejected.

use std::io::{BufRead, Seek};
use std::path::Path;

use super::damage::Damage;
use super::line;
use super::loading::Loading;
use super::reader::{self, Lines};
use super::{Session, SessionError, head, salvage, seal};
use crate::record::Sample;

/// Loads all intact lines of the session in `path`; verdicts that are missing stay `None`, and
/// [`Session::lost`] is the number of lost lines.
///
/// Memory is bounded by the file's size, and each line by 16 MiB.
///
/// # Errors
/// The file cannot be read, is not a session, has a newer schema, or has lost the description of
/// what it measured.
pub fn load(path: &Path) -> Result<Session, SessionError> {
    load_with_damage(path).map(|(session, _)| session)
}

/// Loads like [`load`]; also returns what was lost.
pub(super) fn load_with_damage(path: &Path) -> Result<(Session, Damage), SessionError> {
    read(&mut reader::read_lines(path)?, path)
}

/// The samples of a trial: cell, round and samples.
pub type Samples = (u32, u32, Vec<Sample>);

/// Returns the samples of the trials of `cell`, in the order of measurement; a session in memory
/// does not hold them.
///
/// # Errors
/// As [`load`].
pub fn samples(path: &Path, cell: u32) -> Result<Vec<Samples>, SessionError> {
    #[derive(serde::Deserialize)]
    struct Line {
        kind: String,
        cell: Option<u32>,
        round: Option<u32>,
        #[serde(default)]
        samples: Vec<Sample>,
    }
    let mut lines = reader::read_lines(path)?;
    let sealed = head::find(&mut lines, path)?.sealed;
    let (mut found, mut buffer) = (Vec::new(), Vec::new());
    while let Some(bytes) = reader::next_line(&mut lines, path)? {
        let opened = seal::open(bytes, &mut buffer);
        let Some((_, body)) = opened.filter(|(number, _)| number.is_some() || !sealed) else {
            continue;
        };
        match line::json::<Line>(body) {
            Ok(line) if line.kind == "trial" && line.cell == Some(cell) => {
                found.push((cell, line.round.unwrap_or(0), line.samples))
            }
            // `load` distinguishes intact from damaged lines.
            _ => {}
        }
    }
    Ok(found)
}

/// Reads a session from its lines; `path` is for messages.
pub(super) fn read<R: BufRead + Seek>(
    lines: &mut Lines<R>,
    path: &Path,
) -> Result<(Session, Damage), SessionError> {
    match read_intact(lines, path)? {
        Some(found) => Ok(found),
        None => salvage::read(lines, path),
    }
}

/// Reads a file whose lines are all intact and in their order; `None` if one is not.
fn read_intact<R: BufRead + Seek>(
    lines: &mut Lines<R>,
    path: &Path,
) -> Result<Option<(Session, Damage)>, SessionError> {
    let mut buffer = Vec::new();
    let Some(first) = reader::next_line(lines, path)? else { return Ok(None) };
    let Some((number, header)) = seal::open(first, &mut buffer) else { return Ok(None) };
    let sealed = number.is_some();
    let Ok(session) = head::read(header, path) else { return Ok(None) };
    let mut loading = Loading::new(session);
    let mut place = lines.place();
    while let Some(line) = reader::next_line(lines, path)? {
        let expected = sealed.then_some(place.number + 1);
        match seal::open(line, &mut buffer) {
            Some((number, body)) if number == expected => {
                if loading.add(body, place).is_err() {
                    return Ok(None);
                }
            }
            _ => return Ok(None),
        }
        place = lines.place();
    }
    for (last, _) in loading.verdicts.places() {
        if !loading.judge(last, lines, path)? {
            return Ok(None);
        }
    }
    Ok(Some((loading.finish(0), Damage::new(sealed, false))))
}

#[cfg(test)]
mod tests;
