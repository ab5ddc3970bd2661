//! `uring` against t/io_uring, the micro-benchmark in fio's sources: operations per second in
//! random order on one file, with the same depth and batches and with registered file and buffers.
//! Build it with `make t/io_uring`, and set IOTUI_T_IO_URING to its path. It takes 16 minutes,
//! `cargo bench --bench uring -- cached` only the cases with that in their names.
//!
//! Its no-ops look up their file and buffer; iotui's look up nothing.

mod common;
#[path = "uring/peer.rs"]
mod peer;
#[path = "uring/slices.rs"]
mod slices;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use common::file::{Pieces, Temporary};
use common::lane::{Open, job, on_worker};
use common::table::{Table, verdict};
use iotui::backend::Target;
use iotui::backend::work::Published;
use iotui::plan::{Cache, Choice, Job, Op, Pattern};
use iotui::stats::median;
use iotui::stats::paired::from_pairs;
use iotui::stats::random::mix;
use iotui::sys::cold::drop_part;
use iotui::sys::cpu_cache::last_cache;
use iotui::sys::threads::Affinity;

/// The variable with the path of the program.
const PROGRAM: &str = "IOTUI_T_IO_URING";
/// The file has as many times the size of the last cache: t/io_uring draws a block again before it
/// has drawn them all, and may find it there.
const CACHES: u64 = 32;
/// Where a shared cache is large, so is the file: with 2 GiB and a cache of 480 MiB it was 1 %
/// faster.
const SPANS: [u64; 2] = [2 << 30, 8 << 30];
const PAIRS: usize = 8;
/// Length of a sample, after one second that does not count.
const SECONDS: u64 = 2;
/// Seconds that no pair takes.
const FOR_EVER: u64 = 600;
/// The variable with the name of the case whose lane this process runs.
const LANE: &str = "IOTUI_BENCH_LANE";
/// The most operations that one call submits and waits for, unless the case says otherwise: the
/// default of t/io_uring.
const BATCH: u32 = 32;
const TARGET: f64 = 1.0;

/// The operations of both.
struct Case {
    name: String,
    block: u64,
    depth: u32,
    batch: u32,
    direct: bool,
    nop: bool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, block, direct, nop) in [
        ("no-op", 4096, false, true),
        ("cached 512 B", 512, false, false),
        ("cached 4 KiB", 4096, false, false),
        ("direct 4 KiB", 4096, true, false),
    ] {
        for depth in [1, 32, 128] {
            let batches: &[u32] = if direct && depth > 1 { &[1, BATCH] } else { &[BATCH] };
            cases.extend(batches.iter().map(|batch| {
                let batch = (*batch).min(depth);
                let name = format!("{kind}, depth {depth}, batches of {batch}");
                Case { name, block, depth, batch, direct, nop }
            }));
        }
    }
    cases
}

fn main() {
    if let Some(name) = std::env::var_os(LANE) {
        return run_named(&name);
    }
    let Some(program) = std::env::var_os(PROGRAM) else {
        println!("uring: left out, {PROGRAM} does not name fio's t/io_uring");
        return;
    };
    let only: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let span = (last_cache() * CACHES).next_power_of_two().clamp(SPANS[0], SPANS[1]);
    let file = Temporary::new("uring", span, Pieces::Large);
    println!(
        "\nuring: operations per second, medians of {PAIRS} pairs, random order; the target is to \
         two decimals"
    );
    let mut table =
        Table::new(&["", "t/io_uring", "iotui", "paired: median", "95 %", "", "target", ""]);
    for case in
        cases().iter().filter(|case| only.is_empty() || only.iter().any(|o| case.name.contains(o)))
    {
        match pairs(case, &file, &program) {
            Some(pairs) => {
                let row = row(case, &pairs);
                println!("{}: {} of t/io_uring, 95 % {} to {}", row[0], row[3], row[4], row[5]);
                table.add(row);
            }
            None => println!("uring: {}: not available here", case.name),
        }
    }
    println!();
    table.print();
}

/// Runs the lane of the case of this name on the file that is the last argument, until the process
/// is killed.
fn run_named(name: &OsStr) {
    let case = cases().into_iter().find(|case| *case.name == *name).expect("a case");
    let path = PathBuf::from(std::env::args_os().next_back().expect("a file"));
    let size = path.metadata().expect("its size").len();
    run_lane(
        &case,
        &Target::plain(path, size),
        None,
        (&AtomicBool::new(false), &Published::default()),
    );
}

/// Takes the pairs of a case, so that what else the machine does meets both: at the same time where
/// each has a CPU, in short turns where they would share the device.
fn pairs(case: &Case, file: &Temporary, program: &OsStr) -> Option<Vec<(f64, f64)>> {
    // Direct I/O looks for cached pages; cached reads keep theirs by force, as something else may
    // need the memory.
    let _held = if case.direct {
        drop_part(&file.file, 0, file.len).expect("drop the cached pages");
        None
    } else {
        // SAFETY: the file is this process's own and does not shrink while it is mapped.
        let map = unsafe { memmap2::Mmap::map(&file.file) }.expect("map the file");
        if map.lock().is_err() {
            println!("uring: {}: its pages cannot be locked (ulimit -l)", case.name);
        }
        Some(map)
    };
    let sides = Sides { case, target: file.target(), program };
    let cpus = Affinity::current().map_or(Vec::new(), |allowed| allowed.cpus());
    let pair = || match cpus[..] {
        _ if case.direct => sides.in_slices(),
        // Exchanged once: one of the CPUs may have more to do.
        [first, second, ..] => mean(sides.at_once(first, second)?, sides.at_once(second, first)?),
        // The one, twice the other, the one again: a steady drift cancels.
        _ => mean(sides.in_turns(true)?, sides.in_turns(false)?),
    };
    (0..PAIRS).map(|_| pair()).collect()
}

