//! `uring` against t/io_uring, the micro-benchmark in fio's sources: operations per second in
//! random order on one file, with the same depth and batches and with registered file and buffers,
//! in turns. Build it with `make t/io_uring`, and set IOTUI_T_IO_URING to its path. It takes 7
//! minutes, `cargo bench --bench uring -- cached` only the cases with that in their names.

mod common;

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use common::file::{Pieces, Temporary};
use common::lane::{Open, job, on_worker};
use common::table::{Table, verdict};
use iotui::backend::Target;
use iotui::backend::meter::Timed;
use iotui::plan::{Cache, Choice, Job, Op, Pattern};
use iotui::stats::paired::from_pairs;
use iotui::sys::cold::drop_part;
use iotui::sys::cpu_cache::last_cache;

/// The variable with the path of the program.
const PROGRAM: &str = "IOTUI_T_IO_URING";
/// The file has as many times the size of the last cache: t/io_uring draws a block again before it
/// has drawn them all, and may find it there.
const CACHES: u64 = 32;
/// Where a shared cache is large, so is the file: with 2 GiB and a cache of 480 MiB it was 1 %
/// faster.
const SPANS: [u64; 2] = [2 << 30, 8 << 30];
const PAIRS: usize = 8;
/// A sample of t/io_uring takes one second more, whose figure it does not print.
const SECONDS: u32 = 1;
/// The most operations that one call submits and waits for, unless the case says otherwise: the
/// default of t/io_uring.
const BATCH: u32 = 32;
const TARGET: f64 = 1.0;

/// What both do.
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
    let Some(program) = std::env::var_os(PROGRAM) else {
        println!("uring: left out, {PROGRAM} does not name fio's t/io_uring");
        return;
    };
    let only: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let span = (last_cache() * CACHES).next_power_of_two().clamp(SPANS[0], SPANS[1]);
    let file = Temporary::new("uring", span, Pieces::Large);
    println!("\nuring: operations per second, medians of {PAIRS} pairs in turns, random order");
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
            None => println!("uring: {}: not to be had here", case.name),
        }
    }
    println!();
    table.print();
}

/// Takes the pairs of a case, in alternating order.
fn pairs(case: &Case, file: &Temporary, program: &OsStr) -> Option<Vec<(f64, f64)>> {
    let (target, path) = (file.target(), file.path.as_os_str());
    // Direct I/O looks for cached pages; cached reads keep theirs by force, as something else may
    // need the memory.
    let _held = if case.direct {
        drop_part(&file.file, 0, file.len).expect("drop the cached pages");
        None
    } else {
        // SAFETY: the file is this process's own and does not shrink meanwhile.
        let map = unsafe { memmap2::Mmap::map(&file.file) }.expect("map the file");
        if map.lock().is_err() {
            println!("uring: {}: its pages cannot be locked (ulimit -l)", case.name);
        }
        Some(map)
    };
    let mut count = (rate_of_peer(case, path, program)? * f64::from(SECONDS)) as u64;
    let mut pairs = Vec::new();
    for turn in 0..PAIRS {
        let own = |count: u64| rate_of_lane(case, &target, count);
        let (peer, own) = if turn % 2 == 0 {
            let own = own(count);
            (rate_of_peer(case, path, program)?, own)
        } else {
            (rate_of_peer(case, path, program)?, own(count))
        };
        count = (own * f64::from(SECONDS)) as u64;
        pairs.push((peer, own));
    }
    Some(pairs)
}

/// Runs t/io_uring; returns its operations per second.
fn rate_of_peer(case: &Case, path: &OsStr, program: &OsStr) -> Option<f64> {
    let (depth, batch) = (case.depth, case.batch);
    let seconds = SECONDS + 1;
    let line = format!(
        "-d{depth} -s{batch} -c{batch} -b{} -O{} -N{} -r{seconds} -p0 -B1 -F1 -X1 -R1 -n1",
        case.block,
        u8::from(case.direct),
        u8::from(case.nop)
    );
    let mut command = Command::new(program);
    command.args(line.split_whitespace()).arg(path).stderr(Stdio::null());
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rates: Vec<f64> = text.lines().filter_map(|line| printed_rate(line, case.block)).collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

/// Returns the rate in a line of t/io_uring: `IOPS=1.20M, BW=4.69GiB/s, ...`, by the figure that is
/// rounded less: here to 0.2 %, not to 0.8 %.
fn printed_rate(line: &str, block: u64) -> Option<f64> {
    let mut parts = line.strip_prefix("IOPS=")?.split(", ");
    let (rate, step) = match parts.next()? {
        text if text.ends_with('M') => figure(text, "M", 1e6)?,
        text if text.ends_with('K') => figure(text, "K", 1e3)?,
        text => figure(text, "", 1.0)?,
    };
    let bytes = parts.next().and_then(|text| text.strip_prefix("BW=")).and_then(|text| {
        let mib = f64::from(1 << 20);
        // What it calls a GiB is 1,000 MiB.
        figure(text, "GiB/s", mib * 1000.0).or_else(|| figure(text, "MiB/s", mib))
    });
    match bytes {
        Some((bytes, fine)) if fine * rate < step * bytes => Some(bytes / block as f64),
        _ => Some(rate),
    }
}

/// Returns the value of a printed number, and of the step to which it is rounded.
fn figure(text: &str, unit: &str, factor: f64) -> Option<(f64, f64)> {
    let number = text.strip_suffix(unit)?;
    let digits = number.split_once('.').map_or(0, |(_, part)| part.len());
    Some((number.parse::<f64>().ok()? * factor, factor / 10f64.powi(digits as i32)))
}

/// Runs a lane as the engine does; returns its operations per second.
fn rate_of_lane(case: &Case, target: &Target, count: u64) -> f64 {
    let batch = format!("+submit={0}+complete={0}", case.batch);
    let nop = if case.nop { "+nop" } else { "" };
    let job = Job {
        backend: Choice::parse(&format!("uring{batch}{nop}")).expect("a backend"),
        op: if case.nop { Op::Seek } else { Op::Read },
        pattern: Pattern::Random,
        depth: case.depth,
        direct: case.direct,
        cache: Cache::AsIs,
        ..job("uring", target, case.block)
    };
    let mut nanos = 0.0;
    on_worker(|| {
        let mut lane = Open::new(target, &job);
        // The first second of t/io_uring is not printed either.
        lane.run(count / 4, Timed::None);
        nanos = lane.run(count, Timed::None);
    });
    1e9 / nanos
}

fn row(case: &Case, pairs: &[(f64, f64)]) -> Vec<String> {
    let sorted = |of: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = pairs.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let median = |all: &[f64]| (all[(all.len() - 1) / 2] + all[all.len() / 2]) / 2.0;
    let (peer, own) = (sorted(|pair| pair.0), sorted(|pair| pair.1));
    let ratio = median(&sorted(|pair| pair.1 / pair.0));
    // The interval of the ratio, as comparisons of iotui have it.
    let interval = from_pairs(pairs).map_or([f64::NAN; 2], |ratio| {
        [ratio.low.unwrap_or(f64::NAN), ratio.high.unwrap_or(f64::NAN)]
    });
    let mut row = vec![case.name.clone()];
    row.extend([median(&peer), median(&own)].map(|rate| format!("{rate:.0}")));
    row.extend([ratio, interval[0], interval[1]].map(|ratio| format!("{ratio:.3}")));
    let verdict = match () {
        () if ratio < TARGET && interval[1] >= TARGET => "missed, but level".into(),
        () => verdict(ratio >= TARGET),
    };
    row.extend([format!(">= {TARGET:.2}"), verdict]);
    row
}
