//! An estimate of the compressibility of a file's data, from a small sample.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::sys::fd;

/// Maximum number of blocks sampled.
const MAX_BLOCKS: u64 = 64;
/// Bytes of a sampled block.
const BLOCK: usize = 4096;

/// Estimates the entropy of up to 64 blocks spread over `[0, len)`, in bits per byte: 8 for random
/// or encrypted data, 4 to 5 for text, 0 for zeros. `None` for an empty range.
///
/// It is the mean of the byte entropies of the blocks, so data that repeats at a distance looks
/// less compressible than it is. The reads go through the page cache and warm up to 64 blocks of
/// the file, so call this before a cold preparation. `stop` is polled before each block, because a
/// slow file system may take a while.
///
/// # Errors
/// `Interrupted` if stopped; the errno of open(2) or pread(2).
pub fn entropy(file: &File, len: u64, stop: &dyn Fn() -> bool) -> io::Result<Option<f64>> {
    // A new descriptor, because the caller's may require aligned direct I/O.
    let reopened = fd::reopen(file)?;
    let len = fd::clip(&reopened, 0, len)?;
    let block_count = len / BLOCK as u64;
    let count = block_count.clamp(1, MAX_BLOCKS);
    let mut block = [0; BLOCK];
    let mut sum = 0.0;
    let mut read = 0u32;
    for i in 0..count {
        if stop() {
            return Err(fd::stop_error());
        }
        let index = u128::from(block_count) * u128::from(i) / u128::from(count);
        let offset = index as u64 * BLOCK as u64;
        let size = (len - offset).min(BLOCK as u64) as usize;
        let filled = fill(&reopened, &mut block[..size], offset, stop)?;
        if filled > 0 {
            sum += bits_per_byte(&block[..filled]);
            read += 1;
        }
    }
    Ok((read > 0).then(|| sum / f64::from(read)))
}

/// Reads until `block` is full or the file ends.
fn fill(file: &File, block: &mut [u8], offset: u64, stop: &dyn Fn() -> bool) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match file.read_at(&mut block[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted && !stop() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Computes Shannon's entropy with the Miller-Madow correction, which compensates for the short
/// sample.
fn bits_per_byte(block: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    block.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = block.len() as f64;
    let present = counts.iter().filter(|count| **count > 0);
    let mut nats = 0.0;
    let mut kinds = 0.0;
    for count in present {
        let share = f64::from(*count) / total;
        nats -= share * share.ln();
        kinds += 1.0;
    }
    ((nats + (kinds - 1.0) / (2.0 * total)) / std::f64::consts::LN_2).clamp(0.0, 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random;

    fn entropy_of(data: &[u8]) -> Option<f64> {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(data, 0).unwrap();
        entropy(&file, data.len() as u64, &|| false).unwrap()
    }

    #[test]
    fn distinguishes_random_data_text_and_zeros() {
        let mut data = vec![0; 1 << 20];
        assert_eq!(entropy_of(&data), Some(0.0));
        random::fill(7, 0, &mut data);
        assert!(entropy_of(&data).is_some_and(|bits| bits > 7.95), "{:?}", entropy_of(&data));
        let text = "Receiving I/O requests, the elevator sorts them by sector.\n".repeat(4000);
        assert!(entropy_of(text.as_bytes()).is_some_and(|bits| (3.5..5.0).contains(&bits)));
        let half: Vec<u8> = data
            .iter()
            .enumerate()
            .map(|(i, byte)| if i < data.len() / 2 { 0 } else { *byte })
            .collect();
        let bits = entropy_of(&half);
        assert!(bits.is_some_and(|bits| (3.8..4.2).contains(&bits)), "{bits:?}");
    }

    #[test]
    fn short_files_and_wrong_lengths() {
        assert_eq!(entropy_of(b""), None);
        assert_eq!(entropy_of(b"x"), Some(0.0));
        assert!(entropy_of(&[1; 5000]).is_some());
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"short", 0).unwrap();
        assert!(entropy(&file, u64::MAX, &|| false).unwrap().is_some());
        assert!(entropy(&file, 0, &|| false).unwrap().is_none());
    }

    #[test]
    fn an_unreadable_file_is_an_error() {
        let folder = File::open(std::env::temp_dir()).unwrap();
        assert!(entropy(&folder, 4096, &|| false).is_err());
    }

    #[test]
    fn stops_between_two_blocks() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let polls = std::cell::Cell::new(0);
        let stop = || polls.replace(polls.get() + 1) == 3;
        assert_eq!(entropy(&file, 1 << 20, &stop).unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert_eq!(polls.get(), 4);
    }
}
