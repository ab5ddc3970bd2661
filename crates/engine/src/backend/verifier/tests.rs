//! Blocks as lanes write them, and what may be in their place.

use super::*;
use crate::backend::testing;
use crate::backend::written::{LaneBuffer, Ring, WrittenData};
use crate::sys::buffer::Buffer;
use proptest::prelude::*;

const SEED: u64 = 11;

fn stamps(trial: u32) -> Stamps {
    Stamps::new(5).of_trial(trial)
}

/// Returns the last of `operations` blocks that a lane writes in trial `trial`, all to `offset`.
fn block(trial: u32, len: u64, offset: u64, pass: u64, operations: u32) -> Vec<u8> {
    short_block(trial, (len, len), offset, pass, operations)
}

/// Returns the same of a block of `len` bytes where others have `most`.
fn short_block(
    trial: u32,
    (most, len): (u64, u64),
    offset: u64,
    pass: u64,
    operations: u32,
) -> Vec<u8> {
    let data = WrittenData { content: None, stamps: Some(stamps(trial)) };
    let ring = Ring::new(most, most, 3, data).unwrap();
    let mut buffer = Buffer::new(ring.len()).unwrap();
    ring.fill(0, &mut buffer);
    let mut lane = LaneBuffer { buffer, ring: Some(ring) };
    let mut written = lane.written(1).unwrap();
    let mut place = 0;
    for _ in 0..operations {
        place = 2 * ring.stride + written.prepare(2, len as u32, offset, pass) as usize;
    }
    lane.buffer.bytes_mut()[place..place + len as usize].to_vec()
}

fn verifier(len: u64) -> Verifier {
    let (_file, _, target) = testing::file(0, 0);
    let target = Target { stamps: Some(stamps(2)), ..target };
    let job = Job { block: len, depth: 3, ..testing::job() };
    Verifier::new(&target, &job, None, FileData::random(SEED)).unwrap()
}

fn bad(offset: u64, found: Found) -> BadBlock {
    BadBlock::new(offset, None, found)
}

fn elsewhere(of: u64) -> Found {
    Found::Elsewhere { of, of_file: None }
}

#[test]
fn files_of_threads_are_distinguished() {
    let (_file, _, target) = testing::file(0, 0);
    let target = Target { stamps: Some(stamps(2)), ..target };
    let job = Job { block: 4096, depth: 3, ..testing::job() };
    let block = block(2, 4096, 8192, 3, 5);
    let verifier = |file| Verifier::new(&target, &job, file, FileData::random(SEED)).unwrap();
    assert_eq!(verifier(Some(0)).compare(8192, 3, &block), None);
    let found = Found::Elsewhere { of: 8192, of_file: Some(0) };
    let bad = BadBlock::new(8192, Some(1), found);
    assert_eq!(verifier(Some(1)).compare(8192, 3, &block), Some(bad));
}

