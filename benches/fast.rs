//! The preset `fast` next to its upper bounds and to what it must not be slower than: memory
//! itself, dd and fio, and single methods. Pairs in turn over the same file; `fast` runs with its
//! choosing, but its time is that of the read that counts.

mod common;

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use common::file::{Pieces, Temporary};
use common::rounds::{self, Beside, Sample, gather};
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
const ATTEMPTS: usize = 20;

/// Single methods that a program could use, as settings.
const METHODS: [(&str, &str); 4] = [
    ("fread 128 KiB", "backend=stdio block-size=128k threads=1"),
    ("mmap, MAP_POPULATE", "backend=mmap+populate block-size=2m threads=1"),
    ("20 threads, pread 2 MiB", "backend=pread block-size=2m threads=20"),
    ("192 threads, pread 2 MiB", "backend=pread block-size=2m threads=192"),
];

/// A comparison, by name, and the minimum ratio of speeds.
struct Row {
    name: String,
    target: f64,
}

fn main() {
    let Some(pairs) = gather(ROUNDS, measure) else { return };
    println!(
        "\nfast: its speed divided by that of its rival; {} pairs of each in {ROUNDS} processes",
        pairs.count()
    );
    let mut table = Table::new(&[
        "",
        "baseline GB/s",
        "fast GB/s",
        "ratio: best",
        "lower quartile",
        "paired",
        "target",
        "",
    ]);
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

/// Returns every row, in the order of the table.
fn rows() -> Vec<Row> {
    let row = |name: &str, target| Row { name: name.into(), target };
    let mut rows = vec![
        row("warm, large folios, 1 thread: memory", 0.95),
        row("warm, large folios: memory, all threads", 0.95),
        row("warm, 4 KiB folios: memory, all threads", 0.6),
        // The kernel's cost of mapping small pages is in both.
        row("warm, 4 KiB folios, 1 thread: bare loop over a mapping", 0.95),
        row("warm, 4 KiB folios: bare loops over a mapping, all threads", 0.95),
        row("cold: dd bs=1M", 1.2),
        row("cold: fio, direct 1m, depth 8", 1.2),
        // Where dd comes close to this, the device leaves no room to be faster.
        row("cold: what the device gives, direct 4 MiB", 0.9),
    ];
    for state in ["warm, large folios", "warm, 4 KiB folios", "cold"] {
        rows.extend(METHODS.iter().map(|(name, _)| row(&format!("{state}: {name}"), 1.0)));
    }
    rows
}

/// Samples of one state of the file, and the rows that pair them.
#[derive(Default)]
struct Cycle<'a> {
    samples: Vec<Sample<'a>>,
    rows: Vec<(String, usize, usize)>,
}

impl<'a> Cycle<'a> {
    /// Adds a sample; returns its index.
    fn add(&mut self, sample: impl FnMut() -> f64 + 'a) -> usize {
        self.samples.push(Box::new(sample));
        self.samples.len() - 1
    }

    fn beside(&mut self, name: &str, fast: usize, sample: impl FnMut() -> f64 + 'a) {
        let yardstick = self.add(sample);
        self.rows.push((name.into(), yardstick, fast));
    }
}

fn measure(round: usize) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    for (pieces, folios) in [(Pieces::Large, "large folios"), (Pieces::Page, "4 KiB folios")] {
        let file = &Temporary::new("fast", WARM, pieces);
        // Where memory is fragmented, large writes make small folios too: written again, they may
        // be large.
        for _ in 0..ATTEMPTS {
            if pieces == Pieces::Page || file.mapped_huge() > 0.99 {
                break;
            }
            file.write(pieces);
        }
        eprintln!(
            "round {round}, {folios}: {:.0} % mapped by 2 MiB pages",
            100.0 * file.mapped_huge()
        );
        warm(file, pieces, folios, threads);
    }
    cold(&Temporary::new("fast-cold", COLD, Pieces::Large));
}

fn warm(file: &Temporary, pieces: Pieces, folios: &str, threads: usize) {
    let parts =
        (0..threads).map(|n| Buffer::random(WARM as usize / threads, n as u64).expect("memory"));
    let memory = &RefCell::new(parts.collect::<Vec<Buffer>>());
    let fast = |options: &'static str| {
        move || {
            file.warm(pieces);
            one(&file.path, "fast", &format!("cache=warm{options}")) / WARM as f64
        }
    };
    let bare = |lanes: usize| {
        move || {
            file.warm(pieces);
            bare_mapping(file, lanes) / WARM as f64
        }
    };
    let mut cycle = Cycle::default();
    let alone = cycle.add(fast(" threads=1"));
    match pieces {
        Pieces::Large => {
            cycle.beside(&format!("warm, {folios}, 1 thread: memory"), alone, move || {
                memory
                    .borrow_mut()
                    .iter_mut()
                    .map(|part| fold_all(std::slice::from_mut(part)))
                    .sum::<f64>()
                    / WARM as f64
            })
        }
        Pieces::Page => cycle.beside(
            &format!("warm, {folios}, 1 thread: bare loop over a mapping"),
            alone,
            bare(1),
        ),
    }
    let all = cycle.add(fast(""));
    cycle.beside(&format!("warm, {folios}: memory, all threads"), all, move || {
        fold_all(&mut memory.borrow_mut()) / WARM as f64
    });
    if pieces == Pieces::Page {
        cycle.beside(
            &format!("warm, {folios}: bare loops over a mapping, all threads"),
            all,
            bare(threads),
        );
    }
    for (name, options) in METHODS {
        cycle.beside(&format!("warm, {folios}: {name}"), all, move || {
            file.warm(pieces);
            report(file, options, "warm", WARM)
        });
    }
    rounds::cycle(cycle.samples, &cycle.rows, SAMPLES);
}

