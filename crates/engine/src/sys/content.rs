//! The data that iotui writes: random, or as compressible and repetitive as requested.

use crate::stats::random;

/// How far data compresses and repeats, in percent, as fio defines it (HOWTO.rst, and
/// `fill_io_buffer` in io_u.c): `buffer_compress_percentage` with `buffer_compress_chunk=4k` (each
/// 4 KiB are random bytes, then zeros for that percentage) and `dedupe_percentage` (that percentage
/// of blocks are identical to an earlier one).
///
/// fio's chunk is 512 bytes by default, for which compressors spend up to 2.5 points on the many
/// short pieces. Unlike fio's, the blocks that repeat are spread evenly instead of drawn by lot, so
/// that few blocks have the percentage, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Content {
    compressible: u8,
    dedupe: u8,
}

/// Bytes that are random in their first part and zero in the rest.
const CHUNK: usize = 4096;
/// Bytes of a file that repeat as one. File systems deduplicate blocks of 4 to 128 KiB and compress
/// as much at a time, so neither percentage changes the other.
const UNIT: u64 = 128 << 10;

impl Content {
    /// Returns the content of two requested percentages; values above 100 count as 100.
    pub fn new(compressible: u8, dedupe: u8) -> Content {
        Content { compressible: compressible.min(100), dedupe: dedupe.min(100) }
    }

    /// Returns the percentage that a compressor saves.
    pub fn compressible(self) -> u8 {
        self.compressible
    }

    /// Returns the percentage of blocks that repeat.
    pub fn dedupe(self) -> u8 {
        self.dedupe
    }

    /// Fills `bytes` with the contents at `offset`, a multiple of 4096, of the file generated from
    /// `seed`: the bytes of [`random::fill`] by default.
    pub fn fill(self, seed: u64, offset: u64, bytes: &mut [u8]) {
        if self == Content::default() {
            return random::fill(seed, offset, bytes);
        }
        let (mut offset, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let within = offset % UNIT;
            let len = usize::try_from(UNIT - within).unwrap_or(rest.len()).min(rest.len());
            let (part, later) = rest.split_at_mut(len);
            self.fill_chunks(seed, self.original(offset / UNIT) * UNIT + within, part, CHUNK);
            (offset, rest) = (offset + len as u64, later);
        }
    }

    /// Fills one block, which repeats nothing, from the random bytes at `offset`.
    pub fn fill_block(self, seed: u64, offset: u64, block: &mut [u8]) {
        let chunk = CHUNK.min(block.len()).max(1);
        self.fill_chunks(seed, offset, block, chunk);
    }

    fn fill_chunks(self, seed: u64, offset: u64, bytes: &mut [u8], chunk: usize) {
        let random = chunk * usize::from(100 - self.compressible) / 100;
        for (chunk, at) in bytes.chunks_mut(chunk).zip((offset..).step_by(chunk)) {
            let (random, zeros) = chunk.split_at_mut(random.min(chunk.len()));
            random::fill(seed, at, random);
            zeros.fill(0);
        }
    }

    /// Returns the unit whose data a unit repeats: itself, or an earlier one.
    fn original(self, unit: u64) -> u64 {
        let unique = u64::from(100 - self.dedupe);
        // Unique units among the first `n`, rounded up: the first is always unique.
        let unique_of = |n: u64| n.saturating_mul(unique).div_ceil(100).max(n.min(1));
        let before = unique_of(unit);
        if unique_of(unit + 1) > before {
            return unit;
        }
        // A random earlier unique unit: number n is unit 100 n / unique.
        let number = random::mix(unit) % before.max(1);
        (number * 100).checked_div(unique).unwrap_or(0)
    }
}

/// The data of a file that iotui fills.
#[derive(Debug, Clone, Copy)]
pub struct FileData {
    pub seed: u64,
    pub content: Content,
}

impl FileData {
    /// Returns the data of [`random::fill`].
    pub fn random(seed: u64) -> FileData {
        FileData { seed, content: Content::default() }
    }

