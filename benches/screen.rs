//! The cost of the full screen: the time until it appears, the response to a key, and what it takes
//! from a run, a core and memory.
//!
//! Runs whole programs in a pseudo-terminal whose output is parsed into a screen; figures include
//! that terminal.

mod common;
#[path = "../tests/common/mod.rs"]
mod program;

use std::fs;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use common::table::{Table, verdict};
use iotui::plan::{Cache, Choice, Job, Op, Plan, TargetSpec};
use iotui::record::{End, Event, Evidence, Sample, Trial};
use iotui::session::{NewSession, Recorder};
use program::Home;
use program::pty::Terminal;

const SIZE: (u16, u16) = (120, 40);
/// 1-byte reads on both CPUs until stopped.
const LOADED: &str = "-b pread -s 1 -t 2 -c asis --trials 100000 --trial-time 300ms --budget 1h";
/// One worker, 1-byte reads.
const PAIR: &str = "-b pread -s 1 -c asis --trials 5 --trial-time 200ms --budget 1m";
const PAIRS: usize = 24;
const KEYS: usize = 40;
const STARTS: usize = 20;
const RESULTS: u32 = 10_000;

fn main() {
    // `cargo test --benches` only checks whether it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let home = Home::new();
    program::data::write(&home.path("file.bin"), &program::data::random(1 << 20, 1));
    let mut table = Table::new(&["", "least", "median", "most", "target", ""]);
    // Intermediate numbers, so that a bench stopped halfway has printed something.
    let mut row =
        |name: &str, mut values: Vec<f64>, unit: &str, target: &str, met: fn(f64) -> bool| {
            values.sort_by(f64::total_cmp);
            let show = |value: f64| format!("{value:.2} {unit}");
            let median = values[values.len() / 2];
            eprintln!("{name}: {}", show(median));
            let last =
                if target.is_empty() { "for reference".into() } else { verdict(met(median)) };
            table.add(vec![
                name.into(),
                show(values[0]),
                show(median),
                show(values[values.len() - 1]),
                target.into(),
                last,
            ]);
        };
    row(
        "iotui --version in the same terminal",
        (0..STARTS).map(|_| version(&home)).collect(),
        "ms",
        "",
        |_| true,
    );
    row("first frame", (0..STARTS).map(|_| first_frame(&home)).collect(), "ms", "<= 50", |ms| {
        ms <= 50.0
    });
    row("a key shows, idle", keys(&home, ""), "ms", "", |_| true);
    row("a key shows, both CPUs busy", keys(&home, LOADED), "ms", "<= 33", |ms| ms <= 33.0);
    row("1-byte pread lost to the screen", pairs(&home), "%", "< 1", |percent| percent < 1.0);
    row("the screen at 10 frames/s, of a core", watched(&home, "50ms").0, "%", "< 2", |percent| {
        percent < 2.0
    });
    let (core, growth) = watched(&home, "2ms");
    row("... with some 300 trials a second", core, "%", "", |_| true);
    row("memory grown in 10 s of trials of 2 ms", growth, "MiB", "flat: < 4", |mib| mib < 4.0);
    row("a replay at 100 times its speed, of a core", replayed(&home), "%", "< 10", |percent| {
        percent < 10.0
    });
    let (load, open) = opened(&home);
    row("10,000 results loaded, without a screen", load, "ms", "", |_| true);
    row("10,000 results opened", open, "ms", "< 200", |ms| ms < 200.0);
    row("1,000 motions of the mouse a second, of a core", hovered(&home), "%", "< 2", |core| {
        core < 2.0
    });
    println!(
        "\nscreen: whole programs at {}x{}; {PAIRS} interleaved pairs of runs",
        SIZE.0, SIZE.1
    );
    table.print();
}

