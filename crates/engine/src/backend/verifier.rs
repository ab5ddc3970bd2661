//! Compares what is read back with what a trial wrote, by the stamps of its blocks (`--verify`).

use std::collections::HashMap;

use super::stamps::{PIECE, STAMP, Stamps};
use super::target::Target;
use super::written::{RING, content_around_stamps, fill_area};
use crate::plan::Job;
use crate::record::{Age, BadBlock, Found};
use crate::sys::content::{Content, FileData};

/// The expected content of the blocks of one trial.
#[derive(Debug)]
pub struct Verifier {
    stamps: Stamps,
    content: Content,
    block: usize,
    /// The areas of the lanes' buffers that were needed so far, without stamps.
    areas: HashMap<u32, Box<[u8]>>,
    /// The thread whose file it is, and its data when it was created.
    file: Option<u32>,
    filled: FileData,
    /// Areas that a job can have.
    most_areas: u32,
    /// Remaining searches of all areas for the origin of changed bytes.
    searches: u32,
}

/// Bytes of areas that are kept.
const MAX_KEPT: usize = 64 << 20;
/// Blocks up to this size are searched for; a larger one has other pieces that name its area.
const MAX_SEARCHED: usize = 4096;
/// Only the right area differs in at most this many bytes.
const FEW_BYTES: u32 = 4;
/// Searches of one trial: as many blocks are described.
const MAX_SEARCHES: u32 = 16;

impl Verifier {
    /// Returns the verifier of the blocks that `job` wrote to its file, or to the file of thread
    /// `file`, which was created with the data `filled`; `None` without stamps.
    pub fn new(
        target: &Target,
        job: &Job,
        file: Option<u32>,
        filled: FileData,
    ) -> Option<Verifier> {
        let stamps = target.stamps?;
        let block = usize::try_from(job.block).ok()?;
        Some(Verifier {
            stamps: file.map_or(stamps, |lane| stamps.of_file(lane)),
            content: content_around_stamps(target.content),
            block,
            areas: HashMap::new(),
            file,
            filled,
            most_areas: (RING / job.block.max(1)).max(job.depth.into()).min(1 << 16) as u32,
            searches: MAX_SEARCHES,
        })
    }

    /// Compares a block, or some pieces of it, that pass `pass` wrote to `offset`. Returns the
    /// first difference.
    pub fn compare(&mut self, offset: u64, pass: u64, block: &[u8]) -> Option<BadBlock> {
        let at = |index: usize| offset + (index * PIECE) as u64;
        let mut pieces = block.chunks(PIECE).enumerate();
        let (first, _) = pieces.find(|(i, piece)| !self.is_right(at(*i), pass, *i, piece))?;
        let bad = self.describe(at(first), pass, first, block);
        // A flipped bit does not tear the block.
        let is_torn = !matches!(bad.found, Found::Changed { .. });
        let later = pieces.filter(|(i, piece)| is_torn && self.is_right(at(*i), pass, *i, piece));
        let later: usize = later.map(|(_, piece)| piece.len()).sum();
        let right = if is_torn { first * PIECE + later } else { 0 };
        Some(BadBlock { right: right as u64, ..bad })
    }

    /// Returns whether the piece at `at`, number `index` of its block, holds the written data.
    fn is_right(&mut self, at: u64, pass: u64, index: usize, piece: &[u8]) -> bool {
        let Some((stamp, rest)) = piece.split_at_checked(STAMP) else {
            return piece == &self.stamps.short(at, pass)[..piece.len()];
        };
        let Some(area) = Stamps::named_area(stamp) else { return false };
        let from = index * PIECE + STAMP;
        *stamp == self.stamps.stamp(at, pass, area)
            && *rest == self.area(area)[from..from + rest.len()]
    }

    /// Returns the block of an area, without stamps.
    fn area(&mut self, area: u32) -> &[u8] {
        if self.areas.len().saturating_mul(self.block) >= MAX_KEPT {
            self.areas.clear();
        }
        let (content, seed, len) = (self.content, self.stamps.seed(), self.block);
        self.areas.entry(area).or_insert_with(|| {
            let mut block = vec![0; len];
            fill_area(content, seed, area, &mut block);
            block.into()
        })
    }

