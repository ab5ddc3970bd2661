//! `mmap --xor` of a cached file next to a read-only XOR of as much anonymous memory on huge pages:
//! how close a mapping comes to the speed of memory. One thread, the same fold.

mod common;

use common::file::{Pieces, Temporary};
use common::lane::{Open, job, on_worker};
use common::rounds::{Beside, Pairs, Sample, Variant, gather, interleave};
use common::table::{Table, verdict};
use iotui::backend::fold;
use iotui::backend::meter::Timed;
use iotui::plan::Job;
use iotui::sys::buffer::Buffer;
use iotui::sys::clock::monotonic_nanos;

const SPAN: u64 = 256 << 20;
const ROUNDS: usize = 3;
const SAMPLES: usize = 12;
const SHARE: f64 = 0.95;

/// The layout of a file, and whether the target applies to it.
const FILES: [(Pieces, &str, bool); 2] =
    [(Pieces::Large, "2 MiB folios", true), (Pieces::Page, "4 KiB folios", false)];
/// The pass over a fresh mapping: the first one touches every page for the first time.
const PASSES: [(&str, &str, u32); 3] =
    [("mmap", "first pass", 1), ("mmap", "second pass", 2), ("mmap+populate", "first pass", 1)];
const BLOCKS: [(u64, &str); 2] = [(4 << 10, "4 KiB blocks"), (2 << 20, "2 MiB blocks")];

fn main() {
    if let Some(pairs) = gather(ROUNDS, |round| on_worker(move || measure(round))) {
        report(&pairs);
    }
}

fn measure(round: usize) {
    let files =
        FILES.map(|(pieces, shown, _)| (Temporary::new("xor", SPAN, pieces), pieces, shown));
    let memory = Buffer::random(SPAN as usize, 1).expect("memory");
    let memory = &memory;
    let yardsticks =
        BLOCKS.map(|(block, _)| Box::new(move || fold_memory(memory, block as usize)) as Sample);
    let mut variants = Vec::new();
    for (file, pieces, folios) in &files {
        if round == 0 {
            eprintln!(
                "{folios}: written in pieces of {} KiB; {:.0} % mapped by 2 MiB pages",
                pieces.bytes() >> 10,
                100.0 * file.mapped_huge()
            );
        }
        for (yardstick, (block, blocks)) in BLOCKS.into_iter().enumerate() {
            for (backend, passes, pass) in PASSES {
                let job = Job { xor: true, ..job(backend, &file.target(), block) };
                variants.push(Variant {
                    name: format!("{backend}, {folios}, {blocks}, {passes}"),
                    yardstick,
                    sample: Box::new(move || {
                        file.warm(*pieces);
                        let mut lane = Open::new(&file.target(), &job);
                        (0..pass)
                            .map(|_| lane.run(SPAN / block, Timed::None))
                            .last()
                            .unwrap_or(f64::NAN)
                    }),
                });
            }
        }
    }
    interleave(yardsticks.into(), variants, SAMPLES);
}

/// Returns nanoseconds per block.
#[inline(never)]
fn fold_memory(memory: &Buffer, block: usize) -> f64 {
    let form = fold::fastest().1;
    let start = monotonic_nanos();
    let mut sum = 0;
    for at in (0..memory.len()).step_by(block) {
        // SAFETY: the buffer is a whole number of blocks long.
        sum ^= unsafe { form(memory.address(at), block) };
    }
    std::hint::black_box(sum);
    (monotonic_nanos() - start) as f64 / (memory.len() / block) as f64
}

fn report(pairs: &Pairs) {
    println!(
        "\nxor: share of the speed of memory, one thread, 256 MiB; {} pairs of each in {ROUNDS} processes",
        pairs.count()
    );
    let mut table = Table::new(&[
        "",
        "memory GB/s",
        "iotui GB/s",
        "share: best",
        "lower quartile",
        "paired",
        "target",
        "",
    ]);
    for (_, folios, wanted) in FILES {
        for (block, blocks) in BLOCKS {
            for (backend, passes, _) in PASSES {
                let name = format!("{backend}, {folios}, {blocks}, {passes}");
                let share = |beside: Beside| beside.bare / beside.own;
                let shares =
                    [share(pairs.min(&name)), share(pairs.low(&name)), pairs.paired(&name, share)];
                let Beside { bare, own } = pairs.low(&name);
                let mut row = vec![name];
                row.extend([bare, own].map(|nanos| format!("{:.1}", block as f64 / nanos)));
                row.extend(shares.map(|x| format!("{x:.3}")));
                let target = wanted && block == 2 << 20 && backend == "mmap";
                row.push(if target { format!(">= {SHARE}") } else { String::new() });
                row.push(if target {
                    verdict(shares[1] >= SHARE && shares[2] >= SHARE)
                } else {
                    "for reference".into()
                });
                table.add(row);
            }
        }
    }
    table.print();
}