fn mean(one: (f64, f64), other: (f64, f64)) -> Option<(f64, f64)> {
    Some((one.0.midpoint(other.0), one.1.midpoint(other.1)))
}

/// The two sides of a pair.
struct Sides<'a> {
    case: &'a Case,
    target: Target,
    program: &'a OsStr,
}

impl Sides<'_> {
    /// Returns the rates of t/io_uring and of a lane that run at the same time, each on its CPU.
    fn at_once(&self, of_peer: usize, of_lane: usize) -> Option<(f64, f64)> {
        let allowed = Affinity::current().ok()?;
        // A child inherits the CPUs.
        Affinity::only(of_peer).apply().ok()?;
        let started = self.start_peer();
        allowed.apply().ok()?;
        let peer = started?;
        let (own, peer) = self.lane(Some(of_lane), || peer::rate(peer, self.case.block));
        Some((peer?, own))
    }

    /// Returns the rates of t/io_uring and of a lane that run one after the other.
    fn in_turns(&self, lane_first: bool) -> Option<(f64, f64)> {
        let lane = || self.lane(None, || ()).0;
        let before = lane_first.then(lane);
        let peer = peer::rate(self.start_peer()?, self.case.block)?;
        Some((peer, before.unwrap_or_else(lane)))
    }

    /// Returns the rates of t/io_uring and of a lane that are stopped while the other runs.
    fn in_slices(&self) -> Option<(f64, f64)> {
        let peer = peer::start(self.program, self.case, &self.target.path, FOR_EVER)?;
        let lane = Command::new(std::env::current_exe().ok()?)
            .env(LANE, &self.case.name)
            .arg(&self.target.path)
            .spawn()
            .ok()?;
        let (peer, own) = slices::rates([peer, lane])?;
        let block = self.case.block as f64;
        Some((peer / block, own / block))
    }

    fn start_peer(&self) -> Option<Child> {
        peer::start(self.program, self.case, &self.target.path, 2 + SECONDS)
    }

    /// Runs a lane until `ended` has returned; returns its operations per second, without the first
    /// second, and what `ended` returned.
    fn lane<T>(&self, cpu: Option<usize>, ended: impl FnOnce() -> T) -> (f64, T) {
        let (stop, seen) = (AtomicBool::new(false), Published::default());
        std::thread::scope(|scope| {
            scope.spawn(|| run_lane(self.case, &self.target, cpu, (&stop, &seen)));
            let after = |seconds| {
                std::thread::sleep(Duration::from_secs(seconds));
                (seen.ops.load(Relaxed) as f64, Instant::now())
            };
            let (first, last) = (after(1), after(SECONDS));
            let ended = ended();
            stop.store(true, Relaxed);
            ((last.0 - first.0) / (last.1 - first.1).as_secs_f64(), ended)
        })
    }
}

/// Runs a lane as the engine does, until it is stopped.
fn run_lane(
    case: &Case,
    target: &Target,
    cpu: Option<usize>,
    (stop, seen): (&AtomicBool, &Published),
) {
    let Case { batch, depth, direct, nop, block, .. } = *case;
    let nops = if nop { "+nop" } else { "" };
    let batches = format!("uring+submit={batch}+complete={batch}{nops}");
    let job = Job {
        backend: Choice::parse(&batches).expect("a backend"),
        op: if nop { Op::Seek } else { Op::Read },
        pattern: Pattern::Random,
        depth,
        direct,
        cache: Cache::AsIs,
        ..job("uring", target, block)
    };
    on_worker(|| {
        if let Some(cpu) = cpu {
            Affinity::only(cpu).apply().expect("a CPU that is allowed");
        }
        Open::new(target, &job).run_until(stop, seen, random_seed());
    });
}

/// Returns another seed each time, as t/io_uring has another order each time.
fn random_seed() -> u64 {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    mix(u64::from(std::process::id()) << 32 | RUNS.fetch_add(1, Relaxed))
}

fn row(case: &Case, pairs: &[(f64, f64)]) -> Vec<String> {
    let median = |of: fn(&(f64, f64)) -> f64| {
        median(&pairs.iter().map(of).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
    };
    let ratio = median(|pair| pair.1 / pair.0);
    // The interval of the ratio, as comparisons of iotui have it.
    let interval = from_pairs(pairs).map_or([f64::NAN; 2], |ratio| {
        [ratio.low.unwrap_or(f64::NAN), ratio.high.unwrap_or(f64::NAN)]
    });
    let mut row = vec![case.name.clone()];
    row.extend([median(|pair| pair.0), median(|pair| pair.1)].map(|rate| format!("{rate:.0}")));
    row.extend([ratio, interval[0], interval[1]].map(|ratio| format!("{ratio:.3}")));
    let met = (ratio * 100.0).round() / 100.0 >= TARGET;
    let verdict = match () {
        () if !met && interval[1] >= TARGET => "missed, but level".into(),
        () => verdict(met),
    };
    row.extend([format!(">= {TARGET:.2}"), verdict]);
    row
}
