//! How compressible the data of a file looks, from a small sample.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::sys::fd;

/// Blocks looked at, and bytes of each.
const BLOCKS: u64 = 64;
const BLOCK: usize = 4096;

/// Entropy of the bytes of up to 64 blocks spread over `[0, len)`, in bits per byte: 8 for random
/// or encrypted data, 4 to 5 for text, 0 for zeros.
///
/// The mean over blocks of each block's own byte entropy, so data that repeats at a distance looks
/// richer than it is. It reads through the page cache and so warms up to 64 places of the file: ask
/// before a cold preparation. `None` for an empty range.
///
/// `stop` is asked before each block: a slow file system takes a while for 64.
///
/// # Errors
/// `Interrupted` when stopped; the errno of open(2) or pread(2).
pub fn entropy(file: &File, len: u64, stop: &dyn Fn() -> bool) -> io::Result<Option<f64>> {
    // An own descriptor: the caller's may be open for direct I/O, which would ask for alignment.
    let own = fd::reopen(file)?;
    let len = fd::clip(&own, 0, len)?;
    let whole = len / BLOCK as u64;
    let count = whole.clamp(1, BLOCKS);
    let mut block = [0; BLOCK];
    let (mut sum, mut read) = (0.0, 0u32);
    for i in 0..count {
        if stop() {
            return Err(fd::stop_error());
        }
        let offset = (u128::from(whole) * u128::from(i) / u128::from(count)) as u64 * BLOCK as u64;
        let want = (len - offset).min(BLOCK as u64) as usize;
        let got = fill(&own, &mut block[..want], offset, stop)?;
        if got > 0 {
            sum += bits_per_byte(&block[..got]);
            read += 1;
        }
    }
    Ok((read > 0).then(|| sum / f64::from(read)))
}

/// Reads until `block` is full or the file ends.
fn fill(file: &File, block: &mut [u8], offset: u64, stop: &dyn Fn() -> bool) -> io::Result<usize> {
    let mut got = 0;
    while got < block.len() {
        match file.read_at(&mut block[got..], offset + got as u64) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted && !stop() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// Shannon's entropy with the Miller-Madow correction: a short random block would look poorer than
/// it is.
fn bits_per_byte(block: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    block.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = block.len() as f64;
    let present = counts.iter().filter(|count| **count > 0);
    let (mut nats, mut kinds) = (0.0, 0.0);
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
    use crate::sys::random;

    fn of(data: &[u8]) -> Option<f64> {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(data, 0).unwrap();
        entropy(&file, data.len() as u64, &|| false).unwrap()
    }

    #[test]
    fn random_text_and_zeros_are_told_apart() {
        let mut data = vec![0; 1 << 20];
        assert_eq!(of(&data), Some(0.0));
        random::fill(7, 0, &mut data);
        assert!(of(&data).is_some_and(|bits| bits > 7.95), "{:?}", of(&data));
        let text = "Receiving I/O requests, the elevator sorts them by sector.\n".repeat(4000);
        assert!(of(text.as_bytes()).is_some_and(|bits| (3.5..5.0).contains(&bits)));
        let half: Vec<u8> = data
            .iter()
            .enumerate()
            .map(|(i, byte)| if i < data.len() / 2 { 0 } else { *byte })
            .collect();
        assert!(of(&half).is_some_and(|bits| (3.8..4.2).contains(&bits)), "{:?}", of(&half));
    }

    #[test]
    fn short_files_and_wrong_lengths() {
        assert_eq!(of(b""), None);
        assert_eq!(of(b"x"), Some(0.0));
        assert!(of(&[1; 5000]).is_some());
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"short", 0).unwrap();
        assert!(entropy(&file, u64::MAX, &|| false).unwrap().is_some());
        assert!(entropy(&file, 0, &|| false).unwrap().is_none());
    }

    #[test]
    fn what_cannot_be_read_says_so() {
        let folder = File::open(std::env::temp_dir()).unwrap();
        assert!(entropy(&folder, 4096, &|| false).is_err());
    }

    #[test]
    fn it_ends_between_two_blocks() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let asked = std::cell::Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) == 3;
        assert_eq!(entropy(&file, 1 << 20, &stop).unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert_eq!(asked.get(), 4);
    }
}
