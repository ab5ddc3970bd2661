//! Compares iotui with the barest loops over cached data: `pread` by throughput, `uring` by
//! time per operation.

mod common;

use std::os::fd::AsRawFd;

use common::bare;
use common::file::{Pieces, Temporary};
use common::lane::{Open, job, on_worker};
use common::ring::BareRing;
use common::rounds::{Beside, NANOS, Pairs, Variant, gather, interleave};
use common::table::{Table, verdict};
use iotui::backend::meter::Timed;
use iotui::plan::{Job, Pattern};
use iotui::sys::buffer::Buffer;
use iotui_engine::with_fill;

/// Fits in the page cache, but its larger blocks do not all fit in the CPU's.
const SPAN: u64 = 64 << 20;
const ROUNDS: usize = 12;
const SAMPLES: usize = 30;

/// Block sizes of `pread` and operations of a sample: about a millisecond each.
const BLOCKS: [(u64, u64, &str); 3] =
    [(4 << 10, 2048, "4 KiB"), (128 << 10, 128, "128 KiB"), (1 << 20, 24, "1 MiB")];
/// Block sizes, depths and operations of `uring`.
const RINGS: [(u64, u32, u64, &str); 4] = [
    (512, 1, 1024, "512 B"),
    (512, 32, 2048, "512 B"),
    (4096, 1, 1024, "4 KiB"),
    (4096, 32, 2048, "4 KiB"),
];

const SHARE: f64 = 0.97;
const OVER: f64 = 15.0;

fn main() {
    if let Some(pairs) = gather(ROUNDS, |_| on_worker(round)) {
        report_pread(&pairs);
        report_uring(&pairs);
    }
}

fn round() {
    let file = Temporary::new("cached", SPAN, Pieces::Large);
    let (mut yardsticks, mut variants) = (Vec::new(), Vec::new());
    for (block, ops, shown) in BLOCKS {
        let job = job("pread", &file.target(), block);
        // Lane and loop each get a fresh buffer for each sample: the position of its pages accounts
        // for a few per cent.
        let (target, own) = (file.target(), job.clone());
        yardsticks.push(Box::new(move || {
            let (file, buffer) = (
                target.open(&own).expect("open the file"),
                Buffer::new(block as usize).expect("memory"),
            );
            let (fd, to, offsets) =
                (file.as_raw_fd(), buffer.ptr(), (0..ops as u32).map(|i| u64::from(i) * block));
            with_fill!(FILL => bare::pread::<FILL, 0>(fd, to, block as usize, offsets))
        }) as _);
        let target = file.target();
        variants.push(Variant {
            name: format!("pread {shown}"),
            yardstick: yardsticks.len() - 1,
            sample: Box::new(move || Open::new(&target, &job).run(ops, Timed::None)),
        });
    }
    for (block, depth, ops, shown) in RINGS {
        let job = Job { depth, pattern: Pattern::Seq, ..job("uring", &file.target(), block) };
        let mut ring =
            BareRing::new(file.target().open(&job).expect("open the file"), depth, block);
        yardsticks.push(Box::new(move || ring.run(ops)) as _);
        let mut lane = Open::new(&file.target(), &job);
        variants.push(Variant {
            name: format!("uring {shown}, depth {depth}"),
            yardstick: yardsticks.len() - 1,
            sample: Box::new(move || lane.run(ops, Timed::None)),
        });
    }
    interleave(yardsticks, variants, SAMPLES);
}

fn report_pread(pairs: &Pairs) {
    let count = pairs.count();
    println!(
        "\ncached: share of the bare loop's throughput, sequential; {count} pairs of each in {ROUNDS} processes"
    );
    let mut table = Table::new(&[
        "",
        "bare MB/s",
        "iotui MB/s",
        "share: least",
        "lower quartile",
        "paired",
        "target",
        "",
    ]);
    for (block, _, shown) in BLOCKS {
        let name = format!("pread {shown}");
        let share = |beside: Beside| beside.bare / beside.own;
        let (min, low, paired) =
            (share(pairs.min(&name)), share(pairs.low(&name)), pairs.paired(&name, share));
        let speed = |nanos: f64| format!("{:.0}", block as f64 / nanos * 1e3);
        let Beside { bare, own } = pairs.low(&name);
        let figure = |x: f64| format!("{x:.3}");
        let met = verdict(low >= SHARE && paired >= SHARE);
        table.add(vec![
            name,
            speed(bare),
            speed(own),
            figure(min),
            figure(low),
            figure(paired),
            format!(">= {SHARE}"),
            met,
        ]);
    }
    table.print();
}

fn report_uring(pairs: &Pairs) {
    println!(
        "\ncached: ns per operation over a bare io_uring loop (registered file and buffer, one enter for all free slots)"
    );
    let mut table = Table::new(&NANOS);
    for (_, depth, _, shown) in RINGS {
        let name = format!("uring {shown}, depth {depth}");
        table.add(pairs.nanos_row(&name, Some(OVER)));
    }
    table.print();
}