    /// Fills `bytes` with the contents at `offset`, a multiple of 4096.
    pub fn fill(self, offset: u64, bytes: &mut [u8]) {
        self.content.fill(self.seed, offset, bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    const LEN: usize = 16 << 20;

    fn filled(compressible: u8, dedupe: u8, len: usize) -> Vec<u8> {
        let mut bytes = vec![1; len];
        Content::new(compressible, dedupe).fill(7, 0, &mut bytes);
        bytes
    }

    fn deflate(level: u32, record: &[u8]) -> usize {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(record).unwrap();
        encoder.finish().unwrap().len()
    }

    fn lz4(record: &[u8]) -> usize {
        lz4_flex::block::compress(record).len()
    }

    /// Returns by how many percent `bytes` shrink where each `record` is compressed by itself.
    fn percent_saved(bytes: &[u8], record: usize, compress: impl Fn(&[u8]) -> usize) -> f64 {
        let stored: usize = bytes.chunks(record).map(compress).sum();
        100.0 - 100.0 * stored as f64 / bytes.len() as f64
    }

    #[test]
    fn compressors_save_the_requested_share() {
        for compressible in [0, 1, 10, 33, 50, 75, 90, 99, 100] {
            let bytes = filled(compressible, 0, 1 << 20);
            let check = |name: &str, record: usize, saved: f64| {
                let label = format!("{compressible} %, {name} in records of {record}: {saved}");
                assert!((saved - f64::from(compressible)).abs() <= 2.0, "{label}");
            };
            for record in [4096, 16 << 10, 128 << 10, 1 << 20] {
                check("lz4", record, percent_saved(&bytes, record, lz4));
            }
            // In a record of 4 KiB the codes of deflate take 2 percent themselves.
            for (record, level) in [(16 << 10, 1), (16 << 10, 6), (128 << 10, 1), (1 << 20, 9)] {
                check("deflate", record, percent_saved(&bytes, record, |r| deflate(level, r)));
            }
        }
    }

    #[test]
    fn repeats_do_not_change_compression() {
        for dedupe in [0, 50, 90] {
            let saved = percent_saved(&filled(50, dedupe, 4 << 20), 128 << 10, lz4);
            assert!((saved - 50.0).abs() <= 2.0, "{dedupe} %: {saved}");
        }
    }

    #[test]
    fn identical_blocks_match_the_requested_share() {
        for dedupe in [0, 1, 20, 50, 66, 90, 99, 100] {
            let bytes = filled(30, dedupe, LEN);
            for block in [4096, 16 << 10, 128 << 10] {
                let blocks = LEN / block;
                let unique: HashSet<&[u8]> = bytes.chunks(block).collect();
                let identical = 100.0 * (blocks - unique.len()) as f64 / blocks as f64;
                assert!(
                    (identical - f64::from(dedupe)).abs() <= 1.0,
                    "{dedupe} % in blocks of {block}: {identical}"
                );
            }
        }
    }

    #[test]
    fn units_repeat_earlier_unique_units() {
        for dedupe in 0..=100 {
            let content = Content::new(0, dedupe);
            for unit in 0..1000 {
                let original = content.original(unit);
                assert!(original <= unit && content.original(original) == original);
            }
        }
    }

    #[test]
    fn any_part_equals_the_whole() {
        for (compressible, dedupe) in [(0, 0), (50, 0), (0, 60), (25, 75), (100, 100)] {
            let whole = filled(compressible, dedupe, 1 << 20);
            for (start, len) in [(0, 1000), (4096, 13), (UNIT as usize - 4096, 9000), (1 << 19, 0)]
            {
                let mut part = vec![2; len];
                Content::new(compressible, dedupe).fill(7, start as u64, &mut part);
                assert!(part == whole[start..start + len], "{compressible} {dedupe} {start}");
            }
        }
        let mut random = vec![0; 1 << 20];
        random::fill(7, 0, &mut random);
        assert!(filled(0, 0, 1 << 20) == random);
    }

    #[test]
    fn blocks_have_their_share_of_zeros() {
        for len in [1, 2, 100, 511, 512, 4096, 4097, 1 << 20] {
            for compressible in [0, 50, 90, 100] {
                let mut block = vec![1; len];
                Content::new(compressible, 0).fill_block(3, 0, &mut block);
                let zeros = block.iter().filter(|byte| **byte == 0).count() as f64;
                let wanted = len as f64 * f64::from(compressible) / 100.0;
                // One random byte in 256 is zero.
                let spread = 2.0 + 0.02 * len as f64;
                assert!((zeros - wanted).abs() <= spread, "{len} {compressible}: {zeros}");
            }
        }
        Content::new(200, 200).fill_block(0, 0, &mut []);
        Content::new(200, 200).fill(0, 1 << 62, &mut [1; 16]);
    }
}
