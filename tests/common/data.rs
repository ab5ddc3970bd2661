//! Files with known content.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Returns incompressible bytes, the same for the same seed.
pub fn random(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    });
    let mut bytes: Vec<u8> = words.take(len.div_ceil(8)).flat_map(u64::to_le_bytes).collect();
    bytes.truncate(len);
    bytes
}

/// Writes a file and syncs it to the disk.
pub fn write(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
}

/// Computes the XOR of little-endian 32-bit words, byte by byte.
pub fn xor(bytes: &[u8]) -> String {
    let mut sum = [0u8; 4];
    bytes.iter().enumerate().for_each(|(at, byte)| sum[at % 4] ^= byte);
    format!("{:08x}", u32::from_le_bytes(sum))
}

/// The attributes that show whether a file was changed.
#[derive(Debug, PartialEq)]
pub struct Print {
    bytes: Vec<u8>,
    modified: std::time::SystemTime,
    inode: u64,
    mode: u32,
}

impl Print {
    pub fn of(path: &Path) -> Print {
        use std::os::unix::fs::MetadataExt;
        let meta = fs::metadata(path).unwrap();
        Print {
            bytes: fs::read(path).unwrap(),
            modified: meta.modified().unwrap(),
            inode: meta.ino(),
            mode: meta.mode(),
        }
    }
}