fn since(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

fn version(home: &Home) -> f64 {
    let begin = Instant::now();
    let terminal = Terminal::start(home, "--version", SIZE, &[]);
    terminal.until("the version", |screen| screen.contents().contains("iotui 0"));
    since(begin)
}

fn first_frame(home: &Home) -> f64 {
    let begin = Instant::now();
    let mut terminal = Terminal::start(home, "file.bin", SIZE, &[]);
    terminal.until("a frame", |screen| screen.contents().contains("q quit"));
    let time = since(begin);
    terminal.press("q");
    terminal.end();
    time
}

/// Measures the time from the press of `?` until the help is shown, and back.
fn keys(home: &Home, load: &str) -> Vec<f64> {
    let mut terminal = Terminal::start(home, &format!("file.bin --no-save {load}"), SIZE, &[]);
    terminal.shows("q quit");
    if !load.is_empty() {
        terminal.press("r");
        terminal.shows("1 of 1 cell known");
    }
    let mut times = Vec::new();
    for _ in 0..KEYS {
        for (key, there) in [("?", true), ("\x1b", false)] {
            let begin = Instant::now();
            terminal.press(key);
            terminal.until("the help", |screen| screen.contents().contains("Help:") == there);
            // A lone escape is recognised only by a delay after it, so it is not timed.
            if there {
                times.push(since(begin));
            }
        }
    }
    terminal.press("\x03q");
    terminal.end();
    times
}

/// Measures the operations per second that a run loses under the full screen, in per cent of the
/// headless run next to it.
fn pairs(home: &Home) -> Vec<f64> {
    (0..PAIRS)
        .map(|at| {
            let runs: [&dyn Fn(&Home) -> f64; 2] = [&headless, &full];
            let (mut speeds, order) = ([0.0; 2], [at % 2, 1 - at % 2]);
            for which in order {
                speeds[which] = runs[which](home);
            }
            (1.0 - speeds[1] / speeds[0]) * 100.0
        })
        .collect()
}

fn headless(home: &Home) -> f64 {
    let output = home
        .std(&format!("--batch --quiet --no-save --format json file.bin {PAIR}"))
        .output()
        .expect("run it");
    best(&serde_json::from_slice(&output.stdout).expect("JSON"))
}

fn full(home: &Home) -> f64 {
    let mut terminal = Terminal::start(home, &format!("file.bin {PAIR}"), SIZE, &[]);
    terminal.shows("q quit");
    terminal.press("r");
    terminal.shows("saved");
    terminal.press("q");
    terminal.end();
    let id = home.json("sessions list")[0]["id"].as_str().expect("an id").to_string();
    let document = home.json(&format!("sessions show {id}"));
    home.std(&format!("sessions delete {id}")).output().expect("delete it");
    best(&document)
}

/// Returns the rate of the fastest trial, to exclude other load on the machine.
fn best(document: &serde_json::Value) -> f64 {
    document["results"][0]["operations"]["max"].as_f64().expect("a rate")
}

/// Measures the CPU time of the drawing thread, in per cent of a core, and memory in a long run.
fn watched(home: &Home, trial: &str) -> (Vec<f64>, Vec<f64>) {
    let line = format!(
        "file.bin --no-save -b pread -s 4k -c asis --trials 100000 --trial-time {trial} --budget 1h"
    );
    let mut terminal = Terminal::start(home, &line, SIZE, &[]);
    terminal.shows("q quit");
    terminal.press("r");
    terminal.shows("1 of 1 cell known");
    wait(&terminal, 4.0);
    let memory = resident(&terminal);
    let core = shares_of_core(&mut terminal, |terminal| wait(terminal, 2.0));
    let grown = resident(&terminal) - memory;
    terminal.press("\x03");
    terminal.press("q");
    terminal.end();
    (core, vec![grown])
}

/// Measures the CPU time of the drawing thread while it replays a run of many trials and samples.
fn replayed(home: &Home) -> Vec<f64> {
    const TRIAL: u64 = 300_000_000;
    let plan = Plan { cells: large().cells.into_iter().take(24).collect(), ..large() };
    let mut recorder = record(home, "long", &plan, UNIX_EPOCH);
    for n in 0..5000u64 {
        let started = n * TRIAL * 11 / 10;
        let evidence = Evidence { started, prepared: started, ..Evidence::default() };
        let trial = Trial {
            cell: (n % 24) as u32,
            round: (n / 24) as u32 + 1,
            bytes: 1 << 30,
            ops: 1000,
            syscalls: 1000.into(),
            nanos: TRIAL,
            evidence,
            ..Trial::default()
        };
        let third = TRIAL / 3;
        let sample = |at| Sample { at, nanos: third, bytes: 300 << 20, ops: 300, syscalls: 300 };
        let samples = [third, 2 * third, TRIAL].map(sample).into();
        recorder.record(&Event::Trial { trial: trial.into(), samples, latency: None });
    }
    recorder.finish(End::Finished);
    let mut terminal = Terminal::start(home, "--replay long --speed 100", SIZE, &[]);
    terminal.shows("replay 100x");
    let core = shares_of_core(&mut terminal, |terminal| wait(terminal, 2.0));
    terminal.press("\x03");
    terminal.end();
    core
}

/// Waits while the screen is drawn.
fn wait(terminal: &Terminal, seconds: f64) {
    let begin = Instant::now();
    terminal.until("time to pass", move |_| begin.elapsed().as_secs_f64() > seconds);
}

/// Returns the seconds of CPU that the first thread has used.
fn drawing(terminal: &Terminal) -> f64 {
    let text = fs::read_to_string(format!("/proc/{0}/task/{0}/schedstat", terminal.pid()))
        .unwrap_or_default();
    text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1e9
}

fn resident(terminal: &Terminal) -> f64 {
    let text = fs::read_to_string(format!("/proc/{}/status", terminal.pid())).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1024.0
}

/// Measures loading a session of many results alone, and from the key to the picture.
fn opened(home: &Home) -> (Vec<f64>, Vec<f64>) {
    let plan = large();
    // The newest session: the first in the list.
    let mut recorder = record(home, "large", &plan, UNIX_EPOCH + Duration::from_secs(60));
    for cell in 0..RESULTS {
        let trial = Trial {
            cell,
            round: 1,
            bytes: 1 << 30,
            ops: 1000,
            syscalls: 1000.into(),
            nanos: 300_000_000 + u64::from(cell),
            ..Trial::default()
        };
        recorder.record(&Event::Trial { trial: trial.into(), samples: Vec::new(), latency: None });
    }
    recorder.finish(End::Finished);
    let path = recorder.path().to_path_buf();
    let load = |_| {
        let begin = Instant::now();
        let session = iotui::session::load(&path).expect("load it");
        std::hint::black_box(iotui::analysis::results(&session));
        since(begin)
    };
    let loads = (0..7).map(load).collect();
    let open = |_| {
        let mut terminal = Terminal::start(home, "file.bin", SIZE, &[]);
        terminal.shows("q quit");
        terminal.press("4");
        terminal.shows("large");
        // The preview reads the file too, which must not count twice.
        terminal.until("the preview", |screen| {
            screen.contents().contains("rename") && screen.contents().contains("Fastest")
        });
        let begin = Instant::now();
        terminal.press("\r");
        terminal.until("the results", |screen| {
            screen.contents().contains("Throughput") && !screen.contents().contains("rename")
        });
        let time = since(begin);
        terminal.press("\x03");
        terminal.end();
        time
    };
    (loads, (0..7).map(open).collect())
}

/// Measures a core while the mouse moves over the curves of a session that [`opened`] has recorded.
fn hovered(home: &Home) -> Vec<f64> {
    let mut terminal = Terminal::start(home, "file.bin", SIZE, &[]);
    terminal.shows("q quit");
    terminal.press("4");
    terminal.shows("large");
    terminal.press("\r");
    terminal.shows("Throughput");
    // The tab with the curves.
    terminal.press("b");
    let motions: String =
        (0..100).map(|at| format!("\x1b[<35;{};{}M", 20 + at % 60, 5 + at % 8)).collect();
    let core = shares_of_core(&mut terminal, |terminal| {
        for _ in 0..20 {
            terminal.press(&motions);
            thread::sleep(Duration::from_millis(100));
        }
    });
    terminal.press("\x03");
    terminal.end();
    core
}

/// Begins a saved session that a bench fills.
fn record(home: &Home, name: &'static str, plan: &Plan, created: SystemTime) -> Recorder {
    let host = &Default::default();
    let session = NewSession { name: Some(name), slug: name, host, plan, created };
    Recorder::create(&home.sessions_dir(), &session).expect("record it")
}

/// Measures five times what share of a core the drawing thread takes during `work`, per cent.
fn shares_of_core(terminal: &mut Terminal, mut work: impl FnMut(&mut Terminal)) -> Vec<f64> {
    let share = |_| {
        let (cpu, begin) = (drawing(terminal), Instant::now());
        work(terminal);
        (drawing(terminal) - cpu) / begin.elapsed().as_secs_f64() * 100.0
    };
    (0..5).map(share).collect()
}

fn large() -> Plan {
    let job = |n: u32| Job {
        block: 1 + u64::from(n / 4),
        span: 1 << 30,
        cache: [Cache::Cold, Cache::Warm][n as usize % 2],
        ..Job::plain(
            Choice::parse(["read", "mmap"][n as usize / 2 % 2]).expect("a backend"),
            Op::Read,
        )
    };
    Plan {
        presets: vec!["quick".into()],
        cells: (0..RESULTS).map(job).collect(),
        trials: Some(1),
        seed: 7,
        ..Plan::plain("sweep", TargetSpec::File { path: "/data/file".into(), size: 1 << 30 })
    }
}
