//! The overhead of iotui's loop per operation of `pread`, `read` and `seek` at 1 byte, over the
//! barest loop of the same calls: at most 10 ns, and 30 ns with the latency of every operation.

mod common;

use std::os::fd::AsRawFd;

use common::bare;
use common::file::{Pieces, Temporary};
use common::lane::{Open, job, on_worker};
use common::rounds::{NANOS, Pairs, Sample, Variant, gather, interleave};
use common::table::Table;
use iotui::backend::access_pattern::Share;
use iotui::backend::meter::Timed;
use iotui::plan::{Job, Pattern};
use iotui::sys::buffer::Buffer;
use iotui_engine::with_fill;

/// Operations of one sample: below a millisecond, so well below a time slice.
const OPS: u64 = 2048;
const SPAN: u64 = 8 << 20;
const ROUNDS: usize = 12;
const SAMPLES: usize = 30;
const BACKENDS: [&str; 3] = ["pread", "read", "seek"];

/// The mode of a lane, its name, and the limit of its overhead in nanoseconds.
const MODES: [(Timed, &str, f64); 4] = [
    (Timed::None, "no latency", 10.0),
    (Timed::OneIn(64), "latency of one in 64", 10.0),
    (Timed::Chained, "latency of each, chained", 30.0),
    (Timed::Precise, "latency of each, precise", 30.0),
];

fn main() {
    if let Some(pairs) = gather(ROUNDS, |_| on_worker(round)) {
        report(&pairs);
    }
}

fn round() {
    let file = Temporary::new("harness", SPAN, Pieces::Large);
    let (mut yardsticks, mut variants) = (Vec::new(), Vec::new());
    for backend in BACKENDS {
        for pattern in [Pattern::Seq, Pattern::Random] {
            let job = Job { pattern, ..job(backend, &file.target(), 1) };
            yardsticks.push(bare_loop(&file, &job, true));
            let yardstick = yardsticks.len() - 1;
            for (timed, mode, _) in MODES {
                let mut lane = Open::new(&file.target(), &job);
                variants.push(Variant {
                    name: format!("{backend} {pattern}, {mode}"),
                    yardstick,
                    sample: Box::new(move || lane.run(OPS, timed)),
                });
            }
            variants.push(Variant {
                name: format!("{backend} {pattern}, bare without fill"),
                yardstick,
                sample: bare_loop(&file, &job, false),
            });
        }
    }
    interleave(yardsticks, variants, SAMPLES);
}

/// Returns the bare loop of the job's calls, at its offsets, with its own file and buffer.
fn bare_loop(file: &Temporary, job: &Job, fill: bool) -> Sample<'static> {
    let mut offsets = Vec::new();
    Share::for_lane(job, 0, OPS, 1).replay(0, OPS, |offset, _| offsets.push(offset));
    let own = file.target().open(job).expect("open the file");
    let (job, buffer) = (job.clone(), Buffer::new(1).expect("memory"));
    let mut turn = 0;
    Box::new(move || {
        let (fd, to) = (own.as_raw_fd(), buffer.ptr());
        turn += 1;
        if fill {
            with_fill!(FILL => padded::<FILL>(turn, &job, fd, to, &offsets))
        } else {
            padded::<false>(turn, &job, fd, to, &offsets)
        }
    })
}

/// Runs the same loop at a different address each time.
fn padded<const FILL: bool>(turn: u32, job: &Job, fd: i32, to: *mut u8, offsets: &[u64]) -> f64 {
    // Pairs swap their order every second turn: addresses change half as often.
    match turn / 2 % 4 {
        0 => calls::<FILL, 0>(job, fd, to, offsets),
        1 => calls::<FILL, 16>(job, fd, to, offsets),
        2 => calls::<FILL, 32>(job, fd, to, offsets),
        _ => calls::<FILL, 48>(job, fd, to, offsets),
    }
}

fn calls<const FILL: bool, const PAD: usize>(
    job: &Job,
    fd: i32,
    to: *mut u8,
    offsets: &[u64],
) -> f64 {
    let (in_order, at) = ((0..OPS as u32).map(u64::from), offsets.iter().copied());
    match (job.backend.id.as_str(), job.pattern) {
        ("pread", Pattern::Seq) => bare::pread::<FILL, PAD>(fd, to, 1, in_order),
        ("pread", _) => bare::pread::<FILL, PAD>(fd, to, 1, at),
        ("read", Pattern::Seq) => bare::read::<FILL, PAD>(fd, to, 1, in_order),
        ("read", _) => bare::read_at::<FILL, PAD>(fd, to, 1, at),
        (_, Pattern::Seq) => bare::seek::<FILL, PAD>(fd, in_order),
        _ => bare::seek::<FILL, PAD>(fd, at),
    }
}

fn report(pairs: &Pairs) {
    println!(
        "\nharness: ns per 1-byte operation over a bare loop of the same calls; {} pairs of each in {ROUNDS} processes",
        pairs.count()
    );
    let mut table = Table::new(&NANOS);
    for backend in BACKENDS {
        for pattern in [Pattern::Seq, Pattern::Random] {
            for (_, mode, target) in MODES {
                table.add(pairs.nanos_row(&format!("{backend} {pattern}, {mode}"), Some(target)));
            }
            table.add(pairs.nanos_row(&format!("{backend} {pattern}, bare without fill"), None));
        }
    }
    table.print();
}
