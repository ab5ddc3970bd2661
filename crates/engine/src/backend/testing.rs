//! Helpers shared by the tests of backends.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use super::access_pattern::Share;
use super::drive;
use super::work::{Published, Tally};
use super::{Backend, Target, Work};
use crate::plan::Job;
pub use crate::plan::testing::job;
use crate::stats::random::mix;
use crate::sys::fd::HeldFile;

/// Creates a file of `len` seeded bytes; returns it, its bytes and the target that lanes open.
pub fn file(len: usize, seed: u64) -> (tempfile::NamedTempFile, Vec<u8>, Target) {
    let data: Vec<u8> =
        (0..len as u64).map(|i| mix(seed ^ (i / 8)).to_le_bytes()[(i % 8) as usize]).collect();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&data).unwrap();
    let held = HeldFile::new(file.reopen().unwrap(), None).unwrap();
    let plain = Target::plain(file.path().into(), len as u64);
    let target = Target { held: Some(held), writable: true, ..plain };
    (file, data, target)
}

/// Runs one pass of the job on one lane, and returns its tally.
pub fn read_all(backend: &dyn Backend, target: &Target, job: &Job) -> Tally {
    let (stop, published) = (AtomicBool::new(false), Published::default());
    let mut work =
        Work::new(backend.assignment(job, Share::for_lane(job, 0, u64::MAX, 7), &stop, &published));
    drive::run(backend.open(target, job, 0).unwrap().as_mut(), &mut work).unwrap();
    work.tally()
}

/// Computes the XOR of [`super::fold`] the slow and obvious way.
pub fn xor(data: &[u8]) -> u32 {
    let mut bytes = [0u8; 4];
    data.iter().enumerate().for_each(|(i, b)| bytes[i % 4] ^= b);
    u32::from_le_bytes(bytes)
}
