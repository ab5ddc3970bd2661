use super::*;
use crate::analysis::answer::testing::{at, busy, cell};
use crate::analysis::{Answer, answer};
use crate::session::testing::job;

fn said(results: &[CellResult]) -> (String, Vec<String>) {
    let Answer { text, effects, .. } = answer(results);
    (text, describe_effects(&effects).into_iter().map(|(_, clause)| clause).collect())
}

/// read at 64 B to 1 MiB: small blocks are as fast cold as warm, as the CPU takes the time.
fn curve() -> Vec<CellResult> {
    let blocks = [64, 512, 4 << 10, 64 << 10, 1 << 20];
    let warm = blocks.into_iter().zip([0.1, 0.7, 4.0, 8.0, 8.1]);
    let cold = blocks.into_iter().zip([0.1, 0.7, 1.9, 2.0, 2.0]);
    let warm = warm.map(|(block, gib)| busy(at("read", block, Cache::Warm, gib)));
    let cold = cold.map(|(block, gib)| {
        let result = at("read", block, Cache::Cold, gib);
        if block < 4096 { busy(result) } else { result }
    });
    warm.chain(cold).collect()
}

#[test]
fn small_blocks_hide_the_cache() {
    let (_, effects) = said(&curve());
    assert_eq!(
        effects,
        [
            "with read, up to 512 B no difference between warm and cold shows (at most 1.01x), as the \
          CPU takes the time; from 4 KiB on warm is 2.1x to 4.0x as fast as cold"
        ]
    );
    // Two sizes are no curve: the answer has the peaks.
    let few: Vec<CellResult> = curve().into_iter().filter(|of| of.cell.block >= 65536).collect();
    assert_eq!(said(&few).1, Vec::<String>::new());
    // Without intervals nothing is claimed.
    let unsure: Vec<CellResult> =
        curve().into_iter().map(|of| cell(of.cell, 1.0, 0.1, 3)).collect();
    assert_eq!(said(&unsure).1, Vec::<String>::new());
}

#[test]
fn busy_cpus_speak_for_no_device() {
    let small: Vec<CellResult> = curve().into_iter().filter(|of| of.cell.block < 4096).collect();
    let (text, _) = said(&small);
    assert!(
        text.ends_with(
            "Warm and cold are equally fast: cold reaches 717 MiB/s at 512 B with read, where \
             the CPU takes the time, not the device."
        ),
        "{text}"
    );
    assert!(said(&curve()).0.contains("the disk delivers 2.00 GiB/s"));
}

#[test]
fn direct_is_compared_with_buffered() {
    let direct = |block, gib| {
        let result = cell(Job { direct: true, ..job("read", block, Cache::AsIs) }, gib, 0.005, 7);
        let source = Some(crate::record::Source { device: 1.0, ..Default::default() });
        CellResult { source, ..result }
    };
    let mut results = curve();
    let small = results.iter_mut().filter(|of| of.cell.block == 4 << 10);
    for trial in small.flat_map(|of| &mut of.trials) {
        let evidence = &mut std::sync::Arc::make_mut(trial).evidence;
        (evidence.disk_read_bytes, evidence.disk_requests) = (Some(1 << 20), Some(8).into());
    }
    results.extend([direct(4 << 10, 0.5), direct(64 << 10, 2.0), direct(1 << 20, 3.8)]);
    let (text, effects) = said(&results);
    assert_eq!(
        effects[1],
        "with read, up to 4 KiB buffered is 3.8x [3.8-3.8] as fast as direct, read ahead in \
         requests of up to 128 KiB; at 64 KiB no difference between direct and buffered shows (at most \
         1.01x); from 1 MiB on direct is 1.9x [1.9-1.9] as fast as buffered"
    );
    assert!(text.contains("cold reaches 2.00 GiB/s") && !text.contains("disk delivers"), "{text}");
}

/// Trials of the same rounds, with a drift that both share: one for each block size.
fn in_rounds(backend: &str, block: u64, cpu_cache: CpuCache, gib: f64) -> CellResult {
    let job = Job { cpu_cache, span: 8 << 20, ..job(backend, block, Cache::Warm) };
    let mut result = cell(job, gib, 0.0, 2);
    for (round, trial) in (1..).zip(&mut result.trials) {
        std::sync::Arc::make_mut(trial).round = round;
    }
    result
}

#[test]
fn each_way_has_its_cpu_caches() {
    let both = |backend: &'static str, kept: f64| {
        [64, 512, 4096].into_iter().flat_map(move |block| {
            [
                in_rounds(backend, block, CpuCache::Keep, kept * (1.0 + block as f64 / 1e6)),
                in_rounds(backend, block, CpuCache::Flush, 1.0),
            ]
        })
    };
    let results: Vec<CellResult> = both("mmap", 1.6).chain(both("read", 1.0)).collect();
    assert_eq!(
        said(&results).1,
        [
            "with the CPU caches kept instead of flushed, warm, 8 MiB: mmap is 1.6x [1.6-1.6] as fast; \
          no difference shows for read (at most 1.00x)"
        ]
    );
}

#[test]
fn mixed_sizes_are_counted() {
    let pair = |block: u64, gib: f64| {
        [at("read", block, Cache::Warm, gib), at("read", block, Cache::Cold, 1.0)]
    };
    let results: Vec<CellResult> =
        (0..6u64).flat_map(|n| pair(4096 << n, if n % 2 == 0 { 2.0 } else { 1.0 })).collect();
    assert_eq!(
        said(&results).1,
        ["with read, at 3 of 6 block sizes warm is 2.0x as fast as cold; at 3 of 6 block \
          sizes no difference between warm and cold shows (at most 1.01x)"]
    );
}
