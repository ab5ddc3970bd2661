//! The preset `fast` beside what bounds it and what it must not be slower than: memory itself, dd and fio, and the ways that lab
//! reports settled on. Pairs in turn over the same file; `fast` with all of its choosing, its time that of the read which counts.

mod common;

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use common::file::{Pieces, Temporary};
use common::rounds::{Beside, Sample, Variant, gather, interleave};
use common::table::{Table, verdict};
use iotui::backend::fold;
use iotui::engine::{Control, Proposal, propose, run};
use iotui::plan::{Settings, preset};
use iotui::record::{Event, MachineEvidence};
use iotui::sys::buffer::Buffer;
use iotui::sys::clock::monotonic_nanos;
use iotui::sys::cold::make_cold;

const WARM: u64 = 256 << 20;
const COLD: u64 = 512 << 20;
const ROUNDS: usize = 3;
const SAMPLES: usize = 5;

/// The reports' own ways, as settings.
const REPORTS: [(&str, &str); 4] = [
    ("fread 128 KiB", "backend=stdio block-size=128k threads=1"),
    ("mmap, MAP_POPULATE", "backend=mmap+populate block-size=2m threads=1"),
    ("20 threads, pread 2 MiB", "backend=pread block-size=2m threads=20"),
    ("192 threads, pread 2 MiB", "backend=pread block-size=2m threads=192"),
];

/// The first rows: the yardstick of each, the file, and what is said to `fast`.
const FIRST: [(usize, &str, &str); 6] =
    [(0, "large", " threads=1"), (1, "large", ""), (1, "small", ""), (2, "small", " threads=1"), (3, "cold", ""), (4, "cold", "")];

/// What it is compared with, by name, and the least ratio of speeds that is wanted.
struct Row {
    name: String,
    target: f64,
}

fn main() {
    let Some(pairs) = gather(ROUNDS, measure) else { return };
    println!("\nfast: its speed by that of what it stands beside; {} pairs of each in {ROUNDS} processes", pairs.count());
    let mut table = Table::new(&["", "beside GB/s", "fast GB/s", "ratio: best", "lower quartile", "paired", "target", ""]);
    for Row { name, target } in rows().into_iter().filter(|row| pairs.has(&row.name)) {
        let ratio = |beside: Beside| beside.bare / beside.own;
        let shares = [ratio(pairs.min(&name)), ratio(pairs.low(&name)), pairs.paired(&name, ratio)];
        let Beside { bare, own } = pairs.low(&name);
        let mut row = vec![name];
        // Nanoseconds per byte.
        row.extend([bare, own].map(|nanos| format!("{:.2}", 1.0 / nanos)));
        row.extend(shares.map(|share| format!("{share:.2}")));
        row.push(format!(">= {target}"));
        row.push(verdict(shares[1] >= target && shares[2] >= target));
        table.add(row);
    }
    table.print();
}

/// Every row, in the order of the table.
fn rows() -> Vec<Row> {
    let row = |name: &str, target| Row { name: name.into(), target };
    let mut rows = vec![
        row("warm, large folios, 1 thread: memory", 0.95),
        row("warm, large folios: memory, all threads", 0.95),
        row("warm, 4 KiB folios: memory, all threads", 0.6),
        // What the kernel takes to map small pages is in both.
        row("warm, 4 KiB folios: bare loop over a mapping, 1 thread", 0.95),
        row("cold: dd bs=1M", 1.2),
        row("cold: fio, direct 1m, depth 8", 1.2),
    ];
    for state in ["warm, large folios", "warm, 4 KiB folios", "cold"] {
        rows.extend(REPORTS.iter().map(|(name, _)| row(&format!("{state}: {name}"), 1.0)));
    }
    rows
}

fn measure(round: usize) {
    let large = Temporary::new("fast", WARM, Pieces::Large);
    let small = Temporary::new("fast", WARM, Pieces::Page);
    let cold = Temporary::new("fast-cold", COLD, Pieces::Large);
    if round == 0 {
        for (file, name) in [(&large, "large"), (&small, "4 KiB")] {
            eprintln!("{name} folios: {:.0} % mapped by 2 MiB pages", 100.0 * file.mapped_huge());
        }
    }
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let memory = (0..threads).map(|n| Buffer::random(WARM as usize / threads, n as u64).expect("memory"));
    let memory = RefCell::new(memory.collect::<Vec<Buffer>>());
    let (memory, large, small, cold) = (&memory, &large, &small, &cold);
    let mut yardsticks: Vec<Sample> = vec![
        Box::new(move || memory.borrow_mut().iter_mut().map(|part| fold_all(std::slice::from_mut(part))).sum::<f64>() / WARM as f64),
        Box::new(move || fold_all(&mut memory.borrow_mut()) / WARM as f64),
        Box::new(move || {
            small.warm(Pieces::Page);
            bare_mapping(small) / WARM as f64
        }),
        Box::new(move || {
            make_cold(&cold.file, COLD).expect("drop the file");
            nanos_of("dd", &[&format!("if={}", cold.path.display()), "of=/dev/null", "bs=1M"]) / COLD as f64
        }),
        Box::new(move || fio(cold)),
    ];
    let mut variants = Vec::new();
    let mut add = |name: String, yardstick: usize, file: &'static str, said: &'static str| {
        let sample: Sample = match file {
            "large" => Box::new(move || warm(large, Pieces::Large, said)),
            "small" => Box::new(move || warm(small, Pieces::Page, said)),
            _ => Box::new(move || one(&cold.path, "fast", "cache=cold") / COLD as f64),
        };
        variants.push(Variant { name, yardstick, sample });
    };
    let peers = ["dd", "fio"].map(|name| Command::new(name).arg("--version").output().is_ok_and(|done| done.status.success()));
    for (row, (yardstick, file, said)) in rows().into_iter().zip(FIRST) {
        if yardstick < 3 || peers[yardstick - 3] {
            add(row.name, yardstick, file, said);
        }
    }
    for (state, file) in [("warm, large folios", "large"), ("warm, 4 KiB folios", "small"), ("cold", "cold")] {
        for (name, said) in REPORTS {
            yardsticks.push(match file {
                "large" => Box::new(move || report(large, said, "warm", WARM)),
                "small" => Box::new(move || report(small, said, "warm", WARM)),
                _ => Box::new(move || report(cold, said, "cold", COLD)),
            });
            add(format!("{state}: {name}"), yardsticks.len() - 1, file, "");
        }
    }
    interleave(yardsticks, variants, SAMPLES);
}