fn cold(file: &Temporary) {
    let mut cycle = Cycle::default();
    let fast = cycle.add(move || one(&file.path, "fast", "cache=cold") / COLD as f64);
    let there = |name: &str| {
        Command::new(name).arg("--version").output().is_ok_and(|done| done.status.success())
    };
    if there("dd") {
        cycle.beside("cold: dd bs=1M", fast, move || {
            make_cold(&file.file, COLD).expect("drop the file");
            nanos_of("dd", &[&format!("if={}", file.path.display()), "of=/dev/null", "bs=1M"])
                / COLD as f64
        });
    }
    if there("fio") {
        cycle.beside("cold: fio, direct 1m, depth 8", fast, move || fio(file));
    }
    let device = "backend=pread block-size=4m threads=1 direct=yes";
    for (name, options) in
        [("what the device gives, direct 4 MiB", device)].into_iter().chain(METHODS)
    {
        cycle.beside(&format!("cold: {name}"), fast, move || report(file, options, "cold", COLD));
    }
    rounds::cycle(cycle.samples, &cycle.rows, SAMPLES);
}

fn report(file: &Temporary, options: &str, cache: &str, len: u64) -> f64 {
    one(&file.path, "quick", &format!("{options} cache={cache} count=0 xor=true trial-time=1ms"))
        / len as f64
}

/// Runs the only trial of a plan through the engine, as a front end does; returns nanoseconds.
fn one(path: &Path, id: &str, options: &str) -> f64 {
    static NEVER: AtomicBool = AtomicBool::new(false);
    static TOLD: AtomicUsize = AtomicUsize::new(0);
    let mut settings = Settings::default();
    for (name, text) in format!("{options} trials=1 ceilings=never")
        .split_whitespace()
        .filter_map(|word| word.split_once('='))
    {
        settings.set(name, text).expect("a setting");
    }
    let presets = [preset(id).expect("a preset")];
    let asked = Proposal { file: Some(path), ..Proposal::new(&presets, &settings) };
    let plan = Arc::new(propose(&asked).expect("a plan").plan);
    let mut nanos = Vec::new();
    let mut sink = |event| match event {
        Event::Trial { trial, .. } => nanos.push(trial.nanos as f64),
        // The picked method, a few times: enough to see whether it is always the same.
        Event::Picked { pick } if TOLD.fetch_add(1, Relaxed) < 12 => {
            eprintln!("{options}: {}", pick.why)
        }
        Event::Failed { error, .. } if id != "fast" => panic!("{options}: {error}"),
        _ => {}
    };
    run(&plan, MachineEvidence::default, &Control::new(&NEVER), &mut sink).expect("a run");
    assert_eq!(nanos.len(), 1, "one cell, one trial");
    nanos[0]
}

/// Folds each buffer on its own thread.
fn fold_all(memory: &mut [Buffer]) -> f64 {
    together(memory, |part| std::hint::black_box(fold::buffer(part)))
}

/// Folds a fresh mapping on `lanes` threads, a part each, and nothing else; returns nanoseconds.
fn bare_mapping(file: &Temporary, lanes: usize) -> f64 {
    // SAFETY: the file is this process's own and does not shrink while it is mapped.
    let map = unsafe { memmap2::Mmap::map(&file.file) }.expect("map the file");
    let mut parts: Vec<&[u8]> = map.chunks(map.len().div_ceil(lanes)).collect();
    together(&mut parts, |part| {
        // SAFETY: pointer and length are one slice's, readable over that length while borrowed.
        std::hint::black_box(unsafe { (fold::fastest().1)(part.as_ptr(), part.len()) })
    })
}

/// Runs a thread for each part; returns nanoseconds from the first start to the last end.
fn together<P: Send, R>(parts: &mut [P], fold: impl Fn(&mut P) -> R + Sync) -> f64 {
    let lanes = parts.len();
    let barrier = AtomicUsize::new(0);
    let body = |part: &mut P| {
        barrier.fetch_add(1, Relaxed);
        while barrier.load(Relaxed) < lanes {
            std::hint::spin_loop();
        }
        let start = monotonic_nanos();
        fold(part);
        (start, monotonic_nanos())
    };
    let times: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = parts.iter_mut().map(|part| scope.spawn(|| body(part))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    let (start, end) = (times.iter().map(|t| t.0).min(), times.iter().map(|t| t.1).max());
    (end.unwrap_or(0) - start.unwrap_or(0)) as f64
}

/// Measures the wall time of a program, which must succeed.
fn nanos_of(program: &str, args: &[&str]) -> f64 {
    let start = monotonic_nanos();
    let done = Command::new(program).args(args).output().expect("start it");
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    (monotonic_nanos() - start) as f64
}

/// Returns fio's own figure, which excludes its start.
fn fio(file: &Temporary) -> f64 {
    make_cold(&file.file, COLD).expect("drop the file");
    let path = format!("--filename={}", file.path.display());
    let words = "--name=x --rw=read --direct=1 --bs=1m --iodepth=8 --ioengine=io_uring --iomem_align=4096 --output-format=json";
    let done = Command::new("fio").args(words.split(' ')).arg(path).output().expect("start fio");
    let result: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON of fio");
    1e9 / result["jobs"][0]["read"]["bw_bytes"].as_f64().expect("its bandwidth")
}
