//! Stamps in written data: they identify where and when it was written, so that `--verify` can
//! compare it when it is read back.
//!
//! A block is made of pieces of 512 bytes. Each begins with its offset in the file, the trial and
//! the pass that write it, the area of the lane's buffer that it comes from, and a hash of all
//! this with a key of the run. The rest follows from the key and the area, so that every byte can
//! be compared.

use crate::plan::Job;
use crate::stats::random::mix;

/// Bytes of a piece: no device loses or misplaces less.
pub const PIECE: usize = 512;
/// Bytes of a stamp.
pub(super) const STAMP: usize = Job::STAMP as usize;

/// The first word: 64 PiB are more than a file has.
const OFFSET_BITS: u32 = 56;
const FILE_BITS: u32 = 8;
/// The second word.
const TRIAL_BITS: u32 = 24;
const PASS_BITS: u32 = 24;
const AREA_BITS: u32 = 16;
/// Number of areas that a stamp distinguishes.
pub(super) const AREAS: usize = 1 << AREA_BITS;

/// The stamps of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamps {
    key: u64,
    trial: u32,
    /// The thread whose file it is; 0 where all have one.
    file: u8,
}

/// The content of a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub file: u32,
    pub offset: u64,
    pub trial: u32,
    pub pass: u32,
    pub area: u32,
}

impl Stamps {
    /// Stamps distinguish the numbers of passes modulo this.
    pub const PASSES: u64 = 1 << PASS_BITS;

    /// Returns the stamps of a run with this key, before its first trial.
    pub fn new(key: u64) -> Stamps {
        Stamps { key, trial: 0, file: 0 }
    }

    /// Returns the stamps of another trial of the run.
    pub fn of_trial(self, trial: u32) -> Stamps {
        Stamps { trial, ..self }
    }

    /// Returns the stamps of the file of one thread.
    pub fn of_file(self, lane: u32) -> Stamps {
        Stamps { file: lane as u8, ..self }
    }

    /// Returns the seed of the data around the stamps.
    pub(super) fn seed(self) -> u64 {
        mix(self.key)
    }

    /// Stamps the pieces of a block that pass `pass` writes to `offset`.
    #[inline(always)]
    pub(super) fn mark(self, block: &mut [u8], offset: u64, pass: u64, area: u32) {
        let mut at = offset;
        for pieces in block.chunks_mut(TOUCHED * PIECE) {
            touch(pieces);
            for piece in pieces.chunks_mut(PIECE) {
                if let Some(stamp) = piece.first_chunk_mut() {
                    *stamp = self.stamp(at, pass, area);
                } else {
                    let len = piece.len();
                    piece.copy_from_slice(&self.short(at, pass)[..len]);
                }
                at = at.wrapping_add(PIECE as u64);
            }
        }
    }