/// `fast` on a cached file, nanoseconds per byte.
fn warm(file: &Temporary, pieces: Pieces, said: &str) -> f64 {
    file.warm(pieces);
    one(&file.path, "fast", &format!("cache=warm{said}")) / WARM as f64
}

fn report(file: &Temporary, said: &str, cache: &str, len: u64) -> f64 {
    one(&file.path, "quick", &format!("{said} cache={cache} count=0 xor=true trial-time=1ms")) / len as f64
}

/// Nanoseconds of the one trial of a plan, through the engine as a front end would have it.
fn one(path: &Path, id: &str, said: &str) -> f64 {
    static NEVER: AtomicBool = AtomicBool::new(false);
    static TOLD: AtomicUsize = AtomicUsize::new(0);
    let mut settings = Settings::default();
    for (name, text) in format!("{said} trials=1 ceilings=never").split_whitespace().filter_map(|word| word.split_once('=')) {
        settings.set(name, text).expect("a setting");
    }
    let presets = [preset(id).expect("a preset")];
    let asked = Proposal { file: Some(path), dir: None, keep: false, presets: &presets, settings: &settings };
    let plan = Arc::new(propose(&asked).expect("a plan").plan);
    let mut nanos = Vec::new();
    let mut sink = |event| match event {
        Event::Trial { trial, .. } => nanos.push(trial.nanos as f64),
        // What was picked, a few times: enough to see whether it is always the same.
        Event::Picked { pick } if TOLD.fetch_add(1, Relaxed) < 12 => eprintln!("{said}: {}", pick.why),
        Event::Failed { error, .. } if id != "fast" => panic!("{said}: {error}"),
        _ => {}
    };
    run(&plan, MachineEvidence::default, &Control::new(&NEVER), &mut sink).expect("a run");
    assert_eq!(nanos.len(), 1, "one cell, one trial");
    nanos[0]
}

/// A thread for each of the buffers: nanoseconds from the first start to the last end.
fn fold_all(memory: &mut [Buffer]) -> f64 {
    let lanes = memory.len();
    let barrier = AtomicUsize::new(0);
    let body = |part: &mut Buffer| {
        barrier.fetch_add(1, Relaxed);
        while barrier.load(Relaxed) < lanes {
            std::hint::spin_loop();
        }
        let start = monotonic_nanos();
        std::hint::black_box(fold::buffer(part));
        (start, monotonic_nanos())
    };
    let times: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = memory.iter_mut().map(|part| scope.spawn(|| body(part))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    let (start, end) = (times.iter().map(|t| t.0).min(), times.iter().map(|t| t.1).max());
    (end.unwrap_or(0) - start.unwrap_or(0)) as f64
}

/// The same fold over a fresh mapping, and nothing else; nanoseconds.
fn bare_mapping(file: &Temporary) -> f64 {
    // SAFETY: the file is this process's own and does not shrink meanwhile.
    let map = unsafe { memmap2::Mmap::map(&file.file) }.expect("map the file");
    let start = monotonic_nanos();
    // SAFETY: the mapping is as long as it says.
    std::hint::black_box(unsafe { fold::widest()(map.as_ptr(), map.len()) });
    (monotonic_nanos() - start) as f64
}

/// Wall time of a program that must end well.
fn nanos_of(program: &str, args: &[&str]) -> f64 {
    let start = monotonic_nanos();
    let done = Command::new(program).args(args).output().expect("start it");
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    (monotonic_nanos() - start) as f64
}

/// fio's own figure, without the time it takes to start.
fn fio(file: &Temporary) -> f64 {
    make_cold(&file.file, COLD).expect("drop the file");
    let path = format!("--filename={}", file.path.display());
    let words = "--name=x --rw=read --direct=1 --bs=1m --iodepth=8 --ioengine=io_uring --iomem_align=4096 --output-format=json";
    let done = Command::new("fio").args(words.split(' ')).arg(path).output().expect("start fio");
    let result: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON of fio");
    1e9 / result["jobs"][0]["read"]["bw_bytes"].as_f64().expect("its bandwidth")
}