    /// Describes the content of a wrong piece.
    fn describe(&mut self, at: u64, pass: u64, index: usize, block: &[u8]) -> BadBlock {
        let from = index * PIECE;
        let piece = &block[from..block.len().min(from + PIECE)];
        let file = self.file;
        let whole = |found| BadBlock::new(at, file, found);
        if piece.iter().all(|byte| *byte == 0) {
            return whole(Found::Zeros);
        }
        if let Some(origin) = self.stamps.read(piece) {
            let stamp = self.stamps.stamp(at, pass, origin.area);
            let other = Some(origin.file).filter(|of| *of != file.unwrap_or(0));
            if origin.offset != at || other.is_some() {
                return whole(Found::Elsewhere { of: origin.offset, of_file: other });
            } else if piece[..STAMP] != stamp {
                let this = self.stamps.is_of_this_trial(origin);
                return whole(Found::Older { written: if this { Age::Pass } else { Age::Trial } });
            }
        }
        if self.is_filled(at, piece) {
            return whole(Found::Older { written: Age::Filled });
        }
        if piece.len() < STAMP
            && pass > 0
            && *piece == self.stamps.short(at, pass - 1)[..piece.len()]
        {
            return whole(Found::Older { written: Age::Pass });
        }
        let (first, bytes) = self.find_changes(at, pass, index, block);
        BadBlock::new(at + first as u64, file, Found::Changed { bytes })
    }

    /// Returns whether the piece holds the data that the file was created with.
    fn is_filled(&self, at: u64, piece: &[u8]) -> bool {
        let start = at / FILL_UNIT * FILL_UNIT;
        let from = (at - start) as usize;
        let mut bytes = vec![0; from + piece.len()];
        self.filled.fill(start, &mut bytes);
        bytes[from..] == *piece
    }

    /// Returns the first byte of a piece that differs from the written data, and the number of
    /// bytes that differ. If the stamp itself changed, the data came from the most similar area.
    fn find_changes(&mut self, at: u64, pass: u64, index: usize, block: &[u8]) -> (usize, u32) {
        let from = index * PIECE;
        let piece = &block[from..block.len().min(from + PIECE)];
        if piece.len() < STAMP {
            return differences(piece, &self.stamps.short(at, pass));
        }
        let named = |piece: &[u8]| self.stamps.read(piece).map(|origin| origin.area);
        let neighbours: Vec<u32> = block.chunks(PIECE).filter_map(named).take(4).collect();
        let mut best = (0, u32::MAX);
        for area in Stamps::named_area(piece).into_iter().chain(neighbours) {
            best = self.nearer(best, (at, pass, area), from, piece);
        }
        if best.1 > FEW_BYTES && self.block <= MAX_SEARCHED && self.searches > 0 {
            self.searches -= 1;
            for area in 0..self.most_areas {
                best = self.nearer(best, (at, pass, area), from, piece);
            }
        }
        best
    }

    /// Returns the differences of the piece from this stamp and area, if they are fewer than
    /// `best`.
    fn nearer(
        &mut self,
        best: (usize, u32),
        (at, pass, area): (u64, u64, u32),
        from: usize,
        piece: &[u8],
    ) -> (usize, u32) {
        let mut expected = self.area(area)[from..from + piece.len()].to_vec();
        expected[..STAMP].copy_from_slice(&self.stamps.stamp(at, pass, area));
        let found = differences(piece, &expected);
        if found.1 < best.1 { found } else { best }
    }
}

/// Filled data is a function of offsets that are multiples of this.
const FILL_UNIT: u64 = 4096;

/// Returns the first byte that differs, and the number of bytes that differ.
fn differences(found: &[u8], expected: &[u8]) -> (usize, u32) {
    let differs = |at: &usize| found[*at] != expected[*at];
    let mut at = (0..found.len()).filter(differs);
    let first = at.next().unwrap_or(0);
    (first, 1 + at.count() as u32)
}

#[cfg(test)]
mod tests;
