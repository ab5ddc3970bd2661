//! Blocks that differ: as many as were asked repeat, and each is in its slot's ring.

use std::collections::HashSet;

use super::*;

/// Returns the blocks that a lane writes in turn, from one slot after the other.
fn blocks(block: u64, slots: u32, content: Content, count: usize) -> Vec<Vec<u8>> {
    blocks_of(block, slots, WrittenData { content: Some(content), stamps: None }, count)
}

fn blocks_of(block: u64, slots: u32, data: WrittenData, count: usize) -> Vec<Vec<u8>> {
    let ring = Ring::new(block, block, slots, data).unwrap();
    let mut buffer = Buffer::new(ring.len()).unwrap();
    ring.fill(9, &mut buffer);
    let mut lane = LaneBuffer { buffer, ring: Some(ring) };
    let mut written = lane.written(1);
    let mut blocks = Vec::new();
    for operation in 0..count {
        let slot = operation as u32 % slots;
        let offset = operation as u64 * block;
        let place =
            written.as_mut().map_or(0, |written| written.prepare(slot, block as u32, offset, 0));
        let at = slot as usize * ring.stride + place as usize;
        blocks.push(lane.buffer.bytes_mut()[at..at + block as usize].to_vec());
    }
    blocks
}

fn identical(blocks: &[Vec<u8>]) -> f64 {
    let unique: HashSet<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
    100.0 * (blocks.len() - unique.len()) as f64 / blocks.len() as f64
}

#[test]
fn blocks_repeat_as_requested() {
    for (block, slots) in [(512, 1), (4096, 1), (4096, 32), (65536, 4), (1 << 20, 1)] {
        for dedupe in [0, 10, 50, 90] {
            let count = (16 << 20) / block as usize * 2;
            let repeat = identical(&blocks(block, slots, Content::new(0, dedupe), count));
            // Whole blocks: of 32, one is 3 percent.
            let spread = 2.0_f64.max(100.0 / count as f64);
            assert!((repeat - f64::from(dedupe)).abs() <= spread, "{block} {slots}: {repeat}");
        }
    }
    assert_eq!(identical(&blocks(4096, 1, Content::new(0, 100), 100)), 99.0);
}

#[test]
fn pieces_of_a_large_block_differ() {
    let blocks = blocks(1 << 20, 1, Content::new(100, 0), 8);
    let pieces: HashSet<&[u8]> = blocks.iter().flat_map(|block| block.chunks(PIECE)).collect();
    assert_eq!(pieces.len(), 8 * (1 << 20) / PIECE);
}

#[test]
fn consecutive_blocks_compress_as_requested() {
    for compressible in [0, 10, 50, 90, 100] {
        for (block, slots) in [(512, 1), (4096, 1), (4096, 8), (16384, 1), (1 << 20, 1)] {
            let count = (2 << 20) / block as usize;
            let written = blocks(block, slots, Content::new(compressible, 0), count).concat();
            let records = written.chunks(128 << 10);
            let compressed: usize =
                records.map(|record| lz4_flex::block::compress(record).len()).sum();
            let saved = 100.0 - 100.0 * compressed as f64 / written.len() as f64;
            // The stamp of a block of 512 bytes is 1.6 percent of it.
            let spread = if block == 512 && compressible == 100 { 4.0 } else { 2.0 };
            assert!(
                (saved - f64::from(compressible)).abs() <= spread,
                "{compressible} % in blocks of {block}, {slots} slots: {saved}"
            );
        }
    }
}

#[test]
fn blocks_stay_within_their_ring() {
    for block in [1, 7, 8, 63, 511, 4097, 12288, (1 << 20) + 1] {
        for slots in [1, 3] {
            let blocks = blocks(block, slots, Content::new(30, 30), 50);
            assert!(blocks.iter().all(|bytes| bytes.len() == block as usize));
        }
    }
    let random = WrittenData { content: Some(Content::default()), stamps: None };
    assert!(Ring::new(u64::MAX, u64::MAX, 2, random).is_none());
}

#[test]
fn stamped_blocks_compress_as_requested() {
    for compressible in [0, 10, 50, 75, 90, 94] {
        for (block, slots) in [(4096, 1), (16384, 4), (1 << 20, 1)] {
            let content = Some(Content::new(compressible, 0));
            let data = WrittenData { content, stamps: Some(Stamps::new(7).of_trial(3)) };
            let written = blocks_of(block, slots, data, (2 << 20) / block as usize).concat();
            let compressed: usize = written
                .chunks(128 << 10)
                .map(|record| lz4_flex::block::compress(record).len())
                .sum();
            let saved = 100.0 - 100.0 * compressed as f64 / written.len() as f64;
            let off = saved - f64::from(compressible);
            assert!(off.abs() <= 2.0, "{compressible} % in blocks of {block}: {saved}");
        }
    }
}

#[test]
fn stamps_distinguish_the_areas() {
    for (block, slots) in [(24, 1), (24, 4096), (512, 33), (4096, 4096), (1 << 20, 4)] {
        let data = WrittenData { stamps: Some(Stamps::new(7)), content: None };
        let ring = Ring::new(block, block, slots, data).unwrap();
        assert!(ring.turns as usize * slots as usize <= AREAS, "{block} {slots}");
    }
}

#[test]
fn only_stamps_are_timed() {
    for (stamps, timed) in [(Some(Stamps::new(7)), true), (None, false)] {
        let data = WrittenData { content: Some(Content::default()), stamps };
        let ring = Ring::new(1 << 20, 1 << 20, 1, data).unwrap();
        let lane = LaneBuffer { buffer: Buffer::new(ring.len()).unwrap(), ring: Some(ring) };
        let mut written = lane.written(1).unwrap();
        assert_eq!(written.stamp_nanos(), 0);
        for pass in 0..70 {
            written.prepare(0, 1 << 20, 0, pass);
        }
        assert_eq!(
            (written.stamp_nanos() > 0, written.stamping.timed),
            (timed, if timed { 2 } else { 0 })
        );
    }
}
