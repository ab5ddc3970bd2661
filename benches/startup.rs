//! How long the program takes to print its version and to do the smallest complete job, next to an
//! empty program; how long a lane takes to be ready and to be closed; and how much memory a long
//! run takes.

mod common;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use common::file::{Pieces, Temporary};
use common::lane::{Open, job};
use common::rounds::{Beside, Variant, gather, interleave};
use common::table::{Table, verdict};
use iotui::plan::Job;
use iotui::stats::median;
use iotui::sys::clock::monotonic_nanos;
use iotui::sys::threads::unshare_files;

const IOTUI: &str = env!("CARGO_BIN_EXE_iotui");
const SAMPLES: usize = 40;
/// The name of a run, its arguments, and its limit in milliseconds.
const RUNS: [(&str, &str, f64); 4] = [
    ("iotui --version", "--version", 1.5),
    ("iotui --help", "--help", 5.0),
    (
        "a job of one cell",
        "--batch --quiet -b pread -s 4k -c warm --trials 1 --trial-time 1ms --no-save",
        10.0,
    ),
    (
        "the same, nothing prepared",
        "--batch --quiet -b pread -s 4k -c asis --trials 1 --trial-time 1ms --no-save",
        10.0,
    ),
];
/// Backends whose lanes are opened: queued ones at this depth.
const LANES: [&str; 4] = ["pread", "mmap", "uring", "aio"];
const DEPTH: u32 = 32;
const LANE_READY: f64 = 1.0;
/// 7 block sizes to 256 KiB, a thousand trials.
const LONG: &str = "--batch --quiet -b pread -s 4k..256k -c warm --trials 150 --trial-time 1ms --no-save --format json";
/// Memory of the buffers of the long run: one lane with one block.
const BUFFERS: f64 = 0.25;
const MEMORY: f64 = 16.0;

fn main() {
    if let Some(pairs) = gather(1, |_| measure()) {
        println!(
            "\nstartup: milliseconds from start to end, next to `true`; {} pairs of each",
            pairs.count()
        );
        let mut table =
            Table::new(&["", "true", "iotui: least", "lower quartile", "median", "target", ""]);
        for (name, _, most) in RUNS {
            let own = [
                pairs.min(name),
                pairs.low(name),
                Beside { bare: 0.0, own: pairs.paired(name, |pair| pair.own) },
            ];
            let mut row = vec![name.to_string(), format!("{:.2}", pairs.low(name).bare)];
            row.extend(own.map(|x| format!("{:.2}", x.own)));
            row.extend([format!("<= {most}"), verdict(own[2].own <= most)]);
            table.add(row);
        }
        table.print();
        // First: the peak of a child is never below that of its parent, and lanes map a file.
        memory();
        lanes();
    }
}

/// Measures how long a lane takes from the start of its thread until it could begin, and how long
/// it takes to close it.
fn lanes() {
    let file = Temporary::new("lanes", 64 << 20, Pieces::Large);
    println!(
        "\nlane: milliseconds from the start of its thread until it is ready; {SAMPLES} of each"
    );
    let mut table = Table::new(&["", "least", "median", "target", "", "to close: median", ""]);
    for backend in LANES {
        let depth = if matches!(backend, "uring" | "aio") { DEPTH } else { 1 };
        let job = Job { depth, ..job(backend, &file.target(), 4096) };
        let times: Vec<(f64, f64)> = (0..SAMPLES).map(|_| open_lane(&file, &job)).collect();
        let ready: Vec<f64> = times.iter().map(|(ready, _)| *ready).collect();
        let close: Vec<f64> = times.iter().map(|(_, close)| *close).collect();
        let [least, middle, closed] = [
            ready.iter().copied().fold(f64::INFINITY, f64::min),
            median(&ready).unwrap_or(f64::NAN),
            median(&close).unwrap_or(f64::NAN),
        ];
        table.add(vec![
            format!("{backend}, depth {depth}"),
            format!("{least:.3}"),
            format!("{middle:.3}"),
            format!("<= {LANE_READY}"),
            verdict(middle <= LANE_READY),
            format!("{closed:.3}"),
            "for reference".into(),
        ]);
    }
    table.print();
}

/// Returns the milliseconds to open a lane on its own thread, and to close it.
fn open_lane(file: &Temporary, job: &Job) -> (f64, f64) {
    let target = file.target();
    let start = monotonic_nanos();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            // Where it stays shared, opening only takes longer.
            let _ = unshare_files();
            let lane = Open::new(&target, job);
            let ready = monotonic_nanos();
            drop(lane);
            let milliseconds = |from: u64, to: u64| (to - from) as f64 / 1e6;
            (milliseconds(start, ready), milliseconds(ready, monotonic_nanos()))
        });
        worker.join().expect("a lane that opens")
    })
}

fn measure() {
    let file = Temporary::new("startup", 1 << 20, Pieces::Large);
    let mut variants = Vec::new();
    for (name, arguments, _) in RUNS {
        let arguments = arguments_of(arguments, &file);
        let sample = move || milliseconds(Command::new(IOTUI).args(&arguments));
        variants.push(Variant { name: name.into(), yardstick: 0, sample: Box::new(sample) });
    }
    interleave(vec![Box::new(|| milliseconds(&mut Command::new("true")))], variants, SAMPLES);
}

fn arguments_of(text: &str, file: &Temporary) -> Vec<OsString> {
    let mut all: Vec<OsString> = text.split(' ').map(OsString::from).collect();
    if text.contains("--batch") {
        all.push(file.path.clone().into());
    }
    all
}

fn milliseconds(command: &mut Command) -> f64 {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = monotonic_nanos();
    let status = command.status().expect("start the program");
    let nanos = monotonic_nanos() - start;
    assert!(status.success(), "{command:?}: {status}");
    nanos as f64 / 1e6
}

/// Measures the peak resident memory, as the kernel reports it at the end.
fn memory() {
    let file = Temporary::new("startup", 64 << 20, Pieces::Large);
    let mut table = Table::new(&["", "peak MiB", "target", ""]);
    println!("\nmemory: resident at most, buffers included");
    table.add(vec![
        "true".into(),
        format!("{:.1}", peak(Command::new("true"))),
        String::new(),
        "for reference".into(),
    ]);
    let mut long = Command::new(IOTUI);
    long.args(arguments_of(LONG, &file));
    let mib = peak(long);
    let most = MEMORY + BUFFERS;
    table.add(vec![
        "a run of 1050 trials".into(),
        format!("{mib:.1}"),
        format!("<= {most}"),
        verdict(mib <= most),
    ]);
    table.print();
}

#[expect(clippy::zombie_processes, reason = "wait4 reaps it, and returns its peak")]
fn peak(mut command: Command) -> f64 {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start the program");
    let mut status = 0;
    // SAFETY: zeros are an empty rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the child is ours and not waited for elsewhere; both pointers are to local values.
    let ended = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    assert!(
        ended > 0 && std::process::ExitStatus::from_raw(status).success(),
        "{command:?} failed"
    );
    usage.ru_maxrss as f64 / 1024.0
}
