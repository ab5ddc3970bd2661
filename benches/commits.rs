//! The overhead of iotui's loop per commit, a write of 4 KiB and its fdatasync on tmpfs, over the
//! barest loop of the same calls: at most 60 ns with the latency of the write, the sync and both.

mod common;

use std::os::fd::AsRawFd;
use std::path::Path;

use common::bare;
use common::file::{Pieces, Temporary};
use common::lane::{Open, job, on_worker};
use common::rounds::{NANOS, Pairs, Sample, Variant, gather, interleave};
use common::table::Table;
use iotui::backend::access_pattern::Share;
use iotui::backend::meter::Timed;
use iotui::plan::{Job, Op, Pattern, Sync};
use iotui::sys::buffer::Buffer;
use iotui_engine::with_fill;

const FOLDER: &str = "/dev/shm";
const BLOCK: u64 = 4096;
const BLOCKS: u64 = 1024;
const SPAN: u64 = BLOCKS * BLOCK;
/// Different orders in one sample: no CPU can learn a single random order by heart.
const PASSES: u64 = 8;
/// Operations of one sample.
const OPS: u64 = PASSES * BLOCKS;
const ROUNDS: usize = 12;
const SAMPLES: usize = 30;
const TARGET: f64 = 60.0;

fn main() {
    if !Path::new(FOLDER).is_dir() {
        return println!("commits: no {FOLDER} here");
    }
    if let Some(pairs) = gather(ROUNDS, |_| on_worker(round)) {
        report(&pairs);
    }
}

fn round() {
    let file = Temporary::new_in(Path::new(FOLDER), "commits", SPAN, Pieces::Page);
    let (mut yardsticks, mut variants) = (Vec::new(), Vec::new());
    for pattern in [Pattern::Seq, Pattern::Random] {
        let job = Job {
            op: Op::Write,
            pattern,
            sync: Sync::Fdatasync,
            ..job("pread", &file.target(), BLOCK)
        };
        yardsticks.push(bare_loop(&file, &job));
        let yardstick = yardsticks.len() - 1;
        let mut lane = Open::new(&file.target_to_write(), &job);
        variants.push(Variant {
            name: pattern.to_string(),
            yardstick,
            sample: Box::new(move || lane.run(OPS, Timed::Chained)),
        });
    }
    interleave(yardsticks, variants, SAMPLES);
}

/// Returns the bare loop of the job's calls, at its offsets, with its own file and buffer.
fn bare_loop(file: &Temporary, job: &Job) -> Sample<'static> {
    let mut offsets = Vec::new();
    let share = Share::for_lane(job, 0, BLOCKS, 1);
    for pass in 0..PASSES {
        share.replay(pass, BLOCKS, |offset, _| offsets.push(offset));
    }
    let own = file.target_to_write().open(job).expect("open the file");
    let buffer = Buffer::random(BLOCK as usize, 1).expect("memory");
    let mut turn = 0;
    Box::new(move || {
        let (fd, from) = (own.as_raw_fd(), buffer.ptr());
        turn += 1;
        with_fill!(FILL => padded::<FILL>(turn, fd, from, &offsets))
    })
}

/// Runs the same loop at a different address each time.
fn padded<const FILL: bool>(turn: u32, fd: i32, from: *const u8, offsets: &[u64]) -> f64 {
    let at = offsets.iter().copied();
    let block = BLOCK as usize;
    match turn / 2 % 4 {
        0 => bare::commit::<FILL, 0>(fd, from, block, at),
        1 => bare::commit::<FILL, 16>(fd, from, block, at),
        2 => bare::commit::<FILL, 32>(fd, from, block, at),
        _ => bare::commit::<FILL, 48>(fd, from, block, at),
    }
}

fn report(pairs: &Pairs) {
    println!(
        "\ncommits: ns per write of 4 KiB and fdatasync in {FOLDER} over a bare loop of the same calls; {} pairs of each in {ROUNDS} processes",
        pairs.count()
    );
    let mut table = Table::new(&NANOS);
    for pattern in [Pattern::Seq, Pattern::Random] {
        table.add(pairs.nanos_row(&pattern.to_string(), Some(TARGET)));
    }
    table.print();
}