    /// Returns a stamp: two words and their hash, by which they are masked. A stamp compresses no
    /// more than random data does.
    #[inline(always)]
    pub(super) fn stamp(self, offset: u64, pass: u64, area: u32) -> [u8; STAMP] {
        let (first, second) = (self.first(offset), self.second(self.trial, pass, area));
        let hash = self.hash(first, second);
        let words = [first ^ hash, second ^ turned(hash), hash];
        let mut bytes = [0; STAMP];
        for (at, word) in bytes.chunks_exact_mut(8).zip(words) {
            at.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns the start of a piece that is too short for a stamp: a hash from any area.
    pub(super) fn short(self, offset: u64, pass: u64) -> [u8; STAMP] {
        let mut word = self.hash(self.first(offset), self.second(self.trial, pass, 0));
        let mut bytes = [0; STAMP];
        for at in bytes.chunks_exact_mut(8) {
            word = mix(word);
            at.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads the stamp of a piece, of any trial of the run; `None` if it has none.
    pub(super) fn read(self, piece: &[u8]) -> Option<Origin> {
        let (first, second, hash) = unmask(piece)?;
        let (file, offset) = ((first >> OFFSET_BITS) as u32, first & (u64::MAX >> FILE_BITS));
        (hash == self.hash(first, second)).then(|| Origin { file, offset, ..fields(second) })
    }

    /// Returns the area that the stamp of a piece names, whether or not its hash is right.
    pub(super) fn named_area(piece: &[u8]) -> Option<u32> {
        unmask(piece).map(|(_, second, _)| fields(second).area)
    }

    /// Returns whether the data was written by this trial.
    pub(super) fn is_of_this_trial(self, origin: Origin) -> bool {
        origin.trial == fields(self.second(self.trial, 0, 0)).trial
    }

    #[inline(always)]
    fn first(self, offset: u64) -> u64 {
        offset & (u64::MAX >> FILE_BITS) | u64::from(self.file) << OFFSET_BITS
    }

    #[inline(always)]
    fn second(self, trial: u32, pass: u64, area: u32) -> u64 {
        let low = |value: u64, bits: u32| value & ((1 << bits) - 1);
        low(trial.into(), TRIAL_BITS) << (PASS_BITS + AREA_BITS)
            | low(pass, PASS_BITS) << AREA_BITS
            | low(area.into(), AREA_BITS)
    }

    #[inline(always)]
    fn hash(self, first: u64, second: u64) -> u64 {
        mix(first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ second ^ self.key)
    }
}

/// Pieces that are touched before they are stamped.
const TOUCHED: usize = 64;

/// Loads the memory to stamp into the nearest cache. Loads wait for memory together, while stores
/// that miss the cache do so one after the other.
#[inline(always)]
fn touch(pieces: &[u8]) {
    for piece in pieces.chunks(PIECE) {
        std::hint::black_box(piece[0]);
    }
}

/// Returns the hash as it masks the second word.
#[inline(always)]
fn turned(hash: u64) -> u64 {
    hash.rotate_left(17)
}

/// Returns the words of a stamp and their hash.
#[inline(always)]
fn unmask(piece: &[u8]) -> Option<(u64, u64, u64)> {
    let stamp: &[u8; STAMP] = piece.first_chunk()?;
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&stamp[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    let hash = word(16);
    Some((word(0) ^ hash, word(8) ^ turned(hash), hash))
}

/// Splits the second word of a stamp.
fn fields(second: u64) -> Origin {
    let part = |shift: u32, bits: u32| ((second >> shift) & ((1 << bits) - 1)) as u32;
    Origin {
        file: 0,
        offset: 0,
        trial: part(PASS_BITS + AREA_BITS, TRIAL_BITS),
        pass: part(AREA_BITS, PASS_BITS),
        area: part(0, AREA_BITS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stamp_identifies_its_write(
            key: u64,
            offset in 0u64..1 << OFFSET_BITS,
            file in 0u32..1 << FILE_BITS,
            trial in 0u32..1 << TRIAL_BITS,
            pass in 0u32..1 << PASS_BITS,
            area in 0u32..1 << AREA_BITS,
            flip in 0..STAMP * 8,
        ) {
            let stamps = Stamps::new(key).of_trial(trial).of_file(file);
            let mut piece = stamps.stamp(offset, pass.into(), area).to_vec();
            let origin = Origin { file, offset, trial, pass, area };
            prop_assert_eq!(stamps.of_trial(5).read(&piece), Some(origin));
            prop_assert_eq!(Stamps::named_area(&piece), Some(area));
            prop_assert_eq!(Stamps::new(!key).read(&piece), None);
            piece[flip / 8] ^= 1 << (flip % 8);
            prop_assert_eq!(stamps.read(&piece), None);
        }
    }

    #[test]
    fn every_piece_is_stamped() {
        let stamps = Stamps::new(1).of_trial(2);
        for len in [1, 23, 24, 511, 512, 513, 2300, 4096, 4097 + STAMP] {
            let mut block = vec![0xa5; len];
            stamps.mark(&mut block, 100, 3, 4);
            for (index, piece) in block.chunks(PIECE).enumerate() {
                let offset = 100 + (index * PIECE) as u64;
                if piece.len() < STAMP {
                    assert_eq!(piece, &stamps.short(offset, 3)[..piece.len()], "{len}");
                    continue;
                }
                let origin = Origin { file: 0, offset, trial: 2, pass: 3, area: 4 };
                assert_eq!(stamps.read(piece), Some(origin), "{len}");
                assert!(piece[STAMP..].iter().all(|byte| *byte == 0xa5), "{len}");
            }
        }
    }

    #[test]
    fn short_pieces_differ_by_write() {
        let short = |trial, offset, pass| Stamps::new(1).of_trial(trial).short(offset, pass);
        let first = short(1, 0, 0);
        assert!(short(2, 0, 0) != first && short(1, 512, 0) != first && short(1, 0, 1) != first);
    }
}
