//! Reads back what a trial wrote: each block must be the written one, where it wrote one again and
//! again, and the XOR of both the same.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::backend::fold;
use crate::record::{ReadBack, Xor};
use crate::sys::buffer::zeroed;

/// Compares the first `len` bytes with `block`, if that was written again and again. `None` where
/// `stop` ended it. Blocks that the file lacks differ.
///
/// # Errors
/// The errno of pread(2).
pub(super) fn read_back(
    file: &File,
    block: Option<&[u8]>,
    len: u64,
    stop: &dyn Fn() -> bool,
) -> io::Result<Option<ReadBack>> {
    let block = block.unwrap_or_default();
    let there = len.min(file.metadata()?.len());
    // Several small blocks at once.
    let size = block.len().max(1);
    let mut piece = zeroed(size * (PIECE / size).max(1))?;
    let missing = (len - there).div_ceil(size as u64);
    let (mut at, mut found) = (0, ReadBack { xor: Xor(0), other_blocks: missing });
    while at < there {
        if stop() {
            return Ok(None);
        }
        let step = piece.len().min(usize::try_from(there - at).unwrap_or(usize::MAX));
        let bytes = &mut piece[..step];
        file.read_exact_at(bytes, at)?;
        found.xor.0 ^= fold::at_offset(fold::bytes(bytes), at);
        let others = |chunk: &&[u8]| !block.is_empty() && *chunk != &block[..chunk.len()];
        found.other_blocks += bytes.chunks(size).filter(others).count() as u64;
        at += step as u64;
    }
    Ok(Some(found))
}

const PIECE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;

    #[test]
    fn it_returns_the_xor_of_the_file_and_counts_other_blocks() {
        let (_file, block, _) = testing::file(511, 3);
        for len in [7, 511, 4096, PIECE + 1, 2 * PIECE + 4097] {
            let data: Vec<u8> = block.iter().copied().cycle().take(len).collect();
            let (file, ..) = testing::file(0, 0);
            std::fs::write(file.path(), &data).unwrap();
            let back = |len: u64| read_back(file.as_file(), Some(&block), len, &|| false).unwrap();
            assert_eq!(
                back(len as u64),
                Some(ReadBack { xor: Xor(testing::xor(&data)), other_blocks: 0 }),
                "{len}"
            );
            let short = back(len as u64 + 1).map(|back| back.other_blocks);
            assert_eq!(short, Some(1), "one byte of {len} is missing");
            let mut other = data.clone();
            (other[0], other[len - 1]) = (!data[0], !data[len - 1]);
            std::fs::write(file.path(), &other).unwrap();
            assert_eq!(
                back(len as u64).map(|back| back.other_blocks),
                Some(if len > 511 { 2 } else { 1 }),
                "{len}"
            );
        }
        let (file, data, _) = testing::file(10, 3);
        assert_eq!(read_back(file.as_file(), Some(&block), 10, &|| true).unwrap(), None);
        let differing = read_back(file.as_file(), None, 10, &|| false).unwrap();
        assert_eq!(differing, Some(ReadBack { xor: Xor(testing::xor(&data)), other_blocks: 0 }));
    }
}
