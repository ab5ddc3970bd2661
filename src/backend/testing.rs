//! What the tests of backends share.

use std::io::Write;

use super::Target;
use crate::plan::{Cache, Choice, Job, Op};

/// A plain job: one sequential pass of `read` at 4 KiB over 64 KiB.
pub fn job() -> Job {
    Job { span: 65536, cache: Cache::Warm, xor: true, ..Job::plain(Choice::plain("read"), Op::Read) }
}

/// A file of `len` seeded bytes, and the target that lanes open.
pub fn file(len: usize, seed: u64) -> (tempfile::NamedTempFile, Vec<u8>, Target) {
    let data: Vec<u8> = (0..len as u64).map(|i| super::order::mix(seed ^ (i / 8)).to_le_bytes()[(i % 8) as usize]).collect();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&data).unwrap();
    let target = Target { path: file.path().into(), size: len as u64, writable: true, direct_align: None, direct_refused: None };
    (file, data, target)
}

/// The XOR of design §3.6, the slow and obvious way.
pub fn xor(data: &[u8]) -> u32 {
    let mut bytes = [0u8; 4];
    data.iter().enumerate().for_each(|(i, b)| bytes[i % 4] ^= b);
    u32::from_le_bytes(bytes)
}