#[test]
fn written_blocks_pass() {
    for len in [24, 512, 520, 2300, 4096, 65536, 1 << 20] {
        let mut verifier = verifier(len);
        for operations in [1, 2, 100] {
            let (offset, pass) = (7 * len, 3);
            let block = block(2, len, offset, pass, operations);
            assert_eq!(verifier.compare(offset, pass, &block), None, "{len}");
            let pieces = &block[..block.len() / 3 / PIECE * PIECE];
            assert_eq!(verifier.compare(offset, pass, pieces), None, "{len}");
            for end in [1, 23, 24, len / 2 + 3] {
                let end = short_block(2, (len, end.min(len)), offset, pass, operations);
                assert_eq!(verifier.compare(offset, pass, &end), None, "{len}");
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_located() {
    for len in [24, 512, 520, 2300, 4096] {
        let mut block = block(2, len, 7 * len, 3, 2);
        let mut verifier = verifier(len);
        // One that may search each time.
        for bit in (0..block.len() * 8).step_by(if len > 600 { 13 } else { 1 }) {
            block[bit / 8] ^= 1 << (bit % 8);
            verifier.searches = 1;
            let expected = bad(7 * len + bit as u64 / 8, Found::Changed { bytes: 1 });
            assert_eq!(verifier.compare(7 * len, 3, &block), Some(expected), "{len}");
            block[bit / 8] ^= 1 << (bit % 8);
        }
        verifier.searches = 0;
        block[0] ^= 1;
        assert!(verifier.compare(7 * len, 3, &block).is_some(), "{len}: found without a search");
    }
}

#[test]
fn other_data_is_distinguished() {
    for len in [512, 2300, 4096, 65536] {
        let (offset, mut verifier) = (7 * len, verifier(len));
        let mut filled = vec![0; (offset + len) as usize];
        FileData::random(SEED).fill(0, &mut filled);
        let older = |written| Found::Older { written };
        let cases = [
            (block(1, len, offset, 3, 9), older(Age::Trial)),
            (block(2, len, offset, 2, 9), older(Age::Pass)),
            (block(2, len, offset + len, 3, 9), elsewhere(offset + len)),
            (block(1, len, 0, 0, 9), elsewhere(0)),
            (vec![0; len as usize], Found::Zeros),
            (filled[offset as usize..].to_vec(), older(Age::Filled)),
        ];
        for (other, found) in cases {
            let seen = verifier.compare(offset, 3, &other).unwrap();
            assert_eq!(seen, bad(offset, found), "{len}");
            // Only its second piece arrived.
            let mut torn = block(2, len, offset, 3, 9);
            if len > 1024 {
                torn[512..1024].copy_from_slice(&other[512..1024]);
                let seen = verifier.compare(offset, 3, &torn).unwrap();
                let of = if let Found::Elsewhere { of, .. } = found {
                    elsewhere(of + 512)
                } else {
                    found
                };
                let torn = BadBlock { right: len - 512, ..bad(offset + 512, of) };
                assert_eq!(seen, torn, "{len}");
            }
        }
    }
}

#[test]
fn short_ends_of_blocks_are_compared() {
    let len = 512 + 8;
    let mut verifier = verifier(len);
    let mut written = block(2, len, 0, 3, 1);
    let older = block(2, len, 0, 2, 1);
    written[512..].copy_from_slice(&older[512..]);
    let found = Found::Older { written: Age::Pass };
    let torn = BadBlock { right: 512, ..bad(512, found) };
    assert_eq!(verifier.compare(0, 3, &written), Some(torn));
    written[512..].fill(0);
    assert_eq!(verifier.compare(0, 3, &written).unwrap().found, Found::Zeros);
}

#[test]
fn only_some_areas_are_kept() {
    let len = 8 << 20;
    let mut verifier = verifier(len);
    for area in 0..12 {
        verifier.area(area);
        assert!(verifier.areas.len() * verifier.block <= MAX_KEPT);
    }
}

proptest! {
    #[test]
    fn other_bytes_are_never_right(
        len in 24u64..5000,
        bytes in proptest::collection::vec(any::<u8>(), 1..5000),
    ) {
        let mut verifier = verifier(len);
        let bytes = &bytes[..bytes.len().min(len as usize)];
        // A random byte is right in one case of 256.
        let seen = verifier.compare(0, 1, bytes);
        prop_assert!(seen.is_some() || bytes.len() < 8);
    }
}

#[test]
fn a_partly_right_block_is_torn() {
    let (len, offset) = (4096, 8192);
    let (before, right) = (block(1, len, offset, 0, 1), block(2, len, offset, 0, 1));
    let older =
        |at, right| Some(BadBlock { right, ..bad(at, Found::Older { written: Age::Trial }) });
    for (parts, wanted) in [
        // The end was lost, the beginning, a part between.
        ([&right[..1024], &before[1024..]], older(offset + 1024, 1024)),
        ([&before[..1024], &right[1024..]], older(offset, 3072)),
        ([&before[..], &[]], older(offset, 0)),
    ] {
        assert_eq!(verifier(len).compare(offset, 0, &parts.concat()), wanted);
    }
    let mut flipped = right.clone();
    flipped[2000] ^= 1;
    let changed = verifier(len).compare(offset, 0, &flipped).unwrap();
    assert_eq!((changed.right, changed.found), (0, Found::Changed { bytes: 1 }));
}
